/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A netdev that takes packets and never sends nor frees them before it goes down. */
#ifndef HOLD_NETDEV_H
#define HOLD_NETDEV_H

#include <linux/types.h>

/* Packets that are held now. */
u32 hold_netdev_held(void);

#endif /* HOLD_NETDEV_H */
