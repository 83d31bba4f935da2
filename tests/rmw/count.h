/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What rmw_atomic.h has counted. */
#ifndef TESTS_RMW_COUNT_H
#define TESTS_RMW_COUNT_H

#include <stdint.h>

struct rmw_place {
	const char *file, *function;
	int line;
	uint64_t nr; /* locked operations */
	uint64_t nr_moved; /* of these, of a line that another thread had */
};

/* Forgets what was counted; other threads may count on. */
void rmw_start(void);

/* Calls @tell for each place that has counted since then. */
void rmw_each(void (*tell)(const struct rmw_place *p, void *u), void *u);

#endif
