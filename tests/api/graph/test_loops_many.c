/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs of many loops: one after another, one in the other, of parts that are
 * included, and loops that many edges lead out of. They run as few do, and 16
 * times as many take less than 128 times as much CPU time to seal. A quadratic
 * seal takes 256 times as much; caches that other programs use cost a factor.
 */
#include "tests/api/api.h"

#include <time.h>

#define FEW 1250
#define TIMES 16
#define MOST 128
#define NR_LEAVING 100

static struct lkdf *runtime;
static atomic_uint nr_calls;

static int leave(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&nr_calls, 1);
	return LKDF_NO_BRANCH;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* Graphs of nr tasks, half of them latches. */
typedef void (*builder)(struct lkdf_graph *g, struct lkdf_kind *k, int nr);

static void chain_of(struct lkdf_graph *g, struct lkdf_kind *k, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
}

static void one_after_another(struct lkdf_graph *g, struct lkdf_kind *k, int nr)
{
	int i;

	chain_of(g, k, nr);
	for (i = 1; i < nr; i += 2)
		must(lkdf_graph_back(g, i, 0, i - 1));
}

static void one_in_the_other(struct lkdf_graph *g, struct lkdf_kind *k, int nr)
{
	int i;

	chain_of(g, k, nr);
	for (i = 0; i < nr / 2; i++)
		must(lkdf_graph_back(g, nr - 1 - i, 0, i));
}

/*
 * Nested, and some latches may leave all of them: a border for each loop that
 * one of them leaves, 100,000 and more. As many latches of few loops as of
 * many, so that borders are TIMES as many, too.
 */
static void some_may_leave(struct lkdf_graph *g, struct lkdf_kind *k, int nr)
{
	int i, end = nr - 1, first = end / 2;

	one_in_the_other(g, k, end);
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	for (i = 0; i < NR_LEAVING; i++)
		must(lkdf_graph_branch(
			g, first + i * (end - first) / NR_LEAVING, 1, end));
}

static void of_parts(struct lkdf_graph *g, struct lkdf_kind *k, int nr)
{
	struct lkdf_graph *part;
	int i, first, last = -1;

	must(lkdf_graph_create(runtime, NULL, &part));
	one_after_another(part, k, 2);
	for (i = 0; i < nr; i += 2, last = first) {
		first = must(lkdf_graph_include(g, part));
		if (last >= 0)
			must(lkdf_graph_order(g, last, first));
	}
	lkdf_graph_put(part);
}

static int64_t time_of(struct lkdf *rt, struct lkdf_kind *k, builder build,
		       int nr, unsigned calls)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	int64_t from;

	build(g, k, nr);
	from = cpu_ns();
	must(lkdf_graph_seal(g, NULL));
	from = cpu_ns() - from;
	atomic_store(&nr_calls, 0);
	must(api_run(g, NULL, NULL));
	if (atomic_load(&nr_calls) != calls)
		is(nr_calls, calls, "%d tasks are called", nr);
	lkdf_graph_put(g);
	return from;
}

static int64_t best_of(struct lkdf *rt, struct lkdf_kind *k, builder build,
		       int nr, unsigned calls)
{
	int64_t best = INT64_MAX, t;
	int i;

	for (i = 0; i < 3; i++) {
		t = time_of(rt, k, build, nr, calls);
		best = t < best ? t : best;
	}
	return best;
}

static void seal_is_near_linear(struct lkdf *rt, builder build, int few,
				bool has_end, const char *what)
{
	struct lkdf_kind *k = api_kind(rt, "task", leave, 0, LKDF_SHARED);
	int64_t a = best_of(rt, k, build, few, (unsigned)(few - has_end));
	int many = TIMES * few;
	int64_t b = best_of(rt, k, build, many, (unsigned)(many - has_end));

	if (!ok(b < MOST * a, "%d loops %s", many / 2, what))
		printf("# %lld ns, and %lld for 1/%d of it\n", (long long)b,
		       (long long)a, TIMES);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(120);
	rt = runtime = api_open("workers=1");
	seal_is_near_linear(rt, one_after_another, FEW, false,
			    "one after another");
	seal_is_near_linear(rt, one_in_the_other, FEW, false,
			    "one in the other");
	seal_is_near_linear(rt, some_may_leave, FEW / 5, true,
			    "that some latches may leave");
	seal_is_near_linear(rt, of_parts, FEW, false, "of parts");
	is(lkdf_close(rt), 0, "nothing is left");
	return tap_end();
}
