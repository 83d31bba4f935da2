/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Moments at which something else begins or ends that the time of workers
 * without ready tasks is told apart by.
 */
#ifndef REPORT_WHEN_H
#define REPORT_WHEN_H

#include "report/model.h"

/* Times at which something begins, and is over, by turns. */
struct edges {
	uint64_t *at;
	uint32_t nr, next; /* next odd: it is under way */
};

enum when {
	HELD, /* tasks wait for limits */
	WAITED, /* a thread of the program waits for tasks */
	FULL, /* of these for room */
	DEVICE, /* some device works */
	POOL, /* some thread of the blocking pool runs a body */
	NR_WHEN
};

/* All of them, after report_load(); -ENOMEM. */
int when_gather(const struct report *r, struct edges when[NR_WHEN]);
void when_fini(struct edges when[NR_WHEN]);

/* The first moment before t, or t. */
uint64_t when_next(const struct edges when[NR_WHEN], uint64_t t);

/* Goes on to that time: begins and ends up to it are over. */
void when_pass(struct edges when[NR_WHEN], uint64_t at);

static inline bool when_is(const struct edges *e)
{
	return e->next % 2;
}

#endif
