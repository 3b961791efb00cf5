// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mkeys through the direct verbs. Both ends are in this process. */
#include <stddef.h>

#include "scenarios.h"

int main(int argc, char **argv)
{
	static const struct scenario *const lists[] = {
		data_scenarios, access_scenarios, builder_scenarios,
		ioctl_scenarios, lifetime_scenarios, NULL,
	};

	return run_scenario(argc, argv, lists);
}
