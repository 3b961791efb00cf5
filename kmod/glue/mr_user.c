// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions of user space. */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "verbs.h"

#define SIRO_MR_ACCESS                                                            \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)
#define SIRO_ENGINE_ACCESS                                                              \
	(SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE | SIRO_ACCESS_REMOTE_READ | \
	 SIRO_ACCESS_REMOTE_ATOMIC)

static int siro_mr_list_pages(struct siro_mr_obj *obj)
{
	size_t count = ib_umem_num_pages(obj->umem);
	struct sg_page_iter iter;
	size_t i = 0;

	obj->live = kvmalloc_array(count, sizeof(*obj->live), GFP_KERNEL_ACCOUNT);
	if (!obj->live)
		return -ENOMEM;

	for_each_sgtable_page(&obj->umem->sgt_append.sgt, &iter, 0) {
		if (WARN_ON_ONCE(i == count))
			return -EINVAL;
		obj->live[i++] = (uintptr_t)page_address(sg_page_iter_page(&iter));
	}
	if (WARN_ON_ONCE(i != count))
		return -EINVAL;

	obj->mr.pages = obj->live;
	obj->mr.page_count = count;
	obj->mr.page_shift = PAGE_SHIFT;
	obj->mr.first_offset = offset_in_page(obj->umem->address);
	return 0;
}

static int siro_mr_pin(struct siro_mr_obj *obj, u64 start, u64 length, int access)
{
	struct ib_umem *umem = ib_umem_get(obj->ibmr.device, start, length, access);

	if (IS_ERR(umem))
		return PTR_ERR(umem);
	obj->umem = umem;
	return siro_mr_list_pages(obj);
}

struct ib_mr *siro_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			       struct ib_udata *udata)
{
	struct siro_mr_obj *obj;
	u64 end;
	int err;

	if (access & ~SIRO_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (check_add_overflow(iova, length, &end))
		return ERR_PTR(-EINVAL);
	err = siro_check_no_request(udata);
	if (err)
		return ERR_PTR(err);

	obj = siro_mr_alloc(ibpd);
	if (!obj)
		return ERR_PTR(-ENOMEM);

	obj->mr.layout = SIRO_MR_PAGES;
	obj->mr.iova = iova;
	obj->mr.length = length;
	obj->mr.access = access & SIRO_ENGINE_ACCESS;
	err = siro_mr_pin(obj, start, length, access) ?: siro_mr_insert(obj);
	if (err) {
		siro_mr_free(obj);
		return ERR_PTR(err);
	}
	siro_mr_set_state(&obj->mr, SIRO_MR_VALID);
	return &obj->ibmr;
}
