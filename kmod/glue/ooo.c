// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Out-of-order placement: what its users ask for, and what became of it. */
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "verbs.h"

/*
 * What a queue pair is to ask its peer for can be said until it has one. Locks
 * it unless an error is returned.
 */
static struct siro_qp *siro_qp_lock_to_wish(struct ib_qp *ibqp)
{
	struct siro_qp *qp;

	if (!siro_dev_if_ours(ibqp->device))
		return ERR_PTR(-EOPNOTSUPP);

	qp = to_siro_qp(ibqp);
	mutex_lock(&qp->modify_lock);
	if (qp->type == SIRO_QPT_RC && qp->attr.qp_state <= IB_QPS_INIT)
		return qp;
	mutex_unlock(&qp->modify_lock);
	return ERR_PTR(-EINVAL);
}

int siro_qp_set_ooo(struct ib_qp *ibqp, bool on)
{
	struct siro_qp *qp = siro_qp_lock_to_wish(ibqp);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	qp->ooo_wish = on ? SIRO_OOO_ON : SIRO_OOO_OFF;
	mutex_unlock(&qp->modify_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(siro_qp_set_ooo);

int siro_qp_set_paths(struct ib_qp *ibqp, unsigned int paths)
{
	struct siro_qp *qp = siro_qp_lock_to_wish(ibqp);
	int err = 0;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	if (paths && paths <= SIRO_MAX_PATHS)
		qp->paths_wish = paths;
	else
		err = -EINVAL;
	mutex_unlock(&qp->modify_lock);
	return err;
}
EXPORT_SYMBOL_GPL(siro_qp_set_paths);

void siro_paths_free(struct siro_route *paths, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		siro_route_release(&paths[i]);
	kfree(paths);
}

struct siro_flow *siro_port_path(void *port, __u32 responder, __u32 index)
{
	struct siro_qp *qp = port;
	struct siro_half *half = responder ? &qp->rq : &qp->sq;

	return index - 1 < half->path_count ? &half->paths[index - 1].flow : NULL;
}

static bool siro_peer_echoes(struct siro_qp *qp)
{
	bool agreed;

	spin_lock_bh(&qp->sq.lock);
	agreed = siro_requester_agreed(&qp->requester);
	spin_unlock_bh(&qp->sq.lock);
	return agreed;
}

static bool siro_peer_marks(struct siro_qp *qp)
{
	bool agreed;

	spin_lock_bh(&qp->rq.lock);
	agreed = siro_responder_agreed(&qp->responder);
	spin_unlock_bh(&qp->rq.lock);
	return agreed;
}

int siro_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct siro_qp *qp = to_siro_qp(ibqp);
	struct nlattr *table;

	if (qp->type != SIRO_QPT_RC)
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32(msg, "ooo_consent", !!(READ_ONCE(qp->ooo) & SIRO_OOO_CONSENT)) ||
	    rdma_nl_put_driver_u32(msg, "ooo_peer_echoes", siro_peer_echoes(qp)) ||
	    rdma_nl_put_driver_u32(msg, "ooo_peer_marks", siro_peer_marks(qp))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
