/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Writes findings as JSON, see Documentation/schema/check.json. */
#ifndef TOOLS_CHECK_PRINT_H
#define TOOLS_CHECK_PRINT_H

#include "check/report.h"

#define MAX_SEEDS 64

/* A seed whose run ended in a deadlock, or differs from the first one. */
struct seed_finding {
	unsigned long seed;
	const char *differs; /* in what; NULL: it is a deadlock */
};

struct result {
	const char *program;
	long orders;
	int status; /* of the first run */
	bool has_races, is_checked, stands_still;
	unsigned nr_seeds; /* of which MAX_SEEDS are kept */
	struct seed_finding seed[MAX_SEEDS];
};

void print_result(const struct result *r, const struct reports *all, FILE *out);

#endif
