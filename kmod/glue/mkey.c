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

/* All mkeys of a process together. */
#define SIRO_MKEY_BYTES_PER_CONTEXT (48 << 20)
/* What one takes as the allocator rounds it, whatever its number of entries. */
#define SIRO_MKEY_OWN_BYTES 1024
#define SIRO_MKEY_SIGNATURE_BYTES 1024

static_assert(IS_ENABLED(CONFIG_DEBUG_SPINLOCK) ||
	      (sizeof(struct siro_mr_obj) + 2 * sizeof(struct siro_mr_list) <=
		       SIRO_MKEY_OWN_BYTES &&
	       sizeof(struct siro_mr_signature) + sizeof(struct siro_mkey_status) <=
		       SIRO_MKEY_SIGNATURE_BYTES));

/* ---- Configuration ---- */

static struct siro_status_slot *siro_mkey_slot(const struct siro_mr *mr)
{
	return &to_siro_mr_signature(mr->signature)->slot;
}

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

/* On copies, for the key is in use. */
static int siro_mkey_try(const struct siro_mr_obj *obj, const struct siro_mkey_conf *conf,
			 const struct siro_mkey_sig *sig)
{
	struct siro_mr next = obj->mr;
	struct siro_signature signature;

	if (next.signature) {
		signature = *next.signature;
		next.signature = &signature;
	}
	return siro_mkey_change(&next, &obj->staged_list->extents, conf, sig);
}

/*
 * Nobody can find the key valid: it is ours. What was tried can't fail now: all that
 * may have happened since is that the key was cleared.
 */
static void siro_mkey_put(struct siro_mr_obj *obj, const struct siro_mkey_conf *conf,
			  const struct siro_mkey_sig *sig)
{
	struct siro_mr *mr = &obj->mr;

	siro_mkey_change(mr, &obj->staged_list->extents, conf, sig);
	if (siro_mkey_sets_layout(conf))
		swap(obj->live_list, obj->staged_list);
	if (mr->signature)
		siro_status_write(siro_mkey_slot(mr), NULL);
	siro_mr_set_state(mr, mr->length ? SIRO_MR_VALID : SIRO_MR_FREE);
	if (mr->length)
		siro_mr_registered(obj);
}

/* Ends what siro_mkey_acquire() began. */
static int siro_mkey_apply(struct siro_mr_obj *obj, const struct siro_mkey_conf *conf,
			   const struct siro_mkey_sig *sig)
{
	unsigned long flags;
	bool ours;

	if (siro_mkey_try(obj, conf, sig)) {
		siro_mkey_release(obj);
		return -EINVAL;
	}

	spin_lock_irqsave(&obj->lock, flags);
	ours = obj->mr.state != SIRO_MR_INVALID;
	WRITE_ONCE(obj->mr.state, SIRO_MR_INVALID);
	spin_unlock_irqrestore(&obj->lock, flags);
	if (ours) {
		siro_mr_wait_unused(&obj->mr);
		siro_mkey_put(obj, conf, sig);
	}
	siro_mkey_release(obj);
	return ours ? 0 : -EBUSY;
}

int siro_port_mkey_end(void *port, struct siro_mr *mkey, const struct siro_mkey_conf *conf,
		       const struct siro_mkey_sig *sig)
{
	struct siro_mr_obj *obj = container_of(mkey, struct siro_mr_obj, mr);

	if (conf)
		return siro_mkey_apply(obj, conf, sig);
	siro_mkey_release(obj);
	return 0;
}

static int siro_mkey_configure(struct siro_mr_obj *obj, const struct siro_mkey_conf *conf,
			       const struct siro_mkey_sig *sig, const void *entries)
{
	int err;

	if (!siro_mkey_acquire(obj))
		return -EBUSY;

	err = siro_mkey_stage(&obj->staged_list->extents, conf, sig, entries);
	if (err) {
		siro_mkey_release(obj);
		return err;
	}
	return siro_mkey_apply(obj, conf, sig);
}

/* The slot first: it must not be cleared when an error has come that nobody was told of. */
static bool siro_mkey_take_error(struct siro_mr *mr, struct siro_sig_error *error)
{
	siro_status_write(siro_mkey_slot(mr), NULL);
	return siro_signature_check(mr->signature, mr->key, error);
}

/* ---- Life ---- */

static struct siro_ucontext *siro_uobj_context(struct ib_uobject *uobj)
{
	return to_siro_ucontext(uobj->context);
}

int siro_mkey_charge(struct siro_ucontext *uc, u32 bytes)
{
	if (atomic_add_return(bytes, &uc->mkey_bytes) <= SIRO_MKEY_BYTES_PER_CONTEXT)
		return 0;
	siro_mkey_uncharge(uc, bytes);
	return -ENOMEM;
}

void siro_mkey_uncharge(struct siro_ucontext *uc, u32 bytes)
{
	atomic_sub(bytes, &uc->mkey_bytes);
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

static int siro_mkey_add_signature(struct siro_ucontext *uc, struct siro_mr_obj *obj)
{
	if (!siro_mr_signature_get(obj, GFP_KERNEL_ACCOUNT))
		return -ENOMEM;
	return siro_status_add(uc, siro_mkey_slot(&obj->mr));
}

static int siro_mkey_build(struct siro_ucontext *uc, struct siro_mr_obj *obj, u32 flags)
{
	int err;

	obj->live_list = siro_mkey_list_alloc(obj->max_entries);
	obj->staged_list = siro_mkey_list_alloc(obj->max_entries);
	if (!obj->live_list || !obj->staged_list)
		return -ENOMEM;
	if (flags & SIRO_MKEY_BLOCK_SIGNATURE) {
		err = siro_mkey_add_signature(uc, obj);
		if (err)
			return err;
	}
	return siro_mr_insert(obj);
}

/* What a new one is charged for: both its lists, and its signature if it has one. */
static u32 siro_mkey_cost(u32 max_entries, bool has_signature)
{
	return SIRO_MKEY_OWN_BYTES + 2 * max_entries * (u32)sizeof(struct siro_extent) +
	       (has_signature ? SIRO_MKEY_SIGNATURE_BYTES : 0);
}

/* Nobody uses the mkey. */
static void siro_mkey_return(struct siro_ucontext *uc, struct siro_mr_obj *obj)
{
	const struct siro_signature *signature = obj->mr.signature;

	if (signature) {
		siro_mkey_uncharge(uc, signature->blocks.spill_count *
					       (u32)sizeof(struct siro_sig_block));
		siro_status_remove(siro_mkey_slot(&obj->mr));
	}
	siro_mkey_uncharge(uc, siro_mkey_cost(obj->max_entries, obj->has_signature));
}

static struct siro_mr_obj *siro_mkey_create(struct siro_ucontext *uc, struct ib_pd *pd,
					    const struct siro_mkey_create_req *req)
{
	struct siro_mr_obj *obj = siro_mr_alloc(pd);
	int err;

	if (!obj)
		return ERR_PTR(-ENOMEM);

	obj->kind = SIRO_MR_MKEY;
	obj->ibmr.pd = pd;
	obj->mr.layout = SIRO_MR_INDIRECT;
	obj->max_entries = req->max_entries;
	obj->remote_invalidate = req->flags & SIRO_MKEY_REMOTE_INVALIDATE;
	obj->has_signature = req->flags & SIRO_MKEY_BLOCK_SIGNATURE;
	err = siro_mkey_charge(uc, siro_mkey_cost(obj->max_entries, obj->has_signature));
	if (err)
		goto free;
	err = siro_mkey_build(uc, obj, req->flags);
	if (err)
		goto uncharge;
	atomic_inc(&pd->usecnt);
	siro_mr_set_state(&obj->mr, SIRO_MR_FREE);
	return obj;

uncharge:
	siro_mkey_return(uc, obj);
free:
	siro_mr_free(obj);
	return ERR_PTR(err);
}

static int siro_mkey_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
			     struct uverbs_attr_bundle *attrs)
{
	struct siro_mr_obj *obj = uobj->object;
	struct ib_pd *pd = obj->ibmr.pd;

	siro_mr_end(obj);
	siro_mkey_return(siro_uobj_context(uobj), obj);
	siro_mr_free(obj);
	atomic_dec(&pd->usecnt); /* its number is free for others from here on */
	return 0;
}

/* ---- Methods ---- */

static int siro_mkey_check_create(const struct siro_mkey_create_req *req)
{
	const u32 known = SIRO_MKEY_INDIRECT | SIRO_MKEY_REMOTE_INVALIDATE |
			  SIRO_MKEY_BLOCK_SIGNATURE;

	if (req->flags & ~known)
		return -EOPNOTSUPP;
	if (!(req->flags & SIRO_MKEY_INDIRECT))
		return -EINVAL;
	return req->max_entries && req->max_entries <= SIRO_MKEY_MAX_ENTRIES ? 0 : -EINVAL;
}

static void siro_mkey_describe(const struct siro_mr_obj *obj, struct siro_mkey_create_resp *resp)
{
	resp->key = obj->mr.key;
	resp->max_entries = obj->max_entries;
	if (obj->mr.signature)
		siro_status_describe(siro_mkey_slot(&obj->mr), resp);
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
	      siro_mkey_check_create(&req);
	if (err)
		return err;

	obj = siro_mkey_create(siro_uobj_context(uobj), pd, &req);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	uobj->object = obj;
	uverbs_finalize_uobj_create(attrs, SIROCCO_ATTR_MKEY_CREATE_HANDLE);

	siro_mkey_describe(obj, &resp);
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

/* There is one if, and only if, the configuration says so. */
static int siro_mkey_copy_signature(const struct siro_mkey_conf *conf, struct siro_mkey_sig *sig,
				    const struct uverbs_attr_bundle *attrs)
{
	bool there = uverbs_attr_is_valid(attrs, SIROCCO_ATTR_MKEY_CONFIGURE_SIGNATURE);

	if (there != !!(conf->set & SIRO_MKEY_SIGNATURE))
		return -EINVAL;
	if (!there)
		return 0;
	return uverbs_copy_from_or_zero(sig, attrs, SIROCCO_ATTR_MKEY_CONFIGURE_SIGNATURE);
}

static int UVERBS_HANDLER(SIROCCO_METHOD_MKEY_CONFIGURE)(struct uverbs_attr_bundle *attrs)
{
	struct siro_mr_obj *obj = uverbs_attr_get_obj(attrs, SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE);
	struct siro_mkey_conf conf;
	struct siro_mkey_sig sig;
	void *entries;
	int err;

	err = uverbs_copy_from_or_zero(&conf, attrs, SIROCCO_ATTR_MKEY_CONFIGURE_CONF) ?:
	      siro_mkey_copy_signature(&conf, &sig, attrs);
	if (err)
		return err;

	entries = siro_mkey_copy_entries(&conf);
	if (IS_ERR(entries))
		return PTR_ERR(entries);
	err = siro_mkey_configure(obj, &conf, &sig, entries);
	kvfree(entries);
	return err;
}

static int UVERBS_HANDLER(SIROCCO_METHOD_MKEY_INVALIDATE)(struct uverbs_attr_bundle *attrs)
{
	return siro_mr_invalidate(
		uverbs_attr_get_obj(attrs, SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE));
}

static int UVERBS_HANDLER(SIROCCO_METHOD_MKEY_CHECK)(struct uverbs_attr_bundle *attrs)
{
	struct siro_mr_obj *obj = uverbs_attr_get_obj(attrs, SIROCCO_ATTR_MKEY_CHECK_HANDLE);
	struct siro_mkey_error out = {};
	struct siro_sig_error error;

	if (!obj->mr.signature)
		return -EINVAL;
	if (siro_mkey_take_error(&obj->mr, &error))
		out = (struct siro_mkey_error){
			.expected = error.expected,
			.actual = error.actual,
			.offset = error.offset,
			.found = 1,
			.type = error.type,
			.domain = error.domain,
		};
	return uverbs_copy_to(attrs, SIROCCO_ATTR_MKEY_CHECK_ERROR, &out, sizeof(out));
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
			   UVERBS_ATTR_STRUCT(struct siro_mkey_conf, set), UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(SIROCCO_ATTR_MKEY_CONFIGURE_SIGNATURE,
			   UVERBS_ATTR_STRUCT(struct siro_mkey_sig, wire), UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD(
	SIROCCO_METHOD_MKEY_INVALIDATE,
	UVERBS_ATTR_IDR(SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE, SIROCCO_OBJECT_MKEY,
			UVERBS_ACCESS_WRITE, UA_MANDATORY));

/* Checks do not disturb each other. */
DECLARE_UVERBS_NAMED_METHOD(
	SIROCCO_METHOD_MKEY_CHECK,
	UVERBS_ATTR_IDR(SIROCCO_ATTR_MKEY_CHECK_HANDLE, SIROCCO_OBJECT_MKEY, UVERBS_ACCESS_READ,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(SIROCCO_ATTR_MKEY_CHECK_ERROR,
			    UVERBS_ATTR_STRUCT(struct siro_mkey_error, domain), UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(SIROCCO_OBJECT_MKEY, UVERBS_TYPE_ALLOC_IDR(siro_mkey_cleanup),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_CREATE),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_DESTROY),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_CONFIGURE),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_INVALIDATE),
			    &UVERBS_METHOD(SIROCCO_METHOD_MKEY_CHECK));

const struct uapi_definition siro_mkey_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(SIROCCO_OBJECT_MKEY),
	{},
};
