/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Joins in joins: bodies that spawn many children each and wait for them, which
 * do the same; more children than a worker's queue holds, and more joins in
 * each other than a stack holds.
 *
 * The first is a search in a random graph, after concom of the Barcelona OpenMP
 * Tasks Suite: each body marks its node and spawns a child for each neighbour
 * without a mark. What it must not do is search the queues of others for its
 * own children again and again.
 */
#include "tests/api/api.h"

#include <stdlib.h>
#include <string.h>

static const char *const runtimes[] = {
	"workers=1",
	"workers=2",
	"workers=4",
	"workers=2,spawn_inline=0",
	"workers=2,spawn_inline=8192",
};

#define MAX_NODES 1000
#define NR_NEIGHBOURS 180

struct search {
	struct lkdf_kind *kind;
	int nr_nodes, nr_edges[MAX_NODES];
	short edge[MAX_NODES][2 * NR_NEIGHBOURS];
	atomic_int mark[MAX_NODES], nr_marked;
	atomic_long nr_tasks;
};

static struct search search;

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 12;
}

/* A ring, so that all hangs together, and random edges. */
static void make_graph(int nr_nodes, unsigned seed)
{
	struct search *s = &search;
	int i, j, to;

	s->nr_nodes = nr_nodes;
	memset(s->nr_edges, 0, sizeof(s->nr_edges));
	for (i = 0; i < nr_nodes; i++) {
		s->edge[i][s->nr_edges[i]++] = (short)((i + 1) % nr_nodes);
		for (j = 1; j < NR_NEIGHBOURS; j++) {
			to = (int)(next_random(&seed) % (unsigned)nr_nodes);
			s->edge[i][s->nr_edges[i]++] = (short)to;
		}
	}
}

static int visit(struct lkdf_ctx *c, void *arg)
{
	struct search *s = &search;
	int node = *(int *)arg, i, to;

	atomic_fetch_add(&s->nr_tasks, 1);
	if (atomic_exchange(&s->mark[node], 1))
		return 0;
	atomic_fetch_add(&s->nr_marked, 1);
	for (i = 0; i < s->nr_edges[node]; i++) {
		to = s->edge[node][i];
		if (!atomic_load(&s->mark[to]))
			must(lkdf_spawn(c, s->kind, &to));
	}
	return lkdf_join(c);
}

static void a_search_ends(struct lkdf *rt, int nr_nodes, unsigned seed,
			  int prio)
{
	struct search *s = &search;
	int start = 0, i;

	make_graph(nr_nodes, seed);
	for (i = 0; i < nr_nodes; i++)
		atomic_store(&s->mark[i], 0);
	atomic_store(&s->nr_marked, 0);
	atomic_store(&s->nr_tasks, 0);
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "visit", .fn = visit,
				   .arg_size = sizeof(int),
				   .prio = (int8_t)prio),
			      &s->kind));
	is(api_call(rt, s->kind, &start), 0, "a search of %d nodes ends",
	   nr_nodes);
	is(s->nr_marked, nr_nodes, "each was found once, by %ld tasks",
	   atomic_load(&s->nr_tasks));
	lkdf_kind_put(s->kind);
}

/* ---- deep --------------------------------------------------------------- */

#define DEPTH 20000
#define DEPTH_BELOW 100000 /* that no stack holds */

static struct lkdf_kind *deep;
static atomic_int nr_deep, has_why;
static char why[512];
static long refused_at; /* bytes of stack */
static _Thread_local char *top; /* the highest frame */

static int go_down(struct lkdf_ctx *c, void *arg)
{
	char *here = __builtin_frame_address(0);
	int left = *(int *)arg - 1, rc;

	if (here > top)
		top = here;
	atomic_fetch_add(&nr_deep, 1);
	if (!left)
		return 0;
	must(lkdf_spawn(c, deep, &left));
	rc = lkdf_join(c);
	if (rc && !atomic_exchange(&has_why, 1)) {
		snprintf(why, sizeof(why), "%s", lkdf_errmsg());
		refused_at = top - here;
	}
	return rc;
}

static int how_deep(struct lkdf *rt, int depth)
{
	int rc;

	deep = api_kind(rt, "deep", go_down, sizeof(int), 0);
	atomic_store(&nr_deep, 0);
	rc = api_call(rt, deep, &depth);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(deep);
	return rc;
}

/* A stack that is large enough holds them, another one is never overrun. */
__attribute__((unused)) static void
joins_are_bounded_by_the_stack(int nr_workers)
{
	char options[64];
	struct lkdf *rt;
	int rc;

	snprintf(options, sizeof(options),
		 "workers=%d,stack_kib=262144,log=none", nr_workers);
	rt = api_open(options);
	is(how_deep(rt, DEPTH), 0, "%d joins in each other end", DEPTH);
	is(nr_deep, DEPTH, "all of them");
	must(lkdf_close(rt));

	snprintf(options, sizeof(options), "workers=%d,stack_kib=512,log=none",
		 nr_workers);
	rt = api_open(options);
	rc = how_deep(rt, DEPTH_BELOW);
	is(rc, -EOVERFLOW, "a stack of 512 KiB does not hold %d", DEPTH_BELOW);
	is(nr_deep, DEPTH_BELOW, "which all run");
	ok(strstr(why, "512 KiB"), "which is said (%s)", why);
	ok(labs(refused_at - (384 << 10)) < 16 << 10,
	   "a quarter of it is left then (%ld bytes are used)", refused_at);
	is(how_deep(rt, 50), 0, "fewer are fine afterwards");
	must(lkdf_close(rt));

	snprintf(options, sizeof(options), "workers=%d,log=none", nr_workers);
	rt = api_open(options);
	rc = how_deep(rt, DEPTH);
	ok(!rc || rc == -EOVERFLOW, "the usual stack is not overrun (%d)", rc);
	must(lkdf_close(rt));
}

/* In serial mode the stack is ours. */
__attribute__((unused)) static void serial_joins_are_bounded(void)
{
	struct lkdf *rt = api_open("serial=1,log=none");
	int rc = how_deep(rt, DEPTH);

	ok(!rc || rc == -EOVERFLOW, "nor is this thread's (%d)", rc);
	is(how_deep(rt, 50), 0, "which goes on");
	must(lkdf_close(rt));
}

int main(void)
{
	struct lkdf *rt;
	unsigned seed;
	size_t i;

	tap_start(150);
	for (i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++) {
		printf("# %s\n", runtimes[i]);
		rt = api_open(runtimes[i]);
		for (seed = 1; seed <= 2; seed++) {
			a_search_ends(rt, 100, seed, LKDF_NORMAL);
			a_search_ends(rt, 400, seed, LKDF_HIGH);
			a_search_ends(rt, 1000, seed, LKDF_NORMAL);
		}
		is(lkdf_close(rt), 0, "the runtime closes");
	}
#ifdef __SANITIZE_THREAD__
	skip("joins are bounded by the stack",
	     "the thread sanitizer has room for 65,536 frames");
#else
	joins_are_bounded_by_the_stack(1);
	joins_are_bounded_by_the_stack(2);
	serial_joins_are_bounded();
#endif
	return tap_end();
}
