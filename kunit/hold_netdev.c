// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/etherdevice.h>
#include <linux/module.h>

#include "hold_netdev.h"

static struct net_device *hold_dev;
static struct sk_buff_head held;

u32 hold_netdev_held(void)
{
	return skb_queue_len(&held);
}
EXPORT_SYMBOL_GPL(hold_netdev_held);

static netdev_tx_t hold_xmit(struct sk_buff *skb, struct net_device *dev)
{
	skb_queue_tail(&held, skb);
	return NETDEV_TX_OK;
}

static int hold_stop(struct net_device *dev)
{
	skb_queue_purge(&held);
	return 0;
}

static const struct net_device_ops hold_ops = {
	.ndo_start_xmit = hold_xmit,
	.ndo_stop = hold_stop,
};

static void hold_setup(struct net_device *dev)
{
	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &hold_ops;
	dev->flags |= IFF_NOARP;
	dev->features |= NETIF_F_SG | NETIF_F_HW_CSUM;
	dev->max_mtu = ETH_MAX_MTU;
}

static int __init hold_init(void)
{
	int err;

	skb_queue_head_init(&held);
	hold_dev = alloc_netdev(0, "hold0", NET_NAME_USER, hold_setup);
	if (!hold_dev)
		return -ENOMEM;
	err = register_netdev(hold_dev);
	if (err)
		free_netdev(hold_dev);
	return err;
}

static void __exit hold_exit(void)
{
	unregister_netdev(hold_dev);
	free_netdev(hold_dev);
}

module_init(hold_init);
module_exit(hold_exit);

MODULE_DESCRIPTION("Netdev that never completes a transmission");
MODULE_LICENSE("Dual BSD/GPL");
