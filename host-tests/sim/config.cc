// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "config.h"

#include "random.h"
#include "siro_engine.h"

#include <algorithm>
#include <cstdio>

namespace sim {

namespace {

uint32_t pick_psn(random &r)
{
	return r.chance(600) ? (0x1000000 - r.below(80)) & 0xffffff : r.below(0x1000000);
}

side make_side(random &r)
{
	side s = {};

	s.user = r.chance(500);
	s.srq = r.chance(300);
	s.signal_all = r.chance(300);
	s.sq_slots = 1u << r.between(1, 6);
	s.sq_limit = r.chance(300) ? r.between(1, s.sq_slots) : s.sq_slots;
	s.rq_slots = 1u << r.between(1, 6);
	s.max_send_sge = r.between(1, 8);
	s.max_recv_sge = r.between(1, 8);
	s.max_inline = r.pick({0u, 28u, 64u, 200u, 512u});
	s.first_psn = pick_psn(r);
	s.max_rd_atomic = r.pick({1u, 1u, 2u, 4u, 16u});
	s.timeout = r.between(6, 10); /* 0.26 to 4 ms */
	s.retry_count = 7;
	s.rnr_retry = 7;
	s.min_rnr_timer = r.between(1, 9); /* 10 to 240 us */
	s.budget = r.pick({1u, 2u, 7u, 64u, 128u});
	s.max_burst_bytes = r.chance(500) ? SIRO_MAX_BURST_BYTES : r.between(4160, 20000);
	s.refuse = r.chance(300) ? r.between(1, 300) : 0;
	s.work = r.between(1, 50);
	s.spare_receives = r.below(4);
	return s;
}

} // namespace

config::config(uint64_t number) : seed(number)
{
	random r(number);

	for (auto &s : sides)
		s = make_side(r);
	for (int i = 0; i < 2; i++)
		sides[i].max_dest_rd_atomic =
			sides[1 - i].max_rd_atomic + (r.chance(300) ? r.below(8) : 0);
	if (r.chance(200))
		sides[r.below(2)].work = 0;
	ipv6 = r.chance(300);
	mtu = 256u << r.below(5);
	latency = r.between(500, 20000);
	loss = duplicate = reorder = corrupt = 0;
	switch (r.below(6)) {
	case 0:
	case 1:
		break; /* a perfect network */
	case 2:
		loss = r.between(1, 100);
		break;
	case 3:
		duplicate = r.between(10, 300);
		reorder = r.chance(500) ? r.between(1, 50) : 0;
		break;
	case 4:
		reorder = r.between(10, 300);
		break;
	default:
		loss = r.between(0, 60);
		duplicate = r.between(0, 100);
		reorder = r.between(0, 100);
		corrupt = r.between(0, 40);
	}
	reorder_delay = r.chance(200) ? r.between(100000, 3000000) : r.between(1000, 100000);
	split = r.pick({0u, 100u, 1000u});
	fragments = r.chance(400);
	late_receives = r.chance(300);
	receive_delay = r.between(1000, 400000);
	if (late_receives && r.chance(200))
		sides[r.below(2)].rnr_retry = r.below(7);
	kill = wrong = -1;
	kill_step = wrong_at = 0;
	kind = mistake::none;
	if (r.chance(150)) {
		kill = static_cast<int>(r.below(2));
		kill_step = r.between(1, 150);
	} else if (r.chance(200)) {
		wrong = static_cast<int>(r.below(2));
		wrong_at = r.below(std::max(sides[wrong].work, 1u));
		kind = static_cast<mistake>(r.between(1, static_cast<int>(mistake::count) - 1));
		if (kind == mistake::bad_opcode)
			sides[wrong].user = true;
	}
	for (side &s : sides) {
		s.hold = r.chance(700);
		s.ooo = s.hold && r.chance(700) ? r.pick({uint8_t{3}, uint8_t{3}, uint8_t{1}}) : 0;
		s.paths = r.pick({uint8_t{1}, uint8_t{1}, uint8_t{2}, uint8_t{4}, uint8_t{16}});
	}
	skew = lossless() ? 0 : r.below(30000);
}

const char *mistake_name(mistake m)
{
	static const char *const names[] = {
		"none",         "remote key",        "remote range", "remote access",
		"remote piece", "misaligned atomic", "local key",    "local range",
		"local access", "local piece",       "long send",    "bad opcode",
	};

	return names[static_cast<int>(m)];
}

std::string config::describe() const
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "seed %llu: IPv%d mtu %u latency %u ns; loss %u dup %u reorder %u "
			 "(+%u ns) corrupt %u; split %u frags %d late %d (%u ns) kill %d@%u "
			 "wrong %d@%u (%s)\n",
			 static_cast<unsigned long long>(seed), ipv6 ? 6 : 4, mtu, latency, loss,
			 duplicate, reorder, reorder_delay, corrupt, split, fragments,
			 late_receives, receive_delay, kill, kill_step, wrong, wrong_at,
			 mistake_name(kind));

	for (auto &s : sides)
		n += snprintf(text + n, sizeof(text) - static_cast<size_t>(n),
			      "  %s%s%s ooo %u paths %u sq %u/%u rq %u sge %u/%u inline %u psn %#x "
			      "rd %u/%u "
			      "timeout %u retry %u rnr %u (%u) budget %u burst %u refuse %u "
			      "work %u spare %u\n",
			      s.user ? "user" : "kernel",
			      s.srq    ? " srq"
			      : s.hold ? " hold"
				       : "",
			      s.signal_all ? " all" : "", s.ooo, s.paths, s.sq_limit, s.sq_slots,
			      s.rq_slots, s.max_send_sge, s.max_recv_sge, s.max_inline, s.first_psn,
			      s.max_rd_atomic, s.max_dest_rd_atomic, s.timeout, s.retry_count,
			      s.rnr_retry, s.min_rnr_timer, s.budget, s.max_burst_bytes, s.refuse,
			      s.work, s.spare_receives);
	return text;
}

} // namespace sim
