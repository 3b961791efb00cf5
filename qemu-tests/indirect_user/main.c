// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * usage: indirect_user DEVICE GID-INDEX DEVICE GID-INDEX SCENARIO
 *        indirect_user list
 *
 * Mkeys through the direct verbs. Both ends are in this process.
 */
#include "lab.h"
#include "scenarios.h"

static const struct scenario *const lists[] = {
	data_scenarios, access_scenarios, builder_scenarios, ioctl_scenarios,
	lifetime_scenarios,
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

static int list_names(void)
{
	const struct scenario *s;
	size_t i;

	for (i = 0; i < LISTS; i++)
		for (s = lists[i]; s->name; s++)
			puts(s->name);
	return 0;
}

static const struct scenario *find(const char *name)
{
	const struct scenario *s;
	size_t i;

	for (i = 0; i < LISTS; i++)
		for (s = lists[i]; s->name; s++)
			if (!strcmp(s->name, name))
				return s;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct scenario *s;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list_names();
	s = argc == 6 ? find(argv[5]) : NULL;
	if (!s) {
		fprintf(stderr,
			"usage: indirect_user DEVICE GID-INDEX DEVICE GID-INDEX SCENARIO\n");
		return 2;
	}
	a.device = argv[1];
	a.gid_index = atoi(argv[2]);
	b.device = argv[3];
	b.gid_index = atoi(argv[4]);
	s->run();
	printf("ok %s\n", s->name);
	return 0;
}
