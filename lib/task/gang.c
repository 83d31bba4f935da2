/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/gang.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/lock_owner.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "data/place.h"
#include "mechanism/client/client.h"
#include "mechanism/due/due.h"
#include "mechanism/lend/lend.h"
#include "mechanism/quota/quota.h"
#include "mem/heap.h"
#include "sched/guest.h"
#include "sched/help.h"
#include "scope/scope.h"
#include "task/ctx.h"
#include "task/gang_kinds.h"
#include "task/traced.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* EMPTY -> TAKEN -> OVER -> EMPTY */
enum seat_state {
	SEAT_EMPTY, /* the worker has not come yet, or has left */
	SEAT_TAKEN, /* it sleeps */
	SEAT_OVER, /* it may go */
};

/* The first error of all members is that of the run. */
static void join_member(struct lkdf_gang *g, struct lkdf_ctx *c)
{
	struct failure *f;
	int rc = task_join_told(c, &f);
	int32_t none = 0;

	if (unlikely(rc && a_cas(&g->error, &none, rc, relaxed, relaxed)))
		failure_observe(f);
	failure_put(f, &g->rt->log);
}

static void free_gang(struct lkdf_gang *g)
{
	gang_free_kinds(g);
	if (g->scope)
		scope_put(g->scope);
	free(g->place);
	free(g->task);
	free(g->arg);
	free((void *)g->seat_state);
	free(g);
}

static void set_seat(_Atomic(uint32_t) *seat, enum seat_state state)
{
	/* [gang.seat] what was done before; pairs with [gang.sit]. */
	a_store(seat, state, release);
	futex_wake(seat, INT_MAX);
}

static void await_seat(_Atomic(uint32_t) *seat, enum seat_state state)
{
	uint32_t now;

	/* [gang.sit] what was done before; pairs with [gang.seat]. */
	while ((now = a_load(seat, acquire)) != state)
		futex_wait(seat, now, -1);
}

static int seat_body(struct lkdf_ctx *c, void *arg)
{
	struct member *m = arg;
	_Atomic(uint32_t) *seat = &m->gang->seat_state[m->num];

	if (!m->num)
		m->gang->c = c;
	set_seat(seat, SEAT_TAKEN);
	await_seat(seat, SEAT_OVER);
	if (!m->num)
		trace_sit(c->ex->ring, lock_owner());
	set_seat(seat, SEAT_EMPTY);
	return 0;
}

/*
 * Notes on which CPU this thread is. If the other one has noted the same CPU it
 * may want it, and a worker that finds nothing to do here gives it way as it
 * does to a client.
 */
static void meet_at(struct lkdf_gang *g, _Atomic(int) *own,
		    const _Atomic(int) *other)
{
	int cpu = sched_getcpu();

	a_store(own, cpu, relaxed);
	if (unlikely(a_load(other, relaxed) == cpu))
		client_comes(&g->rt->sched);
}

/* Its tasks first. Afterwards the gang may be gone. */
static int member_body(struct lkdf_ctx *c, void *arg)
{
	struct member *m = arg;
	struct lkdf_gang *g = m->gang;
	struct sched *s = &g->rt->sched;

	due_set(s, (int)m->num, (int)m->num + 1, 0);
	g->fn(c, m->num, g->u);
	join_member(g, c);
	meet_at(g, &g->member_cpu, &g->first_cpu);
	/* [gang.left] what we did; pairs with [gang.done], and with [help.d].
	 */
	if (a_sub(&g->nr_left, 1, seq_cst) == 1)
		help_call(s, 0, 1);
	return 0;
}

static int find_places(struct lkdf_gang *g)
{
	unsigned i;
	int rc = 0;

	g->place = calloc(g->nr_places, sizeof(*g->place));
	if (!g->place)
		return -ENOMEM;
	for (i = 0; i < g->nr_places && !rc; i++)
		rc = place_worker(g->rt, (int)i, &g->place[i]);
	return rc;
}

static int make_tasks(struct lkdf_gang *g)
{
	unsigned i;
	int rc = find_places(g);

	g->task = calloc(g->nr_places, sizeof(*g->task));
	g->arg = calloc(g->nr_places, sizeof(*g->arg));
	g->seat_state = calloc(g->nr_places, sizeof(*g->seat_state));
	if (rc || !g->task || !g->arg || !g->seat_state)
		return rc ? rc : -ENOMEM;
	for (i = 0; i < g->nr_places; i++) {
		g->arg[i] = (struct member){ .gang = g, .num = i };
		g->task[i] = (struct lkdf_task){ .size = sizeof(*g->task),
						 .kind = g->member,
						 .arg = &g->arg[i],
						 .place = g->place[i],
						 .flags = LKDF_PINNED };
	}
	return 0;
}

/* The worker sleeps from here on. */
static int take_seat(struct lkdf_gang *g, unsigned worker)
{
	struct lkdf_task t = g->task[worker];
	int rc;

	t.kind = g->seat;
	await_seat(&g->seat_state[worker], SEAT_EMPTY);
	a_add(&g->rt->nr_seats, 1, relaxed);
	rc = task_submit(g->rt, g->scope, &t, NULL);
	if (rc) {
		a_sub(&g->rt->nr_seats, 1, relaxed);
		return rc;
	}
	await_seat(&g->seat_state[worker], SEAT_TAKEN);
	lend_seat(&g->rt->sched);
	return 0;
}

static void leave_seat(struct lkdf_gang *g, unsigned worker)
{
	lend_take_back(&g->rt->sched);
	a_sub(&g->rt->nr_seats, 1, relaxed);
	set_seat(&g->seat_state[worker], SEAT_OVER);
}

int gang_create(struct lkdf *rt, struct lkdf_gang **out)
{
	struct lkdf_gang *g = aligned_alloc(CACHE_LINE, sizeof(*g));
	int rc;

	if (!g)
		return -ENOMEM;
	*g = (struct lkdf_gang){ .rt = rt,
				 .first = &rt->sched.workers[0],
				 .first_cpu = -1,
				 .member_cpu = -1,
				 .nr_places = (unsigned)rt->sched.nr_regular,
				 .size = (unsigned)rt->sched.nr_regular };
	rc = scope_create(rt, rt->root, &(struct lkdf_scope_attr){ 0 },
			  &g->scope);
	if (!rc)
		rc = gang_make_seat(g, seat_body);
	if (!rc)
		rc = gang_find_member(g, GANG_FIRST_NAME, member_body);
	if (!rc)
		rc = make_tasks(g);
	if (!rc)
		rc = take_seat(g, 0);
	if (rc)
		free_gang(g);
	else
		*out = g;
	return rc;
}

void gang_destroy(struct lkdf_gang *g)
{
	unsigned i;

	leave_seat(g, 0);
	for (i = g->size; i < g->nr_places; i++)
		leave_seat(g, i);
	scope_wait(g->scope, -1);
	free_gang(g);
}

struct lkdf_gang *gang_of(const struct lkdf_ctx *c)
{
	const struct task *t = c->task;

	if (!t || (t->kind->fn != member_body && t->kind->fn != seat_body))
		return NULL;
	return ((struct member *)t->arg)->gang;
}

/* nr_arrived: members that wait, and above them those that come no more. */
#define DROPPED_SHIFT 16
#define ARRIVED_MASK ((1u << DROPPED_SHIFT) - 1)

static uint32_t nr_accounted(uint32_t word)
{
	return (word & ARRIVED_MASK) + (word >> DROPPED_SHIFT);
}

/* The last member has come: nobody else touches nr_arrived before the round
 * ends. */
static void end_round(struct lkdf_gang *g, uint32_t round, uint32_t word)
{
	a_store(&g->nr_arrived, word & ~ARRIVED_MASK, relaxed);
	/* [gang.next] what all did; pairs with [gang.round] and [help.d]. */
	a_store(&g->round, round + 1, seq_cst);
	help_call(&g->rt->sched, 0, (int)g->nr);
}

void gang_drop(struct lkdf_gang *g)
{
	/* [gang.round] as below. */
	uint32_t round = a_load(&g->round, acquire), word;

	/* [gang.arrive] what we did; pairs with itself. */
	word = a_add(&g->nr_arrived, 1u << DROPPED_SHIFT, acq_rel) +
	       (1u << DROPPED_SHIFT);
	if (word & ARRIVED_MASK && nr_accounted(word) == g->nr)
		end_round(g, round, word);
}

int gang_barrier(struct lkdf_gang *g, struct lkdf_ctx *c)
{
	/* [gang.round] what members did in the last one; pairs with
	 * [gang.next]. */
	uint32_t round = a_load(&g->round, acquire), word;
	int rc = task_join(c);

	/* [gang.arrive] what we did; pairs with itself. */
	word = a_add(&g->nr_arrived, 1, acq_rel) + 1;
	if (nr_accounted(word) < g->nr)
		help_until(c->ex->worker, &g->round, round);
	else
		end_round(g, round, word);
	return rc;
}

/* Members 1 and up, or none. */
static int submit_members(struct lkdf_gang *g)
{
	/* A task alone goes without a group: all or none. */
	if (g->nr == 2)
		return task_submit(g->rt, g->scope, &g->task[1], NULL);
	return task_submit_many(g->rt, g->scope, &g->task[1], g->nr - 1, NULL);
}

static int start_members(struct lkdf_gang *g)
{
	struct sched *s = &g->rt->sched;
	int rc;

	a_store(&g->nr_left, g->nr - 1, relaxed);
	if (g->nr == 1)
		return 0;
	due_set(s, 1, (int)g->nr, 1);
	rc = submit_members(g);
	if (rc)
		due_set(s, 1, (int)g->nr, 0);
	return rc;
}

/* From now on they run what is ready, or leave it to workers. */
static void set_substitutes(struct sched *s, uint32_t is_due)
{
	if (likely(s->nr_workers == s->nr_regular))
		return;
	due_set(s, s->nr_regular, s->nr_workers, is_due);
	quota_stir(quota_in(s));
}

static int first_body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_gang *g = arg;

	g->fn(c, 0, g->u);
	join_member(g, c);
	return 0;
}

/* As a body of the kind that the others are: so it is seen and recorded. */
static void call_first(struct lkdf_gang *g)
{
	struct executor *ex = g->c->ex;
	struct lkdf_kind *k = g->member;
	bool is_traced = a_load(&k->slow, relaxed) & SLOW_TRACED;
	struct lkdf_stats_slice s = { .task = NO_SLICE_TASK };

	if (unlikely(is_traced)) {
		s.number = traced_begin_body(ex, k);
		s.name = k->trace_name;
		s.begin = clock_ticks();
	}
	kind_call(k, g->c, first_body, g);
	if (unlikely(is_traced)) {
		s.end = clock_ticks();
		ex->now = LKDF_UID((uint32_t)ex->id, s.number);
		trace_slice(ex->ring, &s);
		usdt_3(body__end, &k->name[0], ex->now, s.end - s.begin);
	}
}

static void run_first(struct lkdf_gang *g)
{
	uint32_t left;

	call_first(g);
	meet_at(g, &g->first_cpu, &g->member_cpu);
	/* [gang.done] what they did; pairs with [gang.left]. */
	while ((left = a_load(&g->nr_left, acquire)) != 0)
		help_until(g->first, &g->nr_left, left);
}

/* A thread at a time runs the gang or changes its size. */
static int begin_use(struct lkdf_gang *g)
{
	uint32_t is_running = 0;

	/* [gang.begin] as whom the last one left worker 0; pairs with
	 * [gang.end]. */
	if (!a_cas(&g->is_running, &is_running, 1, acquire, relaxed))
		return err(-EBUSY, "gang: another thread runs it");
	return 0;
}

static void end_use(struct lkdf_gang *g)
{
	/* [gang.end] pairs with [gang.begin]. */
	a_store(&g->is_running, 0, release);
}

int gang_name(struct lkdf_gang *g, const char *name)
{
	unsigned i;
	int rc = begin_use(g);

	if (rc)
		return rc;
	rc = gang_find_member(g, name, member_body);
	for (i = 1; i < g->nr_places && !rc; i++)
		g->task[i].kind = g->member;
	end_use(g);
	return rc;
}

int gang_resize(struct lkdf_gang *g, unsigned nr)
{
	int rc = begin_use(g);

	if (rc)
		return rc;
	while (g->size < nr)
		leave_seat(g, g->size++);
	while (g->size > nr && !rc) {
		rc = take_seat(g, g->size - 1);
		g->size -= !rc;
	}
	end_use(g);
	return rc;
}

static int run_members(struct lkdf_gang *g)
{
	struct guest guest;
	int rc;

	guest_enter(&guest, g->first);
	set_substitutes(&g->rt->sched, 1);
	rc = start_members(g);
	if (!rc) {
		run_first(g);
		rc = a_load(&g->error, relaxed);
	}
	set_substitutes(&g->rt->sched, 0);
	guest_leave(&guest, g->first);
	return rc;
}

/* Tools are told whose time is worker 0's from now on. */
static void take_over(struct trace_ring *ring)
{
	if (unlikely(a_load(&ring->tid, relaxed) != lock_owner()))
		trace_sit(ring, lock_owner());
}

int gang_run(struct lkdf_gang *g, unsigned nr, lkdf_gang_fn fn, void *u)
{
	int rc = begin_use(g);

	if (rc)
		return rc;
	if (nr > g->size) {
		rc = err(-EINVAL, "gang_run: %u members: its size is %u", nr,
			 g->size);
	} else {
		g->fn = fn;
		g->u = u;
		g->nr = nr;
		a_store(&g->error, 0, relaxed);
		a_store(&g->nr_arrived, 0, relaxed);
		take_over(g->first->executor->ring);
		rc = run_members(g);
	}
	end_use(g);
	return rc;
}
