/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_data_create_many(): data that are alike, in memory that they share, are
 * as those of lkdf_data_create(). Graphs that are built side by side find the
 * same data as different ones of theirs.
 */
#include "tests/api/rt/stderr.h"
#include "tests/api/using.h"

#define NR 100 /* more than one group, and no multiple of it */

static atomic_int nr_dropped;

static void drop(void *bytes)
{
	(void)bytes;
	atomic_fetch_add(&nr_dropped, 1);
}

/* Adds 1 to what it reads; the first reads nothing. */
static int next(struct lkdf_ctx *c, void *arg)
{
	uint32_t has_input = *(uint32_t *)arg;
	uint64_t *to = lkdf_ptr(c, 0);

	*to = 1 + (has_input ? *(uint64_t *)lkdf_ptr(c, 1) : 0);
	return 0;
}

static void they_are_variables(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "next", next, sizeof(uint32_t), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_data *d[NR];
	struct lkdf_use use[2];
	uint32_t i, has_input;
	void *p = NULL;

	is(lkdf_data_create_many(rt,
				 ATTR(lkdf_data_attr, .bytes = 8,
				      .flags = LKDF_DATA_ONCE | LKDF_DATA_KEEP,
				      .drop = drop),
				 NR, d),
	   0, "many");
	for (i = NR; i--;) {
		has_input = i > 0;
		use[0] = ON(d[i], LKDF_WRITE);
		use[1] = ON(d[i ? i - 1 : 0], LKDF_READ);
		must(lkdf_graph_add(g, k, &has_input, use, 1 + has_input));
	}
	is(lkdf_graph_seal(g, NULL), 0, "a chain of them, the last one first");
	is(api_run(g, NULL, NULL), 0, "it runs");
	must(lkdf_data_acquire(d[NR - 1], LKDF_READ, -1, &p));
	is(*(uint64_t *)p, NR, "each has read what the one before wrote");
	must(lkdf_data_release(d[NR - 1]));
	lkdf_graph_put(g);
	nr_dropped = 0;
	for (i = 1; i < NR; i++)
		lkdf_data_put(d[i]);
	is(nr_dropped, NR - 1, "each ends with its put");
	must(lkdf_data_acquire(d[0], LKDF_READ, -1, &p));
	is(*(uint64_t *)p, 1, "not before");
	must(lkdf_data_release(d[0]));
	lkdf_data_put(d[0]);
	is(nr_dropped, NR, "the last one, too");
	lkdf_kind_put(k);
}

static void each_has_the_first_value(struct lkdf *rt)
{
	const uint64_t first = 77;
	struct lkdf_data *d[2];
	void *p, *q;

	must(lkdf_data_create_many(
		rt, ATTR(lkdf_data_attr, .bytes = 8, .init = &first), 2, d));
	must(lkdf_data_acquire(d[0], LKDF_RW, -1, &p));
	must(lkdf_data_acquire(d[1], LKDF_RW, -1, &q));
	*(uint64_t *)p = 1;
	is(*(uint64_t *)q, 77, "each has bytes of its own");
	must(lkdf_data_release(d[0]));
	must(lkdf_data_release(d[1]));
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
}

/* Those that are there say so before those that have ended. */
static void they_are_refused(struct lkdf *rt)
{
	struct lkdf_data *d[2] = { NULL, NULL };
	uint64_t bytes[1];

	is(lkdf_data_create_many(
		   rt, ATTR(lkdf_data_attr, .bytes = 8, .name = "x"), 2, d),
	   -EINVAL, "one name for many");
	has(lkdf_errmsg(), "data: a name for many: it is of one data", "so");
	is(lkdf_data_create_many(
		   rt, ATTR(lkdf_data_attr, .bytes = 8, .wrap = bytes), 2, d),
	   -EINVAL, "the same bytes for many");
	has(lkdf_errmsg(), "data: wrap for many: it is of one data", "so");
	is(lkdf_data_create_many(rt, ATTR(lkdf_data_attr), 2, d), -EINVAL,
	   "no bytes");
	is(lkdf_data_create_many(rt, ATTR(lkdf_data_attr, .bytes = 8), 2, NULL),
	   -EINVAL, "no place for them");
	is(lkdf_data_create_many(rt, NULL, 2, d), -EINVAL, "no attributes");
	ok(!d[0], "nothing came");
	is(lkdf_data_create_many(rt, ATTR(lkdf_data_attr, .bytes = 8), 0, d), 0,
	   "none at all");
	must(lkdf_data_create_many(rt, ATTR(lkdf_data_attr, .bytes = 8), 2, d));
	lkdf_data_put(d[0]);
	stderr_keep();
	lkdf_data_put(d[0]);
	has(stderr_text(), "data_put: \"\" was put before",
	    "a second put is told");
	lkdf_data_put(d[1]);
}

/* Of graph @at the task at i is the i'th of an order of its own. */
static struct lkdf_use use_of(struct lkdf_data *const *d, int at, uint32_t i,
			      uint32_t mode)
{
	return ON(d[at ? NR - 1 - i : i], mode);
}

static int set(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) = *(uint32_t *)arg + 1000 * lkdf_seq(c);
	return 0;
}

static atomic_int nr_wrong, nr_seen;

static int see(struct lkdf_ctx *c, void *arg)
{
	uint64_t want = *(uint32_t *)arg + 1000 * lkdf_seq(c);

	if (*(uint64_t *)lkdf_ptr(c, 0) != want)
		atomic_fetch_add(&nr_wrong, 1);
	atomic_fetch_add(&nr_seen, 1);
	return 0;
}

/* Task by task in turns: all that write, then all that read. */
static void graphs_are_built_side_by_side(struct lkdf *rt)
{
	struct lkdf_kind *sets = api_kind(rt, "sets", set, sizeof(uint32_t), 0);
	struct lkdf_kind *sees = api_kind(rt, "sees", see, sizeof(uint32_t), 0);
	struct lkdf_graph *g[2] = { api_graph(rt, 1), api_graph(rt, 1) };
	struct lkdf_data *d[NR];
	struct lkdf_use use;
	uint32_t i;
	int at;

	must(lkdf_data_create_many(rt, ATTR(lkdf_data_attr, .bytes = 8), NR,
				   d));
	for (i = 0; i < 2 * NR; i++) {
		for (at = 0; at < 2; at++) {
			use = use_of(d, at, i % NR,
				     i < NR ? LKDF_WRITE : LKDF_READ);
			must(lkdf_graph_add(g[at], i < NR ? sets : sees,
					    &(uint32_t){ i % NR + 1 }, &use,
					    1));
		}
	}
	nr_wrong = nr_seen = 0;
	for (at = 0; at < 2; at++)
		must(lkdf_graph_seal(g[at], NULL));
	for (i = 0; i < 3; i++)
		for (at = 0; at < 2; at++)
			must(api_run(g[at], NULL, NULL));
	is(nr_seen, 6 * NR, "all tasks of two graphs run");
	is(nr_wrong, 0, "and read what their own graph wrote");
	for (at = 0; at < 2; at++)
		lkdf_graph_put(g[at]);
	for (i = 0; i < NR; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(sets);
	lkdf_kind_put(sees);
}

static void some_are_not_put(void)
{
	struct lkdf *rt = api_open("workers=1,log=none");
	struct lkdf_data *d[NR];
	int i;

	must(lkdf_data_create_many(rt, ATTR(lkdf_data_attr, .bytes = 8), NR,
				   d));
	for (i = 0; i < NR; i += 2)
		lkdf_data_put(d[i]);
	is(lkdf_close(rt), 0, "the runtime closes before half of the puts");
	stderr_keep();
	for (i = 1; i < NR; i += 2)
		lkdf_data_put(d[i]);
	has(stderr_text(), "data_put: its runtime has closed",
	    "these are told");
}

static void all_tests(struct lkdf *rt, const char *options)
{
	(void)options;
	they_are_variables(rt);
	each_has_the_first_value(rt);
	they_are_refused(rt);
	graphs_are_built_side_by_side(rt);
}

int main(void)
{
	tap_start(60);
	api_each(all_tests);
	some_are_not_put();
	return tap_end();
}
