// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Cancelling of posted work requests, for user space. */
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#define UVERBS_MODULE_NAME sirocco
#include <rdma/uverbs_named_ioctl.h>

#include "verbs.h"

/* The requester's lock is given up in between: there may be many. */
static int siro_qp_cancel_sends(struct siro_qp *qp, u64 wr_id, u32 *count)
{
	struct siro_context ctx;
	int ret;

	do {
		if (!siro_half_enter(qp, &qp->sq, &ctx))
			return -EINVAL;
		ret = siro_requester_cancel(&qp->requester, wr_id, count);
		siro_half_leave(qp, &qp->sq, &ctx);
	} while (ret > 0);
	return ret;
}

static int UVERBS_HANDLER(SIROCCO_METHOD_QP_CANCEL_SEND)(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *qp = uverbs_attr_get_obj(attrs, SIROCCO_ATTR_QP_CANCEL_SEND_HANDLE);
	u32 count = 0;
	u64 wr_id;
	int err;

	err = uverbs_copy_from(&wr_id, attrs, SIROCCO_ATTR_QP_CANCEL_SEND_WR_ID) ?:
	      siro_qp_cancel_sends(to_siro_qp(qp), wr_id, &count);
	if (err)
		return err;
	return uverbs_copy_to(attrs, SIROCCO_ATTR_QP_CANCEL_SEND_COUNT, &count, sizeof(count));
}

DECLARE_UVERBS_NAMED_METHOD(
	SIROCCO_METHOD_QP_CANCEL_SEND,
	UVERBS_ATTR_IDR(SIROCCO_ATTR_QP_CANCEL_SEND_HANDLE, UVERBS_OBJECT_QP, UVERBS_ACCESS_READ,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(SIROCCO_ATTR_QP_CANCEL_SEND_WR_ID, UVERBS_ATTR_TYPE(u64),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(SIROCCO_ATTR_QP_CANCEL_SEND_COUNT, UVERBS_ATTR_TYPE(u32),
			    UA_MANDATORY));

ADD_UVERBS_METHODS(siro_qp_methods, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(SIROCCO_METHOD_QP_CANCEL_SEND));

const struct uapi_definition siro_qp_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &siro_qp_methods),
	{},
};
