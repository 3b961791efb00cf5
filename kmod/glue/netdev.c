// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What happens to netdevs and network namespaces. */
#include <net/netns/generic.h>

#include "siro.h"

static unsigned int siro_net_id;

struct siro_net *siro_net_get(struct net *net)
{
	struct siro_net *snet = net_generic(net, siro_net_id);
	int err;

	lockdep_assert_held(&siro_dev_mutex);
	if (!snet->users) {
		err = siro_rx_open(snet);
		if (err)
			return ERR_PTR(err);
	}
	snet->users++;
	return snet;
}

void siro_net_put(struct siro_net *snet)
{
	lockdep_assert_held(&siro_dev_mutex);
	if (snet->users == 1)
		siro_rx_close(snet);
	WRITE_ONCE(snet->users, snet->users - 1);
}

static int __net_init siro_net_init(struct net *net)
{
	struct siro_net *snet = net_generic(net, siro_net_id);

	snet->net = net;
	siro_rx_setup(snet);
	return 0;
}

/* Runs before the namespace's netdevs move or go. */
static void __net_exit siro_net_exit(struct net *net)
{
	siro_dev_remove_all(net_generic(net, siro_net_id));
}

static struct pernet_operations siro_net_ops = {
	.init = siro_net_init,
	.exit = siro_net_exit,
	.id = &siro_net_id,
	.size = sizeof(struct siro_net),
};

static void siro_netdev_changed(struct ib_device *ibdev, unsigned long event)
{
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		siro_dev_update_port(to_siro_dev(ibdev));
		break;
	case NETDEV_UNREGISTER:
		/* Consumers learn now, not after their time-outs, that nothing comes any more. */
		siro_qp_fail_all(to_siro_dev(ibdev));
		ib_unregister_device_queued(ibdev);
		break;
	}
}

static int siro_netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct ib_device *ibdev;

	ibdev = ib_device_get_by_netdev(ndev, (enum rdma_driver_id)SIROCCO_DRIVER_ID);
	if (ibdev) {
		siro_netdev_changed(ibdev, event);
		ib_device_put(ibdev);
	}
	return NOTIFY_DONE;
}

static struct notifier_block siro_netdev_notifier = {
	.notifier_call = siro_netdev_event,
};

int siro_netdev_init(void)
{
	int err;

	err = register_pernet_device(&siro_net_ops);
	if (err)
		return err;

	err = register_netdevice_notifier(&siro_netdev_notifier);
	if (err)
		unregister_pernet_device(&siro_net_ops);
	return err;
}

void siro_netdev_exit(void)
{
	unregister_netdevice_notifier(&siro_netdev_notifier);
	unregister_pernet_device(&siro_net_ops);
}
