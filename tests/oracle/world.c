/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/world.h"

#include "tests/oracle/outcome.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_WRONG 8
#define SETTLE_S 10

const char *const world_counters[NR_COUNTED] = { "lkdf.tasks", "lkdf.runs",
						 "lkdf.failed", "lkdf.skipped",
						 "lkdf.cancelled" };

static struct world *now;

static struct {
	pthread_mutex_t lock;
	char text[4096];
	uint32_t nr;
} report = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct world *world_now(void)
{
	return now;
}

void wrong(struct world *w, const char *fmt, ...)
{
	char line[256];
	size_t used;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&report.lock);
	used = strlen(report.text);
	if (report.nr++ < MAX_WRONG)
		snprintf(report.text + used, sizeof(report.text) - used,
			 "# %s\n", line);
	pthread_mutex_unlock(&report.lock);
	if (w)
		atomic_fetch_add(&w->nr_wrong, 1);
}

const char *wrong_text(void)
{
	return report.text;
}

void wrong_reset(void)
{
	report.nr = 0;
	report.text[0] = '\0';
}

static bool next_rep(void *u)
{
	struct run *run = u;

	run->rep++;
	return false;
}

static void *zeroed(size_t nr, size_t size)
{
	void *p = calloc(nr + 1, size);

	if (!p)
		abort();
	return p;
}

static void must(struct world *w, const char *what, int rc)
{
	if (rc < 0)
		wrong(w, "%s: %d %s", what, rc, lkdf_errmsg());
}

static void make_kind(struct world *w, uint32_t i)
{
	const struct p_kind *k = &w->p->kind[i];
	struct lkdf_limit_use use[MAX_LIMITS];
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "node",
		.fn = body_run,
		.arg_size = k->arg_size,
		.flags = (k->is_shared ? LKDF_SHARED : 0) |
			 (k->is_blocking ? LKDF_BLOCKING : 0),
		.width = k->width,
		.prio = (int8_t)k->prio,
		.drop = k->has_drop ? body_drop : NULL,
		.nr_limit = k->nr_limits,
		.limit = use,
	};
	uint32_t l;

	for (l = 0; l < k->nr_limits; l++) {
		use[l].limit = w->limit[k->limit[l].limit];
		use[l].tokens = k->limit[l].tokens;
	}
	must(w, "kind", lkdf_kind_create(w->rt, &a, &w->kind[i]));
}

static void make_kinds(struct world *w)
{
	uint32_t i;

	for (i = 0; i < w->p->nr_limits; i++)
		must(w, "limit",
		     lkdf_limit_create(w->rt, w->p->limit[i], &w->limit[i]));
	for (i = 0; i < w->p->nr_kinds; i++)
		make_kind(w, i);
	for (i = 0; i < w->p->nr_limits; i++)
		lkdf_limit_put(w->limit[i]);
	must(w, "kind",
	     lkdf_kind_create(w->rt,
			      ATTR(lkdf_kind_attr, .name = "signal",
				   .fn = body_signal),
			      &w->signal_kind));
}

struct lkdf_place *world_place(const struct world *w, const struct node *n)
{
	return n->place ? w->place[n->place % w->nr_places] : NULL;
}

uint32_t world_task_flags(const struct node *n)
{
	return n->place && n->is_pinned ? LKDF_PINNED : 0;
}

/* Of a node with so many workers, from first on; of one: both are the node. */
static void find_halves(struct world *w, int node, int first, int nr)
{
	int i, at;

	for (i = 0; i < 2; i++) {
		at = w->nr_places++;
		w->first[at] = first + i * nr / 2;
		w->end[at] = nr == 1 ? first + 1 : first + (i + 1) * nr / 2;
		if (nr == 1)
			w->first[at] = first;
		must(w, "part",
		     lkdf_place_part(w->place[node], (unsigned)i, 2,
				     &w->place[at]));
	}
}

/* The first worker of a node, as options.rst says of the option workers. */
static int first_worker(int node, int nr_nodes, int nr_workers)
{
	return (node * nr_workers + nr_nodes - 1) / nr_nodes;
}

/* With one worker there is one node. */
static void find_places(struct world *w)
{
	int nr = lkdf_places(w->rt, LKDF_PLACE_NODE, w->place, MAX_NODES), i;

	if (nr < 1 || nr > MAX_NODES)
		wrong(w, "places: %d %s", nr, lkdf_errmsg());
	nr = w->nr_workers == 1 ? 1 : nr;
	w->nr_places = w->nr_nodes = nr;
	w->nr_substitutes =
		w->nr_workers ? lkdf_nr_workers(w->rt) - w->nr_workers : 0;
	for (i = 0; i < nr; i++) {
		w->first[i] = first_worker(i, nr, w->nr_workers);
		w->end[i] = first_worker(i + 1, nr, w->nr_workers);
	}
	for (i = 0; i < nr && w->nr_workers; i++)
		find_halves(w, i, w->first[i], w->end[i] - w->first[i]);
}

static bool is_of_place(const struct world *w, int worker, int place)
{
	return worker >= w->first[place] && worker < w->end[place];
}

/* A substitute has the node of another worker, and no part of a node. */
bool world_may_run(const struct world *w, int worker, int place)
{
	int i = worker - w->nr_workers, node;

	if (i < 0 || i >= w->nr_substitutes)
		return is_of_place(w, worker, place);
	node = 0;
	while (!is_of_place(w, i * w->nr_workers / w->nr_substitutes, node))
		node++;
	return w->first[place] == w->first[node] &&
	       w->end[place] == w->end[node];
}

static void add_task(struct world *w, uint32_t i)
{
	const struct node *n = &w->p->node[i];
	uint32_t id = ID_OF_GRAPH << ID_NODE_BITS | i, b;
	struct lkdf_kind *k = w->kind[n->kind];
	uint8_t copy[256];
	void *arg = copy;
	int rc;

	memcpy(copy, &id, sizeof(id));
	for (b = sizeof(id); b < sizeof(copy); b++)
		copy[b] = (uint8_t)(id * 31 + b * 7);
	if (!w->p->kind[n->kind].arg_size) {
		w->id[i] = id;
		arg = &w->id[i];
	}
	rc = n->prio || n->place
		     ? lkdf_graph_add_task(w->graph,
					   ATTR(lkdf_task, .kind = k,
						.arg = arg, .prio = n->prio,
						.place = world_place(w, n),
						.flags = world_task_flags(n)))
		     : lkdf_graph_add(w->graph, k, arg, NULL, 0);
	if (rc != (int)i)
		wrong(w, "add of task %u: %d %s", i, rc, lkdf_errmsg());
}

static void make_graph(struct world *w)
{
	const struct program *p = w->p;
	uint32_t i;

	must(w, "graph",
	     lkdf_graph_create(w->rt,
			       ATTR(lkdf_graph_attr, .inflight = p->inflight),
			       &w->graph));
	for (i = 0; i < p->nr_tasks; i++)
		add_task(w, i);
	for (i = 0; i < p->nr_edges; i++)
		must(w, "order",
		     lkdf_graph_order(w->graph, (int32_t)p->edge[2 * i],
				      (int32_t)p->edge[2 * i + 1]));
	must(w, "seal", lkdf_graph_seal(w->graph, NULL));
}

static void make_scopes(struct world *w)
{
	struct lkdf_scope_attr a = { .size = sizeof(a) };

	if (w->p->is_nested) {
		must(w, "scope", lkdf_scope_create(w->rt, &a, &w->outer));
		a.parent = w->outer;
	}
	must(w, "scope", lkdf_scope_create(w->rt, &a, &w->scope));
}

/* What the counters have grown by, if called twice. */
static void count(struct world *w)
{
	uint64_t now_at;
	uint32_t i;

	for (i = 0; i < NR_COUNTED; i++) {
		now_at = 0;
		must(w, "stat", lkdf_stat(w->rt, world_counters[i], &now_at));
		w->counted[i] = now_at - w->counted[i];
	}
}

/*
 * Calls of bodies are counted after they return: their number may lag behind,
 * but comes to what the bodies themselves have counted, and stays there.
 */
static void settle(struct world *w)
{
	uint64_t before = w->counted[0], nr = atomic_load(&w->nr_calls), at = 0;
	time_t end = time(NULL) + SETTLE_S;

	while (!lkdf_stat(w->rt, world_counters[0], &at) && at - before < nr &&
	       time(NULL) < end)
		sched_yield();
	count(w);
	if (w->counted[0] != nr)
		wrong(w, "call of %llu bodies, the counter says %llu",
		      (unsigned long long)nr,
		      (unsigned long long)w->counted[0]);
}

static void world_init(struct world *w, struct lkdf *rt, int nr_workers,
		       const struct program *p)
{
	const struct call *c;
	uint32_t i;

	memset(w, 0, sizeof(*w));
	w->p = p;
	w->rt = rt;
	w->is_serial = !nr_workers;
	w->nr_workers = nr_workers;
	find_places(w);
	w->id = zeroed(p->nr_tasks, sizeof(*w->id));
	w->last_turn = zeroed(p->nr_tasks, sizeof(*w->last_turn));
	w->nr_active = zeroed(p->nr_tasks, sizeof(*w->nr_active));
	w->nr_drops = zeroed(p->nr_tasks, sizeof(*w->nr_drops));
	for (i = 0; i < p->nr_calls; i++) {
		c = &p->call[i];
		w->run[i].cell = zeroed(c->times * call_nr_cells(p, c),
					sizeof(struct cell));
		w->run[i].id = zeroed(call_nr_cells(p, c), sizeof(uint32_t));
		model_run(p, i, &w->run[i].expect);
	}
	count(w);
	make_kinds(w);
	make_graph(w);
	make_scopes(w);
}

static void world_free(struct world *w)
{
	uint32_t i;

	for (i = 0; i < w->p->nr_calls; i++) {
		free(w->run[i].cell);
		free(w->run[i].id);
		free(w->run[i].expect.result);
	}
	free(w->id);
	free(w->last_turn);
	free((void *)w->nr_active);
	free((void *)w->nr_drops);
}

static int start_submit(struct world *w, uint32_t i, struct lkdf_event *done)
{
	const struct call *call = &w->p->call[i];
	const struct node *n = &w->p->node[call->first];
	uint32_t id = i << ID_NODE_BITS | call->first, b;
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = w->kind[n->kind],
		.prio = n->prio,
		.place = world_place(w, n),
		.flags = world_task_flags(n),
	};
	uint8_t copy[256];

	memcpy(copy, &id, sizeof(id));
	for (b = sizeof(id); b < sizeof(copy); b++)
		copy[b] = (uint8_t)(id * 31 + b * 7);
	t.arg = copy;
	if (!w->p->kind[n->kind].arg_size) {
		w->run[i].id[0] = id;
		t.arg = w->run[i].id;
	}
	return lkdf_submit(w->rt, w->scope, &t, done);
}

static int start_graph(struct world *w, uint32_t i, struct lkdf_event *done)
{
	const struct call *call = &w->p->call[i];
	struct lkdf_run r = { .size = sizeof(r), .arg = &w->run[i] };
	int rc;

	if (call->times > 1) {
		r.times = call->times;
		r.until = next_rep;
		r.u = &w->run[i];
	}
	r.flags = call->no_wait ? LKDF_RUN_NOWAIT : 0;
	for (;;) {
		rc = lkdf_graph_run(w->graph, w->scope, &r, done);
		if (rc != -EAGAIN || !call->no_wait)
			return rc;
		sched_yield();
	}
}

static void start_call(struct world *w, uint32_t i)
{
	const struct call *call = &w->p->call[i];
	struct run *run = &w->run[i];
	struct lkdf_event *done = call->has_done ? &run->done : NULL;

	run->start_rc = call->is_submit ? start_submit(w, i, done)
					: start_graph(w, i, done);
	if (run->start_rc &&
	    !(run->start_rc == -ECANCELED && w->p->cancels && !call->phase))
		wrong(w, "call %u: %d %s", i, run->start_rc, lkdf_errmsg());
	run->has_event = done && !run->start_rc;
	if (!run->has_event || !call->waits_at_once)
		return;
	check_run_error(w, i, lkdf_event_wait(run->done, -1));
	run->has_event = false;
}

struct caller {
	struct world *w;
	uint32_t thread;
};

static void *caller_main(void *arg)
{
	struct caller *me = arg;
	uint32_t i;

	for (i = 0; i < me->w->p->nr_calls; i++) {
		if (me->w->p->call[i].phase == me->w->phase &&
		    me->w->p->call[i].thread == me->thread)
			start_call(me->w, i);
	}
	return NULL;
}

static void make_calls(struct world *w)
{
	struct caller caller[MAX_THREADS];
	pthread_t thread[MAX_THREADS];
	uint32_t i;

	for (i = 0; i < w->p->nr_threads; i++) {
		caller[i] = (struct caller){ w, i };
		if (i &&
		    pthread_create(&thread[i], NULL, caller_main, &caller[i]))
			abort();
	}
	caller_main(&caller[0]);
	for (i = 1; i < w->p->nr_threads; i++)
		pthread_join(thread[i], NULL);
}

/* Graphs and tasks keep those they need. */
static void put_kinds(struct world *w)
{
	uint32_t i;

	for (i = 0; i < w->p->nr_kinds; i++) {
		lkdf_kind_put(w->kind[i]);
		w->kind[i] = NULL;
	}
}

static void run_phase(struct world *w, uint32_t phase)
{
	uint32_t i;
	int rc;

	w->phase = phase;
	make_calls(w);
	if (phase == w->p->nr_phases - 1 && !w->p->has_children)
		put_kinds(w);
	rc = lkdf_scope_wait(w->rt, w->scope, -1);
	check_scope(w, phase, rc);
	if (w->outer)
		lkdf_scope_wait(w->rt, w->outer, -1);
	for (i = 0; i < w->p->nr_calls; i++) {
		if (w->p->call[i].phase == phase && w->run[i].has_event)
			check_run_event(w, i);
	}
	check_phase(w, phase);
}

bool world_try(struct lkdf *rt, int nr_workers, const struct program *p,
	       struct outcome *o)
{
	struct world w;
	uint32_t i;

	now = &w;
	world_init(&w, rt, nr_workers, p);
	for (i = 0; i < p->nr_phases; i++)
		run_phase(&w, i);
	lkdf_graph_put(w.graph);
	lkdf_scope_put(w.scope);
	lkdf_scope_put(w.outer);
	lkdf_scope_wait(rt, NULL, -1);
	check_drops(&w);
	settle(&w);
	put_kinds(&w);
	lkdf_kind_put(w.signal_kind);
	if (o && !atomic_load(&w.nr_wrong))
		outcome_take(&w, o);
	world_free(&w);
	return atomic_load(&w.nr_wrong) == 0;
}
