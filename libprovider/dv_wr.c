// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work requests that configure mkeys. */
#include <string.h>

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

static int siro_conf_attr_check(const struct siro_qp *qp,
				const struct siro_mkey *mkey,
				const struct siroccodv_mkey_conf_attr *attr)
{
	if (attr->comp_mask & ~(uint64_t)SIROCCODV_MKEY_CONF_ATTR_IOVA)
		return EOPNOTSUPP;
	return mkey->pd == qp->vqp.qp.pd ? 0 : EINVAL;
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
	qp->mkey = mkey;
	qp->setters = num_setters;
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

/* Entries follow the work request in its slot. */
static int siro_store_entries(const struct siro_qp *qp,
			      struct siro_send_wqe *wqe, const void *entries,
			      size_t size)
{
	if (size > qp->sq.ring.stride - sizeof(*wqe))
		return ENOSPC;
	memcpy(wqe + 1, entries, size);
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
