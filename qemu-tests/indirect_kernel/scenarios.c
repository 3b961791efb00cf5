// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scenarios of the kernel API on the two links rdma_a and rdma_b. Loading runs one
 * of them and fails if it does. `modinfo -F scenario` lists those for two links of
 * Sirocco.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "scenarios.h"

static char *scenario = "";
module_param(scenario, charp, 0444);
MODULE_PARM_DESC(scenario, "name of the one to run");

struct scenario {
	const char *name;
	int (*run)(void);
};

#define SCENARIO(function) { #function, function },
#define NAME_SCENARIO(function) MODULE_INFO(scenario, #function);

EACH_SCENARIO(NAME_SCENARIO)

static const struct scenario scenarios[] = {
	EACH_SCENARIO(SCENARIO)
	SCENARIO(all__device_of_another_driver)
};

static int __init indirect_kernel_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(scenarios); i++)
		if (!strcmp(scenarios[i].name, scenario))
			return scenarios[i].run();
	pr_err("no such scenario: %s\n", scenario);
	return -ENOENT;
}

static void __exit indirect_kernel_exit(void)
{
}

module_init(indirect_kernel_init);
module_exit(indirect_kernel_exit);

MODULE_DESCRIPTION("Scenarios of Sirocco's kernel API");
MODULE_LICENSE("Dual BSD/GPL");
