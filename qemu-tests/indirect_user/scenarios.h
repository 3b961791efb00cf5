/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCENARIOS_H
#define SCENARIOS_H

/**
 * struct scenario - one check, in a process of its own
 * @run: returns if all is well; opens what it needs
 */
struct scenario {
	const char *name;
	void (*run)(void);
};

#define SCENARIO(name) { #name, name }

/* Each list ends with an empty entry. */
extern const struct scenario data_scenarios[];
extern const struct scenario access_scenarios[];
extern const struct scenario builder_scenarios[];
extern const struct scenario ioctl_scenarios[];
extern const struct scenario lifetime_scenarios[];

#endif /* SCENARIOS_H */
