// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs by number. The memory of a queue pair goes as soon as destroy_qp
 * returns, without a grace period, so lookups take a lock.
 */
#include <linux/once.h>

#include "verbs.h"

#define SIRO_QPN_FIRST 16
#define SIRO_QPN_LAST 0xfffffe
#define SIRO_QPN_GSI 1

static DEFINE_XARRAY_FLAGS(siro_qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
static u32 siro_qpn_next;

static void siro_qpn_seed(void)
{
	siro_qpn_next = SIRO_QPN_FIRST + get_random_u32() % (SIRO_QPN_LAST - SIRO_QPN_FIRST + 1);
}

int siro_qpn_alloc(struct siro_qp *qp)
{
	int ret;

	qp->qpn = SIRO_QPN_GSI;
	if (qp->type == SIRO_QPT_GSI)
		return 0;

	DO_ONCE_SLEEPABLE(siro_qpn_seed);
	ret = xa_alloc_cyclic_bh(&siro_qps, &qp->qpn, NULL, XA_LIMIT(SIRO_QPN_FIRST, SIRO_QPN_LAST),
				 &siro_qpn_next, GFP_KERNEL);
	return ret < 0 ? ret : 0;
}

int siro_qp_publish(struct siro_qp *qp)
{
	int err = 0;

	xa_lock_bh(&siro_qps);
	if (qp->type != SIRO_QPT_GSI)
		__xa_store(&siro_qps, qp->qpn, qp, GFP_ATOMIC); /* reserved: no allocation */
	else if (qp->dev->gsi)
		err = -EBUSY;
	else
		qp->dev->gsi = &qp->ibqp;
	xa_unlock_bh(&siro_qps);
	return err;
}

void siro_qp_unpublish(struct siro_qp *qp)
{
	xa_lock_bh(&siro_qps);
	if (qp->type != SIRO_QPT_GSI)
		__xa_erase(&siro_qps, qp->qpn);
	else if (qp->dev->gsi == &qp->ibqp)
		qp->dev->gsi = NULL;
	xa_unlock_bh(&siro_qps);
}

struct siro_qp *siro_qp_get(struct siro_net *net, u32 qpn)
{
	struct siro_qp *qp;

	xa_lock_bh(&siro_qps);
	qp = xa_load(&siro_qps, qpn);
	if (qp && (qp->dev->net != net || !refcount_inc_not_zero(&qp->ref)))
		qp = NULL;
	xa_unlock_bh(&siro_qps);
	return qp;
}

struct siro_qp *siro_qp_get_gsi(struct siro_dev *dev)
{
	struct siro_qp *qp = NULL;

	xa_lock_bh(&siro_qps);
	if (dev->gsi) {
		qp = to_siro_qp(dev->gsi);
		if (!refcount_inc_not_zero(&qp->ref))
			qp = NULL;
	}
	xa_unlock_bh(&siro_qps);
	return qp;
}

/* The next of the device's queue pairs from *@qpn on; the GSI's is none of them. */
static struct siro_qp *siro_qp_next(struct siro_dev *dev, unsigned long *qpn)
{
	struct siro_qp *qp;

	xa_lock_bh(&siro_qps);
	for (qp = xa_find(&siro_qps, qpn, ULONG_MAX, XA_PRESENT); qp;
	     qp = xa_find_after(&siro_qps, qpn, ULONG_MAX, XA_PRESENT))
		if (qp->dev == dev && refcount_inc_not_zero(&qp->ref))
			break;
	xa_unlock_bh(&siro_qps);
	return qp;
}

void siro_qp_fail_all(struct siro_dev *dev)
{
	unsigned long qpn = 0;
	struct siro_qp *qp;

	for (; (qp = siro_qp_next(dev, &qpn)); qpn++) {
		siro_qp_fail(qp);
		siro_qp_put(qp);
	}
}

void siro_qp_put(struct siro_qp *qp)
{
	if (refcount_dec_and_test(&qp->ref))
		complete(&qp->unused);
}
