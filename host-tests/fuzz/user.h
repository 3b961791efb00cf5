// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Well-formed work requests on all kinds of memory, right and wrong. */
#pragma once

#include "victim.h"

class user {
public:
	user(input &in, victim &v) : in_(in), v_(v) {}

	void post_receives()
	{
		uint32_t count = 1 + in_.below(8);

		for (uint32_t i = 0; i < count; i++)
			if (v_.qp.post_recv(next_recv_, sges()))
				next_recv_++;
	}

	void post_sends()
	{
		uint32_t count = 1 + in_.below(8);

		for (uint32_t i = 0; i < count; i++)
			post(request());
		v_.run_requester();
	}

private:
	void post(const host::send_wr &wr)
	{
		if (v_.qp.opt.user ? v_.qp.post_send(wr) : !v_.qp.post_send_kernel(wr))
			next_send_++;
		else if (wr.wqe.opcode == SIRO_WR_REG_INDIR_MR)
			siro_port_mr_abandon_list(nullptr, wr.wqe.reg.mr);
	}

	/* The private region, one that the peer may use too, or the latest. */
	host::region &pick()
	{
		switch (in_.below(4)) {
		case 1:
			return *v_.regions[0];
		case 2:
			return *v_.regions[1];
		case 3:
			return v_.regions.size() > victim::usual_regions ? *v_.regions.back()
									 : *v_.regions[2];
		default:
			return *v_.regions[2];
		}
	}

	std::vector<siro_sge> sges()
	{
		std::vector<siro_sge> list(in_.once_in(8) ? in_.below(17) : 1 + in_.below(3));
		host::region &r = pick();
		uint32_t limit = &r == v_.regions[2] ? victim::local_bytes
						     : static_cast<uint32_t>(r.length());

		for (auto &sge : list) {
			uint32_t length = std::min(limit, in_.once_in(4) ? in_.below(32) : limit);

			sge = r.sge(in_.below(16) % (limit - length + 1), length);
			if (in_.once_in(32))
				sge.lkey = v_.pick(in_).key() ^ 1;
		}
		return list;
	}

	host::send_wr request()
	{
		static constexpr uint8_t opcodes[] = {
			SIRO_WR_RDMA_READ,           SIRO_WR_SEND,
			SIRO_WR_RDMA_WRITE,          SIRO_WR_ATOMIC_FETCH_AND_ADD,
			SIRO_WR_ATOMIC_CMP_AND_SWP,  SIRO_WR_SEND_WITH_IMM,
			SIRO_WR_RDMA_WRITE_WITH_IMM, SIRO_WR_SEND_WITH_INV,
			SIRO_WR_RDMA_READ,           SIRO_WR_LOCAL_INV,
			SIRO_WR_RDMA_READ_WITH_INV,  SIRO_WR_REG_MR,
			SIRO_WR_MKEY_CONF,
		};
		uint8_t opcode = opcodes[in_.below(sizeof(opcodes))];
		uint8_t flags = SIRO_SEND_SIGNALED ^ (in_.once_in(4) ? in_.below(8) : 0);

		if (v_.qp.opt.type != SIRO_QPT_RC)
			return datagram(flags);
		if (opcode == SIRO_WR_REG_MR)
			return v_.registration(*v_.regions[5], next_send_);
		if (opcode == SIRO_WR_MKEY_CONF)
			return v_.qp.opt.user ? mkey_configuration() : list_registration();
		if (opcode == SIRO_WR_LOCAL_INV)
			return invalidation();
		if (opcode == SIRO_WR_ATOMIC_FETCH_AND_ADD || opcode == SIRO_WR_ATOMIC_CMP_AND_SWP)
			return host::make_atomic(opcode, next_send_,
						 v_.regions[2]->sge(in_.below(8), 8), 0x1000, 1, 2);
		return transfer(opcode, flags);
	}

	host::send_wr transfer(uint8_t opcode, uint8_t flags)
	{
		host::send_wr wr =
			host::make_rdma(opcode, next_send_, sges(), 0x7f0000001000, 0x1234, flags);
		bool read = opcode == SIRO_WR_RDMA_READ || opcode == SIRO_WR_RDMA_READ_WITH_INV;

		wr.wqe.imm = v_.regions[5 + in_.below(2)]->key();
		if (!read && in_.once_in(4))
			put_inline(wr);
		return wr;
	}

	host::send_wr invalidation()
	{
		host::send_wr wr = host::make_send(next_send_, {});

		wr.wqe.opcode = SIRO_WR_LOCAL_INV;
		wr.wqe.imm = in_.near(v_.regions[5 + in_.below(2)]->key());
		return wr;
	}

	/* Pieces of regions that the peer may use, so that it may come through the list. */
	std::vector<siro_sge> pieces()
	{
		std::vector<siro_sge> list(1 + in_.below(4));

		for (auto &sge : list) {
			sge = v_.regions[in_.below(2)]->sge(in_.below(256), 1 + in_.below(256));
			sge.lkey = in_.near(sge.lkey);
		}
		return list;
	}

	host::send_wr mkey_configuration()
	{
		host::send_wr wr = host::make_send(next_send_, {});
		siro_mkey_conf &conf = wr.wqe.mkey;

		std::vector<siro_sge> list = pieces();

		wr.wqe.opcode = SIRO_WR_MKEY_CONF;
		wr.wqe.rkey = in_.near(v_.regions[6]->key());
		conf.count = static_cast<uint32_t>(list.size());
		conf.set = SIRO_MKEY_ACCESS;
		conf.access = victim::all_rights;
		if (in_.once_in(2))
			sign(wr);
		if (in_.once_in(4))
			add_rows(wr, list);
		else
			add_list(wr, list);
		if (in_.once_in(8)) {
			conf.set |= SIRO_MKEY_TABLE;
			conf.table = v_.regions[0]->mr.iova;
			wr.wqe.imm = v_.regions[0]->key();
		}
		if (in_.once_in(8))
			conf.set ^= in_.below(256);
		return wr;
	}

	template <typename T>
	static void append(host::send_wr &wr, const T &value)
	{
		auto *from = reinterpret_cast<const uint8_t *>(&value);

		wr.inline_data.insert(wr.inline_data.end(), from, from + sizeof(value));
	}

	static void add_list(host::send_wr &wr, const std::vector<siro_sge> &list)
	{
		wr.wqe.mkey.set |= SIRO_MKEY_LIST;
		for (auto &sge : list)
			append(wr, sge);
	}

	void add_rows(host::send_wr &wr, const std::vector<siro_sge> &list)
	{
		wr.wqe.mkey.set |= SIRO_MKEY_INTERLEAVED;
		wr.wqe.mkey.repeat = 1 + in_.below(4);
		for (auto &sge : list)
			append(wr,
			       siro_mkey_piece{sge.addr, sge.length, in_.below(64), sge.lkey, 0});
	}

	/* Small blocks, so that pieces are often whole ones. */
	siro_mkey_sig_domain sig_domain()
	{
		siro_mkey_sig_domain d = {};

		d.format = static_cast<uint16_t>(in_.below(SIRO_SIG_CRC64 + 1));
		if (d.format == SIRO_SIG_NONE)
			return d;
		d.interval = 8 * (1 + in_.below(4));
		if (d.format <= SIRO_SIG_T10_CSUM) {
			d.flags = in_.below(4);
			d.app_tag = static_cast<uint16_t>(-in_.below(2));
			d.ref_tag = in_.take<uint32_t>();
		}
		return d;
	}

	void sign(host::send_wr &wr)
	{
		siro_mkey_sig sig = {};

		sig.check_mask = in_.take<uint8_t>();
		sig.memory = sig_domain();
		sig.wire = sig_domain();
		if (in_.once_in(8))
			reinterpret_cast<uint8_t *>(&sig)[in_.below(sizeof(sig))] ^=
				in_.take<uint8_t>();
		wr.wqe.mkey.set |=
			SIRO_MKEY_SIGNATURE | (in_.once_in(8) ? SIRO_MKEY_RESET_SIGNATURE : 0);
		append(wr, sig);
	}

	host::send_wr list_registration()
	{
		auto *list = new host::indirect_list(pieces());
		host::send_wr wr = host::make_send(next_send_, {});

		wr.wqe.opcode = SIRO_WR_REG_INDIR_MR;
		wr.wqe.reg.mr = reinterpret_cast<uintptr_t>(list);
		wr.wqe.reg.length = list->extents.row_length;
		wr.wqe.reg.iova = in_.below(2) * 0x10000;
		wr.wqe.reg.key = host::device::next_key(v_.regions[6]->key());
		wr.wqe.reg.access = victim::all_rights;
		return wr;
	}

	host::send_wr datagram(uint8_t flags)
	{
		host::region &r = *v_.regions[0];
		host::send_wr wr = host::make_send(
			next_send_, {r.sge(in_.below(64), in_.length(v_.qp.req_attr.mtu) % 5000)},
			flags);

		wr.wqe.opcode = in_.once_in(2) ? SIRO_WR_SEND_WITH_IMM : SIRO_WR_SEND;
		wr.wqe.ud.ah = in_.near(v_.ah);
		wr.wqe.ud.remote_qpn = victim::peer_qpn;
		wr.wqe.ud.remote_qkey = in_.near(victim::qkey);
		if (in_.once_in(4))
			put_inline(wr);
		return wr;
	}

	void put_inline(host::send_wr &wr)
	{
		wr.wqe.flags |= SIRO_SEND_INLINE;
		wr.wqe.num_sge = 0;
		wr.wqe.inline_length = in_.below(65);
		wr.inline_data.assign(wr.wqe.inline_length, 0x77);
	}

	input &in_;
	victim &v_;
	uint64_t next_send_ = 1, next_recv_ = 1;
};
