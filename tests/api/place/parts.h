/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of parts share: made-up machines, and bodies that know which
 * workers may run them.
 */
#ifndef TESTS_API_PLACE_PARTS_H
#define TESTS_API_PLACE_PARTS_H

#include "tests/api/api.h"

#define TWO "workers=2,topology=numa:1 core:2"
#define EIGHT "workers=8,topology=numa:2 core:4"
#define NR_WORKERS 8

/* Bodies count themselves by worker. */
static atomic_int nr_on[NR_WORKERS], nr_astray;

/* Argument: the first worker that may run it and the one behind the last. */
struct range {
	int first, end;
};

__attribute__((unused)) static int nr_ran(void)
{
	int i, nr = 0;

	for (i = 0; i < NR_WORKERS; i++)
		nr += nr_on[i];
	return nr;
}

__attribute__((unused)) static void clear_counts(void)
{
	int i;

	for (i = 0; i < NR_WORKERS; i++)
		nr_on[i] = 0;
	nr_astray = 0;
}

__attribute__((unused)) static int body(struct lkdf_ctx *c, void *arg)
{
	const struct range *r = arg;
	int worker = lkdf_worker(c);

	nr_on[worker]++;
	nr_astray += worker < r->first || worker >= r->end;
	return 0;
}

__attribute__((unused)) static struct lkdf *open_machine(const char *options)
{
	clear_counts();
	return api_open(options);
}

__attribute__((unused)) static struct lkdf_place *
part_of(struct lkdf_place *p, unsigned num, unsigned den)
{
	struct lkdf_place *q = NULL;

	must(lkdf_place_part(p, num, den, &q));
	return q;
}

__attribute__((unused)) static void
submit(struct lkdf *rt, struct lkdf_scope *s, struct lkdf_kind *k,
       struct lkdf_place *p, const void *arg, uint32_t flags)
{
	must(lkdf_submit(rt, s,
			 ATTR(lkdf_task, .kind = k, .arg = arg, .place = p,
			      .flags = flags),
			 NULL));
}

/* Of EIGHT: those of node 0, then those of node 1. */
__attribute__((unused)) static struct lkdf_place *half[4];

__attribute__((unused)) static void find_halves(struct lkdf *rt)
{
	int i;

	for (i = 0; i < 4; i++)
		half[i] =
			part_of(lkdf_place_node(rt, i / 2), (unsigned)i % 2, 2);
}

#endif
