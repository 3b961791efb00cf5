// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Finding and opening a device. */
#include <stdio.h>
#include <stdlib.h>

#include "mkey_conf.h"
#include "sirocco.h"

struct siro_get_context_resp {
	struct ib_uverbs_get_context_resp core;
	struct siro_alloc_ucontext_resp drv;
};

static_assert(offsetof(struct siro_get_context_resp, drv) ==
		      sizeof(struct ib_uverbs_get_context_resp),
	      "driver data must follow the core's");

static const struct verbs_match_ent siro_match_table[] = {
	VERBS_DRIVER_ID(SIROCCO_DRIVER_ID),
	{},
};

static void siro_free_context(struct ibv_context *ibctx)
{
	struct siro_context *ctx = to_siro_context(ibctx);

	siro_status_exit(ctx);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops siro_context_ops = {
	.alloc_pd = siro_alloc_pd,
	.create_ah = siro_create_ah,
	.create_cq = siro_create_cq,
	.create_cq_ex = siro_create_cq_ex,
	.create_qp = siro_create_qp,
	.create_qp_ex = siro_create_qp_ex,
	.create_srq = siro_create_srq,
	.create_srq_ex = siro_create_srq_ex,
	.dealloc_pd = siro_dealloc_pd,
	.dereg_mr = siro_dereg_mr,
	.destroy_ah = siro_destroy_ah,
	.destroy_cq = siro_destroy_cq,
	.destroy_qp = siro_destroy_qp,
	.destroy_srq = siro_destroy_srq,
	.free_context = siro_free_context,
	.get_srq_num = siro_get_srq_num,
	.modify_qp = siro_modify_qp,
	.modify_srq = siro_modify_srq,
	.poll_cq = siro_poll_cq,
	.post_recv = siro_post_recv,
	.post_send = siro_post_send,
	.post_srq_recv = siro_post_srq_recv,
	.query_device_ex = siro_query_device_ex,
	.query_port = siro_query_port,
	.query_qp = siro_query_qp,
	.query_srq = siro_query_srq,
	.reg_mr = siro_reg_mr,
	.req_notify_cq = ibv_cmd_req_notify_cq,
	.resize_cq = siro_resize_cq,
};

/*
 * libibverbs has compared the ABI version in sysfs already; this one is from
 * the module that answers, and its message must not depend on a log level.
 */
static bool siro_same_abi(const struct ibv_device *ibdev, uint32_t abi)
{
	if (abi == SIROCCO_ABI_VERSION)
		return true;
	fprintf(stderr,
		"libsirocco: %s: the kernel module has ABI version %u, this provider %u: install both from one release\n",
		ibdev->name, abi, SIROCCO_ABI_VERSION);
	return false;
}

static struct verbs_context *siro_alloc_context(struct ibv_device *ibdev,
						int cmd_fd, void *private_data)
{
	struct siro_get_context_resp resp = {};
	struct ibv_get_context cmd;
	struct siro_context *ctx;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx,
					   SIROCCO_DRIVER_ID);
	if (!ctx)
		return NULL;

	if (ibv_cmd_get_context(&ctx->vctx, &cmd, sizeof(cmd), &resp.core,
				sizeof(resp)))
		goto err;
	if (!siro_same_abi(ibdev, resp.drv.abi_version)) {
		errno = EPROTONOSUPPORT;
		goto err;
	}

	ctx->max_mkey_entries = resp.drv.max_mkey_entries;
	ctx->features = resp.drv.features;
	siro_status_init(ctx);
	verbs_set_ops(&ctx->vctx, &siro_context_ops);
	return &ctx->vctx;

err:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	return NULL;
}

static struct verbs_device *siro_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct siro_device *dev = calloc(1, sizeof(*dev));

	return dev ? &dev->vdev : NULL;
}

static void siro_uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct siro_device, vdev));
}

static const struct verbs_device_ops siro_device_ops = {
	.name = "sirocco",
	.match_min_abi_version = SIROCCO_ABI_VERSION,
	.match_max_abi_version = SIROCCO_ABI_VERSION,
	.match_table = siro_match_table,
	.alloc_device = siro_alloc_device,
	.uninit_device = siro_uninit_device,
	.alloc_context = siro_alloc_context,
};
PROVIDER_DRIVER(sirocco, siro_device_ops);

/* ---- direct verbs ---- */

bool siroccodv_is_supported(struct ibv_device *device)
{
	return verbs_get_device(device)->ops == &siro_device_ops;
}

static void siro_query_mkey(const struct siro_context *ctx,
			    struct siroccodv_device_attr *attr)
{
	attr->max_mkey_entries = ctx->max_mkey_entries;
	if (!ctx->max_mkey_entries) {
		attr->comp_mask &= ~(uint64_t)SIROCCODV_DEVICE_ATTR_MKEY;
		return;
	}
	attr->mkey_create_flags = SIROCCODV_MKEY_INDIRECT |
				  SIROCCODV_MKEY_REMOTE_INVALIDATE;
	if (ctx->features & SIRO_FEATURE_SIGNATURE)
		attr->mkey_create_flags |= SIROCCODV_MKEY_BLOCK_SIGNATURE;
	attr->mkey_layouts = SIROCCODV_MKEY_LAYOUT_LIST |
			     SIROCCODV_MKEY_LAYOUT_INTERLEAVED;
}

static void siro_query_signature(const struct siro_context *ctx,
				 struct siroccodv_device_attr *attr)
{
	if (!(ctx->features & SIRO_FEATURE_SIGNATURE)) {
		attr->comp_mask &= ~(uint64_t)SIROCCODV_DEVICE_ATTR_SIGNATURE;
		return;
	}
	attr->sig_flags = ctx->features & SIRO_FEATURE_SIG_PIPELINING ?
				  SIROCCODV_SIG_CAP_PIPELINING :
				  0;
	attr->sig_block_prot = SIROCCODV_SIG_PROT_CAP_T10DIF |
			       SIROCCODV_SIG_PROT_CAP_CRC;
	attr->sig_t10dif_bg = SIROCCODV_SIG_T10DIF_BG_CAP_CRC |
			      SIROCCODV_SIG_T10DIF_BG_CAP_CSUM;
	attr->sig_crc_types = SIROCCODV_SIG_CRC_CAP_CRC32 |
			      SIROCCODV_SIG_CRC_CAP_CRC32C |
			      SIROCCODV_SIG_CRC_CAP_CRC64_XP10;
	attr->sig_block_size_step = SIRO_BLOCK_SIZE_STEP;
	attr->sig_max_block_size = SIRO_MAX_BLOCK_SIZE;
}

int siroccodv_query_device(struct ibv_context *context,
			   struct siroccodv_device_attr *attr)
{
	const uint64_t known = SIROCCODV_DEVICE_ATTR_MKEY |
			       SIROCCODV_DEVICE_ATTR_OOO |
			       SIROCCODV_DEVICE_ATTR_SIGNATURE;

	if (!siroccodv_is_supported(context->device) ||
	    attr->comp_mask & ~known)
		return EOPNOTSUPP;
	if (attr->comp_mask & SIROCCODV_DEVICE_ATTR_OOO)
		attr->ooo_caps = (struct ib_ooo_caps){
			.rc_caps = IB_OOO_RW_DATA_PLACEMENT,
		};
	if (attr->comp_mask & SIROCCODV_DEVICE_ATTR_MKEY)
		siro_query_mkey(to_siro_context(context), attr);
	if (attr->comp_mask & SIROCCODV_DEVICE_ATTR_SIGNATURE)
		siro_query_signature(to_siro_context(context), attr);
	return 0;
}
