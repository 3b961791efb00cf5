/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Differences of the network stack between kernels. */
#ifndef SIRO_COMPAT_NET_H
#define SIRO_COMPAT_NET_H

#include <linux/netdevice.h>
#if __has_include("net/gso.h") /* skb_gso_segment(), from 6.5 on */
#include <net/gso.h>
#endif

#endif /* SIRO_COMPAT_NET_H */
