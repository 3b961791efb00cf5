// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "burst.h"

#include "icrc.h"

namespace sirocco {

bool Burst::takes(const siro_flow &flow, u32 bytes) const
{
	if (flow_ != &flow || burst_.length + bytes > burst_.capacity)
		return false;
	if (!burst_.packets)
		return true;
	return burst_.packets < SIRO_MAX_BURST_PACKETS && !short_packet_ && bytes <= burst_.stride;
}

bool Burst::begin(siro_flow &flow, u32 bytes)
{
	burst_ = {};
	if (siro_port_tx_begin(ctx_.port, &burst_, min(bytes, u32{SIRO_MAX_BURST_BYTES}))) {
		ctx_.outcome |= SIRO_OUT_BLOCKED;
		return false;
	}
	burst_.capacity = min(burst_.capacity, u32{SIRO_MAX_BURST_BYTES});
	burst_.first_id = load_relaxed(flow.next_id);
	flow_ = &flow;
	short_packet_ = false;
	open_ = true;
	return true;
}

u8 *Burst::reserve(siro_flow &flow, u32 bytes, u32 hint)
{
	if (open_ && !takes(flow, bytes))
		send();
	if (!open_ && !begin(flow, max(bytes, hint)))
		return nullptr;
	return burst_.data + burst_.length;
}

void Burst::add(u32 bytes)
{
	/* An address handle's flow is shared: never trust its id to stand still. */
	u16 id = static_cast<u16>(burst_.first_id + burst_.packets);

	icrc::seal(burst_.data + burst_.length, bytes, *flow_, id);
	store_relaxed(flow_->next_id, static_cast<u16>(id + 1));
	if (!burst_.packets)
		burst_.stride = bytes;
	else if (bytes < burst_.stride)
		short_packet_ = true;
	burst_.packets++;
	burst_.length += bytes;
	if (ctx_.budget)
		ctx_.budget--;
}

void Burst::send()
{
	if (!open_)
		return;
	open_ = false;
	siro_port_tx_commit(ctx_.port, &burst_, flow_, responder_);
}

} // namespace sirocco
