/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Races in graphs, ports, streams, data and limits, each with the program that
 * is right. See check_races.h and test_check_planted.sh.
 */
#include "tests/tools/check_races.h"

static int adds(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	shared++;
	return 0;
}

/* ---- ports -------------------------------------------------------------- */

static struct lkdf_kind *ported(const char *name, lkdf_fn fn, uint16_t nr_in,
				uint16_t nr_out)
{
	static const uint32_t size = 2 * sizeof(void *);
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .nr_in = nr_in, .nr_out = nr_out,
				   .in_size = &size, .out_size = &size),
			      &k));
	return k;
}

static int hands_out(struct lkdf_ctx *c, void *arg)
{
	int **out = lkdf_out(c, 0);

	(void)arg;
	shared = 5;
	*out = &shared;
	return 0;
}

static int follows(struct lkdf_ctx *c, void *arg)
{
	int *const *in = lkdf_in(c, 0);

	(void)arg;
	sink = **in;
	return 0;
}

/* Two tasks get one address, and this one writes there. */
static int changes(struct lkdf_ctx *c, void *arg)
{
	int *const *in = lkdf_in(c, 0);

	(void)arg;
	if (!is_right)
		**in = 6;
	sink = **in;
	return 0;
}

/* Two tasks see one value, and this one writes it. */
static int changes_value(struct lkdf_ctx *c, void *arg)
{
	int *const *in = lkdf_in(c, 0);

	(void)arg;
	if (!is_right)
		*(int **)(uintptr_t)in = &sink;
	return **in < 0;
}

static int looks(struct lkdf_ctx *c, void *arg)
{
	int *const *in = lkdf_in(c, 0);

	(void)arg;
	return **in < 0;
}

static void one_to_two(lkdf_fn first, lkdf_fn second)
{
	struct lkdf_graph *g = graph(1);

	must(lkdf_graph_add(g, ported("from", hands_out, 0, 1), NULL, NULL, 0));
	must(lkdf_graph_add(g, ported("one", first, 1, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, ported("two", second, 1, 0), NULL, NULL, 0));
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_port(g, 0, 0, 2, 0));
	run(g, 1);
}

static void port_address(void)
{
	one_to_two(looks, changes);
}

static void port_value(void)
{
	one_to_two(looks, changes_value);
}

/* The address goes to one, and another one knows it anyway. */
static void port_beside(void)
{
	struct lkdf_graph *g = graph(1);

	must(lkdf_graph_add(g, ported("from", hands_out, 0, 1), NULL, NULL, 0));
	must(lkdf_graph_add(g, ported("to", follows, 1, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, kind("beside", is_right ? rests : reads, 0),
			    NULL, NULL, 0));
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	run(g, 1);
}

/* ---- graphs ------------------------------------------------------------- */

/* Two arms, one of which is chosen: the task where they come together. */
static void diamond(void)
{
	struct lkdf_graph *g = graph(1);

	must(lkdf_graph_add(g, kind("top", rests, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, kind("left", writes, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, kind("right", rests, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, kind("bottom", reads, 0), NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_order(g, 0, 2));
	must(lkdf_graph_order(g, 2, 3));
	if (is_right)
		must(lkdf_graph_order(g, 1, 3));
	run(g, 2);
}

/* Two runs of a graph at a time, or one after the other. */
static void runs(void)
{
	struct lkdf_graph *g = graph(2);
	struct lkdf_event done[2];

	must(lkdf_graph_add(g, kind("add", adds, is_right ? 0 : LKDF_SHARED),
			    NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done[0]));
	must(lkdf_graph_run(g, NULL, NULL, &done[1]));
	must(lkdf_event_wait(done[0], -1));
	must(lkdf_event_wait(done[1], -1));
	lkdf_graph_put(g);
}

/* Runs of two graphs: the event of the first one is waited for, or is not. */
static void two_graphs(void)
{
	struct lkdf_graph *g[2] = { graph(1), graph(1) };
	struct lkdf_event done[2];
	int i;

	must(lkdf_graph_add(g[0], kind("write", writes, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g[1], kind("read", reads, 0), NULL, NULL, 0));
	for (i = 0; i < 2; i++) {
		must(lkdf_graph_seal(g[i], NULL));
		must(lkdf_graph_run(g[i], NULL, NULL, &done[i]));
		if (is_right)
			must(lkdf_event_wait(done[i], -1));
	}
	for (i = 0; i < 2; i++) {
		if (!is_right)
			must(lkdf_event_wait(done[i], -1));
		lkdf_graph_put(g[i]);
	}
}

static struct lkdf_graph *inner;

static int spawns_graph(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	must(lkdf_spawn_graph(c, inner, NULL));
	if (is_right)
		must(lkdf_join(c));
	sink = shared;
	return 0;
}

static void graph_below(void)
{
	inner = graph(1);
	must(lkdf_graph_add(inner, kind("write", writes, LKDF_SHARED), NULL,
			    NULL, 0));
	must(lkdf_graph_seal(inner, NULL));
	submit(&(struct lkdf_task){ .kind = kind("parent", spawns_graph, 0) },
	       NULL);
	wait_all();
	lkdf_graph_put(inner);
}

static int three_waves(struct lkdf_ctx *c, void *arg)
{
	static int nr;

	(void)c;
	(void)arg;
	return ++nr > 3 ? LKDF_END : 0;
}

/* What a source writes is read in its wave by the last stage of another. */
static int source_writes(struct lkdf_ctx *c, void *arg)
{
	int rc = three_waves(c, arg);

	if (!is_right)
		shared++;
	return rc;
}

static void stream_source(void)
{
	struct lkdf_graph *g = graph(4);
	struct lkdf_event done;

	must(lkdf_graph_add(g, kind("source", source_writes, 0), NULL, NULL,
			    0));
	must(lkdf_graph_add(g, kind("stage", reads, is_right ? 0 : LKDF_SHARED),
			    NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	must(lkdf_event_wait(done, -1));
	lkdf_graph_put(g);
}

/* ---- data --------------------------------------------------------------- */

static int combine(void *acc, const void *x, uint64_t bytes)
{
	(void)bytes;
	*(int *)acc += *(const int *)x;
	return 0;
}

static void neutral(void *acc, uint64_t bytes)
{
	memset(acc, 0, bytes);
}

static struct lkdf_data *data_of(const char *name, uint64_t bytes)
{
	static const char zeros[64];
	struct lkdf_data *d;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .name = name, .bytes = bytes,
				   .init = zeros, .reduce = combine,
				   .neutral = neutral),
			      &d));
	return d;
}

static struct lkdf_data *use_twice(lkdf_fn fn, uint32_t mode,
				   struct lkdf_data *d)
{
	struct lkdf_use use = { .data = d, .mode = mode };
	struct lkdf_task t = { .use = &use, .nr_use = 1 };

	t.kind = kind("add", fn, 0);
	submit(&t, NULL);
	submit(&t, NULL);
	wait_all();
	return d;
}

static int *bytes_of_sum;

static int adds_to_sum(struct lkdf_ctx *c, void *arg)
{
	int *p = lkdf_ptr(c, 0);

	(void)arg;
	if (!p)
		p = bytes_of_sum;
	++*p;
	bytes_of_sum = p;
	return 0;
}

static int adds_unasked(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	++*bytes_of_sum;
	return 0;
}

/* One of three says nothing of the data to which it adds. */
static void commute(void)
{
	struct lkdf_use use = { .mode = LKDF_COMMUTE };
	void *bytes;

	use.data = data_of("sum", sizeof(int));
	must(lkdf_data_acquire(use.data, LKDF_READ, -1, &bytes));
	bytes_of_sum = bytes;
	must(lkdf_data_release(use.data));
	use_twice(adds_to_sum, LKDF_COMMUTE, use.data);
	submit(&(struct lkdf_task){ .kind = kind("add", adds_to_sum, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	submit(&(struct lkdf_task){ .kind = kind("other",
						 is_right ? adds_to_sum
							  : adds_unasked,
						 0),
				    .use = &use,
				    .nr_use = is_right },
	       NULL);
	wait_all();
	lkdf_data_put(use.data);
}

/* Each adds to a copy of its own, and one variable is no part of it. */
static int adds_to_copy(struct lkdf_ctx *c, void *arg)
{
	int *p = lkdf_ptr(c, 0);

	(void)arg;
	++*p;
	if (!is_right)
		shared++;
	return 0;
}

static void reduce(void)
{
	struct lkdf_data *d = data_of("sum", sizeof(int));
	void *bytes;

	use_twice(adds_to_copy, LKDF_REDUCE, d);
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	sink = *(int *)bytes;
	must(lkdf_data_release(d));
	lkdf_data_put(d);
}

static int writes_part(struct lkdf_ctx *c, void *arg)
{
	int *part = lkdf_ptr(c, 0);

	(void)arg;
	part[is_right ? 0 : 3] = 1;
	return 0;
}

static int fills_part(struct lkdf_ctx *c, void *arg)
{
	int *part = lkdf_ptr(c, 0);

	(void)arg;
	part[0] = part[1] = 4;
	return 0;
}

/* One of two that have a part each writes beyond its own. */
static void parts(void)
{
	struct lkdf_data *d = data_of("table", 4 * sizeof(int));
	struct lkdf_use use = { .data = d, .mode = LKDF_WRITE, .part = 1 };

	must(lkdf_data_split(d, 2, 2 * sizeof(int)));
	submit(&(struct lkdf_task){ .kind = kind("beyond", writes_part, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	use.part = 2;
	submit(&(struct lkdf_task){ .kind = kind("fill", fills_part, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	wait_all();
	lkdf_data_put(d);
}

static int gives_on(struct lkdf_ctx *c, void *arg)
{
	int *p = lkdf_ptr(c, 0);

	(void)arg;
	if (is_right)
		*p = 1;
	must(lkdf_use_end(c, 0, false));
	if (!is_right)
		*p = 1;
	return 0;
}

static int takes(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	sink = *(int *)lkdf_ptr(c, 0);
	return 0;
}

/* A body that still writes what it has given on. */
static void given_on(void)
{
	struct lkdf_use use = { .mode = LKDF_RW };

	use.data = data_of("given", sizeof(int));
	submit(&(struct lkdf_task){ .kind = kind("give", gives_on, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	use.mode = LKDF_READ;
	submit(&(struct lkdf_task){ .kind = kind("take", takes, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	wait_all();
	lkdf_data_put(use.data);
}

/* The main thread writes what it has given back. */
static void given_back(void)
{
	struct lkdf_use use = { .mode = LKDF_READ };
	void *bytes;

	use.data = data_of("back", sizeof(int));
	must(lkdf_data_acquire(use.data, LKDF_WRITE, -1, &bytes));
	*(int *)bytes = 1;
	must(lkdf_data_release(use.data));
	submit(&(struct lkdf_task){ .kind = kind("take", takes, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	if (!is_right)
		*(int *)bytes = 2;
	wait_all();
	lkdf_data_put(use.data);
}

/* Both only read, as they say, but one writes. */
static int writes_use(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	++*(int *)lkdf_ptr(c, 0);
	return 0;
}

static void says_read(void)
{
	struct lkdf_data *d = data_of("read", sizeof(int));

	lkdf_data_put(use_twice(writes_use, is_right ? LKDF_RW : LKDF_READ, d));
}

/* ---- limits ------------------------------------------------------------- */

/* So many at a time as there are tokens. */
static void limit(void)
{
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind *k;

	must(lkdf_limit_create(rt, is_right ? 1 : 2, &use.limit));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "add", .fn = adds,
				   .limit = &use, .nr_limit = 1),
			      &k));
	submit(&(struct lkdf_task){ .kind = k }, NULL);
	submit(&(struct lkdf_task){ .kind = k }, NULL);
	wait_all();
	lkdf_kind_put(k);
	lkdf_limit_put(use.limit);
}

static const struct row rows[] = {
	{ "port_address", port_address },
	{ "port_value", port_value },
	{ "port_beside", port_beside },
	{ "diamond", diamond },
	{ "runs", runs },
	{ "two_graphs", two_graphs },
	{ "graph_below", graph_below },
	{ "stream_source", stream_source },
	{ "commute", commute },
	{ "reduce", reduce },
	{ "parts", parts },
	{ "given_on", given_on },
	{ "given_back", given_back },
	{ "says_read", says_read },
	{ "limit", limit },
};

int main(int argc, char **argv)
{
	return check_main(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
