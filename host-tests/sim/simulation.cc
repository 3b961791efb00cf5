// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "simulation.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace sim {

namespace {

constexpr uint32_t own_qpn[2] = {0x1234, 0xfedcba};
constexpr uint64_t most_events = 3000000;

uint64_t rnr_delay(uint8_t code)
{
	/* IBTA table 45 in units of 10 us; the simulator uses codes 1 to 9. */
	static const uint32_t units[] = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24};

	return units[code] * uint64_t{10000};
}

/* As the endpoints number them. */
uint32_t path_of(const siro_flow &flow)
{
	return flow.source_port < 50000 ? flow.source_port - 0xc000u : 0;
}

uint32_t packets_of(uint64_t length, uint32_t mtu)
{
	return length ? static_cast<uint32_t>((length + mtu - 1) / mtu) : 1;
}

} // namespace

void simulation::bad(const char *format, ...)
{
	char text[600];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	throw failure(text);
}

void simulation::log(const char *format, ...)
{
	va_list args;

	if (!verbose_)
		return;
	printf("%10.3f ", static_cast<double>(now_ - host::second) / 1000);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void simulation::at(uint64_t time, std::function<void()> act)
{
	events_.push({time, order_++, std::move(act)});
}

void simulation::soon(std::function<void()> act, uint32_t most)
{
	at(now_ + 1 + r_.below(most), std::move(act));
}

simulation::simulation(const config &c, bool verbose) : c_(c), verbose_(verbose), r_(~c.seed)
{
	for (int n = 0; n < 2; n++)
		nodes_[n].dev = std::make_unique<host::device>();
	for (int n = 0; n < 2; n++)
		work_[n] =
			std::make_unique<workload>(c_, n, r_, *nodes_[n].dev, *nodes_[1 - n].dev);
	for (int n = 0; n < 2; n++) {
		const side &s = c_.sides[n];
		host::endpoint::options o;

		o.qpn = own_qpn[n];
		o.user = s.user;
		o.srq = s.srq;
		o.signal_all = s.signal_all;
		o.sq_slots = s.sq_slots;
		o.sq_limit = s.sq_limit;
		o.rq_slots = s.rq_slots;
		o.cq_slots = 256;
		o.max_send_sge = s.max_send_sge;
		o.max_recv_sge = s.max_recv_sge;
		o.max_inline = s.max_inline;
		o.hold = s.hold;
		o.cookie = s.user ? 0 : 0xabcdef00u + static_cast<uint32_t>(n);
		o.flow = c_.ipv6 ? host::flow_ipv6(n ? 2 : 1, n ? 1 : 2, 50000)
				 : host::flow_ipv4(n ? 0x0a000002 : 0x0a000001,
						   n ? 0x0a000001 : 0x0a000002, 50001);
		nodes_[n].qp = std::make_unique<host::endpoint>(*nodes_[n].dev, o);

		auto &q = *nodes_[n].qp;

		q.req_attr.mtu = q.res_attr.mtu = c_.mtu;
		q.req_attr.ooo = q.res_attr.ooo = s.ooo;
		q.req_attr.paths = q.res_attr.paths = s.paths;
		q.req_attr.dest_qpn = q.res_attr.dest_qpn = own_qpn[1 - n];
		q.req_attr.sq_psn = s.first_psn;
		q.req_attr.max_rd_atomic = s.max_rd_atomic;
		q.req_attr.timeout = static_cast<uint8_t>(s.timeout);
		q.req_attr.retry_count = static_cast<uint8_t>(s.retry_count);
		q.req_attr.rnr_retry = static_cast<uint8_t>(s.rnr_retry);
		q.res_attr.rq_psn = c_.sides[1 - n].first_psn;
		q.res_attr.min_rnr_timer = s.min_rnr_timer;
		q.set_resources(s.max_dest_rd_atomic);
		q.budget = s.budget;
		q.max_burst_bytes = s.max_burst_bytes;
		q.armed = true;
		if (s.refuse)
			q.refuse = [this, n] {
				return r_.chance(c_.sides[n].refuse);
			};
		if (c_.fragments)
			q.frag_bytes = [this](uint32_t left) {
				return r_.chance(500) ? r_.below(left + 1) : r_.below(20);
			};
		q.to_rts();
	}
}

/* ---- What the hosts do ---- */

/* The list of a registration belongs to the queue once it is posted. */
int simulation::post_kernel(host::endpoint &qp, work &w)
{
	host::indirect_list *list = nullptr;

	if (!w.list.empty()) {
		list = new host::indirect_list(w.list);
		w.wr.wqe.reg.mr = reinterpret_cast<uintptr_t>(list);
	}

	int ret = qp.post_send_kernel(w.wr);

	if (ret && list)
		siro_port_mr_abandon_list(&qp, w.wr.wqe.reg.mr);
	return ret;
}

void simulation::post(int n)
{
	node &x = nodes_[n];
	auto &list = work_[n]->list;
	size_t most = r_.between(1, 8);
	bool full = false;

	x.post_pending = false;
	while (x.posted < list.size() && most-- && !full) {
		work &w = list[x.posted];

		if (c_.sides[n].user) {
			full = !x.qp->post_send(w.wr);
		} else {
			int ret = post_kernel(*x.qp, w);

			if (ret && ret != -12)
				bad("side %d: WR %zu refused with %d", n, x.posted, ret);
			full = ret != 0;
		}
		if (!full) {
			log("%d posts WR %zu opcode %u flags %#x", n, x.posted, w.wr.wqe.opcode,
			    w.wr.wqe.flags);
			x.posted++;
		}
	}
	call_run(n, true);
	if (x.posted < list.size() && !x.post_pending) {
		x.post_pending = true;
		soon([this, n] { post(n); }, full ? 50000 : 20000);
	}
}

void simulation::post_receives(int n)
{
	node &x = nodes_[n];
	auto &receives = work_[1 - n]->receives;
	size_t most = c_.late_receives ? r_.between(1, 3) : receives.size();

	while (x.received < receives.size() && most-- &&
	       x.qp->post_recv(receives[x.received].wr_id, receives[x.received].sges)) {
		log("%d posts receive %zu", n, x.received);
		x.received++;
	}
	if (x.qp->kick)
		call_run(n, false);
	if (x.received < receives.size() && !done())
		soon([this, n] { post_receives(n); }, c_.late_receives ? c_.receive_delay : 20000);
}

void simulation::call_run(int n, bool requester)
{
	auto &q = *nodes_[n].qp;

	after_call(n, requester, requester ? q.run_requester() : q.run_responder());
}

void simulation::timer(int n)
{
	node &x = nodes_[n];

	x.timer_at = 0;
	log("%d timeout", n);
	after_call(n, true, x.qp->timeout());
}

void simulation::to_error(int n)
{
	node &x = nodes_[n];

	log("%d to ERR", n);
	x.error = true;
	if (r_.chance(500)) {
		after_call(n, true, x.qp->modify_requester(SIRO_QPS_ERR));
		after_call(n, false, x.qp->modify_responder(SIRO_QPS_ERR));
	} else {
		after_call(n, false, x.qp->modify_responder(SIRO_QPS_ERR));
		after_call(n, true, x.qp->modify_requester(SIRO_QPS_ERR));
	}
}

void simulation::after_call(int n, bool requester, const host::call_result &r)
{
	node &x = nodes_[n];
	int half = requester ? 0 : 1;

	x.failing |= r.has(SIRO_OUT_QP_ERROR);
	transmit(n);
	poll(n);
	if (r.has(SIRO_OUT_MORE | SIRO_OUT_BLOCKED) && !x.run_pending[half]) {
		x.run_pending[half] = true;
		soon([this, n, requester, half] {
			nodes_[n].run_pending[half] = false;
			call_run(n, requester);
		});
	}
	if (r.has(SIRO_OUT_QP_ERROR))
		soon([this, n] { to_error(n); }, 20000);
	if (requester && r.deadline != x.timer_at) {
		uint64_t when = x.timer_at = r.deadline;

		if (when)
			at(std::max(when, now_), [this, n, when] {
				if (nodes_[n].timer_at == when)
					timer(n);
			});
	}
	if (!requester && r.deadline != x.gap_timer_at) {
		uint64_t when = x.gap_timer_at = r.deadline;

		if (when)
			at(std::max(when, now_), [this, n, when] {
				if (nodes_[n].gap_timer_at != when)
					return;
				nodes_[n].gap_timer_at = 0;
				call_run(n, false);
			});
	}
	if (r_.chance(5)) /* harmless by contract */
		soon([this, n] { timer(n); });
	calls_++;
	if (c_.kill == n && !killed_ && calls_ >= c_.kill_step) {
		killed_ = true;
		soon([this, n] { to_error(n); });
	}
}

/* ---- The network ---- */

void simulation::transmit(int n)
{
	auto &sent = nodes_[n].qp->sent;

	while (!sent.empty()) {
		host::super_packet burst = std::move(sent.front());

		sent.pop_front();
		send_on(n, burst);
	}
}

/* What leaves side @n as a request must be right, whatever happened before. */
void simulation::watch_request(int n, const host::bytes &ib, bool repeated_ok)
{
	node &x = nodes_[n];
	host::packet p;

	host::decode(ib, p);

	auto has = host::properties_of(p.opcode);
	host::bytes content = host::encode_without_icrc(p);
	bool may_mark = has.payload || p.opcode == host::READ_REQUEST;

	if (!has.request)
		bad("side %d: the requester sent %s", n, host::opcode_name(p.opcode));
	if (p.marked && (c_.sides[n].ooo != 3 || !may_mark))
		bad("side %d: marked %s", n, host::opcode_name(p.opcode));
	if (p.qpn != own_qpn[1 - n] || p.pkey != 0xffff || p.version)
		bad("side %d: wrong BTH in %s", n, host::opcode_name(p.opcode));
	if ((has.first || has.middle) && p.payload.size() != c_.mtu)
		bad("side %d: %s of %zu bytes", n, host::opcode_name(p.opcode), p.payload.size());
	if (p.payload.size() > c_.mtu || (has.last && p.payload.empty()))
		bad("side %d: %s of %zu bytes", n, host::opcode_name(p.opcode), p.payload.size());
	if (now_ < x.quiet_until)
		bad("side %d: PSN %#x before the RNR delay has passed", n, p.psn);

	content[8] = 0; /* the acknowledge request may differ */

	auto [before, fresh] = x.requests.emplace(p.psn, content);

	if (!fresh) {
		x.repeated++;
		if (!repeated_ok)
			bad("side %d: PSN %#x sent again for no reason", n, p.psn);
		if (p.opcode != host::READ_REQUEST && before->second != content)
			bad("side %d: PSN %#x is another packet when sent again", n, p.psn);
	}
	if (p.opcode == host::READ_REQUEST || has.atomic) {
		uint32_t last = p.psn;

		if (p.opcode == host::READ_REQUEST)
			last = (p.psn + packets_of(p.dma_length, c_.mtu) - 1) & 0xffffff;
		if (fresh && p.opcode == host::READ_REQUEST)
			for (uint32_t i = p.psn; i != last; i = (i + 1) & 0xffffff)
				x.requests.emplace((i + 1) & 0xffffff, host::bytes());
		if (fresh)
			x.fetching[last] = true;
		if (x.fetching.size() > c_.sides[n].max_rd_atomic)
			bad("side %d: %zu READs and atomics outstanding", n, x.fetching.size());
	}
}

/* What reaches side @n's requester. */
void simulation::watch_response(int n, const host::super_packet &packets)
{
	node &x = nodes_[n];

	for (auto &ib : packets.packets) {
		host::packet p;

		if (!host::decode(ib, p))
			continue;
		/* No peer that did not agree ever sees the marker or an extension. */
		if ((p.marked || (p.opcode == host::ACKNOWLEDGE && !p.payload.empty())) &&
		    (c_.sides[0].ooo != 3 || c_.sides[1].ooo != 3) && !c_.corrupt)
			bad("side %d gets an ACK with an extension", n);
		if (p.opcode == host::READ_RESPONSE_LAST || p.opcode == host::READ_RESPONSE_ONLY ||
		    p.opcode == host::ATOMIC_ACKNOWLEDGE)
			x.fetching.erase(p.psn);
		if (p.opcode == host::ACKNOWLEDGE && host::is_rnr(p.syndrome) && c_.lossless() &&
		    !x.error && now_ >= x.quiet_until)
			x.quiet_until = now_ + rnr_delay(p.syndrome & 31);
	}
}

void simulation::send_on(int n, const host::super_packet &burst)
{
	host::super_packet group;
	size_t next = 0;
	uint64_t latency = c_.latency + path_of(burst.flow) * uint64_t{c_.skew};
	auto flush = [&] {
		if (group.packets.empty())
			return;
		at(now_ + latency, [this, n, group] { deliver(1 - n, group); });
		group.packets.clear();
	};

	for (size_t i = 0; i < burst.packets.size(); i++) {
		host::super_packet one = burst;

		one.packets = {burst.packets[i]};
		one.first_id = static_cast<uint16_t>(burst.first_id + i);
		one.flow.tos = static_cast<uint8_t>(r_.next());
		summary_.packets++;
		if (verbose_) {
			host::packet p;

			host::decode(burst.packets[i], p);
			log("%d sends %s psn %#x len %zu%s syndrome %#x", n,
			    host::opcode_name(p.opcode), p.psn, p.payload.size(),
			    p.ackreq ? " A" : "", p.syndrome);
		}
		if (!burst.from_responder)
			watch_request(n, burst.packets[i],
				      !c_.lossless() || c_.sides[1 - n].refuse || c_.wrong == n ||
					      nodes_[n].dev->counters[SIRO_CNT_RCVD_RNR_ERR] ||
					      nodes_[0].failing || nodes_[1].failing ||
					      nodes_[0].error || nodes_[1].error);
		if (r_.chance(c_.loss)) {
			log("  lost");
			continue;
		}
		for (int copies = r_.chance(c_.duplicate) ? 2 : 1; copies; copies--) {
			bool late = r_.chance(c_.reorder) || copies == 2;
			bool broken = r_.chance(c_.corrupt);

			if (!late && !broken) {
				if (i != next || r_.chance(c_.split))
					flush();
				if (group.packets.empty()) {
					group = one;
				} else {
					group.packets.push_back(burst.packets[i]);
				}
				next = i + 1;
				continue;
			}

			host::super_packet copy = one;

			if (broken) {
				size_t where = r_.below(copy.packets[0].size());

				if (where == 4) /* not covered by the ICRC */
					where = 5;
				copy.packets[0][where] ^= static_cast<uint8_t>(r_.between(1, 255));
				log("  corrupted at %zu", where);
			}
			at(now_ + latency + (late ? r_.below(c_.reorder_delay) : 0),
			   [this, n, copy] { deliver(1 - n, copy); });
		}
	}
	flush();
}

void simulation::deliver(int n, const host::super_packet &packets)
{
	node &x = nodes_[n];
	auto &q = *x.qp;

	/* The endpoint may make several calls; their outcomes add up. */
	q.sticky_outcome[0] = q.sticky_outcome[1] = 0;
	if (packets.from_responder)
		watch_response(n, packets);
	if (verbose_)
		log("%d gets %zu packets", n, packets.packets.size());
	q.receive(packets);

	host::call_result r[2] = {q.last_requester, q.last_responder};

	for (int half = 0; half < 2; half++)
		r[half].outcome = q.sticky_outcome[half];
	r[0].deadline = q.deadline;
	x.failing |= r[0].has(SIRO_OUT_QP_ERROR) || r[1].has(SIRO_OUT_QP_ERROR);
	after_call(n, true, r[0]);
	after_call(n, false, r[1]);
}

/* ---- Completions ---- */

void simulation::poll(int n)
{
	siro_cqe cqe;

	while (nodes_[n].qp->poll_send(cqe))
		send_completion(n, cqe);
	while (nodes_[n].qp->poll_recv(cqe))
		receive_completion(n, cqe);
}

void simulation::check_fetched(int n, size_t i)
{
	const work &w = work_[n]->list[i];
	size_t at = 0;

	for (auto [offset, length] : w.pieces) {
		host::bytes got = w.sink->read(offset, length);

		if (!std::equal(got.begin(), got.end(),
				w.fetched.begin() + static_cast<ptrdiff_t>(at)))
			bad("side %d: WR %zu (opcode %u) brought wrong data", n, i,
			    w.wr.wqe.opcode);
		at += length;
	}
}

/* Whether a WR may end like that. The first error of a side only. */
bool simulation::expected_error(int n, size_t i, uint8_t status)
{
	const work &w = work_[n]->list[i];
	bool peer_gone = nodes_[1 - n].error || killed_ || c_.wrong >= 0;

	if (w.bad_status)
		if (status == w.bad_status)
			return true;
	if (status == SIRO_WC_WR_FLUSH_ERR)
		return nodes_[n].error || nodes_[n].failing;
	if (status == SIRO_WC_RETRY_EXC_ERR) {
		summary_.gave_up |= !peer_gone;
		return peer_gone || !c_.lossless();
	}
	if (status == SIRO_WC_RNR_RETRY_EXC_ERR) {
		summary_.gave_up |= !peer_gone;
		return c_.late_receives && c_.sides[n].rnr_retry < 7;
	}
	return false;
}

void simulation::send_completion(int n, const siro_cqe &cqe)
{
	node &x = nodes_[n];
	auto &list = work_[n]->list;
	size_t i = x.send_done;

	log("%d send CQE wr_id %llx status %u", n, static_cast<unsigned long long>(cqe.wr_id),
	    cqe.status);
	while (i < x.posted && list[i].wr.wqe.wr_id != cqe.wr_id) {
		if (list[i].signaled || x.send_failed || list[i].bad_status)
			bad("side %d: WR %zu has no completion", n, i);
		i++;
	}
	if (i == x.posted)
		bad("side %d: completion of an unknown WR, status %u", n, cqe.status);

	const work &w = list[i];

	for (size_t j = x.send_done; j < i; j++)
		if (list[j].fetches)
			check_fetched(n, j);
	x.successes = x.send_failed ? x.successes : i;
	x.send_done = i + 1;
	if (cqe.opcode != w.cqe_opcode && !w.bad_status)
		bad("side %d: WR %zu: opcode %u in the CQE", n, i, cqe.opcode);
	if (cqe.status == SIRO_WC_SUCCESS) {
		if (x.send_failed)
			bad("side %d: WR %zu succeeds after an error", n, i);
		if (!w.signaled)
			bad("side %d: WR %zu was not signaled", n, i);
		if (w.bad_status)
			bad("side %d: WR %zu (%s) succeeds", n, i, mistake_name(c_.kind));
		if (w.fetches) {
			check_fetched(n, i);
			if (cqe.byte_len != w.fetched.size())
				bad("side %d: WR %zu: byte_len %u of %zu", n, i, cqe.byte_len,
				    w.fetched.size());
		}
		x.successes = i + 1;
		return;
	}
	if (x.send_failed) {
		if (cqe.status != SIRO_WC_WR_FLUSH_ERR)
			bad("side %d: WR %zu: status %u after the first error", n, i, cqe.status);
		return;
	}
	x.send_failed = true;
	summary_.errors = true;
	if (!expected_error(n, i, cqe.status))
		bad("side %d: WR %zu (opcode %u): status %u%s%s", n, i, w.wr.wqe.opcode, cqe.status,
		    w.bad_status ? " for " : "", w.bad_status ? mistake_name(c_.kind) : "");
}

void simulation::receive_completion(int n, const siro_cqe &cqe)
{
	node &x = nodes_[n];
	workload &from = *work_[1 - n];
	size_t i = x.receive_done++;

	log("%d receive CQE wr_id %llx status %u", n, static_cast<unsigned long long>(cqe.wr_id),
	    cqe.status);
	if (i >= x.received || from.receives[i].wr_id != cqe.wr_id)
		bad("side %d: receive %zu completes out of order", n, i);
	if (cqe.status == SIRO_WC_WR_FLUSH_ERR) {
		x.receive_failed = true;
		if (!x.error && !x.failing)
			bad("side %d: receive %zu flushed for no reason", n, i);
		return;
	}
	if (x.receive_failed)
		bad("side %d: receive %zu has status %u after an error", n, i, cqe.status);
	if (i >= from.messages.size() || nodes_[1 - n].posted == 0)
		bad("side %d: receive %zu has status %u without a message", n, i, cqe.status);

	const message &m = from.messages[i];

	if (cqe.status != m.status)
		bad("side %d: receive %zu: status %u, not %u", n, i, cqe.status, m.status);
	if (cqe.status != SIRO_WC_SUCCESS) {
		x.receive_failed = true;
		return;
	}
	x.receive_successes++;
	if (cqe.opcode != m.opcode || cqe.flags != m.flags || cqe.byte_len != m.byte_len)
		bad("side %d: receive %zu: opcode %u flags %#x length %u, not %u %#x %u", n, i,
		    cqe.opcode, cqe.flags, cqe.byte_len, m.opcode, m.flags, m.byte_len);
	if (m.flags & (SIRO_WC_WITH_IMM | SIRO_WC_WITH_INVALIDATE) && cqe.imm != m.imm)
		bad("side %d: receive %zu: imm %#x, not %#x", n, i, cqe.imm, m.imm);
	if (m.flags & SIRO_WC_WITH_INVALIDATE && x.dev->find(m.imm)->mr.state != SIRO_MR_FREE)
		bad("side %d: receive %zu: key %#x is still valid", n, i, m.imm);

	host::bytes got = from.received(from.receives[i].sges), want = from.receives[i].before;

	std::copy(m.payload.begin(), m.payload.end(), want.begin());
	if (got != want)
		bad("side %d: receive %zu holds wrong data", n, i);
}

/* ---- The end ---- */

bool simulation::done() const
{
	for (int n = 0; n < 2; n++) {
		const node &x = nodes_[n];

		if (x.send_done < work_[n]->list.size())
			return false;
	}
	return true;
}

std::string simulation::progress() const
{
	char text[300];

	snprintf(text, sizeof(text),
		 "WRs %zu/%zu/%zu and %zu/%zu/%zu done/posted/all, receives %zu/%zu and %zu/%zu, "
		 "states %u,%u %u,%u, deadlines %+lld %+lld ns",
		 nodes_[0].send_done, nodes_[0].posted, work_[0]->list.size(), nodes_[1].send_done,
		 nodes_[1].posted, work_[1]->list.size(), nodes_[0].receive_done,
		 nodes_[0].received, nodes_[1].receive_done, nodes_[1].received,
		 siro_requester_state(&nodes_[0].qp->requester),
		 siro_responder_state(&nodes_[0].qp->responder),
		 siro_requester_state(&nodes_[1].qp->requester),
		 siro_responder_state(&nodes_[1].qp->responder),
		 nodes_[0].timer_at ? static_cast<long long>(nodes_[0].timer_at - now_) : 0,
		 nodes_[1].timer_at ? static_cast<long long>(nodes_[1].timer_at - now_) : 0);
	return text;
}

void simulation::check_memory(int n)
{
	node &x = nodes_[n];
	workload &w = *work_[n];

	for (int place = 0; place < workload::places; place++) {
		host::bytes want = w.image(place, x.successes);
		host::bytes got = w.remote[place].read(0, want.size());

		if (got == want)
			continue;
		for (size_t i = 0; i < want.size(); i++)
			if (got[i] != want[i] &&
			    (!x.send_failed || !w.may_become(place, i, got[i], x.successes)))
				bad("side %d: byte %zu of remote region %d is %#x, not %#x", n, i,
				    place, got[i], want[i]);
	}

	/* Every byte of the sink that no READ or atomic wrote is as it was. */
	for (size_t i = 0; i < x.successes; i++)
		if (w.list[i].fetches)
			check_fetched(n, i);
	if (nodes_[1 - n].receive_successes > w.messages.size())
		bad("side %d: more receives than messages", 1 - n);

	size_t sent = 0;

	for (size_t i = 0; i < x.successes; i++)
		sent += w.list[i].receive >= 0;
	if (nodes_[1 - n].receive_successes < sent)
		bad("side %d: %zu messages sent, %zu received", n, sent,
		    nodes_[1 - n].receive_successes);
	if (!x.send_failed && nodes_[1 - n].receive_successes != sent)
		bad("side %d: %zu messages sent, %zu received", n, sent,
		    nodes_[1 - n].receive_successes);
}

/* Then both QPs go to ERR: what is left in the receive queues is flushed. */
void simulation::check_flush()
{
	for (int n = 0; n < 2; n++) {
		auto &q = *nodes_[n].qp;

		nodes_[n].error = true;
		q.modify(SIRO_QPS_ERR);
		q.settle();
		poll(n);
		if (!q.sent.empty())
			bad("side %d sends in ERR", n);
		if (siro_requester_state(&q.requester) != SIRO_QPS_ERR ||
		    siro_responder_state(&q.responder) != SIRO_QPS_ERR)
			bad("side %d is not in ERR", n);
		if (q.last_requester.deadline)
			bad("side %d wants a timer in ERR", n);
		if (!c_.sides[n].srq && nodes_[n].receive_done != nodes_[n].received)
			bad("side %d: %zu of %zu receives completed", n, nodes_[n].receive_done,
			    nodes_[n].received);
		q.modify(SIRO_QPS_RESET);
		q.settle();
		poll(n);
		siro_responder_discard(&q.responder, &q);
	}
	if (host::indirect_list::alive)
		bad("%d lists were not given back", host::indirect_list::alive);
}

void simulation::check_counters()
{
	for (int n = 0; n < 2; n++) {
		auto *c = nodes_[n].dev->counters;
		bool clean = c_.lossless() && !summary_.errors && c_.kill < 0 && c_.wrong < 0;

		/* What precedes a WR that can't be sent must not wait for a timeout. */
		if (c[SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR] && c_.lossless() && c_.wrong == n &&
		    c_.kind >= mistake::local_key && c_.kind != mistake::long_send &&
		    !c_.sides[1 - n].refuse && !c[SIRO_CNT_RCVD_RNR_ERR])
			bad("side %d: timeout before a bad WR", n);
		if (c[SIRO_CNT_SACK_INVALID])
			bad("side %d calls %llu SACKs invalid", n,
			    static_cast<unsigned long long>(c[SIRO_CNT_SACK_INVALID]));
		if (c[SIRO_CNT_WRONG_STATE] && clean)
			bad("side %d counts packets in a wrong state", n);
		if (!clean || c_.late_receives)
			continue;
		for (auto i :
		     {SIRO_CNT_DUPLICATE_REQUEST, SIRO_CNT_OUT_OF_SEQ_REQUEST,
		      SIRO_CNT_RCVD_SEQ_ERR, SIRO_CNT_SENT_NAKS, SIRO_CNT_MALFORMED_PKTS,
		      SIRO_CNT_ICRC_ERRORS, SIRO_CNT_UNKNOWN_QP, SIRO_CNT_BAD_PKEY,
		      SIRO_CNT_BAD_ADDRESS, SIRO_CNT_STALE_RESPONSES, SIRO_CNT_IMPLIED_NAK_SEQ_ERR,
		      SIRO_CNT_REQ_CQE_ERROR, SIRO_CNT_RESP_CQE_ERROR})
			if (c[i] && !c_.sides[0].refuse && !c_.sides[1].refuse &&
			    !c[SIRO_CNT_RCVD_RNR_ERR] && !c[SIRO_CNT_SEND_RNR_ERR])
				bad("side %d: counter %d is %llu on a perfect network", n, i,
				    static_cast<unsigned long long>(c[i]));
	}
}

void simulation::check_end()
{
	for (int n = 0; n < 2; n++) {
		if (nodes_[n].timer_at || nodes_[n].gap_timer_at)
			bad("side %d wants a timer and has no work", n);
		if (!summary_.errors && c_.kill < 0 &&
		    siro_requester_psn(&nodes_[n].qp->requester) !=
			    siro_responder_psn(&nodes_[1 - n].qp->responder))
			bad("side %d: PSN %#x, its peer expects %#x", n,
			    siro_requester_psn(&nodes_[n].qp->requester),
			    siro_responder_psn(&nodes_[1 - n].qp->responder));
		check_memory(n);
	}
	check_counters();
	check_flush();
}

summary simulation::run()
{
	uint64_t step = 0;
	/*
	 * Every packet may need eight rounds of four timeouts each, and an RNR
	 * delay per receive; nothing in the lists takes longer.
	 */
	uint64_t limit = now_ + 600 * host::second;

	for (int n = 0; n < 2; n++) {
		soon([this, n] { post(n); });
		post_receives(n);
	}
	while (!events_.empty()) {
		event e = events_.top();

		events_.pop();
		if (e.time > limit || step++ > most_events)
			bad("no end after %.1f virtual seconds and %llu events: %s",
			    static_cast<double>(now_ - host::second) / 1e9,
			    static_cast<unsigned long long>(step), progress().c_str());
		now_ = std::max(now_, e.time);
		nodes_[0].dev->now = nodes_[1].dev->now = now_;
		e.act();
	}
	if (!done())
		bad("stuck: %s", progress().c_str());
	summary_.virtual_ns = now_ - host::second;
	for (auto &x : nodes_) {
		summary_.placed += x.dev->counters[SIRO_CNT_OOO_PLACED];
		summary_.sacks += x.dev->counters[SIRO_CNT_SACK_RECEIVED];
	}
	check_end();
	return summary_;
}

} // namespace sim
