/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_graph_include(): values, data, arguments, places of the tasks of a part,
 * of which each appearance has its own.
 */
#include "tests/api/graph/part.h"

static int put_out(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_out(c, 0) = *(uint64_t *)arg;
	return 0;
}

static int take_in(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)arg += *(const uint64_t *)lkdf_in(c, 0);
	return 0;
}

static struct lkdf_kind *with_port(struct lkdf *rt, const char *name,
				   lkdf_fn fn, uint16_t nr_in, uint16_t nr_out)
{
	static const uint32_t size = 8;
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .nr_in = nr_in, .nr_out = nr_out,
				   .in_size = &size, .out_size = &size),
			      &k));
	return k;
}

static void values_go_in_and_out(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *out = with_port(rt, "out", put_out, 0, 1);
	struct lkdf_kind *in = with_port(rt, "in", take_in, 1, 0);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	uint64_t value = 7, inner = 0, outer = 0;
	int from = add(part, out, &value), whole;

	must(lkdf_graph_port(part, from, 0, add(part, in, &inner), 0));
	whole = must(lkdf_graph_include(g, part));
	must(lkdf_graph_port(g, whole + 1 + from, 0, add(g, in, &outer), 0));
	is(lkdf_graph_seal(g, NULL), 0, "%s: a value leaves the part", options);
	is(api_run(g, NULL, NULL), 0, "it runs");
	ok(inner == 7 && outer == 7, "both have it, within and outside");
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(in);
	lkdf_kind_put(out);
}

static int triple(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) *= 3;
	return 0;
}

static int increment(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	return 0;
}

/* ((1 + 1) * 3 + 1) * 3 + 1: as if they were added where it is included. */
static void data_orders_tasks_of_both(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *up = api_kind(rt, "up", increment, 0, 0);
	struct lkdf_kind *times = api_kind(rt, "times", triple, 0, 0);
	struct lkdf_data *d = number(rt, "d", &(uint64_t){ 1 });
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	int i;

	must(add_on(part, times, NULL, ON(d, LKDF_RW)));
	must(add_on(part, up, NULL, ON(d, LKDF_RW)));
	must(add_on(g, up, NULL, ON(d, LKDF_RW)));
	for (i = 0; i < 2; i++)
		must(lkdf_graph_include(g, part));
	lkdf_graph_put(part);
	is(lkdf_graph_seal(g, NULL), 0, "%s: uses of data", options);
	is(api_run(g, NULL, NULL), 0, "it runs");
	is((long)value_of(d), 22, "in the order in which all were added");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(up);
	lkdf_kind_put(times);
}

static int add_arg(struct lkdf_ctx *c, void *arg)
{
	atomic_int *sum = *(atomic_int **)arg;

	(void)c;
	atomic_fetch_add(sum, ((int *)arg)[2]);
	return 0;
}

struct adds {
	atomic_int *sum;
	int n;
};

static atomic_int nr_dropped;

static void drop(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_dropped, 1);
}

static struct lkdf_kind *adder(struct lkdf *rt, void (*drops)(void *arg))
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "add", .fn = add_arg,
				   .drop = drops,
				   .arg_size = sizeof(struct adds)),
			      &k));
	return k;
}

static void arguments_are_copied(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = adder(rt, NULL);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	atomic_int sum = 0;
	struct adds a = { &sum, 1 }, b = { &sum, 10 };
	int whole;

	add(part, k, &a);
	must(lkdf_graph_include(g, part));
	whole = must(lkdf_graph_include(g, part));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_seal(part, NULL));
	must(lkdf_graph_set(g, whole + 1, &b));
	is(api_run(g, NULL, NULL), 0, "%s: one of two copies is set", options);
	is(atomic_load(&sum), 11, "that one alone has another argument");
	is(api_run(part, NULL, NULL), 0, "the part runs");
	is(atomic_load(&sum), 12, "with its own");
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void they_are_dropped_once(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = adder(rt, drop);
	struct lkdf_graph *g = named(rt, "g"), *middle = named(rt, "middle");
	struct lkdf_graph *part = named(rt, "part");
	atomic_int sum = 0;
	struct adds a = { &sum, 1 };
	int whole;

	atomic_store(&nr_dropped, 0);
	add(part, k, &a);
	must(lkdf_graph_include(middle, part));
	lkdf_graph_put(part);
	must(lkdf_graph_include(g, middle));
	whole = must(lkdf_graph_include(g, middle));
	lkdf_graph_put(middle);
	is(atomic_load(&nr_dropped), 0, "%s: nothing is dropped with a part",
	   options);
	must(lkdf_graph_seal(g, NULL));
	is(lkdf_graph_set(g, whole + 2, &a), -EOPNOTSUPP, "nothing is set");
	has(lkdf_errmsg(),
	    "set: graph g: task 7 is of an included graph, "
	    "which keeps the arguments of kind add",
	    "and why");
	is(api_run(g, NULL, NULL), 0, "it runs");
	is(atomic_load(&sum), 2, "both copies with the argument");
	lkdf_graph_put(g);
	is(atomic_load(&nr_dropped), 1, "it is dropped once, with the last");
	lkdf_kind_put(k);
}

static void places_and_profiles_go_along(void)
{
	struct lkdf *rt = api_open("workers=4,topology=\"numa:2 core:2\"");
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	atomic_int at[3] = { 0 };
	int i;

	for (i = 0; i < 3; i++)
		must(lkdf_graph_add_task(
			part,
			ATTR(lkdf_task, .kind = k, .arg = &at[i],
			     .flags = LKDF_PROFILE,
			     .place = i ? lkdf_place_node(rt, i - 1) : NULL)));
	must(lkdf_graph_include(g, part));
	lkdf_graph_put(part);
	lkdf_kind_put(k);
	is(lkdf_graph_seal(g, NULL), 0, "a part with places is sealed");
	is(api_run(g, NULL, NULL), 0, "it runs");
	ok(at[0] && at[1] && at[2], "all of its tasks");
	atomic_store(&clock_now, 0);
	lkdf_graph_put(g);
	must(lkdf_close(rt));
}

/* As a graph without parts: their two tasks are no hindrance. */
static void it_goes_by_its_static_order(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part;
	atomic_int at[2] = { 0 };
	uint64_t nr = 0;
	int i, rc = 0;

	part = a_part(rt, k, at);
	must(lkdf_graph_include(g, part));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 50 && !rc; i++)
		rc = api_run(g, NULL, NULL);
	is(rc, 0, "it runs often");
	must(lkdf_stat(rt, "lkdf.runs.static", &nr));
	ok(nr > 0, "%d of 50 runs by a static order", (int)nr);
	atomic_store(&clock_now, 0);
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void all_of_it(struct lkdf *rt, const char *options)
{
	values_go_in_and_out(rt, options);
	data_orders_tasks_of_both(rt, options);
	arguments_are_copied(rt, options);
	they_are_dropped_once(rt, options);
}

int main(void)
{
	tap_start(120);
	api_each(all_of_it);
	places_and_profiles_go_along();
	it_goes_by_its_static_order();
	return tap_end();
}
