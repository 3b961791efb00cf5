// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signature regions for kernel users: ib_alloc_mr_integrity() and what belongs to it. */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "tracepoints.h"
#include "verbs.h"

#define SIRO_INTEGRITY_ACCESS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

/* State and lists come with the first mapping: most regions of a pool are idle. */
struct ib_mr *siro_alloc_mr_integrity(struct ib_pd *ibpd, u32 max_num_data_sg,
				      u32 max_num_meta_sg)
{
	const u32 limit = ibpd->device->attrs.max_pi_fast_reg_page_list_len;
	struct siro_mr_obj *obj;
	int err;

	if (!max_num_data_sg || max_num_data_sg > limit || max_num_meta_sg > limit)
		return ERR_PTR(-EINVAL);
	obj = siro_mr_alloc(ibpd);
	if (!obj)
		return ERR_PTR(-ENOMEM);

	obj->kind = SIRO_MR_INTEGRITY;
	obj->mr.layout = SIRO_MR_SIGNATURE;
	obj->max_entries = max_num_data_sg;
	obj->max_meta_entries = max_num_meta_sg;
	err = siro_mr_insert(obj);
	if (err) {
		siro_mr_free(obj);
		return ERR_PTR(err);
	}
	siro_mr_set_state(&obj->mr, SIRO_MR_FREE);
	return &obj->ibmr;
}

/* NULL: no entries; all of them must fit. */
static struct siro_mr_list *siro_list_all(struct siro_mr_list **spare, struct scatterlist *sg,
					  int nents, const unsigned int *offset, u32 max)
{
	if (nents < 0 || nents > max || (nents && offset && *offset > sg_dma_len(sg)))
		return ERR_PTR(-EINVAL);
	return nents ? siro_mr_list_map(spare, sg, nents, offset ? *offset : 0) : NULL;
}

static void siro_stage_lists(struct siro_mr_obj *obj, struct siro_mr_list *data,
			     struct siro_mr_list *meta)
{
	unsigned long flags;

	/* REG of a confused consumer may run at the same time. */
	spin_lock_irqsave(&obj->lock, flags);
	swap(obj->staged_list, data);
	swap(obj->staged_meta, meta);
	spin_unlock_irqrestore(&obj->lock, flags);
	siro_mr_list_give(&obj->spare_meta, meta);
	siro_mr_list_give(&obj->spare, data);
}

/* The consumer may fill in the attributes later: only the lengths are set here. */
int siro_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg, int data_nents,
		      unsigned int *data_offset, struct scatterlist *meta_sg, int meta_nents,
		      unsigned int *meta_offset)
{
	struct siro_mr_obj *obj = to_siro_mr(ibmr);
	struct siro_mr_list *data, *meta;
	u64 meta_length;

	if (obj->kind != SIRO_MR_INTEGRITY || data_nents <= 0)
		return -EINVAL;
	if (!siro_mr_signature_get(obj, GFP_ATOMIC))
		return -ENOMEM;
	data = siro_list_all(&obj->spare, data_sg, data_nents, data_offset, obj->max_entries);
	if (IS_ERR(data))
		return PTR_ERR(data);
	meta = siro_list_all(&obj->spare_meta, meta_sg, meta_nents, meta_offset,
			     obj->max_meta_entries);
	if (IS_ERR(meta)) {
		siro_mr_list_give(&obj->spare, data);
		return PTR_ERR(meta);
	}

	meta_length = meta ? meta->extents.row_length : 0;
	ibmr->iova = 0;
	ibmr->length = data->extents.row_length + meta_length;
	ibmr->sig_attrs->meta_length = meta_length;
	if (data_offset)
		*data_offset = 0;
	if (meta_offset)
		*meta_offset = 0;
	siro_stage_lists(obj, data, meta);
	return 0;
}

static bool siro_convert_domain(struct siro_sig_domain *to, const struct ib_sig_domain *from)
{
	const struct ib_t10_dif_domain *dif = &from->sig.dif;

	*to = (struct siro_sig_domain){};
	if (from->sig_type == IB_SIG_TYPE_NONE)
		return true;
	if (from->sig_type != IB_SIG_TYPE_T10_DIF ||
	    (dif->bg_type != IB_T10DIF_CRC && dif->bg_type != IB_T10DIF_CSUM))
		return false;

	to->format = dif->bg_type == IB_T10DIF_CRC ? SIRO_SIG_T10_CRC : SIRO_SIG_T10_CSUM;
	to->seed = dif->bg;
	to->interval = dif->pi_interval;
	to->ref_tag = dif->ref_tag;
	to->app_tag = dif->app_tag;
	to->app_mask = dif->apptag_check_mask;
	if (dif->ref_remap)
		to->flags |= SIRO_SIG_REF_REMAP;
	if (dif->app_escape)
		to->flags |= SIRO_SIG_APP_ESCAPE;
	if (dif->ref_escape)
		to->flags |= SIRO_SIG_REF_ESCAPE;
	return true;
}

static bool siro_convert_attrs(struct siro_sig_conf *conf, const struct ib_sig_attrs *attrs)
{
	conf->check_mask = attrs->check_mask;
	return siro_convert_domain(&conf->memory, &attrs->mem) &&
	       siro_convert_domain(&conf->wire, &attrs->wire);
}

/* What is wrong already when it is posted is refused there and then. */
static int siro_try_signature(struct siro_mr_obj *obj, const struct siro_sig_conf *conf)
{
	struct siro_signature trial = {};
	struct siro_extent named[2];
	unsigned long flags;
	int err;

	spin_lock_irqsave(&obj->lock, flags);
	err = siro_signature_fill(&trial, conf, obj, named) ?: siro_signature_prepare(&trial);
	spin_unlock_irqrestore(&obj->lock, flags);
	return err;
}

static int siro_fill_signature(struct siro_send_wqe *wqe,
			       struct siro_mr_obj *obj, const struct ib_sig_attrs *attrs, u32 key,
			       int access)
{
	struct siro_sig_conf *conf = (struct siro_sig_conf *)(wqe + 1);

	if (obj->kind != SIRO_MR_INTEGRITY || key >> 8 != obj->ibmr.rkey >> 8 ||
	    access & ~SIRO_INTEGRITY_ACCESS || !siro_convert_attrs(conf, attrs))
		return -EINVAL;
	wqe->opcode = SIRO_WR_REG_MR_INTEGRITY;
	wqe->reg.mr = (uintptr_t)&obj->mr;
	wqe->reg.key = key;
	wqe->reg.access = access;
	return siro_try_signature(obj, conf);
}

/* The request is in the WQE's tail, which has room for it on such queue pairs only. */
static struct siro_sig_conf *siro_signature_conf(struct siro_qp *qp, struct siro_send_wqe *wqe)
{
	struct siro_sig_conf *conf = (struct siro_sig_conf *)(wqe + 1);

	if (!(qp->init.create_flags & IB_QP_CREATE_INTEGRITY_EN))
		return NULL;
	memset(conf, 0, sizeof(*conf));
	return conf;
}

int siro_fill_reg_integrity(struct siro_qp *qp, struct siro_send_wqe *wqe,
			    const struct ib_reg_wr *reg)
{
	struct siro_sig_conf *conf = siro_signature_conf(qp, wqe);

	if (!conf || reg->wr.num_sge || !reg->mr->sig_attrs)
		return -EINVAL;
	conf->flags = SIRO_SIG_KERNEL_LISTS;
	wqe->reg.iova = reg->mr->iova;
	return siro_fill_signature(wqe, to_siro_mr(reg->mr), reg->mr->sig_attrs, reg->key,
				   reg->access);
}

static struct siro_sge siro_sge_of(const struct ib_sge *sge)
{
	return (struct siro_sge){ .addr = sge->addr, .length = sge->length, .lkey = sge->lkey };
}

int siro_fill_reg_sig(struct siro_qp *qp, struct siro_send_wqe *wqe,
		      const struct ib_sig_handover_wr *reg)
{
	struct siro_sig_conf *conf = siro_signature_conf(qp, wqe);
	struct siro_mr_obj *obj = to_siro_mr(reg->sig_mr);

	if (!conf || reg->wr.num_sge != 1 || !reg->sig_attrs)
		return -EINVAL;
	if (obj->kind == SIRO_MR_INTEGRITY && !siro_mr_signature_get(obj, GFP_ATOMIC))
		return -ENOMEM;
	conf->data = siro_sge_of(reg->wr.sg_list);
	if (reg->prot)
		conf->metadata = siro_sge_of(reg->prot);
	wqe->reg.iova = 0;
	return siro_fill_signature(wqe, obj, reg->sig_attrs, reg->sig_mr->rkey,
				   reg->access_flags);
}

int siro_check_mr_status(struct ib_mr *ibmr, u32 check_mask, struct ib_mr_status *status)
{
	struct siro_mr_obj *obj = to_siro_mr(ibmr);
	/* pairs with cmpxchg() in siro_mr_signature_get() */
	struct siro_signature *signature = smp_load_acquire(&obj->mr.signature);
	struct siro_sig_error error;

	if (obj->kind != SIRO_MR_INTEGRITY || check_mask & ~IB_MR_CHECK_SIG_STATUS)
		return -EINVAL;

	status->fail_status = 0;
	if (!(check_mask & IB_MR_CHECK_SIG_STATUS) || !signature ||
	    !siro_signature_check(signature, ibmr->lkey, &error))
		return 0;

	trace_siro_sig_check(ibmr->device->index, ibmr->lkey, error.type, error.offset);
	status->fail_status = IB_MR_CHECK_SIG_STATUS;
	status->sig_err = (struct ib_sig_err){
		.err_type = error.type, /* same numbers */
		.expected = error.expected,
		.actual = error.actual,
		.sig_err_offset = error.offset,
		.key = error.key,
	};
	return 0;
}
