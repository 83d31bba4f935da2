/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/timers.h"

void timers_init(struct timers *ts)
{
	a_store(&ts->earliest, TIMERS_NONE, relaxed);
	a_store(&ts->armed, TIMERS_NONE, relaxed);
	a_store(&ts->lock.word, 0, relaxed);
	a_store(&ts->virtual_ns, 0, relaxed);
	ts->root = NULL;
}

void timers_be_virtual(struct timers *ts)
{
	a_store(&ts->virtual_ns, clock_now_ns(), relaxed);
}

void timers_pass(struct timers *ts, int64_t ns)
{
	check(a_load(&ts->virtual_ns, relaxed) && ns >= 0);
	a_add(&ts->virtual_ns, ns, relaxed);
}

/* Two heaps, or NULL, become one: the later root is the other's first child. */
static struct timer *merge_heaps(struct timer *a, struct timer *b)
{
	struct timer *late;

	check(!a || a != b);
	if (!a || !b)
		return a ? a : b;
	late = b;
	if (b->end_ns < a->end_ns) {
		late = a;
		a = b;
	}
	late->next = a->child;
	if (late->next)
		late->next->prev = late;
	late->prev = a;
	a->child = late;
	return a;
}

/* Siblings become one heap: in pairs, then the pairs from the last on. */
static struct timer *merge_all(struct timer *t)
{
	struct timer *pairs = NULL, *next, *second;

	while (t) {
		second = t->next;
		next = second ? second->next : NULL;
		t->next = NULL;
		if (second)
			second->next = NULL;
		t = merge_heaps(t, second);
		t->next = pairs;
		pairs = t;
		t = next;
	}
	for (t = NULL; pairs; pairs = next) {
		next = pairs->next;
		pairs->next = NULL;
		t = merge_heaps(t, pairs);
	}
	return t;
}

static void unlink_child(struct timer *t)
{
	check(t->prev && (t->prev->child == t || t->prev->next == t));
	if (t->prev->child == t)
		t->prev->child = t->next;
	else
		t->prev->next = t->next;
	if (t->next)
		t->next->prev = t->prev;
	t->next = NULL;
}

/* Under lock. */
static void take_out(struct timers *ts, struct timer *t)
{
	struct timer *below = merge_all(t->child);

	lock_assert_held(&ts->lock);
	check(t->is_queued);
	t->child = NULL;
	t->is_queued = false;
	if (t == ts->root) {
		ts->root = below;
	} else {
		unlink_child(t);
		ts->root = merge_heaps(ts->root, below);
	}
}

/* Under lock. */
static void publish_earliest(struct timers *ts)
{
	int64_t earliest = ts->root ? ts->root->end_ns : TIMERS_NONE;

	lock_assert_held(&ts->lock);
	if (a_load(&ts->earliest, relaxed) != earliest)
		/* [timers.a] before we look at armed; pairs with [timers.d]. */
		a_store(&ts->earliest, earliest, seq_cst);
}

bool timers_add(struct timers *ts, struct timer *t)
{
	bool is_first;

	check(!t->is_queued);
	lock_take(&ts->lock);
	t->child = t->next = t->prev = NULL;
	t->is_queued = true;
	ts->root = merge_heaps(ts->root, t);
	is_first = ts->root == t;
	publish_earliest(ts);
	lock_give(&ts->lock);
	return is_first;
}

void timers_del(struct timers *ts, struct timer *t)
{
	lock_take(&ts->lock);
	if (t->is_queued) {
		take_out(ts, t);
		publish_earliest(ts);
	}
	lock_give(&ts->lock);
}

unsigned timers_fire(struct timers *ts)
{
	int64_t now = timers_now(ts);
	struct timer *t;
	unsigned nr = 0;

	lock_take(&ts->lock);
	while (ts->root && ts->root->end_ns <= now) {
		t = ts->root;
		take_out(ts, t);
		check(!ts->root || ts->root->end_ns >= t->end_ns);
		t->fire(t);
		nr++;
	}
	publish_earliest(ts);
	lock_give(&ts->lock);
	return nr;
}

bool timers_need(struct timers *ts)
{
	/* [timers.look] after earliest was written, or we have disarmed; pairs
	 * with [timers.a]. */
	int64_t earliest = a_load(&ts->earliest, seq_cst);

	/* [timers.b] pairs with [timers.disarm]. */
	return earliest < a_load(&ts->armed, seq_cst);
}

int64_t timers_arm(struct timers *ts, int64_t *mine)
{
	/* [timers.d] after park_announce(); pairs with [timers.a]. */
	int64_t earliest = a_load(&ts->earliest, seq_cst), armed, left;

	*mine = TIMERS_NONE;
	if (earliest == TIMERS_NONE)
		return -1;
	do {
		/* [timers.arm] after park_announce(); pairs with
		 * [timers.disarm]. */
		armed = a_load(&ts->armed, seq_cst);
		if (earliest >= armed)
			return -1;
	} while (!a_cas(&ts->armed, &armed, earliest, relaxed, relaxed));
	*mine = earliest;
	left = earliest - timers_now(ts);
	return left > 0 ? left : 0;
}

void timers_disarm(struct timers *ts, int64_t mine)
{
	if (mine != TIMERS_NONE)
		/* [timers.disarm] before we look at earliest; pairs with
		 * [timers.b], [timers.arm]. */
		a_cas(&ts->armed, &mine, TIMERS_NONE, seq_cst, relaxed);
}
