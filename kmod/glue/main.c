// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Module entry and exit, the rdma link type. */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "verbs.h"

struct workqueue_struct *siro_wq;

static struct rdma_link_ops siro_link_ops = {
	.type = "sirocco",
	.newlink = siro_dev_add,
};

static int __init siro_init(void)
{
	int err;

	siro_wq = alloc_workqueue("sirocco", WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!siro_wq)
		return -ENOMEM;

	err = siro_mr_init();
	if (err)
		goto destroy_wq;

	err = siro_rx_init();
	if (err)
		goto exit_mr;

	err = siro_netdev_init();
	if (err)
		goto exit_rx;

	siro_debugfs_init();
	rdma_link_register(&siro_link_ops);
	return 0;

exit_rx:
	siro_rx_exit();
exit_mr:
	siro_mr_exit();
destroy_wq:
	destroy_workqueue(siro_wq);
	return err;
}

static void __exit siro_exit(void)
{
	rdma_link_unregister(&siro_link_ops);
	ib_unregister_driver((enum rdma_driver_id)SIROCCO_DRIVER_ID);
	siro_netdev_exit();
	siro_debugfs_exit();
	siro_rx_exit();
	destroy_workqueue(siro_wq);
	rcu_barrier(); /* objects that are freed by callbacks of this module */
	siro_mr_exit();
}

module_init(siro_init);
module_exit(siro_exit);

MODULE_ALIAS_RDMA_LINK("sirocco");
MODULE_DESCRIPTION("Software RoCEv2 device");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(SIRO_VERSION);
