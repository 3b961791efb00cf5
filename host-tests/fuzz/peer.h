// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a hostile peer sends: requests and responses that fit what the victim
 * waits for but for a field here and there, and noise.
 */
#pragma once

#include "train.h"

class peer {
public:
	peer(input &in, victim &v) : in_(in), v_(v) {}

	/* A few requests, most of them where the responder expects them. */
	void send_requests()
	{
		train t(in_, v_);
		uint32_t count = 1 + in_.below(6);

		psn_ = siro_responder_psn(&v_.qp.responder);
		for (uint32_t i = 0; i < count; i++)
			add_request(t, request_opcode());
	}

	/* A SEND or WRITE of several packets, in order. */
	void send_message()
	{
		using namespace host;

		static constexpr uint8_t lasts[] = {SEND_LAST, SEND_LAST_IMM, SEND_LAST_INV,
						    WRITE_LAST, WRITE_LAST_IMM};
		train t(in_, v_);
		uint8_t last = lasts[in_.below(5)];
		bool write = last >= WRITE_LAST;
		uint32_t middles = in_.below(8);
		uint32_t tail = 1 + in_.length(mtu() - 1);

		psn_ = siro_responder_psn(&v_.qp.responder);

		packet p = request(write ? WRITE_FIRST : SEND_FIRST);
		uint32_t whole = (1 + middles) * mtu() + tail;

		aim(p, whole);
		p.dma_length = in_.near(whole);
		p.payload.resize(mtu(), fill_++);
		add(t, p);
		for (uint32_t i = 0; i < middles; i++) {
			p.opcode = write ? WRITE_MIDDLE : SEND_MIDDLE;
			add(t, p);
		}
		p.opcode = last;
		p.ackreq = !in_.once_in(4);
		p.payload.resize(tail, fill_);
		add(t, p);
	}

	/* A request that was sent before. */
	void repeat_request()
	{
		train t(in_, v_);
		uint32_t count = 1 + in_.below(3);

		for (uint32_t i = 0; i < count && !sent_.empty(); i++) {
			host::packet p = sent_[in_.below(16) % sent_.size()];

			if (in_.once_in(8))
				p.psn = in_.near(p.psn);
			if (in_.once_in(4)) {
				uint32_t skip = in_.below(4) * mtu();

				p.psn = (p.psn + skip / mtu()) & SIRO_PSN_MASK;
				p.va += skip;
				p.dma_length -= skip;
			}
			t.add(encode_without_icrc(p));
		}
	}

	/* Answers to what the requester has outstanding, the oldest first. */
	void send_responses()
	{
		train t(in_, v_);
		uint32_t count = 1 + in_.below(6);

		for (uint32_t i = 0; i < count; i++)
			add_response(t);
	}

	void send_noise()
	{
		train t(in_, v_);
		host::bytes raw = in_.bytes(in_.below(256));
		uint32_t fill = in_.once_in(4) ? in_.below(4200) : 0;

		if (raw.size() > 7 && !in_.once_in(4)) {
			raw[4] = raw[5] = raw[6] = 0;
			raw[7] = victim::own_qpn;
		}
		raw.resize(raw.size() + fill, fill_++);
		if (in_.once_in(3))
			t.add_raw(raw, in_.length(64));
		else
			t.add(raw);
	}

private:
	uint32_t mtu() const
	{
		return v_.qp.res_attr.mtu;
	}

	/* What may come next in a message, or anything. */
	uint8_t request_opcode()
	{
		using namespace host;

		static constexpr uint8_t begin[] = {SEND_ONLY,     WRITE_ONLY,     READ_REQUEST,
						    COMPARE_SWAP,  FETCH_ADD,      SEND_FIRST,
						    SEND_ONLY_IMM, SEND_ONLY_INV,  WRITE_FIRST,
						    READ_REQUEST,  WRITE_ONLY_IMM, READ_REQUEST};
		static constexpr uint8_t in_send[] = {SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM,
						      SEND_LAST_INV};
		static constexpr uint8_t in_write[] = {WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM};
		uint8_t any = in_.take<uint8_t>();

		if (any >= 0xf8)
			return in_.take<uint8_t>();
		if (any >= 0xf0)
			return in_.below(SEND_ONLY_INV + 1);
		if (v_.qp.opt.type != SIRO_QPT_RC)
			return any & 1 ? UD_SEND_ONLY_IMM : UD_SEND_ONLY;
		switch (last_opcode_) {
		case SEND_FIRST:
		case SEND_MIDDLE:
			return in_send[any % sizeof(in_send)];
		case WRITE_FIRST:
		case WRITE_MIDDLE:
			return in_write[any % sizeof(in_write)];
		default:
			return begin[any % sizeof(begin)];
		}
	}

	host::packet request(uint8_t opcode)
	{
		host::packet p;
		uint8_t bits = in_.take<uint8_t>();

		p.opcode = opcode;
		p.qpn = victim::own_qpn;
		p.ackreq = bits & 1;
		p.solicited = bits & 2;
		p.marked = bits & 4;
		p.pkey = bits >= 0xfc ? in_.take<uint16_t>() : 0xffff;
		p.qkey = in_.near(victim::qkey);
		p.src_qpn = victim::peer_qpn;
		p.swap_add = bits;
		p.compare = bits >> 5 ? 0xa5a5a5a5a5a5a5a5 : bits;
		p.imm = 0x01020304;
		p.inv_key = in_.near(v_.pick(in_).key());
		return p;
	}

	/* At memory of the victim: inside, at its ends, just beyond. */
	void aim(host::packet &p, uint64_t length)
	{
		host::region &any = v_.pick(in_);
		host::region &r = any.length() < length && !in_.once_in(8) ? *v_.regions[0] : any;
		uint64_t room = r.length() > length ? r.length() - length : 0;
		uint64_t offset = 0;

		switch (in_.below(32)) {
		case 27:
		case 28:
			offset = room;
			break;
		case 29:
			offset = room + 1 + in_.below(16);
			break;
		case 30:
			offset = -uint64_t{1 + in_.below(16)};
			break;
		case 31:
			offset = in_.take<uint64_t>();
			break;
		default:
			offset = in_.below(256) * 8u % (room + 1);
		}
		p.rkey = in_.near(r.key());
		p.va = r.mr.iova + offset;
	}

	void add_request(train &t, uint8_t opcode)
	{
		host::properties has = host::properties_of(opcode);
		host::packet p = request(opcode);

		if (has.payload) {
			bool full = (has.first || has.middle) && !in_.once_in(8);

			p.payload.resize(full ? mtu() : in_.length(mtu()), fill_++);
			p.dma_length = in_.near(static_cast<uint32_t>(p.payload.size()));
		} else {
			p.dma_length = in_.once_in(8) ? in_.take<uint32_t>() : in_.length(6000);
		}
		if (has.reth || has.atomic)
			aim(p, has.atomic ? 8 : p.dma_length);
		add(t, p);
		if (opcode == host::READ_REQUEST && p.dma_length > mtu())
			psn_ += (p.dma_length - 1) / mtu();
	}

	/* The next packet in sequence, unless the input wants another one. */
	void add(train &t, host::packet &p)
	{
		constexpr size_t remembered = 16;

		p.psn = in_.near(psn_++) & SIRO_PSN_MASK;
		last_opcode_ = p.opcode;
		if (sent_.size() == remembered)
			sent_.erase(sent_.begin());
		sent_.push_back(p);
		t.add(spoiled(encode_without_icrc(p)));
	}

	/* A header bit flipped, bytes missing or too many; seldom. */
	host::bytes spoiled(host::bytes ib)
	{
		switch (in_.below(64)) {
		case 61:
			ib[in_.below(64) % ib.size()] ^= 1 << in_.below(8);
			break;
		case 62:
			ib.resize(ib.size() > 4 ? ib.size() - 4 : 4);
			break;
		case 63:
			ib.resize(ib.size() + in_.below(8));
			break;
		default:
			break;
		}
		return ib;
	}

	void add_response(train &t)
	{
		sirocco::SendQueue &q = v_.checks.queue();
		uint32_t ahead = in_.once_in(4) ? in_.below(8) : 0;
		uint32_t waiting = q.started() - q.completed();
		const sirocco::SendEntry &e =
			q.entry(q.completed() + (waiting ? ahead % waiting : 0));
		host::packet p;

		p.qpn = victim::own_qpn;
		p.msn = in_.below(256);
		p.syndrome = in_.once_in(8) ? in_.take<uint8_t>() : 0x1f;
		p.original = 0x5555;
		if (in_.once_in(8))
			add_other_response(t, p, e);
		else if (e.wqe.opcode == SIRO_WR_RDMA_READ ||
			 e.wqe.opcode == SIRO_WR_RDMA_READ_WITH_INV)
			add_read_responses(t, p, e);
		else
			add_acknowledgement(t, p, e);
	}

	void add_acknowledgement(train &t, host::packet &p, const sirocco::SendEntry &e)
	{
		bool atomic = e.wqe.opcode == SIRO_WR_ATOMIC_CMP_AND_SWP ||
			      e.wqe.opcode == SIRO_WR_ATOMIC_FETCH_AND_ADD;
		uint32_t back = in_.once_in(4) ? in_.below(32) : 0;

		p.opcode = atomic ? host::ATOMIC_ACKNOWLEDGE : host::ACKNOWLEDGE;
		p.psn = in_.near(e.end_psn().value() - 1 - back) & SIRO_PSN_MASK;
		p.marked = in_.once_in(2);
		if (!atomic && in_.once_in(2))
			p.payload = extension();
		t.add(spoiled(encode_without_icrc(p)));
	}

	/* A selective acknowledgement, or something like it. */
	host::bytes extension()
	{
		host::bytes out = in_.bytes(4 + in_.below(16) * 4);

		out.resize(std::min<size_t>(out.size() & ~size_t{3}, 64));
		if (out.size() < 8 || in_.once_in(8))
			return out;
		out[0] = 0x51;
		out[1] = 0x53;
		out[2] = 1;
		out[3] = static_cast<uint8_t>(out.size());
		out[4] = out[6] = 0;
		out[5] &= 0x1f;
		return out;
	}

	void add_read_responses(train &t, host::packet &p, const sirocco::SendEntry &e)
	{
		uint32_t first = e.received + (in_.once_in(16) ? in_.below(8) : 0);
		uint32_t left = e.packets > first ? e.packets - first : 0;
		uint32_t count = std::min(left, 1 + in_.below(64));

		for (uint32_t i = first; i < first + count; i++) {
			uint32_t offset = i * v_.qp.req_attr.mtu;

			p.opcode = read_opcode(i == first, i + 1 == e.packets || in_.once_in(32));
			p.psn = in_.near((e.first_psn + i).value()) & SIRO_PSN_MASK;
			p.payload.assign(std::min(v_.qp.req_attr.mtu, e.length - offset), fill_++);
			t.add(spoiled(encode_without_icrc(p)));
		}
	}

	static uint8_t read_opcode(bool first, bool last)
	{
		if (last)
			return first ? host::READ_RESPONSE_ONLY : host::READ_RESPONSE_LAST;
		return first ? host::READ_RESPONSE_FIRST : host::READ_RESPONSE_MIDDLE;
	}

	void add_other_response(train &t, host::packet &p, const sirocco::SendEntry &e)
	{
		p.opcode = host::READ_RESPONSE_FIRST + in_.below(6);
		p.psn = in_.near((e.first_psn + e.received).value()) & SIRO_PSN_MASK;
		if (host::properties_of(p.opcode).payload)
			p.payload.assign(in_.length(v_.qp.req_attr.mtu), fill_++);
		t.add(spoiled(encode_without_icrc(p)));
	}

	input &in_;
	victim &v_;
	uint32_t psn_ = 0;
	uint8_t last_opcode_ = host::SEND_ONLY;
	uint8_t fill_ = 1;
	std::vector<host::packet> sent_;
};
