// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets of a hostile peer, into a responder and a requester with work. */
#include "input.h"

using namespace host;

namespace {

constexpr uint32_t own = 0x0a000001, peer = 0x0a000002;

/* What the fuzzer's bytes can name: small numbers stand for real ones. */
struct target {
	device dev;
	region *mr;
	endpoint qp;

	static endpoint::options options(input &in)
	{
		endpoint::options o;

		o.srq = in.take<uint8_t>() & 1;
		o.type = in.take<uint8_t>() % 4 ? SIRO_QPT_RC : SIRO_QPT_UD;
		o.flow = flow_ipv4(own, peer, 0xc000);
		return o;
	}

	explicit target(input &in) : mr(&dev.add_region({})), qp(dev, options(in))
	{
		qp.req_attr.mtu = qp.res_attr.mtu = 256u << (in.take<uint8_t>() % 5);
		qp.req_attr.dest_qpn = qp.res_attr.dest_qpn = 0x22;
		qp.req_attr.max_rd_atomic = 4;
		qp.req_attr.timeout = 14;
		qp.req_attr.retry_count = qp.req_attr.rnr_retry = 7;
		qp.res_attr.access = 0xf;
		qp.set_resources(4);
		qp.to_rts();
	}

	void post(input &in)
	{
		uint32_t count = in.take<uint8_t>() % 8;

		for (uint32_t i = 0; i < count; i++)
			qp.post_recv(i, {mr->sge(in.below(2048), in.below(2048))});
		count = in.take<uint8_t>() % 8;
		for (uint32_t i = 0; i < count; i++)
			qp.post_send(request(in, i));
		qp.settle();
	}

	send_wr request(input &in, uint64_t id)
	{
		siro_sge sge = mr->sge(in.below(1024), in.below(3072));

		switch (in.take<uint8_t>() % 4) {
		case 0:
			return make_rdma(SIRO_WR_RDMA_READ, id, {sge}, mr->mr.iova, mr->key());
		case 1:
			return make_atomic(SIRO_WR_ATOMIC_FETCH_AND_ADD, id, mr->sge(0, 8),
					   mr->mr.iova, mr->key(), 1);
		case 2:
			return make_rdma(SIRO_WR_RDMA_WRITE, id, {sge}, mr->mr.iova, mr->key());
		default:
			return make_send(id, {sge});
		}
	}

	packet make(input &in)
	{
		packet p;

		p.opcode = in.take<uint8_t>() % 8 ? in.take<uint8_t>() % 0x18 : in.take<uint8_t>();
		p.qpn = qp.opt.qpn;
		p.psn = in.take<uint8_t>() % 16 ? in.take<uint8_t>() % 32 : in.take<uint32_t>();
		p.ackreq = in.take<uint8_t>() & 1;
		p.va = mr->mr.iova + in.take<uint16_t>();
		p.rkey = in.take<uint8_t>() % 8 ? mr->key() : in.take<uint32_t>();
		p.dma_length = in.take<uint8_t>() % 8 ? in.below(8192) : in.take<uint32_t>();
		p.syndrome = in.take<uint8_t>();
		p.msn = in.take<uint16_t>();
		p.inv_key = mr->key();
		p.payload = bytes(in.take<uint8_t>() % 2 ? qp.res_attr.mtu : in.below(4200), 0x5a);
		return p;
	}
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input in(data, size);
	target t(in);
	siro_flow from_peer = flow_ipv4(peer, own, 0xc000);

	t.post(in);
	for (uint32_t round = 0; !in.empty() && round < 64; round++) {
		super_packet packets;
		uint32_t count = 1 + in.take<uint8_t>() % 4;

		packets.flow = from_peer;
		packets.first_id = in.take<uint16_t>();
		for (uint32_t i = 0; i < count; i++) {
			uint16_t id = static_cast<uint16_t>(packets.first_id + i);

			if (in.take<uint8_t>() % 8) {
				packets.packets.push_back(encode(t.make(in), from_peer, id));
			} else {
				host::bytes raw = in.bytes(in.below(200));

				if (raw.size() >= 12)
					append_icrc(raw, from_peer, id);
				packets.packets.push_back(raw);
			}
		}
		t.qp.receive(packets);
		t.dev.now += in.below(50) * millisecond;
		t.qp.timeout();
		t.qp.sent.clear();
	}
	t.qp.modify(SIRO_QPS_ERR);
	t.qp.settle();
	return 0;
}
