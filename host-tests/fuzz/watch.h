// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What holds after every call into the engine, whatever a peer or a user did.
 * endpoint.cc checks bursts, pins and the budget; this is the rest.
 */
#pragma once

#include "fence.h"

#include "requester.h"

class watch {
public:
	explicit watch(host::endpoint &qp) : qp_(qp) {}

	std::vector<fence> fences;
	std::vector<host::region *> regions;
	bool honest = true; /* work requests are well-formed, wr_ids count up */
	bool disturbed = false; /* the user wrote to the rings during the call */

	sirocco::SendQueue &queue()
	{
		return reinterpret_cast<sirocco::Requester *>(&qp_.requester)->queue();
	}

	/* @packets: received ones that the call takes. */
	void before(uint32_t packets)
	{
		packets_ = packets;
		disturbed = false;
		was_failed_ = siro_requester_state(&qp_.requester) == SIRO_QPS_ERR;
		for (auto &r : rings_)
			r.before();
		completed_ = queue().completed();
		posted_ = queue().posted();
	}

	void after(bool requester, const host::call_result &r)
	{
		check_result(r);
		check_memory();
		check_rings();
		for (auto &f : fences)
			f.check();
		if (requester) {
			check_send_completions();
			check_alive(r);
		} else {
			check_receive_completions();
		}
	}

	/* The queues were emptied, so completions begin anew. */
	void reset()
	{
		held_ = waiting_ = 0;
	}

private:
	/* A ring before the call, to see what the engine writes. */
	struct shot {
		host::ring_memory &ring;
		bool completions;
		siro_ring_header header = {};
		uint32_t index = 0;
		host::bytes entries = {};

		size_t bytes() const
		{
			return size_t{ring.ring.slots} * ring.ring.stride;
		}

		void before()
		{
			header = *ring.ring.header;
			index = ring.ring.index;
			entries.assign(ring.ring.entries, ring.ring.entries + bytes());
		}

		uint32_t moved() const
		{
			return ring.ring.index - index;
		}

		void check_header() const
		{
			siro_ring_header now = *ring.ring.header;

			if (completions)
				now.producer = header.producer;
			else
				now.consumer = header.consumer;
			now.flags = header.flags;
			if (memcmp(&now, &header, sizeof(now)))
				host::fail("a ring's header changed that the user owns");
		}

		/* The engine writes new completions, nothing else. */
		void check_entries() const
		{
			uint32_t fresh = completions ? moved() : 0;

			for (uint32_t i = fresh; i < ring.ring.slots; i++) {
				uint8_t *now = ring.entry(index + i);

				if (memcmp(now, &entries[size_t(now - ring.ring.entries)],
					   ring.ring.stride))
					host::fail("a ring's entry changed that the user owns");
			}
		}

		/* Nothing moves by the word of an index where no honest user can be. */
		void check_index() const
		{
			const siro_ring_header &h = *ring.ring.header;
			uint32_t apart = completions ? ring.ring.index - h.consumer
						     : h.producer - ring.ring.index;

			if (moved() && apart > ring.ring.slots)
				host::fail("index %#x moved beside %#x, %#x", ring.ring.index,
					   h.producer, h.consumer);
		}
	};

	void check_result(const host::call_result &r) const
	{
		constexpr uint32_t outcomes = SIRO_OUT_MORE | SIRO_OUT_BLOCKED |
					      SIRO_OUT_NOTIFY_CQ | SIRO_OUT_QP_ERROR |
					      SIRO_OUT_SQ_ERROR | SIRO_OUT_SIG_ERROR;
		constexpr uint32_t events = 2 * SIRO_EVENT_CQ_ERR - 1;

		if ((r.outcome & ~outcomes) || (r.events & ~events))
			host::fail("outcome %#x, events %#x", r.outcome, r.events);
	}

	void check_memory() const
	{
		for (auto *r : regions)
			if (r->mr.users)
				host::fail("key %#x is still in use", r->key());
	}

	void check_rings()
	{
		if (disturbed)
			return;
		for (auto &r : rings_) {
			r.check_header();
			r.check_entries();
			r.check_index();
		}
		if (queue().posted() != posted_ &&
		    qp_.sq.ring.header->producer - queue().posted() > qp_.sq.ring.slots)
			host::fail("work was fetched that no honest producer can have posted");
	}

	/* No more completions than requests, no more requests than slots. */
	void check_send_completions()
	{
		uint32_t retired = queue().completed() - completed_;
		uint32_t left = queue().posted() - queue().completed();
		uint32_t cqes = send_cq().moved();

		if (queue().started() - queue().completed() > left || left > qp_.sq.ring.slots)
			host::fail("%u of %u requests are started", queue().started(), left);
		if (retired > queue().posted() - completed_ || cqes > retired)
			host::fail("%u completions of %u requests", cqes, retired);
		if (was_failed_ && siro_requester_state(&qp_.requester) == SIRO_QPS_ERR &&
		    retired > qp_.budget)
			host::fail("flushed %u of a budget of %u", retired, qp_.budget);
		check_cqes(send_cq(), true);
	}

	void check_receive_completions()
	{
		uint32_t taken = receive_queue().moved();
		uint32_t cqes = recv_cq().moved();

		/* Packets that came before their turn may take theirs in one call. */
		waiting_ += packets_;
		if (taken > waiting_ + qp_.budget + 1)
			host::fail("took %u receives for %u packets", taken, waiting_);
		waiting_ -= std::min(taken, waiting_);
		held_ += taken;
		if (cqes > held_)
			host::fail("%u completions of %u receives", cqes, held_);
		held_ -= cqes;
		check_cqes(recv_cq(), false);
	}

	/* Nothing waits for an event that will not come. */
	void check_alive(const host::call_result &r)
	{
		uint32_t state = siro_requester_state(&qp_.requester);
		bool waits = state == SIRO_QPS_RTS ? !queue().is_empty()
						   : state == SIRO_QPS_SQD && queue().has_started();

		if (waits && !r.deadline && !r.has(SIRO_OUT_MORE | SIRO_OUT_BLOCKED))
			host::fail("the send queue is stuck in state %u", state);
	}

	void check_cqes(const shot &cq, bool send)
	{
		uint32_t n = std::min(cq.moved(), cq.ring.ring.slots);

		for (uint32_t i = cq.ring.ring.index - n; i != cq.ring.ring.index; i++) {
			siro_cqe cqe;

			memcpy(&cqe, cq.ring.entry(i), sizeof(cqe));
			if (send ? !is_legal_send(cqe) : !is_legal_recv(cqe))
				host::fail("illegal CQE: status %u, opcode %u, flags %#x",
					   cqe.status, cqe.opcode, cqe.flags);
			if (honest && cqe.wr_id <= last_id_[send])
				host::fail("completion of %u after that of %u", unsigned(cqe.wr_id),
					   unsigned(last_id_[send]));
			last_id_[send] = cqe.wr_id;
		}
	}

	static bool is_legal_send(const siro_cqe &cqe)
	{
		constexpr uint32_t statuses =
			1 << SIRO_WC_SUCCESS | 1 << SIRO_WC_LOC_LEN_ERR |
			1 << SIRO_WC_LOC_QP_OP_ERR | 1 << SIRO_WC_LOC_PROT_ERR |
			1 << SIRO_WC_WR_FLUSH_ERR | 1 << SIRO_WC_BAD_RESP_ERR |
			1 << SIRO_WC_REM_INV_REQ_ERR | 1 << SIRO_WC_REM_ACCESS_ERR |
			1 << SIRO_WC_REM_OP_ERR | 1 << SIRO_WC_RETRY_EXC_ERR |
			1 << SIRO_WC_RNR_RETRY_EXC_ERR | 1 << SIRO_WC_MW_BIND_ERR;

		return cqe.status < 32 && statuses >> cqe.status & 1 && cqe.opcode <= SIRO_WC_NOP &&
		       !cqe.flags && !cqe.network_type;
	}

	bool is_legal_recv(const siro_cqe &cqe) const
	{
		constexpr uint32_t statuses =
			1 << SIRO_WC_SUCCESS | 1 << SIRO_WC_LOC_LEN_ERR |
			1 << SIRO_WC_LOC_QP_OP_ERR | 1 << SIRO_WC_LOC_PROT_ERR |
			1 << SIRO_WC_WR_FLUSH_ERR | 1 << SIRO_WC_REM_INV_REQ_ERR |
			1 << SIRO_WC_REM_ACCESS_ERR;
		constexpr uint32_t flags = SIRO_WC_GRH | SIRO_WC_WITH_IMM |
					   SIRO_WC_WITH_INVALIDATE | SIRO_WC_SOLICITED;
		bool datagram = qp_.opt.type != SIRO_QPT_RC && !cqe.status;

		if (cqe.status >= 32 || !(statuses >> cqe.status & 1) || cqe.flags & ~flags)
			return false;
		if (cqe.status && (cqe.flags || cqe.byte_len))
			return false;
		return (cqe.opcode == SIRO_WC_RECV || cqe.opcode == SIRO_WC_RECV_RDMA_WITH_IMM) &&
		       datagram == !!(cqe.flags & SIRO_WC_GRH) && datagram == !!cqe.network_type;
	}

	const shot &receive_queue() const
	{
		return rings_[1];
	}

	const shot &send_cq() const
	{
		return rings_[2];
	}

	const shot &recv_cq() const
	{
		return rings_[3];
	}

	host::endpoint &qp_;
	shot rings_[4] = {
		{qp_.sq, false}, {qp_.rq, false}, {qp_.send_cq, true}, {qp_.recv_cq, true}};
	uint32_t packets_ = 0;
	bool was_failed_ = false;
	uint32_t completed_ = 0, posted_ = 0;
	uint32_t held_ = 0; /* receives that were taken and not completed */
	uint32_t waiting_ = 0; /* packets that have not taken a receive */
	uint64_t last_id_[2] = {};
};
