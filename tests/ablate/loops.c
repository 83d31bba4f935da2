/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * loops NAME NR: the hot loop of that name does NR items, for a count of
 * instructions. Two calls with different numbers tell what an item is; in
 * serial mode they repeat.
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_TASKS 1000 /* of a graph */

static struct lkdf *rt;
static struct lkdf_kind *kind;
static int nr_left;

static void must(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "loops: %s (%d)\n", lkdf_errmsg(), rc);
	exit(1);
}

static int do_nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* Once more, or out of the loop. */
static int go_round(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return --nr_left > 0 ? 0 : 1;
}

static int spawn_all(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	while (nr_left--)
		must(lkdf_spawn(c, kind, NULL));
	return lkdf_join(c);
}

static struct lkdf_kind *make_kind(const char *name, lkdf_fn fn)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = name, .fn = fn };
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt, &a, &k));
	return k;
}

static void run_graph(struct lkdf_graph *g, int times)
{
	struct lkdf_event done;

	while (times--) {
		must(lkdf_graph_run(g, NULL, NULL, &done));
		must(lkdf_event_wait(done, -1));
	}
	lkdf_graph_put(g);
}

/* Each task has two predecessors. */
static void run_tasks(const struct lkdf_graph_attr *a, struct lkdf_kind *k,
		      int nr)
{
	struct lkdf_graph *g;
	int i;

	must(lkdf_graph_create(rt, a, &g));
	for (i = 0; i < NR_TASKS; i++) {
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		if (i > 1)
			must(lkdf_graph_order(g, i - 2, i));
		if (i > 2)
			must(lkdf_graph_order(g, i - 3, i));
	}
	must(lkdf_graph_seal(g, NULL));
	run_graph(g, nr / NR_TASKS);
}

static void do_plain(int nr)
{
	run_tasks(NULL, kind, nr);
}

/* Two runs may overlap, and no task of a kind like this one overlaps itself. */
static void do_tokens(int nr)
{
	struct lkdf_graph_attr a = { .size = sizeof(a), .inflight = 2 };

	run_tasks(&a, kind, nr);
}

static void do_control(int nr)
{
	struct lkdf_kind *k = make_kind("round", go_round);
	struct lkdf_graph *g;

	nr_left = nr;
	must(lkdf_graph_create(rt, NULL, &g));
	must(lkdf_graph_add(g, kind, NULL, NULL, 0));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_add(g, kind, NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_back(g, 1, 0, 0));
	must(lkdf_graph_branch(g, 1, 1, 2));
	must(lkdf_graph_seal(g, NULL));
	run_graph(g, 1);
	lkdf_kind_put(k);
}

static void submit_one(struct lkdf_kind *k)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = k };

	must(lkdf_submit(rt, NULL, &t, NULL));
}

static void do_spawn(int nr)
{
	struct lkdf_kind *k = make_kind("spawn", spawn_all);

	nr_left = nr;
	submit_one(k);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
}

static void do_submit(int nr)
{
	while (nr--)
		submit_one(kind);
	must(lkdf_scope_wait(rt, NULL, -1));
}

static const struct {
	const char *name;
	void (*run)(int nr);
} loops[] = {
	{ "plain", do_plain },	   { "tokens", do_tokens },
	{ "control", do_control }, { "spawn", do_spawn },
	{ "submit", do_submit },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 3)
		return 2;
	must(lkdf_open(NULL, &rt));
	kind = make_kind("nothing", do_nothing);
	for (i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		if (!strcmp(loops[i].name, argv[1]))
			loops[i].run(atoi(argv[2]));
	lkdf_kind_put(kind);
	must(lkdf_close(rt));
	return 0;
}
