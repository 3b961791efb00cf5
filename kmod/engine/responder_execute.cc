// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Requests in sequence are executed here (IBTA 9.7.4, 9.4). */
#include "packet.h"
#include "responder.h"

namespace sirocco {

namespace {

bool write_payload(Regions &regions, const siro_mr &mr, u64 va, const siro_packet &packet)
{
	return for_each_payload(packet, [&](u32 at, const u8 *data, u32 n) {
		return regions.write(mr, va + at, data, n);
	});
}

/* On the responder's memory, atomic against everything else on this host. */
u64 atomic_execute(u64 *word, const wire::AtomicEth &eth, bool swap)
{
	u64 expected = eth.compare;

	if (!swap)
		return __atomic_fetch_add(word, u64{eth.swap_add}, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(word, &expected, u64{eth.swap_add}, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return expected;
}

} // namespace

void Responder::execute(Call &call, const siro_packet &packet)
{
	wire::Headers headers(packet);

	if (!length_fits(packet))
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
	else if (headers.is(wire::send))
		execute_send(call, packet);
	else if (headers.is(wire::write))
		execute_write(call, packet);
	else if (headers.is(wire::has_atomic_eth))
		execute_atomic(call, packet);
	else
		execute_read(call, packet);
}

/* FIRST and MIDDLE are full, LAST is not empty, no packet is too long. */
bool Responder::length_fits(const siro_packet &packet) const
{
	wire::Headers headers(packet);

	if (!headers.is(wire::payload))
		return true;
	if (!headers.is(wire::last))
		return packet.payload_length == attr_.mtu;
	if (!headers.is(wire::first) && !packet.payload_length)
		return false;
	return packet.payload_length <= attr_.mtu;
}

/* A receive WQE is in use afterwards, or the packet has been refused. */
bool Responder::need_recv(Call &call)
{
	switch (acquire(call)) {
	case Recv::ready:
		return true;
	case Recv::none:
		not_ready(call);
		return false;
	default:
		fail(call, wire::nak_remote_operation, SIRO_WC_LOC_QP_OP_ERR);
		return false;
	}
}

void Responder::execute_send(Call &call, const siro_packet &packet)
{
	wire::Headers headers(packet);
	bool is_first = headers.is(wire::first);

	if (is_first ? message_ != Message::none : message_ != Message::send) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}
	if (is_first) {
		if (!need_recv(call))
			return;
		placed_ = 0;
	}
	if (u64{placed_} + packet.payload_length > SgeList(sges_, recv_.num_sge).length()) {
		fail(call, wire::nak_invalid_request, SIRO_WC_LOC_LEN_ERR);
		return;
	}
	if (!has_room_in_recv(call, packet, placed_)) {
		drop_for_memory(call);
		return;
	}
	if (!place_recv(call, packet, placed_)) {
		fail(call, wire::nak_remote_operation, SIRO_WC_LOC_PROT_ERR);
		return;
	}
	message_ = Message::send;
	placed_ += packet.payload_length;
	if (headers.is(wire::last))
		accept_last(call, packet);
	else
		accepted(packet);
}

void Responder::execute_write(Call &call, const siro_packet &packet)
{
	wire::Headers headers(packet);
	bool is_first = headers.is(wire::first);
	bool is_last = headers.is(wire::last);

	if (is_first ? message_ != Message::none : message_ != Message::write) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}
	if (is_first) {
		wire::Reth reth = headers.reth();

		write_va_ = reth.va;
		write_key_ = reth.rkey;
		write_length_ = reth.length;
		placed_ = 0;
	}

	u64 end = u64{placed_} + packet.payload_length;

	if (!(attr_.access & SIRO_ACCESS_REMOTE_WRITE) || write_length_ > SIRO_MAX_MESSAGE ||
	    (is_last ? end != write_length_ : end >= write_length_)) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}

	siro_mr *mr = nullptr;

	if (write_length_) {
		mr = call.regions.find(write_key_, write_va_, write_length_,
				       SIRO_ACCESS_REMOTE_WRITE);
		if (!mr || !call.regions.is_reachable(*mr, write_va_ + placed_,
						      packet.payload_length, true)) {
			fail(call, wire::nak_remote_access, SIRO_WC_REM_ACCESS_ERR);
			return;
		}
		if (!call.regions.has_room(*mr, write_va_ + placed_, packet.payload_length)) {
			drop_for_memory(call);
			return;
		}
	}
	if (headers.is(wire::has_imm) && !need_recv(call))
		return;
	if (mr && !write_payload(call.regions, *mr, write_va_ + placed_, packet)) {
		fail(call, wire::nak_remote_access, SIRO_WC_REM_ACCESS_ERR);
		return;
	}
	message_ = Message::write;
	placed_ = static_cast<u32>(end);
	if (is_first)
		call.ctx.counters[SIRO_CNT_RX_WRITE_REQUESTS]++;
	if (is_last)
		accept_last(call, packet);
	else
		accepted(packet);
}

/*
 * A marked WRITE of one packet says where its data belongs. False: nothing was
 * done, what is wrong about it is found in its turn.
 */
bool Responder::place_early(Call &call, const siro_packet &packet)
{
	wire::Headers headers(packet);

	if (!agreed_ || packet.opcode != wire::rc_write_only || !headers.marked() ||
	    !(attr_.access & SIRO_ACCESS_REMOTE_WRITE) || !length_fits(packet))
		return false;

	wire::Reth reth = headers.reth();

	if (reth.length != packet.payload_length)
		return false;
	if (reth.length) {
		siro_mr *mr = call.regions.find(reth.rkey, reth.va, reth.length,
						SIRO_ACCESS_REMOTE_WRITE);

		if (!mr || !call.regions.is_reachable(*mr, reth.va, reth.length, true) ||
		    !call.regions.has_room(*mr, reth.va, reth.length))
			return false;
		if (!write_payload(call.regions, *mr, reth.va, packet))
			spoil(Psn(packet.psn));
	}
	call.ctx.counters[SIRO_CNT_RX_WRITE_REQUESTS]++;
	return true;
}

/* The first in order of PSNs ends the queue. */
void Responder::spoil(Psn psn)
{
	if (!has_spoiled_ || psn < spoiled_)
		spoiled_ = psn;
	has_spoiled_ = true;
}

/* The end of a SEND or WRITE: invalidate, complete, count. */
void Responder::accept_last(Call &call, const siro_packet &packet)
{
	wire::Headers headers(packet);
	siro_cqe cqe{};

	cqe.opcode = message_ == Message::send ? SIRO_WC_RECV : SIRO_WC_RECV_RDMA_WITH_IMM;
	cqe.byte_len = placed_;
	if (headers.is(wire::has_imm)) {
		cqe.imm = headers.imm();
		cqe.flags |= SIRO_WC_WITH_IMM;
	}
	if (headers.is(wire::has_ieth)) {
		cqe.imm = headers.invalidate_key();
		cqe.flags |= SIRO_WC_WITH_INVALIDATE;
		call.regions.release();
		if (siro_port_mr_invalidate(call.ctx.port, cqe.imm, pd_, 1)) {
			fail(call, wire::nak_remote_access, SIRO_WC_REM_ACCESS_ERR);
			return;
		}
	}
	if (headers.solicited())
		cqe.flags |= SIRO_WC_SOLICITED;
	message_ = Message::none;
	msn_ = (msn_ + 1) & Psn::mask;
	accepted(packet);
	if (has_recv_)
		complete_recv(call, cqe, SIRO_WC_SUCCESS);
}

void Responder::accepted(const siro_packet &packet)
{
	expected_ = expected_ + 1;
	if (wire::Headers(packet).ack_requested())
		ack_due_ = true;
}

void Responder::execute_read(Call &call, const siro_packet &packet)
{
	wire::Reth reth = wire::Headers(packet).reth();

	if (message_ != Message::none || !(attr_.access & SIRO_ACCESS_REMOTE_READ) ||
	    reth.length > SIRO_MAX_MESSAGE) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}
	if (reth.length &&
	    !call.regions.find(reth.rkey, reth.va, reth.length, SIRO_ACCESS_REMOTE_READ)) {
		fail(call, wire::nak_remote_access, SIRO_WC_REM_ACCESS_ERR);
		return;
	}

	u32 packets = max(div_round_up(u32{reth.length}, attr_.mtu), 1u);
	ReadResource *r = resources_.add(expected_, packets);

	if (!r) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}
	call.ctx.counters[SIRO_CNT_RX_READ_REQUESTS]++;
	msn_ = (msn_ + 1) & Psn::mask;
	r->va = reth.va;
	r->rkey = reth.rkey;
	r->length = reth.length;
	r->msn = msn_;
	expected_ = expected_ + packets;
}

void Responder::execute_atomic(Call &call, const siro_packet &packet)
{
	wire::AtomicEth eth = wire::Headers(packet).atomic_eth();

	if (message_ != Message::none || !(attr_.access & SIRO_ACCESS_REMOTE_ATOMIC) ||
	    eth.va % sizeof(u64)) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}

	siro_mr *mr = call.regions.find(eth.rkey, eth.va, sizeof(u64), SIRO_ACCESS_REMOTE_ATOMIC);
	span<u8> word = mr ? call.regions.contiguous(*mr, eth.va, sizeof(u64), true) : span<u8>();

	if (!word.size()) {
		fail(call, wire::nak_remote_access, SIRO_WC_REM_ACCESS_ERR);
		return;
	}
	/* The address may be aligned and the memory behind it not. */
	if (word.size() < sizeof(u64) || reinterpret_cast<uptr>(word.data()) % sizeof(u64)) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}

	ReadResource *r = resources_.add(expected_, 1);

	if (!r) {
		fail(call, wire::nak_invalid_request, SIRO_WC_REM_INV_REQ_ERR);
		return;
	}
	call.ctx.counters[SIRO_CNT_RX_ATOMIC_REQUESTS]++;
	msn_ = (msn_ + 1) & Psn::mask;
	r->atomic = true;
	r->msn = msn_;
	r->original = atomic_execute(reinterpret_cast<u64 *>(word.data()), eth,
				     packet.opcode == wire::rc_compare_swap);
	expected_ = expected_ + 1;
}

} // namespace sirocco
