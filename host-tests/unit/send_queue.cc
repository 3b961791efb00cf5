// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "send_queue.h"
#include "lone_qp.h"

#include <cstring>
#include <functional>
#include <memory>

using namespace host;
using sirocco::SendEntry;
using sirocco::SendQueue;

namespace {

constexpr uint32_t max_sge = 4, max_inline = 64;
constexpr uint32_t stride = sizeof(siro_send_wqe) + max_inline;

/* A queue with its memory; its user writes through @ring. */
struct queue_memory {
	queue_memory(uint32_t slots, uint32_t limit, bool user, uint32_t type = SIRO_QPT_RC)
		: ring(slots, stride, limit),
		  shadow(new uint64_t[size_t{slots} * (stride + SIRO_SQ_EXTRA) / 8]()),
		  config(make_config(user, type)), queue(config)
	{
	}

	void post(const siro_send_wqe &wqe)
	{
		uint32_t &producer = ring.ring.header->producer;

		memcpy(ring.entry(producer), &wqe, sizeof(wqe));
		producer++;
	}

	ring_memory ring;
	std::unique_ptr<uint64_t[]> shadow;
	siro_requester_config config;
	SendQueue queue;

private:
	siro_requester_config make_config(bool user, uint32_t type)
	{
		siro_requester_config c = {};

		c.ring = ring.ring;
		c.shadow = shadow.get();
		c.type = type;
		c.max_sge = max_sge;
		c.max_inline = max_inline;
		c.user = user;
		return c;
	}
};

siro_send_wqe send(uint64_t wr_id)
{
	siro_send_wqe wqe = {};

	wqe.wr_id = wr_id;
	wqe.opcode = SIRO_WR_SEND;
	return wqe;
}

/* A mistake, and what it is. */
struct mistake {
	const char *what;
	std::function<void(siro_send_wqe &)> make;
};

const mistake mistakes[] = {
	{"opcode 8",
	 [](auto &w) {
		 w.opcode = 8;
	 }},
	{"opcode 15",
	 [](auto &w) {
		 w.opcode = 15;
	 }},
	{"opcode 255",
	 [](auto &w) {
		 w.opcode = 255;
	 }},
	{"unknown flag",
	 [](auto &w) {
		 w.flags = 0x10;
	 }},
	{"high flag",
	 [](auto &w) {
		 w.flags = 0x82;
	 }},
	{"one SGE too many",
	 [](auto &w) {
		 w.num_sge = max_sge + 1;
	 }},
	{"most SGEs",
	 [](auto &w) {
		 w.num_sge = 0xffff;
	 }},
	{"inline too long",
	 [](auto &w) {
		 w.flags = SIRO_SEND_INLINE;
		 w.inline_length = max_inline + 1;
	 }},
	{"inline of 4 GiB",
	 [](auto &w) {
		 w.flags = SIRO_SEND_INLINE;
		 w.inline_length = ~0u;
	 }},
	{"inline with SGEs",
	 [](auto &w) {
		 w.flags = SIRO_SEND_INLINE;
		 w.num_sge = 1;
	 }},
	{"inline READ",
	 [](auto &w) {
		 w.opcode = SIRO_WR_RDMA_READ;
		 w.flags = SIRO_SEND_INLINE;
	 }},
	{"inline atomic",
	 [](auto &w) {
		 w.opcode = SIRO_WR_ATOMIC_FETCH_AND_ADD;
		 w.flags = SIRO_SEND_INLINE;
	 }},
	{"LOCAL_INV with SGE",
	 [](auto &w) {
		 w.opcode = SIRO_WR_LOCAL_INV;
		 w.num_sge = 1;
	 }},
};

/* Kept for users or for the kernel, and this queue is the other's. */
bool is_others(unsigned opcode, bool user)
{
	if (user)
		return opcode == SIRO_WR_RDMA_READ_WITH_INV || opcode == SIRO_WR_REG_MR ||
		       opcode == SIRO_WR_REG_INDIR_MR || opcode == SIRO_WR_REG_MR_INTEGRITY;
	return opcode == SIRO_WR_MKEY_CONF;
}

} // namespace

TEST(send_queue, reserve__until_the_limit_and_again_after_retire)
{
	queue_memory m(4, 3, false);

	for (int i = 0; i < 3; i++) {
		siro_send_wqe *wqe = m.queue.reserve();

		ASSERT_NE(wqe, nullptr);
		*wqe = send(10 + i);
		ASSERT_TRUE(m.queue.commit());
	}
	EXPECT_EQ(m.queue.reserve(), nullptr);
	m.queue.start();
	EXPECT_TRUE(m.queue.has_started());
	EXPECT_EQ(m.queue.oldest().wqe.wr_id, 10u);
	m.queue.retire();
	EXPECT_EQ(m.ring.ring.header->consumer, 1u);
	EXPECT_EQ(m.queue.oldest().wqe.wr_id, 11u);
	EXPECT_NE(m.queue.reserve(), nullptr);
}

TEST(send_queue, reserve__not_committed_is_not_posted)
{
	queue_memory m(4, 4, false);

	*m.queue.reserve() = send(1);
	EXPECT_EQ(m.queue.posted(), 0u);
	*m.queue.reserve() = send(2);
	ASSERT_TRUE(m.queue.commit());
	EXPECT_EQ(m.queue.posted(), 1u);
	EXPECT_EQ(m.queue.oldest().wqe.wr_id, 2u);
}

TEST(send_queue, reserve__zeroes_what_an_older_entry_left)
{
	queue_memory m(1, 1, false);
	siro_send_wqe zero = {};

	*m.queue.reserve() = send(1);
	ASSERT_TRUE(m.queue.commit());
	m.queue.oldest().received = 5;
	m.queue.retire();

	siro_send_wqe *wqe = m.queue.reserve();

	ASSERT_NE(wqe, nullptr);
	EXPECT_EQ(memcmp(wqe, &zero, sizeof(zero)), 0);
	EXPECT_EQ(m.queue.entry(1).received, 0u);
}

TEST(send_queue, retire__of_an_entry_that_was_not_started_starts_none)
{
	queue_memory m(4, 4, true);

	m.post(send(1));
	m.post(send(2));
	m.queue.fetch();
	m.queue.retire();
	EXPECT_EQ(m.queue.started(), 1u);
	EXPECT_FALSE(m.queue.has_started());
	EXPECT_FALSE(m.queue.is_empty());
}

/* H13 */
TEST(send_queue, commit__refuses_each_mistake_and_keeps_the_slot)
{
	for (auto &m : mistakes) {
		queue_memory q(4, 4, false);
		siro_send_wqe *wqe = q.queue.reserve();

		*wqe = send(1);
		m.make(*wqe);
		EXPECT_FALSE(q.queue.commit()) << m.what;
		EXPECT_EQ(q.queue.posted(), 0u) << m.what;
		*q.queue.reserve() = send(2);
		EXPECT_TRUE(q.queue.commit()) << m.what;
	}
}

/* H14 */
TEST(send_queue, fetch__marks_each_mistake)
{
	for (auto &m : mistakes) {
		queue_memory q(4, 4, true);
		siro_send_wqe bad = send(1);

		m.make(bad);
		q.post(bad);
		q.post(send(2));
		q.queue.fetch();
		ASSERT_EQ(q.queue.posted(), 2u);
		EXPECT_EQ(q.queue.entry(0).status, unsigned{SIRO_WC_LOC_QP_OP_ERR}) << m.what;
		EXPECT_EQ(q.queue.entry(0).wqe.wr_id, 1u) << m.what;
		EXPECT_EQ(q.queue.entry(1).status, 0u) << m.what;
	}
}

TEST(send_queue, fetch__the_largest_legal_entries_are_good)
{
	queue_memory m(4, 4, true);
	siro_send_wqe most_sges = send(1), most_inline = send(2), all_flags = send(3);

	most_sges.num_sge = max_sge;
	most_inline.flags = SIRO_SEND_INLINE;
	most_inline.inline_length = max_inline;
	all_flags.flags = SIRO_SEND_FENCE | SIRO_SEND_SIGNALED | SIRO_SEND_SOLICITED;
	for (auto &w : {most_sges, most_inline, all_flags})
		m.post(w);
	m.queue.fetch();
	for (uint32_t i = 0; i < 3; i++)
		EXPECT_EQ(m.queue.entry(i).status, 0u) << i;
}

/* H14 */
TEST(send_queue, every_opcode__is_known_to_its_kind_of_queue_or_marked)
{
	for (bool user : {true, false})
		for (uint32_t type : {SIRO_QPT_RC, SIRO_QPT_UD, SIRO_QPT_GSI})
			for (unsigned op = 0; op < 256; op++) {
				bool rc = type == SIRO_QPT_RC;
				bool want = rc ? !is_unknown_opcode(op) && !is_others(op, user)
					       : op == SIRO_WR_SEND || op == SIRO_WR_SEND_WITH_IMM;
				queue_memory m(2, 2, user, type);
				siro_send_wqe wqe = send(1);

				wqe.opcode = static_cast<uint8_t>(op);
				if (user) {
					m.post(wqe);
					m.queue.fetch();
					ASSERT_EQ(!m.queue.entry(0).status, want) << type << op;
				} else {
					*m.queue.reserve() = wqe;
					ASSERT_EQ(m.queue.commit(), want) << type << op;
				}
			}
}

/* H10: wherever no honest producer can be, nothing is taken. */
TEST(send_queue, fetch__hostile_producer_index_takes_nothing)
{
	for (uint32_t base : {0u, 5u, 0xfffffffeu})
		for (uint32_t jump : {9u, 0x7fffffffu, 0x80000000u, 0xfffffff0u, 0xffffffffu}) {
			queue_memory m(8, 8, true);

			m.ring.ring.header->producer = base;
			m.queue.clear();
			m.ring.ring.header->producer = base + jump;
			m.queue.fetch();
			EXPECT_TRUE(m.queue.is_empty()) << base << " + " << jump;
			EXPECT_EQ(m.queue.posted(), base);
		}
}

/* H10: also with entries that were taken before. */
TEST(send_queue, fetch__producer_that_goes_back_takes_nothing_away)
{
	queue_memory m(8, 8, true);

	for (int i = 0; i < 5; i++)
		m.post(send(i));
	m.queue.fetch();
	for (uint32_t producer : {4u, 0u, 0xffffffffu, 9u}) {
		m.ring.ring.header->producer = producer;
		m.queue.fetch();
		EXPECT_EQ(m.queue.posted(), 5u) << producer;
	}
	m.ring.ring.header->producer = 8;
	m.queue.fetch();
	EXPECT_EQ(m.queue.posted(), 8u);
}

/* H10 */
TEST(send_queue, indices__wrap_at_32_bits)
{
	queue_memory m(4, 4, true);

	m.ring.ring.header->producer = 0xfffffffe;
	m.queue.clear();
	EXPECT_EQ(m.ring.ring.header->consumer, 0xfffffffeu);
	for (uint64_t id = 0; id < 4; id++)
		m.post(send(id));
	m.queue.fetch();
	for (uint64_t id = 0; id < 4; id++) {
		ASSERT_FALSE(m.queue.is_empty());
		EXPECT_EQ(m.queue.oldest().wqe.wr_id, id);
		m.queue.start();
		m.queue.retire();
	}
	EXPECT_TRUE(m.queue.is_empty());
	EXPECT_EQ(m.ring.ring.header->consumer, 2u);
}

/* H9: what the user writes after the copy is never seen. */
TEST(send_queue, fetch__keeps_a_private_copy)
{
	queue_memory m(4, 4, true);
	siro_send_wqe wqe = send(1);
	siro_sge sge = {0x1000, 8, 0x77}, other = {0x2000, 9, 0x78};

	wqe.num_sge = 1;
	memcpy(m.ring.entry(0) + sizeof(wqe), &sge, sizeof(sge));
	m.post(wqe);
	m.queue.fetch();
	wqe.num_sge = 0xffff;
	memcpy(m.ring.entry(0), &wqe, sizeof(wqe));
	memcpy(m.ring.entry(0) + sizeof(wqe), &other, sizeof(other));

	SendEntry &e = m.queue.oldest();

	EXPECT_EQ(e.wqe.num_sge, 1u);
	EXPECT_EQ(memcmp(e.sges(), &sge, sizeof(sge)), 0);
}

TEST(send_queue, fetch__takes_a_bounded_number_at_once)
{
	queue_memory m(1024, 1024, true);
	uint32_t calls = 0;

	for (int i = 0; i < 1024; i++)
		m.post(send(i));
	for (uint32_t before = 0; m.queue.posted() != 1024; before = m.queue.posted()) {
		m.queue.fetch();
		ASSERT_GT(m.queue.posted(), before);
		ASSERT_LE(m.queue.posted() - before, 256u);
		calls++;
	}
	EXPECT_GE(calls, 4u);
}

TEST(send_queue, clear__forgets_what_the_user_has_stored_too)
{
	queue_memory m(8, 8, true);

	for (int i = 0; i < 5; i++)
		m.post(send(i));
	m.queue.fetch();
	m.queue.start();
	m.post(send(9));
	m.queue.clear();
	EXPECT_TRUE(m.queue.is_empty());
	EXPECT_FALSE(m.queue.has_started());
	EXPECT_EQ(m.ring.ring.header->consumer, 6u);
	m.queue.fetch();
	EXPECT_TRUE(m.queue.is_empty());
}
