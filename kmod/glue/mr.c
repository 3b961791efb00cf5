// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions: keys, life, the region of all kernel memory. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "tracepoints.h"
#include "verbs.h"

#define SIRO_MR_LIMIT XA_LIMIT(1, 0xffffff)

/*
 * Consumers have pools of thousands, most of them idle. kmalloc() would round each up to
 * 512 bytes; like this, and with what ib_core adds to a signature region, it is less.
 */
static_assert(IS_ENABLED(CONFIG_DEBUG_SPINLOCK) || sizeof(struct siro_mr_obj) <= 424);
static struct kmem_cache *siro_mr_cache;

int siro_mr_init(void)
{
	siro_mr_cache = KMEM_CACHE(siro_mr_obj, SLAB_ACCOUNT);
	return siro_mr_cache ? 0 : -ENOMEM;
}

void siro_mr_exit(void)
{
	kmem_cache_destroy(siro_mr_cache);
}

struct siro_mr_obj *siro_mr_alloc(struct ib_pd *ibpd)
{
	struct siro_mr_obj *obj = kmem_cache_zalloc(siro_mr_cache, GFP_KERNEL);

	if (!obj)
		return NULL;

	spin_lock_init(&obj->lock);
	obj->mr.pd = to_siro_pd(ibpd)->number;
	obj->ibmr.device = ibpd->device;
	return obj;
}

/* The region is found from now on, but only used once its state is VALID. */
int siro_mr_insert(struct siro_mr_obj *obj)
{
	struct siro_dev *dev = to_siro_dev(obj->ibmr.device);
	u32 index;
	int ret;

	ret = xa_alloc_cyclic(&dev->mrs, &index, obj, SIRO_MR_LIMIT, &dev->mr_next, GFP_KERNEL);
	if (ret < 0)
		return ret;

	obj->mr.key = index << 8 | get_random_u32() >> 24;
	obj->ibmr.lkey = obj->mr.key;
	obj->ibmr.rkey = obj->mr.key;
	return 0;
}

/* Who found the region under RCU may still give it a list. */
static void siro_mr_free_rcu(struct rcu_head *rcu)
{
	struct siro_mr_obj *obj = container_of(rcu, struct siro_mr_obj, rcu);

	kvfree(obj->live);
	kvfree(obj->staged);
	kvfree(obj->live_list);
	kvfree(obj->staged_list);
	kfree(obj->live_meta);
	kfree(obj->staged_meta);
	siro_mr_signature_free(obj);
	kfree(obj->spare);
	kfree(obj->spare_meta);
	kmem_cache_free(siro_mr_cache, obj);
}

void siro_mr_free(struct siro_mr_obj *obj)
{
	if (obj->umem)
		ib_umem_release(obj->umem);
	call_rcu(&obj->rcu, siro_mr_free_rcu);
}

/* Whoever sees the new state sees all other fields, too. */
void siro_mr_set_state(struct siro_mr *mr, u32 state)
{
	smp_store_release(&mr->state, state); /* pairs with siro_port_mr_get() */
}

/* Uses last one engine call each and never wait for the caller. */
void siro_mr_wait_unused(struct siro_mr *mr)
{
	smp_mb(); /* the state is written before users is read: siro_port_mr_get() */
	while (atomic_read((atomic_t *)&mr->users))
		cpu_relax();
	smp_mb(); /* what users did comes before what the caller does next */
}

void siro_mr_registered(struct siro_mr_obj *obj)
{
	struct siro_dev *dev = to_siro_dev(obj->ibmr.device);

	siro_count(dev, SIRO_CNT_REGISTRATIONS, 1);
	if (obj->mr.layout == SIRO_MR_EXTENTS)
		siro_count(dev, SIRO_CNT_GAPS_REGISTRATIONS, 1);
	else if (obj->mr.layout == SIRO_MR_INDIRECT)
		siro_count(dev, SIRO_CNT_INDIRECT_REGISTRATIONS, 1);
	else if (obj->mr.layout == SIRO_MR_SIGNATURE)
		siro_count(dev, SIRO_CNT_SIG_REGISTRATIONS, 1);
	trace_siro_mr_register(dev->ibdev.index, obj->mr.key, obj->mr.layout, obj->mr.length);
}

void siro_mr_invalidated(struct siro_mr_obj *obj)
{
	struct siro_dev *dev = to_siro_dev(obj->ibmr.device);

	siro_count(dev, SIRO_CNT_INVALIDATIONS, 1);
	trace_siro_mr_invalidate(dev->ibdev.index, obj->mr.key, obj->mr.layout, obj->mr.length);
}

struct ib_mr *siro_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct siro_mr_obj *obj = siro_mr_alloc(ibpd);
	int err;

	if (!obj)
		return ERR_PTR(-ENOMEM);

	/* ib_dma_map_*() of a software device yields addresses of the linear map. */
	obj->mr.layout = SIRO_MR_DMA;
	obj->mr.iova = PAGE_OFFSET;
	obj->mr.length = (uintptr_t)high_memory - PAGE_OFFSET;
	obj->mr.access = access;
	err = siro_mr_insert(obj);
	if (err) {
		siro_mr_free(obj);
		return ERR_PTR(err);
	}
	siro_mr_set_state(&obj->mr, SIRO_MR_VALID);
	return &obj->ibmr;
}

/* Nobody may change or use the region any more. */
static void siro_mr_retire(struct siro_mr_obj *obj)
{
	unsigned long flags;
	bool busy;

	do {
		spin_lock_irqsave(&obj->lock, flags);
		busy = obj->configuring;
		if (!busy) {
			obj->retired = true;
			WRITE_ONCE(obj->mr.state, SIRO_MR_INVALID);
		}
		spin_unlock_irqrestore(&obj->lock, flags);
		if (busy)
			cpu_relax();
	} while (busy);
	siro_mr_wait_unused(&obj->mr);
}

void siro_mr_end(struct siro_mr_obj *obj)
{
	xa_erase(&to_siro_dev(obj->ibmr.device)->mrs, obj->mr.key >> 8);
	siro_mr_retire(obj);
}

int siro_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct siro_mr_obj *obj = to_siro_mr(ibmr);

	siro_mr_end(obj);
	siro_mr_free(obj);
	return 0;
}
