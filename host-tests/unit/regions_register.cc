// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* REG_INDIR_MR: who owns the poster's list, and when. */
#include "lone_qp.h"

using namespace host;

namespace {

class register_list : public testing::Test {
protected:
	lone_qp q{lone_qp::rc_kernel()};
	region &list = add_list();
	int lists_before = indirect_list::alive;

	region &add_list()
	{
		region::options o;

		o.indirect = true;
		return q.dev.add_region(o);
	}

	send_wr registration(uint64_t wr_id, uint32_t key, uint8_t flags = SIRO_SEND_SIGNALED)
	{
		send_wr wr;

		wr.wqe.wr_id = wr_id;
		wr.wqe.opcode = SIRO_WR_REG_INDIR_MR;
		wr.wqe.flags = flags;
		wr.wqe.reg.mr = reinterpret_cast<uintptr_t>(
			new indirect_list({q.piece(70, 30), q.piece(1, 7)}));
		wr.wqe.reg.iova = 0x777;
		wr.wqe.reg.length = 37;
		wr.wqe.reg.key = key;
		wr.wqe.reg.access = SIRO_ACCESS_REMOTE_READ;
		return wr;
	}

	int lists_kept() const
	{
		return indirect_list::alive - lists_before;
	}
};

} // namespace

TEST_F(register_list, signaled__completes_and_is_reached_at_once)
{
	uint32_t key = device::next_key(list.key());

	q.post({registration(3, key), make_send(4, {{0x777, 37, key}})});

	auto completed = q.send_completions();

	ASSERT_EQ(ends_of(completed), (ends{{3, SIRO_WC_SUCCESS}}));
	EXPECT_EQ(completed[0].opcode, SIRO_WC_REG_INDIR_MR);

	bytes want = q.memory.read(70, 30), rest = q.memory.read(1, 7);

	want.insert(want.end(), rest.begin(), rest.end());
	EXPECT_EQ(q.take_sent()[0].payload, want);
	EXPECT_EQ(lists_kept(), 0);
}

TEST_F(register_list, unsignaled__leaves_no_completion_and_no_list)
{
	q.post({registration(3, list.key(), 0)});
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(list.mr.state, unsigned{SIRO_MR_VALID});
	EXPECT_EQ(lists_kept(), 0);
}

TEST_F(register_list, twice__is_a_memory_management_error)
{
	q.post({registration(3, list.key()), registration(4, list.key()),
		registration(5, list.key())});
	EXPECT_EQ(
		ends_of(q.send_completions()),
		(ends{{3, SIRO_WC_SUCCESS}, {4, SIRO_WC_MW_BIND_ERR}, {5, SIRO_WC_WR_FLUSH_ERR}}));
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_ERR});
	EXPECT_EQ(lists_kept(), 0);
}

TEST_F(register_list, flushed__gives_the_list_back)
{
	q.modify(SIRO_QPS_ERR);
	q.post({registration(3, list.key()), registration(4, list.key(), 0)});
	EXPECT_EQ(ends_of(q.send_completions()),
		  (ends{{3, SIRO_WC_WR_FLUSH_ERR}, {4, SIRO_WC_WR_FLUSH_ERR}}));
	EXPECT_EQ(list.mr.state, unsigned{SIRO_MR_FREE});
	EXPECT_EQ(lists_kept(), 0);
}

/* Behind a request with a fence that waits for its response. */
TEST_F(register_list, never_executed__is_given_back_by_reset_and_discard)
{
	for (bool reset : {true, false}) {
		lone_qp other(lone_qp::rc_kernel());
		send_wr read = make_rdma(SIRO_WR_RDMA_READ, 1, {other.piece(0, 8)}, 0x1000, 1);
		send_wr wr = registration(3, list.key());

		wr.wqe.flags |= SIRO_SEND_FENCE;
		other.post({read, wr});
		EXPECT_EQ(lists_kept(), 1);
		if (reset)
			other.modify(SIRO_QPS_RESET);
		else
			siro_requester_discard(&other.requester, &other);
		EXPECT_EQ(lists_kept(), 0);
		EXPECT_TRUE(other.send_completions().empty());
	}
}
