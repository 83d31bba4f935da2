/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The loops over arms, parts and rounds that the suites share. */
#include "bench/arms.h"

#include <errno.h>
#include <stdlib.h>

struct arms {
	const struct bench_arms *how;
	char *first;
	unsigned nr;
};

static void *arm_at(const struct arms *a, unsigned i)
{
	return a->first + i * a->how->size;
}

static unsigned rounds_of(const struct bench *b, const struct bench_arms *how,
			  unsigned part)
{
	return how->rounds ? how->rounds(b, part) : b->rounds;
}

static int measure(struct bench *b, const struct arms *a, unsigned part)
{
	const struct bench_arms *how = a->how;
	unsigned i, k, rounds = rounds_of(b, how, part);
	int rc = 0;

	for (k = 0; k < a->nr && !rc; k++)
		rc = how->build(b, arm_at(a, k), part);
	gate_reset(&b->gate);
	for (i = 0; i < rounds && !rc; i++) {
		bench_round(b, how->name(part));
		for (k = 0; k < a->nr && !rc; k++)
			rc = how->round(b, arm_at(a, k), part);
	}
	for (k = 0; k < a->nr && !rc; k++)
		how->rows(b, arm_at(a, k), a->first, part);
	return rc;
}

static int do_part(struct bench *b, const struct arms *a, unsigned part)
{
	const struct bench_arms *how = a->how;
	int rc = how->begin ? how->begin(part) : 0;
	unsigned k;

	if (!rc)
		rc = measure(b, a, part);
	for (k = 0; k < a->nr && how->drop; k++)
		how->drop(arm_at(a, k));
	if (how->end)
		how->end();
	return rc;
}

int bench_arms(struct bench *b, const struct bench_arms *how, unsigned nr_parts)
{
	struct arms a = { how, calloc(b->nr_counts, how->size), 0 };
	unsigned i;
	int rc = 0;

	if (!a.first)
		return bench_fail(-ENOMEM, "no memory for the arms");
	while (a.nr < b->nr_counts && !rc) {
		rc = how->open(arm_at(&a, a.nr), b->workers[a.nr]);
		a.nr++;
	}
	for (i = 0; i < nr_parts && !rc; i++)
		rc = do_part(b, &a, i);
	for (i = 0; i < a.nr; i++)
		how->close(arm_at(&a, i));
	free(a.first);
	return rc;
}

double bench_arms_steps(const struct bench *b, const struct bench_arms *how,
			unsigned nr_parts)
{
	double steps = 0;
	unsigned i;

	for (i = 0; i < nr_parts; i++)
		steps += rounds_of(b, how, i);
	return steps;
}
