/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/tap.h"

#include <errno.h>
#include <lkdf/lkdf.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

struct order {
	int clock;
};

struct step {
	struct order *order;
	int at;
};

static int take_time(struct lkdf_ctx *c, void *arg)
{
	struct step *s = arg;

	(void)c;
	s->at = ++s->order->clock;
	return 0;
}

static void two_tasks_run_in_order(struct lkdf *rt)
{
	struct order order = { 0 };
	struct step first = { &order, 0 }, second = { &order, 0 };
	struct lkdf_event done;
	struct lkdf_graph *g;
	struct lkdf_kind *k;
	int a, b;

	is(lkdf_kind_create(
		   rt, ATTR(lkdf_kind_attr, .name = "step", .fn = take_time),
		   &k),
	   0, "a kind is made");
	is(lkdf_graph_create(rt, NULL, &g), 0, "a graph is made");
	b = lkdf_graph_add(g, k, &second, NULL, 0);
	a = lkdf_graph_add(g, k, &first, NULL, 0);
	is(lkdf_graph_order(g, a, b), 0, "an order is taken");
	is(lkdf_graph_seal(g, NULL), 0, "the graph is sealed");
	is(lkdf_graph_run(g, NULL, NULL, &done), 0, "the graph runs");
	is(lkdf_event_wait(done, -1), 0, "the run ends well");
	ok(first.at == 1 && second.at == 2, "the first ran before the second");
	is(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 10), &done), 0,
	   "it runs again, ten times");
	is(lkdf_event_wait(done, -1), 0, "all ten end well");
	is(order.clock, 22, "every task ran every time");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void a_cycle_is_refused_by_name(struct lkdf *rt)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *g;
	struct lkdf_kind *k;
	int a, b;

	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "step", .fn = take_time), &k);
	lkdf_graph_create(rt, NULL, &g);
	a = lkdf_graph_add(g, k, NULL, NULL, 0);
	b = lkdf_graph_add(g, k, NULL, NULL, 0);
	lkdf_graph_label(g, a, "load");
	lkdf_graph_order(g, a, b);
	lkdf_graph_order(g, b, a);
	is(lkdf_graph_seal(g, &why), -ELOOP, "a cycle is refused");
	is(why.nr, 2, "the path has both tasks");
	has(why.text, "load", "the path is told by label");
	has(why.text, "step#1", "a task without label has kind and number");
	is(lkdf_graph_run(g, NULL, NULL, NULL), -EBADFD,
	   "a graph that is not sealed does not run");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	if (!is(lkdf_open("workers=2", &rt), 0, "a runtime opens"))
		return tap_end();
	two_tasks_run_in_order(rt);
	a_cycle_is_refused_by_name(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
