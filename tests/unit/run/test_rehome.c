/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A block moves to the node that has taken two of its last three tasks from a
 * late home, and moves back when that home takes one of the next two; after two
 * of these it stays. Two tasks, each pinned to a node, say in turn that they
 * take the next task of the block, of a frame whose run has ended.
 */
#include "run/rehome.h"

#include "core/runtime.h"
#include "graph/graph.h"
#include "policy/history.h"
#include "run/planned.h"
#include "task/ctx.h"
#include "tests/api/api.h"

#include <semaphore.h>

#define BLOCK_BYTES 65536
#define LATE_BYTES ((int64_t)1 << 30)
#define LATE_TASKS 1000

/* Who takes the next task, and where the block is then. */
struct step {
	int taker, home;
	unsigned nr_undone;
	const char *what;
};

static const struct step steps[] = {
	{ 1, 0, 0, "one task is taken: the block stays" },
	{ 1, 1, 0, "the second in a row: it moves" },
	{ 1, 1, 0, "one at its new home" },
	{ 0, 0, 1, "the next by its old home: it moves back" },
	{ 1, 0, 1, "what was before does not count" },
	{ 0, 0, 1, "nor does a task at home" },
	{ 1, 1, 1, "two of three: it moves" },
	{ 1, 1, 1, "one at its new home" },
	{ 1, 1, 1, "two: that has paid" },
	{ 0, 1, 1, "its old home may take one later" },
	{ 0, 0, 1, "and two of three as anybody" },
	{ 1, 1, 2, "taken back at once: that is the second" },
	{ 0, 1, 2, "from then on" },
	{ 0, 1, 2, "it stays" },
	{ 0, 1, 2, "wherever its tasks run" },
};

#define NR_STEPS (sizeof(steps) / sizeof(steps[0]))

static struct {
	struct lkdf *rt;
	struct lkdf_graph *g;
	struct frame *frame;
	sem_t turn[2];
	int home[NR_STEPS];
	unsigned nr_undone[NR_STEPS];
	bool is_elsewhere; /* a body ran on the wrong node */
} job;

/* The home of the block is late, the other node is not. */
static void make_late(int node, int64_t sign)
{
	load_add(&job.rt->sched.nodes[node].load, sign * LATE_BYTES,
		 sign * LATE_TASKS);
}

static void take_step(struct lkdf_ctx *c, unsigned i)
{
	struct planned *p = job.g->planned;
	int home = a_load(&p->home[0], relaxed);

	make_late(home, 1);
	rehome(c->ex, job.frame, 0);
	make_late(home, -1);
	job.home[i] = a_load(&p->home[0], relaxed);
	job.nr_undone[i] = a_load(&p->nr_undone, relaxed);
}

static int body(struct lkdf_ctx *c, void *arg)
{
	if (!*(int *)arg)
		job.frame = c->frame;
	return 0;
}

static int take_turns(struct lkdf_ctx *c, void *arg)
{
	int node = *(int *)arg;
	unsigned i;

	if (c->ex->node != node)
		job.is_elsewhere = true;
	/* As if there had been many runs: a move is worth it. */
	a_store(&job.g->planned->nr_runs, 1000, relaxed);
	for (i = 0; i < NR_STEPS; i++) {
		if (steps[i].taker != node)
			continue;
		while (sem_wait(&job.turn[node]))
			continue;
		take_step(c, i);
		if (i + 1 < NR_STEPS)
			sem_post(&job.turn[steps[i + 1].taker]);
	}
	return 0;
}

/* Two blocks, each written on a node of its own. */
static void seal_two(struct lkdf_kind *k)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = BLOCK_BYTES };
	struct lkdf_use use = { .mode = LKDF_WRITE };
	struct lkdf_data *d;
	int i;

	job.g = api_graph(job.rt, 1);
	for (i = 0; i < 2; i++) {
		a.home = lkdf_place_node(job.rt, i);
		lkdf_data_create(job.rt, &a, &d);
		use.data = d;
		lkdf_graph_add(job.g, k, &i, &use, 1);
		lkdf_data_put(d);
	}
	is(lkdf_graph_seal(job.g, NULL), 0, "the graph seals");
}

static void check_steps(void)
{
	struct lkdf_kind *k =
		api_kind(job.rt, "turns", take_turns, sizeof(int), 0);
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = k,
			       .flags = LKDF_PINNED };
	uint64_t moves = 0, back = 0;
	unsigned i;
	int node;

	sem_init(&job.turn[0], 0, 0);
	sem_init(&job.turn[1], 0, 0);
	sem_post(&job.turn[steps[0].taker]);
	is(api_run(job.g, NULL, NULL), 0, "it runs");
	for (node = 0; node < 2; node++) {
		t.place = lkdf_place_node(job.rt, node);
		t.arg = &node;
		lkdf_submit(job.rt, NULL, &t, NULL);
	}
	is(lkdf_scope_wait(job.rt, NULL, -1), 0, "all turns are taken");
	ok(!job.is_elsewhere, "each on its node");
	lkdf_kind_put(k);
	for (i = 0; i < NR_STEPS; i++)
		ok(job.home[i] == steps[i].home &&
			   job.nr_undone[i] == steps[i].nr_undone,
		   "%s (node %d, %u undone)", steps[i].what, job.home[i],
		   job.nr_undone[i]);
	is(lkdf_stat(job.rt, "lkdf.data.rehomed", &moves), 0, "moves are");
	is(lkdf_stat(job.rt, "lkdf.data.rehomed_back", &back), 0, "counted");
	is(moves, 5, "five in all");
	is(back, 2, "two of them back");
	sem_destroy(&job.turn[0]);
	sem_destroy(&job.turn[1]);
}

int main(void)
{
	struct lkdf_kind *k;

	tap_start(60);
	job.rt = api_open("workers=2,topology=\"numa:2 core:1\",far_steals=no,"
			  "solo_runs=no,static_runs=0");
	k = api_kind(job.rt, "body", body, sizeof(int), LKDF_SHARED);
	seal_two(k);
	check_steps();
	lkdf_graph_put(job.g);
	lkdf_kind_put(k);
	is(lkdf_close(job.rt), 0, "the runtime closes");
	return tap_end();
}
