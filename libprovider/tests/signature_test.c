// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signatures of mkeys: what the kernel finds, what it is not asked for. */
#include "maker.h"

/* An mkey whose status is in the test's memory. */
static struct siro_mkey_status status;

static void signer_setup(struct maker *m)
{
	maker_setup(m);
	memset(&status, 0, sizeof(status));
	m->mkey.status = &status;
}

static const struct siroccodv_sig_t10dif some_dif = {
	.bg_type = SIROCCODV_SIG_T10DIF_CSUM,
	.bg = 0xffff,
	.app_tag = 0xabcd,
	.ref_tag = 0x01234567,
	.flags = SIROCCODV_SIG_T10DIF_FLAG_REF_REMAP |
		 SIROCCODV_SIG_T10DIF_FLAG_APP_REF_ESCAPE,
};

static const struct siroccodv_sig_crc some_crc = {
	.type = SIROCCODV_SIG_CRC_TYPE_CRC64_XP10,
	.seed = -1ull,
};

static const struct siroccodv_sig_block_domain dif_512 = {
	.sig_type = SIROCCODV_SIG_TYPE_T10DIF,
	.block_size = SIROCCODV_BLOCK_SIZE_512,
	.dif = &some_dif,
};

static const struct siroccodv_sig_block_domain crc_4096 = {
	.sig_type = SIROCCODV_SIG_TYPE_CRC,
	.block_size = SIROCCODV_BLOCK_SIZE_4096,
	.crc = &some_crc,
};

static const struct ibv_sge some_sge[2] = { { 0x1000, 10, 1 },
					    { 0x2000, 20, 2 } };

static int set_signature(struct maker *m,
			 const struct siroccodv_sig_block_attr *attr)
{
	start(m, 1);
	siroccodv_wr_set_mkey_sig_block(m->dv, attr);
	return ibv_wr_complete(m->qp);
}

/* ---- what is stored ---- */

static void expect_some_signature(const struct siro_mkey_sig *sig)
{
	const struct siro_mkey_sig want = {
		.check_mask = 0xf5,
		.memory = { .format = SIRO_SIG_CRC64,
			    .interval = 4096,
			    .seed = -1ull },
		.wire = { .format = SIRO_SIG_T10_CSUM,
			  .interval = 512,
			  .seed = 0xffff,
			  .app_tag = 0xabcd,
			  .ref_tag = 0x01234567,
			  .flags = SIRO_SIG_REF_REMAP | SIRO_SIG_APP_ESCAPE |
				   SIRO_SIG_REF_ESCAPE },
	};

	CHECK(!memcmp(sig, &want, sizeof(want)));
}

static const struct siroccodv_sig_block_attr some_attr = {
	.mem = &crc_4096,
	.wire = &dif_512,
	.check_mask = 0xf5,
	.copy_mask = 0xff, /* not asked for */
};

static void sig_block__is_before_the_entries(void)
{
	const struct siro_send_wqe *wqe;
	struct maker m;
	int layout_first;

	for (layout_first = 0; layout_first < 2; layout_first++) {
		signer_setup(&m);
		wqe = sent(&m.b, 0);
		start(&m, 2);
		if (layout_first)
			siroccodv_wr_set_mkey_layout_list(m.dv, 2, some_sge);
		siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
		if (!layout_first)
			siroccodv_wr_set_mkey_layout_list(m.dv, 2, some_sge);
		CHECK(!ibv_wr_complete(m.qp));
		CHECK(wqe->mkey.set == (SIRO_MKEY_SIGNATURE | SIRO_MKEY_LIST));
		expect_some_signature((const void *)(wqe + 1));
		CHECK(!memcmp((const char *)(wqe + 1) +
				      sizeof(struct siro_mkey_sig),
			      some_sge, sizeof(some_sge)));
		teardown(&m.b);
	}
}

static void sig_block__flags_and_formats(void)
{
	static const struct {
		uint32_t type;
		uint64_t seed;
		uint16_t format;
	} crcs[] = {
		{ SIROCCODV_SIG_CRC_TYPE_CRC32, 0xffffffff, SIRO_SIG_CRC32 },
		{ SIROCCODV_SIG_CRC_TYPE_CRC32, 0, SIRO_SIG_CRC32 },
		{ SIROCCODV_SIG_CRC_TYPE_CRC32C, 0xffffffff, SIRO_SIG_CRC32C },
		{ SIROCCODV_SIG_CRC_TYPE_CRC64_XP10, 0, SIRO_SIG_CRC64 },
	};
	struct siroccodv_sig_t10dif dif = {
		.flags = SIROCCODV_SIG_T10DIF_FLAG_APP_ESCAPE,
	};
	struct siroccodv_sig_block_domain domain = crc_4096;
	const struct siroccodv_sig_block_attr attr = { .mem = &domain };
	const struct siro_mkey_sig *sig;
	struct siroccodv_sig_crc crc;
	struct maker m;
	uint32_t i;

	signer_setup(&m);
	for (i = 0; i < 4; i++) {
		sig = (const void *)(sent(&m.b, i) + 1);
		crc = (struct siroccodv_sig_crc){ .type = crcs[i].type,
						  .seed = crcs[i].seed };
		domain.crc = &crc;
		CHECK(!set_signature(&m, &attr));
		CHECK(sig->memory.format == crcs[i].format);
		CHECK(sig->memory.seed == crcs[i].seed);
		CHECK(sig->wire.format == SIRO_SIG_NONE && !sig->flags);
	}
	sig = (const void *)(sent(&m.b, i) + 1);
	domain = dif_512;
	domain.dif = &dif;
	CHECK(!set_signature(&m, &attr));
	CHECK(sig->memory.format == SIRO_SIG_T10_CRC);
	CHECK(sig->memory.flags == SIRO_SIG_APP_ESCAPE);
	teardown(&m.b);
}

static void sig_block__copy_mask(void)
{
	static const struct siroccodv_sig_t10dif crc_guard = { .app_tag = 1 };
	struct siroccodv_sig_block_domain other = dif_512;
	struct siroccodv_sig_block_attr attr = {
		.mem = &dif_512,
		.wire = &other,
		.flags = SIROCCODV_SIG_BLOCK_ATTR_FLAG_COPY_MASK,
		.copy_mask = 0x3f,
	};
	const struct siro_mkey_sig *sig;
	struct maker m;

	signer_setup(&m);
	sig = (const void *)(sent(&m.b, 0) + 1);
	other.dif = &crc_guard;
	CHECK(!set_signature(&m, &attr));
	CHECK(sig->flags == SIRO_MKEY_SIG_COPY_MASK && sig->copy_mask == 0x3f);
	other.block_size = 520;
	CHECK(set_signature(&m, &attr) == EINVAL);
	attr.wire = &crc_4096;
	CHECK(set_signature(&m, &attr) == EINVAL);
	attr.wire = NULL;
	CHECK(set_signature(&m, &attr) == EINVAL);
	CHECK(produced(&m.b.qp.sq.ring) == 1);
	teardown(&m.b);
}

static void conf_attr__reset(void)
{
	struct siroccodv_mkey_conf_attr attr = {
		.comp_mask = SIROCCODV_MKEY_CONF_ATTR_FLAGS,
		.conf_flags = SIROCCODV_MKEY_CONF_FLAG_RESET_SIG_ATTR,
	};
	struct maker m;

	signer_setup(&m);
	ibv_wr_start(m.qp);
	siroccodv_wr_mkey_configure(m.dv, &m.mkey.dv, 0, &attr);
	attr.comp_mask = 0; /* the flags are not there */
	siroccodv_wr_mkey_configure(m.dv, &m.mkey.dv, 0, &attr);
	CHECK(!ibv_wr_complete(m.qp));
	CHECK(sent(&m.b, 0)->mkey.set == SIRO_MKEY_RESET_SIGNATURE);
	CHECK(!sent(&m.b, 1)->mkey.set);

	attr.comp_mask = SIROCCODV_MKEY_CONF_ATTR_FLAGS;
	attr.conf_flags = 2;
	ibv_wr_start(m.qp);
	siroccodv_wr_mkey_configure(m.dv, &m.mkey.dv, 0, &attr);
	CHECK(ibv_wr_complete(m.qp) == EOPNOTSUPP);
	attr.conf_flags = SIROCCODV_MKEY_CONF_FLAG_RESET_SIG_ATTR;
	m.mkey.status = NULL;
	ibv_wr_start(m.qp);
	siroccodv_wr_mkey_configure(m.dv, &m.mkey.dv, 0, &attr);
	CHECK(ibv_wr_complete(m.qp) == EINVAL);
	teardown(&m.b);
}

/* ---- what is refused ---- */

static void sig_block__wrong_sequence(void)
{
	struct maker m;

	signer_setup(&m);
	start(&m, 2);
	siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
	siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
	refused(&m, EINVAL);
	ibv_wr_start(m.qp);
	ibv_wr_send_imm(m.qp, 0);
	siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
	refused(&m, EINVAL);
	m.mkey.status = NULL; /* an mkey without signatures */
	start(&m, 1);
	siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
	refused(&m, EINVAL);
	teardown(&m.b);
}

static void sig_block__no_room(void)
{
	const size_t room = MAX_INLINE - sizeof(struct siro_mkey_sig);
	const uint32_t fit = room / sizeof(struct ibv_sge);
	const struct ibv_sge sge[8] = { { 1, 1, 1 } };
	struct maker m;

	signer_setup(&m);
	start(&m, 2);
	siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
	siroccodv_wr_set_mkey_layout_list(m.dv, fit + 1, sge);
	refused(&m, ENOSPC);
	start(&m, 2);
	siroccodv_wr_set_mkey_layout_list(m.dv, fit + 1, sge);
	siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
	refused(&m, ENOSPC);
	start(&m, 2);
	siroccodv_wr_set_mkey_layout_list(m.dv, fit, sge);
	siroccodv_wr_set_mkey_sig_block(m.dv, &some_attr);
	CHECK(!ibv_wr_complete(m.qp));
	teardown(&m.b);
}

/* Each attribute is as bad on the other side. */
static void expect_bad(struct maker *m,
		       const struct siroccodv_sig_block_domain *domain,
		       int error)
{
	const struct siroccodv_sig_block_attr on_wire = { .mem = &dif_512,
							  .wire = domain };
	const struct siroccodv_sig_block_attr in_memory = { .mem = domain };

	start(m, 1);
	siroccodv_wr_set_mkey_sig_block(m->dv, &on_wire);
	refused(m, error);
	start(m, 1);
	siroccodv_wr_set_mkey_sig_block(m->dv, &in_memory);
	refused(m, error);
}

static void sig_block__bad_dif(void)
{
	static const struct {
		struct siroccodv_sig_t10dif dif;
		int error;
	} rows[] = {
		{ { .bg_type = 2 }, EINVAL },
		{ { .bg = 1 }, EINVAL },
		{ { .bg = 0xfffe }, EINVAL },
		{ { .flags = SIROCCODV_SIG_T10DIF_FLAG_APP_ESCAPE |
			     SIROCCODV_SIG_T10DIF_FLAG_APP_REF_ESCAPE },
		  EINVAL },
		{ { .flags = 8 }, EOPNOTSUPP },
		{ { .flags = 1u << 31 }, EOPNOTSUPP },
	};
	struct siroccodv_sig_block_domain domain = dif_512;
	struct maker m;
	size_t i;

	signer_setup(&m);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		domain.dif = &rows[i].dif;
		expect_bad(&m, &domain, rows[i].error);
	}
	teardown(&m.b);
}

static void sig_block__bad_crc(void)
{
	static const struct siroccodv_sig_crc rows[] = {
		{ .type = 3 },
		{ .type = -1u },
		{ .type = SIROCCODV_SIG_CRC_TYPE_CRC32, .seed = -1ull },
		{ .type = SIROCCODV_SIG_CRC_TYPE_CRC32C, .seed = 1 },
		{ .type = SIROCCODV_SIG_CRC_TYPE_CRC64_XP10, .seed = -1u },
		{ .reserved = 1 },
	};
	struct siroccodv_sig_block_domain domain = crc_4096;
	struct maker m;
	size_t i;

	signer_setup(&m);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		domain.crc = &rows[i];
		expect_bad(&m, &domain, EINVAL);
	}
	teardown(&m.b);
}

static void sig_block__bad_domain(void)
{
	static const uint32_t bad_sizes[] = { 0, 1, 511, 513, 65536, -8u };
	struct siroccodv_sig_block_domain domain = dif_512;
	struct siroccodv_sig_block_attr attr = { .mem = NULL };
	struct maker m;
	size_t i;

	signer_setup(&m);
	for (i = 0; i < sizeof(bad_sizes) / sizeof(bad_sizes[0]); i++) {
		domain.block_size = bad_sizes[i];
		expect_bad(&m, &domain, EINVAL);
	}
	domain = dif_512;
	domain.sig_type = 2;
	expect_bad(&m, &domain, EINVAL);
	domain = dif_512;
	domain.comp_mask = 1;
	expect_bad(&m, &domain, EOPNOTSUPP);

	CHECK(set_signature(&m, &attr) == EINVAL);
	attr = some_attr;
	attr.comp_mask = 1;
	CHECK(set_signature(&m, &attr) == EOPNOTSUPP);
	attr = some_attr;
	attr.flags = 2;
	CHECK(set_signature(&m, &attr) == EOPNOTSUPP);
	domain = dif_512;
	domain.block_size = 65528;
	attr = (struct siroccodv_sig_block_attr){ .mem = &domain };
	CHECK(!set_signature(&m, &attr));
	teardown(&m.b);
}

/* ---- check ---- */

/* The descriptor is that of a socket: a system call would fail. */
static void mkey_check__without_an_error(void)
{
	struct siroccodv_mkey_err err = { .err_type = 77 };
	struct maker m;

	signer_setup(&m);
	status.seq = 4;
	CHECK(!siroccodv_mkey_check(&m.mkey.dv, &err));
	CHECK(err.err_type == SIROCCODV_MKEY_NO_ERR);
	m.mkey.status = NULL;
	CHECK(siroccodv_mkey_check(&m.mkey.dv, &err) == EINVAL);
	teardown(&m.b);
}

static void *end_of_writing(void *unused)
{
	usleep(10000);
	status.type = 0;
	__atomic_store_n(&status.seq, 2, __ATOMIC_RELEASE);
	return NULL;
}

static void status__waits_for_the_writer(void)
{
	pthread_t writer;

	status = (struct siro_mkey_status){ .seq = 1, .type = 1 };
	CHECK(!pthread_create(&writer, NULL, end_of_writing, NULL));
	CHECK(!siro_status_is_error(&status));
	CHECK(!pthread_join(writer, NULL));
	status.type = 3;
	CHECK(siro_status_is_error(&status));
}

static void poll_cq__cancelled(void)
{
	struct siro_cqe *cqe;
	struct ibv_wc wc;
	struct maker m;

	signer_setup(&m);
	cqe = siro_ring_entry(&m.b.cq.ring, -2u);
	*cqe = (struct siro_cqe){ .wr_id = 4, .opcode = SIRO_WC_NOP };
	m.b.cq.ring.header->producer++;
	CHECK(siro_poll_cq(&m.b.cq.vcq.cq, 1, &wc) == 1);
	CHECK(wc.wr_id == 4 && wc.opcode == IBV_WC_DRIVER2);
	teardown(&m.b);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(sig_block__is_before_the_entries),
		TEST(sig_block__flags_and_formats),
		TEST(sig_block__copy_mask),
		TEST(conf_attr__reset),
		TEST(sig_block__wrong_sequence),
		TEST(sig_block__no_room),
		TEST(sig_block__bad_dif),
		TEST(sig_block__bad_crc),
		TEST(sig_block__bad_domain),
		TEST(mkey_check__without_an_error),
		TEST(status__waits_for_the_writer),
		TEST(poll_cq__cancelled),
	};

	run_tests(tests, sizeof(tests) / sizeof(tests[0]));
	return 0;
}
