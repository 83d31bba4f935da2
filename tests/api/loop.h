/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What loops note of the iterations they ran, and the machines they run on.
 */
#ifndef TESTS_API_LOOP_H
#define TESTS_API_LOOP_H

#include "tests/api/api.h"

static const char *const machines[] = {
	"serial=yes",
	"workers=1",
	"workers=2",
	"workers=3",
	"workers=8",
	"topology=numa:2 core:2,workers=4",
	"topology=numa:2 core:2,workers=3",
	"topology=numa:4 core:2",
};

#define NR_MACHINES (sizeof(machines) / sizeof(machines[0]))

#define MAX_ITERATIONS 20000

/* What one loop has seen. */
struct notes {
	uint64_t begin, end, grain;
	atomic_uchar seen[MAX_ITERATIONS];
	atomic_int nr_blocks, nr_bad;
};

__attribute__((unused)) static int note(uint64_t begin, uint64_t end, void *u)
{
	struct notes *n = u;
	uint64_t i;

	atomic_fetch_add(&n->nr_blocks, 1);
	if (begin >= end || begin < n->begin || end > n->end) {
		atomic_fetch_add(&n->nr_bad, 1);
		return 0;
	}
	if (n->grain &&
	    ((begin - n->begin) % n->grain || end - begin > n->grain))
		atomic_fetch_add(&n->nr_bad, 1);
	for (i = begin; i < end; i++)
		atomic_fetch_add(&n->seen[i - n->begin], 1);
	return 0;
}

__attribute__((unused)) static struct notes *
notes_create(uint64_t begin, uint64_t nr, uint64_t grain)
{
	struct notes *n = calloc(1, sizeof(*n));

	n->begin = begin;
	n->end = begin + nr;
	n->grain = grain;
	return n;
}

/* Iterations that did not run exactly once, and blocks that are wrong. */
__attribute__((unused)) static int mistakes(struct notes *n)
{
	int bad = atomic_load(&n->nr_bad);
	uint64_t i;

	for (i = 0; i < MAX_ITERATIONS; i++)
		bad += atomic_load(&n->seen[i]) != (i < n->end - n->begin);
	return bad;
}

__attribute__((unused)) static int mistakes_of(struct lkdf *rt, uint64_t begin,
					       uint64_t nr, uint64_t grain)
{
	struct notes *n = notes_create(begin, nr, grain);
	struct lkdf_range r = { begin, begin + nr, grain };
	int bad = lkdf_for(rt, r, note, n) != 0;

	bad += mistakes(n);
	if (bad)
		printf("# begin %llu, %llu iterations, grain %llu: %s\n",
		       (unsigned long long)begin, (unsigned long long)nr,
		       (unsigned long long)grain, lkdf_errmsg());
	free(n);
	return bad;
}

__attribute__((unused)) static int count_block(uint64_t begin, uint64_t end,
					       void *u)
{
	atomic_fetch_add((atomic_ullong *)u, end - begin);
	return 0;
}

#endif
