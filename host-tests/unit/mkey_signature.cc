// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signatures of mkeys, as work requests configure them. */
#include "mkey_signer.h"

using namespace host;
using signature_model::join;
using signature_model::make_content;

namespace {

constexpr uint32_t data_bytes = mkey_signer::interval * mkey_signer::blocks;

siro_sig_domain domain(uint16_t format)
{
	siro_sig_domain d = {};

	d.format = format;
	d.interval = mkey_signer::interval;
	d.app_mask = 0xffff;
	return d;
}

bytes stream(uint16_t format, const bytes &data)
{
	return join(domain(format), make_content(domain(format), data));
}

constexpr uint16_t formats[] = {SIRO_SIG_T10_CRC, SIRO_SIG_T10_CSUM, SIRO_SIG_CRC32,
				SIRO_SIG_CRC32C, SIRO_SIG_CRC64};

} // namespace

TEST(mkey_signature, on_the_wire__is_inserted)
{
	for (uint16_t format : formats) {
		mkey_signer s;
		siro_mkey_sig sig = mkey_signer::on_wire(format);

		EXPECT_EQ(s.execute(s.configuration(
				  &sig, {s.q.piece(500, 30), s.q.piece(7, data_bytes - 30)})),
			  SIRO_WC_SUCCESS);
		EXPECT_EQ(s.mkey.mr.layout, unsigned{SIRO_MR_SIGNATURE});

		bytes data = s.q.memory.read(500, 30), rest = s.q.memory.read(7, data_bytes - 30);

		data.insert(data.end(), rest.begin(), rest.end());
		EXPECT_EQ(s.sent(), stream(format, data));
	}
}

TEST(mkey_signature, in_memory__is_checked_and_stripped)
{
	for (uint16_t format : formats) {
		mkey_signer s;
		siro_mkey_sig sig = mkey_signer::in_memory(format);
		bytes data = s.q.memory.read(9000, data_bytes), all = stream(format, data);

		s.q.memory.write(100, all);
		EXPECT_EQ(s.execute(s.configuration(
				  &sig, {s.q.piece(100, static_cast<uint32_t>(all.size()))})),
			  SIRO_WC_SUCCESS);
		EXPECT_EQ(s.sent(), data);
		EXPECT_FALSE(s.has_error());
		s.q.memory.at(100 + 70) ^= 1;
		s.sent();
		EXPECT_TRUE(s.has_error());
	}
}

TEST(mkey_signature, tags_and_flags__are_those_of_the_request)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::on_wire(SIRO_SIG_T10_CSUM);
	siro_sig_domain want = domain(SIRO_SIG_T10_CSUM);

	want.seed = sig.wire.seed = 0xffff;
	want.app_tag = sig.wire.app_tag = 0x1234;
	want.ref_tag = sig.wire.ref_tag = 0xffffffff;
	want.flags = SIRO_SIG_REF_REMAP;
	sig.wire.flags = SIRO_SIG_REF_REMAP;
	EXPECT_EQ(s.execute(s.configuration(&sig, {s.q.piece(0, data_bytes)})), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.sent(), join(want, make_content(want, s.q.memory.read(0, data_bytes))));
}

/* An SGE in the middle of a large block costs what the block does. */
TEST(mkey_signature, beginnings_that_are_read_again__use_the_budget_up)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::on_wire(SIRO_SIG_CRC64);

	sig.wire.interval = 16384;
	EXPECT_EQ(s.execute(s.configuration(&sig, {s.q.piece(0, 32768)})), SIRO_WC_SUCCESS);

	siro_sge late = {16384 - 8, 8, s.mkey.key()};
	send_wr wr = make_send(2, {late, late, late, late}, 0);

	s.q.budget = 64;
	s.q.post({wr, wr, wr, wr, wr, wr, wr, wr});
	EXPECT_TRUE(s.q.last_requester.has(SIRO_OUT_MORE));
	EXPECT_EQ(s.q.take_sent().size(), 4u);
}

TEST(mkey_signature, what_is_not_set__stays)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::on_wire(SIRO_SIG_CRC32C);

	/* First the signature, then the layout, then another layout. */
	EXPECT_EQ(s.execute(s.configuration(&sig, {})), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.mkey.mr.state, unsigned{SIRO_MR_FREE});
	for (uint64_t at : {10, 3000}) {
		EXPECT_EQ(s.execute(s.configuration(nullptr, {s.q.piece(at, data_bytes)})),
			  SIRO_WC_SUCCESS);
		EXPECT_EQ(s.sent(), stream(SIRO_SIG_CRC32C, s.q.memory.read(at, data_bytes)));
	}
	sig = mkey_signer::on_wire(SIRO_SIG_CRC64);
	EXPECT_EQ(s.execute(s.configuration(&sig, {})), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.sent(), stream(SIRO_SIG_CRC64, s.q.memory.read(3000, data_bytes)));
	EXPECT_EQ(s.execute(s.configuration(nullptr, {}, SIRO_MKEY_RESET_SIGNATURE)),
		  SIRO_WC_SUCCESS);
	EXPECT_EQ(s.sent(), s.q.memory.read(3000, data_bytes));

	/* Both at once: the old one goes, the new one comes. */
	EXPECT_EQ(s.execute(s.configuration(&sig, {}, SIRO_MKEY_RESET_SIGNATURE)), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.sent(), stream(SIRO_SIG_CRC64, s.q.memory.read(3000, data_bytes)));
}

TEST(mkey_signature, table__with_the_signature_in_the_request)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::on_wire(SIRO_SIG_CRC32);
	siro_sge entry = s.q.piece(77, data_bytes);
	bytes raw(sizeof(entry));
	send_wr wr = s.configuration(&sig, {}, SIRO_MKEY_LIST | SIRO_MKEY_TABLE);

	memcpy(raw.data(), &entry, sizeof(entry));
	s.q.memory.write(60000, raw);
	wr.wqe.mkey.count = 1;
	wr.wqe.mkey.table = s.q.memory.mr.iova + 60000;
	wr.wqe.imm = s.q.memory.key();
	EXPECT_EQ(s.execute(wr), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.sent(), stream(SIRO_SIG_CRC32, s.q.memory.read(77, data_bytes)));
}

TEST(mkey_signature, pieces_that_are_not_whole_blocks__are_not_reached)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::in_memory(SIRO_SIG_T10_CRC);

	for (uint32_t length : {8u, 71u, 73u, 143u}) {
		EXPECT_EQ(s.execute(s.configuration(&sig, {s.q.piece(0, length)})),
			  SIRO_WC_SUCCESS);
		EXPECT_EQ(s.mkey.mr.state, unsigned{SIRO_MR_FREE});
	}
	EXPECT_EQ(s.execute(s.configuration(nullptr, {s.q.piece(0, 144)})), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.mkey.mr.length, 128u);
	EXPECT_EQ(s.mkey.mr.state, unsigned{SIRO_MR_VALID});
}

/* Also by one after which the mkey has no signature. */
TEST(mkey_signature, error__is_forgotten_by_a_configuration)
{
	for (uint32_t set : {0u, uint32_t{SIRO_MKEY_RESET_SIGNATURE}}) {
		mkey_signer s;
		siro_mkey_sig sig = mkey_signer::in_memory(SIRO_SIG_CRC32);

		s.execute(s.configuration(&sig, {s.q.piece(0, 136)}));
		s.sent();
		EXPECT_EQ(s.execute(s.configuration(nullptr, {}, set)), SIRO_WC_SUCCESS);
		EXPECT_FALSE(s.has_error());
	}
}

TEST(mkey_signature, error__survives_invalidation)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::in_memory(SIRO_SIG_CRC32);
	send_wr inv = make_send(1, {});

	inv.wqe.opcode = SIRO_WR_LOCAL_INV;
	inv.wqe.imm = s.mkey.key();
	s.execute(s.configuration(&sig, {s.q.piece(0, 136)}));
	s.sent();
	EXPECT_EQ(s.execute(inv), SIRO_WC_SUCCESS);
	EXPECT_TRUE(s.has_error());
}

TEST(mkey_signature, invalidation__forgets_the_attributes)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::on_wire(SIRO_SIG_CRC32);

	s.execute(s.configuration(&sig, {s.q.piece(0, data_bytes)}));
	s.mkey.invalidate();
	EXPECT_EQ(s.execute(s.configuration(nullptr, {s.q.piece(0, 10)})), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.sent(), s.q.memory.read(0, 10));
}

namespace {

struct fault {
	const char *what;
	void (*spoil)(siro_mkey_sig &);
};

/* To a tuple in memory and a CRC-32 on the wire */
const fault faults[] = {
	{"unknown flag",
	 [](auto &s) {
		 s.flags = 2;
	 }},
	{"copies between structures",
	 [](auto &s) {
		 s.flags = SIRO_MKEY_SIG_COPY_MASK;
	 }},
	{"copies between block sizes",
	 [](auto &s) {
		 s.flags = SIRO_MKEY_SIG_COPY_MASK;
		 s.memory.format = SIRO_SIG_CRC32C;
		 s.memory.interval = 128;
	 }},
	{"copy mask without the flag",
	 [](auto &s) {
		 s.copy_mask = 1;
	 }},
	{"reserved",
	 [](auto &s) {
		 s.reserved = 1;
	 }},
	{"reserved in memory",
	 [](auto &s) {
		 s.memory.reserved = 1;
	 }},
	{"reserved on the wire",
	 [](auto &s) {
		 s.wire.reserved = 1ull << 63;
	 }},
	{"unknown format",
	 [](auto &s) {
		 s.memory.format = SIRO_SIG_CRC64 + 1;
	 }},
	{"no format, but an interval",
	 [](auto &s) {
		 s.wire.format = SIRO_SIG_NONE;
	 }},
	{"no format, but a seed",
	 [](auto &s) {
		 s.wire = {};
		 s.wire.seed = 0xffffffff;
	 }},
	{"no format at all",
	 [](auto &s) {
		 s.memory = s.wire = {};
	 }},
	{"no interval",
	 [](auto &s) {
		 s.memory.interval = 0;
	 }},
	{"odd interval",
	 [](auto &s) {
		 s.wire.interval = 60;
	 }},
	{"long interval",
	 [](auto &s) {
		 s.wire.interval = 65536;
	 }},
	{"seed of a tuple",
	 [](auto &s) {
		 s.memory.seed = 0xffffffff;
	 }},
	{"seed of a CRC",
	 [](auto &s) {
		 s.wire.seed = 1;
	 }},
	{"unknown flag of a tuple",
	 [](auto &s) {
		 s.memory.flags = 8;
	 }},
	{"flag above 16 bits",
	 [](auto &s) {
		 s.memory.flags = 0x10000;
	 }},
	{"half an escape",
	 [](auto &s) {
		 s.memory.flags = SIRO_SIG_REF_ESCAPE;
	 }},
	{"flag of a CRC",
	 [](auto &s) {
		 s.wire.flags = SIRO_SIG_REF_REMAP;
	 }},
	{"application tag of a CRC",
	 [](auto &s) {
		 s.wire.app_tag = 1;
	 }},
	{"reference tag of a CRC",
	 [](auto &s) {
		 s.wire.ref_tag = 1;
	 }},
};

siro_mkey_sig good()
{
	siro_mkey_sig sig = mkey_signer::in_memory(SIRO_SIG_T10_CRC);

	sig.wire = mkey_signer::on_wire(SIRO_SIG_CRC32).wire;
	return sig;
}

} // namespace

TEST(mkey_signature, each_fault__is_an_error_and_nothing_changes)
{
	for (auto &f : faults) {
		mkey_signer s;
		siro_mkey_sig before = mkey_signer::on_wire(SIRO_SIG_CRC64), sig = good();

		SCOPED_TRACE(f.what);
		f.spoil(sig);
		s.execute(s.configuration(&before, {s.q.piece(0, data_bytes)}));

		siro_signature kept = s.mkey.signature;

		EXPECT_EQ(s.execute(s.configuration(&sig, {s.q.piece(9, 144)})),
			  SIRO_WC_MW_BIND_ERR);
		EXPECT_EQ(siro_requester_state(&s.q.requester), unsigned{SIRO_QPS_ERR});
		EXPECT_EQ(s.mkey.signature.wire.format, SIRO_SIG_CRC64);
		EXPECT_EQ(s.mkey.signature.wire_length, kept.wire_length);
		EXPECT_EQ(s.mkey.live[0].address, s.q.piece(0, 0).addr);
		EXPECT_EQ(s.q.memory.mr.users, 0u);
	}
}

TEST(mkey_signature, good_values__are_taken)
{
	mkey_signer s;
	siro_mkey_sig sig = good();

	EXPECT_EQ(s.execute(s.configuration(&sig, {s.q.piece(9, 144)})), SIRO_WC_SUCCESS);
	sig.memory.flags = SIRO_SIG_REF_REMAP | SIRO_SIG_APP_ESCAPE | SIRO_SIG_REF_ESCAPE;
	sig.memory.seed = 0xffff;
	sig.wire.seed = 0xffffffff;
	EXPECT_EQ(s.execute(s.configuration(&sig, {s.q.piece(9, 144)})), SIRO_WC_SUCCESS);
	sig.wire = sig.memory;
	sig.wire.format = SIRO_SIG_T10_CSUM;
	sig.flags = SIRO_MKEY_SIG_COPY_MASK;
	sig.copy_mask = 0x3f;
	EXPECT_EQ(s.execute(s.configuration(&sig, {s.q.piece(9, 144)})), SIRO_WC_SUCCESS);
	EXPECT_EQ(s.mkey.signature.copy_mask, 0x3f);
	sig.memory.interval = sig.wire.interval = 65528;
	EXPECT_EQ(s.execute(s.configuration(&sig, {})), SIRO_WC_SUCCESS);
}

TEST(mkey_signature, mkey_without_one__is_an_error)
{
	for (uint32_t set : {0u, uint32_t{SIRO_MKEY_RESET_SIGNATURE}}) {
		mkey_signer s;
		siro_mkey_sig sig = good();

		s.mkey.mr.signature = nullptr;
		EXPECT_EQ(s.execute(s.configuration(set ? nullptr : &sig, {}, set)),
			  SIRO_WC_MW_BIND_ERR);
	}
}

/* The signature counts: what is behind the slot is not read. */
TEST(mkey_signature, entries_that_do_not_fit_beside_it__are_an_error)
{
	auto o = mkey_signer::wide();
	siro_mkey_sig sig = good();

	o.max_inline = sizeof(siro_mkey_sig) + 8 + sizeof(siro_sge) - 8;
	o.max_send_sge = 1;

	mkey_signer s(o);
	send_wr wr = s.configuration(&sig, {s.q.piece(9, 144)});

	wr.wqe.mkey.count = 2;
	EXPECT_EQ(s.execute(wr), SIRO_WC_LOC_QP_OP_ERR);
}

TEST(mkey_signature, wrap_of_wire_bytes__is_an_error)
{
	mkey_signer s;
	siro_mkey_sig sig = mkey_signer::on_wire(SIRO_SIG_CRC64);
	send_wr wr = s.configuration(&sig, {s.q.piece(0, data_bytes)},
				     SIRO_MKEY_ACCESS | SIRO_MKEY_IOVA);

	wr.wqe.mkey.iova = ~uint64_t{0} - 144;
	EXPECT_EQ(s.execute(wr), SIRO_WC_SUCCESS);
	wr.wqe.mkey.iova++;
	EXPECT_EQ(s.execute(wr), SIRO_WC_MW_BIND_ERR);
	EXPECT_EQ(s.mkey.mr.iova, ~uint64_t{0} - 144);
}

TEST(mkey_signature, stage__checks_it)
{
	siro_mkey_conf c = {};
	siro_extents list = {};
	siro_mkey_sig sig = good();

	c.set = SIRO_MKEY_SIGNATURE;
	EXPECT_EQ(siro_mkey_stage(&list, &c, &sig, nullptr), 0);
	sig.reserved = 1;
	EXPECT_EQ(siro_mkey_stage(&list, &c, &sig, nullptr), -22);
	c.set = 0;
	EXPECT_EQ(siro_mkey_stage(&list, &c, &sig, nullptr), 0); /* it is not there */
}
