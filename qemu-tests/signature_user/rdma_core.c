// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What rdma-core's tests of mkeys do, here: a sends to b through mkeys of both. Pieces
 * of 8 bytes; blocks of 512 with the values of those tests.
 */
#include <poll.h>

#include "scenarios.h"
#include "signer.h"

#define SENDS 10

static const struct siroccodv_mkey_conf_attr no_attr;

struct pair {
	struct siroccodv_mkey *a;
	struct siroccodv_mkey *b;
};

static struct pair make_pair(uint32_t flags)
{
	return (struct pair){ make_mkey(&a, 2, flags), make_mkey(&b, 2, flags) };
}

static void begin(struct end *e, struct siroccodv_mkey *mkey, uint8_t setters)
{
	ibv_wr_start(e->qp_ex);
	e->qp_ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	siroccodv_wr_mkey_configure(e->dv_qp, mkey, setters, &no_attr);
	siroccodv_wr_set_mkey_access_flags(e->dv_qp, IBV_ACCESS_LOCAL_WRITE |
							     IBV_ACCESS_REMOTE_WRITE);
}

static void end_configuration(struct end *e)
{
	CHECK_IS(ibv_wr_complete(e->qp_ex), 0);
	CHECK_IS(completion(e).status, IBV_WC_SUCCESS);
}

static enum ibv_wc_status send_through(struct pair pair, uint32_t length)
{
	struct ibv_sge sge = { 0, length, pair.a->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND };
	enum ibv_wc_status status;

	post_recv(&b, (struct ibv_sge){ 0, length, pair.b->lkey });
	status = execute(&wr);
	if (!status)
		CHECK_IS(completion(&b).status, IBV_WC_SUCCESS);
	return status;
}

/* Two pieces of 8 bytes at each end, so and so many times. */
static void send_pieces(struct pair pair, uint32_t rows)
{
	uint32_t round, row, i;

	for (round = 0; round < SENDS; round++) {
		for (i = 0; i < 128; i++)
			a.memory[i] = a.image[i] = random_number();
		for (row = 0; row < rows; row++) {
			memcpy(b.image + 10 * row, a.image + 10 * row, 8);
			memcpy(b.image + 64 + 10 * row, a.image + 64 + 10 * row, 8);
		}
		CHECK_IS(send_through(pair, 16 * rows), IBV_WC_SUCCESS);
		CHECK(as_expected());
	}
}

static void invalidate(struct pair pair)
{
	CHECK_IS(local_inv(&a, pair.a->lkey), IBV_WC_SUCCESS);
	CHECK_IS(local_inv(&b, pair.b->lkey), IBV_WC_SUCCESS);
	CHECK_IS(send_through(pair, 16), IBV_WC_LOC_PROT_ERR);
}

/* ---- layouts ---- */

static void two_sges(struct end *e, struct ibv_sge sge[2])
{
	sge[0] = (struct ibv_sge){ (uintptr_t)e->memory, 8, e->mr->lkey };
	sge[1] = (struct ibv_sge){ (uintptr_t)e->memory + 64, 8, e->mr->lkey };
}

static void set_list(struct end *e, struct siroccodv_mkey *mkey)
{
	struct ibv_sge sge[2];

	two_sges(e, sge);
	begin(e, mkey, 2);
	siroccodv_wr_set_mkey_layout_list(e->dv_qp, 2, sge);
	end_configuration(e);
}

static struct pair listed_pair(uint32_t flags)
{
	struct pair pair = make_pair(flags);

	set_list(&a, pair.a);
	set_list(&b, pair.b);
	return pair;
}

/* Gives mkeys of both ends @rows times two pieces, uses and invalidates them. */
static void send_through_pieces(void (*configure)(struct end *, struct siroccodv_mkey *),
				uint32_t rows)
{
	struct pair pair;

	set_up();
	pair = make_pair(0);
	configure(&a, pair.a);
	configure(&b, pair.b);
	send_pieces(pair, rows);
	invalidate(pair);
}

/* The pair of calls that is older in mlx5 is one call here. */
static void register_list(struct end *e, struct siroccodv_mkey *mkey)
{
	struct ibv_sge sge[2];

	two_sges(e, sge);
	e->qp_ex->wr_flags = IBV_SEND_SIGNALED;
	CHECK_IS(siroccodv_post_reg_indir(e->dv_qp, mkey, IBV_ACCESS_LOCAL_WRITE, 0, 2, sge), 0);
	CHECK_IS(completion(e).status, IBV_WC_SUCCESS);
}

static void mkey_list(void)
{
	send_through_pieces(register_list, 1);
}

static void mkey_list_new_api(void)
{
	send_through_pieces(set_list, 1);
}

/* Pages on demand are not offered, so there is nothing to be above of. */
static void odp_mkey_list_new_api(void)
{
	struct ibv_device_attr_ex attr = {};

	set_up();
	CHECK(!ibv_query_device_ex(a.context, NULL, &attr));
	CHECK_IS(attr.odp_caps.general_caps, 0);
	CHECK(!ibv_reg_mr(a.pd, a.memory, 4096,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
}

static struct siroccodv_mr_interleaved *two_strides(struct end *e)
{
	static struct siroccodv_mr_interleaved piece[2];
	int i;

	for (i = 0; i < 2; i++)
		piece[i] = (struct siroccodv_mr_interleaved){
			(uintptr_t)e->memory + 64 * i, 8, 2, e->mr->lkey, 0
		};
	return piece;
}

static void configure_strides(struct end *e, struct siroccodv_mkey *mkey)
{
	const struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_INTERLEAVED |
			     SIROCCODV_MKEY_CONFIG_ACCESS,
		.access_flags = IBV_ACCESS_LOCAL_WRITE,
		.repeat_count = 3,
		.num_entries = 2,
		.interleaved = two_strides(e),
	};

	CHECK_IS(siroccodv_mkey_configure(mkey, &config), 0);
}

static void mkey_interleaved(void)
{
	send_through_pieces(configure_strides, 3);
}

static void set_strides(struct end *e, struct siroccodv_mkey *mkey)
{
	begin(e, mkey, 2);
	siroccodv_wr_set_mkey_layout_interleaved(e->dv_qp, 3, 2, two_strides(e));
	end_configuration(e);
}

static void mkey_interleaved_new_api(void)
{
	send_through_pieces(set_strides, 3);
}

static void mkey_list_bad_flow(void)
{
	set_up();
	CHECK_IS(send_through(listed_pair(0), 100), IBV_WC_LOC_PROT_ERR);
}

static void mkey_remote_invalidate(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND_WITH_INV };
	struct ibv_wc wc;
	struct pair pair;

	set_up();
	sge = plain_sge(&a, 8);
	pair = listed_pair(SIROCCODV_MKEY_REMOTE_INVALIDATE);
	send_pieces(pair, 1);
	wr.invalidate_rkey = pair.b->rkey;
	post_recv(&b, plain_sge(&b, 8));
	CHECK_IS(execute(&wr), IBV_WC_SUCCESS);
	wc = completion(&b);
	CHECK_IS(wc.status, IBV_WC_SUCCESS);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV);
	CHECK_IS(wc.invalidated_rkey, pair.b->rkey);
	CHECK(send_through(pair, 16) != IBV_WC_SUCCESS);
}

/* ---- signatures ---- */

static void set_block(struct end *e, struct siroccodv_mkey *mkey,
		      uint32_t length, const struct siroccodv_sig_block_attr *sig)
{
	const struct ibv_sge sge = { (uintptr_t)e->memory, length,
				     e->mr->lkey };

	begin(e, mkey, sig ? 3 : 2);
	siroccodv_wr_set_mkey_layout_list(e->dv_qp, 1, &sge);
	if (sig)
		siroccodv_wr_set_mkey_sig_block(e->dv_qp, sig);
	end_configuration(e);
}

static void expect_type(struct siroccodv_mkey *mkey, uint32_t type)
{
	struct siroccodv_mkey_err err;

	CHECK_IS(siroccodv_mkey_check(mkey, &err), 0);
	CHECK_IS(err.err_type, type);
}

static void send_blocks(struct pair pair, uint32_t length)
{
	int i;

	for (i = 0; i < SENDS; i++) {
		memset(a.memory, 'c', 520);
		memset(a.image, 'c', 520);
		memset(b.memory, 's', 520);
		memset(b.image, 's', 520);
		memset(b.image, 'c', 512);
		CHECK_IS(send_through(pair, length), IBV_WC_SUCCESS);
		CHECK(as_expected());
	}
}

static struct pair signed_pair(const struct siroccodv_sig_block_attr *sig)
{
	struct pair pair = make_pair(SIROCCODV_MKEY_BLOCK_SIGNATURE);

	set_block(&a, pair.a, 512, sig);
	set_block(&b, pair.b, 512, sig);
	return pair;
}

static void mkey_sig_t10dif(void)
{
	static const struct siroccodv_sig_t10dif dif = {
		.bg_type = SIROCCODV_SIG_T10DIF_CRC,
		.bg = 0xffff,
		.app_tag = 0xabcd,
		.ref_tag = 0x01234567,
		.flags = SIROCCODV_SIG_T10DIF_FLAG_REF_REMAP,
	};
	static const struct siroccodv_sig_block_domain wire = {
		.sig_type = SIROCCODV_SIG_TYPE_T10DIF,
		.block_size = SIROCCODV_BLOCK_SIZE_512,
		.dif = &dif,
	};
	const struct siroccodv_sig_block_attr sig = {
		.wire = &wire,
		.check_mask = SIROCCODV_SIG_MASK_T10DIF_GUARD |
			      SIROCCODV_SIG_MASK_T10DIF_APPTAG |
			      SIROCCODV_SIG_MASK_T10DIF_REFTAG,
	};
	struct pair pair;

	set_up();
	pair = signed_pair(&sig);
	send_blocks(pair, 520);
	expect_type(pair.a, SIROCCODV_MKEY_NO_ERR);
	expect_type(pair.b, SIROCCODV_MKEY_NO_ERR);
	invalidate(pair);
}

static const struct siroccodv_sig_crc crc32_ones = {
	.type = SIROCCODV_SIG_CRC_TYPE_CRC32,
	.seed = 0xffffffff,
};

static const struct siroccodv_sig_block_domain crc32_512 = {
	.sig_type = SIROCCODV_SIG_TYPE_CRC,
	.block_size = SIROCCODV_BLOCK_SIZE_512,
	.crc = &crc32_ones,
};

static void mkey_sig_crc(void)
{
	const struct siroccodv_sig_block_attr sig = {
		.wire = &crc32_512,
		.check_mask = SIROCCODV_SIG_MASK_CRC32,
	};
	struct pair pair;

	set_up();
	pair = signed_pair(&sig);
	send_blocks(pair, 516);
	expect_type(pair.a, SIROCCODV_MKEY_NO_ERR);
	expect_type(pair.b, SIROCCODV_MKEY_NO_ERR);
	invalidate(pair);
}

/* Nobody has put a CRC into memory. */
static void mkey_sig_err(void)
{
	const struct siroccodv_sig_block_attr sig = {
		.mem = &crc32_512,
		.check_mask = SIROCCODV_SIG_MASK_CRC32,
	};
	struct pair pair;

	set_up();
	pair = make_pair(SIROCCODV_MKEY_BLOCK_SIGNATURE);
	set_block(&a, pair.a, 516, &sig);
	set_block(&b, pair.b, 512, NULL);
	send_blocks(pair, 512);
	expect_type(pair.a, SIROCCODV_MKEY_SIG_BLOCK_BAD_GUARD);
	expect_type(pair.b, SIROCCODV_MKEY_NO_ERR);
	invalidate(pair);
}

/* ---- pipelining ---- */

static struct pair pipelined_pair(uint8_t check_mask)
{
	static const struct siroccodv_sig_crc crc = {
		.type = SIROCCODV_SIG_CRC_TYPE_CRC32,
	};
	static const struct siroccodv_sig_block_domain memory = {
		.sig_type = SIROCCODV_SIG_TYPE_CRC,
		.block_size = SIROCCODV_BLOCK_SIZE_512,
		.crc = &crc,
	};
	const struct siroccodv_sig_block_attr sig = { .mem = &memory,
						      .check_mask = check_mask };
	struct pair pair;

	set_up_with(SIROCCODV_QP_CREATE_SIG_PIPELINING);
	pair = make_pair(SIROCCODV_MKEY_BLOCK_SIGNATURE);
	set_block(&a, pair.a, 516, &sig);
	set_block(&b, pair.b, 512, NULL);
	return pair;
}

static void post_data(struct pair pair)
{
	struct ibv_sge sge = { 0, 512, pair.a->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma.rkey = pair.b->rkey,
	}, *bad;

	CHECK(!ibv_post_send(a.qp, &wr, &bad));
}

static void post_response(void)
{
	struct ibv_sge sge = { (uintptr_t)a.memory, 16, a.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
	}, *bad;

	CHECK(!ibv_post_send(a.qp, &wr, &bad));
}

static void post_transaction(struct pair pair)
{
	post_recv(&b, (struct ibv_sge){ (uintptr_t)b.memory, 16, b.mr->lkey });
	post_data(pair);
	post_response();
}

static void mkey_sig_pipelining_good(void)
{
	post_transaction(pipelined_pair(0));
	CHECK_IS(completion(&a).status, IBV_WC_SUCCESS);
	CHECK_IS(completion(&b).status, IBV_WC_SUCCESS);
}

static void wait_for_drained(void)
{
	struct pollfd fd = { .fd = a.context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	CHECK(poll(&fd, 1, 30000) == 1);
	CHECK(!ibv_get_async_event(a.context, &event));
	CHECK_IS(event.event_type, IBV_EVENT_SQ_DRAINED);
	ibv_ack_async_event(&event);
}

static void mkey_sig_pipelining_bad(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .cur_qp_state = IBV_QPS_SQD };
	struct pair pair = pipelined_pair(SIROCCODV_SIG_MASK_CRC32);

	post_transaction(pair);
	wait_for_drained();
	CHECK(is_idle(&a) && is_idle(&b));
	expect_type(pair.a, SIROCCODV_MKEY_SIG_BLOCK_BAD_GUARD);
	expect_type(pair.b, SIROCCODV_MKEY_NO_ERR);
	CHECK_IS(siroccodv_qp_cancel_posted_send_wrs(a.dv_qp, 1), 1);
	post_response();
	CHECK(!ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	CHECK_IS(completion(&a).status, IBV_WC_SUCCESS);
	CHECK_IS(completion(&a).status, IBV_WC_SUCCESS);
	CHECK_IS(completion(&b).status, IBV_WC_SUCCESS);
}

const struct scenario rdma_core_scenarios[] = {
	SCENARIO(mkey_interleaved),
	SCENARIO(mkey_interleaved_new_api),
	SCENARIO(mkey_list),
	SCENARIO(mkey_list_new_api),
	SCENARIO(odp_mkey_list_new_api),
	SCENARIO(mkey_list_bad_flow),
	SCENARIO(mkey_remote_invalidate),
	SCENARIO(mkey_sig_t10dif),
	SCENARIO(mkey_sig_crc),
	SCENARIO(mkey_sig_err),
	SCENARIO(mkey_sig_pipelining_good),
	SCENARIO(mkey_sig_pipelining_bad),
	{},
};
