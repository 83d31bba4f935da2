/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/parallel_for.h"

#include "base/err.h"
#include "base/thrown.h"
#include "core/ops.h"
#include "data/place.h"
#include "scope/event.h"
#include "scope/scope.h"
#include "task/ctx.h"
#include "task/gate.h"
#include "task/kind.h"
#include "task/loop_crew.h"
#include "task/loop_traced.h"
#include "task/task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A block costs some 50 ns besides its iterations. */
#define BLOCK_NS 5000

/* Pieces a worker that are cut off at once. */
#define PIECES 4

/*
 * A loop of so many iterations may run some before it is cut: even if one is
 * long, that is little of the whole. How many workers there are says nothing
 * about how long an iteration is.
 */
#define PROBE_FROM 64

#define ORDER_MOST_PIECES 4096

/*
 * Some blocks, to see how long they are: a short loop is done then. How long
 * they took.
 */
static uint64_t probe_grain(struct loop *l, const struct lkdf_scope *s,
			    struct piece *p)
{
	uint64_t ticks = 0;

	p->block = 1;
	while (l->probes && p->begin < p->end && ticks < l->block_ticks &&
	       loop_goes_on(l, s, p))
		ticks += loop_run_block(l, p);
	return ticks;
}

/* ---- pieces ------------------------------------------------------------- */

uint64_t loop_middle(const struct piece *p)
{
	uint64_t grain = p->loop->grain;
	uint64_t units = (p->end - p->begin - 1) / grain + 1;

	return p->begin + (units + 1) / 2 * grain;
}

/* The upper half becomes a child. False: no memory. */
static bool halve_range(struct lkdf_ctx *c, struct piece *p)
{
	struct piece upper = *p;

	upper.begin = loop_middle(p);
	if (task_spawn(c, p->loop->kind, &upper))
		return false;
	p->end = upper.begin;
	return true;
}

/* Thieves find nothing here, and there is enough for two. */
static bool should_halve(const struct lkdf_ctx *c, const struct piece *p)
{
	return (p->end - p->begin) / 2 > p->block && c->ex->worker &&
	       !deque_has_public(&c->ex->worker->deque[CLASS_NORMAL]);
}

/*
 * Children that are private cannot be taken while a block runs: it may be long,
 * unless all were short so far. A large piece has too many to wait for.
 */
static void offer_half(const struct lkdf_ctx *c, const struct loop *l,
		       bool is_large)
{
	struct worker *w = c->ex->worker;

	if (w && deque_has_private(&w->deque[CLASS_NORMAL]) &&
	    (is_large || a_load(&l->nr_short, relaxed) < SAMPLES))
		worker_offer(w, false, 0);
}

void loop_run_piece(struct lkdf_ctx *c, const struct lkdf_scope *s,
		    struct piece *p)
{
	struct loop *l = p->loop;
	bool has_memory = true, is_large = p->end - p->begin > l->large;

	if (!p->block)
		probe_grain(l, s, p);
	while (has_memory && p->end - p->begin > l->coarse &&
	       loop_goes_on(l, s, p))
		has_memory = halve_range(c, p);
	offer_half(c, l, is_large);
	while (p->begin < p->end && loop_goes_on(l, s, p)) {
		if (has_memory && should_halve(c, p))
			has_memory = halve_range(c, p);
		loop_run_block(l, p);
	}
}

static bool take_block(struct loop *l, int worker)
{
	/* Relaxed: who takes is all that counts. */
	return !a_xchg(&l->is_taken[worker], 1, relaxed);
}

/* The worker's own part, or that of one of its node that is busy. */
static int take_part(struct loop *l, const struct executor *ex)
{
	int i;

	if (ex->id < l->rt->nr_regular && take_block(l, ex->id))
		return ex->id;
	for (i = 0; i < l->rt->nr_regular; i++)
		if (l->rt->executors[i].node == ex->node && take_block(l, i))
			return i;
	return -1;
}

static void run_static(struct lkdf_ctx *c, const struct lkdf_scope *s,
		       struct piece *p)
{
	struct loop *l = p->loop;
	uint64_t all = (uint64_t)l->rt->nr_regular, part;
	int worker = take_part(l, c->ex);

	check(worker >= 0);
	part = (uint64_t)worker;
	p->begin = loop_share(l, part, all);
	p->end = loop_share(l, part + 1, all);
	p->block = l->range.grain ? l->grain : p->end - p->begin;
	while (p->begin < p->end && loop_goes_on(l, s, p))
		loop_run_block(l, p);
}

static int piece_body(struct lkdf_ctx *c, void *arg)
{
	struct piece *p = arg;
	struct loop_place before;

	loop_enter(&before, p->loop, c->task);
	if (p->loop->is_static)
		run_static(c, c->task->scope, p);
	else
		loop_run_piece(c, c->task->scope, p);
	loop_leave(&before);
	return 0;
}

/* ---- from begin to end -------------------------------------------------- */

/* Made by the first loop, it stays until close. */
static int get_kind(struct lkdf *rt, struct lkdf_kind **out)
{
	static const struct lkdf_kind_attr attr = {
		.size = sizeof(attr),
		.name = "for",
		.fn = piece_body,
		.arg_size = sizeof(struct piece),
	};
	static const struct kind_ops loop_kinds = { .told = LKDF_KIND_IS_LOOP };
	struct lkdf_kind *k = NULL;
	int rc = 0;

	pthread_mutex_lock(&rt->lock);
	*out = rt->loop_kind;
	pthread_mutex_unlock(&rt->lock);
	if (*out)
		return 0;
	rc = kind_create_sort(rt, &loop_kinds, &attr, &k);
	if (rc)
		return rc;
	gate_force(k);
	pthread_mutex_lock(&rt->lock);
	if (!rt->loop_kind) {
		rt->loop_kind = k;
		k = NULL;
	}
	*out = rt->loop_kind;
	pthread_mutex_unlock(&rt->lock);
	kind_put(k);
	return 0;
}

void loop_close(struct lkdf *rt)
{
	kind_put(rt->loop_kind);
	rt->loop_kind = NULL;
}

/*
 * By a seed: nothing that the clock decides, and each block is a task of its
 * own. As often one iteration each as half of all, and no end of tasks.
 */
static void cut_by_seed(struct loop *l, struct order *o, uint64_t nr)
{
	uint64_t most = max_u64(nr >> order_below(o, 8), 1);

	if (l->rt->check) {
		/* A part for each worker would be one block. */
		l->is_auto |= l->is_static && !l->range.grain;
		l->is_static = false;
		most = 1;
	}
	if (!l->is_auto)
		return;
	l->grain = max_u64(1 + order_below(o, most), nr / ORDER_MOST_PIECES);
	l->coarse = l->grain;
	l->is_auto = l->probes = false;
}

int loop_start(struct loop *l)
{
	const struct sched *s = &l->rt->sched;
	uint64_t nr = l->range.end - l->range.begin;
	uint64_t workers = (uint64_t)s->nr_regular;

	l->grain = l->range.grain ? l->range.grain : 1;
	l->is_auto = !l->range.grain && !l->is_static;
	l->block_ticks = BLOCK_NS * s->ticks_per_1024ns / 1024 + 1;
	l->large = max_u64(nr / (PIECES * workers), 1);
	l->coarse = l->is_auto ? l->large : l->grain;
	l->probes = l->is_auto && nr >= PROBE_FROM;
	if (unlikely(l->rt->sched.order.is_on) && nr)
		cut_by_seed(l, &l->rt->sched.order, nr);
	l->rest_ticks = HUGE_VAL;
	a_store(&l->nr_short, 0, relaxed);
	a_store(&l->error, 0, relaxed);
	if (unlikely(trace_is_recording(&l->rt->trace)))
		loop_traced_open(l);
	return get_kind(l->rt, &l->kind);
}

struct piece loop_first_piece(struct loop *l, uint64_t begin, uint64_t end)
{
	return (struct piece){ .loop = l,
			       .begin = begin,
			       .end = end,
			       .block = l->is_auto ? 0 : l->grain };
}

/* Tasks that are to be started, each with a copy of its piece. */
struct batch {
	struct lkdf_task *task;
	struct piece *piece;
	int nr;
};

static int batch_create(struct batch *b, int nr)
{
	b->nr = nr;
	b->task = calloc((size_t)nr, sizeof(*b->task));
	b->piece = calloc((size_t)nr, sizeof(*b->piece));
	if (b->task && b->piece)
		return 0;
	return err(-ENOMEM, "for: no memory for %d pieces", nr);
}

static void batch_destroy(struct batch *b)
{
	free(b->task);
	free(b->piece);
}

static void batch_set(struct batch *b, int i, struct loop *l, int node)
{
	b->task[i].size = sizeof(b->task[i]);
	b->task[i].kind = l->kind;
	b->task[i].arg = &b->piece[i];
	if (node >= 0)
		b->task[i].place = &l->rt->places[node];
	if (l->is_static)
		b->task[i].flags = LKDF_PINNED;
}

/* A piece for each part, or for each worker that has one. */
static int batch_fill(struct batch *b, struct loop *l)
{
	struct part *part = NULL;
	int i, rc, nr = l->rt->nr_regular;

	if (!l->is_static) {
		nr = loop_parts(l, &part);
		if (nr < 0)
			return nr;
	}
	rc = batch_create(b, nr);
	for (i = 0; i < nr && !rc; i++) {
		if (part)
			b->piece[i] =
				loop_first_piece(l, part[i].begin, part[i].end);
		else
			b->piece[i] = loop_first_piece(l, 0, 0);
		batch_set(b, i, l,
			  part ? part[i].node : l->rt->executors[i].node);
	}
	free(part);
	return rc;
}

int loop_result(struct loop *l, int rc)
{
	int error = a_load(&l->error, relaxed);

	if (!error)
		return rc;
	return err(error, "%s %llu to %llu: %s", l->what,
		   (unsigned long long)l->bad_begin,
		   (unsigned long long)(l->bad_end - 1), strerror(-error));
}

int loop_submit_piece(struct loop *l, struct lkdf_scope *s, struct piece *p,
		      struct lkdf_event *done)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = l->kind, .arg = p };

	return task_submit(l->rt, s, &t, done);
}

static int submit_all(struct loop *l, struct lkdf_scope *s,
		      struct lkdf_event *done)
{
	struct batch b = { .task = NULL };
	int rc = batch_fill(&b, l);

	if (!rc)
		rc = task_submit_many(l->rt, s, b.task, (unsigned)b.nr, done);
	batch_destroy(&b);
	return rc;
}

bool loop_is_gated(const struct loop *l)
{
	return a_load(&l->kind->slow, relaxed) & SLOW_GATED;
}

bool loop_is_of_one_node(const struct loop *l)
{
	return l->rt->sched.nr_worker_nodes == 1;
}

void loop_probe(struct loop *l, const struct lkdf_scope *s, struct piece *p)
{
	uint64_t first = p->begin, ticks;

	if (!l->probes)
		return;
	ticks = probe_grain(l, s, p);
	if (p->begin != first)
		l->rest_ticks = (double)ticks / (double)(p->begin - first) *
				(double)(p->end - p->begin);
}

/*
 * The first blocks, and all others with a crew if there is one. True: they are
 * done, or the loop is over. In serial mode what blocks submit would run inside
 * them. Nor at a gate, whose tokens are for tasks of workers.
 */
static bool run_here(struct loop *l, struct executor *ex, struct piece *p)
{
	struct loop_place before;
	bool is_done;

	THROWN_ENDS_HERE;
	if (l->rt->sched.is_serial || loop_is_gated(l))
		return false;
	loop_enter(&before, l, NULL);
	if (!l->is_static)
		loop_probe(l, l->scope, p);
	is_done = p->begin == p->end || !loop_goes_on(l, l->scope, p) ||
		  crew_runs_loop(l, ex, p);
	loop_leave(&before);
	return is_done;
}

int loop_may_begin(const struct loop *l)
{
	int rc = scope_cancelled(l->scope);

	return rc ? err(-ECANCELED, "for: scope \"%s\" is cancelled: %s",
			l->scope->name, strerror(-rc))
		  : 0;
}

static int run_outside(struct loop *l)
{
	struct lkdf_scope *s = l->scope;
	struct piece p = loop_first_piece(l, l->range.begin, l->range.end);
	struct lkdf_event done;
	int rc = loop_may_begin(l);

	if (rc)
		return rc;
	if (loop_is_of_one_node(l) && run_here(l, runtime_executor(l->rt), &p))
		return loop_result(l, 0);
	if (loop_is_of_one_node(l) && !l->is_static)
		rc = loop_submit_piece(l, s, &p, &done);
	else
		rc = submit_all(l, s, &done);
	return rc ? rc : loop_result(l, event_wait_as(done, -1, "lkdf_for"));
}

/* The body takes part itself where it need not send pieces to nodes. */
static int spawn_pieces(struct loop *l, struct lkdf_ctx *c, struct piece *p)
{
	struct batch b = { .task = NULL };
	struct loop_place before;
	int i, rc = 0;

	if (loop_is_gated(l) && loop_is_of_one_node(l) && !l->is_static)
		return task_spawn(c, l->kind, p);
	if (loop_is_of_one_node(l) && !l->is_static) {
		loop_enter(&before, l, c->task);
		loop_run_piece(c, l->scope, p);
		loop_leave(&before);
		return 0;
	}
	rc = batch_fill(&b, l);
	for (i = 0; i < b.nr && !rc; i++)
		rc = task_spawn_with(c, &b.task[i], NULL);
	if (rc)
		a_store(&l->error, rc, relaxed);
	batch_destroy(&b);
	return rc;
}

static int run_inside(struct loop *l, struct lkdf_ctx *c)
{
	struct piece p = loop_first_piece(l, l->range.begin, l->range.end);
	struct failure *f;
	int rc = 0, joined;

	if (!loop_is_of_one_node(l) || !run_here(l, c->ex, &p))
		rc = spawn_pieces(l, c, &p);
	joined = task_join_told(c, &f);
	/* Else the caller is told of another error. */
	if (!rc && !a_load(&l->error, relaxed))
		failure_observe(f);
	failure_put(f, &l->rt->log);
	return rc ? rc : loop_result(l, joined);
}

static int prepare_pieces(struct loop *l)
{
	int rc = loop_start(l);

	if (rc || !l->is_static)
		return rc;
	l->is_taken = calloc((size_t)l->rt->nr_regular, sizeof(*l->is_taken));
	if (!l->is_taken)
		return err(-ENOMEM, "for: no memory for %d parts",
			   l->rt->nr_workers);
	return 0;
}

int loop_run(struct loop *l)
{
	uint64_t id = hooks_loop_begin(&l->rt->hooks, l->label, l->range.begin,
				       l->range.end);
	int rc = prepare_pieces(l);

	if (!rc)
		rc = run_outside(l);
	free((void *)l->is_taken);
	hooks_loop_end(&l->rt->hooks, id);
	return rc;
}

int loop_run_in(struct loop *l, struct lkdf_ctx *c)
{
	uint64_t id = hooks_loop_begin(&l->rt->hooks, l->label, l->range.begin,
				       l->range.end);
	int rc = task_may_join(c);

	if (!rc)
		rc = prepare_pieces(l);
	if (!rc)
		rc = run_inside(l, c);
	free((void *)l->is_taken);
	hooks_loop_end(&l->rt->hooks, id);
	return rc;
}
