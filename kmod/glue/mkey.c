// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Mkeys: keys that user space configures, by work requests or by a system call.
 * Both lists of a key are allocated at creation, so a configuration needs no
 * memory.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

#define UVERBS_MODULE_NAME sirocco
#include <rdma/uverbs_named_ioctl.h>

#include "verbs.h"

/* All mkeys of a process together: 48 MiB of lists. */
#define SIRO_MKEY_ENTRIES_PER_CONTEXT (1 << 20)

/* ---- Configuration ---- */

static void siro_mkey_release(struct siro_mr_obj *obj)
{
	unsigned long flags;

	spin_lock_irqsave(&obj->lock, flags);
	obj->configuring = false;
	spin_unlock_irqrestore(&obj->lock, flags);
}

/* Return: whether the caller may fill the staged list; it calls siro_mkey_apply(). */
static bool siro_mkey_acquire(struct siro_mr_obj *obj)
{
	unsigned long flags;
	bool acquired;

	spin_lock_irqsave(&obj->lock, flags);
	acquired = obj->mr.state != SIRO_MR_INVALID && !obj->configuring;
	if (acquired)
		obj->configuring = true;
	spin_unlock_irqrestore(&obj->lock, flags);
	if (acquired)
		siro_extents_reset(&obj->staged_list->extents, 0);
	return acquired;
}

struct siro_mr *siro_port_mkey_begin(void *port, __u32 key, __u32 pd, struct siro_extents **staged)
{
	struct siro_qp *qp = port;
	struct siro_mr_obj *obj;

	rcu_read_lock();
	obj = xa_load(&qp->dev->mrs, key >> 8);
	if (obj && (obj->kind != SIRO_MR_MKEY || obj->mr.key != key || obj->mr.pd != pd ||
		    !siro_mkey_acquire(obj)))
		obj = NULL;
	rcu_read_unlock();
	if (!obj)
		return NULL;

	/* Until it is released it can't be freed. */
	*staged = &obj->staged_list->extents;
	return &obj->mr;
}

static bool siro_mkey_sets_layout(const struct siro_mkey_conf *conf)
{
	return conf->set & (SIRO_MKEY_LIST | SIRO_MKEY_INTERLEAVED);
}

/* What the key would be. Return: false if its last address would wrap. */
static bool siro_mkey_plan(const struct siro_mr_obj *obj, const struct siro_mkey_conf *conf,
			   struct siro_mr *next)
{
	u64 end;

	*next = obj->mr;
	if (siro_mkey_sets_layout(conf)) {
		next->extents = obj->staged_list->extents;
		next->length = next->extents.row_length * next->extents.repeat;
		next->iova = 0;
	}
	if (conf->set & SIRO_MKEY_IOVA)
		next->iova = conf->iova;
	if (conf->set & SIRO_MKEY_ACCESS)
		next->access = conf->access;
	return !check_add_overflow(next->iova, next->length, &end);
}

/* Nobody can find the key valid: it is ours. */
static void siro_mkey_change(struct siro_mr_obj *obj, const struct siro_mkey_conf *conf,
			     const struct siro_mr *next)
{
	struct siro_mr *mr = &obj->mr;

	mr->iova = next->iova;
	mr->length = next->length;
	mr->access = next->access;
	if (siro_mkey_sets_layout(conf)) {
		mr->extents = next->extents;
		swap(obj->live_list, obj->staged_list);
	}
	siro_mr_set_state(mr, mr->length ? SIRO_MR_VALID : SIRO_MR_FREE);
	if (mr->length)
		siro_mr_registered(obj);
}

/* Ends what siro_mkey_acquire() began. */
static int siro_mkey_apply(struct siro_mr_obj *obj, const struct siro_mkey_conf *conf)
{
	struct siro_mr next;
	unsigned long flags;
	bool ours;

	if (!siro_mkey_plan(obj, conf, &next)) {
		siro_mkey_release(obj);
		return -EINVAL;
	}

	spin_lock_irqsave(&obj->lock, flags);
	ours = obj->mr.state != SIRO_MR_INVALID;
	WRITE_ONCE(obj->mr.state, SIRO_MR_INVALID);
	spin_unlock_irqrestore(&obj->lock, flags);
	if (ours) {
		siro_mr_wait_unused(&obj->mr);
		siro_mkey_plan(obj, conf, &next); /* it may have been invalidated since */
		siro_mkey_change(obj, conf, &next);
	}
	siro_mkey_release(obj);
	return ours ? 0 : -EBUSY;
}

int siro_port_mkey_end(void *port, struct siro_mr *mkey, const struct siro_mkey_conf *conf)
{
	struct siro_mr_obj *obj = container_of(mkey, struct siro_mr_obj, mr);

	if (conf)
		return siro_mkey_apply(obj, conf);
	siro_mkey_release(obj);
	return 0;
}

void siro_mkey_clear(struct siro_mr_obj *obj)
{
	obj->mr.iova = 0;
	obj->mr.length = 0;
	obj->mr.access = 0;
	siro_extents_reset(&obj->mr.extents, 0);
}

static int siro_mkey_configure(struct siro_mr_obj *obj, const struct siro_mkey_conf *conf,
			       const void *entries)
{
	int err;

	if (!siro_mkey_acquire(obj))
		return -EBUSY;

	err = siro_mkey_stage(&obj->staged_list->extents, conf, entries);
	if (err) {
		siro_mkey_release(obj);
		return err;
	}
	return siro_mkey_apply(obj, conf);
}

/* ---- Life ---- */

static struct siro_ucontext *siro_uobj_context(struct ib_uobject *uobj)
{
	return container_of(uobj->context, struct siro_ucontext, ibuc);
}

static int siro_mkey_charge(struct siro_ucontext *uc, u32 entries)
{
	if (atomic_add_return(entries, &uc->mkey_entries) <= SIRO_MKEY_ENTRIES_PER_CONTEXT)
		return 0;
	atomic_sub(entries, &uc->mkey_entries);
	return -ENOMEM;
}

static struct siro_mr_list *siro_mkey_list_alloc(u32 entries)
{
	struct siro_mr_list *list;

	list = kvzalloc(struct_size(list, storage, entries), GFP_KERNEL_ACCOUNT);
	if (!list)
		return NULL;

	list->room = entries;
	list->extents.extents = list->storage;
	list->extents.capacity = entries;
	return list;
}

static struct siro_mr_obj *siro_mkey_create(struct ib_pd *pd, const struct siro_mkey_create_req *req)
{
	struct siro_mr_obj *obj = siro_mr_alloc(pd);
	int err = -ENOMEM;

	if (!obj)
		return ERR_PTR(-ENOMEM);

	obj->kind = SIRO_MR_MKEY;
	obj->ibmr.pd = pd;
	obj->mr.layout = SIRO_MR_INDIRECT;
	obj->max_entries = req->max_entries;
	obj->remote_invalidate = req->flags & SIRO_MKEY_REMOTE_INVALIDATE;
	obj->live_list = siro_mkey_list_alloc(req->max_entries);
	obj->staged_list = siro_mkey_list_alloc(req->max_entries);
	if (obj->live_list && obj->staged_list)
		err = siro_mr_insert(obj);
	if (err) {
		siro_mr_free(obj);
		return ERR_PTR(err);
	}
	atomic_inc(&pd->usecnt);
	siro_mr_set_state(&obj->mr, SIRO_MR_FREE);
	return obj;
}

static int siro_mkey_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
			     struct uverbs_attr_bundle *attrs)
{
	struct siro_mr_obj *obj = uobj->object;
	struct ib_pd *pd = obj->ibmr.pd;

	atomic_sub(obj->max_entries, &siro_uobj_context(uobj)->mkey_entries);
	siro_mr_destroy(obj);
	atomic_dec(&pd->usecnt); /* its number is free for others from here on */
	return 0;
}

/* ---- Methods ---- */

static int siro_mkey_check_create(const struct siro_mkey_create_req *req)
{
	if (req->flags & ~(SIRO_MKEY_INDIRECT | SIRO_MKEY_REMOTE_INVALIDATE))
		return -EOPNOTSUPP;
	if (!(req->flags & SIRO_MKEY_INDIRECT))
		return -EINVAL;
	return req->max_entries && req->max_entries <= SIRO_MKEY_MAX_ENTRIES ? 0 : -EINVAL;
}

static int UVERBS_HANDLER(SIROCCO_METHOD_MKEY_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, SIROCCO_ATTR_MKEY_CREATE_HANDLE);
	struct ib_pd *pd = uverbs_attr_get_obj(attrs, SIROCCO_ATTR_MKEY_CREATE_PD);
	struct siro_mkey_create_resp resp = {};
	struct siro_mkey_create_req req;
	struct siro_mr_obj *obj;
	int err;

	err = uverbs_copy_from_or_zero(&req, attrs, SIROCCO_ATTR_MKEY_CREATE_REQ) ?:
	      siro_mkey_check_create(&req) ?:
	      siro_mkey_charge(siro_uobj_context(uobj), req.max_entries);
	if (err)
		return err;

	obj = siro_mkey_create(pd, &req);
	if (IS_ERR(obj)) {
		atomic_sub(req.max_entries, &siro_uobj_context(uobj)->mkey_entries);
		return PTR_ERR(obj);
	}
	uobj->object = obj;
	uverbs_finalize_uobj_create(attrs, SIROCCO_ATTR_MKEY_CREATE_HANDLE);

	resp.key = obj->mr.key;
	resp.max_entries = obj->max_entries;
	return uverbs_copy_to(attrs, SIROCCO_ATTR_MKEY_CREATE_RESP, &resp, sizeof(resp));
}

/* The entries that conf->table points to, or NULL if there are none. */
static void *siro_mkey_copy_entries(const struct siro_mkey_conf *conf)
{
	size_t size = conf->set & SIRO_MKEY_INTERLEAVED ? sizeof(struct siro_mkey_piece) :
							  sizeof(struct siro_sge);

	if (conf->count > SIRO_MKEY_MAX_ENTRIES)
		return ERR_PTR(-EINVAL);
	if (!siro_mkey_sets_layout(conf) || !conf->count)
		return NULL;
	return vmemdup_user(u64_to_user_ptr(conf->table), conf->count * size);
}

static int UVERBS_HANDLER(SIROCCO_METHOD_MKEY_CONFIGURE)(struct uverbs_attr_bundle *attrs)
{
	struct siro_mr_obj *obj = uverbs_attr_get_obj(attrs, SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE);
	struct siro_mkey_conf conf;
	void *entries;
	int err;

	err = uverbs_copy_from_or_zero(&conf, attrs, SIROCCO_ATTR_MKEY_CONFIGURE_CONF);
	if (err)
		return err;

	entries = siro_mkey_copy_entries(&conf);
	if (IS_ERR(entries))
		return PTR_ERR(entries);
	err = siro_mkey_configure(obj, &conf, entries);
	kvfree(entries);
	return err;
}

static int UVERBS_HANDLER(SIROCCO_METHOD_MKEY_INVALIDATE)(struct uverbs_attr_bundle *attrs)
{
	return siro_mr_invalidate(
		uverbs_attr_get_obj(attrs, SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE));
}

DECLARE_UVERBS_NAMED_METHOD(
	SIROCCO_METHOD_MKEY_CREATE,
	UVERBS_ATTR_IDR(SIROCCO_ATTR_MKEY_CREATE_HANDLE, SIROCCO_OBJECT_MKEY, UVERBS_ACCESS_NEW,
			UA_MANDATORY),
	UVERBS_ATTR_IDR(SIROCCO_ATTR_MKEY_CREATE_PD, UVERBS_OBJECT_PD, UVERBS_ACCESS_READ,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(SIROCCO_ATTR_MKEY_CREATE_REQ,
			   UVERBS_ATTR_STRUCT(struct siro_mkey_create_req, max_entries),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(SIROCCO_ATTR_MKEY_CREATE_RESP,
			    UVERBS_ATTR_STRUCT(struct siro_mkey_create_resp, max_entries),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	SIROCCO_METHOD_MKEY_DESTROY,
	UVERBS_ATTR_IDR(SIROCCO_ATTR_MKEY_DESTROY_HANDLE, SIROCCO_OBJECT_MKEY,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	SIROCCO_METHOD_MKEY_CONFIGURE,
	UVERBS_ATTR_IDR(SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE, SIROCCO_OBJECT_MKEY,
			UVERBS_ACCESS_WRITE, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(SIROCCO_ATTR_MKEY_CONFIGURE_CONF,
			   UVERBS_ATTR_STRUCT(struct siro_mkey_conf, set), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	SIROCCO_METHOD_MKEY_INVALIDATE,
	UVERBS_ATTR_IDR(SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE, SIROCCO_OBJECT_MKEY,
			UVERBS_ACCESS_WRITE, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(SIROCCO_OBJECT_MKEY, UVERBS_TYPE_ALLOC_IDR(siro_mkey_cleanup),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_CREATE),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_DESTROY),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_CONFIGURE),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_INVALIDATE));

const struct uapi_definition siro_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(SIROCCO_OBJECT_MKEY),
	{},
};
