// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "lone_qp.h"

#include <algorithm>

using namespace host;

namespace {

siro_flow reversed(siro_flow flow)
{
	std::swap_ranges(flow.saddr, flow.saddr + 16, flow.daddr);
	return flow;
}

region::options all_rights()
{
	region::options o;

	o.length = 65536;
	return o;
}

std::vector<siro_cqe> take_all(endpoint &e, bool (endpoint::*poll)(siro_cqe &))
{
	std::vector<siro_cqe> out;
	siro_cqe cqe;

	while ((e.*poll)(cqe))
		out.push_back(cqe);
	return out;
}

packet response(uint32_t psn, uint8_t opcode)
{
	packet p;

	p.opcode = opcode;
	p.psn = psn;
	p.syndrome = lone_qp::unlimited;
	return p;
}

} // namespace

endpoint::options lone_qp::rc_user()
{
	options o;

	o.flow = flow_ipv4(0x0a000001, 0x0a000002, 50000);
	return o;
}

endpoint::options lone_qp::rc_kernel()
{
	options o = rc_user();

	o.user = false;
	return o;
}

endpoint::options lone_qp::ud_user()
{
	options o = rc_user();

	o.type = SIRO_QPT_UD;
	return o;
}

lone_qp::lone_qp(const options &o, const prepare &before)
	: endpoint(own_device::device, o), memory(dev.add_region(all_rights()))
{
	set_failure_handler([](const std::string &text) { ADD_FAILURE() << text; });
	memory.write(0, some_bytes(memory.length()));
	req_attr.mtu = res_attr.mtu = mtu;
	req_attr.dest_qpn = res_attr.dest_qpn = peer_qpn;
	req_attr.sq_psn = res_attr.rq_psn = first_psn;
	req_attr.timeout = 14; /* 67 ms, above the first timeout of the timer */
	req_attr.qkey = res_attr.qkey = qkey;
	if (before)
		before(*this);
	to_rts();
	sticky_events = 0;
}

void lone_qp::hand(std::vector<packet> packets)
{
	super_packet in;

	in.flow = reversed(opt.flow);
	in.first_id = 0xffff;
	for (auto &p : packets) {
		auto id = static_cast<uint16_t>(in.first_id + in.packets.size());

		p.qpn = opt.qpn;
		in.packets.push_back(encode(p, in.flow, id));
	}
	receive(in);
}

call_result lone_qp::at(uint64_t time)
{
	dev.now = time;
	return timeout();
}

void lone_qp::post(const std::vector<send_wr> &list)
{
	for (auto &wr : list) {
		if (opt.user)
			ASSERT_TRUE(post_send(wr));
		else
			ASSERT_EQ(post_send_kernel(wr), 0);
	}
	run_requester();
}

std::vector<siro_cqe> lone_qp::send_completions()
{
	return take_all(*this, &endpoint::poll_send);
}

std::vector<siro_cqe> lone_qp::recv_completions()
{
	return take_all(*this, &endpoint::poll_recv);
}

ends ends_of(const std::vector<siro_cqe> &completions)
{
	ends out;

	for (auto &c : completions)
		out.emplace_back(c.wr_id, c.status);
	return out;
}

std::vector<unsigned> opcodes_of(const std::vector<packet> &packets)
{
	std::vector<unsigned> out;

	for (auto &p : packets)
		out.push_back(p.opcode);
	return out;
}

std::vector<uint32_t> psns_of(const std::vector<packet> &packets)
{
	std::vector<uint32_t> out;

	for (auto &p : packets)
		out.push_back(p.psn);
	return out;
}

void expect_reply(lone_qp &q, uint8_t syndrome, uint32_t psn)
{
	auto sent = q.take_sent();

	ASSERT_EQ(opcodes_of(sent), std::vector<unsigned>{ACKNOWLEDGE});
	EXPECT_EQ(sent[0].syndrome, syndrome);
	EXPECT_EQ(sent[0].psn, psn);
	EXPECT_EQ(sent[0].qpn, lone_qp::peer_qpn);
}

packet acknowledge(uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	packet p = response(psn, ACKNOWLEDGE);

	p.syndrome = syndrome;
	p.msn = msn;
	return p;
}

packet read_response(uint32_t psn, uint8_t opcode, const bytes &payload)
{
	packet p = response(psn, opcode);

	p.payload = payload;
	return p;
}

packet atomic_response(uint32_t psn, uint64_t original)
{
	packet p = response(psn, ATOMIC_ACKNOWLEDGE);

	p.original = original;
	return p;
}

packet request(uint32_t psn, uint8_t opcode, const bytes &payload, bool ackreq)
{
	packet p;

	p.psn = psn;
	p.opcode = opcode;
	p.payload = payload;
	p.ackreq = ackreq;
	return p;
}

packet rdma(uint32_t psn, uint8_t opcode, uint64_t va, uint32_t rkey, uint32_t length,
	    const bytes &payload, bool ackreq)
{
	packet p = request(psn, opcode, payload, ackreq);

	p.va = va;
	p.rkey = rkey;
	p.dma_length = length;
	return p;
}

packet atomic(uint32_t psn, uint8_t opcode, uint64_t va, uint32_t rkey, uint64_t swap_add,
	      uint64_t compare)
{
	packet p = request(psn, opcode);

	p.va = va;
	p.rkey = rkey;
	p.swap_add = swap_add;
	p.compare = compare;
	return p;
}

bytes some_bytes(size_t length, unsigned seed)
{
	bytes out(length);
	uint32_t x = seed * 2654435761u + 1;

	for (auto &b : out) {
		x = x * 1664525 + 1013904223;
		b = static_cast<uint8_t>(x >> 24);
	}
	return out;
}
