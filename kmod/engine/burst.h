// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets on their way out: as many as may share one super-packet. */
#pragma once

#include "base/base.h"

#include "siro_port.h"
#include "wire.h"

namespace sirocco {

/*
 * Packets of one flow in one buffer of the glue. All are equal in size but the
 * last, which may be shorter, as segmentation offload wants it. What does not
 * fit goes into a burst of its own. The destructor sends what is left.
 */
class Burst {
public:
	Burst(siro_context &ctx, bool responder) : ctx_(ctx), responder_(responder) {}

	~Burst()
	{
		send();
	}

	Burst(const Burst &) = delete;
	Burst &operator=(const Burst &) = delete;

	/*
	 * Room for a packet of @bytes, ICRC included. @hint: bytes that will
	 * probably follow on the same flow, this packet included. nullptr: no room
	 * now, the context's outcome says so.
	 */
	u8 *reserve(siro_flow &flow, u32 bytes, u32 hint);

	/* The packet of the last reserve() is complete but for the ICRC. */
	void add(u32 bytes);

	void send();

private:
	bool takes(const siro_flow &flow, u32 bytes) const;
	bool begin(siro_flow &flow, u32 bytes);

	siro_context &ctx_;
	bool responder_;
	bool open_ = false;
	bool short_packet_ = false;
	siro_flow *flow_ = nullptr;
	siro_tx_burst burst_{};
};

} // namespace sirocco
