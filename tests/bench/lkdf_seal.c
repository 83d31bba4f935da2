/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_seal.h"
#include "tests/bench/lkdf_graph.h"

#include <time.h>

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return LKDF_NO_BRANCH;
}

/* Tasks 2i and 2i + 1 are a loop. */
static void loops_in_a_row(struct lkdf_graph *g, int32_t nr)
{
	int32_t i;

	for (i = 1; i < 2 * nr; i++) {
		lkdf_graph_order(g, i - 1, i);
		if (i & 1)
			lkdf_graph_back(g, i, 0, i - 1);
	}
}

/* Task i begins a loop that task 2 * nr - 1 - i ends. */
static void loops_in_loops(struct lkdf_graph *g, int32_t nr)
{
	int32_t i;

	for (i = 1; i < 2 * nr; i++)
		lkdf_graph_order(g, i - 1, i);
	for (i = 0; i < nr; i++)
		lkdf_graph_back(g, 2 * nr - 1 - i, 0, i);
}

static void one_choice(struct lkdf_graph *g, int32_t nr)
{
	int32_t i;

	for (i = 1; i < 2 * nr; i++)
		lkdf_graph_branch(g, 0, (uint16_t)(i - 1), i);
}

/* 2 * nr tasks; a refusal of an edge is also what seal reports. */
static const struct {
	const char *name;
	void (*connect)(struct lkdf_graph *g, int32_t nr);
	int32_t nr;
} seals[LKDF_NR_SEALS] = {
	{ "loops", loops_in_a_row, 80000 },
	{ "nested", loops_in_loops, 4000 },
	{ "choice", one_choice, 32000 },
};

const char *lkdf_seal_name(unsigned at)
{
	return at < LKDF_NR_SEALS ? seals[at].name : NULL;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int time_seal(struct lkdf_graph *g, struct lkdf_kind *kind, unsigned at,
		     double *ns)
{
	int64_t start;
	int32_t i;
	int rc = 0;

	for (i = 0; i < 2 * seals[at].nr && rc >= 0; i++)
		rc = lkdf_graph_add(g, kind, NULL, NULL, 0);
	if (rc < 0)
		return rc;
	seals[at].connect(g, seals[at].nr);
	start = cpu_ns();
	rc = lkdf_graph_seal(g, NULL);
	*ns = (double)(cpu_ns() - start);
	return rc;
}

int lkdf_seal_time(struct lkdf *rt, unsigned at, double *ns)
{
	struct lkdf_kind *kind = NULL;
	struct lkdf_graph *g = NULL;
	int rc = lkdf_graph_kind(rt, "nothing", nothing, &kind);

	if (!rc)
		rc = lkdf_graph_create(rt, NULL, &g);
	if (!rc)
		rc = time_seal(g, kind, at, ns);
	lkdf_graph_put(g);
	lkdf_kind_put(kind);
	return rc;
}
