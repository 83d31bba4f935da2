/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The life of a worker: run what there is, else look for work near and far
 * with a pace, then sleep.
 */
#include "sched/worker.h"

#include "base/clock.h"
#include "sched/sched.h"

bool worker_pop_class(struct worker *w, uint64_t *item)
{
	unsigned mask = w->other_classes | 1u << CLASS_NORMAL;
	enum sched_class level;

	while (mask) {
		level = policy_class(mask, w->nr_picks);
		if (deque_pop(&w->deque[level], item))
			return true;
		mask &= ~(1u << level);
		w->other_classes &= mask;
	}
	return false;
}

void worker_has_woken(struct worker *w)
{
	counter_add(w->executor->counters, COUNTER_WAKES, 1);
	trace_event(w->executor->ring, EVENT_WAKE, 0, 0);
}

/* Shares every class that has private work and nothing public. */
static bool share_all(struct worker *w)
{
	unsigned mask = w->other_classes | 1u << CLASS_NORMAL;
	bool is_public = false;
	struct deque *d;
	int level;

	for (level = 0; level < NR_CLASSES; level++) {
		if (!(mask & 1u << level))
			continue;
		d = &w->deque[level];
		if (deque_has_private(d) && !deque_has_public(d))
			deque_share(d);
		is_public |= deque_has_public(d);
	}
	return is_public;
}

/*
 * WANT stays set while anybody sleeps: sleepers cannot ask again. Once all
 * are awake the next spinner asks for itself.
 */
void worker_offer(struct worker *w, bool is_short, uint64_t body_ticks)
{
	struct sched *s = w->sched;
	uint64_t word;

	if (!share_all(w))
		return;
	/* [park.b] the share before this look; pairs with [park.c]. */
	word = a_load(&s->park.word, seq_cst);
	if (!park_sleepers(word)) {
		w->behind_ticks = 0;
		a_and(&w->attn, ~ATTN_WANT, relaxed);
		return;
	}
	w->behind_ticks += body_ticks;
	if (park_spinners(word) ||
	    !policy_wake_now(w->behind_ticks, s->wake_ticks, is_short))
		return;
	w->behind_ticks = 0;
	if (park_wake(&s->park))
		worker_has_woken(w);
}

void worker_put_off(struct worker *w)
{
	w->is_wanted = true;
	a_and(&w->attn, ~ATTN_WANT, relaxed);
}

void worker_recall(struct worker *w)
{
	w->is_wanted = false;
	a_or(&w->attn, ATTN_WANT, relaxed);
}

bool worker_take_inbox(struct worker *w, struct sched_node *node)
{
	struct link *link = inbox_take_all(&node->inbox), *next;

	if (!link)
		return false;
	for (; link; link = next) {
		next = a_load(&link->next, relaxed);
		if (!worker_push(w, (enum sched_class)link->class,
				 link_item(link)))
			inbox_push(&node->inbox, link);
	}
	return true;
}

/* Asks a busy victim to share; only a store if nobody has asked yet. */
static void want(struct worker *victim)
{
	if (!(a_load(&victim->attn, relaxed) & ATTN_WANT))
		a_or(&victim->attn, ATTN_WANT, relaxed);
}

/*
 * An only item may be one that its owner is about to take: a body that spawns
 * its successor and ends. Robbing it moves a chain from worker to worker. One
 * that still lies there after a few looks is worth it.
 */
static bool is_left(struct deque *d)
{
	uint64_t span = a_load(&d->span, relaxed);
	int i;

	if (span_split(span) - span_tail(span) != 1)
		return true;
	for (i = 0; i < 4; i++) {
		if (!deque_has_public(d))
			return false;
		a_delay();
	}
	return true;
}

static bool steal_from(struct worker *w, int i, uint64_t *item)
{
	struct worker *victim = &w->sched->workers[w->victims[i]];
	bool is_near = i < w->nr_near;
	enum deque_result rc;
	int level;

	for (level = NR_CLASSES - 1; level >= 0; level--) {
		if (!is_left(&victim->deque[level]))
			continue;
		do {
			rc = deque_steal(&victim->deque[level], item);
		} while (rc == DEQUE_LOST && level == CLASS_URGENT);
		if (rc == DEQUE_TAKEN) {
			counter_add(w->executor->counters,
				    is_near ? COUNTER_STEALS_NEAR
					    : COUNTER_STEALS_FAR,
				    1);
			trace_event(w->executor->ring, EVENT_STEAL,
				    (uint32_t)victim->id, !is_near);
			return true;
		}
	}
	want(victim);
	return false;
}

/* One round over inboxes and victims; far ones only if asked to. */
static bool look_once(struct worker *w, bool far, uint64_t *item)
{
	struct sched *s = w->sched;
	int nr = far ? s->nr_workers - 1 : w->nr_near, i;

	if (worker_take_inbox(w, w->node) && worker_pop(w, item))
		return true;
	for (i = 0; i < nr; i++) {
		if (steal_from(w, i, item))
			return true;
	}
	for (i = 0; far && i < s->nr_nodes; i++) {
		if (worker_take_inbox(w, &s->nodes[i]) && worker_pop(w, item))
			return true;
	}
	return false;
}

/* After we have said that we sleep: is anything public left anywhere? */
static bool anything_public(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t span;
	int i, level;

	for (i = 0; i < s->nr_nodes; i++) {
		if (!inbox_is_empty(&s->nodes[i].inbox))
			return true;
	}
	for (i = 0; i < s->nr_workers; i++) {
		for (level = 0; level < NR_CLASSES; level++) {
			/* [park.d] after park_announce(); pairs with
			 * [deque.share]. */
			span = a_load(&s->workers[i].deque[level].span,
				      seq_cst);
			if (span_tail(span) != span_split(span))
				return true;
		}
	}
	return false;
}

static bool is_stopping(struct worker *w)
{
	/* [sched.stopping] after we said that we sleep; pairs with
	 * [sched.stop]. */
	return a_load(&w->sched->is_stopping, seq_cst) != 0;
}

/* Spinner on entry and on return. */
static void sleep_once(struct worker *w)
{
	struct sched *s = w->sched;
	int i;

	for (i = 0; i < s->nr_workers - 1; i++)
		want(&s->workers[w->victims[i]]);
	park_announce(&s->park);
	if (anything_public(w) || is_stopping(w)) {
		park_retract(&s->park);
		return;
	}
	counter_add(w->executor->counters, COUNTER_PARKS, 1);
	trace_event(w->executor->ring, EVENT_PARK, 0, 0);
	park_sleep(&s->park, -1);
	trace_event(w->executor->ring, EVENT_UNPARK, 0, 0);
}

/* Spins for the window, a pause between any two looks. True: an item. */
static bool spin(struct worker *w, uint64_t *item)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks(), idle = 0;

	do {
		if (look_once(w,
			      w->nr_near == 0 ||
				      policy_steal_far(idle, s->spin_ticks),
			      item))
			return true;
		a_pause();
		idle = clock_ticks() - start;
	} while (idle < s->spin_ticks && !is_stopping(w));
	return look_once(w, true, item);
}

/* Looks for work, sleeping if there is none. False: the runtime stops. */
static bool find(struct worker *w, uint64_t *item)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks(), ns;
	bool found;

	park_spin(&s->park);
	while (!(found = spin(w, item)) && !is_stopping(w))
		sleep_once(w);
	ns = (clock_ticks() - start) * 1024 / s->ticks_per_1024ns;
	counter_add(w->executor->counters, COUNTER_IDLE_NS, ns);
	/* On our way here we may have taken the token of one that sleeps on. */
	if (!found)
		park_wake_all(&s->park);
	/* The woken wakes the next, if there is more than it took. */
	if (park_found(&s->park) && found && anything_public(w) &&
	    park_wake(&s->park))
		worker_has_woken(w);
	return found;
}

void worker_drain(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t item;
	int i;

	for (;;) {
		for (i = 0; i < s->nr_nodes; i++)
			worker_take_inbox(w, &s->nodes[i]);
		if (!worker_pop(w, &item))
			return;
		s->ops.run(w, item);
	}
}

void worker_run(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t item;

	for (;;) {
		worker_take_inbox(w, w->node);
		if (!worker_pop(w, &item) && !find(w, &item))
			return;
		s->ops.run(w, item);
	}
}
