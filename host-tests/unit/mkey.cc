// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Configuration of mkeys by work requests and by a call. */
#include "mkey.h"

#include "lone_qp.h"
#include "pieces.h"

#include <cstring>

using namespace host;

namespace {

constexpr int einval = -22;
constexpr uint32_t room = 32; /* entries of a test's mkey */

using piece_entries = std::vector<siro_mkey_piece>;
using sge_entries = std::vector<siro_sge>;

template <typename Entry>
bytes raw(const std::vector<Entry> &entries)
{
	bytes out(entries.size() * sizeof(Entry));

	if (!out.empty())
		memcpy(out.data(), entries.data(), out.size());
	return out;
}

region &add_mkey(lone_qp &q, uint32_t entries = room, bool remote_invalidate = true,
		 uint32_t pd = 1)
{
	region::options o;

	o.mkey_entries = entries;
	o.remote_invalidate = remote_invalidate;
	o.pd = pd;
	return q.dev.add_region(o);
}

send_wr configure(uint64_t wr_id, const region &mkey, uint32_t set)
{
	send_wr wr;

	wr.wqe.wr_id = wr_id;
	wr.wqe.opcode = SIRO_WR_MKEY_CONF;
	wr.wqe.flags = SIRO_SEND_SIGNALED;
	wr.wqe.rkey = mkey.key();
	wr.wqe.mkey.set = set;
	if (set & SIRO_MKEY_ACCESS)
		wr.wqe.mkey.access = SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE |
				     SIRO_ACCESS_REMOTE_READ | SIRO_ACCESS_REMOTE_ATOMIC;
	return wr;
}

send_wr list_of(const region &mkey, const sge_entries &entries, uint32_t set = SIRO_MKEY_ACCESS)
{
	send_wr wr = configure(1, mkey, set | SIRO_MKEY_LIST);

	wr.wqe.mkey.count = static_cast<uint32_t>(entries.size());
	wr.inline_data = raw(entries);
	return wr;
}

send_wr rows_of(const region &mkey, const piece_entries &entries, uint32_t repeat)
{
	send_wr wr = configure(1, mkey, SIRO_MKEY_ACCESS | SIRO_MKEY_INTERLEAVED);

	wr.wqe.mkey.count = static_cast<uint32_t>(entries.size());
	wr.wqe.mkey.repeat = repeat;
	wr.inline_data = raw(entries);
	return wr;
}

/* The entries move into registered memory. */
send_wr by_table(send_wr wr, region &memory, uint64_t offset)
{
	memory.write(offset, wr.inline_data);
	wr.inline_data.clear();
	wr.wqe.mkey.set |= SIRO_MKEY_TABLE;
	wr.wqe.mkey.table = memory.mr.iova + offset;
	wr.wqe.imm = memory.key();
	return wr;
}

ends post_one(lone_qp &q, const send_wr &wr)
{
	q.post({wr});
	return ends_of(q.send_completions());
}

void expect_done(lone_qp &q, const send_wr &wr)
{
	EXPECT_EQ(post_one(q, wr), (ends{{1, SIRO_WC_SUCCESS}}));
}

/* What a SEND of the bytes behind a key carries; it is acknowledged. */
bytes sent_from(lone_qp &q, uint64_t va, uint32_t length, uint32_t key)
{
	bytes out;

	q.post({make_send(2, {{va, length, key}}, 0)});
	for (auto &p : q.take_sent()) {
		out.insert(out.end(), p.payload.begin(), p.payload.end());
		q.hand(acknowledge(p.psn));
	}
	return out;
}

bytes join(const std::vector<bytes> &parts)
{
	bytes out;

	for (auto &part : parts)
		out.insert(out.end(), part.begin(), part.end());
	return out;
}

/* A WQE with room for @entries of them. */
endpoint::options wide(uint32_t entries = 8)
{
	auto o = lone_qp::rc_user();

	o.max_inline = entries * static_cast<uint32_t>(sizeof(siro_mkey_piece));
	return o;
}

} // namespace

TEST(mkey_configure, list__is_the_concatenation)
{
	lone_qp q;
	region &mkey = add_mkey(q);

	expect_done(
		q, list_of(mkey, {q.piece(70, 30), q.piece(3, 0), q.piece(1, 7), q.piece(999, 1)}));
	EXPECT_EQ(mkey.mr.iova, 0u);
	EXPECT_EQ(mkey.mr.length, 38u);
	EXPECT_EQ(sent_from(q, 0, 38, mkey.key()),
		  join({q.memory.read(70, 30), q.memory.read(1, 7), q.memory.read(999, 1)}));
	EXPECT_EQ(sent_from(q, 29, 2, mkey.key()),
		  join({q.memory.read(99, 1), q.memory.read(1, 1)}));
}

TEST(mkey_configure, interleaved__takes_pieces_of_each_row)
{
	lone_qp q(wide());
	region &mkey = add_mkey(q);
	uint64_t a = q.memory.mr.iova, b = a + 1000;
	uint32_t key = q.memory.key();
	std::vector<bytes> want;

	expect_done(q, rows_of(mkey, {{a, 8, 2, key, 0}, {b, 8, 2, key, 0}}, 3));
	for (uint64_t row = 0; row < 3; row++) {
		want.push_back(q.memory.read(10 * row, 8));
		want.push_back(q.memory.read(1000 + 10 * row, 8));
	}
	EXPECT_EQ(mkey.mr.length, 48u);
	EXPECT_EQ(sent_from(q, 0, 48, mkey.key()), join(want));
	EXPECT_EQ(sent_from(q, 15, 18, mkey.key()), [&] {
		bytes all = join(want);
		return bytes(all.begin() + 15, all.begin() + 33);
	}());
}

TEST(mkey_configure, properties_that_are_not_set__keep_their_values)
{
	lone_qp q;
	region &mkey = add_mkey(q);

	expect_done(q, list_of(mkey, {q.piece(5, 20)}));

	send_wr iova = configure(1, mkey, SIRO_MKEY_IOVA);

	iova.wqe.mkey.iova = 0xfff0;
	expect_done(q, iova);
	EXPECT_EQ(mkey.mr.length, 20u);
	EXPECT_EQ(sent_from(q, 0xfff0, 20, mkey.key()), q.memory.read(5, 20));

	send_wr access = configure(1, mkey, SIRO_MKEY_ACCESS);

	access.wqe.mkey.access = SIRO_ACCESS_REMOTE_READ;
	expect_done(q, access);
	EXPECT_EQ(mkey.mr.access, unsigned{SIRO_ACCESS_REMOTE_READ});
	EXPECT_EQ(mkey.mr.iova, 0xfff0u);
	EXPECT_EQ(sent_from(q, 0xfff0, 20, mkey.key()), q.memory.read(5, 20));

	expect_done(q, configure(1, mkey, 0));
	EXPECT_EQ(mkey.mr.iova, 0xfff0u);
	EXPECT_EQ(mkey.mr.access, unsigned{SIRO_ACCESS_REMOTE_READ});

	expect_done(q, list_of(mkey, {q.piece(9, 4)}, 0));
	EXPECT_EQ(mkey.mr.iova, 0u);
	EXPECT_EQ(mkey.mr.access, unsigned{SIRO_ACCESS_REMOTE_READ});
}

TEST(mkey_configure, iova__is_any_that_does_not_wrap)
{
	for (uint64_t iova :
	     {uint64_t{0}, uint64_t{4096}, uint64_t{0xfffffffffffff000}, uint64_t{1}}) {
		lone_qp q;
		region &mkey = add_mkey(q);
		send_wr wr = list_of(mkey, {q.piece(1, 1000)}, SIRO_MKEY_IOVA);

		wr.wqe.mkey.iova = iova;
		expect_done(q, wr);
		EXPECT_EQ(sent_from(q, iova + 999, 1, mkey.key()), q.memory.read(1000, 1));
	}

	lone_qp q;
	region &mkey = add_mkey(q);
	send_wr wr = list_of(mkey, {q.piece(1, 1000)}, SIRO_MKEY_IOVA);

	wr.wqe.mkey.iova = ~uint64_t{0} - 998;
	EXPECT_EQ(post_one(q, wr), (ends{{1, SIRO_WC_MW_BIND_ERR}}));
}

/* Tables are read 16 entries at a time. */
TEST(mkey_configure, table__is_read_to_its_end)
{
	for (uint32_t count : {1u, 15u, 16u, 17u, 33u, uint32_t{SIRO_MKEY_MAX_ENTRIES}}) {
		lone_qp q;
		region &mkey = add_mkey(q, SIRO_MKEY_MAX_ENTRIES);
		region::options o;

		o.length = count * sizeof(siro_mkey_piece) + 3;
		o.access = 0;
		o.first_offset = 4093; /* entries across pages */

		region &table = q.dev.add_region(o);
		sge_entries list;
		piece_entries rows;

		for (uint32_t i = 0; i < count; i++) {
			siro_sge e = q.piece(i * 7 % 6000, 1 + i % 3);

			list.push_back(e);
			rows.push_back({e.addr, e.length, i % 5, e.lkey, 0});
		}
		expect_done(q, by_table(list_of(mkey, list), table, 1));
		ASSERT_EQ(mkey.mr.extents.count, count);
		for (uint32_t i = 0; i < count; i++) {
			ASSERT_EQ(mkey.live[i].address, list[i].addr);
			ASSERT_EQ(mkey.live[i].lkey, list[i].lkey);
		}
		expect_done(q, by_table(rows_of(mkey, rows, 9), table, 3));
		ASSERT_EQ(mkey.mr.extents.count, count);
		ASSERT_EQ(mkey.mr.extents.repeat, 9u);
		for (uint32_t i = 0; i < count; i++) {
			ASSERT_EQ(mkey.live[i].address, rows[i].addr);
			ASSERT_EQ(mkey.live[i].skip, rows[i].skip);
		}
		ASSERT_EQ(table.mr.users, 0u);
	}
}

/* A table behind another mkey, even one that is being replaced. */
TEST(mkey_configure, table_behind_an_mkey__is_read_through_it)
{
	lone_qp q;
	region &pages = add_mkey(q), &mkey = add_mkey(q);

	expect_done(q, list_of(pages, {q.piece(40000, 5), q.piece(50000, 100)}));

	bytes entries = raw(sge_entries{q.piece(7, 9), q.piece(100, 3)});

	q.memory.write(40000, bytes(entries.begin(), entries.begin() + 5));
	q.memory.write(50000, bytes(entries.begin() + 5, entries.end()));

	send_wr wr = configure(1, mkey, SIRO_MKEY_LIST | SIRO_MKEY_TABLE);

	wr.wqe.mkey.count = 2;
	wr.wqe.imm = pages.key();
	expect_done(q, wr);
	EXPECT_EQ(sent_from(q, 0, 12, mkey.key()),
		  join({q.memory.read(7, 9), q.memory.read(100, 3)}));
}

namespace {

/* One thing wrong with a configuration that is else good. */
struct fault {
	const char *what;
	unsigned status;
	std::function<void(lone_qp &, region &, send_wr &)> spoil;
};

siro_mkey_conf &conf(send_wr &wr)
{
	return wr.wqe.mkey;
}

siro_sge &entry(send_wr &wr)
{
	return *reinterpret_cast<siro_sge *>(wr.inline_data.data());
}

const fault list_faults[] = {
	{"unknown bit", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).set |= SIRO_MKEY_MASK + 1;
	 }},
	{"both layouts", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).set |= SIRO_MKEY_INTERLEAVED;
	 }},
	{"count without a layout", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).set = SIRO_MKEY_ACCESS;
	 }},
	{"table without a layout", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).set = SIRO_MKEY_ACCESS | SIRO_MKEY_TABLE;
		 conf(wr).count = 0;
	 }},
	{"repeat of a list", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).repeat = 1;
	 }},
	{"rights without the bit", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).set &= ~unsigned{SIRO_MKEY_ACCESS};
	 }},
	{"iova without the bit", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).iova = 1;
	 }},
	{"unknown right", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).access |= 0x10;
	 }},
	{"remote write without local", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).access = SIRO_ACCESS_REMOTE_WRITE;
	 }},
	{"remote atomic without local write", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).access = SIRO_ACCESS_REMOTE_ATOMIC;
	 }},
	{"SGEs", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 wr.wqe.num_sge = 1;
	 }},
	{"unknown flag", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 wr.wqe.flags |= 0x10;
	 }},
	{"more than the WQE holds", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &q, auto &, auto &wr) {
		 conf(wr).count =
			 (q.sq.ring.stride - static_cast<uint32_t>(sizeof(siro_send_wqe))) /
				 static_cast<uint32_t>(sizeof(siro_sge)) +
			 1;
	 }},
	{"more than any mkey holds", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).set |= SIRO_MKEY_TABLE;
		 conf(wr).count = SIRO_MKEY_MAX_ENTRIES + 1;
	 }},
	{"count whose bytes wrap", SIRO_WC_LOC_QP_OP_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).count = 1u << 28;
	 }},
	{"no entries", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).count = 0;
	 }},
	{"no bytes", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 entry(wr).length = 0;
	 }},
	{"address that wraps", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 entry(wr).addr = ~uint64_t{0} - 7;
	 }},
	{"no such key", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 wr.wqe.rkey = 0x99900;
	 }},
	{"another low byte", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 wr.wqe.rkey ^= 1;
	 }},
	{"not an mkey", SIRO_WC_MW_BIND_ERR,
	 [](auto &q, auto &, auto &wr) {
		 wr.wqe.rkey = q.memory.key();
	 }},
	{"mkey of another PD", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &mkey, auto &) {
		 mkey.mr.pd = 2;
	 }},
	{"more than the mkey holds", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &mkey, auto &) {
		 mkey.staged.capacity = 0;
	 }},
};

const fault table_faults[] = {
	{"table of an unknown key", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 wr.wqe.imm = 0x99900;
	 }},
	{"table past the end", SIRO_WC_MW_BIND_ERR,
	 [](auto &q, auto &, auto &wr) {
		 conf(wr).table = q.memory.mr.iova + q.memory.length() - 15;
	 }},
	{"table before the start", SIRO_WC_MW_BIND_ERR,
	 [](auto &q, auto &, auto &wr) {
		 conf(wr).table = q.memory.mr.iova - 1;
	 }},
	{"table that wraps", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).table = ~uint64_t{0} - 3;
	 }},
	{"table behind the mkey itself", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &mkey, auto &wr) {
		 wr.wqe.imm = mkey.key();
		 conf(wr).table = 0;
		 mkey.invalidate();
	 }},
};

const fault row_faults[] = {
	{"no rows", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 conf(wr).repeat = 0;
	 }},
	{"rows that wrap", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 entry(wr).addr = ~uint64_t{0} - 100000;
		 conf(wr).repeat = 100000;
	 }},
	{"reserved field", SIRO_WC_MW_BIND_ERR,
	 [](auto &, auto &, auto &wr) {
		 wr.inline_data[sizeof(siro_mkey_piece) - 4] = 1;
	 }},
};

/* The old configuration stays. */
void expect_fault(lone_qp &q, const fault &f, send_wr (*make)(lone_qp &, region &))
{
	region &mkey = add_mkey(q);

	SCOPED_TRACE(f.what);
	expect_done(q, list_of(mkey, {q.piece(30000, 20)}));

	send_wr wr = make(q, mkey);

	f.spoil(q, mkey, wr);

	siro_mr before = mkey.mr;

	EXPECT_EQ(post_one(q, wr), (ends{{1, f.status}}));
	EXPECT_EQ(siro_requester_state(&q.requester), unsigned{SIRO_QPS_ERR});
	EXPECT_EQ(mkey.mr.length, before.length);
	EXPECT_EQ(mkey.mr.access, before.access);
	EXPECT_EQ(mkey.mr.extents.extents, before.extents.extents);
	EXPECT_EQ(mkey.live[0].address, q.piece(30000, 0).addr);
	EXPECT_EQ(q.memory.mr.users, 0u);
}

send_wr good_list(lone_qp &q, region &mkey)
{
	return list_of(mkey, {q.piece(0, 8)});
}

send_wr good_table(lone_qp &q, region &mkey)
{
	return by_table(good_list(q, mkey), q.memory, 60000);
}

send_wr good_rows(lone_qp &q, region &mkey)
{
	return rows_of(mkey, {{q.memory.mr.iova, 8, 8, q.memory.key(), 0}}, 3);
}

} // namespace

TEST(mkey_configure, each_fault_of_a_list__is_an_error)
{
	for (auto &f : list_faults) {
		lone_qp q;

		expect_fault(q, f, good_list);
	}
}

TEST(mkey_configure, each_fault_of_a_table__is_an_error)
{
	for (auto &f : table_faults) {
		lone_qp q;

		expect_fault(q, f, good_table);
	}
}

TEST(mkey_configure, each_fault_of_rows__is_an_error)
{
	for (auto &f : row_faults) {
		lone_qp q;

		expect_fault(q, f, good_rows);
	}
}

TEST(mkey_configure, inline_flag__says_nothing)
{
	lone_qp q;
	region &mkey = add_mkey(q);
	send_wr wr = list_of(mkey, {q.piece(5, 20)});

	wr.wqe.flags |= SIRO_SEND_INLINE;
	expect_done(q, wr);
	EXPECT_EQ(sent_from(q, 0, 20, mkey.key()), q.memory.read(5, 20));
}

TEST(mkey_configure, kernel_queue_pair__is_refused)
{
	lone_qp q(lone_qp::rc_kernel());

	EXPECT_EQ(q.post_send_kernel(list_of(add_mkey(q), {q.piece(0, 8)})), einval);
}

/* What was sent under the old list must be sent again from it. */
TEST(mkey_configure, requests_outstanding__are_waited_for)
{
	lone_qp q;
	region &mkey = add_mkey(q);

	expect_done(q, list_of(mkey, {q.piece(5, 20)}));
	q.post({make_send(7, {{0, 20, mkey.key()}}), list_of(mkey, {q.piece(50, 20)})});
	EXPECT_TRUE(q.send_completions().empty());
	EXPECT_EQ(mkey.live[0].address, q.piece(5, 0).addr);
	q.hand(acknowledge(lone_qp::psn(0)));
	EXPECT_EQ(ends_of(q.send_completions()),
		  (ends{{7, SIRO_WC_SUCCESS}, {1, SIRO_WC_SUCCESS}}));
	EXPECT_EQ(mkey.live[0].address, q.piece(50, 0).addr);
}

TEST(mkey_invalidate, by_either_side__ends_access)
{
	for (bool remote : {false, true}) {
		lone_qp q;
		region &mkey = add_mkey(q);
		send_wr inv = make_send(1, {});
		packet send = request(lone_qp::psn(0), SEND_ONLY_INV, {}, true);

		expect_done(q, list_of(mkey, {q.piece(5, 20)}));
		inv.wqe.opcode = SIRO_WR_LOCAL_INV;
		inv.wqe.imm = mkey.key();
		send.inv_key = mkey.key();
		if (remote) {
			q.post_recv(9, {});
			q.hand(send);
			EXPECT_EQ(ends_of(q.recv_completions()), (ends{{9, SIRO_WC_SUCCESS}}));
		} else {
			expect_done(q, inv);
		}
		q.take_sent();
		EXPECT_EQ(mkey.mr.state, unsigned{SIRO_MR_FREE});
		q.hand(rdma(lone_qp::psn(remote), READ_REQUEST, 0, mkey.key(), 8));
		expect_reply(q, NAK_REMOTE_ACCESS, lone_qp::psn(remote));
		EXPECT_EQ(q.memory.mr.state, unsigned{SIRO_MR_VALID});
	}
}

TEST(mkey_invalidate, by_a_peer_that_may_not__is_a_remote_access_error)
{
	lone_qp q;
	region &mkey = add_mkey(q, room, false);
	packet send = request(lone_qp::psn(0), SEND_ONLY_INV, {}, true);

	expect_done(q, list_of(mkey, {q.piece(5, 20)}));
	send.inv_key = mkey.key();
	q.post_recv(9, {});
	q.hand(send);
	expect_reply(q, NAK_REMOTE_ACCESS, lone_qp::psn(0));
	EXPECT_EQ(mkey.mr.state, unsigned{SIRO_MR_VALID});
}

TEST(mkey_stage, layouts__become_lists)
{
	siro_mkey_conf c = {};
	piece_entries rows = {{0x1000, 8, 2, 5, 0}, {0x2000, 8, 2, 6, 0}};
	sge_entries list = {{0x1000, 7, 5}, {0x3000, 0, 5}, {0x2000, 3, 6}};
	piece_list staged(3);

	c.set = SIRO_MKEY_INTERLEAVED;
	c.count = 2;
	c.repeat = 3;
	EXPECT_EQ(siro_mkey_stage(&staged.list, &c, nullptr, rows.data()), 0);
	EXPECT_EQ(staged.list.row_length * staged.list.repeat, 48u);
	siro_extents_reset(&staged.list, 0);
	c.set = SIRO_MKEY_LIST;
	c.count = 3;
	c.repeat = 0;
	EXPECT_EQ(siro_mkey_stage(&staged.list, &c, nullptr, list.data()), 0);
	EXPECT_EQ(staged.list.row_length, 10u);
	EXPECT_EQ(staged.list.count, 2u);
}

TEST(mkey_stage, bad_configuration__is_refused)
{
	siro_mkey_conf c = {};
	sge_entries list = {{0x1000, 7, 5}, {0x2000, 3, 6}};
	piece_list staged(1);

	EXPECT_EQ(siro_mkey_stage(&staged.list, &c, nullptr, nullptr), 0);
	c.set = SIRO_MKEY_LIST;
	EXPECT_EQ(siro_mkey_stage(&staged.list, &c, nullptr, nullptr), einval);
	c.count = 2;
	EXPECT_EQ(siro_mkey_stage(&staged.list, &c, nullptr, list.data()), einval);
	siro_extents_reset(&staged.list, 0);
	c.count = 1;
	c.set |= SIRO_MKEY_TABLE;
	EXPECT_EQ(siro_mkey_stage(&staged.list, &c, nullptr, list.data()), einval);
	c.set = SIRO_MKEY_LIST | SIRO_MKEY_INTERLEAVED;
	EXPECT_EQ(siro_mkey_stage(&staged.list, &c, nullptr, list.data()), einval);
}
