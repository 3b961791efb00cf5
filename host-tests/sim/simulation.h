// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Two engines, a network between them, virtual time, and the checks. */
#pragma once

#include "config.h"
#include "endpoint.h"
#include "random.h"
#include "workload.h"

#include <map>
#include <memory>
#include <queue>
#include <stdexcept>
#include <string>

namespace sim {

struct failure : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* How a run ended. */
struct summary {
	bool errors = false; /* a QP went to ERR before the work was done */
	bool gave_up = false; /* by retries on a bad network */
	uint64_t packets = 0;
	uint64_t placed = 0; /* before their turn */
	uint64_t sacks = 0;
	uint64_t virtual_ns = 0;
};

class simulation {
public:
	simulation(const config &c, bool verbose);
	summary run(); /* throws failure */

private:
	/* One host: its QP, what it wants to do, what it has seen. */
	struct node {
		std::unique_ptr<host::device> dev;
		std::unique_ptr<host::endpoint> qp;
		size_t posted = 0, received = 0;
		size_t send_done = 0; /* WRs with a known end */
		size_t successes = 0;
		size_t receive_done = 0, receive_successes = 0;
		bool send_failed = false, receive_failed = false;
		bool failing = false; /* a half reported an error */
		bool error = false; /* both halves are in ERR */
		bool run_pending[2] = {};
		bool post_pending = false, receive_pending = false;
		uint64_t timer_at = 0;
		uint64_t gap_timer_at = 0;
		uint64_t quiet_until = 0; /* RNR: no request before */
		std::map<uint32_t, host::bytes> requests; /* PSN -> packet as first sent */
		std::map<uint32_t, bool> fetching; /* last PSN of READs, atomics under way */
		uint64_t repeated = 0;
	};

	struct event {
		uint64_t time;
		uint64_t order;
		std::function<void()> act;
		bool operator<(const event &o) const
		{
			return time != o.time ? time > o.time : order > o.order;
		}
	};

	[[noreturn, gnu::format(printf, 2, 3)]] void bad(const char *format, ...);
	[[gnu::format(printf, 2, 3)]] void log(const char *format, ...);
	void at(uint64_t time, std::function<void()> act);
	void soon(std::function<void()> act, uint32_t most = 3000);

	static int post_kernel(host::endpoint &qp, work &w);
	void post(int n);
	void post_receives(int n);
	void deliver(int n, const host::super_packet &packets);
	void after_call(int n, bool requester, const host::call_result &r);
	void call_run(int n, bool requester);
	void timer(int n);
	void to_error(int n);
	void transmit(int n);
	void send_on(int n, const host::super_packet &burst);
	void watch_request(int n, const host::bytes &ib, bool repeated_ok);
	void watch_response(int n, const host::super_packet &packets);
	void poll(int n);
	void send_completion(int n, const siro_cqe &cqe);
	void receive_completion(int n, const siro_cqe &cqe);
	void check_fetched(int n, size_t i);
	bool expected_error(int n, size_t i, uint8_t status);
	bool done() const;
	void check_end();
	void check_memory(int n);
	void check_flush();
	void check_counters();
	std::string progress() const;

	const config c_;
	bool verbose_;
	random r_;
	node nodes_[2];
	std::unique_ptr<workload> work_[2]; /* from node i to the other */
	std::priority_queue<event> events_;
	uint64_t now_ = host::second, order_ = 0;
	uint64_t calls_ = 0;
	bool killed_ = false;
	summary summary_;
};

} // namespace sim
