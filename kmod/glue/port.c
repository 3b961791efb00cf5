// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the engine asks of the glue: keys, queues, address handles. */
#include "verbs.h"

static atomic_t *siro_mr_users(struct siro_mr *mr)
{
	return (atomic_t *)&mr->users;
}

struct siro_mr *siro_port_mr_get(void *port, __u32 key)
{
	struct siro_qp *qp = port;
	struct siro_mr_obj *obj;
	struct siro_mr *mr = NULL;

	rcu_read_lock();
	obj = xa_load(&qp->dev->mrs, key >> 8);
	if (obj) {
		mr = &obj->mr;
		atomic_inc(siro_mr_users(mr));
		smp_mb__after_atomic(); /* pairs with siro_mr_wait_unused() */
		if (smp_load_acquire(&mr->state) != SIRO_MR_VALID || mr->key != key) {
			atomic_dec_return_release(siro_mr_users(mr));
			mr = NULL;
		}
	}
	rcu_read_unlock();
	return mr;
}

void siro_port_mr_put(void *port, struct siro_mr *mr)
{
	atomic_dec_return_release(siro_mr_users(mr));
}

int siro_port_take_recv(void *port, struct siro_context *ctx, struct siro_recv_wqe *wqe,
			struct siro_sge *sges)
{
	struct siro_qp *qp = port;

	if (qp->srq)
		return siro_srq_take(qp->srq, ctx, wqe, sges);
	return siro_recv_ring_take(&qp->rq_ring, wqe, sges);
}

__u32 siro_port_recv_count(void *port)
{
	struct siro_qp *qp = port;

	return qp->srq ? U32_MAX : siro_ring_pending(&qp->rq_ring);
}

void siro_port_set_kick(void *port, __u32 on)
{
	struct siro_qp *qp = port;

	if (qp->srq)
		return;
	WRITE_ONCE(qp->rq_ring.header->flags, on ? SIRO_RING_KICK : 0);
	smp_mb(); /* the poster stores its index, then looks at the flag */
}

void siro_port_complete_send(void *port, struct siro_context *ctx, const struct siro_cqe *cqe)
{
	struct siro_qp *qp = port;

	siro_cq_push(qp->send_cq, ctx, cqe);
}

void siro_port_complete_recv(void *port, struct siro_context *ctx, const struct siro_cqe *cqe)
{
	struct siro_qp *qp = port;

	siro_cq_push(qp->recv_cq, ctx, cqe);
}

struct siro_flow *siro_port_flow(void *port, __u32 ah)
{
	struct siro_qp *qp = port;
	struct siro_route *route = xa_load(&qp->dev->ahs, ah);

	return route && route->pd == qp->pd ? &route->flow : NULL;
}
