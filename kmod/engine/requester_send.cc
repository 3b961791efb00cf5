// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The requester's way out: work requests become packets. */
#include "mkey.h"
#include "requester.h"
#include "work_request.h"

namespace sirocco {

namespace {

/* One segment of a SEND or WRITE. */
u8 segment_opcode(u8 op, bool is_first, bool is_last)
{
	using namespace wire;

	if (is_send(op)) {
		if (!is_last)
			return is_first ? rc_send_first : rc_send_middle;
		if (op == SIRO_WR_SEND_WITH_IMM)
			return is_first ? rc_send_only_imm : rc_send_last_imm;
		if (op == SIRO_WR_SEND_WITH_INV)
			return is_first ? rc_send_only_inv : rc_send_last_inv;
		return is_first ? rc_send_only : rc_send_last;
	}
	if (!is_last)
		return is_first ? rc_write_first : rc_write_middle;
	if (op == SIRO_WR_RDMA_WRITE_WITH_IMM)
		return is_first ? rc_write_only_imm : rc_write_last_imm;
	return is_first ? rc_write_only : rc_write_last;
}

/* Immediate data travels as it was given, a key in network order. */
u8 *put_last_word(u8 *to, const siro_send_wqe &wqe, u16 props)
{
	if (props & wire::has_imm) {
		store(to, wqe.imm);
		to += wire::imm_bytes;
	} else if (props & wire::has_ieth) {
		store(to, be32(wqe.imm));
		to += wire::imm_bytes;
	}
	return to;
}

u8 *put_reth(u8 *to, u64 va, u32 rkey, u32 length)
{
	store(to, wire::Reth{va, rkey, length});
	return to + sizeof(wire::Reth);
}

/* In packets, see siro_context.budget. */
u32 local_cost(const siro_send_wqe &wqe)
{
	constexpr u32 entries_per_packet = 32;

	return wqe.opcode == SIRO_WR_MKEY_CONF ? 1 + wqe.mkey.count / entries_per_packet : 1;
}

} // namespace

Psn Requester::cursor() const
{
	if (send_ == queue_.started())
		return next_psn_;
	return const_cast<Requester *>(this)->queue_.entry(send_).first_psn + packet_;
}

bool Requester::window_has(u32 packets, u32 most) const
{
	return cursor().since(una_) + packets <= most;
}

u32 Requester::request_window() const
{
	return agreed_ ? peer_window_ : window;
}

/* Where responses are placed at once, many of them need no memory to wait in. */
u32 Requester::response_window() const
{
	return consents() && board_.is_kept() ? wide_window : window;
}

void Requester::transmit(Call &call)
{
	if (state_ != SIRO_QPS_RTS && state_ != SIRO_QPS_SQD)
		return;
	if (rnr_until_ > call.ctx.now)
		return;
	rnr_until_ = 0;
	if (resend_lost(call)) {
		do {
			while (advance(call) == Step::done)
				retire_local(call);
		} while (ask_before_bad());
	}
	call.burst.send();
}

/*
 * Nothing follows an entry that can't be sent. If no packet before it asked for
 * an ACK, the last one goes again and does.
 */
bool Requester::ask_before_bad()
{
	if (type_ != SIRO_QPT_RC || !unasked_ || send_ == queue_.posted() ||
	    !queue_.entry(send_).status)
		return false;
	for (u32 i = send_; i != queue_.completed();) {
		const SendEntry &e = queue_.entry(--i);

		if (!e.packets)
			continue;
		send_ = i;
		packet_ = e.packets - 1;
		return true;
	}
	return false;
}

/* Sends as much as may be sent of one entry. */
Requester::Step Requester::advance(Call &call)
{
	siro_context &ctx = call.ctx;

	if (state_ != SIRO_QPS_RTS && state_ != SIRO_QPS_SQD)
		return Step::wait;
	if (send_ == queue_.posted())
		queue_.fetch();
	if (send_ == queue_.posted())
		return Step::wait;
	if (!ctx.budget) {
		ctx.outcome |= SIRO_OUT_MORE;
		return Step::wait;
	}

	SendEntry &e = queue_.entry(send_);

	if (send_ == queue_.started() && !start(call, e))
		return Step::wait;
	if (e.status)
		return Step::wait;
	if (is_local(e.wqe.opcode)) {
		ctx.budget -= min(ctx.budget, local_cost(e.wqe));
		entry_sent();
		return Step::done;
	}
	if (type_ != SIRO_QPT_RC)
		return send_datagram(call, e);
	if (is_read(e.wqe.opcode))
		return send_read(call, e);
	if (is_atomic(e.wqe.opcode))
		return send_atomic(call, e);
	return send_message(call, e);
}

/* Gives the entry its place on the wire, or executes it if it is local. */
bool Requester::start(Call &call, SendEntry &e)
{
	if (e.status || !may_start(e))
		return false;
	if (must_stop(call, e)) {
		stop();
		return false;
	}
	e.first_psn = next_psn_;
	e.single = agreed_ && e.wqe.opcode == SIRO_WR_RDMA_WRITE;
	e.status = is_local(e.wqe.opcode) ? execute_local(call, e) : plan(e);
	if (e.status)
		return false;
	next_psn_ = next_psn_ + e.packets;
	ssn_ += requests_of(e);
	queue_.start();
	return true;
}

bool Requester::may_start(const SendEntry &e) const
{
	u8 op = e.wqe.opcode;

	if (state_ != SIRO_QPS_RTS)
		return false;
	if ((e.wqe.flags & SIRO_SEND_FENCE) &&
	    (consents() ? queue_.has_started() : rd_outstanding_ != 0))
		return false;
	if (op == SIRO_WR_LOCAL_INV || op == SIRO_WR_MKEY_CONF)
		return !queue_.has_started();
	if (wants_response(op) && attr_.max_rd_atomic)
		return rd_outstanding_ < attr_.max_rd_atomic;
	return !lacks_credit(e);
}

/* All data before a fenced request has been moved and checked when it may start. */
bool Requester::must_stop(const Call &call, const SendEntry &e) const
{
	return sig_pipelining_ && (e.wqe.flags & SIRO_SEND_FENCE) &&
	       (sig_error_ || call.ctx.outcome & SIRO_OUT_SIG_ERROR);
}

/* SQ_DRAINED follows when what has started is done. */
void Requester::stop()
{
	state_ = SIRO_QPS_SQD;
	stopped_ = true;
}

/*
 * Without a credit only the oldest request may go (IBTA 9.7.7.2.5): its RNR NAK
 * or ACK brings the news.
 */
bool Requester::lacks_credit(const SendEntry &e) const
{
	if (!limited_ || !consumes_receive(e.wqe.opcode) || !queue_.has_started())
		return false;
	return Psn(credit_limit_) < Psn(ssn_ + 1);
}

/* Length, number of PSNs; a completion status if the request can't be. */
u32 Requester::plan(SendEntry &e) const
{
	u8 op = e.wqe.opcode;
	u64 length =
		e.is_inline() ? e.wqe.inline_length : SgeList(e.sges(), e.wqe.num_sge).length();

	e.packets = 0;
	if (length > SIRO_MAX_MESSAGE)
		return SIRO_WC_LOC_LEN_ERR;
	e.length = static_cast<u32>(length);
	if (type_ != SIRO_QPT_RC && e.length > attr_.mtu)
		return SIRO_WC_LOC_LEN_ERR;
	if (is_atomic(op) && e.length != sizeof(u64))
		return SIRO_WC_LOC_LEN_ERR;
	if (wants_response(op) && !attr_.max_rd_atomic)
		return SIRO_WC_LOC_QP_OP_ERR;
	e.packets = is_atomic(op) ? 1 : max(div_round_up(e.length, attr_.mtu), 1u);
	return 0;
}

u32 Requester::execute_local(Call &call, SendEntry &e)
{
	void *port = call.ctx.port;
	int ret;

	call.regions.release();
	switch (e.wqe.opcode) {
	case SIRO_WR_REG_MR:
	case SIRO_WR_REG_MR_INTEGRITY:
		ret = siro_port_mr_register(port, &e.wqe);
		break;
	case SIRO_WR_REG_INDIR_MR:
		ret = siro_port_mr_register_list(port, &e.wqe);
		e.wqe.reg.mr = 0; /* the list has a new owner */
		break;
	case SIRO_WR_NOP:
		return 0;
	case SIRO_WR_MKEY_CONF:
		ret = configure_mkey(port, call.regions, pd_, e.wqe, e.inline_data());
		break;
	default:
		ret = siro_port_mr_invalidate(port, e.wqe.imm, pd_, 0);
	}
	return ret ? SIRO_WC_MW_BIND_ERR : 0;
}

/* How many the peer's MSN counts: a READ is asked for chunk by chunk. */
u32 Requester::requests_of(const SendEntry &e) const
{
	if (is_read(e.wqe.opcode))
		return div_round_up(e.packets, chunk);
	return e.single ? e.packets : min(e.packets, 1u);
}

void Requester::entry_sent()
{
	send_++;
	packet_ = 0;
}

/* A packet of @first; what it asks for is answered up to @last. */
void Requester::sent_packet(Call &call, Psn first, Psn last, bool asked)
{
	u64 now = call.ctx.now;
	bool again = first < sent_;

	if (again)
		call.ctx.counters[SIRO_CNT_RETRANSMITTED_PKTS]++;
	if (sent_ <= last) {
		sent_ = last + 1;
		if (asked)
			timer_.sample(now, last);
	}
	for (Psn psn = first; psn <= last; psn = psn + 1)
		board_.sent(now, psn, again);
	arm_probe(now);
	unasked_ = asked ? 0 : unasked_ + 1;
	timer_.sent(now);
}

Requester::Step Requester::send_message(Call &call, SendEntry &e)
{
	siro_context &ctx = call.ctx;

	while (packet_ < e.packets) {
		if (!window_has(1, request_window()))
			return Step::wait;
		if (!ctx.budget) {
			ctx.outcome |= SIRO_OUT_MORE;
			return Step::wait;
		}
		if (!send_segment(call, e, packet_, wants_ack(call, e)))
			return Step::wait;
		packet_++;
	}
	entry_sent();
	return Step::done;
}

/* Packet @index of a SEND or WRITE. */
bool Requester::send_segment(Call &call, SendEntry &e, u32 index, bool ask)
{
	bool is_first = e.single || !index;
	bool is_last = e.single || index + 1 == e.packets;
	u64 offset = u64{index} * attr_.mtu;
	u32 payload = min(attr_.mtu, e.length - static_cast<u32>(offset));
	u8 opcode = segment_opcode(e.wqe.opcode, is_first, is_last);
	u16 props = wire::properties(opcode);
	u32 pad = wire::pad_of(payload);
	u32 bytes = wire::header_bytes(props) + payload + pad + wire::icrc_bytes;
	bool solicited = is_last && (e.wqe.flags & SIRO_SEND_SOLICITED);
	bool marked = marks() && is_write(e.wqe.opcode);
	Psn psn = e.first_psn + index;
	siro_flow &flow =
		path_choice_.next(call.ctx.port, *flow_, e.single ? attr_.paths : 1, false);
	u8 *start = call.burst.reserve(flow, bytes, follow_up_bytes(e, index, bytes));

	if (!start)
		return false;

	u8 *p = wire::put_bth(start, {opcode, attr_.dest_qpn, psn, pad, ask, solicited, marked});

	if (e.single)
		p = put_reth(p, e.wqe.rdma.remote_addr + offset, e.wqe.rkey, payload);
	else if (props & wire::has_reth)
		p = put_reth(p, e.wqe.rdma.remote_addr, e.wqe.rkey, e.length);
	p = put_last_word(p, e.wqe, props);
	if (!fill(call, e, offset, p, payload)) {
		e.status = SIRO_WC_LOC_PROT_ERR;
		return false;
	}
	memory_zero(p + payload, pad);
	call.burst.add(bytes);
	sent_packet(call, psn, psn, ask);
	return true;
}

/* A guess at what will follow in the same burst, this packet included. */
u32 Requester::follow_up_bytes(const SendEntry &e, u32 index, u32 bytes) const
{
	u32 packets = e.packets - index;
	u32 most = request_window();

	if (board_.has_lost())
		return bytes; /* this one may be alone */
	if (packets == 1)
		packets = queue_.posted() - send_;
	packets = min(packets, most - min(cursor().since(una_), most - 1));
	packets = min(packets, u32{SIRO_MAX_BURST_PACKETS});
	return bytes * packets;
}

/*
 * One ACK for many packets: asked for when the burst or the window ends, or
 * when what comes next has to wait for it.
 */
bool Requester::wants_ack(const Call &call, const SendEntry &e)
{
	if (unasked_ + 1 >= ack_interval || call.ctx.budget <= 1 ||
	    !window_has(2, request_window()))
		return true;
	if (packet_ + 1 < e.packets)
		return false;
	if (send_ + 1 == queue_.posted())
		return true;

	const SendEntry &next = queue_.entry(send_ + 1);

	if (next.status || !(is_send(next.wqe.opcode) || is_write(next.wqe.opcode)))
		return true;
	/* Whether it waits is only known when this packet's data has been checked. */
	if (sig_pipelining_ && (next.wqe.flags & SIRO_SEND_FENCE))
		return true;
	return send_ + 1 == queue_.started() && !may_start(next);
}

bool Requester::fill(Call &call, const SendEntry &e, u64 offset, u8 *to, u32 bytes)
{
	if (e.is_inline()) {
		memory_copy(to, e.inline_data() + offset, bytes);
		return true;
	}
	if (!offset)
		call.regions.begin_message();
	return SgeList(e.sges(), e.wqe.num_sge).gather(call.regions, offset, to, bytes);
}

/* A READ is asked for in chunks, so that the window bounds the responses too. */
Requester::Step Requester::send_read(Call &call, SendEntry &e)
{
	while (packet_ < e.packets) {
		u32 end = min(chunk_end(packet_), e.packets);

		if (rd_outstanding_ >= attr_.max_rd_atomic ||
		    !window_has(end - packet_, response_window()))
			return Step::wait;
		if (!send_read_request(call, e, packet_, end))
			return Step::wait;
		rd_outstanding_++;
		packet_ = end;
	}
	entry_sent();
	return Step::done;
}

/* Asks for responses @index up to @end. */
bool Requester::send_read_request(Call &call, const SendEntry &e, u32 index, u32 end)
{
	constexpr u32 bytes = sizeof(wire::Bth) + sizeof(wire::Reth) + wire::icrc_bytes;
	u64 offset = u64{index} * attr_.mtu;
	u64 wanted = min(u64{e.length}, u64{end} * attr_.mtu) - offset;
	Psn psn = e.first_psn + index;
	u8 *start = call.burst.reserve(*flow_, bytes, bytes);

	if (!start)
		return false;

	u8 *p = wire::put_bth(start, {.opcode = wire::rc_read_request,
				      .dest_qpn = attr_.dest_qpn,
				      .psn = psn,
				      .ask = true,
				      .marked = marks()});

	put_reth(p, e.wqe.rdma.remote_addr + offset, e.wqe.rkey, static_cast<u32>(wanted));
	call.burst.add(bytes);
	sent_packet(call, psn, e.first_psn + (end - 1), true);
	return true;
}

Requester::Step Requester::send_atomic(Call &call, SendEntry &e)
{
	if (rd_outstanding_ >= attr_.max_rd_atomic || !window_has(1, response_window()))
		return Step::wait;
	if (!send_atomic_request(call, e))
		return Step::wait;
	rd_outstanding_++;
	entry_sent();
	return Step::done;
}

bool Requester::send_atomic_request(Call &call, const SendEntry &e)
{
	constexpr u32 bytes = sizeof(wire::Bth) + sizeof(wire::AtomicEth) + wire::icrc_bytes;
	bool swap = e.wqe.opcode == SIRO_WR_ATOMIC_CMP_AND_SWP;
	u8 *start = call.burst.reserve(*flow_, bytes, bytes);

	if (!start)
		return false;

	u8 opcode = swap ? wire::rc_compare_swap : wire::rc_fetch_add;
	u8 *p = wire::put_bth(start, {opcode, attr_.dest_qpn, e.first_psn, 0, true});
	wire::AtomicEth eth{};

	eth.va = e.wqe.atomic.remote_addr;
	eth.rkey = e.wqe.rkey;
	eth.swap_add = swap ? e.wqe.atomic.swap : e.wqe.atomic.compare_add;
	eth.compare = swap ? e.wqe.atomic.compare_add : 0;
	store(p, eth);
	call.burst.add(bytes);
	sent_packet(call, e.first_psn, e.first_psn, true);
	return true;
}

/* UD: one packet, complete as soon as it is on its way. */
Requester::Step Requester::send_datagram(Call &call, SendEntry &e)
{
	constexpr u32 qkey_from_qp = 0x80000000;
	siro_flow *flow = siro_port_flow(call.ctx.port, e.wqe.ud.ah);

	if (!flow) {
		e.status = SIRO_WC_LOC_QP_OP_ERR;
		return Step::wait;
	}

	bool imm = e.wqe.opcode == SIRO_WR_SEND_WITH_IMM;
	u8 opcode = imm ? wire::ud_send_only_imm : wire::ud_send_only;
	u16 props = wire::properties(opcode);
	u32 pad = wire::pad_of(e.length);
	u32 bytes = wire::header_bytes(props) + e.length + pad + wire::icrc_bytes;
	bool solicited = e.wqe.flags & SIRO_SEND_SOLICITED;
	u8 *start = call.burst.reserve(*flow, bytes, follow_up_bytes(e, 0, bytes));

	if (!start)
		return Step::wait;

	u8 *p = wire::put_bth(start,
			      {opcode, e.wqe.ud.remote_qpn, e.first_psn, pad, false, solicited});
	wire::Deth deth{};

	deth.qkey = e.wqe.ud.remote_qkey & qkey_from_qp ? attr_.qkey : e.wqe.ud.remote_qkey;
	deth.src_qpn = qpn_;
	store(p, deth);
	p = put_last_word(p + sizeof(deth), e.wqe, props);
	if (!fill(call, e, 0, p, e.length)) {
		e.status = SIRO_WC_LOC_PROT_ERR;
		return Step::wait;
	}
	memory_zero(p + e.length, pad);
	call.burst.add(bytes);
	una_ = sent_ = e.first_psn + 1;
	entry_sent();
	complete(call, SIRO_WC_SUCCESS);
	return Step::done;
}

} // namespace sirocco
