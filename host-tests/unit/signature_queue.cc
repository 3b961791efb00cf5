// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signature regions behind the keys of work requests: each way that data takes. */
#include "lone_qp.h"
#include "signature_region.h"

#include <algorithm>

using namespace host;
using namespace signature_model;

namespace {

constexpr uint32_t interval = 512, stride = 520, blocks = 3;
constexpr uint64_t iova = 0x12340000;

/* How a region's blocks are in memory and on the wire. */
struct shape {
	uint16_t memory, wire;
};

constexpr shape insert_to_wire = {SIRO_SIG_NONE, SIRO_SIG_T10_CRC};
constexpr shape strip_from_memory = {SIRO_SIG_T10_CRC, SIRO_SIG_NONE};
constexpr shape pass = {SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC};
constexpr shape convert = {SIRO_SIG_T10_CSUM, SIRO_SIG_T10_CRC};
constexpr shape all_shapes[] = {insert_to_wire, strip_from_memory, pass, convert};

signature_attributes attributes_of(shape s, uint32_t count = blocks)
{
	signature_attributes a;

	a.memory = signature_domain(s.memory);
	a.wire = signature_domain(s.wire);
	a.memory.ref_tag = a.wire.ref_tag = 0x10;
	a.memory.flags = a.wire.flags = SIRO_SIG_REF_REMAP;
	a.data_length = uint64_t{count} * interval;
	a.longest_piece = 700;
	return a;
}

uint8_t opcode_of(bool write, bool first, bool last)
{
	if (first && last)
		return write ? WRITE_ONLY : SEND_ONLY;
	if (first)
		return write ? WRITE_FIRST : SEND_FIRST;
	if (last)
		return write ? WRITE_LAST : SEND_LAST;
	return write ? WRITE_MIDDLE : SEND_MIDDLE;
}

/* A queue pair with a signature region of right blocks, and the bytes it is on the wire. */
class signature_queue {
public:
	explicit signature_queue(shape s, uint32_t count = blocks,
				 const endpoint::options &o = lone_qp::rc_user())
		: q(o), blocks_in(attributes_of(s, count)), mr(add())
	{
		bytes data = signature_noise(blocks_in.sig.data_length, 7);

		content memory = make_content(blocks_in.sig.memory, data);

		memory_before = memory;
		blocks_in.write(memory);
		wire = join(blocks_in.sig.wire, make_content(blocks_in.sig.wire, data));
	}

	uint32_t length() const
	{
		return static_cast<uint32_t>(wire.size());
	}

	siro_sge sge() const
	{
		return {iova, length(), mr.key()};
	}

	/* What a peer sends that writes or sends @all from the first packet on. */
	std::vector<packet> train(bool write, const bytes &all)
	{
		std::vector<packet> out;
		auto total = static_cast<uint32_t>(all.size());

		for (uint32_t at = 0, n = 0; at < total; at += lone_qp::mtu, n++) {
			bool first = !at, last = at + lone_qp::mtu >= total;
			bytes payload(all.begin() + at,
				      all.begin() + std::min(at + lone_qp::mtu, total));
			uint8_t opcode = opcode_of(write, first, last);

			out.push_back(write ? rdma(lone_qp::psn(n), opcode, iova, mr.key(), total,
						   payload, last)
					    : request(lone_qp::psn(n), opcode, payload, last));
		}
		return out;
	}

	bytes payload_of(const std::vector<packet> &packets)
	{
		bytes out;

		for (auto &p : packets)
			out.insert(out.end(), p.payload.begin(), p.payload.end());
		return out;
	}

	/* 1: there was an error */
	int check(siro_sig_error &error)
	{
		return siro_signature_check(&blocks_in.sig, mr.key(), &error);
	}

	void expect_clean()
	{
		siro_sig_error error = {};

		EXPECT_EQ(check(error), 0);
	}

	void expect_bad(uint16_t type, uint64_t block)
	{
		siro_sig_error error = {};

		ASSERT_EQ(check(error), 1);
		EXPECT_EQ(error.type, type);
		EXPECT_EQ(error.offset, block * stride);
		EXPECT_EQ(error.key, mr.key());
	}

	void acknowledge_all()
	{
		q.hand(acknowledge((siro_requester_psn(&q.requester) - 1) & SIRO_PSN_MASK));
	}

	void wipe()
	{
		blocks_in.write({bytes(memory_before.data.size(), 0xee),
				 bytes(memory_before.fields.size(), 0xee)});
	}

	void expect_memory()
	{
		content now = blocks_in.read();

		EXPECT_EQ(now.data, memory_before.data);
		if (blocks_in.sig.memory.format) {
			EXPECT_EQ(now.fields, memory_before.fields);
		}
	}

	lone_qp q;
	signature_region blocks_in;
	region &mr;
	bytes wire;
	content memory_before;

private:
	region &add()
	{
		region &r = q.dev.add_region({});

		r.mr.layout = SIRO_MR_SIGNATURE;
		r.mr.signature = &blocks_in.sig;
		r.mr.iova = iova;
		r.mr.length = blocks_in.sig.wire_length;
		blocks_in.sig.key = r.key();
		return r;
	}
};

bytes spoiled(bytes wire, uint64_t at, uint8_t bits = 1)
{
	wire[at] ^= bits;
	return wire;
}

} // namespace

TEST(signature_queue, send_and_write__make_the_wire)
{
	for (shape s : all_shapes)
		for (bool write : {false, true}) {
			signature_queue t(s);

			t.q.post({write ? make_rdma(SIRO_WR_RDMA_WRITE, 1, {t.sge()}, 0x1000, 0x99)
					: make_send(1, {t.sge()})});
			EXPECT_EQ(t.payload_of(t.q.take_sent()), t.wire);
			t.expect_clean();
		}
}

/* Cut at any place, and said again: the same bytes. */
TEST(signature_queue, retransmission__is_the_same)
{
	for (shape s : all_shapes)
		for (uint32_t missing = 0; missing < 7; missing++) {
			signature_queue t(s);

			t.q.post({make_send(1, {t.sge()})});
			t.q.take_sent();
			t.q.hand(acknowledge(lone_qp::psn(missing), NAK_SEQUENCE));

			bytes again = t.payload_of(t.q.take_sent());
			auto from = t.wire.begin() + std::min<long>(missing * lone_qp::mtu,
								    static_cast<long>(t.length()));

			ASSERT_EQ(again, bytes(from, t.wire.end())) << missing;
			t.expect_clean();
		}
}

TEST(signature_queue, part_of_a_region__by_every_offset)
{
	signature_queue t(pass);

	for (uint32_t from = 0; from < t.length(); from += 13) {
		uint32_t n = std::min(t.length() - from, 600u);

		t.q.post({make_send(1, {{iova + from, n, t.mr.key()}})});
		ASSERT_EQ(t.payload_of(t.q.take_sent()),
			  bytes(t.wire.begin() + from, t.wire.begin() + from + n));
		t.acknowledge_all();
		t.q.send_completions();
	}
	t.expect_clean();
}

/* The sender's own blocks are bad: the request succeeds, the latch tells. */
TEST(signature_queue, send__bad_block_in_memory)
{
	signature_queue t(pass);
	content bad = t.memory_before;

	bad.fields[8 + 7] ^= 1;
	t.blocks_in.write(bad);
	t.q.post({make_send(1, {t.sge()})});
	t.acknowledge_all();
	EXPECT_EQ(ends_of(t.q.send_completions()), (ends{{1, SIRO_WC_SUCCESS}}));
	t.expect_bad(SIRO_SIG_BAD_REFTAG, 1);
	EXPECT_EQ(t.q.count(SIRO_CNT_SIG_REF_ERRORS), 1u);
	EXPECT_EQ(t.q.count(SIRO_CNT_SIG_PASSED), blocks);
	EXPECT_EQ(t.q.count(SIRO_CNT_SIG_CHECKED), blocks);
	ASSERT_EQ(t.q.dev.signature_errors.size(), 1u);
	EXPECT_TRUE(t.q.dev.signature_errors[0].second);
}

TEST(signature_queue, read_request_of_the_peer__is_answered_with_the_wire)
{
	for (shape s : all_shapes) {
		signature_queue t(s);

		t.q.hand(rdma(lone_qp::psn(0), READ_REQUEST, iova, t.mr.key(), t.length()));
		EXPECT_EQ(t.payload_of(t.q.take_sent()), t.wire);
		/* From the middle on, once more */
		t.q.hand(rdma(lone_qp::psn(2), READ_REQUEST, iova + 2 * lone_qp::mtu, t.mr.key(),
			      t.length() - 2 * lone_qp::mtu));
		EXPECT_EQ(t.payload_of(t.q.take_sent()),
			  bytes(t.wire.begin() + 2 * lone_qp::mtu, t.wire.end()));
		t.expect_clean();
	}
}

TEST(signature_queue, write_and_send_of_the_peer__fill_memory)
{
	for (shape s : all_shapes)
		for (bool write : {false, true}) {
			signature_queue t(s);

			t.wipe();
			if (!write) {
				ASSERT_TRUE(t.q.post_recv(5, {t.sge()}));
			}
			t.q.hand(t.train(write, t.wire));
			EXPECT_EQ(t.q.take_sent().back().syndrome & 0x60, 0);
			if (!write) {
				EXPECT_EQ(ends_of(t.q.recv_completions()),
					  (ends{{5, SIRO_WC_SUCCESS}}));
			}
			t.expect_memory();
			t.expect_clean();
			EXPECT_EQ(t.blocks_in.sig.blocks.count, 0u);
		}
}

/* Neither NAK nor error: bytes are placed, the latch tells, at the latest with the end. */
TEST(signature_queue, write_and_send_of_the_peer__bad_blocks)
{
	for (bool write : {false, true})
		for (uint32_t at : {5u, stride + 512u, 2 * stride + 516u}) {
			signature_queue t(pass);

			if (!write) {
				ASSERT_TRUE(t.q.post_recv(5, {t.sge()}));
			}
			t.q.hand(t.train(write, spoiled(t.wire, at)));
			EXPECT_TRUE(is_ack(t.q.take_sent().back().syndrome));
			if (!write) {
				EXPECT_EQ(ends_of(t.q.recv_completions()),
					  (ends{{5, SIRO_WC_SUCCESS}}));
			}
			t.expect_bad(at % stride < 514 ? SIRO_SIG_BAD_GUARD : SIRO_SIG_BAD_REFTAG,
				     at / stride);
			EXPECT_EQ(join(t.blocks_in.sig.memory, t.blocks_in.read()),
				  spoiled(t.wire, at));
		}
}

/* The same packet twice, as a late duplicate and as a retransmission */
TEST(signature_queue, write_of_the_peer__duplicates_count_once)
{
	signature_queue t(convert);
	auto train = t.train(true, t.wire);
	std::vector<packet> noisy;

	t.wipe();
	for (size_t i = 0; i < train.size(); i++) {
		noisy.push_back(train[i]);
		noisy.push_back(train[i / 2]);
	}
	t.q.hand(noisy);
	t.expect_memory();
	t.expect_clean();
	EXPECT_EQ(t.q.count(SIRO_CNT_SIG_CHECKED), blocks);
}

TEST(signature_queue, read_response__fills_memory)
{
	for (shape s : all_shapes) {
		signature_queue t(s);

		t.wipe();
		t.q.post({make_rdma(SIRO_WR_RDMA_READ, 1, {t.sge()}, 0x1000, 0x99)});
		for (uint32_t n = 0; n * lone_qp::mtu < t.length(); n++) {
			uint32_t at = n * lone_qp::mtu;
			uint32_t end = std::min(at + lone_qp::mtu, t.length());
			uint8_t opcode = !n                  ? READ_RESPONSE_FIRST
					 : end == t.length() ? READ_RESPONSE_LAST
							     : READ_RESPONSE_MIDDLE;

			t.q.hand(read_response(lone_qp::psn(n), opcode,
					       bytes(t.wire.begin() + at, t.wire.begin() + end)));
		}
		EXPECT_EQ(ends_of(t.q.send_completions()), (ends{{1, SIRO_WC_SUCCESS}}));
		t.expect_memory();
		t.expect_clean();
	}
}

/* Bounds are those of the wire, whatever is mapped. */
TEST(signature_queue, access__last_byte_and_one_beyond)
{
	for (shape s : all_shapes)
		for (uint32_t beyond : {0u, 1u}) {
			signature_queue t(s);

			t.q.hand(rdma(lone_qp::psn(0), READ_REQUEST, iova + t.length() - 1,
				      t.mr.key(), 1 + beyond));

			auto sent = t.q.take_sent();

			ASSERT_EQ(sent.size(), 1u);
			if (beyond) {
				EXPECT_EQ(sent[0].syndrome, NAK_REMOTE_ACCESS);
			} else {
				EXPECT_EQ(sent[0].payload, bytes(1, t.wire.back()));
			}
		}
}

TEST(signature_queue, atomic__is_refused)
{
	signature_queue t(pass);

	t.q.hand(atomic(lone_qp::psn(0), FETCH_ADD, iova, t.mr.key(), 1));
	expect_reply(t.q, NAK_REMOTE_ACCESS, lone_qp::psn(0));
}

/* One level: a list may not name a signature region. */
TEST(signature_queue, entry_of_an_indirect_region__is_unreachable)
{
	signature_queue t(pass);
	region &list = add_indirect(t.q.dev, {{iova, 64, 0, t.mr.key()}}, 0);

	t.q.hand(rdma(lone_qp::psn(0), READ_REQUEST, 0, list.key(), 64));
	expect_reply(t.q, NAK_REMOTE_ACCESS, lone_qp::psn(0));
}

/* Only who says so has lists of kernel memory. */
TEST(signature_queue, list_without_keys__is_not_memory)
{
	signature_queue t(pass);

	t.blocks_in.sig.flags &= static_cast<uint16_t>(~SIRO_SIG_KERNEL_LISTS);
	t.q.hand(t.train(true, t.wire)[0]);
	expect_reply(t.q, NAK_REMOTE_ACCESS, lone_qp::psn(0));
}

namespace {

/* A packet in the middle of many blocks leaves two of them open. */
packet island(signature_queue &t, uint32_t psn, uint64_t offset)
{
	return rdma(lone_qp::psn(psn), WRITE_ONLY, iova + offset, t.mr.key(), lone_qp::mtu,
		    bytes(t.wire.begin() + static_cast<long>(offset),
			  t.wire.begin() + static_cast<long>(offset + lone_qp::mtu)),
		    true);
}

constexpr uint32_t many = 64;

} // namespace

TEST(signature_queue, open_blocks__more_than_there_is_room_for)
{
	signature_queue t(convert, many);
	uint32_t psn = 0;

	t.wipe();
	for (uint64_t at = 0; at + lone_qp::mtu <= t.length(); at += 2 * lone_qp::mtu)
		t.q.hand(island(t, psn++, at));
	EXPECT_GT(t.blocks_in.sig.blocks.count, many / 2);
	for (uint64_t at = lone_qp::mtu; at + lone_qp::mtu <= t.length(); at += 2 * lone_qp::mtu)
		t.q.hand(island(t, psn++, at));
	ASSERT_EQ(t.length() % lone_qp::mtu, 0u);
	t.expect_memory();
	t.expect_clean();
	EXPECT_EQ(t.blocks_in.sig.blocks.count, 0u);
}

/* Without memory for open blocks a packet counts as lost, and comes again. */
TEST(signature_queue, open_blocks__no_memory)
{
	for (bool write : {false, true}) {
		signature_queue t(convert, many);
		bool refuses = true;
		uint32_t psn = 0;

		t.wipe();
		for (uint32_t at : {0u, 4u, 8u})
			t.q.hand(island(t, psn++, at * lone_qp::mtu));
		t.q.take_sent();
		t.q.refuse = [&] {
			return refuses;
		};

		packet next = island(t, psn, 12 * lone_qp::mtu);

		if (!write) {
			ASSERT_TRUE(t.q.post_recv(
				5, {{iova + 12 * lone_qp::mtu, lone_qp::mtu, t.mr.key()}}));
			next = request(lone_qp::psn(psn), SEND_ONLY, next.payload, true);
		}
		t.q.hand(next);
		EXPECT_TRUE(t.q.take_sent().empty());
		EXPECT_TRUE(t.q.recv_completions().empty());
		EXPECT_EQ(t.q.count(SIRO_CNT_SIG_DROPPED), 1u);

		refuses = false;
		t.q.hand(next);
		EXPECT_TRUE(is_ack(t.q.take_sent().back().syndrome));
		EXPECT_EQ(t.q.count(SIRO_CNT_SIG_DROPPED), 1u);
		for (uint32_t at = 0; at * lone_qp::mtu < t.length(); at++)
			if (at != 0 && at != 4 && at != 8 && at != 12)
				t.q.hand(island(t, ++psn, at * lone_qp::mtu));
		t.expect_memory();
		t.expect_clean();
	}
}

TEST(signature_queue, read_response__no_memory)
{
	signature_queue t(convert, many);
	bytes part(t.wire.begin() + 12 * lone_qp::mtu, t.wire.begin() + 13 * lone_qp::mtu);
	bool refuses = true;
	uint32_t psn = 0;

	for (uint32_t at : {0u, 4u, 8u})
		t.q.hand(island(t, psn++, at * lone_qp::mtu));
	t.q.post({make_rdma(SIRO_WR_RDMA_READ, 1,
			    {{iova + 12 * lone_qp::mtu, lone_qp::mtu, t.mr.key()}}, 0x1000, 0x99)});
	t.q.refuse = [&] {
		return refuses;
	};
	t.q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, part));
	EXPECT_TRUE(t.q.send_completions().empty());
	refuses = false;
	t.q.hand(read_response(lone_qp::psn(0), READ_RESPONSE_ONLY, part));
	EXPECT_EQ(ends_of(t.q.send_completions()), (ends{{1, SIRO_WC_SUCCESS}}));
}

namespace {

struct fault_case {
	uint32_t target;
	uint64_t mask;
	uint32_t within; /* the block */
	uint8_t bits;
	uint16_t type;
};

constexpr fault_case faults[] = {
	{SIRO_SIG_GUARD, 0x0100, 512, 1, SIRO_SIG_BAD_GUARD},
	{SIRO_SIG_APP, 0x80, 515, 0x80, SIRO_SIG_BAD_APPTAG},
	{SIRO_SIG_REF, 1, 519, 1, SIRO_SIG_BAD_REFTAG},
	{SIRO_SIG_DATA, uint64_t{1} << 56, 0, 1, SIRO_SIG_BAD_GUARD},
};

} // namespace

/* What leaves is spoiled, memory is not, and its own check finds nothing. */
TEST(signature_queue, fault__of_what_is_sent)
{
	for (const fault_case &f : faults) {
		signature_queue t(pass);
		siro_sig_injection injection = {f.mask, 1, SIRO_SIG_SENT, f.target, 1, 0};

		t.q.dev.injection = &injection;
		t.q.post({make_send(1, {t.sge()})});
		EXPECT_EQ(t.payload_of(t.q.take_sent()),
			  spoiled(t.wire, stride + f.within, f.bits));
		EXPECT_EQ(injection.count, 0u);
		t.expect_memory();
		t.expect_clean();
		t.q.at(t.q.deadline);
		EXPECT_EQ(t.payload_of(t.q.take_sent()), t.wire);
	}
}

TEST(signature_queue, fault__of_what_is_received)
{
	for (const fault_case &f : faults) {
		signature_queue t(pass);
		siro_sig_injection injection = {f.mask, 1, SIRO_SIG_RECEIVED, f.target, 1, 0};

		t.q.dev.injection = &injection;
		t.q.hand(t.train(true, t.wire));
		EXPECT_TRUE(is_ack(t.q.take_sent().back().syndrome));
		t.expect_bad(f.type, 1);
		EXPECT_EQ(injection.count, 0u);
		EXPECT_EQ(join(t.blocks_in.sig.memory, t.blocks_in.read()),
			  spoiled(t.wire, stride + f.within, f.bits));
	}
}
