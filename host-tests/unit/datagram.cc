// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Unreliable datagrams, both ways. */
#include "lone_qp.h"

#include <cstring>
#include <utility>

using namespace host;

namespace {

constexpr uint32_t remote_qpn = 0x77;

send_wr datagram(lone_qp &q, uint64_t wr_id, uint32_t length, uint32_t ah)
{
	send_wr wr = make_send(wr_id, {q.piece(0, length)});

	wr.wqe.ud.ah = ah;
	wr.wqe.ud.remote_qpn = remote_qpn;
	wr.wqe.ud.remote_qkey = 0x2222;
	return wr;
}

packet incoming(const bytes &payload, uint32_t qkey = lone_qp::qkey)
{
	packet p = request(5, UD_SEND_ONLY, payload);

	p.qkey = qkey;
	p.src_qpn = remote_qpn;
	return p;
}

endpoint::options ipv6()
{
	auto o = lone_qp::ud_user();

	o.flow = flow_ipv6(1, 2, 50000);
	return o;
}

} // namespace

TEST(datagram_send, good__goes_and_is_complete_at_once)
{
	for (uint32_t length : {0u, 1u, 255u, 256u}) {
		lone_qp q(lone_qp::ud_user());

		q.post({datagram(q, 1, length, q.dev.add_flow(q.opt.flow))});

		auto sent = q.take_sent();

		ASSERT_EQ(opcodes_of(sent), std::vector<unsigned>{UD_SEND_ONLY});
		EXPECT_EQ(sent[0].qpn, remote_qpn);
		EXPECT_EQ(sent[0].src_qpn, q.opt.qpn);
		EXPECT_EQ(sent[0].qkey, 0x2222u);
		EXPECT_EQ(sent[0].payload, q.memory.read(0, length));
		EXPECT_FALSE(sent[0].ackreq);
		EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, 0}}));
		EXPECT_EQ(q.deadline, 0u);
	}
}

TEST(datagram_send, immediate_and_solicited__are_sent)
{
	lone_qp q(lone_qp::ud_user());
	send_wr wr = datagram(q, 1, 8, q.dev.add_flow(q.opt.flow));

	wr.wqe.opcode = SIRO_WR_SEND_WITH_IMM;
	wr.wqe.flags |= SIRO_SEND_SOLICITED;
	wr.wqe.imm = 0x55667788;
	q.post({wr});

	auto sent = q.take_sent();

	ASSERT_EQ(opcodes_of(sent), std::vector<unsigned>{UD_SEND_ONLY_IMM});
	EXPECT_EQ(sent[0].imm, 0x55667788u);
	EXPECT_TRUE(sent[0].solicited);
}

TEST(datagram_send, high_bit_of_the_key__means_the_queue_pairs_own)
{
	lone_qp q(lone_qp::ud_user());
	send_wr wr = datagram(q, 1, 8, q.dev.add_flow(q.opt.flow));

	wr.wqe.ud.remote_qkey = 0x80000000;
	q.post({wr});
	EXPECT_EQ(q.take_sent().at(0).qkey, lone_qp::qkey);
}

TEST(datagram_send, paths__each_has_its_own_ip_ids)
{
	lone_qp q(lone_qp::ud_user());
	siro_flow other = q.opt.flow;

	other.daddr[3] = 9;
	other.next_id = 5;

	uint32_t a = q.dev.add_flow(q.opt.flow), b = q.dev.add_flow(other);

	q.post({datagram(q, 1, 8, a), datagram(q, 2, 8, b), datagram(q, 3, 8, a)});
	ASSERT_EQ(q.sent.size(), 3u);
	EXPECT_EQ(q.sent[0].first_id, q.opt.flow.next_id);
	EXPECT_EQ(q.sent[1].first_id, 5);
	EXPECT_EQ(q.sent[2].first_id, q.opt.flow.next_id + 1);
}

/* The queue stops, the queue pair does not. */
TEST(datagram_send, bad_request__flushes_the_send_queue_only)
{
	struct {
		unsigned status;
		void (*spoil)(send_wr &);
	} const faults[] = {
		{SIRO_WC_LOC_QP_OP_ERR,
		 [](auto &w) {
			 w.wqe.ud.ah = 99;
		 }},
		{SIRO_WC_LOC_LEN_ERR,
		 [](auto &w) {
			 w.sges[0].length = lone_qp::mtu + 1;
		 }},
		{SIRO_WC_LOC_PROT_ERR,
		 [](auto &w) {
			 w.sges[0].lkey = 0x99900;
		 }},
		{SIRO_WC_LOC_QP_OP_ERR,
		 [](auto &w) {
			 w.wqe.opcode = SIRO_WR_RDMA_WRITE;
		 }},
	};

	for (auto &f : faults) {
		lone_qp q(lone_qp::ud_user());
		uint32_t ah = q.dev.add_flow(q.opt.flow);
		send_wr bad = datagram(q, 2, 8, ah);

		f.spoil(bad);
		q.post({datagram(q, 1, 8, ah), bad, datagram(q, 3, 8, ah)});
		EXPECT_EQ(ends_of(q.send_completions()),
			  (ends{{1, 0}, {2, f.status}, {3, SIRO_WC_WR_FLUSH_ERR}}));
		EXPECT_EQ(q.take_sent().size(), 1u);
		EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_SQE});
		EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_RTS});
		EXPECT_TRUE(q.sticky_outcome[0] & SIRO_OUT_SQ_ERROR);
		EXPECT_FALSE(q.sticky_outcome[0] & SIRO_OUT_QP_ERROR);
		q.modify_requester(SIRO_QPS_RTS);
		q.post({datagram(q, 4, 8, ah)});
		EXPECT_EQ(ends_of(q.send_completions()), (ends{{4, 0}}));
	}
}

TEST(datagram_send, handle_of_another_domain__is_no_handle)
{
	lone_qp q(lone_qp::ud_user());

	q.post({datagram(q, 1, 8, q.dev.add_flow(q.opt.flow, 2))});
	EXPECT_EQ(ends_of(q.send_completions()), (ends{{1, SIRO_WC_LOC_QP_OP_ERR}}));
	EXPECT_TRUE(q.sent.empty());
}

TEST(datagram_receive, ipv4__lands_behind_a_grh_with_the_header_as_it_was)
{
	lone_qp q(lone_qp::ud_user());
	bytes data = some_bytes(30);

	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 20), q.piece(1000, 100)}));
	ASSERT_TRUE(q.post_recv(2, {q.piece(2000, 200)}));
	q.hand({incoming(data), incoming(data)});

	auto done = q.recv_completions();

	ASSERT_EQ(ends_of(done), (ends{{1, 0}, {2, 0}}));
	EXPECT_EQ(done[0].byte_len, 70u);
	EXPECT_EQ(done[0].src_qp, remote_qpn);
	EXPECT_EQ(done[0].flags, SIRO_WC_GRH);
	EXPECT_EQ(done[0].network_type, SIRO_NETWORK_IPV4);
	EXPECT_EQ(q.memory.read(0, 20), bytes(20));
	EXPECT_EQ(q.memory.read(1020, 30), data);

	bytes header = q.memory.read(2020, 20);
	uint32_t sum = 0;

	for (size_t i = 0; i < 20; i += 2)
		sum += uint32_t{header[i]} << 8 | header[i + 1];
	EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffu) << "checksum";
	EXPECT_EQ(header[0], 0x45);
	/* 20 of IP, 8 of UDP, 12 + 8 of headers, payload, pad, ICRC */
	EXPECT_EQ(header[2] << 8 | header[3], 20 + 8 + 20 + 32 + 4);
	EXPECT_EQ(header[4] << 8 | header[5], 0) << "id of the second packet, after 0xffff";
	EXPECT_EQ(memcmp(&header[12], q.opt.flow.daddr, 4), 0) << "it came from our peer";
}

TEST(datagram_receive, ipv6__lands_behind_the_header_as_it_was)
{
	lone_qp q(ipv6());

	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 100)}));
	ASSERT_TRUE(q.post_recv(2, {q.piece(1000, 100)}));
	q.hand({incoming(bytes(8)), incoming(bytes(8))});

	auto done = q.recv_completions();
	bytes header = q.memory.read(0, 40);

	ASSERT_EQ(done.size(), 2u);
	EXPECT_EQ(done[0].network_type, SIRO_NETWORK_IPV6);
	EXPECT_EQ(header[0] >> 4, 6);
	EXPECT_EQ(header[4] << 8 | header[5], 8 + 20 + 8 + 4);
	EXPECT_EQ(memcmp(&header[8], q.opt.flow.daddr, 16), 0);
	EXPECT_EQ(q.memory.read(1000, 40), header);
}

TEST(datagram_receive, immediate_and_solicited__are_told)
{
	lone_qp q(lone_qp::ud_user());
	packet p = incoming(bytes(4));

	p.opcode = UD_SEND_ONLY_IMM;
	p.imm = 0x11223344;
	p.solicited = true;
	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 100)}));
	q.hand(p);

	auto done = q.recv_completions();

	ASSERT_EQ(done.size(), 1u);
	EXPECT_EQ(done[0].imm, 0x11223344u);
	EXPECT_EQ(done[0].flags, SIRO_WC_GRH | SIRO_WC_WITH_IMM | SIRO_WC_SOLICITED);
}

/* H4: dropped without a word, and the next good one is taken. */
TEST(datagram_receive, longer_than_the_receive__is_dropped_and_the_queue_pair_goes_on)
{
	lone_qp q(lone_qp::ud_user());

	q.memory.fill(0x11);
	ASSERT_TRUE(q.post_recv(1, {q.piece(0, SIRO_GRH_BYTES + 8)}));
	q.hand({incoming(bytes(9)), incoming(bytes(256)), incoming(bytes(4096))});
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_TRUE(q.sent.empty());
	EXPECT_EQ(q.count(SIRO_CNT_OUT_OF_BUFFER), 3u);
	EXPECT_EQ(q.memory.read(0, 128), bytes(128, 0x11));
	q.hand(incoming(bytes(8)));
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, 0}}));
	EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_RTS});
}

/* H4 */
TEST(datagram_receive, no_receive_or_one_too_short_for_the_grh__is_dropped)
{
	lone_qp q(lone_qp::ud_user());

	q.hand(incoming({}));
	EXPECT_EQ(q.count(SIRO_CNT_OUT_OF_BUFFER), 1u);
	ASSERT_TRUE(q.post_recv(1, {q.piece(0, SIRO_GRH_BYTES - 1)}));
	q.hand(incoming({}));
	EXPECT_EQ(q.count(SIRO_CNT_OUT_OF_BUFFER), 2u);
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_RTS});
}

TEST(datagram_receive, wrong_queue_key_or_connected_opcode__is_dropped)
{
	lone_qp q(lone_qp::ud_user());

	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 100)}));
	q.hand({incoming(bytes(4), lone_qp::qkey ^ 1), request(5, SEND_ONLY, bytes(4), true)});
	EXPECT_EQ(q.count(SIRO_CNT_BAD_QKEY), 1u);
	EXPECT_EQ(q.count(SIRO_CNT_MALFORMED_PKTS), 1u);
	EXPECT_TRUE(q.recv_completions().empty());
	EXPECT_TRUE(q.sent.empty());
}

TEST(datagram_receive, bad_receive__completes_with_an_error_and_the_queue_pair_goes_on)
{
	lone_qp q(lone_qp::ud_user());

	ASSERT_TRUE(q.post_recv(1, {{0x1000, 100, 0x99900}}));
	ASSERT_TRUE(q.post_recv(2, {q.piece(0, 100)}));
	q.hand({incoming(bytes(4)), incoming(bytes(4))});
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, SIRO_WC_LOC_PROT_ERR}, {2, 0}}));
	EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_RTS});
}

/* H9 */
TEST(datagram_receive, malformed_receive__completes_with_an_error)
{
	lone_qp q(lone_qp::ud_user());
	uint32_t too_many = 0xffffffff;

	ASSERT_TRUE(q.post_recv(1, {q.piece(0, 100)}));
	memcpy(q.rq.entry(0) + offsetof(siro_recv_wqe, num_sge), &too_many, sizeof(too_many));
	q.hand(incoming(bytes(4)));
	EXPECT_EQ(ends_of(q.recv_completions()), (ends{{1, SIRO_WC_LOC_QP_OP_ERR}}));
	EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_RTS});
}

TEST(datagram_receive, response_packets__are_for_connected_queue_pairs)
{
	lone_qp q(lone_qp::ud_user());

	q.hand(acknowledge(0, NAK_REMOTE_ACCESS));
	EXPECT_EQ(q.count(SIRO_CNT_WRONG_STATE), 1u);
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_RTS});
}
