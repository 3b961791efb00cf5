/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Differences of the network stack between kernels. */
#ifndef SIRO_COMPAT_NET_H
#define SIRO_COMPAT_NET_H

#include <linux/netdevice.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0) /* skb_gso_segment() */
#include <net/gso.h>
#endif

#endif /* SIRO_COMPAT_NET_H */
