/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Parts of replay_build(). */
#ifndef REPORT_REPLAY_BUILD_H
#define REPORT_REPLAY_BUILD_H

#include "report/replay.h"

struct build {
	struct replay *p;
	const struct report *r;
	uint32_t *rank; /* of slices, then of operations: in replay.body */
	uint32_t nr_all, cap_steps;
	const struct held **held; /* by kind and end */
};

/* 0; -ENOMEM. */
int replay_add_step(struct build *b, const struct replay_step *s);

/* Steps by time, for qsort(). */
int replay_by_time(const void *a, const void *b);

/* Bodies find those that they make ready. */
void replay_link_kids(struct replay *p);

/* As many tokens of that limit as bodies had at a time. 0; -ENOMEM. */
int replay_find_cap(struct replay *p, uint32_t l);

/* The program submits loops instead of their blocks. 0; -ENOMEM. */
int replay_join_loops(struct build *b);

#endif
