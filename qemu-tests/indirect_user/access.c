// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Accesses that must fail, invalidation, atomics. */
#include "layout.h"
#include "scenarios.h"

#define LENGTH 100 /* of the pieces of good_layout() */

static struct layout *good_layout(struct end *e)
{
	struct layout *l = new_list(e);

	add_piece(l, 11, LENGTH);
	add_piece(l, 4001, LENGTH);
	return l;
}

/* Both as rkey and as lkey; nothing may have moved. */
static void no_access(uint64_t va, uint32_t length, struct siroccodv_mkey *ka,
		      struct siroccodv_mkey *kb)
{
	const struct ibv_sge local = { va, length, ka->lkey };

	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, plain_sge(&a, length), kb->rkey, va),
		 IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK_IS(transfer(IBV_WR_RDMA_READ, plain_sge(&a, length), kb->rkey, va),
		 IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, local, b.mr->rkey, plain_va(&b)),
		 IBV_WC_LOC_PROT_ERR);
	reconnect();
	CHECK_IS(transfer(IBV_WR_RDMA_READ, local, b.mr->rkey, plain_va(&b)),
		 IBV_WC_LOC_PROT_ERR);
	reconnect();
	post_recv(&b, (struct ibv_sge){ va, length, kb->lkey });
	CHECK(transfer(IBV_WR_SEND, plain_sge(&a, length), 0, 0));
	CHECK_IS(completion(&b).status, IBV_WC_LOC_PROT_ERR);
	reconnect();
	CHECK(as_expected());
}

/* One more entry, the named one, behind the layout's; only it must be refused. */
static void bad_entry(uint32_t lkey_a, uint32_t lkey_b, uint64_t addr_a,
		      uint64_t addr_b)
{
	struct layout *la = good_layout(&a), *lb = good_layout(&b);
	struct key ka, kb;

	la->sge[la->count++] = (struct ibv_sge){ addr_a, LENGTH, lkey_a };
	lb->sge[lb->count++] = (struct ibv_sge){ addr_b, LENGTH, lkey_b };
	ka = new_key(la, ALL_RIGHTS, BY_REQUEST);
	kb = new_key(lb, ALL_RIGHTS, BY_CALL);
	exercise(&ka, &kb);
	no_access(2 * LENGTH, LENGTH, ka.mkey, kb.mkey);
	CHECK(!siroccodv_destroy_mkey(ka.mkey));
	CHECK(!siroccodv_destroy_mkey(kb.mkey));
}

static void access__without_layout(void)
{
	set_up();
	no_access(0, 1, make_mkey(&a, 1, 0), make_mkey(&b, 1, 0));
}

static void access__out_of_bounds(void)
{
	const uint64_t iova = 0x10000;
	struct key ka = {}, kb = {};

	set_up();
	ka.mkey = make_mkey(&a, 2, 0);
	kb.mkey = make_mkey(&b, 2, 0);
	configure_at(&ka, good_layout(&a), ALL_RIGHTS, BY_REQUEST, iova);
	configure_at(&kb, good_layout(&b), ALL_RIGHTS, BY_REQUEST, iova);
	no_access(iova, 2 * LENGTH + 1, ka.mkey, kb.mkey);
	no_access(iova + 2 * LENGTH, 1, ka.mkey, kb.mkey);
	no_access(iova - 1, 2, ka.mkey, kb.mkey);
	no_access(0, 1, ka.mkey, kb.mkey);
	no_access(-1ull, 2, ka.mkey, kb.mkey);
	exercise(&ka, &kb);
}

static void entry__of_another_domain(void)
{
	struct ibv_mr *ma, *mb;

	set_up();
	ma = ibv_reg_mr(ibv_alloc_pd(a.context), a.memory, MEMORY, ALL_RIGHTS);
	mb = ibv_reg_mr(ibv_alloc_pd(b.context), b.memory, MEMORY, ALL_RIGHTS);
	CHECK(ma && mb);
	bad_entry(ma->lkey, mb->lkey, (uintptr_t)a.memory, (uintptr_t)b.memory);
}

static void entry__of_another_mkey(void)
{
	struct key ka, kb;

	set_up();
	ka = new_key(good_layout(&a), ALL_RIGHTS, BY_REQUEST);
	kb = new_key(good_layout(&b), ALL_RIGHTS, BY_REQUEST);
	bad_entry(ka.mkey->lkey, kb.mkey->lkey, 0, 0);
}

/* The numbers of kernel regions, whatever they are, and keys that never were. */
static void entry__of_the_kernel(void)
{
	static const uint32_t keys[] = { 0, 1, 0x100, 0x101, 0x200, 0x300,
					 0xffffff00, -1u };
	size_t i;

	set_up();
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		bad_entry(keys[i], keys[i], (uintptr_t)a.memory,
			  (uintptr_t)b.memory);
}

static void entry__beyond_its_region(void)
{
	set_up();
	bad_entry(a.mr->lkey, b.mr->lkey,
		  (uintptr_t)a.memory + MEMORY - LENGTH + 1,
		  (uintptr_t)b.memory - 1);
}

static void entry__deregistered(void)
{
	struct layout *la, *lb;
	struct ibv_mr *ma, *mb;
	struct key ka, kb;

	set_up();
	ma = ibv_reg_mr(a.pd, a.memory, MEMORY, ALL_RIGHTS);
	mb = ibv_reg_mr(b.pd, b.memory, MEMORY, ALL_RIGHTS);
	CHECK(ma && mb);
	la = good_layout(&a);
	lb = good_layout(&b);
	la->sge[1].lkey = ma->lkey;
	lb->sge[1].lkey = mb->lkey;
	ka = new_key(la, ALL_RIGHTS, BY_REQUEST);
	kb = new_key(lb, ALL_RIGHTS, BY_REQUEST);
	exercise(&ka, &kb);
	CHECK(!ibv_dereg_mr(ma) && !ibv_dereg_mr(mb));
	no_access(LENGTH, 1, ka.mkey, kb.mkey);
	la->length = lb->length = LENGTH;
	exercise(&ka, &kb);
}

/* ---- rights ---- */

static bool may(enum ibv_wr_opcode opcode, uint32_t rights)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return rights & IBV_ACCESS_REMOTE_WRITE;
	case IBV_WR_RDMA_READ:
		return rights & IBV_ACCESS_REMOTE_READ;
	default:
		return rights & IBV_ACCESS_REMOTE_ATOMIC;
	}
}

static void check_rights(struct siroccodv_mkey *mkey, uint32_t rights,
			 bool child_is_writable)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD
	};
	enum ibv_wc_status status;
	bool good;
	int i;

	for (i = 0; i < 3; i++) {
		good = may(opcodes[i], rights) &&
		       (child_is_writable || opcodes[i] == IBV_WR_RDMA_READ);
		status = transfer(opcodes[i], plain_sge(&a, 8), mkey->rkey, 0);
		if (status != (good ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR)) {
			printf("opcode %d, rights 0x%x, child %s: status %d\n",
			       opcodes[i], rights,
			       child_is_writable ? "writable" : "read-only",
			       status);
			exit(1);
		}
		if (status)
			reconnect();
	}
}

static void access__rights(void)
{
	struct layout *good, *poor;
	struct ibv_mr *read_only;
	struct key key = {};
	uint32_t rights;

	set_up();
	read_only = ibv_reg_mr(b.pd, b.memory, MEMORY, 0);
	CHECK(read_only);
	good = new_list(&b);
	add_piece(good, 64, 64);
	poor = new_list(&b);
	add_piece(poor, 64, 64);
	poor->sge[0].lkey = read_only->lkey;
	key.mkey = make_mkey(&b, 1, 0);
	for (rights = 0; rights <= ALL_RIGHTS; rights++) {
		if (rights & ~ALL_RIGHTS)
			continue;
		if (!(rights & IBV_ACCESS_LOCAL_WRITE) &&
		    rights & ~IBV_ACCESS_REMOTE_READ)
			continue;
		configure(&key, good, rights, BY_CALL);
		check_rights(key.mkey, rights, true);
		configure(&key, poor, rights, BY_REQUEST);
		check_rights(key.mkey, rights, false);
	}
}

/* A receive needs the local right of the key and of the region below. */
static void access__local_write(void)
{
	struct key key = {};

	set_up();
	key.mkey = make_mkey(&b, 2, 0);
	configure(&key, good_layout(&b), IBV_ACCESS_REMOTE_READ, BY_CALL);
	post_recv(&b, (struct ibv_sge){ 0, 10, key.mkey->lkey });
	CHECK(transfer(IBV_WR_SEND, plain_sge(&a, 10), 0, 0));
	CHECK_IS(completion(&b).status, IBV_WC_LOC_PROT_ERR);
	CHECK(as_expected());
}

/* ---- atomics ---- */

static void atomic__in_one_entry(void)
{
	uint64_t *counter;
	struct layout *l;
	struct key kb;
	uint64_t before;

	set_up();
	l = new_list(&b);
	add_piece(l, 64, 16);
	add_piece(l, 1024, 12);
	add_piece(l, 2053, 16);
	kb = new_key(l, ALL_RIGHTS, BY_REQUEST);
	counter = (uint64_t *)(b.memory + 72);
	before = *counter;
	CHECK_IS(transfer(IBV_WR_ATOMIC_FETCH_AND_ADD, plain_sge(&a, 8),
			  kb.mkey->rkey, 8), IBV_WC_SUCCESS);
	CHECK(*counter == before + 1);
	CHECK(!memcmp(a.memory + LAYOUT_AREA, &before, 8));
	memcpy(b.image + 72, counter, 8);
	memcpy(a.image + LAYOUT_AREA, &before, 8);
	/* 24: in two entries; 32: at an odd address; 4: of an odd address */
	CHECK_IS(transfer(IBV_WR_ATOMIC_FETCH_AND_ADD, plain_sge(&a, 8),
			  kb.mkey->rkey, 24), IBV_WC_REM_INV_REQ_ERR);
	reconnect();
	CHECK_IS(transfer(IBV_WR_ATOMIC_FETCH_AND_ADD, plain_sge(&a, 8),
			  kb.mkey->rkey, 32), IBV_WC_REM_INV_REQ_ERR);
	reconnect();
	CHECK_IS(transfer(IBV_WR_ATOMIC_FETCH_AND_ADD, plain_sge(&a, 8),
			  kb.mkey->rkey, 4), IBV_WC_REM_INV_REQ_ERR);
	CHECK(as_expected());
}

static void atomic__result_through_lkey(void)
{
	struct layout *l;
	uint64_t before;
	struct key ka;

	set_up();
	l = new_list(&a);
	add_piece(l, 501, 3);
	add_piece(l, 601, 5);
	ka = new_key(l, ALL_RIGHTS, BY_REQUEST);
	memcpy(&before, b.memory, 8);
	CHECK_IS(transfer(IBV_WR_ATOMIC_FETCH_AND_ADD,
			  (struct ibv_sge){ 0, 8, ka.mkey->lkey }, b.mr->rkey,
			  (uintptr_t)b.memory), IBV_WC_SUCCESS);
	memcpy(a.image + 501, &before, 3);
	memcpy(a.image + 601, (uint8_t *)&before + 3, 5);
	before++;
	memcpy(b.image, &before, 8);
	CHECK(as_expected());
}

/* ---- invalidation ---- */

static enum ibv_wc_status send_inv(uint32_t rkey)
{
	struct ibv_sge sge = plain_sge(&a, 8);

	ibv_wr_start(a.qp_ex);
	a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_inv(a.qp_ex, rkey);
	ibv_wr_set_sge(a.qp_ex, sge.lkey, sge.addr, sge.length);
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
	return completion(&a).status;
}

static void send_inv__clears_the_key(void)
{
	struct key ka = {}, kb = {};
	struct ibv_wc wc;

	set_up();
	ka = new_key(good_layout(&a), ALL_RIGHTS, BY_REQUEST);
	kb.mkey = make_mkey(&b, 2, SIROCCODV_MKEY_REMOTE_INVALIDATE);
	configure(&kb, good_layout(&b), ALL_RIGHTS, BY_REQUEST);
	exercise(&ka, &kb);
	post_recv(&b, plain_sge(&b, 8));
	CHECK_IS(send_inv(kb.mkey->rkey), IBV_WC_SUCCESS);
	wc = completion(&b);
	CHECK_IS(wc.status, IBV_WC_SUCCESS);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV &&
	      wc.invalidated_rkey == kb.mkey->rkey);
	memcpy(b.image + LAYOUT_AREA, a.image + LAYOUT_AREA, 8);
	CHECK_IS(local_inv(&a, ka.mkey->lkey), IBV_WC_SUCCESS);
	no_access(0, 1, ka.mkey, kb.mkey);
	configure(&ka, good_layout(&a), ALL_RIGHTS, BY_REQUEST);
	configure(&kb, good_layout(&b), ALL_RIGHTS, BY_CALL);
	exercise(&ka, &kb);
}

static void send_inv__not_allowed(void)
{
	struct key kb;

	set_up();
	kb = new_key(good_layout(&b), ALL_RIGHTS, BY_REQUEST);
	post_recv(&b, plain_sge(&b, 8));
	CHECK_IS(send_inv(kb.mkey->rkey), IBV_WC_REM_ACCESS_ERR);
	memcpy(b.image + LAYOUT_AREA, b.memory + LAYOUT_AREA, 8);
	reconnect();
	exercise(NULL, &kb);

	/* Nor can a plain region be invalidated. */
	post_recv(&b, plain_sge(&b, 8));
	CHECK_IS(send_inv(b.mr->rkey), IBV_WC_REM_ACCESS_ERR);
	memcpy(b.image + LAYOUT_AREA, b.memory + LAYOUT_AREA, 8);
	reconnect();
	exercise(NULL, &kb);
}

static void local_inv__clears_the_key(void)
{
	struct key ka, kb;

	set_up();
	ka = new_key(good_layout(&a), ALL_RIGHTS, BY_REQUEST);
	kb = new_key(good_layout(&b), ALL_RIGHTS, BY_REQUEST);
	CHECK_IS(local_inv(&a, ka.mkey->lkey), IBV_WC_SUCCESS);
	CHECK_IS(local_inv(&b, kb.mkey->lkey), IBV_WC_SUCCESS);
	no_access(0, 1, ka.mkey, kb.mkey);
	/* Access alone makes no layout come back. */
	CHECK_IS(siroccodv_mkey_configure(kb.mkey,
		&(struct siroccodv_mkey_config){
			.comp_mask = SIROCCODV_MKEY_CONFIG_ACCESS,
			.access_flags = ALL_RIGHTS }), 0);
	no_access(0, 1, ka.mkey, kb.mkey);
	configure(&ka, good_layout(&a), ALL_RIGHTS, BY_CALL);
	configure(&kb, good_layout(&b), ALL_RIGHTS, BY_TABLE);
	exercise(&ka, &kb);
}

static void local_inv__of_another_domain(void)
{
	struct siroccodv_mkey_init_attr attr = {
		.create_flags = SIROCCODV_MKEY_INDIRECT,
		.max_entries = 1,
	};
	struct siroccodv_mkey *mkey;

	set_up();
	attr.pd = ibv_alloc_pd(a.context);
	mkey = siroccodv_create_mkey(&attr);
	CHECK(mkey);
	CHECK_IS(local_inv(&a, mkey->lkey), IBV_WC_MW_BIND_ERR);
	reconnect();
	CHECK_IS(local_inv(&a, a.mr->lkey), IBV_WC_MW_BIND_ERR);
	reconnect();
	CHECK_IS(local_inv(&a, 0), IBV_WC_MW_BIND_ERR);
}

const struct scenario access_scenarios[] = {
	SCENARIO(access__without_layout),
	SCENARIO(access__out_of_bounds),
	SCENARIO(access__rights),
	SCENARIO(access__local_write),
	SCENARIO(entry__of_another_domain),
	SCENARIO(entry__of_another_mkey),
	SCENARIO(entry__of_the_kernel),
	SCENARIO(entry__beyond_its_region),
	SCENARIO(entry__deregistered),
	SCENARIO(atomic__in_one_entry),
	SCENARIO(atomic__result_through_lkey),
	SCENARIO(send_inv__clears_the_key),
	SCENARIO(send_inv__not_allowed),
	SCENARIO(local_inv__clears_the_key),
	SCENARIO(local_inv__of_another_domain),
	{},
};
