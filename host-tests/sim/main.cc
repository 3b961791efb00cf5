// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* sim --seed N [-v] | --seeds A..B | --streams MILLISECONDS */
#include "simulation.h"
#include "stream.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sanitizer/common_interface_defs.h>
#include <string>

namespace {

struct totals {
	unsigned long long passed = 0, failed = 0, errors = 0, gave_up = 0, packets = 0, placed = 0,
			   sacks = 0;
};

void broken_promise(const std::string &text)
{
	throw sim::failure(text);
}

void run_seed(uint64_t seed, bool verbose, totals &t)
{
	sim::config c(seed);

	if (verbose)
		printf("%s", c.describe().c_str());
	try {
		sim::simulation s(c, verbose);
		sim::summary r = s.run();

		t.passed++;
		t.errors += r.errors;
		t.gave_up += r.gave_up;
		t.packets += r.packets;
		t.placed += r.placed;
		t.sacks += r.sacks;
	} catch (const sim::failure &f) {
		t.failed++;
		printf("sim --seed %llu: %s\n", static_cast<unsigned long long>(seed), f.what());
		if (verbose)
			printf("%s", c.describe().c_str());
	}
	fflush(stdout);
}

uint64_t current_seed;

void say_seed()
{
	fprintf(stderr, "sim --seed %llu: sanitizer report\n",
		static_cast<unsigned long long>(current_seed));
}

int usage()
{
	fprintf(stderr, "usage: sim --seed N [-v] | --seeds A..B | --streams MILLISECONDS\n");
	return 2;
}

} // namespace

int main(int argc, char **argv)
{
	unsigned long long first = 0, last = 0;
	bool verbose = false, given = false;
	totals t;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v")) {
			verbose = true;
		} else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			first = last = strtoull(argv[++i], nullptr, 0);
			given = true;
		} else if (!strcmp(argv[i], "--seeds") && i + 1 < argc) {
			given = sscanf(argv[++i], "%llu..%llu", &first, &last) == 2;
		} else if (!strcmp(argv[i], "--streams") && i + 1 < argc) {
			return sim::print_streams(strtoul(argv[i + 1], nullptr, 0)) ? 0 : 1;
		} else {
			return usage();
		}
	}
	if (!given || last < first)
		return usage();
	host::set_failure_handler(broken_promise);
	__sanitizer_set_death_callback(say_seed);
	for (unsigned long long seed = first;; seed++) {
		current_seed = seed;
		run_seed(seed, verbose, t);
		if (seed == last)
			break;
	}
	printf("%llu passed, %llu failed (%llu with errors, %llu gave up, %llu packets, %llu "
	       "placed "
	       "early, %llu SACKs)\n",
	       t.passed, t.failed, t.errors, t.gave_up, t.packets, t.placed, t.sacks);
	return t.failed ? 1 : 0;
}
