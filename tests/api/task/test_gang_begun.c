/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What members of a gang make runs on no worker whose own member has not begun:
 * children, children with a place, loops, and runs of graphs. Workers of a new
 * runtime, which are on their way to their first member, are the most likely to
 * take such work too early.
 */
#include "tests/api/api.h"
#include "tests/tap.h"

#include <lkdf/lkdf.h>
#include <stdatomic.h>

#define MOST 8
#define RUNTIMES 40
#define RUNS 4
#define ITEMS 48

/* The number of the run whose member has begun last on this thread. */
static _Thread_local unsigned begun;

struct shared {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	struct lkdf_place *place[MOST]; /* of each worker alone */
	unsigned nr, run;
	atomic_uint nr_early, nr_done;
};

static struct shared shared;

static void look(void)
{
	volatile int i;

	if (begun != shared.run)
		shared.nr_early++;
	shared.nr_done++;
	for (i = 0; i < 300; i++)
		;
}

static int look_in_task(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	look();
	return 0;
}

static int look_in_loop(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	for (; begin < end; begin++)
		look();
	return 0;
}

static void make_children(struct lkdf_ctx *c)
{
	int i;

	for (i = 0; i < ITEMS; i++)
		must(lkdf_spawn(c, shared.kind, NULL));
}

/* Member 1 may be there before the last member has been sent off. */
static void make_placed(struct lkdf_ctx *c)
{
	unsigned i;

	for (i = 0; i < ITEMS; i++)
		must(lkdf_spawn_task(
			c,
			ATTR(lkdf_task, .kind = shared.kind,
			     .place = shared.place[1 + i % (shared.nr - 1)],
			     .flags = LKDF_PINNED),
			NULL));
}

static void make_loop(struct lkdf_ctx *c)
{
	must(lkdf_for_in(c, ATTR(lkdf_for_attr,
				 .range = { .end = ITEMS, .grain = 1 },
				 .fn = look_in_loop)));
}

static void make_run(struct lkdf_ctx *c)
{
	must(lkdf_spawn_graph(c, shared.graph, NULL));
}

static void (*const makers[])(struct lkdf_ctx *c) = {
	make_children,
	make_placed,
	make_loop,
	make_run,
};
#define NR_MAKERS (sizeof(makers) / sizeof(*makers))
static const char *const names[NR_MAKERS] = {
	"children",
	"children with a place",
	"loops",
	"runs of graphs",
};

/* Half of the time member 0 makes them, which begins first. */
static void member(struct lkdf_ctx *c, unsigned num, void *maker)
{
	begun = shared.run;
	if (num == shared.run % 2)
		(*(void (**)(struct lkdf_ctx *))maker)(c);
	lkdf_gang_barrier(c);
}

static void open_all(unsigned nr)
{
	struct lkdf_place *node;
	unsigned i;

	shared.nr = nr;
	shared.rt = api_open_workers((int)nr);
	shared.kind = api_kind(shared.rt, "look", look_in_task, 0, LKDF_SHARED);
	shared.graph = api_graph(shared.rt, 1);
	for (i = 0; i < ITEMS; i++)
		must(lkdf_graph_add(shared.graph, shared.kind, NULL, NULL, 0));
	must(lkdf_graph_seal(shared.graph, NULL));
	node = lkdf_place_node(shared.rt, 0);
	for (i = 0; i < nr; i++)
		must(lkdf_place_part(node, i, nr, &shared.place[i]));
}

static void close_all(void)
{
	lkdf_graph_put(shared.graph);
	lkdf_kind_put(shared.kind);
	must(lkdf_close(shared.rt));
}

static void run_gang(unsigned nr, size_t maker)
{
	struct lkdf_gang *g = NULL;
	int i;

	open_all(nr);
	must(lkdf_gang_create(shared.rt, &g));
	for (i = 0; i < RUNS; i++) {
		shared.run++;
		must(lkdf_gang_run(g, nr, member, (void *)&makers[maker]));
	}
	lkdf_gang_put(g);
	close_all();
}

static void test_maker(size_t maker)
{
	unsigned i;

	shared.nr_early = shared.nr_done = 0;
	for (i = 0; i < RUNTIMES; i++)
		run_gang(2 + i % (MOST - 1), maker);
	is(shared.nr_early, 0, "%s run where the member has begun",
	   names[maker]);
	is(shared.nr_done, RUNTIMES * RUNS * ITEMS, "each of them once");
}

/* ---- substitutes --------------------------------------------------------- */

static int nap(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	api_nap_ns(1000000);
	return 0;
}

static struct lkdf_kind *nap_kind;

/* Its worker rests in the join, while other workers run the children. */
static int join_naps(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 3; i++)
		lkdf_spawn(c, nap_kind, NULL);
	return lkdf_join(c);
}

static void make_joins(struct lkdf_ctx *c)
{
	struct lkdf_kind *k;
	int i;

	k = api_kind(shared.rt, "join", join_naps, 0, LKDF_SHARED);
	for (i = 0; i < 20; i++) {
		must(lkdf_spawn(c, k, NULL));
		make_children(c);
	}
	lkdf_join(c);
	lkdf_kind_put(k);
}

static void run_joins(void)
{
	static void (*const maker)(struct lkdf_ctx * c) = make_joins;
	struct lkdf_gang *g = NULL;

	nap_kind = api_kind(shared.rt, "nap", nap, 0, LKDF_SHARED);
	must(lkdf_gang_create(shared.rt, &g));
	shared.run++;
	must(lkdf_gang_run(g, 3, member, (void *)&maker));
	lkdf_gang_put(g);
	lkdf_kind_put(nap_kind);
}

static void test_substitutes(void)
{
	shared.nr_early = shared.nr_done = 0;
	shared.rt = api_open("workers=3,substitutes=2");
	shared.kind = api_kind(shared.rt, "look", look_in_task, 0, LKDF_SHARED);
	run_joins();
	is(shared.nr_early, 0, "no substitute runs what members make");
	is(shared.nr_done, 20 * ITEMS, "each of them once");
	lkdf_kind_put(shared.kind);
	is(lkdf_close(shared.rt), 0, "the runtime closes");
}

int main(void)
{
	size_t i;

	tap_start(120);
	for (i = 0; i < NR_MAKERS; i++)
		test_maker(i);
	test_substitutes();
	return tap_end();
}
