/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ports: values from task to task. Broadcast without a copy, several edges to
 * one port, inputs that are absent, values for the next call, values that go
 * round a loop, strict tasks, refusals.
 */
#include "tests/api/port.h"

#include <lkdf/strict.h>

static const int worker_counts[] = { 1, 2, 4 };

static int plus(struct lkdf_ctx *c, struct node *n)
{
	*(long *)lkdf_out(c, 0) =
		*(const long *)lkdf_in(c, 0) + *(const long *)lkdf_in(c, 1);
	return n->returns;
}

static void values_reach_all_readers_without_a_copy(struct lkdf *rt)
{
	struct node n[5] = { { .fn = give, .x = 5 },
			     { .fn = give, .x = 7 },
			     { .fn = plus },
			     { .fn = take },
			     { .fn = take } };
	struct lkdf_graph *g = api_graph(rt, 1);

	add(g, kind(rt, "give", 0, 1, 0), &n[0]);
	add(g, kind(rt, "give", 0, 1, 0), &n[1]);
	add(g, kind(rt, "plus", 2, 1, 0), &n[2]);
	add(g, kind(rt, "take", 1, 0, 0), &n[3]);
	add(g, kind(rt, "take", 1, 0, 0), &n[4]);
	must(lkdf_graph_port(g, 0, 0, 2, 0));
	must(lkdf_graph_port(g, 1, 0, 2, 1));
	must(lkdf_graph_port(g, 2, 0, 3, 0));
	must(lkdf_graph_port(g, 2, 0, 4, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "values go from task to task");
	ok(n[3].x == 12 && n[4].x == 12, "both readers see 5 + 7");
	ok(n[3].seen == n[4].seen && n[3].seen, "at one address");
	n[0].x = 30;
	is(run(rt, g, 3), 0, "again, three times");
	is(n[4].x, 37, "with new values");
	lkdf_graph_put(g);
}

static void the_first_live_edge_counts(struct lkdf *rt)
{
	struct node n[4] = { { .fn = give, .x = 1 },
			     { .fn = give, .x = 10 },
			     { .fn = give, .x = 20 },
			     { .fn = take } };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_edge e = { .size = sizeof(e),
			       .flags = LKDF_EDGE_PORT | LKDF_EDGE_BRANCH,
			       .to = 3 };

	add(g, kind(rt, "choice", 0, 1, 0), &n[0]);
	add(g, kind(rt, "a", 0, 1, 0), &n[1]);
	add(g, kind(rt, "b", 0, 1, 0), &n[2]);
	add(g, kind(rt, "take", 1, 0, 0), &n[3]);
	must(lkdf_graph_branch(g, 0, 0, 1));
	must(lkdf_graph_branch(g, 0, 1, 2));
	e.from = 1;
	must(lkdf_graph_edge(g, &e));
	e.from = 2;
	must(lkdf_graph_edge(g, &e));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "an if with values");
	is(n[3].x, 10, "the value of branch 0");
	n[0].returns = 1;
	is(run(rt, g, 1), 0, "and its else");
	is(n[3].x, 20, "the value of branch 1");
	n[0].returns = LKDF_BRANCHES(3);
	is(run(rt, g, 1), 0, "and both");
	is(n[3].x, 10, "the one that was added first");
	lkdf_graph_put(g);
}

static int take_two(struct lkdf_ctx *c, struct node *n)
{
	const long *a = lkdf_in(c, 0), *b = lkdf_in(c, 1);

	n->x = (a ? *a : 0) * 100 + (b ? *b : 0);
	return 0;
}

static void absent_inputs_are_null(struct lkdf *rt)
{
	struct node n[4] = { { .fn = give, .x = 3 },
			     { .fn = give, .x = 4 },
			     { .fn = take_two },
			     { .fn = take_two } };
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	add(g, kind(rt, "a", 0, 1, 0), &n[0]);
	add(g, kind(rt, "b", 0, 1, 0), &n[1]);
	add(g, kind(rt, "any", 2, 0, LKDF_ANY), &n[2]);
	add(g, kind(rt, "always", 2, 0, LKDF_ALWAYS), &n[3]);
	for (i = 2; i < 4; i++) {
		must(lkdf_graph_port(g, 0, 0, i, 0));
		must(lkdf_graph_port(g, 1, 0, i, 1));
	}
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "ANY and ALWAYS with all inputs");
	ok(n[2].x == 304 && n[3].x == 304, "see both");
	n[1].returns = -EIO;
	is(run(rt, g, 1), -EIO, "where one input fails");
	ok(n[2].x == 300 && n[3].x == 300, "they see the other");
	n[1].returns = 0;
	is(run(rt, g, 1), 0, "and all of them again");
	ok(n[2].x == 304 && n[3].x == 304, "when it succeeds");
	lkdf_graph_put(g);
}

static int count_on(struct lkdf_ctx *c, struct node *n)
{
	long last = *(const long *)lkdf_in(c, 0);

	if (n->returns)
		return n->returns;
	*(long *)lkdf_out(c, 0) = last + 1;
	n->x = last;
	return 0;
}

static void a_value_is_there_in_the_next_call(struct lkdf *rt,
					      uint32_t inflight, uint64_t times)
{
	struct node n[2] = { { .fn = count_on }, { .fn = take } };
	struct lkdf_graph *g = api_graph(rt, inflight);
	long first = 100;
	int i;

	add(g, kind(rt, "count", 1, 1, 0), &n[0]);
	add(g, kind(rt, "take", 1, 0, 0), &n[1]);
	must(lkdf_graph_edge(g, ATTR(lkdf_edge,
				     .flags = LKDF_EDGE_PORT | LKDF_EDGE_NEXT,
				     .init = &first)));
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_seal(g, NULL));
	lkdf_scope_wait(rt, NULL, -1);
	for (i = 0; i < 60 / (int)times; i++)
		must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = times),
				    NULL));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), 0,
	   "60 calls count on, %u in flight", inflight);
	ok(n[0].x == 159 && n[1].x == 160, "from 100 to 160: %ld, %ld", n[0].x,
	   n[1].x);
	n[0].returns = -EIO;
	is(run(rt, g, 1), -EIO, "a call that fails");
	n[0].returns = 0;
	is(run(rt, g, 1), 0, "leaves the value as it was");
	is(n[0].x, 160, "for the next one");
	lkdf_graph_put(g);
}

static int no_values(struct lkdf_ctx *c, struct node *n)
{
	(void)c;
	return n->returns;
}

static int half(struct lkdf_ctx *c, struct node *n)
{
	long x = *(const long *)lkdf_in(c, 0);

	(void)n;
	*(long *)lkdf_out(c, 0) = x / 2;
	return x / 2 > 1 ? 0 : 1;
}

static void a_value_goes_round_a_loop(struct lkdf *rt)
{
	struct node n[3] = { { .fn = give, .x = 1000 },
			     { .fn = half },
			     { .fn = take } };
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_edge back = { .size = sizeof(back),
				  .flags = LKDF_EDGE_PORT | LKDF_EDGE_BACK,
				  .from = 1,
				  .to = 1 };
	struct lkdf_edge out = { .size = sizeof(out),
				 .flags = LKDF_EDGE_PORT | LKDF_EDGE_BRANCH,
				 .from = 1,
				 .to = 2,
				 .branch = 1 };
	int i;

	add(g, kind(rt, "give", 0, 1, 0), &n[0]);
	add(g, kind(rt, "half", 1, 1, 0), &n[1]);
	add(g, kind(rt, "take", 1, 0, 0), &n[2]);
	must(lkdf_graph_edge(g, &back));
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_edge(g, &out));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++) {
		atomic_store(&n[1].calls, 0);
		is(run(rt, g, 1), 0, "a loop halves 1000, run %d", i);
		ok(n[1].calls == 9 && n[2].x == 1, "nine times: %d, %ld",
		   n[1].calls, n[2].x);
	}
	lkdf_graph_put(g);
}

/*
 * Task 3 closes the loop of task 1 with a value while task 2 leaves that loop:
 * the loop ends. The next run's first iteration has the value of task 0. With
 * nested, task 3 is a loop of its own in that loop.
 */
static void a_value_of_a_loop_that_ended_is_forgotten(struct lkdf *rt,
						      bool nested)
{
	struct node n[5] = { { .fn = give, .x = 5 },
			     { .fn = take },
			     { .fn = no_values, .returns = 7 },
			     { .fn = give, .x = 1000, .returns = 1 },
			     { .fn = no_values } };
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	add(g, kind(rt, "give", 0, 1, 0), &n[0]);
	add(g, kind(rt, "head", 1, 0, 0), &n[1]);
	add(g, kind(rt, "leaves", 0, 0, 0), &n[2]);
	add(g, kind(rt, "latch", 0, 1, 0), &n[3]);
	add(g, kind(rt, "after", 0, 0, 0), &n[4]);
	must(lkdf_graph_edge(g, ATTR(lkdf_edge,
				     .flags = LKDF_EDGE_PORT | LKDF_EDGE_BACK,
				     .from = 3, .to = 1, .branch = 1)));
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_order(g, 1, 2));
	must(lkdf_graph_order(g, 2, 3));
	must(lkdf_graph_branch(g, 2, 7, 4));
	if (nested)
		must(lkdf_graph_back(g, 3, 2, 3));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++) {
		is(run(rt, g, 1), 0, "%s loop is left, run %d",
		   nested ? "a nested" : "a", i);
		is(n[1].x, 5, "its head has the value of its entry");
	}
	is(n[1].calls, 3, "it ran once a run");
	is(n[4].calls, 3, "what follows the loop, too");
	lkdf_graph_put(g);
}

/* ---- the largest values */

struct large {
	unsigned char byte[LKDF_MAX_VALUE];
};

static unsigned char byte_of(int port, int i)
{
	return (unsigned char)(i * 31 + i / 256 + port * 101 + 7);
}

static int give_large(struct lkdf_ctx *c, void *arg)
{
	struct large *out;
	int port, i;

	(void)arg;
	for (port = 0; port < 2; port++) {
		out = lkdf_out(c, (unsigned)port);
		for (i = 0; i < LKDF_MAX_VALUE; i++)
			out->byte[i] = byte_of(port, i);
	}
	return 0;
}

static int pass_large(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(struct large *)lkdf_out(c, 0) = *(const struct large *)lkdf_in(c, 0);
	return lkdf_pass(c, 1, 1);
}

/* The bytes that are not what they were. */
static int take_large(struct lkdf_ctx *c, void *arg)
{
	const struct large *in;
	int port, i;

	*(int *)arg = 0;
	for (port = 0; port < 2; port++) {
		in = lkdf_in(c, (unsigned)port);
		for (i = 0; i < LKDF_MAX_VALUE; i++)
			*(int *)arg += in->byte[i] != byte_of(port, i);
	}
	return 0;
}

static void the_largest_values_come_whole(struct lkdf *rt)
{
	static const uint32_t of_large[] = { LKDF_MAX_VALUE, LKDF_MAX_VALUE };
	static const lkdf_fn fn[] = { give_large, pass_large, take_large };
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_kind *k;
	uint16_t i, port;
	int wrong = -1;

	is(sizeof(struct large), 4096, "a value has up to 4096 bytes");
	for (i = 0; i < 3; i++) {
		must(lkdf_kind_create(
			rt,
			ATTR(lkdf_kind_attr, .name = "large", .fn = fn[i],
			     .nr_in = i ? 2 : 0, .nr_out = i < 2 ? 2 : 0,
			     .in_size = of_large, .out_size = of_large),
			&k));
		must(lkdf_graph_add(g, k, &wrong, NULL, 0));
		lkdf_kind_put(k);
		for (port = 0; port < 2 && i; port++)
			must(lkdf_graph_port(g, i - 1, port, i, port));
	}
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 3), 0, "two of them go through two tasks, three times");
	is(wrong, 0, "and all bytes come");
	lkdf_graph_put(g);
}

/* ---- strict tasks */

static double square(double x)
{
	return x * x;
}

static double sum_of(double a, double b)
{
	return a + b;
}

static double three(void)
{
	return 3;
}

LKDF_STRICT0(start, three, double);
LKDF_STRICT1(squared, square, double, double);
LKDF_STRICT2(sum, sum_of, double, double, double);

static int strict_result(struct lkdf_ctx *c, void *arg)
{
	*(double *)arg = *(const double *)lkdf_in(c, 0);
	return 0;
}

static void functions_are_tasks(struct lkdf *rt)
{
	static const uint32_t of_double[] = { sizeof(double) };
	const struct lkdf_kind_attr *attr[] = { &start_kind, &squared_kind,
						&sum_kind };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k;
	double result = 0;
	int i;

	for (i = 0; i < 3; i++) {
		must(lkdf_kind_create(rt, attr[i], &k));
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		lkdf_kind_put(k);
	}
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "result",
				   .fn = strict_result, .nr_in = 1,
				   .in_size = of_double),
			      &k));
	must(lkdf_graph_add(g, k, &result, NULL, 0));
	lkdf_kind_put(k);
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_port(g, 0, 0, 2, 0));
	must(lkdf_graph_port(g, 1, 0, 2, 1));
	must(lkdf_graph_port(g, 2, 0, 3, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "plain functions as tasks");
	ok(result == 12, "3 + 3 * 3 is 12: %g", result);
	lkdf_graph_put(g);
}

/* ---- refusals */

static void what_does_not_fit_is_refused(struct lkdf *rt)
{
	static const uint32_t large[] = { LKDF_MAX_VALUE + 1 }, four[] = { 4 };
	struct node n[2] = { { .fn = give }, { .fn = take } };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_kind *k = NULL;

	is(lkdf_kind_create(rt,
			    ATTR(lkdf_kind_attr, .name = "k", .fn = call,
				 .nr_in = 1),
			    &k),
	   -EINVAL, "ports without sizes");
	is(lkdf_kind_create(rt,
			    ATTR(lkdf_kind_attr, .name = "k", .fn = call,
				 .nr_in = 17, .in_size = of_long),
			    &k),
	   -EINVAL, "17 ports");
	is(lkdf_kind_create(rt,
			    ATTR(lkdf_kind_attr, .name = "k", .fn = call,
				 .nr_out = 1, .out_size = large),
			    &k),
	   -EINVAL, "a value of 4097 bytes");
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "four", .fn = call,
				   .nr_in = 1, .in_size = four),
			      &k));
	add(g, kind(rt, "give", 0, 1, 0), &n[0]);
	add(g, k, &n[1]);
	is(lkdf_graph_port(g, 0, 0, 1, 0), -EINVAL, "8 bytes to 4: %s",
	   lkdf_errmsg());
	is(lkdf_graph_port(g, 0, 1, 1, 0), -EINVAL, "an out port there is not");
	is(lkdf_graph_port(g, 0, 0, 1, 1), -EINVAL, "an in port there is not");
	is(lkdf_graph_port(g, 0, 0, 7, 0), -EINVAL, "a task there is not");
	lkdf_graph_put(g);

	g = api_graph(rt, 1);
	add(g, kind(rt, "alone", 1, 0, 0), &n[1]);
	is(lkdf_graph_seal(g, &why), -EINVAL, "an in port without an edge");
	has(why.text, "in port 0 of alone#0", "by name");
	lkdf_graph_put(g);

	g = api_graph(rt, 1);
	add(g, kind(rt, "shared", 1, 1, LKDF_SHARED), &n[0]);
	is(lkdf_graph_edge(g, ATTR(lkdf_edge,
				   .flags = LKDF_EDGE_PORT | LKDF_EDGE_NEXT)),
	   -EINVAL, "NEXT of a SHARED kind");
	is(lkdf_graph_edge(g, ATTR(lkdf_edge, .flags = LKDF_EDGE_NEXT)),
	   -EINVAL, "NEXT without PORT");
	lkdf_graph_put(g);
}

static int no_ports(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_in(c, 0) || lkdf_out(c, 0) || lkdf_own(c, 0) != -EINVAL
		       ? -EPROTO
		       : 0;
}

static void bodies_without_ports_have_none(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "none", no_ports, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "a task of a graph without ports has none");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), 0, "nor has one submitted");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);

	values_reach_all_readers_without_a_copy(rt);
	the_first_live_edge_counts(rt);
	absent_inputs_are_null(rt);
	a_value_is_there_in_the_next_call(rt, 1, 1);
	a_value_is_there_in_the_next_call(rt, 4, 1);
	a_value_is_there_in_the_next_call(rt, 2, 10);
	a_value_goes_round_a_loop(rt);
	a_value_of_a_loop_that_ended_is_forgotten(rt, false);
	a_value_of_a_loop_that_ended_is_forgotten(rt, true);
	the_largest_values_come_whole(rt);
	functions_are_tasks(rt);
	what_does_not_fit_is_refused(rt);
	bodies_without_ports_have_none(rt);
	lkdf_scope_wait(rt, NULL, -1);
	is(lkdf_close(rt), 0, "%d workers are closed", nr);
}

int main(void)
{
	unsigned i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++)
		all(worker_counts[i]);
	return tap_end();
}
