// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the library refuses by itself, and what work requests fail with. */
#include "layout.h"
#include "scenarios.h"

/* What the scenarios here build with. */
static struct siroccodv_mkey *mkey;
static struct key probe; /* of b: shows that a's queue still works */

static void set_up_builder(void)
{
	struct layout *l;

	set_up();
	mkey = make_mkey(&a, 40, 0);
	l = new_list(&b);
	add_piece(l, 10, 10);
	probe = new_key(l, ALL_RIGHTS, BY_CALL);
}

static const struct siroccodv_mkey_conf_attr no_attr;

static void start(uint8_t setters)
{
	ibv_wr_start(a.qp_ex);
	a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	siroccodv_wr_mkey_configure(a.dv_qp, mkey, setters, &no_attr);
}

static struct ibv_sge *some_sges(void)
{
	static struct ibv_sge sge[41];
	int i;

	for (i = 0; i < 41; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)a.memory + i, 1,
					   a.mr->lkey };
	return sge;
}

static void set_access(uint32_t access)
{
	siroccodv_wr_set_mkey_access_flags(a.dv_qp, access);
}

static void set_list(uint32_t count, const struct ibv_sge *sge)
{
	siroccodv_wr_set_mkey_layout_list(a.dv_qp, count, sge);
}

static void set_rows(uint32_t repeat, uint32_t count,
		     const struct siroccodv_mr_interleaved *pieces)
{
	siroccodv_wr_set_mkey_layout_interleaved(a.dv_qp, repeat, count, pieces);
}

static struct siroccodv_mr_interleaved *some_pieces(void)
{
	static struct siroccodv_mr_interleaved piece[22];
	int i;

	for (i = 0; i < 22; i++)
		piece[i] = (struct siroccodv_mr_interleaved){
			(uintptr_t)a.memory + i, 1, 1, a.mr->lkey, 0
		};
	return piece;
}

/* The batch is refused as a whole: the good write in it is not posted either. */
static void refused(int error)
{
	struct ibv_sge sge = plain_sge(&a, 10);
	struct ibv_wc wc;

	ibv_wr_rdma_write(a.qp_ex, probe.mkey->rkey, 0);
	ibv_wr_set_sge(a.qp_ex, sge.lkey, sge.addr, sge.length);
	CHECK_IS(ibv_wr_complete(a.qp_ex), error);
	CHECK(ibv_poll_cq(a.cq, 1, &wc) == 0);
	CHECK(as_expected());
}

static void builder__bad_flow(void)
{
	struct ibv_sge *sge;

	set_up_builder();
	sge = some_sges();
	start(1);
	refused(EINVAL); /* too few, another request begins */
	start(2);
	set_access(0);
	CHECK_IS(ibv_wr_complete(a.qp_ex), EINVAL); /* too few, nothing follows */
	start(0);
	set_access(0);
	refused(EINVAL);
	start(1);
	set_list(1, sge);
	set_access(0);
	refused(EINVAL);
	start(2);
	set_access(0);
	set_access(0);
	refused(EINVAL);
	start(2);
	set_list(1, sge);
	set_list(1, sge);
	refused(EINVAL);
	start(2);
	set_list(1, sge);
	set_rows(1, 1, some_pieces());
	refused(EINVAL);
	start(1);
	ibv_wr_set_sge(a.qp_ex, a.mr->lkey, (uintptr_t)a.memory, 1);
	refused(EINVAL);
	start(1);
	ibv_wr_set_inline_data(a.qp_ex, sge, 4);
	refused(EINVAL);
	ibv_wr_start(a.qp_ex);
	ibv_wr_send(a.qp_ex);
	set_access(0);
	refused(EINVAL);
	ibv_wr_start(a.qp_ex);
	set_access(0);
	CHECK_IS(ibv_wr_complete(a.qp_ex), EINVAL); /* no request to be for */
	start(3);
	ibv_wr_abort(a.qp_ex);
	exercise(NULL, &probe);
}

static void builder__bad_access(void)
{
	static const uint32_t bad[] = {
		IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_REMOTE_ATOMIC,
		ALL_RIGHTS | IBV_ACCESS_MW_BIND,
		ALL_RIGHTS | IBV_ACCESS_ZERO_BASED,
		1u << 31,
	};
	size_t i;

	set_up_builder();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start(1);
		set_access(bad[i]);
		refused(EINVAL);
	}
	exercise(NULL, &probe);
}

static void builder__bad_list(void)
{
	struct ibv_sge *sge;

	set_up_builder();
	sge = some_sges();
	start(1);
	set_list(0, sge);
	refused(EINVAL);
	start(1);
	set_list(41, sge); /* more than the mkey has */
	refused(EINVAL);
	start(1);
	set_list(33, sge); /* more than the request has room for */
	refused(ENOSPC);
	start(1);
	set_list(-1u, sge);
	refused(EINVAL);
	sge[0].length = 0;
	start(1);
	set_list(1, sge);
	refused(EINVAL);
	sge[1].addr = -1ull;
	start(1);
	set_list(2, sge);
	refused(EINVAL);
	exercise(NULL, &probe);
}

static void builder__bad_rows(void)
{
	struct siroccodv_mr_interleaved *piece;

	set_up_builder();
	piece = some_pieces();
	start(1);
	set_rows(0, 1, piece);
	refused(EINVAL);
	start(1);
	set_rows(1, 0, piece);
	refused(EINVAL);
	start(1);
	set_rows(1, 22, piece);
	refused(ENOSPC);
	piece[0].bytes_skip = -1u;
	piece[0].bytes_count = -1u;
	start(1);
	set_rows(-1u, 1, piece);
	refused(EINVAL);
	piece[1].reserved = 1;
	start(1);
	set_rows(1, 2, piece);
	refused(EINVAL);
	exercise(NULL, &probe);
}

static void builder__bad_attributes(void)
{
	struct siroccodv_mkey_conf_attr attr = { .comp_mask = 4 };
	struct siroccodv_mkey_init_attr init = {
		.create_flags = SIROCCODV_MKEY_INDIRECT,
		.max_entries = 1,
	};
	struct siroccodv_mkey *foreign;

	set_up_builder();
	ibv_wr_start(a.qp_ex);
	siroccodv_wr_mkey_configure(a.dv_qp, mkey, 0, &attr);
	refused(EOPNOTSUPP);

	init.pd = ibv_alloc_pd(a.context);
	foreign = siroccodv_create_mkey(&init);
	CHECK(foreign);
	ibv_wr_start(a.qp_ex);
	siroccodv_wr_mkey_configure(a.dv_qp, foreign, 0, &no_attr);
	refused(EINVAL);

	attr.comp_mask = SIROCCODV_MKEY_CONF_ATTR_IOVA;
	attr.iova = -1ull;
	ibv_wr_start(a.qp_ex);
	siroccodv_wr_mkey_configure(a.dv_qp, mkey, 1, &attr);
	set_list(1, some_sges());
	refused(EINVAL);
	exercise(NULL, &probe);
}

/* ---- tables ---- */

static struct siroccodv_mkey_table some_table(void)
{
	memcpy(a.memory + LAYOUT_AREA, some_sges(), 40 * sizeof(struct ibv_sge));
	memcpy(a.image + LAYOUT_AREA, some_sges(), 40 * sizeof(struct ibv_sge));
	return (struct siroccodv_mkey_table){
		.layout = SIROCCODV_MKEY_LAYOUT_LIST,
		.num_entries = 40,
		.lkey = a.mr->lkey,
		.addr = plain_va(&a),
	};
}

static void configure_with(const struct siroccodv_mkey_table *table)
{
	start(1);
	siroccodv_wr_set_mkey_layout_table(a.dv_qp, table);
}

static void table__refused_by_the_library(void)
{
	struct siroccodv_mkey_table table;

	set_up_builder();
	table = some_table();
	table.num_entries = 41;
	configure_with(&table);
	refused(EINVAL);
	table.num_entries = 0;
	configure_with(&table);
	refused(EINVAL);
	table = some_table();
	table.layout = 3;
	configure_with(&table);
	refused(EINVAL);
	table.layout = SIROCCODV_MKEY_LAYOUT_INTERLEAVED;
	configure_with(&table);
	refused(EINVAL);
	table.layout = SIROCCODV_MKEY_LAYOUT_LIST;
	table.repeat_count = 1;
	configure_with(&table);
	refused(EINVAL);
	exercise(NULL, &probe);
}

/* The queue goes to error, and the mkey keeps what it was. */
static void fails(const struct siroccodv_mkey_table *table)
{
	configure_with(table);
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
	CHECK_IS(completion(&a).status, IBV_WC_MW_BIND_ERR);
	reconnect();
}

static void table__refused_by_the_device(void)
{
	struct siroccodv_mkey_table table;
	struct ibv_sge *entry;
	struct ibv_mr *mr;
	struct key ka;

	set_up_builder();
	ka = (struct key){ mkey, NULL, 0 };
	configure(&ka, random_list(&a, 8, 1, 100), ALL_RIGHTS, BY_REQUEST);

	table = some_table();
	table.lkey = 0;
	fails(&table);
	mr = ibv_reg_mr(ibv_alloc_pd(a.context), a.memory, MEMORY, ALL_RIGHTS);
	CHECK(mr);
	table.lkey = mr->lkey;
	fails(&table);
	mr = ibv_reg_mr(a.pd, a.memory, MEMORY, ALL_RIGHTS);
	CHECK(mr);
	table.lkey = mr->lkey;
	CHECK(!ibv_dereg_mr(mr));
	fails(&table);
	table = some_table();
	table.addr = (uintptr_t)a.memory + MEMORY - 40 * sizeof(*entry) + 1;
	fails(&table);
	table.addr = -8ull;
	fails(&table);

	table = some_table();
	entry = (struct ibv_sge *)(a.memory + LAYOUT_AREA);
	entry[39].addr = -1ull;
	entry[39].length = 2;
	memcpy(a.image + LAYOUT_AREA, entry, 40 * sizeof(*entry));
	fails(&table);
	table = some_table();
	memset(entry, 0, 40 * sizeof(*entry));
	memset(a.image + LAYOUT_AREA, 0, 40 * sizeof(*entry));
	fails(&table);
	exercise(&ka, &probe);
}

/* ---- the functions around ---- */

static void post_send__opcode_is_private(void)
{
	struct ibv_send_wr wr = { .num_sge = 0 };
	unsigned int opcode;

	set_up_builder();
	for (opcode = IBV_WR_SEND_WITH_INV + 1; opcode < 40; opcode++) {
		wr.opcode = opcode;
		CHECK_IS(post(&a, &wr), EINVAL);
	}
	exercise(NULL, &probe);
}

static void create_qp__flags(void)
{
	struct siroccodv_qp_init_attr dv = {
		.comp_mask = SIROCCODV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = SIROCCODV_QP_EX_WITH_MKEY_CONFIGURE,
	};
	struct ibv_qp *qp;

	set_up();
	CHECK(!smallest_qp(IBV_QPT_UD, 0, dv));
	CHECK_IS(errno, EOPNOTSUPP);
	dv.send_ops_flags = 2;
	CHECK(!smallest_qp(IBV_QPT_RC, 0, dv));
	CHECK_IS(errno, EOPNOTSUPP);
	dv = (struct siroccodv_qp_init_attr){ .comp_mask = 4 };
	CHECK(!smallest_qp(IBV_QPT_RC, 0, dv));
	CHECK_IS(errno, EOPNOTSUPP);

	/* Without the flag it is a QP as any other. */
	dv.comp_mask = 0;
	qp = smallest_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND, dv);
	CHECK(qp);
	CHECK(!siroccodv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp)));
	CHECK(!ibv_destroy_qp(qp));
}

static void query_device__says_what_there_is(void)
{
	struct siroccodv_device_attr attr = {
		.comp_mask = SIROCCODV_DEVICE_ATTR_MKEY,
	};

	set_up();
	CHECK(siroccodv_is_supported(a.context->device));
	CHECK_IS(siroccodv_query_device(a.context, &attr), 0);
	CHECK_IS(attr.comp_mask, SIROCCODV_DEVICE_ATTR_MKEY);
	CHECK_IS(attr.mkey_create_flags, SIROCCODV_MKEY_INDIRECT |
						 SIROCCODV_MKEY_REMOTE_INVALIDATE |
						 SIROCCODV_MKEY_BLOCK_SIGNATURE);
	CHECK_IS(attr.mkey_layouts, SIROCCODV_MKEY_LAYOUT_LIST |
					    SIROCCODV_MKEY_LAYOUT_INTERLEAVED);
	CHECK_IS(attr.max_mkey_entries, MAX_ENTRIES);
	attr.comp_mask = 8;
	CHECK_IS(siroccodv_query_device(a.context, &attr), EOPNOTSUPP);
	attr = (struct siroccodv_device_attr){ .comp_mask = 0 };
	CHECK_IS(siroccodv_query_device(a.context, &attr), 0);
	CHECK_IS(attr.max_mkey_entries, 0);
}

static int create_error(struct siroccodv_mkey_init_attr attr)
{
	attr.pd = a.pd;
	CHECK(!siroccodv_create_mkey(&attr));
	return errno;
}

static void create_mkey__limits(void)
{
	const uint32_t indirect = SIROCCODV_MKEY_INDIRECT;

	set_up();
	CHECK_IS(create_error((struct siroccodv_mkey_init_attr){
			 .create_flags = indirect }), EINVAL);
	CHECK_IS(create_error((struct siroccodv_mkey_init_attr){
			 .create_flags = indirect,
			 .max_entries = MAX_ENTRIES + 1 }), EINVAL);
	CHECK_IS(create_error((struct siroccodv_mkey_init_attr){
			 .create_flags = indirect, .max_entries = -1u }),
		 EINVAL);
	CHECK_IS(create_error((struct siroccodv_mkey_init_attr){
			 .max_entries = 1 }), EINVAL);
	CHECK_IS(create_error((struct siroccodv_mkey_init_attr){
			 .create_flags = indirect | 8, .max_entries = 1 }),
		 EOPNOTSUPP);
	CHECK_IS(create_error((struct siroccodv_mkey_init_attr){
			 .create_flags = indirect, .max_entries = 1,
			 .comp_mask = 1 }), EOPNOTSUPP);
	CHECK(!siroccodv_destroy_mkey(make_mkey(&a, 1, 0)));
	CHECK(!siroccodv_destroy_mkey(make_mkey(&a, MAX_ENTRIES, 0)));
}

static void create_mkey__limit_of_a_context(void)
{
	const struct siroccodv_mkey_init_attr one = {
		.create_flags = SIROCCODV_MKEY_INDIRECT,
		.max_entries = 1,
	};
	/* 1 KiB each, and 48 bytes for each entry. */
	enum {
		ALL = 48 << 20,
		LARGE = 1024 + 48 * MAX_ENTRIES,
		SMALL = 1024 + 48,
		MANY = ALL / LARGE,
		FEW = ALL % LARGE / SMALL,
	};
	struct siroccodv_mkey *mkeys[MANY + FEW];
	int i;

	set_up();
	for (i = 0; i < MANY; i++)
		mkeys[i] = make_mkey(&a, MAX_ENTRIES, 0);
	for (; i < MANY + FEW; i++)
		mkeys[i] = make_mkey(&a, 1, 0);
	CHECK_IS(create_error(one), ENOMEM);
	make_mkey(&b, 1, 0);
	CHECK(!siroccodv_destroy_mkey(mkeys[100]));
	mkeys[100] = make_mkey(&a, MAX_ENTRIES, 0);
	CHECK_IS(create_error(one), ENOMEM);
	while (i)
		CHECK(!siroccodv_destroy_mkey(mkeys[--i]));
	make_mkey(&a, 1, 0);
}

const struct scenario builder_scenarios[] = {
	SCENARIO(builder__bad_flow),
	SCENARIO(builder__bad_access),
	SCENARIO(builder__bad_list),
	SCENARIO(builder__bad_rows),
	SCENARIO(builder__bad_attributes),
	SCENARIO(table__refused_by_the_library),
	SCENARIO(table__refused_by_the_device),
	SCENARIO(post_send__opcode_is_private),
	SCENARIO(create_qp__flags),
	SCENARIO(query_device__says_what_there_is),
	SCENARIO(create_mkey__limits),
	SCENARIO(create_mkey__limit_of_a_context),
	{},
};
