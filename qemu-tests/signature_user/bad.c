// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What is refused: by the library, by the kernel, and at an access. */
#include "command.h"
#include "scenarios.h"
#include "signer.h"

static struct siroccodv_mkey *signer_mkey(void)
{
	return make_mkey(&a, 4, SIROCCODV_MKEY_BLOCK_SIGNATURE);
}

/* ---- the library ---- */

static int by_call(struct siroccodv_mkey *mkey,
		   const struct siroccodv_sig_block_attr *attr)
{
	const struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_SIG_BLOCK,
		.sig_block = attr,
	};

	return siroccodv_mkey_configure(mkey, &config);
}

static int by_request(struct siroccodv_mkey *mkey,
		      const struct siroccodv_sig_block_attr *attr)
{
	const struct siroccodv_mkey_conf_attr no_attr = {};

	ibv_wr_start(a.qp_ex);
	a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	siroccodv_wr_mkey_configure(a.dv_qp, mkey, 1, &no_attr);
	siroccodv_wr_set_mkey_sig_block(a.dv_qp, attr);
	return ibv_wr_complete(a.qp_ex);
}

static void refused(struct siroccodv_mkey *mkey,
		    const struct siroccodv_sig_block_attr *attr, int error)
{
	CHECK_IS(by_call(mkey, attr), error);
	CHECK_IS(by_request(mkey, attr), error);
	CHECK(is_idle(&a));
}

/* The errno of each bad value; all else is good. */
#define REFUSED(error, ...)                                                  \
	do {                                                                 \
		struct siroccodv_sig_t10dif dif = {};                        \
		struct siroccodv_sig_crc crc = {};                           \
		struct siroccodv_sig_block_domain mem = {                    \
			.sig_type = SIROCCODV_SIG_TYPE_T10DIF,               \
			.block_size = 512, .dif = &dif };                    \
		struct siroccodv_sig_block_domain wire = {                   \
			.sig_type = SIROCCODV_SIG_TYPE_CRC,                  \
			.block_size = 512, .crc = &crc };                    \
		struct siroccodv_sig_block_attr attr = { .mem = &mem,        \
							 .wire = &wire };    \
		__VA_ARGS__;                                                 \
		refused(mkey, &attr, error);                                 \
	} while (0)

static void sig_block__bad_values(void)
{
	struct siroccodv_mkey *mkey;

	set_up();
	mkey = signer_mkey();
	REFUSED(EINVAL, attr.mem = attr.wire = NULL);
	REFUSED(EOPNOTSUPP, attr.comp_mask = 1);
	REFUSED(EOPNOTSUPP, attr.flags = 2);
	REFUSED(EINVAL, attr.flags = 1); /* the structures differ */
	REFUSED(EINVAL, attr.flags = 1; attr.wire = NULL);
	REFUSED(EOPNOTSUPP, mem.comp_mask = 1);
	REFUSED(EINVAL, mem.sig_type = 2);
	REFUSED(EINVAL, mem.block_size = 0);
	REFUSED(EINVAL, wire.block_size = 4);
	REFUSED(EINVAL, wire.block_size = 65536);
	REFUSED(EINVAL, dif.bg_type = 2);
	REFUSED(EINVAL, dif.bg = 0xfff);
	REFUSED(EINVAL, dif.flags = 6);
	REFUSED(EOPNOTSUPP, dif.flags = 8);
	REFUSED(EINVAL, crc.type = 3);
	REFUSED(EINVAL, crc.seed = -1ull);
	REFUSED(EINVAL, crc.reserved = 1);

	/* An mkey that may not have a signature. */
	mkey = make_mkey(&a, 4, 0);
	REFUSED(EINVAL, );
}

static void reset__of_an_mkey_without_signature(void)
{
	const struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_RESET_SIG_ATTR,
	};

	set_up();
	CHECK_IS(siroccodv_mkey_configure(make_mkey(&a, 1, 0), &config),
		 EINVAL);
	CHECK_IS(siroccodv_mkey_configure(signer_mkey(), &config), 0);
}

/* ---- the kernel ---- */

static uint32_t create_raw(uint32_t flags)
{
	struct siro_mkey_create_req req = { flags, 4 };
	struct siro_mkey_create_resp resp = {};
	struct command c = command(SIROCCO_METHOD_MKEY_CREATE);

	add(&c, SIROCCO_ATTR_MKEY_CREATE_HANDLE, 0, 0);
	add(&c, SIROCCO_ATTR_MKEY_CREATE_PD, 0, a.pd->handle);
	add(&c, SIROCCO_ATTR_MKEY_CREATE_REQ, sizeof(req), 0);
	memcpy((void *)&c.attr[2].data, &req, sizeof(req));
	add(&c, SIROCCO_ATTR_MKEY_CREATE_RESP, sizeof(resp), (uintptr_t)&resp);
	CHECK_IS(run(&c), 0);
	CHECK((resp.status_size > 0) ==
	      !!(flags & SIRO_MKEY_BLOCK_SIGNATURE));
	return c.attr[0].data;
}

static int configure_raw(uint32_t handle, uint32_t set,
			 const struct siro_mkey_sig *sig)
{
	const struct siro_mkey_conf conf = { .set = set };
	struct command c = command(SIROCCO_METHOD_MKEY_CONFIGURE);

	add(&c, SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE, 0, handle);
	add(&c, SIROCCO_ATTR_MKEY_CONFIGURE_CONF, sizeof(conf),
	    (uintptr_t)&conf);
	if (sig)
		add(&c, SIROCCO_ATTR_MKEY_CONFIGURE_SIGNATURE, sizeof(*sig),
		    (uintptr_t)sig);
	return run(&c);
}

#define RAW(error, ...)                                                      \
	do {                                                                 \
		struct siro_mkey_sig sig = {                                 \
			.memory = { .format = SIRO_SIG_T10_CRC,              \
				    .interval = 512 },                       \
			.wire = { .format = SIRO_SIG_CRC32,                  \
				  .interval = 512 },                         \
		};                                                           \
		__VA_ARGS__;                                                 \
		CHECK_IS(configure_raw(handle, SIRO_MKEY_SIGNATURE, &sig),   \
			 error);                                             \
	} while (0)

static void configure_raw__bad_values(void)
{
	const struct siro_mkey_sig sig = {
		.memory = { .format = SIRO_SIG_CRC32, .interval = 512 }
	};
	uint32_t handle;

	set_up();
	handle = create_raw(SIRO_MKEY_INDIRECT | SIRO_MKEY_BLOCK_SIGNATURE);
	RAW(0, );
	RAW(EINVAL, sig.flags = 2);
	RAW(EINVAL, sig.flags = 1); /* the structures differ */
	RAW(EINVAL, sig.copy_mask = 1);
	RAW(EINVAL, sig.reserved = 1);
	RAW(EINVAL, sig.memory.reserved = 1);
	RAW(EINVAL, sig.wire.reserved = 1);
	RAW(EINVAL, sig.memory.format = 6);
	RAW(EINVAL, sig.wire.format = 0xffff);
	RAW(EINVAL, sig.memory.interval = 0);
	RAW(EINVAL, sig.memory.interval = 12);
	RAW(EINVAL, sig.wire.interval = 65536);
	RAW(EINVAL, sig.memory.seed = 1);
	RAW(EINVAL, sig.memory.seed = 0xffffffff);
	RAW(EINVAL, sig.wire.seed = -1ull);
	RAW(EINVAL, sig.memory.flags = 8);
	RAW(EINVAL, sig.memory.flags = SIRO_SIG_REF_ESCAPE);
	RAW(EINVAL, sig.wire.flags = SIRO_SIG_REF_REMAP);
	RAW(EINVAL, sig.wire.app_tag = 1);
	RAW(EINVAL, sig.wire.ref_tag = 1);
	RAW(EINVAL, sig.wire.format = 0); /* with an interval */
	RAW(EINVAL, memset(&sig, 0, sizeof(sig)));
	CHECK_IS(configure_raw(handle, SIRO_MKEY_SIGNATURE, NULL), EINVAL);
	CHECK_IS(configure_raw(handle, 0, &sig), EINVAL);
	CHECK_IS(configure_raw(handle, 0x80, NULL), EINVAL);
	CHECK_IS(configure_raw(handle, SIRO_MKEY_RESET_SIGNATURE, NULL), 0);

	handle = create_raw(SIRO_MKEY_INDIRECT);
	RAW(EINVAL, );
	CHECK_IS(configure_raw(handle, SIRO_MKEY_RESET_SIGNATURE, NULL), EINVAL);
	CHECK_IS(configure_raw(handle, 0, NULL), 0);
}

static int check_raw(uint32_t handle, void *error, uint16_t length)
{
	struct command c = command(SIROCCO_METHOD_MKEY_CHECK);

	add(&c, SIROCCO_ATTR_MKEY_CHECK_HANDLE, 0, handle);
	add(&c, SIROCCO_ATTR_MKEY_CHECK_ERROR, length, (uintptr_t)error);
	return run(&c);
}

static void check_raw__bad_values(void)
{
	struct siro_mkey_error error;
	uint32_t handle;

	set_up();
	handle = create_raw(SIRO_MKEY_INDIRECT | SIRO_MKEY_BLOCK_SIGNATURE);
	memset(&error, 0xff, sizeof(error));
	CHECK_IS(check_raw(handle, &error, sizeof(error)), 0);
	CHECK(!error.found && !error.type && !error.offset);
	CHECK_IS(check_raw(handle, &error, sizeof(error) - 1), EINVAL);
	CHECK_IS(check_raw(handle, (void *)8, sizeof(error)), EFAULT);
	CHECK_IS(check_raw(0xffffff, &error, sizeof(error)), ENOENT);
	handle = create_raw(SIRO_MKEY_INDIRECT);
	CHECK_IS(check_raw(handle, &error, sizeof(error)), EINVAL);
}

/* ---- access ---- */

static void access_fails(struct signer *s, uint32_t va, uint32_t length)
{
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE,
			  (struct ibv_sge){ va, length, s->mkey->lkey },
			  b.mr->rkey, plain_va(&b)), IBV_WC_LOC_PROT_ERR);
	reconnect();
	CHECK_IS(transfer(IBV_WR_RDMA_READ,
			  (struct ibv_sge){ va, length, s->mkey->lkey },
			  b.mr->rkey, plain_va(&b)), IBV_WC_LOC_PROT_ERR);
	reconnect();
	expect_no_error(s);
}

static void layout__not_of_whole_blocks(void)
{
	static const uint32_t lengths[] = { 8, 511, 513, 519, 521, 1032 };
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_LIST,
		.num_entries = 1,
	};
	struct signer s;
	size_t i;

	set_up();
	s = new_signer(&a, side_of(T10_CRC, 512), no_fields, 1, 1, BY_REQUEST);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct ibv_sge sge = { (uintptr_t)a.memory, lengths[i],
				       a.mr->lkey };

		config.sge_list = &sge;
		CHECK_IS(siroccodv_mkey_configure(s.mkey, &config), 0);
		access_fails(&s, 0, 8);
	}
	configure_signer(&s, BY_REQUEST);
	fill_memory(&s);
	expect_on_wire(&s);
	CHECK_IS(send_out(&s, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
	CHECK(as_expected());
}

/* Bounds are those of the wire. */
static void bounds__one_byte_more(void)
{
	struct signer s;

	set_up();
	s = new_signer(&a, no_fields, side_of(CRC32, 512), 4, 2, BY_REQUEST);
	access_fails(&s, 0, wire_length(&s) + 1);
	access_fails(&s, wire_length(&s), 1);
	access_fails(&s, wire_length(&s) - 7, 8);
}

static void peer__finds_bounds_and_rights(void)
{
	struct signer s;

	set_up();
	s = new_signer(&b, no_fields, side_of(CRC32, 512), 4, 2, BY_REQUEST);
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, plain_sge(&a, 8), s.mkey->rkey,
			  wire_length(&s) - 7), IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK_IS(transfer(IBV_WR_RDMA_READ, plain_sge(&a, 8), s.mkey->rkey,
			  wire_length(&s) - 7), IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK(transfer(IBV_WR_ATOMIC_FETCH_AND_ADD, plain_sge(&a, 8),
		       s.mkey->rkey, 0) != IBV_WC_SUCCESS);
	reconnect();
	CHECK(as_expected());
}

/* A key with a signature is no region that others may have pieces of. */
static void nesting__is_refused(void)
{
	struct siroccodv_mkey *outer;
	struct signer s;
	struct ibv_sge sge;
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_LIST |
			     SIROCCODV_MKEY_CONFIG_ACCESS,
		.access_flags = ALL_RIGHTS,
		.num_entries = 1,
		.sge_list = &sge,
	};

	set_up();
	s = new_signer(&a, no_fields, side_of(CRC32, 512), 4, 2, BY_REQUEST);
	outer = signer_mkey();
	sge = (struct ibv_sge){ 0, 512, s.mkey->lkey };
	CHECK_IS(siroccodv_mkey_configure(outer, &config), 0);
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, (struct ibv_sge){ 0, 8, outer->lkey },
			  b.mr->rkey, plain_va(&b)), IBV_WC_LOC_PROT_ERR);
	reconnect();
	CHECK_IS(by_call(outer, sig_attr(&no_fields, &s.wire, 0xff)), 0);
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, (struct ibv_sge){ 0, 8, outer->lkey },
			  b.mr->rkey, plain_va(&b)), IBV_WC_LOC_PROT_ERR);
}

static void piece__of_another_domain(void)
{
	struct ibv_pd *pd;
	struct signer s;
	struct ibv_mr *mr;

	set_up();
	pd = ibv_alloc_pd(a.context);
	CHECK(pd);
	mr = ibv_reg_mr(pd, a.memory, MEMORY, ALL_RIGHTS);
	CHECK(mr);
	s = new_signer(&a, no_fields, side_of(CRC32, 512), 4, 2, BY_REQUEST);
	s.l->sge[1].lkey = mr->lkey;
	configure_signer(&s, BY_REQUEST);
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE,
			  (struct ibv_sge){ 0, wire_length(&s), s.mkey->lkey },
			  b.mr->rkey, plain_va(&b)), IBV_WC_LOC_PROT_ERR);
}

const struct scenario bad_scenarios[] = {
	SCENARIO(sig_block__bad_values),
	SCENARIO(reset__of_an_mkey_without_signature),
	SCENARIO(configure_raw__bad_values),
	SCENARIO(check_raw__bad_values),
	SCENARIO(layout__not_of_whole_blocks),
	SCENARIO(bounds__one_byte_more),
	SCENARIO(peer__finds_bounds_and_rights),
	SCENARIO(nesting__is_refused),
	SCENARIO(piece__of_another_domain),
	{},
};
