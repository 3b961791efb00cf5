/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "scenario.h"

extern const struct scenario rdma_core_scenarios[];
extern const struct scenario transfer_scenarios[];
extern const struct scenario error_scenarios[];
extern const struct scenario check_scenarios[];
extern const struct scenario pipelining_scenarios[];
extern const struct scenario bad_scenarios[];

#endif /* SCENARIOS_H */
