// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A queue pair under attack: the memory around it, and the calls into it that the
 * glue makes, each of them watched.
 */
#pragma once

#include "input.h"
#include "receiver.h"
#include "watch.h"

class victim {
public:
	static constexpr uint32_t own_qpn = 0x11, peer_qpn = 0x22, qkey = 0x11111111;
	static constexpr uint32_t all_rights = 0xf;

	struct options {
		uint32_t type = SIRO_QPT_RC;
		bool ipv6 = false;
		bool srq = false;
		bool user = true;
		bool hold = false; /* packets that come before their turn */
		bool honest = true; /* the user is, the peer is not */
		uint32_t slots = 16;
		uint32_t max_sge = 16;

		static options choose(input &in)
		{
			options o;
			uint8_t bits = in.take<uint8_t>();

			o.ipv6 = bits & 1;
			o.srq = bits & 2;
			o.user = !(bits & 4);
			o.hold = !(bits & 0x80);
			o.type = (bits & 0x18) == 0x18 ? SIRO_QPT_UD : SIRO_QPT_RC;
			if ((bits & 0x78) == 0x78)
				o.type = SIRO_QPT_GSI;
			return o;
		}
	};

	explicit victim(const options &o)
		: options_(o), from_peer(flow(o.ipv6, false)), qp(dev, translate(o)), checks(qp),
		  wire(dev, own_qpn, [this](bool requester, auto &batch, auto &origin) {
			  take(requester, batch, origin);
		  })
	{
		constexpr uint32_t remote = SIRO_ACCESS_REMOTE_WRITE | SIRO_ACCESS_REMOTE_READ |
					    SIRO_ACCESS_REMOTE_ATOMIC;

		add({.length = 6000, .page_shift = 10, .first_offset = 0x128}, 6000);
		add({.length = 1000, .dma = true}, 1000);
		add({.length = 3000,
		     .access = SIRO_ACCESS_LOCAL_WRITE,
		     .page_shift = 9,
		     .iova = 0xfffffffffffff447, /* ends where addresses end */
		     .first_offset = 7},
		    o.honest ? local_bytes : 3000);
		add({.length = 2000, .access = SIRO_ACCESS_REMOTE_READ, .page_shift = 10}, 0);
		add({.length = 2000, .access = remote, .pd = 2, .page_shift = 10}, 0);
		add({.length = 0x180, .page_shift = 10, .iova = 0, .fast = true}, 0);
		if (o.user)
			add({.length = 512, .mkey_entries = 8, .mkey_signature = true}, 0);
		else
			add({.length = 512, .indirect = true}, 0);
		checks.honest = o.honest;
		register_fast(*regions[5]);
		checks.fences.emplace_back(*regions[5], 0x180);
		ah = dev.add_flow(qp.opt.flow);
		dev.add_flow(flow(!o.ipv6, true));
		dev.add_flow(qp.opt.flow, 2);
	}

	/* At most @writable bytes of it may change. Fast regions come free. */
	host::region &add(const host::region::options &o, uint64_t writable)
	{
		host::region &r = dev.add_region(o);

		regions.push_back(&r);
		checks.regions.push_back(&r);
		if (!o.fast)
			checks.fences.emplace_back(r, writable);
		return r;
	}

	/* Any, but more often one that a peer may use. */
	host::region &pick(input &in)
	{
		static constexpr uint32_t usual[] = {0, 1, 5, 6};
		uint32_t i = in.below(16);

		if (i < 12)
			return *regions[usual[i % 4]];
		return *regions[in.below(static_cast<uint32_t>(regions.size()))];
	}

	/* What another QP of the same device does: REG_MR under a new key. */
	void register_fast(host::region &r)
	{
		host::endpoint::options o;

		o.qpn = own_qpn + 1;
		o.user = false;
		o.flow = qp.opt.flow;

		host::endpoint other(dev, o);

		other.to_rts();
		other.post_send_kernel(registration(r, 1));
		other.run_requester();
	}

	host::send_wr registration(host::region &r, uint64_t wr_id) const
	{
		host::send_wr wr = host::make_send(wr_id, {});

		wr.wqe.opcode = SIRO_WR_REG_MR;
		wr.wqe.reg.mr = reinterpret_cast<uintptr_t>(&r.mr);
		wr.wqe.reg.iova = 0x10000;
		wr.wqe.reg.length = r.length();
		wr.wqe.reg.key = host::device::next_key(r.key());
		wr.wqe.reg.access = all_rights;
		return wr;
	}

	/* ---- Calls into the engine ---- */

	void take(bool requester, std::vector<siro_packet> &batch, const host::super_packet &origin)
	{
		call(requester, static_cast<uint32_t>(batch.size()),
		     [&] { return qp.receive_batch(requester, batch, origin); });
	}

	void run_requester()
	{
		call(true, 0, [this] { return qp.run_requester(); });
	}

	void run_responder()
	{
		call(false, 0, [this] { return qp.run_responder(); });
	}

	void timeout()
	{
		call(true, 0, [this] { return qp.timeout(); });
	}

	/* What the glue does for who asked for more. */
	void run_who_asked()
	{
		constexpr uint32_t again = SIRO_OUT_MORE | SIRO_OUT_BLOCKED;

		if (qp.last_requester.has(again))
			run_requester();
		if (qp.last_responder.has(again))
			run_responder();
	}

	void settle()
	{
		constexpr uint32_t again = SIRO_OUT_MORE | SIRO_OUT_BLOCKED, most = 100000;

		for (uint32_t i = 0; i < most; i++) {
			if (!qp.last_requester.has(again) && !qp.last_responder.has(again))
				return;
			run_who_asked();
		}
		host::fail("a half asks for more without end");
	}

	/* ---- modify_qp, with the checks that ib_core and the glue make ---- */

	uint32_t state() const
	{
		uint32_t requester = siro_requester_state(&qp.requester);
		uint32_t responder = siro_responder_state(&qp.responder);

		if (requester == SIRO_QPS_ERR || responder == SIRO_QPS_ERR)
			return SIRO_QPS_ERR;
		return requester == SIRO_QPS_SQE ? SIRO_QPS_SQE : state_;
	}

	bool may_become(uint32_t to) const
	{
		uint32_t from = state();

		if (to == SIRO_QPS_RESET || to == SIRO_QPS_ERR)
			return true;
		switch (from) {
		case SIRO_QPS_RESET:
			return to == SIRO_QPS_INIT;
		case SIRO_QPS_INIT:
			return to == SIRO_QPS_INIT || to == SIRO_QPS_RTR;
		case SIRO_QPS_RTR:
			return to == SIRO_QPS_RTS;
		case SIRO_QPS_RTS:
			return to == SIRO_QPS_RTS || to == SIRO_QPS_SQD;
		case SIRO_QPS_SQD:
			return to == SIRO_QPS_RTS || to == SIRO_QPS_SQD;
		case SIRO_QPS_SQE:
			return to == SIRO_QPS_RTS;
		default:
			return false;
		}
	}

	/* The attributes are those of @qp. A half that fell by itself stays there. */
	void modify(uint32_t to)
	{
		if (!may_become(to))
			return;
		state_ = to;
		if (to == SIRO_QPS_RESET) {
			siro_responder_discard(&qp.responder, &qp);
			if (!options_.srq)
				qp.rq.ring.index = qp.rq.ring.header->consumer =
					qp.rq.ring.header->producer;
			checks.reset();
		}
		if (to == SIRO_QPS_RESET || siro_requester_state(&qp.requester) != SIRO_QPS_ERR)
			call(true, 0, [&] { return qp.modify_requester(to); });
		if (to == SIRO_QPS_RESET || siro_responder_state(&qp.responder) != SIRO_QPS_ERR)
			call(false, 0, [&] { return qp.modify_responder(to); });
	}

	void to_rts()
	{
		for (uint32_t to : {SIRO_QPS_INIT, SIRO_QPS_RTR, SIRO_QPS_RTS})
			modify(to);
	}

	/* The consumer starts anew with what failed, at once or later. */
	bool revive(input &in)
	{
		if (state() != SIRO_QPS_ERR || in.once_in(4))
			return false;
		modify(SIRO_QPS_RESET);
		choose_attributes(in);
		to_rts();
		return true;
	}

	/* Ordinary attributes; small numbers make for many packets. */
	void choose_attributes(input &in)
	{
		static constexpr uint32_t psns[] = {0, 0xfffff8, 0x7ffffc, 0x800000};

		qp.req_attr.mtu = qp.res_attr.mtu = 256u << in.below(5) % 5;
		qp.req_attr.dest_qpn = qp.res_attr.dest_qpn = peer_qpn;
		qp.req_attr.sq_psn = psns[in.below(4)];
		qp.res_attr.rq_psn = psns[in.below(4)];
		qp.req_attr.qkey = qp.res_attr.qkey = qkey;
		qp.req_attr.max_rd_atomic = 4 - in.below(5);
		qp.req_attr.timeout = 14 - in.below(15);
		qp.req_attr.retry_count = 7 - in.below(8);
		qp.req_attr.rnr_retry = 7 - in.below(8);
		qp.req_attr.sqd_event = in.below(2);
		qp.res_attr.access = all_rights ^ (in.once_in(8) ? in.below(16) : 0);
		qp.res_attr.min_rnr_timer = in.below(32);
		qp.set_resources(4 - in.below(5));
		qp.req_attr.ooo = qp.res_attr.ooo = in.below(4);
		qp.req_attr.paths = qp.res_attr.paths = in.below(5);
	}

	/* The consumer takes all completions. */
	void poll_all()
	{
		for (auto *cq : {&qp.send_cq, &qp.recv_cq})
			cq->ring.header->consumer = cq->ring.header->producer = cq->ring.index;
	}

	/* The end: whatever was posted is flushed. */
	void finish()
	{
		qp.refuse = nullptr;
		qp.refuse_bursts = 0;
		qp.budget = 128;
		modify(SIRO_QPS_ERR);
		run_requester();
		run_responder();
		settle();
		if (!checks.queue().is_empty())
			host::fail("the send queue was not flushed");
		if (!options_.srq && siro_ring_pending(&qp.rq.ring))
			host::fail("the receive queue was not flushed");
	}

private:
	static siro_flow flow(bool ipv6, bool outbound)
	{
		constexpr uint32_t net = 0x0a000000;
		uint8_t own = outbound ? 1 : 2, peer = outbound ? 2 : 1;

		return ipv6 ? host::flow_ipv6(own, peer, 0xc001)
			    : host::flow_ipv4(net | own, net | peer, 0xc001);
	}

	static host::endpoint::options translate(const options &o)
	{
		host::endpoint::options e;

		e.qpn = own_qpn;
		e.type = o.type;
		e.user = o.user;
		e.srq = o.srq;
		e.hold = o.hold;
		e.sq_slots = e.rq_slots = o.slots;
		e.cq_slots = 4 * o.slots;
		e.max_send_sge = e.max_recv_sge = o.max_sge;
		e.flow = flow(o.ipv6, true);
		return e;
	}

	template <typename Function>
	void call(bool requester, uint32_t packets, Function function)
	{
		checks.before(packets);

		host::call_result r = function();

		checks.after(requester, r);
		qp.sent.clear();
		if (r.has(SIRO_OUT_QP_ERROR))
			fall(!requester);
	}

	/* The other half failed. */
	void fall(bool requester)
	{
		uint32_t now = requester ? siro_requester_state(&qp.requester)
					 : siro_responder_state(&qp.responder);

		if (now == SIRO_QPS_ERR || now == SIRO_QPS_RESET)
			return;
		call(requester, 0, [&] {
			return requester ? qp.modify_requester(SIRO_QPS_ERR)
					 : qp.modify_responder(SIRO_QPS_ERR);
		});
	}

	const options options_;
	uint32_t state_ = SIRO_QPS_RESET;

public:
	host::device dev;
	const siro_flow from_peer;
	host::endpoint qp;
	watch checks;
	receiver wire;
	std::vector<host::region *> regions;
	uint32_t ah = 0;

	/* Bytes of regions[2] that well-formed work requests name. */
	static constexpr uint32_t local_bytes = 2000;
	static constexpr size_t usual_regions = 7;
};
