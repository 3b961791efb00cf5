// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Module entry and exit. */
#include <linux/module.h>

static int __init siro_init(void)
{
	return 0;
}

static void __exit siro_exit(void)
{
}

module_init(siro_init);
module_exit(siro_exit);

MODULE_DESCRIPTION("Software RoCEv2 device");
MODULE_LICENSE("Dual BSD/GPL");
