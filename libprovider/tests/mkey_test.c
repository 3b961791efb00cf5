// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work requests that configure mkeys, as the kernel finds them. */
#include <infiniband/cmd_ioctl.h>

#include "maker.h"

#define SLOT_SGES (MAX_INLINE / sizeof(struct siro_sge))
#define SLOT_PIECES (MAX_INLINE / sizeof(struct siro_mkey_piece))

static void set_list(struct maker *m, uint32_t count, const struct ibv_sge *sge)
{
	start(m, 1);
	siroccodv_wr_set_mkey_layout_list(m->dv, count, sge);
}

static void set_rows(struct maker *m, uint32_t repeat, uint32_t count,
		     const struct siroccodv_mr_interleaved *pieces)
{
	start(m, 1);
	siroccodv_wr_set_mkey_layout_interleaved(m->dv, repeat, count, pieces);
}

/* ---- what is stored ---- */

static void configure__list(void)
{
	const struct siroccodv_mkey_conf_attr attr = {
		.comp_mask = SIROCCODV_MKEY_CONF_ATTR_IOVA,
		.iova = 0x123,
	};
	const struct ibv_sge sge[2] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	const struct siro_send_wqe *wqe;
	struct maker m;

	maker_setup(&m);
	wqe = sent(&m.b, 0);
	ibv_wr_start(m.qp);
	m.qp->wr_id = 9;
	m.qp->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	siroccodv_wr_mkey_configure(m.dv, &m.mkey.dv, 2, &attr);
	siroccodv_wr_set_mkey_layout_list(m.dv, 2, sge);
	siroccodv_wr_set_mkey_access_flags(m.dv, IBV_ACCESS_REMOTE_READ);
	ibv_wr_send_imm(m.qp, 0);
	CHECK(!ibv_wr_complete(m.qp));
	CHECK(produced(&m.b.qp.sq.ring) == 2);
	CHECK(wqe->opcode == SIRO_WR_MKEY_CONF && wqe->wr_id == 9);
	CHECK(wqe->flags == SIRO_SEND_SIGNALED && wqe->rkey == KEY);
	CHECK(!wqe->num_sge && !wqe->inline_length);
	CHECK(wqe->mkey.set ==
	      (SIRO_MKEY_LIST | SIRO_MKEY_ACCESS | SIRO_MKEY_IOVA));
	CHECK(wqe->mkey.iova == 0x123 && wqe->mkey.count == 2);
	CHECK(wqe->mkey.access == IBV_ACCESS_REMOTE_READ);
	CHECK(!wqe->mkey.repeat && !wqe->mkey.table);
	CHECK(!memcmp(wqe + 1, sge, sizeof(sge)));
	teardown(&m.b);
}

static void configure__rows(void)
{
	const struct siroccodv_mr_interleaved piece[2] = {
		{ 0x1000, 8, 2, 1, 0 }, { 0x2000, 4, 1, 2, 0 },
	};
	const struct siro_send_wqe *wqe;
	struct maker m;

	maker_setup(&m);
	wqe = sent(&m.b, 0);
	set_rows(&m, 3, 2, piece);
	CHECK(!ibv_wr_complete(m.qp));
	CHECK(wqe->mkey.set == SIRO_MKEY_INTERLEAVED);
	CHECK(wqe->mkey.repeat == 3 && wqe->mkey.count == 2);
	CHECK(!memcmp(wqe + 1, piece, sizeof(piece)));
	teardown(&m.b);
}

static void configure__table(void)
{
	const struct siroccodv_mkey_table table = {
		.layout = SIROCCODV_MKEY_LAYOUT_INTERLEAVED,
		.repeat_count = 5,
		.num_entries = ENTRIES,
		.lkey = 77,
		.addr = 0x3001,
	};
	const struct siro_send_wqe *wqe;
	struct maker m;

	maker_setup(&m);
	wqe = sent(&m.b, 0);
	start(&m, 1);
	siroccodv_wr_set_mkey_layout_table(m.dv, &table);
	CHECK(!ibv_wr_complete(m.qp));
	CHECK(wqe->mkey.set == (SIRO_MKEY_INTERLEAVED | SIRO_MKEY_TABLE));
	CHECK(wqe->mkey.table == 0x3001 && wqe->imm == 77);
	CHECK(wqe->mkey.repeat == 5 && wqe->mkey.count == ENTRIES);
	teardown(&m.b);
}

static void configure__no_setter(void)
{
	struct maker m;

	maker_setup(&m);
	start(&m, 0);
	CHECK(!ibv_wr_complete(m.qp));
	CHECK(produced(&m.b.qp.sq.ring) == 1);
	CHECK(!sent(&m.b, 0)->mkey.set && sent(&m.b, 0)->rkey == KEY);
	teardown(&m.b);
}

static void post_reg_indir__is_one_request(void)
{
	const struct ibv_sge sge = { 0x1000, 10, 1 };
	struct maker m;

	maker_setup(&m);
	CHECK(!siroccodv_post_reg_indir(m.dv, &m.mkey.dv, 0, -11ull, 1, &sge));
	CHECK(produced(&m.b.qp.sq.ring) == 1);
	CHECK(doorbells(&m.b, IB_USER_VERBS_CMD_POST_SEND) == 1);
	CHECK(sent(&m.b, 0)->mkey.iova == -11ull);
	CHECK(sent(&m.b, 0)->mkey.set ==
	      (SIRO_MKEY_LIST | SIRO_MKEY_ACCESS | SIRO_MKEY_IOVA));
	CHECK(siroccodv_post_reg_indir(m.dv, &m.mkey.dv, 0, -10ull, 1, &sge) ==
	      EINVAL);
	CHECK(produced(&m.b.qp.sq.ring) == 1);
	teardown(&m.b);
}

/* ---- what is refused ---- */

static void configure__wrong_sequence(void)
{
	const struct ibv_sge sge = { 0x1000, 10, 1 };
	struct maker m;

	maker_setup(&m);
	start(&m, 1);
	refused(&m, EINVAL);
	start(&m, 1);
	CHECK(ibv_wr_complete(m.qp) == EINVAL);
	start(&m, 0);
	siroccodv_wr_set_mkey_access_flags(m.dv, 0);
	refused(&m, EINVAL);
	start(&m, 2);
	siroccodv_wr_set_mkey_access_flags(m.dv, 0);
	siroccodv_wr_set_mkey_access_flags(m.dv, 0);
	refused(&m, EINVAL);
	start(&m, 2);
	siroccodv_wr_set_mkey_layout_list(m.dv, 1, &sge);
	siroccodv_wr_set_mkey_layout_list(m.dv, 1, &sge);
	refused(&m, EINVAL);
	start(&m, 1);
	ibv_wr_set_sge(m.qp, 1, 2, 3);
	refused(&m, EINVAL);
	ibv_wr_start(m.qp);
	ibv_wr_send_imm(m.qp, 0);
	siroccodv_wr_set_mkey_access_flags(m.dv, 0);
	refused(&m, EINVAL);

	/* An abandoned request leaves nothing behind. */
	start(&m, 2);
	ibv_wr_abort(m.qp);
	ibv_wr_start(m.qp);
	ibv_wr_send_imm(m.qp, 0);
	CHECK(!ibv_wr_complete(m.qp));
	CHECK(produced(&m.b.qp.sq.ring) == 1);
	teardown(&m.b);
}

static void configure__first_error_stays(void)
{
	struct maker m;

	maker_setup(&m);
	ibv_wr_start(m.qp);
	siroccodv_wr_mkey_configure(m.dv, &m.mkey.dv, 1,
				    &(struct siroccodv_mkey_conf_attr){
					    .comp_mask = 4 });
	siroccodv_wr_set_mkey_access_flags(m.dv, -1u);
	refused(&m, EOPNOTSUPP);
	teardown(&m.b);
}

static void configure__other_domain(void)
{
	struct ibv_pd other;
	struct maker m;

	maker_setup(&m);
	m.mkey.pd = &other;
	start(&m, 0);
	refused(&m, EINVAL);
	teardown(&m.b);
}

static void configure__bad_access(void)
{
	static const uint32_t bad[] = { IBV_ACCESS_REMOTE_WRITE,
					IBV_ACCESS_REMOTE_ATOMIC,
					IBV_ACCESS_MW_BIND, 1u << 31 };
	struct maker m;
	size_t i;

	maker_setup(&m);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start(&m, 1);
		siroccodv_wr_set_mkey_access_flags(m.dv, bad[i]);
		refused(&m, EINVAL);
	}
	teardown(&m.b);
}

static void configure__bad_list(void)
{
	struct ibv_sge sge[ENTRIES + 1];
	struct maker m;
	int i;

	maker_setup(&m);
	for (i = 0; i <= ENTRIES; i++)
		sge[i] = (struct ibv_sge){ 0x1000, 1, 1 };
	set_list(&m, 0, sge);
	refused(&m, EINVAL);
	set_list(&m, ENTRIES + 1, sge);
	refused(&m, EINVAL);
	set_list(&m, SLOT_SGES + 1, sge);
	refused(&m, ENOSPC);
	sge[0].length = 0;
	set_list(&m, 1, sge);
	refused(&m, EINVAL);
	sge[1].addr = -1ull;
	set_list(&m, 2, sge);
	refused(&m, EINVAL);
	sge[1].addr = -2ull;
	set_list(&m, SLOT_SGES, sge);
	CHECK(!ibv_wr_complete(m.qp));
	teardown(&m.b);
}

static void configure__bad_rows(void)
{
	struct siroccodv_mr_interleaved piece[ENTRIES] = {
		{ 0x1000, 1, 1, 1, 0 }, { 0x1000, 1, 1, 1, 0 },
		{ 0x1000, 1, 1, 1, 0 },
	};
	struct maker m;

	maker_setup(&m);
	set_rows(&m, 0, 1, piece);
	refused(&m, EINVAL);
	set_rows(&m, 1, 0, piece);
	refused(&m, EINVAL);
	set_rows(&m, 1, SLOT_PIECES + 1, piece);
	refused(&m, ENOSPC);
	piece[1].reserved = 1;
	set_rows(&m, 1, 2, piece);
	refused(&m, EINVAL);
	piece[1].reserved = 0;

	/* The address behind the last row is 0. */
	piece[0].addr = -3ull;
	set_rows(&m, 2, 1, piece);
	refused(&m, EINVAL);
	piece[2] = (struct siroccodv_mr_interleaved){ 0, -1u, -1u, 1, 0 };
	set_rows(&m, -1u, 1, &piece[2]);
	refused(&m, EINVAL);
	piece[0].addr = -4ull;
	set_rows(&m, 2, 1, piece);
	CHECK(!ibv_wr_complete(m.qp));
	teardown(&m.b);
}

static void configure__bad_table(void)
{
	struct siroccodv_mkey_table table;
	struct maker m;

	maker_setup(&m);
	table = (struct siroccodv_mkey_table){
		.layout = SIROCCODV_MKEY_LAYOUT_LIST,
		.num_entries = ENTRIES + 1,
	};
	start(&m, 1);
	siroccodv_wr_set_mkey_layout_table(m.dv, &table);
	refused(&m, EINVAL);
	table.num_entries = 1;
	table.repeat_count = 1;
	start(&m, 1);
	siroccodv_wr_set_mkey_layout_table(m.dv, &table);
	refused(&m, EINVAL);
	table.repeat_count = 0;
	table.layout = SIROCCODV_MKEY_LAYOUT_INTERLEAVED;
	start(&m, 1);
	siroccodv_wr_set_mkey_layout_table(m.dv, &table);
	refused(&m, EINVAL);
	table.layout = 0;
	start(&m, 1);
	siroccodv_wr_set_mkey_layout_table(m.dv, &table);
	refused(&m, EINVAL);
	teardown(&m.b);
}

/* ---- around ---- */

static void qp_ex__created_without_the_flag(void)
{
	struct maker m;

	maker_setup(&m);
	m.b.qp.may_configure = false;
	CHECK(!siroccodv_qp_ex_from_ibv_qp_ex(m.qp));
	start(&m, 0);
	refused(&m, EINVAL);
	teardown(&m.b);
}

static void post_send__opcode_is_private(void)
{
	struct ibv_send_wr wr = { .opcode = SIRO_WR_MKEY_CONF }, *bad;
	struct maker m;

	maker_setup(&m);
	CHECK(siro_post_send(&m.b.qp.vqp.qp, &wr, &bad) == EINVAL);
	CHECK(produced(&m.b.qp.sq.ring) == 0);
	teardown(&m.b);
}

static void poll_cq__configuration(void)
{
	struct maker m;
	struct siro_cqe *cqe;
	struct ibv_wc wc;

	maker_setup(&m);
	cqe = siro_ring_entry(&m.b.cq.ring, -2u);
	*cqe = (struct siro_cqe){ .wr_id = 4, .opcode = SIRO_WC_MKEY_CONF };
	m.b.cq.ring.header->producer++;
	CHECK(siro_poll_cq(&m.b.cq.vcq.cq, 1, &wc) == 1);
	CHECK(wc.wr_id == 4 && wc.opcode == IBV_WC_DRIVER1);
	teardown(&m.b);
}

/* ---- the end of an mkey, with a kernel that answers what the test wants ---- */

static int answer;

/* Instead of that of libibverbs. */
int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd)
{
	return answer;
}

/* Not freed if this says something else: the leak is found at the end. */
static int destroy(int kernel_says)
{
	struct ibv_context context = {};
	struct ibv_pd pd = { .context = &context };
	struct siro_mkey *mkey = calloc(1, sizeof(*mkey));
	int ret;

	mkey->pd = &pd;
	answer = kernel_says;
	ret = siroccodv_destroy_mkey(&mkey->dv);
	if (ret)
		free(mkey);
	return ret;
}

static void destroy_mkey__done(void)
{
	CHECK(!destroy(0));
}

static void destroy_mkey__in_use(void)
{
	CHECK(destroy(EBUSY) == EBUSY);
}

static void destroy_mkey__gone_with_its_device(void)
{
	CHECK(!destroy(EIO));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(configure__list),
		TEST(configure__rows),
		TEST(configure__table),
		TEST(configure__no_setter),
		TEST(post_reg_indir__is_one_request),
		TEST(configure__wrong_sequence),
		TEST(configure__first_error_stays),
		TEST(configure__other_domain),
		TEST(configure__bad_access),
		TEST(configure__bad_list),
		TEST(configure__bad_rows),
		TEST(configure__bad_table),
		TEST(qp_ex__created_without_the_flag),
		TEST(post_send__opcode_is_private),
		TEST(poll_cq__configuration),
		TEST(destroy_mkey__done),
		TEST(destroy_mkey__in_use),
		TEST(destroy_mkey__gone_with_its_device),
	};

	run_tests(tests, sizeof(tests) / sizeof(tests[0]));
	return 0;
}
