// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A stream of WRITEs or READs over a network as netem makes it, in virtual time:
 * what is left of the goodput, and what is sent again.
 */
#pragma once

#include "endpoint.h"
#include "random.h"

#include <functional>
#include <memory>
#include <queue>
#include <string>

namespace sim {

/* Of both directions; chances are permille of packets. */
struct netem {
	const char *name;
	uint32_t loss = 0;
	uint32_t overtake = 0; /* instead of waiting for the delay */
	uint32_t correlation = 0; /* percent, of overtaking */
	uint32_t duplicate = 0, corrupt = 0;
	uint64_t skew = 0; /* ns between one path and the next */
	uint64_t stall = 0; /* ns that a host does nothing now and then */
};

class stream {
public:
	struct options {
		uint8_t opcode = SIRO_WR_RDMA_WRITE;
		uint32_t packets = 16; /* of a message */
		uint32_t depth = 32;
		uint64_t delay = 0; /* ns, one way, beside the wire's */
		uint8_t ooo[2] = {3, 3};
		uint8_t paths = 1;
		bool pause = false; /* each message alone, with a pause after it */
		netem faults;
		uint64_t seed = 1;
		uint64_t duration = 100 * host::millisecond;
	};

	struct result {
		uint64_t messages = 0;
		uint64_t sent = 0, again = 0, probes = 0, timeouts = 0, spurious = 0;
		bool failed = false;
	};

	explicit stream(const options &o);
	result run();

private:
	static constexpr uint32_t mtu = 256;
	/* 4 KiB at 1 GB/s. */
	static constexpr uint64_t packet_time = 4 * host::microsecond;
	/* In front of the wire; then send memory is full. */
	static constexpr uint64_t most_queued = 64 * packet_time;
	static constexpr uint64_t wire_delay = 20 * host::microsecond;

	struct event {
		uint64_t time, order;
		std::function<void()> act;
		bool operator<(const event &e) const
		{
			return time != e.time ? time > e.time : order > e.order;
		}
	};

	struct node {
		host::device dev;
		std::unique_ptr<host::endpoint> qp;
		uint64_t timer_at[2] = {};
		bool run_pending[2] = {};
		uint64_t wire_free = 0;
		uint64_t asleep_until = 0;
		uint32_t last_chance = 0;
	};

	void at(uint64_t time, std::function<void()> act);
	void connect(int n);
	void post();
	void enter(int n, const std::function<void(host::endpoint &)> &call);
	void look(int n);
	void arm(int n, int half, uint64_t deadline);
	void transmit(int n);
	void send(int n, const host::super_packet &one);
	uint64_t delay_of(int n, const host::super_packet &one);
	void deliver(int n, const host::super_packet &one);
	void poll();

	const options o_;
	random r_;
	node nodes_[2];
	host::region *memory_[2];
	std::priority_queue<event> events_;
	uint64_t now_ = host::second, order_ = 0;
	uint64_t next_id_ = 0, outstanding_ = 0;
	result result_;
};

/*
 * Prints what streams of so much virtual time keep under each condition; false if that
 * is too little, or a packet that was only late was sent again.
 */
bool print_streams(uint64_t milliseconds);

} // namespace sim
