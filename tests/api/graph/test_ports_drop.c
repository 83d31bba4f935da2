/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values that somebody has to give back: owned, passed on, dropped, each once,
 * after success, failures, and in loops.
 */
#include "tests/api/port.h"

static const int worker_counts[] = { 1, 2, 4 };

static atomic_int nr_made, nr_dropped;

static void drop_one(void *value)
{
	if (*(long *)value)
		atomic_fetch_add(&nr_dropped, 1);
}

static int make(struct lkdf_ctx *c, struct node *n)
{
	*(long *)lkdf_out(c, 0) = 1 + atomic_fetch_add(&nr_made, 1);
	return n->returns;
}

static int own(struct lkdf_ctx *c, struct node *n)
{
	n->x = lkdf_own(c, 0);
	if (!n->x)
		atomic_fetch_add(&nr_dropped, 1);
	return 0;
}

static int pass(struct lkdf_ctx *c, struct node *n)
{
	n->x = lkdf_pass(c, 0, 0);
	return n->returns;
}

static struct lkdf_kind *dropping(struct lkdf *rt, const char *name,
				  unsigned in)
{
	static void (*const drops[])(void *) = { drop_one };
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = call,
				   .nr_in = (uint16_t)in, .nr_out = 1,
				   .in_size = of_long, .out_size = of_long,
				   .out_drop = drops),
			      &k));
	return k;
}

static void ok_balance(const char *what)
{
	ok(nr_made && nr_made == nr_dropped, "%s: %d made, %d dropped", what,
	   nr_made, nr_dropped);
	atomic_store(&nr_made, 0);
	atomic_store(&nr_dropped, 0);
}

/* make -> pass -> take, own */
static void values_are_dropped_once(struct lkdf *rt)
{
	struct node n[4] = {
		{ .fn = make }, { .fn = pass }, { .fn = take }, { .fn = own }
	};
	struct lkdf_graph *g = api_graph(rt, 3);

	add(g, dropping(rt, "make", 0), &n[0]);
	add(g, dropping(rt, "pass", 1), &n[1]);
	add(g, kind(rt, "take", 1, 0, 0), &n[2]);
	add(g, kind(rt, "own", 1, 0, 0), &n[3]);
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_port(g, 1, 0, 2, 0));
	must(lkdf_graph_port(g, 1, 0, 3, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "a value is passed on and owned");
	ok(!n[1].x && !n[3].x, "with success");
	ok_balance("and given back by its owner");
	is(run(rt, g, 10), 0, "ten times");
	ok_balance("each is given back");
	n[1].returns = -EIO;
	is(run(rt, g, 1), -EIO, "who passes it on fails");
	ok_balance("it is dropped");
	n[0].returns = -EIO;
	is(run(rt, g, 1), -EIO, "who makes it fails");
	ok_balance("it is dropped");
	lkdf_graph_put(g);
}

static void two_owners_are_one_too_many(struct lkdf *rt)
{
	struct node n[3] = { { .fn = make }, { .fn = own }, { .fn = own } };
	struct lkdf_graph *g = api_graph(rt, 1);

	add(g, dropping(rt, "make", 0), &n[0]);
	add(g, kind(rt, "own", 1, 0, 0), &n[1]);
	add(g, kind(rt, "own", 1, 0, 0), &n[2]);
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_port(g, 0, 0, 2, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 1), 0, "two want to own one value");
	ok(n[1].x + n[2].x == -EBUSY, "one does, the other is refused");
	ok_balance("it is given back once");
	lkdf_graph_put(g);
}

static int make_again(struct lkdf_ctx *c, struct node *n)
{
	make(c, n);
	lkdf_out(c, 0);
	return atomic_load(&n->calls) % 5 ? 0 : LKDF_NO_BRANCH;
}

static void a_loop_drops_what_it_overwrites(struct lkdf *rt)
{
	struct node n[2] = { { .fn = make_again }, { .fn = take } };
	struct lkdf_graph *g = api_graph(rt, 1);

	add(g, dropping(rt, "make", 0), &n[0]);
	add(g, kind(rt, "take", 1, 0, 0), &n[1]);
	must(lkdf_graph_back(g, 0, 0, 0));
	must(lkdf_graph_port(g, 0, 0, 1, 0));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 2), 0, "a loop makes a value in each iteration");
	is(nr_made, 10, "five in each of two runs");
	is(n[1].x, 10, "the last one leaves the loop");
	ok_balance("all are dropped");
	lkdf_graph_put(g);
}

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);

	values_are_dropped_once(rt);
	two_owners_are_one_too_many(rt);
	a_loop_drops_what_it_overwrites(rt);
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
