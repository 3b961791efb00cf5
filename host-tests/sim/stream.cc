// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "stream.h"

#include <algorithm>
#include <cstdio>

namespace sim {

namespace {

constexpr uint32_t own_qpn[2] = {0x11, 0x22};
constexpr uint32_t first_psn[2] = {0xfffff0, 0xffff80};

} // namespace

stream::stream(const options &o) : o_(o), r_(o.seed)
{
	for (int n = 0; n < 2; n++)
		connect(n);
}

void stream::connect(int n)
{
	node &x = nodes_[n];
	host::region::options m;
	host::endpoint::options o;

	m.length = o_.packets * mtu;
	memory_[n] = &x.dev.add_region(m);
	o.qpn = own_qpn[n];
	o.hold = true;
	o.flow = host::flow_ipv4(n ? 0x0a000002 : 0x0a000001, n ? 0x0a000001 : 0x0a000002, 50001);
	x.qp = std::make_unique<host::endpoint>(x.dev, o);

	auto &q = *x.qp;

	q.req_attr.mtu = q.res_attr.mtu = mtu;
	q.req_attr.ooo = q.res_attr.ooo = o_.ooo[n];
	q.req_attr.paths = q.res_attr.paths = o_.paths;
	q.req_attr.dest_qpn = q.res_attr.dest_qpn = own_qpn[1 - n];
	q.req_attr.sq_psn = first_psn[n];
	q.res_attr.rq_psn = first_psn[1 - n];
	q.req_attr.max_rd_atomic = 64;
	q.req_attr.timeout = 14;
	q.req_attr.retry_count = q.req_attr.rnr_retry = 7;
	q.set_resources(64);
	x.dev.now = now_;
	q.to_rts();
}

void stream::at(uint64_t time, std::function<void()> act)
{
	events_.push({time, order_++, std::move(act)});
}

/* ---- The hosts ---- */

void stream::post()
{
	auto &q = *nodes_[0].qp;
	uint32_t length = o_.packets * mtu;

	while (outstanding_ < o_.depth && now_ < host::second + o_.duration) {
		auto wr = host::make_rdma(o_.opcode, next_id_, {memory_[0]->sge(0, length)},
					  memory_[1]->mr.iova, memory_[1]->key());

		if (!q.post_send(wr))
			break;
		next_id_++;
		outstanding_++;
	}
}

void stream::enter(int n, const std::function<void(host::endpoint &)> &call)
{
	node &x = nodes_[n];

	if (now_ < x.asleep_until) {
		at(x.asleep_until, [this, n, call] { enter(n, call); });
		return;
	}
	if (o_.faults.stall && r_.below(2000) == 0)
		x.asleep_until = now_ + r_.below(o_.faults.stall);
	x.dev.now = now_;
	x.qp->refuse_bursts = x.wire_free > now_ + most_queued ? ~0u : 0;
	call(*x.qp);
	look(n);
}

/* What a call asked for. */
void stream::look(int n)
{
	node &x = nodes_[n];
	const host::call_result last[2] = {x.qp->last_requester, x.qp->last_responder};

	transmit(n);
	if (!n)
		poll();
	for (int half = 0; half < 2; half++) {
		if (last[half].has(SIRO_OUT_MORE | SIRO_OUT_BLOCKED) && !x.run_pending[half]) {
			x.run_pending[half] = true;
			at(std::max(now_, x.wire_free - std::min(x.wire_free, most_queued)) + 1,
			   [this, n, half] {
				   nodes_[n].run_pending[half] = false;
				   enter(n, [half](host::endpoint &q) {
					   half ? q.run_responder() : q.run_requester();
				   });
			   });
		}
		arm(n, half, last[half].deadline);
	}
}

void stream::arm(int n, int half, uint64_t deadline)
{
	uint64_t &armed = nodes_[n].timer_at[half];

	if (deadline == armed)
		return;
	armed = deadline;
	if (!deadline)
		return;
	at(std::max(deadline, now_), [this, n, half, deadline] {
		uint64_t &still = nodes_[n].timer_at[half];

		if (still != deadline)
			return;
		enter(n, [half, &still, deadline](host::endpoint &q) {
			if (still != deadline)
				return;
			still = 0;
			half ? q.run_responder() : q.timeout();
		});
	});
}

void stream::poll()
{
	siro_cqe cqe;
	bool any = false;

	while (nodes_[0].qp->poll_send(cqe)) {
		result_.failed |= cqe.status != SIRO_WC_SUCCESS;
		result_.messages++;
		outstanding_--;
		any = true;
	}
	if (any && !result_.failed)
		at(now_ + (o_.pause ? 3 * host::millisecond : 0), [this] {
			post();
			enter(0, [](host::endpoint &q) { q.run_requester(); });
		});
}

/* ---- The network ---- */

void stream::transmit(int n)
{
	auto &sent = nodes_[n].qp->sent;

	for (; !sent.empty(); sent.pop_front()) {
		host::super_packet one = sent.front();

		for (size_t i = 0; i < sent.front().packets.size(); i++) {
			one.packets = {sent.front().packets[i]};
			one.first_id = static_cast<uint16_t>(sent.front().first_id + i);
			send(n, one);
		}
	}
}

void stream::send(int n, const host::super_packet &one)
{
	node &x = nodes_[n];
	uint64_t length = one.packets[0].size() >= mtu ? packet_time : packet_time / 8;

	x.wire_free = std::max(x.wire_free, now_) + length;
	if (!n)
		result_.sent++;
	if (r_.chance(o_.faults.loss))
		return;
	for (int copies = r_.chance(o_.faults.duplicate) ? 2 : 1; copies; copies--) {
		host::super_packet copy = one;

		if (r_.chance(o_.faults.corrupt))
			copy.packets[0][5 + r_.below(20)] ^= 0x10;
		at(x.wire_free + delay_of(n, one), [this, n, copy] { deliver(1 - n, copy); });
	}
}

uint64_t stream::delay_of(int n, const host::super_packet &one)
{
	uint32_t &chance = nodes_[n].last_chance;
	uint32_t path = one.flow.source_port < 50000 ? one.flow.source_port - 0xc000u : 0;

	if (o_.faults.overtake) {
		chance = (r_.below(1000) * (100 - o_.faults.correlation) +
			  chance * o_.faults.correlation) /
			 100;
		if (chance < o_.faults.overtake)
			return wire_delay;
	}
	return wire_delay + o_.delay + path * o_.faults.skew;
}

void stream::deliver(int n, const host::super_packet &one)
{
	enter(n, [one](host::endpoint &q) { q.receive(one); });
}

stream::result stream::run()
{
	uint64_t limit = now_ + 20 * o_.duration + 10 * host::second;

	post();
	enter(0, [](host::endpoint &q) { q.run_requester(); });
	while (!events_.empty() && now_ < limit) {
		event e = events_.top();

		events_.pop();
		now_ = std::max(now_, e.time);
		e.act();
		if (now_ > host::second + o_.duration && !o_.pause)
			break;
	}

	auto *c = nodes_[0].dev.counters;

	result_.again = c[SIRO_CNT_RETRANSMITTED_PKTS];
	result_.probes = c[SIRO_CNT_TAIL_PROBES];
	result_.timeouts = c[SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR];
	result_.spurious = c[SIRO_CNT_SPURIOUS_RETRANSMITS];
	return result_;
}

/* ---- The table ---- */

namespace {

struct job {
	const char *name; /* packets of a message x messages under way */
	uint8_t opcode;
	uint32_t packets, depth;
	bool pause;
};

const job jobs[] = {
	{"write 16x32", SIRO_WR_RDMA_WRITE, 16, 32, false},
	{"write 256x4", SIRO_WR_RDMA_WRITE, 256, 4, false},
	{"read 16x32", SIRO_WR_RDMA_READ, 16, 32, false},
	{"read 256x4", SIRO_WR_RDMA_READ, 256, 4, false},
	{"write 16, alone", SIRO_WR_RDMA_WRITE, 16, 1, true},
	{"read 16, alone", SIRO_WR_RDMA_READ, 16, 1, true},
};

const netem conditions[] = {
	{.name = "clean"},
	{.name = "loss 0.1 %", .loss = 1},
	{.name = "loss 1 %", .loss = 10},
	{.name = "loss 5 %", .loss = 50},
	{.name = "reorder 25 %", .overtake = 250},
	{.name = "reorder 25 % 50 %", .overtake = 250, .correlation = 50},
	{.name = "noise", .duplicate = 10, .corrupt = 1},
	{.name = "reorder, stalls", .overtake = 250, .correlation = 50, .stall = 2000000},
};

/* One way, beside the wire's. */
constexpr uint64_t delays[] = {0, 50 * host::microsecond, 500 * host::microsecond};

stream::result print_stream(const job &j, uint64_t delay, const netem &faults, uint64_t duration,
			    uint64_t clean)
{
	stream::options o;

	o.opcode = j.opcode;
	o.packets = j.packets;
	o.depth = j.depth;
	o.pause = j.pause;
	o.delay = delay;
	o.faults = faults;
	o.duration = duration;

	auto r = stream(o).run();
	auto number = [](uint64_t n) {
		return static_cast<unsigned long long>(n);
	};

	clean = clean ? clean : r.messages;
	printf("%-14s %3llu us, %-18s: kept %4.2f, %llu packets again, %llu in vain, %llu probes, "
	       "%llu timeouts\n",
	       j.name, number(delay / host::microsecond), faults.name,
	       static_cast<double>(r.messages) / static_cast<double>(clean), number(r.again),
	       number(r.spurious), number(r.probes), number(r.timeouts));
	fflush(stdout);
	return r;
}

/* Without a long round trip a window is large enough to go on while a loss is repaired. */
bool is_kept(const job &j, uint64_t delay, const netem &faults, double part)
{
	bool easy = faults.loss <= 10 && !faults.stall && !j.pause && delay <= delays[1];

	return !easy || part > 0.8;
}

} // namespace

bool print_streams(uint64_t milliseconds)
{
	bool good = true;

	for (auto &j : jobs)
		for (uint64_t delay : delays) {
			uint64_t clean = 0;

			for (auto &faults : conditions) {
				if (faults.overtake && !delay)
					continue;

				auto r = print_stream(j, delay, faults,
						      milliseconds * host::millisecond, clean);
				bool lossless = !faults.loss && !faults.corrupt;

				clean = clean ? clean : r.messages;
				good &= !r.failed && r.messages;
				good &= is_kept(j, delay, faults,
						static_cast<double>(r.messages) /
							static_cast<double>(clean));
				good &= !lossless || faults.stall || !(r.again || r.timeouts);
			}
		}
	puts(good ? "streams: good" : "streams: too little is kept, or sent again for nothing");
	return good;
}

} // namespace sim
