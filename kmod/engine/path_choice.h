// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which of its paths a queue pair sends the next packets on. */
#pragma once

#include "base/base.h"

#include "siro_port.h"

namespace sirocco {

/* One after the other, so many packets each as make a burst worth its overhead. */
class PathChoice {
public:
	static constexpr u32 run = 8;

	/* For one packet. @first: the path of all that is not spread. */
	siro_flow &next(void *port, siro_flow &first, u32 paths, bool responder)
	{
		if (paths <= 1)
			return first;
		if (sent_++ == run) {
			sent_ = 1;
			path_ = (path_ + 1) % paths;
		}

		siro_flow *flow = path_ ? siro_port_path(port, responder, path_) : &first;

		return flow ? *flow : first;
	}

private:
	u32 sent_ = 0;
	u32 path_ = 0;
};

} // namespace sirocco
