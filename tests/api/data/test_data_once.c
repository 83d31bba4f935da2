/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_DATA_ONCE in sealed graphs: one producer and its readers, added in any
 * order; bytes that live only for a run; what add and seal refuse.
 */
#include "tests/api/using.h"

#define RAMP 0x9e3779b97f4a7c15u

static void bytes_fill(uint64_t *word, uint32_t words, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < words; i++)
		word[i] = value + i * RAMP;
}

struct once {
	atomic_int nr_read, nr_wrong;
	uint64_t words;
	_Atomic(void *) at; /* of this run, as the producer has it */
};

static int produce(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;
	uint64_t *word = lkdf_ptr(c, 0);

	atomic_store(&o->at, word);
	bytes_fill(word, (uint32_t)o->words, lkdf_seq(c) + 1);
	return 0;
}

static int consume(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;
	uint64_t *word = lkdf_ptr(c, 0), i;

	for (i = 0; i < o->words; i++)
		if (word[i] != lkdf_seq(c) + 1 + i * RAMP)
			break;
	if (i < o->words)
		atomic_fetch_add(&o->nr_wrong, 1);
	atomic_fetch_add(&o->nr_read, 1);
	return 0;
}

static int consume_same(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;

	if (lkdf_ptr(c, 0) != atomic_load(&o->at))
		atomic_fetch_add(&o->nr_wrong, 1);
	return consume(c, arg);
}

static struct lkdf_data *once_data(struct lkdf *rt, const char *name,
				   uint64_t words)
{
	return DATA(rt, .bytes = words * sizeof(uint64_t), .name = name,
		    .flags = LKDF_DATA_ONCE);
}

/* P24: all readers have the same bytes; T6: they may come first. */
static void readers_may_come_before_the_producer(struct lkdf *rt,
						 uint64_t words)
{
	struct once once = { .words = words }, *o = &once;
	struct lkdf_data *d = once_data(rt, NULL, words);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *puts, *gets;
	int i, readers = 8;

	puts = api_kind(rt, "produces", produce, sizeof(o), 0);
	gets = api_kind(rt, "consumes", consume_same, sizeof(o), 0);
	for (i = 0; i < readers; i++)
		must(add_on(g, gets, &o, ON(d, LKDF_READ)));
	must(add_on(g, puts, &o, ON(d, LKDF_WRITE)));
	is(lkdf_graph_seal(g, NULL), 0,
	   "readers are added before the producer");
	/* The graph keeps what it needs. */
	lkdf_data_put(d);
	for (i = 1; i <= 3; i++) {
		is(api_run(g, NULL, NULL), 0, "run %d, %llu bytes", i,
		   (unsigned long long)words * 8);
		is(o->nr_read, i * readers, "each reader runs");
		is(o->nr_wrong, 0, "each has the producer's bytes");
	}
	lkdf_graph_put(g);
	lkdf_kind_put(puts);
	lkdf_kind_put(gets);
}

/* Each run has values of its own, however many there are at a time. */
static void runs_do_not_share_values(struct lkdf *rt, uint32_t inflight)
{
	struct once once = { .words = 100 }, *o = &once;
	struct lkdf_data *d = once_data(rt, NULL, o->words);
	struct lkdf_graph *g = api_graph(rt, inflight);
	struct lkdf_kind *puts, *gets;
	int i;

	puts = api_kind(rt, "produces", produce, sizeof(o), 0);
	gets = api_kind(rt, "consumes", consume, sizeof(o), 0);
	for (i = 0; i < 5; i++)
		must(add_on(g, gets, &o, ON(d, LKDF_READ)));
	must(add_on(g, puts, &o, ON(d, LKDF_WRITE)));
	for (i = 0; i < 5; i++)
		must(add_on(g, gets, &o, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 200; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 100), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "300 runs, %u at a time",
	   inflight);
	is(o->nr_read, 3000, "all readers run");
	is(o->nr_wrong, 0, "each with the value of its run");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(puts);
	lkdf_kind_put(gets);
}

/* DFCPP 1: a value from before the run triggered its readers once only. */
static void a_first_value_stays_over_runs(struct lkdf *rt, uint32_t flags)
{
	uint64_t init = 7;
	struct lkdf_data *d =
		DATA(rt, .bytes = sizeof(init), .flags = flags, .init = &init);
	struct lkdf_kind *k = api_kind(rt, "counts", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	atomic_int nr = 0;
	int i;

	for (i = 0; i < 4; i++)
		must(add_on(g, k, &nr, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 3)), 0,
	   "DFCPP 1: three epochs of a first value%s", flags ? ", ONCE" : "");
	is(nr, 12, "DFCPP 1: each reader runs in each");
	is(api_run(g, NULL, NULL), 0, "DFCPP 1: another run");
	is(nr, 16, "DFCPP 1: and in that");
	is(lkdf_data_version(d), 1, "DFCPP 1: it is one version");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static struct {
	atomic_int live, peak;
} blocks;

static void drop_block(void *bytes)
{
	(void)bytes;
	atomic_fetch_sub(&blocks.live, 1);
}

/* Argument: number in the chain; reads use 1 and writes use 0. */
static int pass_block(struct lkdf_ctx *c, void *arg)
{
	uint32_t nr = *(uint32_t *)arg, words = 2 << 20 >> 3;
	uint64_t *to = lkdf_ptr(c, 0), *from = lkdf_ptr(c, 1);
	int live = atomic_fetch_add(&blocks.live, 1) + 1;

	if (live > atomic_load(&blocks.peak))
		atomic_store(&blocks.peak, live);
	if (nr && (from[0] != nr || from[words - 1] != nr))
		return lkdf_fail(c, -EPROTO, "block %u has %llu", nr,
				 (unsigned long long)from[0]);
	to[0] = to[words / 2] = to[words - 1] = nr + 1;
	return 0;
}

/* DFCPP: 2 MiB on a stack; the bytes live from producer to last reader. */
static void large_values_live_shortly(struct lkdf *rt, uint32_t nr)
{
	struct lkdf_data **d = calloc(nr, sizeof(struct lkdf_data *));
	struct lkdf_kind *k = api_kind(rt, "passes", pass_block, sizeof(nr), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_use use[2];
	uint32_t i;

	blocks.live = blocks.peak = 0;
	for (i = 0; i < nr; i++) {
		d[i] = DATA(rt, .bytes = 2 << 20, .flags = LKDF_DATA_ONCE,
			    .drop = drop_block);
		use[0] = ON(d[i], LKDF_WRITE);
		use[1] = ON(i ? d[i - 1] : d[i], LKDF_READ);
		must(lkdf_graph_add(g, k, &i, use, i ? 2 : 1));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < nr; i++)
		lkdf_data_put(d[i]);
	is(api_run(g, NULL, NULL), 0, "a chain of %u values of 2 MiB", nr);
	is(api_run(g, NULL, NULL), 0, "again");
	is(blocks.live, 0, "each is dropped");
	ok(blocks.peak <= 3, "never more than 3 at a time (%d)", blocks.peak);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	free(d);
}

/* DFCPP 5: nobody looks at whether the producer has written; readers run. */
static void a_lazy_producer_hangs_nobody(struct lkdf *rt)
{
	struct lkdf_data *d = once_data(rt, NULL, 1);
	struct lkdf_kind *k = api_kind(rt, "counts", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int nr = 0;

	must(add_on(g, k, &nr, ON(d, LKDF_READ)));
	must(add_on(g, k, &nr, ON(d, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "DFCPP 5: a producer that does nothing");
	is(nr, 2, "DFCPP 5: its reader runs");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void kept_values_can_be_acquired(struct lkdf *rt)
{
	struct once once = { .words = 50 }, *o = &once;
	struct lkdf_data *d =
		DATA(rt, .bytes = 400, .flags = LKDF_DATA_ONCE | LKDF_DATA_KEEP,
		     .name = "kept");
	struct lkdf_kind *puts =
		api_kind(rt, "produces", produce, sizeof(o), 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	uint64_t *at = NULL;
	int i;

	must(add_on(g, puts, &o, ON(d, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	is(lkdf_data_acquire(d, LKDF_READ, 0, (void **)&at), -ENODATA,
	   "KEEP: nothing is there before a run");
	for (i = 1; i <= 5; i++) {
		must(lkdf_graph_run(g, NULL, NULL, NULL));
		is(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at), 0,
		   "KEEP: acquire waits for the run");
		is(at[0], i, "KEEP: and has its value");
		must(lkdf_data_release(d));
	}
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(puts);
}

/*
 * What seal and add refuse
 */

static void seal_refuses(struct lkdf *rt, struct lkdf_graph *g, int want,
			 const char *text, const char *what)
{
	struct lkdf_diag why = { .size = sizeof(why) };

	(void)rt;
	is(lkdf_graph_seal(g, &why), want, "%s", what);
	is(why.err, want, "the reason has the same error");
	has(why.text, text, "and says which");
	has(lkdf_errmsg(), text, "as errmsg does");
	lkdf_graph_put(g);
}

static void producers_are_checked(struct lkdf *rt)
{
	struct lkdf_data *d = once_data(rt, "the only one", 1);
	uint64_t init = 1;
	struct lkdf_data *with = DATA(rt, .bytes = 8, .init = &init,
				      .name = "given", .flags = LKDF_DATA_ONCE);
	struct lkdf_kind *k = api_kind(rt, "task", api_nothing, 0, 0);
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *g = api_graph(rt, 1);
	int a, b;

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	a = must(add_on(g, k, NULL, ON(d, LKDF_WRITE)));
	b = must(add_on(g, k, NULL, ON(d, LKDF_WRITE)));
	must(lkdf_graph_label(g, a, "first"));
	must(lkdf_graph_label(g, b, "second"));
	is(lkdf_graph_seal(g, &why), -EEXIST, "two producers are refused");
	has(why.text, "the only one", "with the data");
	has(why.text, "first", "the first");
	has(why.text, "second", "and the second");
	ok(why.nr == 2 && why.path[0] == a && why.path[1] == b,
	   "their numbers are in the path");
	lkdf_graph_put(g);
	g = api_graph(rt, 1);
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(add_on(g, k, NULL, ON(d, LKDF_READ)));
	seal_refuses(rt, g, -ENODATA, "the only one", "no producer");
	g = api_graph(rt, 1);
	must(add_on(g, k, NULL, ON(with, LKDF_WRITE)));
	seal_refuses(rt, g, -EEXIST, "given", "a producer and a first value");
	/* The same task twice is one producer. */
	g = api_graph(rt, 1);
	must(lkdf_graph_add(g, k, NULL,
			    (struct lkdf_use[]){ ON(d, LKDF_WRITE),
						 ON(d, LKDF_WRITE) },
			    2));
	is(lkdf_graph_seal(g, NULL), 0, "a task that says it twice is one");
	is(api_run(g, NULL, NULL), 0, "and runs");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(with);
	lkdf_kind_put(k);
}

static void cycles_through_data_are_refused(struct lkdf *rt)
{
	struct lkdf_data *x = once_data(rt, "x", 1), *y = once_data(rt, "y", 1);
	struct lkdf_kind *k = api_kind(rt, "task", api_nothing, 0, 0);
	struct lkdf_use one[] = { ON(x, LKDF_WRITE), ON(y, LKDF_READ) };
	struct lkdf_use two[] = { ON(y, LKDF_WRITE), ON(x, LKDF_READ) };
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *g = api_graph(rt, 1);
	int a, b;

	a = must(lkdf_graph_add(g, k, NULL, one, 2));
	b = must(lkdf_graph_add(g, k, NULL, two, 2));
	must(lkdf_graph_label(g, a, "hen"));
	must(lkdf_graph_label(g, b, "egg"));
	is(lkdf_graph_seal(g, &why), -ELOOP, "a cycle through data is refused");
	has(why.text, "hen", "with the path");
	has(why.text, "egg", "by name");
	ok(why.nr >= 2, "and by number");
	lkdf_graph_put(g);
	g = api_graph(rt, 1);
	a = must(add_on(g, k, NULL, ON(x, LKDF_WRITE)));
	b = must(add_on(g, k, NULL, ON(x, LKDF_READ)));
	must(lkdf_graph_order(g, b, a));
	is(lkdf_graph_seal(g, NULL), -ELOOP, "nor one with an order in it");
	lkdf_graph_put(g);
	g = api_graph(rt, 1);
	must(lkdf_graph_add(
		g, k, NULL,
		(struct lkdf_use[]){ ON(x, LKDF_READ), ON(x, LKDF_WRITE) }, 2));
	ok(lkdf_graph_seal(g, NULL) < 0, "nor who reads what he produces");
	lkdf_graph_put(g);
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_kind_put(k);
}

static void adding_is_checked(struct lkdf *rt)
{
	static struct lkdf_use many[LKDF_MAX_USES + 1];
	struct lkdf_data *d = DATA(rt, .bytes = 64, .name = "parted");
	struct lkdf_data *once = once_data(rt, "single", 8), *other;
	struct lkdf_kind *k = api_kind(rt, "task", api_nothing, 0, 0);
	struct lkdf *rt2 = api_open("workers=1");
	struct lkdf_graph *g;
	int i;

	must(lkdf_data_split(d, 4, 16));
	other = DATA(rt2, .bytes = 8, .name = "elsewhere");
	g = api_graph(rt, 1);
	is(add_on(g, k, NULL, ON_PART(d, LKDF_WRITE, 5)), -ERANGE,
	   "part 5 of 4");
	seal_refuses(rt, g, -ERANGE, "parted", "seal tells the first refusal");
	g = api_graph(rt, 1);
	is(add_on(g, k, NULL, ON(once, LKDF_RW)), -EINVAL, "RW of ONCE");
	seal_refuses(rt, g, -EINVAL, "single", "by its name");
	g = api_graph(rt, 1);
	is(add_on(g, k, NULL, ON(other, LKDF_WRITE)), -EINVAL,
	   "data of another runtime");
	seal_refuses(rt, g, -EINVAL, "elsewhere", "by its name");
	g = api_graph(rt, 1);
	for (i = 0; i <= LKDF_MAX_USES; i++)
		many[i] = ON(d, LKDF_WRITE);
	is(lkdf_graph_add(g, k, NULL, many, LKDF_MAX_USES + 1), -E2BIG,
	   "too many uses");
	seal_refuses(rt, g, -E2BIG, "1025", "with their number");
	g = api_graph(rt, 1);
	is(lkdf_graph_add(g, k, NULL, many, LKDF_MAX_USES), 0,
	   "as many as there may be");
	is(lkdf_graph_seal(g, NULL), 0, "are sealed");
	is(api_run(g, NULL, NULL), 0, "and run");
	is(add_on(g, k, NULL, ON(d, LKDF_READ)), -EROFS, "not after seal");
	lkdf_graph_put(g);
	is(lkdf_data_split(once, 2, 32), -EINVAL, "ONCE is not split");
	lkdf_data_put(d);
	lkdf_data_put(once);
	lkdf_data_put(other);
	lkdf_kind_put(k);
	lkdf_close(rt2);
}

static void all_tests(struct lkdf *rt, const char *options)
{
	(void)options;
	readers_may_come_before_the_producer(rt, 1);
	readers_may_come_before_the_producer(rt, 2 << 20 >> 3);
	runs_do_not_share_values(rt, 1);
	runs_do_not_share_values(rt, 4);
	a_first_value_stays_over_runs(rt, 0);
	a_first_value_stays_over_runs(rt, LKDF_DATA_ONCE);
	large_values_live_shortly(rt, 300);
	a_lazy_producer_hangs_nobody(rt);
	kept_values_can_be_acquired(rt);
	producers_are_checked(rt);
	cycles_through_data_are_refused(rt);
	adding_is_checked(rt);
}

int main(void)
{
	tap_start(120);
	api_each(all_tests);
	return tap_end();
}
