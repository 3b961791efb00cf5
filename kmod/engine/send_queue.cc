// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "send_queue.h"

#include "mkey.h"
#include "work_request.h"

namespace sirocco {

namespace {

constexpr u32 fetch_at_once = 256; /* bounds the time under the lock */

} // namespace

SendQueue::SendQueue(const siro_requester_config &config)
	: ring_(config.ring), shadow_(static_cast<u8 *>(config.shadow)), type_(config.type),
	  max_sge_(config.max_sge), max_inline_(config.max_inline), user_(config.user)
{
}

void SendQueue::retire()
{
	if (completed_ == started_)
		started_++;
	completed_++;
	store_release(ring_.header->consumer, completed_);
}

/* Local entries begin where the next one does: the last that begins by @psn is it. */
SendEntry &SendQueue::find(Psn psn)
{
	Psn first = oldest().first_psn;
	u32 low = completed_;
	u32 count = started_ - completed_;

	while (count > 1) {
		u32 half = count / 2;
		bool begins_by = entry(low + half).first_psn.since(first) <= psn.since(first);

		low += begins_by ? half : 0;
		count = begins_by ? count - half : half;
	}
	return entry(low);
}

void SendQueue::clear()
{
	if (user_)
		store_release(posted_, load_acquire(ring_.header->producer));
	completed_ = started_ = posted();
	store_release(ring_.header->consumer, completed_);
}

siro_send_wqe *SendQueue::reserve()
{
	/* The header's consumer index of a kernel queue is not writable by others. */
	if (posted_ - load_acquire(ring_.header->consumer) >= ring_.limit)
		return nullptr;

	SendEntry &e = entry(posted_);

	memory_zero(&e, sizeof(e));
	return &e.wqe;
}

bool SendQueue::commit()
{
	if (!is_valid(entry(posted_).wqe))
		return false;
	store_release(posted_, posted_ + 1);
	return true;
}

void SendQueue::fetch()
{
	if (!user_)
		return;

	u32 stored = load_acquire(ring_.header->producer) - completed_;
	u32 taken = posted_ - completed_;

	/* Not where an honest producer can be: it must not buy 2^32 entries of work. */
	if (stored > ring_.slots || stored < taken)
		return;

	u32 count = min(stored - taken, fetch_at_once);

	for (; count; count--) {
		u64 slot = posted_ & (ring_.slots - 1);

		copy_in(entry(posted_), ring_.entries + slot * ring_.stride);
		store_release(posted_, posted_ + 1);
	}
}

/* One copy of every byte; only the copy is validated and used. */
void SendQueue::copy_in(SendEntry &e, const u8 *from)
{
	u32 tail = 0;

	memory_zero(&e, SIRO_SQ_EXTRA);
	memory_copy(&e.wqe, from, sizeof(e.wqe));
	if (!is_valid(e.wqe)) {
		e.status = SIRO_WC_LOC_QP_OP_ERR;
		return;
	}
	if (e.wqe.opcode == SIRO_WR_MKEY_CONF)
		tail = mkey_tail_bytes(e.wqe.mkey);
	else if (e.is_inline())
		tail = e.wqe.inline_length;
	else
		tail = e.wqe.num_sge * static_cast<u32>(sizeof(siro_sge));
	memory_copy(&e.wqe + 1, from + sizeof(e.wqe), tail);
}

bool SendQueue::is_valid(const siro_send_wqe &wqe) const
{
	constexpr u8 flags =
		SIRO_SEND_FENCE | SIRO_SEND_SIGNALED | SIRO_SEND_SOLICITED | SIRO_SEND_INLINE;
	u32 room = ring_.stride - static_cast<u32>(sizeof(wqe));

	if (!is_allowed(wqe.opcode, type_, user_) || (wqe.flags & ~flags))
		return false;
	/* Its entries are always in the WQE or in a table: the flag says nothing. */
	if (wqe.opcode == SIRO_WR_MKEY_CONF)
		return !wqe.num_sge && is_valid_mkey_conf(wqe.mkey) &&
		       mkey_tail_bytes(wqe.mkey) <= room;
	if (wqe.flags & SIRO_SEND_INLINE) {
		if (!is_send(wqe.opcode) && !is_write(wqe.opcode))
			return false;
		return !wqe.num_sge && wqe.inline_length <= min(max_inline_, room);
	}
	if (is_local(wqe.opcode) && wqe.num_sge)
		return false;
	return wqe.num_sge <= min(max_sge_, room / static_cast<u32>(sizeof(siro_sge)));
}

} // namespace sirocco
