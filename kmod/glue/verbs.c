// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The table of verbs, user contexts and protection domains. */
#include <linux/idr.h>

#include "verbs.h"

/* Numbers of protection domains that live; keys are checked against them. */
static DEFINE_IDA(siro_pds);

static int siro_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct siro_alloc_ucontext_resp resp = {
		.abi_version = SIROCCO_ABI_VERSION,
		.max_send_sge = ibuc->device->attrs.max_send_sge,
		.max_inline = SIRO_MAX_INLINE,
		.max_mkey_entries = SIRO_MKEY_MAX_ENTRIES,
		.features = SIRO_FEATURE_SIGNATURE | SIRO_FEATURE_SIG_PIPELINING,
	};
	int err = siro_check_no_request(udata);

	siro_status_init(to_siro_ucontext(ibuc));
	return err ?: siro_copy_response(udata, &resp, sizeof(resp));
}

static void siro_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	siro_status_exit(to_siro_ucontext(ibuc));
}

static int siro_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int err = siro_check_no_request(udata);
	int number;

	if (err)
		return err;

	number = ida_alloc_min(&siro_pds, 1, GFP_KERNEL);
	if (number < 0)
		return number;
	to_siro_pd(ibpd)->number = number;
	return 0;
}

static int siro_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	ida_free(&siro_pds, to_siro_pd(ibpd)->number);
	return 0;
}

const struct ib_device_ops siro_verbs_ops = {
	.alloc_mr = siro_alloc_mr,
	.alloc_mr_integrity = siro_alloc_mr_integrity,
	.alloc_pd = siro_alloc_pd,
	.alloc_ucontext = siro_alloc_ucontext,
	.check_mr_status = siro_check_mr_status,
	.create_ah = siro_create_ah,
	.create_cq = siro_create_cq,
	.create_qp = siro_create_qp,
	.create_srq = siro_create_srq,
	.create_user_ah = siro_create_ah,
	.dealloc_pd = siro_dealloc_pd,
	.dealloc_ucontext = siro_dealloc_ucontext,
	.dereg_mr = siro_dereg_mr,
	.destroy_ah = siro_destroy_ah,
	.destroy_cq = siro_destroy_cq,
	.destroy_qp = siro_destroy_qp,
	.destroy_srq = siro_destroy_srq,
	.fill_res_qp_entry = siro_fill_res_qp,
	.get_dma_mr = siro_get_dma_mr,
	.map_mr_sg = siro_map_mr_sg,
	.map_mr_sg_pi = siro_map_mr_sg_pi,
	.mmap = siro_mmap,
	.mmap_free = siro_mmap_free,
	.modify_ah = siro_modify_ah,
	.modify_qp = siro_modify_qp,
	.modify_srq = siro_modify_srq,
	.poll_cq = siro_poll_cq,
	.post_recv = siro_post_recv,
	.post_send = siro_post_send,
	.post_srq_recv = siro_post_srq_recv,
	.query_ah = siro_query_ah,
	.query_qp = siro_query_qp,
	.query_srq = siro_query_srq,
	.reg_user_mr = siro_reg_user_mr,
	.req_notify_cq = siro_req_notify_cq,
	.resize_cq = siro_resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, siro_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, siro_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, siro_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, siro_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, siro_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, siro_ucontext, ibuc),
};
