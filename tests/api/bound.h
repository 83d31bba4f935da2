/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of tasks with a place share. The machine is made up: four nodes of
 * two cores, so workers 2n and 2n + 1 are node n's.
 */
#ifndef TESTS_API_BOUND_H
#define TESTS_API_BOUND_H

#include "tests/api/api.h"

#define NR_NODES 4
#define MACHINE                             \
	"workers=8,topology=numa:4 core:2 " \
	"distances:\"10,16,22,22,16,10,22,22,22,22,10,16,22,22,16,10\""

__attribute__((unused)) static struct lkdf_place *place[NR_NODES];

/* Bodies count themselves by the node their worker is on. */
static atomic_int nr_on[NR_NODES], nr_astray;

__attribute__((unused)) static int node_of(struct lkdf_ctx *c)
{
	return lkdf_worker(c) / 2;
}

__attribute__((unused)) static void clear_counts(void)
{
	int i;

	for (i = 0; i < NR_NODES; i++)
		nr_on[i] = 0;
	nr_astray = 0;
}

/* Argument: the node where it has to run. */
__attribute__((unused)) static int body(struct lkdf_ctx *c, void *arg)
{
	int node = *(const int *)arg;

	nr_on[node_of(c)]++;
	nr_astray += node_of(c) != node;
	return 0;
}

__attribute__((unused)) static struct lkdf *open_machine(void)
{
	struct lkdf *rt = api_open(MACHINE);
	int i;

	for (i = 0; i < NR_NODES; i++)
		place[i] = lkdf_place_node(rt, i);
	clear_counts();
	return rt;
}

#define BOUND(k, node, a)                                              \
	ATTR(lkdf_task, .kind = (k), .arg = (a), .place = place[node], \
	     .flags = LKDF_PINNED)

#endif
