// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "scenario.h"

#include "lab.h"

static int list_names(const struct scenario *const *lists)
{
	const struct scenario *s;

	for (; *lists; lists++)
		for (s = *lists; s->name; s++)
			puts(s->name);
	return 0;
}

static const struct scenario *find(const char *name,
				   const struct scenario *const *lists)
{
	const struct scenario *s;

	for (; *lists; lists++)
		for (s = *lists; s->name; s++)
			if (!strcmp(s->name, name))
				return s;
	return NULL;
}

int run_scenario(int argc, char **argv, const struct scenario *const *lists)
{
	const struct scenario *s;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list_names(lists);
	s = argc == 6 ? find(argv[5], lists) : NULL;
	if (!s) {
		fprintf(stderr,
			"usage: %s DEVICE GID-INDEX DEVICE GID-INDEX SCENARIO\n",
			argv[0]);
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
