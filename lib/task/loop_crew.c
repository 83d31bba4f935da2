/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/loop_crew.h"

#include "base/futex.h"
#include "core/completion.h"
#include "core/item.h"
#include "core/waits.h"
#include "mechanism/client/client.h"
#include "mechanism/crew/crew.h"
#include "mechanism/due/due.h"
#include "sched/nap.h"
#include "sched/notify.h"
#include "scope/deadline.h"
#include "task/ctx.h"
#include "task/kind.h"

#include <stdlib.h>

/* Looks for members that go, before this thread sleeps: some microseconds. */
#define SPINS 200

/*
 * The calling thread is no worker, so it leaves the parts of a static loop to
 * them, unless for so long no worker was idle.
 */
#define BUSY_NS 1000000
#define LOOK_NS 100000 /* and looks so often */

/* An idle worker runs it to take part; see link_call. */
struct turn {
	_Alignas(LINK_ALIGN) struct link_call call;
	struct crew *crew;
	uint32_t seat;
};

/* A loop under way. On the caller's stack, gone when the crew is out. */
struct shift {
	struct loop *loop;
	struct piece rest; /* begin and end of all units, and the first block */
	uint64_t unit; /* iterations */
	uint32_t nr_units;
};

/* ---- units -------------------------------------------------------------- */

/* So many that they fit into 32 bits. */
static void cut_units(struct shift *x)
{
	uint64_t nr = x->rest.end - x->rest.begin, units;

	/* Not looked at yet: a block is one iteration at first. */
	x->rest.block = max_u64(x->rest.block, 1);
	if (x->loop->is_static) {
		x->nr_units = (uint32_t)x->loop->rt->nr_regular;
		return;
	}
	units = (nr - 1) / x->loop->grain + 1;
	x->unit = (units / UINT32_MAX + 1) * x->loop->grain;
	x->nr_units = (uint32_t)((nr - 1) / x->unit + 1);
}

static void set_piece(const struct shift *x, struct piece *p, uint32_t begin,
		      uint32_t nr)
{
	uint64_t all = x->nr_units;

	if (x->loop->is_static) {
		p->begin = loop_share(x->loop, begin, all);
		p->end = loop_share(x->loop, begin + 1, all);
		p->block = x->loop->range.grain ? x->loop->grain
						: p->end - p->begin;
		return;
	}
	p->begin = x->rest.begin + begin * x->unit;
	p->end = begin + nr == all ? x->rest.end : p->begin + nr * x->unit;
}

/* Units of a block; static: a part. */
static uint32_t block_units(const struct shift *x, const struct piece *p)
{
	uint64_t nr = x->loop->is_auto ? p->block / x->unit : 1;

	return (uint32_t)min_u64(max_u64(nr, 1), x->nr_units);
}

/* ---- members and the leader --------------------------------------------- */

static bool has_failed(const struct loop *l)
{
	return a_load(&l->error, relaxed) != 0;
}

/* Until no seat has any unit left. */
static void work_seat(const struct shift *x, struct crew *c, uint32_t seat)
{
	struct piece p = x->rest;
	struct loop *l = x->loop;
	uint32_t begin, nr;

	do {
		while (!has_failed(l) &&
		       (nr = crew_take(c, seat, block_units(x, &p), &begin))) {
			set_piece(x, &p, begin, nr);
			while (p.begin < p.end && loop_goes_on(l, l->scope, &p))
				loop_run_block(l, &p);
		}
	} while (!has_failed(l) && crew_steal(c, seat, block_units(x, &p)));
}

/* A tree: each wakes up to four. */
static void wake_some(struct crew *c, struct sched_node *n, struct lkdf *rt,
		      struct executor *ex)
{
	uint32_t nr = crew_take_wakes(c, POLICY_TREE);

	if (!nr)
		return;
	/* [park.b] after the crew is open; pairs with [park.c]. */
	nr += park_spinners(a_load(&n->park.word, seq_cst));
	for (nr = park_wake_some(&n->park, nr, POLICY_TREE); nr; nr--)
		runtime_has_woken(rt, ex);
}

/* ---- workers ------------------------------------------------------------ */

static int member_body(struct lkdf_ctx *ctx, void *arg)
{
	const struct turn *t = arg;
	const struct shift *x = plain_load(&t->crew->work);
	struct loop_place before;

	(void)ctx;
	loop_enter(&before, x->loop, NULL);
	work_seat(x, t->crew, t->seat);
	loop_leave(&before);
	return 0;
}

/* As a body of the kind of pieces: so it is seen and watched. */
static void call_member(struct executor *ex, struct turn *t,
			struct lkdf_kind *k)
{
	struct lkdf_ctx ctx = { .ex = ex };

	kind_call(k, &ctx, member_body, t);
}

static void take_turn(struct executor *ex, struct link_call *call)
{
	struct turn *t = container_of(call, struct turn, call);
	struct worker *w = ex->worker;
	const struct shift *x;

	/* A member of a gang may have opened it, and ours comes first. */
	if (due_is(w) || !crew_enter(t->crew, t->seat))
		return;
	x = plain_load(&t->crew->work);
	wake_some(t->crew, w->node, ex->rt, ex);
	call_member(ex, t, x->loop->kind);
	crew_leave(t->crew, t->seat);
	worker_look_soon(w);
}

/* ---- the crew of a node ------------------------------------------------- */

static struct crew *create_crew(int nr_workers)
{
	struct crew *c = crew_create((uint32_t)nr_workers);
	struct turn *turn;
	int i;

	if (!c)
		return NULL;
	turn = aligned_alloc(LINK_ALIGN, (size_t)nr_workers * sizeof(*turn));
	if (!turn) {
		crew_destroy(c);
		return NULL;
	}
	for (i = 0; i < nr_workers; i++) {
		turn[i] = (struct turn){ .call.run = take_turn,
					 .call.link.type = LINK_CALL,
					 .call.link.class = CLASS_NORMAL,
					 .crew = c,
					 .seat = (uint32_t)i };
		c->seat[i].item = link_item(&turn[i].call.link);
	}
	c->items = turn;
	return c;
}

/* Made by the first loop, it stays until close. NULL: no memory. */
static struct crew *crew_of(struct lkdf *rt, struct sched_node *n)
{
	/* [crew.node] seats of a new one; pairs with itself. */
	struct crew *c = a_load(&crew_at(n)->crew, acquire);

	if (likely(c != NULL))
		return c;
	pthread_mutex_lock(&rt->lock);
	c = a_load(&crew_at(n)->crew, relaxed);
	if (!c) {
		c = create_crew(rt->nr_workers);
		/* [crew.node] pairs with itself. */
		a_store(&crew_at(n)->crew, c, release);
	}
	pthread_mutex_unlock(&rt->lock);
	return c;
}

/* ---- the leader --------------------------------------------------------- */

/*
 * Its seat: a worker's own; outside that of the worker on this CPU, who would
 * only be in the way, or else the last one.
 */
static uint32_t find_seat(const struct loop *l, const struct executor *ex)
{
	const struct sched *s = &l->rt->sched;
	int i, cpu;

	if (ex && ex->worker)
		return (uint32_t)ex->id;
	cpu = s->is_pinned && !l->is_static ? sched_getcpu() : -1;
	for (i = 0; cpu >= 0 && i < s->nr_workers; i++)
		if (s->workers[i].cpu == cpu)
			return (uint32_t)i;
	return (uint32_t)s->nr_workers;
}

/* Wake-ups that are worth it: besides those who spin, and by what is left. */
static int32_t count_wakes(const struct shift *x, uint32_t spin)
{
	const struct sched *s = &x->loop->rt->sched;
	uint64_t most = min_u64(x->nr_units - 1, (uint64_t)s->nr_workers);

	if (x->loop->rest_ticks < (double)(4 * s->wake_ticks))
		return 0;
	return most > spin ? (int32_t)(most - spin) : 0;
}

/*
 * A spinner that went to sleep before the crew was open has not seen it: spin
 * is how many were counted on.
 */
static void count_gone(const struct shift *x, struct crew *c,
		       struct sched_node *n, uint32_t spin)
{
	/* [park.b] after the crew is open; pairs with [park.c]. */
	uint32_t now = park_spinners(a_load(&n->park.word, seq_cst));

	if (now < spin)
		a_add(&c->nr_wakes, count_wakes(x, now) - count_wakes(x, spin),
		      relaxed);
}

static bool someone_idles(struct sched *s)
{
	return notify_has_spinner(s) || notify_has_sleeper(s);
}

/* The parts are their workers'; what is left when nobody comes is ours. */
static void lead_static(const struct shift *x, struct crew *c, uint32_t seat)
{
	struct sched *s = &x->loop->rt->sched;
	int64_t now = clock_now_ns(), seen = now;
	int spins = 0;

	while (a_load(&c->state, relaxed) == CREW_OPEN &&
	       loop_goes_on(x->loop, x->loop->scope, &x->rest)) {
		if (++spins < SPINS) {
			a_pause();
			continue;
		}
		now = clock_now_ns();
		if (someone_idles(s)) {
			seen = now;
		} else if (now - seen > BUSY_NS) {
			work_seat(x, c, seat);
			return;
		}
		client_waits(s);
		crew_is_awaited(c);
		futex_wait(&c->is_waited, 1, LOOK_NS);
	}
}

static void wait_for_members(struct lkdf *rt, struct crew *c,
			     struct executor *ex)
{
	struct worker *w = ex ? ex->worker : NULL;
	int64_t nap_ns = 0;
	uint64_t begin;
	int i;

	for (i = 0; i < SPINS; i++) {
		if (crew_is_out(c))
			return;
		a_pause();
	}
	begin = wait_begins(rt);
	while (!crew_is_out(c)) {
		if (w && completion_poll(w))
			continue;
		crew_is_awaited(c);
		if (crew_is_out(c))
			break;
		if (w)
			futex_wait(&c->is_waited, 1, nap_join(&nap_ns));
		else
			deadline_sleep(rt, &c->is_waited, 1, -1);
	}
	wait_ended(rt, "lkdf_for", begin);
}

/* The last seat with a share. Static: one part each, none for substitutes. */
static uint32_t last_seat(const struct loop *l, bool is_outside)
{
	const struct sched *s = &l->rt->sched;

	if (l->is_static)
		return (uint32_t)s->nr_regular - 1;
	return (uint32_t)(is_outside ? s->nr_workers : s->nr_workers - 1);
}

bool crew_runs_loop(struct loop *l, struct executor *ex, const struct piece *p)
{
	struct shift x = { .loop = l, .rest = *p };
	bool is_outside = !ex || !ex->worker;
	struct sched *s = &l->rt->sched;
	struct sched_node *n = &s->nodes[s->nodes[0].near[0]];
	uint32_t seat, spin, last = (uint32_t)s->nr_workers;
	struct crew *c;

	if (s->nr_workers == 1 || loop_is_gated(l) || !someone_idles(s))
		return false;
	c = crew_of(l->rt, n);
	if (!c || !crew_claim(c))
		return false;
	if (is_outside)
		client_comes(s);
	cut_units(&x);
	seat = find_seat(l, ex);
	crew_deal(c, x.nr_units, last_seat(x.loop, seat == last));
	spin = park_spinners(a_load(&n->park.word, relaxed));
	a_store(&c->nr_wakes, count_wakes(&x, spin), relaxed);
	crew_open(c, seat, &x);
	count_gone(&x, c, n, spin);
	wake_some(c, n, l->rt, ex);
	if (is_outside && l->is_static)
		lead_static(&x, c, seat);
	else
		work_seat(&x, c, seat);
	crew_close(c);
	wait_for_members(l->rt, c, ex);
	crew_free(c);
	return true;
}
