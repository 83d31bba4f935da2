/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime's figures at the end.
 */
#ifndef DUPES_SUMMARY_H
#define DUPES_SUMMARY_H

#include <lkdf/lkdf.h>
#include <stdio.h>

/* -1: this runtime does not count it. */
struct summary {
	struct lkdf *rt;
	unsigned workers;
	int64_t wall_ns;
	int64_t tasks, near, far, wakes, parks, idle_ns;
};

struct summary summary_take(struct lkdf *rt, int64_t wall_ns);
void summary_text(const struct summary *s, FILE *f);
void summary_json(const struct summary *s, FILE *f);

#endif
