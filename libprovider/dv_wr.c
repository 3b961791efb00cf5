// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work requests that configure mkeys. */
#include <string.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "mkey_conf.h"
#include "sirocco.h"

/* An ibv_qp_ex by another name: what may be done with it is what differs. */
static struct siro_qp *from_dv_qp(struct siroccodv_qp_ex *dv_qp)
{
	return (struct siro_qp *)dv_qp;
}

struct siroccodv_qp_ex *siroccodv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp_ex)
{
	struct siro_qp *qp = container_of(qp_ex, struct siro_qp, vqp.qp_ex);

	return qp->may_configure ? (struct siroccodv_qp_ex *)qp : NULL;
}

static uint32_t siro_conf_flags(const struct siroccodv_mkey_conf_attr *attr)
{
	return attr->comp_mask & SIROCCODV_MKEY_CONF_ATTR_FLAGS ?
		       attr->conf_flags :
		       0;
}

static int siro_conf_attr_check(const struct siro_qp *qp,
				const struct siro_mkey *mkey,
				const struct siroccodv_mkey_conf_attr *attr)
{
	const uint64_t known = SIROCCODV_MKEY_CONF_ATTR_IOVA |
			       SIROCCODV_MKEY_CONF_ATTR_FLAGS;
	const uint32_t flags = siro_conf_flags(attr);

	if (attr->comp_mask & ~known ||
	    flags & ~(uint32_t)SIROCCODV_MKEY_CONF_FLAG_RESET_SIG_ATTR)
		return EOPNOTSUPP;
	if (mkey->pd != qp->vqp.qp.pd || (flags && !mkey->status))
		return EINVAL;
	return 0;
}

void siroccodv_wr_mkey_configure(struct siroccodv_qp_ex *dv_qp,
				 struct siroccodv_mkey *dv, uint8_t num_setters,
				 const struct siroccodv_mkey_conf_attr *attr)
{
	struct siro_qp *qp = from_dv_qp(dv_qp);
	const struct siro_mkey *mkey = to_siro_mkey(dv);
	struct siro_send_wqe *wqe;
	int ret;

	wqe = siro_wr_begin(&qp->vqp.qp_ex, SIRO_WR_MKEY_CONF);
	if (!wqe)
		return;
	ret = siro_conf_attr_check(qp, mkey, attr);
	if (ret) {
		siro_wr_fail(qp, ret);
		return;
	}
	wqe->rkey = dv->lkey;
	if (attr->comp_mask & SIROCCODV_MKEY_CONF_ATTR_IOVA)
		siro_conf_set_iova(&wqe->mkey, attr->iova);
	if (siro_conf_flags(attr) & SIROCCODV_MKEY_CONF_FLAG_RESET_SIG_ATTR)
		wqe->mkey.set |= SIRO_MKEY_RESET_SIGNATURE;
	qp->mkey = mkey;
	qp->setters = num_setters;
	qp->entry_bytes = 0;
}

/* ---- setters ---- */

/*
 * The work request that a setter is for; NULL, and the error is remembered, if
 * none waits for a setter.
 */
static struct siro_send_wqe *siro_setter_begin(struct siro_qp *qp)
{
	if (!qp->wqe || qp->wqe->opcode != SIRO_WR_MKEY_CONF || !qp->setters) {
		siro_wr_fail(qp, EINVAL);
		return NULL;
	}
	qp->setters--;
	return qp->wqe;
}

static void siro_setter_end(struct siro_qp *qp, int error)
{
	if (error)
		siro_wr_fail(qp, error);
}

void siroccodv_wr_set_mkey_access_flags(struct siroccodv_qp_ex *dv_qp,
					uint32_t access_flags)
{
	struct siro_qp *qp = from_dv_qp(dv_qp);
	struct siro_send_wqe *wqe = siro_setter_begin(qp);

	if (wqe)
		siro_setter_end(qp, siro_conf_set_access(&wqe->mkey,
							 access_flags));
}

/* What follows the work request in its slot: a signature, then entries. */
static size_t siro_room(const struct siro_qp *qp)
{
	return qp->sq.ring.stride - sizeof(struct siro_send_wqe);
}

static int siro_store_entries(struct siro_qp *qp, struct siro_send_wqe *wqe,
			      const void *entries, size_t size)
{
	const size_t before = siro_conf_sig_bytes(&wqe->mkey);

	if (before + size > siro_room(qp))
		return ENOSPC;
	memcpy((uint8_t *)(wqe + 1) + before, entries, size);
	qp->entry_bytes = size;
	return 0;
}

static int siro_store_signature(struct siro_qp *qp, struct siro_send_wqe *wqe,
				const struct siro_mkey_sig *sig)
{
	if (sizeof(*sig) + qp->entry_bytes > siro_room(qp))
		return ENOSPC;
	memmove((uint8_t *)(wqe + 1) + sizeof(*sig), wqe + 1, qp->entry_bytes);
	memcpy(wqe + 1, sig, sizeof(*sig));
	return 0;
}

void siroccodv_wr_set_mkey_layout_list(struct siroccodv_qp_ex *dv_qp,
				       uint32_t num_sges,
				       const struct ibv_sge *sge)
{
	struct siro_qp *qp = from_dv_qp(dv_qp);
	struct siro_send_wqe *wqe = siro_setter_begin(qp);
	int ret;

	if (!wqe)
		return;
	ret = siro_conf_set_list(&wqe->mkey, qp->mkey->max_entries, num_sges,
				 sge);
	if (!ret)
		ret = siro_store_entries(qp, wqe, sge,
					 num_sges * sizeof(*sge));
	siro_setter_end(qp, ret);
}

void siroccodv_wr_set_mkey_layout_interleaved(
	struct siroccodv_qp_ex *dv_qp, uint32_t repeat_count,
	uint32_t num_interleaved, const struct siroccodv_mr_interleaved *data)
{
	struct siro_qp *qp = from_dv_qp(dv_qp);
	struct siro_send_wqe *wqe = siro_setter_begin(qp);
	int ret;

	if (!wqe)
		return;
	ret = siro_conf_set_interleaved(&wqe->mkey, qp->mkey->max_entries,
					repeat_count, num_interleaved, data);
	if (!ret)
		ret = siro_store_entries(qp, wqe, data,
					 num_interleaved * sizeof(*data));
	siro_setter_end(qp, ret);
}

void siroccodv_wr_set_mkey_layout_table(struct siroccodv_qp_ex *dv_qp,
					const struct siroccodv_mkey_table *table)
{
	struct siro_qp *qp = from_dv_qp(dv_qp);
	struct siro_send_wqe *wqe = siro_setter_begin(qp);

	if (!wqe)
		return;
	wqe->imm = table->lkey;
	siro_setter_end(qp, siro_conf_set_table(&wqe->mkey,
						qp->mkey->max_entries, table));
}

void siroccodv_wr_set_mkey_sig_block(struct siroccodv_qp_ex *dv_qp,
				     const struct siroccodv_sig_block_attr *attr)
{
	struct siro_qp *qp = from_dv_qp(dv_qp);
	struct siro_send_wqe *wqe = siro_setter_begin(qp);
	struct siro_mkey_sig sig;
	int ret = EINVAL;

	if (!wqe)
		return;
	if (qp->mkey->status)
		ret = siro_conf_set_signature(&wqe->mkey, &sig, attr);
	if (!ret)
		ret = siro_store_signature(qp, wqe, &sig);
	siro_setter_end(qp, ret);
}

int siroccodv_post_reg_indir(struct siroccodv_qp_ex *dv_qp,
			     struct siroccodv_mkey *mkey, uint32_t access_flags,
			     uint64_t iova, uint32_t num_sges,
			     const struct ibv_sge *sge)
{
	const struct siroccodv_mkey_conf_attr attr = {
		.comp_mask = SIROCCODV_MKEY_CONF_ATTR_IOVA,
		.iova = iova,
	};
	struct ibv_qp_ex *qp_ex = &from_dv_qp(dv_qp)->vqp.qp_ex;

	ibv_wr_start(qp_ex);
	siroccodv_wr_mkey_configure(dv_qp, mkey, 2, &attr);
	siroccodv_wr_set_mkey_access_flags(dv_qp, access_flags);
	siroccodv_wr_set_mkey_layout_list(dv_qp, num_sges, sge);
	return ibv_wr_complete(qp_ex);
}

int siroccodv_qp_cancel_posted_send_wrs(struct siroccodv_qp_ex *dv_qp,
					uint64_t wr_id)
{
	struct ibv_qp *qp = &from_dv_qp(dv_qp)->vqp.qp;
	uint32_t count = 0;
	int ret;

	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_QP,
			       SIROCCO_METHOD_QP_CANCEL_SEND, 3);

	if (!(to_siro_context(qp->context)->features &
	      SIRO_FEATURE_SIG_PIPELINING))
		return -EOPNOTSUPP;
	fill_attr_in_obj(cmd, SIROCCO_ATTR_QP_CANCEL_SEND_HANDLE, qp->handle);
	fill_attr_in_ptr(cmd, SIROCCO_ATTR_QP_CANCEL_SEND_WR_ID, &wr_id);
	fill_attr_out_ptr(cmd, SIROCCO_ATTR_QP_CANCEL_SEND_COUNT, &count);
	ret = execute_ioctl(qp->context, cmd);
	return ret ? -ret : (int)count;
}
