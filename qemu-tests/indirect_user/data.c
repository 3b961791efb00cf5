// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Data through mkeys arrives where the layouts say. */
#include "layout.h"
#include "scenarios.h"

#define TOP_PAGE 0xfffffffffffff000ull

/* Every way to configure, the same layout. */
static void exercise_all_ways(struct layout *la, struct layout *lb)
{
	enum way way;

	for (way = 0; way < WAYS; way++) {
		struct key ka = new_key(la, ALL_RIGHTS, way);
		struct key kb = new_key(lb, ALL_RIGHTS, way);

		exercise(&ka, &kb);
		CHECK(!siroccodv_destroy_mkey(ka.mkey));
		CHECK(!siroccodv_destroy_mkey(kb.mkey));
	}
}

/* The pieces of rdma-core's tests of mkeys. */
static struct layout *two_pieces(struct end *e)
{
	struct layout *l = new_list(e);

	add_piece(l, 0, 8);
	add_piece(l, 64, 8);
	return l;
}

static struct layout *two_rows_of_pieces(struct end *e)
{
	struct layout *l = new_interleaved(e, 3);

	add_interleaved(l, 0, 8, 2);
	add_interleaved(l, 64, 8, 2);
	return l;
}

static void list__two_pieces(void)
{
	set_up();
	exercise_all_ways(two_pieces(&a), two_pieces(&b));
}

static void interleaved__two_pieces(void)
{
	struct layout *l;

	set_up();
	l = two_rows_of_pieces(&a);
	CHECK(l->length == 48);
	exercise_all_ways(l, two_rows_of_pieces(&b));
}

static void list__random(void)
{
	set_up();
	exercise_all_ways(random_list(&a, 20, 1, 9000),
			  random_list(&b, 13, 1, 30000));
}

static void list__one_byte_entries(void)
{
	set_up();
	exercise_all_ways(random_list(&a, 32, 1, 1), random_list(&b, 31, 1, 1));
}

static void list__entries_across_mtu(void)
{
	set_up();
	exercise_all_ways(random_list(&a, 32, MTU - 1, MTU + 1),
			  random_list(&b, 32, MTU + 1, 2 * MTU + 1));
}

static struct layout *with_empty_entries(struct end *e)
{
	struct layout *l = new_list(e);

	add_piece(l, 5, 0);
	add_piece(l, 1000, 77);
	add_piece(l, 0, 0);
	add_piece(l, 0, 0);
	add_piece(l, 3000, 2049);
	add_piece(l, 9, 0);
	return l;
}

static void list__empty_entries(void)
{
	set_up();
	exercise_all_ways(with_empty_entries(&a), with_empty_entries(&b));
}

static struct layout *pages(struct end *e)
{
	struct layout *l = new_list(e);
	uint32_t i;

	add_piece(l, 100, 3996);
	for (i = 1; i < 31; i++)
		add_piece(l, (i * 7 % 31 + 1) * 8192, 4096);
	add_piece(l, 40 * 8192, 17);
	return l;
}

static void list__pages(void)
{
	set_up();
	exercise_all_ways(pages(&a), pages(&b));
}

static void list__most_entries(void)
{
	struct key ka, kb;

	set_up();
	ka = new_key(random_list(&a, MAX_ENTRIES, 1, 256), ALL_RIGHTS, BY_TABLE);
	kb = new_key(random_list(&b, MAX_ENTRIES, 1, 200), ALL_RIGHTS, BY_CALL);
	exercise(&ka, &kb);
}

static void interleaved__long_rows(void)
{
	struct layout *la, *lb;

	set_up();
	la = new_interleaved(&a, 100);
	add_interleaved(la, 0, 1500, 3);
	add_interleaved(la, 200000, 1, 1);
	add_interleaved(la, 300000, 0, 9);
	add_interleaved(la, 400000, 4096, 0);
	lb = new_interleaved(&b, 1);
	add_interleaved(lb, 7, 100000, 1u << 19);
	exercise_all_ways(la, lb);
}

static void interleaved__table_of_many(void)
{
	struct layout *l;
	struct key kb;
	uint32_t i;

	set_up();
	l = new_interleaved(&b, 4);
	for (i = 0; i < 1000; i++)
		add_interleaved(l, i * 1000 + i % 7, 5 + i % 40, 1 + i % 99);
	kb = new_key(l, ALL_RIGHTS, BY_TABLE);
	exercise(NULL, &kb);
}

/* ---- addresses ---- */

static void iova__chosen(void)
{
	static const uint64_t iovas[] = { 4096, 0x7fff12345000, 12345678901,
					  TOP_PAGE };
	struct key ka = {}, kb = {};
	struct layout *l;
	enum way way;
	size_t i;

	set_up();
	l = new_list(&b);
	add_piece(l, 3, 2000);
	add_piece(l, 5000, 2000);
	ka.mkey = make_mkey(&a, 20, 0);
	kb.mkey = make_mkey(&b, 20, 0);
	for (i = 0; i < sizeof(iovas) / sizeof(iovas[0]); i++) {
		for (way = 0; way < WAYS; way++) {
			configure_at(&ka, random_list(&a, 20, 1, 9000),
				     ALL_RIGHTS, way, 4096 * i);
			configure_at(&kb, l, ALL_RIGHTS, way, iovas[i]);
			exercise(&ka, &kb);
		}
	}
}

static void post_reg_indir__any_iova(void)
{
	static const uint64_t iovas[] = { 0, 4096, TOP_PAGE };
	struct layout *l;
	struct ibv_wc wc;
	struct key kb;
	size_t i;

	set_up();
	l = new_list(&b);
	add_piece(l, 1, 1999);
	add_piece(l, 7001, 95);
	add_piece(l, 3000, 2000);
	kb = (struct key){ make_mkey(&b, 3, 0), l, 0 };
	b.qp_ex->wr_id = 21;
	b.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	for (i = 0; i < sizeof(iovas) / sizeof(iovas[0]); i++) {
		kb.iova = iovas[i];
		CHECK_IS(siroccodv_post_reg_indir(b.dv_qp, kb.mkey, ALL_RIGHTS,
						  iovas[i], l->count, l->sge),
			 0);
		wc = completion(&b);
		CHECK(!wc.status && wc.wr_id == 21 &&
		      wc.opcode == IBV_WC_DRIVER1);
		exercise(NULL, &kb);
	}
	CHECK_IS(siroccodv_post_reg_indir(b.dv_qp, kb.mkey, ALL_RIGHTS,
					  TOP_PAGE + 2, l->count, l->sge),
		 EINVAL);
	exercise(NULL, &kb);
}

/* ---- what a configuration keeps ---- */

/* A request without setters, one with access alone, a layout alone, an iova. */
static void change(struct key *key, uint8_t setters, bool iova)
{
	const struct siroccodv_mkey_conf_attr attr = {
		.comp_mask = iova ? SIROCCODV_MKEY_CONF_ATTR_IOVA : 0,
		.iova = key->iova,
	};

	ibv_wr_start(b.qp_ex);
	b.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	siroccodv_wr_mkey_configure(b.dv_qp, key->mkey, setters, &attr);
}

static void changed(void)
{
	CHECK_IS(ibv_wr_complete(b.qp_ex), 0);
	CHECK_IS(completion(&b).status, IBV_WC_SUCCESS);
}

static void configure__keeps_the_rest(void)
{
	struct layout *other;
	struct key kb;

	set_up();
	kb = new_key(random_list(&b, 10, 1, 900), ALL_RIGHTS, BY_REQUEST);
	change(&kb, 0, false);
	changed();
	exercise(NULL, &kb);

	kb.iova = 0x5000;
	change(&kb, 0, true);
	changed();
	exercise(NULL, &kb);

	change(&kb, 1, false);
	siroccodv_wr_set_mkey_access_flags(b.dv_qp, IBV_ACCESS_REMOTE_READ);
	changed();
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, plain_sge(&a, 1), kb.mkey->rkey,
			  0x5000), IBV_WC_REM_ACCESS_ERR);
	reconnect();
	change(&kb, 1, false);
	siroccodv_wr_set_mkey_access_flags(b.dv_qp, ALL_RIGHTS);
	changed();
	exercise(NULL, &kb);

	/* A layout begins at 0 unless it comes with an iova. */
	other = new_list(&b);
	add_piece(other, 70, 700);
	change(&kb, 1, false);
	siroccodv_wr_set_mkey_layout_list(b.dv_qp, 1, other->sge);
	changed();
	kb.layout = other;
	kb.iova = 0;
	exercise(NULL, &kb);
}

/* Requests behind a configuration see it, without a fence or a completion. */
static void configure__ordered_in_the_queue(void)
{
	const struct siroccodv_mkey_conf_attr attr = {};
	struct siroccodv_mkey *mkey;
	struct layout *l[3];
	uint32_t i, k;

	set_up();
	mkey = make_mkey(&a, 8, 0);
	ibv_wr_start(a.qp_ex);
	for (i = 0; i < 3; i++) {
		l[i] = random_list(&a, 8, 1, 500 << i);
		a.qp_ex->wr_flags = 0;
		siroccodv_wr_mkey_configure(a.dv_qp, mkey, 1, &attr);
		siroccodv_wr_set_mkey_layout_list(a.dv_qp, 8, l[i]->sge);
		ibv_wr_rdma_write(a.qp_ex, b.mr->rkey,
				  plain_va(&b) + i * 100000);
		ibv_wr_set_sge(a.qp_ex, mkey->lkey, 0, l[i]->length);
		a.qp_ex->wr_flags = i == 2 ? IBV_SEND_SIGNALED : 0;
		ibv_wr_local_inv(a.qp_ex, mkey->lkey);
		for (k = 0; k < l[i]->length; k++)
			b.image[LAYOUT_AREA + i * 100000 + k] =
				a.image[l[i]->offset[k]];
	}
	CHECK_IS(ibv_wr_complete(a.qp_ex), 0);
	CHECK_IS(completion(&a).status, IBV_WC_SUCCESS);
	CHECK(as_expected());
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, (struct ibv_sge){ 0, 1, mkey->lkey },
			  b.mr->rkey, plain_va(&b)), IBV_WC_LOC_PROT_ERR);
}

/* ---- tables ---- */

static void table__changed_after_completion(void)
{
	struct layout *l;
	struct key kb;

	set_up();
	l = random_list(&b, 200, 1, 300);
	kb = new_key(l, ALL_RIGHTS, BY_TABLE);
	memset(b.memory + LAYOUT_AREA, 0xff, MAX_ENTRIES * sizeof(l->sge[0]));
	memset(b.image + LAYOUT_AREA, 0xff, MAX_ENTRIES * sizeof(l->sge[0]));
	exercise(NULL, &kb);
}

/* The table is read through the very key that it configures. */
static void table__behind_its_own_key(void)
{
	const struct siroccodv_mkey_conf_attr attr = {};
	struct siroccodv_mkey_table table;
	struct layout *window, *l;
	struct key kb;

	set_up();
	window = new_list(&b);
	add_piece(window, 100, 4096);
	kb = (struct key){ make_mkey(&b, 100, 0), NULL, 0 };
	configure(&kb, window, ALL_RIGHTS, BY_REQUEST);

	l = random_list(&b, 100, 1, 300);
	memcpy(b.memory + 100, l->sge, 100 * sizeof(l->sge[0]));
	memcpy(b.image + 100, l->sge, 100 * sizeof(l->sge[0]));
	table = (struct siroccodv_mkey_table){
		.layout = SIROCCODV_MKEY_LAYOUT_LIST,
		.num_entries = 100,
		.lkey = kb.mkey->lkey,
	};
	ibv_wr_start(b.qp_ex);
	b.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	siroccodv_wr_mkey_configure(b.dv_qp, kb.mkey, 1, &attr);
	siroccodv_wr_set_mkey_layout_table(b.dv_qp, &table);
	changed();
	kb.layout = l;
	exercise(NULL, &kb);
}

const struct scenario data_scenarios[] = {
	SCENARIO(list__two_pieces),
	SCENARIO(list__random),
	SCENARIO(list__one_byte_entries),
	SCENARIO(list__entries_across_mtu),
	SCENARIO(list__empty_entries),
	SCENARIO(list__pages),
	SCENARIO(list__most_entries),
	SCENARIO(interleaved__two_pieces),
	SCENARIO(interleaved__long_rows),
	SCENARIO(interleaved__table_of_many),
	SCENARIO(iova__chosen),
	SCENARIO(post_reg_indir__any_iova),
	SCENARIO(configure__keeps_the_rest),
	SCENARIO(configure__ordered_in_the_queue),
	SCENARIO(table__changed_after_completion),
	SCENARIO(table__behind_its_own_key),
	{},
};
