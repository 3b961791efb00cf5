// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which packet may follow which, and how long it may be. */
#include "lone_qp.h"

using namespace host;

namespace {

constexpr uint8_t requests[] = {
	SEND_FIRST,   SEND_MIDDLE,  SEND_LAST,  SEND_LAST_IMM,  SEND_ONLY,     SEND_ONLY_IMM,
	WRITE_FIRST,  WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY,    WRITE_ONLY_IMM,
	READ_REQUEST, COMPARE_SWAP, FETCH_ADD,  SEND_LAST_INV,  SEND_ONLY_INV,
};

enum class kind { send, write, other };

kind kind_of(uint8_t opcode)
{
	if (opcode <= SEND_ONLY_IMM || opcode == SEND_LAST_INV || opcode == SEND_ONLY_INV)
		return kind::send;
	return opcode <= WRITE_ONLY_IMM ? kind::write : kind::other;
}

constexpr uint32_t short_length = 4;

/* A queue pair with receives and a region that SENDs may invalidate. */
class target {
public:
	target() : fast(q.dev.add_region(fast_options()))
	{
		fast.mr.state = SIRO_MR_VALID;
		for (int i = 0; i < 4; i++)
			q.post_recv(100 + i, {q.piece(4096 * i, 4096)});
	}

	/* A good packet; @total: bytes of the message if it begins one. */
	packet make(uint32_t n, uint8_t opcode, uint32_t total)
	{
		auto has = properties_of(opcode);
		uint32_t length = !has.payload              ? 0
				  : has.first || has.middle ? lone_qp::mtu
							    : short_length;
		packet p = rdma(lone_qp::psn(n), opcode, q.memory.mr.iova + 32768, q.memory.key(),
				has.only ? short_length : total, bytes(length));

		p.inv_key = fast.key();
		return p;
	}

	bool took(uint32_t count)
	{
		return siro_responder_psn(&q.responder) == lone_qp::psn(count) &&
		       siro_responder_state(&q.responder) == SIRO_QPS_RTS;
	}

	void expect_refused(uint32_t n)
	{
		auto sent = q.take_sent();

		ASSERT_FALSE(sent.empty());
		EXPECT_EQ(sent.back().opcode, unsigned{ACKNOWLEDGE});
		EXPECT_EQ(sent.back().syndrome, NAK_INVALID_REQUEST);
		EXPECT_EQ(sent.back().psn, lone_qp::psn(n));
		EXPECT_EQ(siro_responder_state(&q.responder), unsigned{SIRO_QPS_ERR});
	}

	lone_qp q;
	region &fast;

private:
	static region::options fast_options()
	{
		region::options o;

		o.fast = true;
		return o;
	}
};

void check_pair(uint8_t first, uint8_t later)
{
	auto a = properties_of(first), b = properties_of(later);
	bool goes_on = b.middle || b.last;
	bool legal = a.first ? goes_on && kind_of(first) == kind_of(later) : !goes_on;
	uint32_t total = lone_qp::mtu + (b.middle ? 2 * lone_qp::mtu : short_length);
	target t;

	t.q.hand(t.make(0, first, total));
	ASSERT_TRUE(t.took(1));
	t.fast.mr.state = SIRO_MR_VALID; /* if the first has invalidated it */
	t.q.hand(t.make(1, later, 2 * lone_qp::mtu));
	if (legal)
		EXPECT_TRUE(t.took(2));
	else
		t.expect_refused(1);
}

/* The message of which a packet of @opcode and @length bytes is a part. */
struct placed {
	std::vector<packet> before;
	packet p;
};

placed place(target &t, uint8_t opcode, uint32_t length)
{
	auto has = properties_of(opcode);
	placed out;

	out.p = t.make(0, opcode, 4096);
	out.p.payload = bytes(length);
	if (has.only)
		out.p.dma_length = length;
	if (has.middle || has.last) {
		uint8_t first = kind_of(opcode) == kind::send ? SEND_FIRST : WRITE_FIRST;
		/* A LAST of no bytes would be one: only its length is wrong. */
		uint32_t rest = has.middle ? 4096 : length ? length : 1;

		out.before.push_back(t.make(0, first, lone_qp::mtu + rest));
		out.p.psn = lone_qp::psn(1);
	}
	return out;
}

bool may_be_so_long(uint8_t opcode, uint32_t length)
{
	auto has = properties_of(opcode);

	if (has.first || has.middle)
		return length == lone_qp::mtu;
	return length <= lone_qp::mtu && (has.only || length);
}

} // namespace

TEST(responder_order, continuation_without_a_beginning__is_refused)
{
	for (uint8_t opcode : requests) {
		auto has = properties_of(opcode);

		if (!has.middle && !has.last)
			continue;

		target t;

		SCOPED_TRACE(opcode_name(opcode));
		t.q.hand(t.make(0, opcode, 0));
		t.expect_refused(0);
	}
}

TEST(responder_order, all_pairs_of_opcodes__only_the_same_message_goes_on)
{
	for (uint8_t first : requests) {
		auto has = properties_of(first);

		if (has.middle || has.last)
			continue;
		for (uint8_t later : requests) {
			SCOPED_TRACE(testing::Message()
				     << opcode_name(first) << " then " << opcode_name(later));
			check_pair(first, later);
		}
	}
}

/* H5 */
TEST(responder_length, all_opcodes__full_or_short_as_their_place_says)
{
	for (uint8_t opcode : requests) {
		if (!properties_of(opcode).payload)
			continue;
		for (uint32_t length : {0u, 1u, 4u, 252u, 255u, 256u, 257u, 260u, 512u}) {
			target t;
			placed m = place(t, opcode, length);
			auto count = static_cast<uint32_t>(m.before.size());

			SCOPED_TRACE(testing::Message() << opcode_name(opcode) << " " << length);
			if (count)
				t.q.hand(m.before);
			t.q.hand(m.p);
			if (may_be_so_long(opcode, length))
				EXPECT_TRUE(t.took(count + 1));
			else
				t.expect_refused(count);
		}
	}
}

TEST(responder_length, write_that_is_not_what_its_reth_says__is_refused)
{
	struct {
		uint8_t opcode;
		uint32_t length, said;
	} const first[] = {
		{WRITE_ONLY, 8, 7},    {WRITE_ONLY, 8, 9},      {WRITE_ONLY, 0, 1},
		{WRITE_ONLY, 8, 0},    {WRITE_FIRST, 256, 255}, {WRITE_FIRST, 256, 256},
		{WRITE_FIRST, 256, 0}, {WRITE_ONLY_IMM, 8, 7},
	};

	for (auto &f : first) {
		target t;
		packet p = t.make(0, f.opcode, 0);

		SCOPED_TRACE(testing::Message() << opcode_name(f.opcode) << " " << f.said);
		p.payload = bytes(f.length, 0xee);
		p.dma_length = f.said;
		t.q.memory.fill(0x11);
		t.q.hand(p);
		t.expect_refused(0);
		EXPECT_EQ(t.q.memory.read(32768, 512), bytes(512, 0x11));
	}
}

TEST(responder_length, write_that_goes_on_too_long_or_ends_too_soon__is_refused)
{
	struct {
		uint8_t opcode;
		uint32_t length, said;
	} const later[] = {
		{WRITE_MIDDLE, 256, 512}, /* nothing would be left for the last */
		{WRITE_MIDDLE, 256, 300}, {WRITE_LAST, 4, 261},     {WRITE_LAST, 4, 259},
		{WRITE_LAST, 256, 4096},  {WRITE_LAST_IMM, 4, 261},
	};

	for (auto &s : later) {
		target t;
		packet p = t.make(1, s.opcode, 0);

		SCOPED_TRACE(testing::Message() << opcode_name(s.opcode) << " " << s.said);
		p.payload = bytes(s.length, 0xee);
		t.q.memory.fill(0x11);
		t.q.hand(t.make(0, WRITE_FIRST, s.said));
		ASSERT_TRUE(t.took(1));
		t.q.hand(p);
		t.expect_refused(1);
		EXPECT_EQ(t.q.memory.read(32768 + 256, 512), bytes(512, 0x11));
	}
}

TEST(responder_length, message_above_2_gib__is_refused)
{
	for (uint8_t opcode : {WRITE_FIRST, READ_REQUEST})
		for (uint32_t length : {0x80000001u, 0xffffffffu}) {
			target t;
			packet p = t.make(0, opcode, length);

			p.dma_length = length;
			t.q.hand(p);
			t.expect_refused(0);
		}
}
