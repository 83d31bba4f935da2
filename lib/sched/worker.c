/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The life of a worker: run what there is and let others have some of it, else
 * look for work (idle.c).
 */
#include "sched/worker.h"

#include "base/clock.h"
#include "sched/idle.h"
#include "sched/intake.h"
#include "sched/joiner.h"
#include "sched/notify.h"
#include "sched/phase.h"
#include "sched/sched.h"
#include "sched/steal_request.h"
#include "sched/tick.h"
#include "trace/counters.h"

/* They are empty: others need not look there until the next push. */
static void clear_marks(struct worker *w, unsigned mask)
{
	a_store(&w->other_classes, a_load(&w->other_classes, relaxed) & mask,
		relaxed);
}

bool worker_pop_class(struct worker *w, uint64_t *item)
{
	unsigned mask = worker_deques(w), from;

	while (mask) {
		from = policy_deque(mask, w->looks.nr_picks);
		check(mask & 1u << from);
		if (unlikely(from == DEQUE_PART)
			    ? w->sched->calls.pop(w, item)
			    : deque_pop(&w->deque[from], item))
			return true;
		mask &= ~(1u << from);
		clear_marks(w, mask);
	}
	return false;
}

void worker_has_woken(struct worker *w)
{
	struct counters *c = w->executor->counters;

	counter_add(c, COUNTER_WAKES, 1);
	counter_add(c, COUNTER_WAKE_DEPTH,
		    wake_depth_give(&w->sched->wakes, w->idle.wake_link, 1));
	trace_event(w->executor->ring, EVENT_WAKE, 0, 0);
}

/*
 * Is all of it shared? Thieves who come for what is private would ask in vain
 * until the body ends. Else half, where nothing is public.
 */
static bool share_deque(struct worker *w, struct deque *d, bool is_all)
{
	bool is_new = !deque_has_public(d);

	if (!deque_has_private(d))
		return false;
	if (is_all)
		joiner_share_all(w, d);
	else if (is_new)
		joiner_share(w, d);
	return is_new;
}

/*
 * Shares every deque. A bit for each that has public work now; *is_new: one
 * had none before.
 */
static unsigned share_all(struct worker *w, bool is_all, bool *is_new)
{
	unsigned mask = worker_deques(w), shared = 0;
	unsigned i;

	for (i = 0; i < NR_DEQUES; i++) {
		if (!(mask & 1u << i))
			continue;
		*is_new |= share_deque(w, &w->deque[i], is_all);
		if (deque_has_public(&w->deque[i]))
			shared |= 1u << i;
	}
	return shared;
}

void worker_notify(struct worker *w, unsigned shared)
{
	struct sched *s = w->sched;
	bool has_woken = false;

	if (unlikely(shared & 1u << DEQUE_BOUND))
		has_woken = notify_bound(w->node);
	if (!has_woken && shared & ~(1u << DEQUE_BOUND))
		has_woken = notify_any(s, w->node);
	if (has_woken)
		worker_has_woken(w);
}

void worker_share(struct worker *w, unsigned deque)
{
	check(deque < NR_DEQUES);
	joiner_share(w, &w->deque[deque]);
	worker_notify(w, 1u << deque);
}

void worker_share_deque(struct worker *w, unsigned deque)
{
	check(deque < NR_DEQUES);
	joiner_share_all(w, &w->deque[deque]);
	worker_notify(w, 1u << deque);
}

bool worker_pop_old(struct worker *w, uint64_t *item)
{
	uint32_t turn = ++w->looks.nr_looks / OLD_EVERY, i;
	struct deque *d;

	if (w->looks.nr_looks % OLD_EVERY || w->sched->is_serial)
		return false;
	for (i = 0; i < NR_DEQUES; i++) {
		d = &w->deque[(turn + i) % NR_DEQUES];
		/* Nobody is told: it is gone at once, to us or to a thief. */
		if (!deque_has_public(d) && deque_has_private(d))
			deque_share_some(d, 1);
		if (deque_steal(d, item) == DEQUE_TAKEN)
			return true;
	}
	return false;
}

/* By the clock where it can be: a kind that was short may be so no more. */
static void count_behind(struct worker *w, uint64_t body_ticks)
{
	uint64_t now = clock_ticks();

	w->offers.behind_ticks +=
		w->offers.offered_at ? now - w->offers.offered_at : body_ticks;
	w->offers.offered_at = now;
}

/*
 * Nobody sleeps. While others spin, a worker of many ready tasks goes on
 * sharing them, and need not be asked each time. True: there is nobody to tell.
 */
static bool is_answered(struct worker *w, bool is_all)
{
	if (notify_has_sleeper(w->sched))
		return false;
	if (is_all && notify_has_spinner(w->sched))
		return true;
	return steal_request_clear(w);
}

/*
 * Somebody idle has asked, and the next body begins before work that stays
 * private: as long as bodies of its kind take, others do not see that work.
 */
static void count_hidden(struct worker *w, uint64_t body_ticks)
{
	struct sched *s = w->sched;

	if (deque_has_private(&w->deque[CLASS_NORMAL]) && worker_has_request(w))
		counter_add(w->executor->counters, COUNTER_HIDDEN_NS,
			    sched_ns(s, body_ticks));
}

void worker_offer(struct worker *w, bool is_short, uint64_t body_ticks)
{
	struct sched *s = w->sched;
	bool is_new = false, is_all;
	unsigned shared;

	/* There is nobody else. */
	if (unlikely(worker_is_alone(w)))
		return;
	if (unlikely(s->calls.keeps(w)) && s->calls.answers(w, is_short))
		return;
	is_all =
		policy_share_all(body_ticks, s->share_ticks,
				 deque_size(&w->deque[CLASS_NORMAL]), is_short);
	shared = share_all(w, is_all, &is_new);
	if (!is_all)
		count_hidden(w, body_ticks);
	/* Old news are told, and nobody has asked since. */
	if (!shared || (!is_new && !worker_has_request(w)))
		return;
	if (is_answered(w, is_all && is_short)) {
		w->offers.behind_ticks = w->offers.offered_at = 0;
		return;
	}
	count_behind(w, body_ticks);
	if (!policy_wake_now(w->offers.behind_ticks, s->wake_ticks, is_short) &&
	    s->calls.is_watched(s))
		return;
	if (!(shared & 1u << DEQUE_BOUND) && !load_is_planned(&w->node->load) &&
	    notify_has_spinner(s))
		return;
	w->offers.behind_ticks = w->offers.offered_at = 0;
	worker_notify(w, shared);
}

void worker_show_made(struct worker *w)
{
	bool is_new = false;
	unsigned shared;

	if (worker_is_alone(w))
		return;
	shared = share_all(w, false, &is_new);
	if (is_new)
		worker_notify(w, shared);
}

void worker_be_watched(struct worker *w)
{
	w->sched->calls.watch(w);
}

void worker_share_all(struct worker *w)
{
	bool is_new = false;
	unsigned shared;

	if (worker_is_alone(w))
		return;
	shared = share_all(w, true, &is_new);
	if (shared)
		worker_notify(w, shared);
}

void worker_defer_request(struct worker *w)
{
	w->offers.has_deferred = true;
	w->offers.offered_at = 0;
	a_and(&w->attn, ~ATTN_STEAL, relaxed);
}

/* Sees to it that one item is public while the worker keeps the others. */
static bool push_shown(struct deque *d, uint64_t item)
{
	if (!deque_push(d, item))
		return false;
	if (!deque_has_public(d))
		deque_share_some(d, 1);
	return true;
}

bool worker_push_deferred(struct worker *w, unsigned deque, uint64_t item)
{
	if (deque == CLASS_NORMAL && w->sched->calls.keeps(w) == KEEPS_ALONE)
		return push_shown(&w->deque[deque], item);
	check(deque < NR_DEQUES);
	w->offers.has_deferred = false;
	a_or(&w->attn, ATTN_STEAL, relaxed);
	return deque_push(&w->deque[deque], item);
}

/* ---- by a seed ---------------------------------------------------------- */

/* The drain ends between two items, one time in so many, though more is ready.
 */
#define ORDER_ENDS 2

static struct deque *order_deque(struct worker *w)
{
	uint64_t nr = 0, at;
	unsigned i;

	for (i = 0; i < NR_DEQUES; i++)
		nr += deque_size(&w->deque[i]);
	if (!nr)
		return NULL;
	at = order_below(&w->sched->order, nr);
	for (i = 0; at >= deque_size(&w->deque[i]); i++)
		at -= deque_size(&w->deque[i]);
	return &w->deque[i];
}

bool worker_shuffle(struct worker *w)
{
	struct deque *d = order_deque(w);

	if (d)
		deque_shuffle(d, order_next(&w->sched->order));
	return d != NULL;
}

static bool order_pick(struct worker *w, uint64_t *item)
{
	struct deque *d = w->sched->order.is_on ? order_deque(w) : NULL;

	if (!d)
		return worker_pop(w, item);
	deque_shuffle(d, order_next(&w->sched->order));
	return deque_pop(d, item);
}

/* Work under way takes real time, with which virtual time goes on. */
static bool order_wait(struct worker *w, int64_t nap_ns)
{
	struct sched *s = w->sched;
	int64_t begin = clock_now_ns();

	if (!s->ops.wait(w, nap_ns))
		return false;
	timers_pass(&s->timers, clock_now_ns() - begin);
	sched_tick(s, w->executor->rt);
	return true;
}

static void run_one(struct worker *w, uint64_t item)
{
	a_store(&w->sched->nr_vain, 0, relaxed);
	w->sched->ops.run_one(w, item);
}

/*
 * Runs one item at a time. After each the thread that drains may go on with
 * what it was about, as if a worker had not come further.
 */
static bool drain_by_seed(struct worker *w, int64_t nap_ns)
{
	struct sched *s = w->sched;
	bool has_moved = nap_ns == 0;
	uint64_t item;
	int i;

	for (;;) {
		for (i = 0; i < s->nr_nodes; i++)
			intake_all(w, &s->nodes[i]);
		if (has_moved && order_once_in(&s->order, ORDER_ENDS))
			return true;
		if (order_pick(w, &item))
			run_one(w, item);
		else if (!order_wait(w, has_moved ? 0 : nap_ns))
			return has_moved && nap_ns;
		has_moved = true;
	}
}

/* ---- one thread --------------------------------------------------------- */

bool worker_run_any(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t item;
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		intake_all(w, &s->nodes[i]);
	if (!order_pick(w, &item))
		return false;
	run_one(w, item);
	return true;
}

bool worker_drain(struct worker *w, int64_t nap_ns)
{
	struct sched *s = w->sched;
	bool has_moved = false;
	uint64_t item;
	int i;

	if (unlikely(s->order.is_on))
		return drain_by_seed(w, nap_ns);
	for (;;) {
		for (i = 0; i < s->nr_nodes; i++)
			intake_all(w, &s->nodes[i]);
		if (worker_pop(w, &item)) {
			a_store(&s->nr_vain, 0, relaxed);
			s->ops.run(w, item);
		} else if (!s->ops.wait(w, has_moved ? 0 : nap_ns)) {
			return has_moved;
		}
		has_moved = true;
	}
}

/* ---- a thread of its own ------------------------------------------------ */

/* A look at what is near, then as an idle worker. False: it stops. */
static bool find_item(struct worker *w, uint64_t *item)
{
	if (w->sched->calls.is_due(w))
		return idle_find(w, item);
	worker_take_home(w);
	return worker_pop(w, item) || idle_find(w, item);
}

void worker_run(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t item;

	for (;;) {
		if (unlikely(s->calls.must_leave(w, false)))
			phase_stand_by(w);
		if (!find_item(w, &item))
			return;
		s->ops.run(w, item);
	}
}
