// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rings in user memory: every word of them is hostile and changes at any time. */
#include "input.h"

using namespace host;

namespace {

void scribble(input &in, ring_memory &ring)
{
	siro_ring &r = ring.ring;
	uint32_t entry = in.below(r.slots);
	uint32_t offset = in.below(r.stride);
	host::bytes noise = in.bytes(r.stride - offset < 64 ? r.stride - offset : 64);

	if (!noise.empty())
		memcpy(ring.entry(entry) + offset, noise.data(), noise.size());
}

void move_index(input &in, __u32 &index)
{
	switch (in.take<uint8_t>() % 4) {
	case 0:
		index = in.take<uint32_t>();
		break;
	case 1:
		index -= in.take<uint8_t>();
		break;
	default:
		index += in.take<uint8_t>() % 8;
	}
}

/* A well-formed request with a field or two that are not. */
void post_nearly(input &in, endpoint &qp, region &mr)
{
	send_wr wr =
		make_rdma(in.take<uint8_t>() % 14, in.take<uint8_t>(),
			  {mr.sge(in.below(4096), in.below(4096))},
			  mr.mr.iova + in.take<uint16_t>(), mr.key(), in.take<uint8_t>() & 0x1f);

	wr.wqe.imm = mr.key();
	qp.post_send(wr);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input in(data, size);
	device dev;
	region &mr = dev.add_region({});
	endpoint::options o;

	o.sq_slots = 8;
	o.rq_slots = 8;
	o.cq_slots = 8;
	o.type = in.take<uint8_t>() % 4 ? SIRO_QPT_RC : SIRO_QPT_UD;
	o.flow = flow_ipv4(0x0a000001, 0x0a000002, 0xc000);

	endpoint qp(dev, o);

	dev.add_flow(o.flow);
	qp.req_attr.mtu = qp.res_attr.mtu = 1024;
	qp.req_attr.max_rd_atomic = 2;
	qp.set_resources(2);
	qp.to_rts();

	for (uint32_t round = 0; !in.empty() && round < 128; round++) {
		switch (in.take<uint8_t>() % 10) {
		case 0:
			scribble(in, qp.sq);
			break;
		case 1:
			scribble(in, qp.rq);
			break;
		case 2:
			move_index(in, qp.sq.ring.header->producer);
			break;
		case 3:
			move_index(in, qp.rq.ring.header->producer);
			break;
		case 4:
			move_index(in, qp.send_cq.ring.header->consumer);
			break;
		case 5:
			move_index(in, qp.sq.ring.header->consumer);
			break;
		case 6:
			post_nearly(in, qp, mr);
			break;
		case 7:
			qp.run_responder();
			break;
		case 8:
			if (in.take<uint8_t>() % 8 == 0) {
				qp.modify(SIRO_QPS_ERR);
				qp.settle();
				qp.modify(SIRO_QPS_RESET);
				qp.to_rts();
			}
			break;
		default:
			qp.run_requester();
		}
		qp.sent.clear();
	}
	qp.modify(SIRO_QPS_ERR);
	return 0;
}
