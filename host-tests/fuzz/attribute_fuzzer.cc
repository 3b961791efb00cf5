// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What modify_qp and reg_mr let through: any attributes within the ranges that
 * the glue checks, states in any legal order, regions of any geometry. The
 * parsers of the calls themselves are C in the kernel; qemu-tests try those.
 */
#include "peer.h"
#include "user.h"

namespace {

constexpr uint32_t max_page_shift = 16;

class attack {
public:
	attack(input &in, victim &v) : in_(in), v_(v), peer_(in, v), user_(in, v)
	{
		if (in_.once_in(2))
			add_region();
		else
			add_list();
		choose_attributes();
		v_.to_rts();
	}

	void step()
	{
		if (v_.revive(in_))
			user_.post_receives();
		switch (in_.below(12)) {
		case 0:
		case 1:
			change_state();
			break;
		case 2:
			peer_.send_requests();
			break;
		case 3:
			peer_.send_message();
			break;
		case 4:
			peer_.send_responses();
			break;
		case 5:
			peer_.repeat_request();
			break;
		case 6:
			user_.post_receives();
			break;
		case 7:
			user_.post_sends();
			break;
		case 8:
			v_.dev.now += in_.take<uint32_t>();
			v_.timeout();
			break;
		case 9:
			if (v_.regions.size() == most_regions)
				break;
			if (in_.once_in(2))
				add_region();
			else
				add_list();
			break;
		case 10:
			v_.register_fast(*v_.regions[5]);
			break;
		default:
			v_.qp.budget = 128 - in_.below(128);
		}
		v_.run_who_asked();
		v_.poll_all();
	}

private:
	void add_region()
	{
		host::region::options o;

		o.page_shift = 12 + in_.below(max_page_shift - 12 + 1);
		o.first_offset = in_.take<uint32_t>() % (1u << o.page_shift);
		o.length = 1 + in_.below(65536 - 1);
		o.iova = in_.once_in(4) ? -o.length : in_.take<uint64_t>();
		if (o.iova + o.length < o.iova)
			o.iova = -o.length;
		o.access = in_.below(16) ^ victim::all_rights;
		o.pd = in_.once_in(8) ? 2 : 1;
		o.dma = in_.once_in(8);

		bool writable = o.pd == 1 && o.access & ~SIRO_ACCESS_REMOTE_READ;

		v_.add(o, writable ? o.length : 0);
	}

	/* A region that is rows of odd pieces, of its own memory or of other regions. */
	void add_list()
	{
		bool indirect = in_.once_in(2);
		uint32_t count = 1 + in_.below(6), repeat = 1 + in_.below(4);
		siro_extents list = {};

		lists_.emplace_back(new siro_extent[count]);
		list.extents = lists_.back().get();
		list.capacity = count;
		siro_extents_reset(&list, !indirect && repeat == 1);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t length = in_.once_in(4) ? 256 : in_.below(700);
			uint32_t skip = in_.once_in(2) ? in_.below(32) : 0;

			if (indirect)
				add_entry(list, length, skip, repeat);
			else
				add_memory(list, length, skip, repeat);
		}
		if (siro_extents_finish(&list, repeat))
			return;

		host::region::options o;

		o.length = list.row_length * repeat;
		o.iova = in_.once_in(4) ? -o.length : 0x1000 + in_.below(64);
		o.access = in_.below(16) ^ victim::all_rights;

		siro_mr &mr = v_.add(o, 0).mr;

		mr.layout = indirect ? SIRO_MR_INDIRECT : SIRO_MR_EXTENTS;
		mr.pages = nullptr;
		mr.page_count = 0;
		mr.extents = list;
	}

	/* All rows together end within the bytes of a region that its user may name. */
	void add_entry(siro_extents &list, uint32_t length, uint32_t skip, uint32_t repeat)
	{
		host::region &r = v_.pick(in_);
		uint32_t offset = in_.below(256);
		uint32_t room = (victim::local_bytes - offset) / repeat - skip;

		siro_extents_add(&list, r.mr.iova + offset, std::min(length, room), skip,
				 in_.near(r.key()));
	}

	/* Ends with the last byte that it names; what rows skip shall stay as it is. */
	void add_memory(siro_extents &list, uint32_t length, uint32_t skip, uint32_t repeat)
	{
		constexpr uint8_t fresh = 0xa5;
		size_t step = length + skip, size = repeat * step - skip;

		if (!length)
			return;
		memory_.emplace_back(new uint8_t[size]);
		memset(memory_.back().get(), fresh, size);

		uint64_t address = reinterpret_cast<uintptr_t>(memory_.back().get());
		fence gaps(0);

		siro_extents_add(&list, address, length, skip, 0);
		for (uint32_t row = 0; skip && row + 1 < repeat; row++)
			gaps.keep(address + row * step + length, skip);
		v_.checks.fences.push_back(gaps);
	}

	/* Each at any time that the glue allows: see may_become(). */
	void choose_attributes()
	{
		host::endpoint &qp = v_.qp;

		v_.choose_attributes(in_);
		if (in_.once_in(4))
			qp.req_attr.sq_psn = in_.take<uint32_t>() & SIRO_PSN_MASK;
		if (in_.once_in(4))
			qp.res_attr.rq_psn = in_.take<uint32_t>() & SIRO_PSN_MASK;
		qp.req_attr.dest_qpn = qp.res_attr.dest_qpn =
			in_.near(victim::peer_qpn) & SIRO_QPN_MASK;
		if (in_.once_in(4)) {
			qp.set_resources(in_.below(SIRO_MAX_RD_ATOMIC + 1));
			qp.req_attr.max_rd_atomic = in_.below(SIRO_MAX_RD_ATOMIC + 1);
		}
		choose_live_attributes();
	}

	/* What may change while packets are under way. */
	void choose_live_attributes()
	{
		host::endpoint &qp = v_.qp;

		qp.req_attr.timeout = in_.below(32);
		qp.req_attr.retry_count = in_.below(8);
		qp.req_attr.rnr_retry = in_.below(8);
		qp.req_attr.sqd_event = in_.below(2);
		qp.req_attr.qkey = qp.res_attr.qkey = in_.near(victim::qkey);
		qp.res_attr.access = in_.below(16) ^ victim::all_rights;
		qp.res_attr.min_rnr_timer = in_.below(32);
		if (v_.qp.opt.type != SIRO_QPT_RC)
			qp.req_attr.mtu = qp.res_attr.mtu = 256u << in_.below(5);
	}

	void change_state()
	{
		uint32_t to = in_.below(8);

		if (to == SIRO_QPS_RESET || to > SIRO_QPS_ERR) {
			v_.modify(SIRO_QPS_RESET);
			choose_attributes();
			v_.to_rts();
			return;
		}
		if (!v_.may_become(to))
			return;
		choose_live_attributes();
		if (to == SIRO_QPS_SQD && v_.state() == to && in_.below(2)) {
			v_.qp.req_attr.max_rd_atomic = in_.below(SIRO_MAX_RD_ATOMIC + 1);
			v_.qp.set_resources(in_.below(SIRO_MAX_RD_ATOMIC + 1));
		}
		v_.modify(to);
	}

	static constexpr size_t most_regions = 10;

	input &in_;
	victim &v_;
	peer peer_;
	user user_;
	std::vector<std::unique_ptr<siro_extent[]>> lists_;
	std::vector<std::unique_ptr<uint8_t[]>> memory_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	constexpr uint32_t most_steps = 64;
	input in(data, size);
	victim v(victim::options::choose(in));
	attack a(in, v);

	for (uint32_t i = 0; !in.empty() && i < most_steps; i++)
		a.step();
	v.finish();
	return 0;
}
