/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For tests that make workers by hand: the data of all mechanisms, zeroed again
 * by each call.
 */
#ifndef TESTS_UNIT_SCHED_LAY_H
#define TESTS_UNIT_SCHED_LAY_H

#include "mechanism/rows.h"
#include "sched/sched.h"

#include <stdlib.h>
#include <string.h>

#define LAY_BYTES 2048
#define LAY_WORKERS 16

static inline void lay_one(enum mechanism_owner owner, void **data, void *at)
{
	size_t size = mechanism_lay(mechanism_rows, owner, 1, NULL, NULL);

	if (size > LAY_BYTES)
		abort();
	memset(at, 0, LAY_BYTES);
	memset(data, 0, MAX_MECHANISMS * sizeof(*data));
	mechanism_lay(mechanism_rows, owner, 1, data, at);
}

/* One node, and workers that its scheduler knows. */
static inline void lay_data(struct sched *s)
{
	static _Alignas(CACHE_LINE) char bytes[LAY_WORKERS + 2][LAY_BYTES];
	int i;

	s->rows = mechanism_rows;
	lay_one(OWNER_SCHED, s->data, bytes[0]);
	lay_one(OWNER_NODE, s->nodes[0].data, bytes[1]);
	for (i = 0; i < s->nr_workers; i++)
		lay_one(OWNER_WORKER, s->workers[i].data, bytes[i + 2]);
}

#endif
