/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCENARIO_H
#define SCENARIO_H

/**
 * struct scenario - one check, in a process of its own
 * @run: returns if all is well; opens what it needs
 */
struct scenario {
	const char *name;
	void (*run)(void);
};

#define SCENARIO(name) { #name, name }

/**
 * run_scenario() - the whole of a program
 * @lists: each ends with an empty entry; the last one is NULL
 *
 * usage: PROGRAM DEVICE GID-INDEX DEVICE GID-INDEX SCENARIO
 *        PROGRAM list
 */
int run_scenario(int argc, char **argv, const struct scenario *const *lists);

#endif /* SCENARIO_H */
