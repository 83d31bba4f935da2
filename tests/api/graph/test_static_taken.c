/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A run that one of several workers has for itself, by its static order, with a
 * body that waits for another task of the run: another worker takes the run
 * away and calls that one, also where all others slept. Each task runs once
 * with the right values. How many of the runs were static is for the machine to
 * decide, so it is told only. With and without values that are passed on.
 */
#include "tests/api/using.h"

#define NR_TASKS 600
#define NR_ROUNDS 40
#define NR_QUIET 80 /* runs of each round before the one that meets */

static struct {
	atomic_int meets; /* 1: in this run; 2: it has met */
	atomic_int nr_ran, nr_wrong, nr_met, nr_missed;
	uint64_t run;
	int waits, ends; /* tasks: who waits, and for whose begin */
} all;

static void wait_for_the_other(void)
{
	int64_t end = api_now_ns() + PATIENCE_NS;

	if (atomic_load(&all.meets) != 1)
		return;
	while (atomic_load(&all.meets) == 1 && api_now_ns() < end)
		;
	atomic_fetch_add(
		atomic_load(&all.meets) == 2 ? &all.nr_met : &all.nr_missed, 1);
}

static int body(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg;
	const uint64_t *in = lkdf_ptr(c, 1);
	uint64_t *out = lkdf_ptr(c, 0);

	atomic_fetch_add(&all.nr_ran, 1);
	if (in && *in != all.run)
		atomic_fetch_add(&all.nr_wrong, 1);
	if (out)
		*out = all.run;
	if (task == all.ends && atomic_load(&all.meets))
		atomic_store(&all.meets, 2);
	if (task == all.waits)
		wait_for_the_other();
	if (out && *out != all.run)
		atomic_fetch_add(&all.nr_wrong, 1);
	return 0;
}

/* Three rows that do not know of each other, each passes its value on. */
static struct lkdf_graph *make(struct lkdf *rt, struct lkdf_kind *k,
			       struct lkdf_data **data)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_use use[2];
	int t;

	for (t = 0; t < NR_TASKS; t++) {
		if (data)
			data[t] =
				DATA(rt, .bytes = 40, .flags = LKDF_DATA_ONCE);
		if (data)
			use[0] = ON(data[t], LKDF_WRITE);
		if (data && t > 2)
			use[1] = ON(data[t - 3], LKDF_READ);
		must(lkdf_graph_add(g, k, &t, data ? use : NULL,
				    data ? 1 + (t > 2) : 0));
		if (!data && t > 2)
			must(lkdf_graph_order(g, t - 3, t));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

static void once(struct lkdf_graph *g)
{
	all.run++;
	must(api_run(g, NULL, NULL));
}

static void they_meet(const char *options, bool has_data)
{
	static struct lkdf_data *data[NR_TASKS];
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "body", body, sizeof(int), 0);
	struct lkdf_graph *g = make(rt, k, has_data ? data : NULL);
	int i, n, nr_static = 0;
	uint64_t before;

	atomic_store(&all.nr_ran, 0);
	atomic_store(&all.nr_met, 0);
	atomic_store(&all.nr_missed, 0);
	for (i = 0; i < NR_ROUNDS; i++) {
		for (n = 0; n < NR_QUIET; n++)
			once(g);
		/* Another row, behind it or before it in any order. */
		all.waits = 37 * i % NR_TASKS;
		all.ends = (91 * i / 3 * 3 + all.waits + 1) % NR_TASKS;
		if (all.ends % 3 == all.waits % 3)
			all.ends = all.waits ^ 1;
		before = stat_of(rt, "lkdf.runs.static");
		once(g);
		nr_static += stat_of(rt, "lkdf.runs.static") > before;
		atomic_store(&all.meets, 1);
		once(g);
		atomic_store(&all.meets, 0);
	}
	is(atomic_load(&all.nr_ran), NR_ROUNDS * (NR_QUIET + 2) * NR_TASKS,
	   "%s%s: all tasks of all runs ran", options,
	   has_data ? ", data" : "");
	is(atomic_load(&all.nr_wrong), 0, "with the values of their run");
	printf("# %s: met %d times, %d times not; %d of %d runs before static\n",
	       options, atomic_load(&all.nr_met), atomic_load(&all.nr_missed),
	       nr_static, NR_ROUNDS);
	if (api_has_membarrier())
		is(atomic_load(&all.nr_missed), 0, "nobody waits in vain");
	else
		skip("nobody waits in vain", "the kernel has no membarrier(2)");
	lkdf_graph_put(g);
	for (i = 0; i < NR_TASKS && has_data; i++)
		lkdf_data_put(data[i]);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "and the runtime closes");
}

int main(void)
{
	tap_start(240);
	they_meet("workers=2,final", false);
	they_meet("workers=2,final", true);
	they_meet("workers=3,final", true);
	return tap_end();
}
