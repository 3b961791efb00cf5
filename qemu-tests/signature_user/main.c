// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signatures of mkeys through the direct verbs. Both ends are in this process. */
#include <stddef.h>

#include "scenarios.h"

int main(int argc, char **argv)
{
	static const struct scenario *const lists[] = {
		rdma_core_scenarios, transfer_scenarios,   error_scenarios,
		check_scenarios,     pipelining_scenarios, bad_scenarios,
		NULL,
	};

	return run_scenario(argc, argv, lists);
}
