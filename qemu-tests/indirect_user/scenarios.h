/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "scenario.h"

extern const struct scenario data_scenarios[];
extern const struct scenario access_scenarios[];
extern const struct scenario builder_scenarios[];
extern const struct scenario ioctl_scenarios[];
extern const struct scenario lifetime_scenarios[];

#endif /* SCENARIOS_H */
