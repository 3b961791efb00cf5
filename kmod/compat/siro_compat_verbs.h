/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Differences between kernels in the verbs operations. */
#ifndef SIRO_COMPAT_VERBS_H
#define SIRO_COMPAT_VERBS_H

#include <linux/version.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
typedef struct uverbs_attr_bundle siro_create_cq_arg;

static inline struct ib_udata *siro_create_cq_udata(siro_create_cq_arg *arg)
{
	return arg ? &arg->driver_udata : NULL;
}
#else
typedef struct ib_udata siro_create_cq_arg;

static inline struct ib_udata *siro_create_cq_udata(siro_create_cq_arg *arg)
{
	return arg;
}
#endif

#endif /* SIRO_COMPAT_VERBS_H */
