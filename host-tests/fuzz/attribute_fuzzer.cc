// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What modify_qp and create calls let through: attributes within the ranges that
 * the glue checks, states in any order, regions of any geometry. The parsers of
 * the calls themselves are C in the kernel; qemu-tests/badverbs.c tries those.
 */
#include "input.h"

using namespace host;

namespace {

void choose_attributes(input &in, endpoint &qp)
{
	qp.req_attr.mtu = qp.res_attr.mtu = 256u << (in.take<uint8_t>() % 5);
	qp.req_attr.dest_qpn = qp.res_attr.dest_qpn = in.take<uint32_t>() & SIRO_QPN_MASK;
	qp.req_attr.sq_psn = in.take<uint32_t>() & SIRO_PSN_MASK;
	qp.res_attr.rq_psn = in.take<uint32_t>() & SIRO_PSN_MASK;
	qp.req_attr.qkey = qp.res_attr.qkey = in.take<uint32_t>();
	qp.req_attr.max_rd_atomic = in.below(SIRO_MAX_RD_ATOMIC + 1);
	qp.req_attr.timeout = in.take<uint8_t>() & 31;
	qp.req_attr.retry_count = in.take<uint8_t>() & 7;
	qp.req_attr.rnr_retry = in.take<uint8_t>() & 7;
	qp.req_attr.sqd_event = in.take<uint8_t>() & 1;
	qp.res_attr.access = in.take<uint8_t>() & 0xf;
	qp.res_attr.min_rnr_timer = in.take<uint8_t>() & 31;
	qp.set_resources(in.below(SIRO_MAX_RD_ATOMIC + 1));
}

region::options geometry(input &in)
{
	region::options o;

	o.page_shift = 12 + in.take<uint8_t>() % 4;
	o.first_offset = in.below(1u << o.page_shift);
	o.length = in.below(65536) + 1;
	o.iova = in.take<uint64_t>();
	if (o.iova + o.length < o.iova)
		o.iova = -o.length;
	o.access = in.take<uint8_t>() & 0xf;
	o.pd = 1 + in.take<uint8_t>() % 2;
	return o;
}

void post(input &in, endpoint &qp, region &mr)
{
	uint8_t opcode = in.take<uint8_t>() % 8;
	siro_sge sge = {mr.mr.iova + in.take<uint16_t>(), in.below(70000), mr.key()};

	qp.post_recv(1, {sge});
	qp.post_send(make_rdma(opcode, 2, {sge}, in.take<uint64_t>(), mr.key()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input in(data, size);
	device dev;
	endpoint::options o;

	o.type = in.take<uint8_t>() % 3;
	o.flow = flow_ipv6(1, 2, 0xc001);

	endpoint qp(dev, o);
	region &mr = dev.add_region(geometry(in));
	siro_flow back = flow_ipv6(2, 1, 0xc001);

	for (uint32_t round = 0; !in.empty() && round < 64; round++) {
		switch (in.take<uint8_t>() % 6) {
		case 0:
			qp.modify(SIRO_QPS_RESET);
			choose_attributes(in, qp);
			qp.to_rts();
			break;
		case 1:
			qp.modify(in.take<uint8_t>() & 1 ? SIRO_QPS_SQD : SIRO_QPS_ERR);
			break;
		case 2:
			post(in, qp, mr);
			break;
		case 3: {
			packet p;
			super_packet one;

			p.opcode = in.take<uint8_t>() % 0x18;
			p.qpn = qp.opt.qpn;
			p.psn = qp.res_attr.rq_psn;
			p.va = mr.mr.iova;
			p.rkey = mr.key();
			p.dma_length = in.below(70000);
			p.payload = bytes(in.below(qp.res_attr.mtu ? qp.res_attr.mtu + 1 : 1), 1);
			one.flow = back;
			one.packets.push_back(encode(p, back, 0));
			qp.receive(one);
			break;
		}
		case 4:
			dev.now += in.take<uint32_t>();
			qp.timeout();
			break;
		default:
			qp.run_requester();
		}
		qp.sent.clear();
	}
	return 0;
}
