/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/notify.h"

#include "sched/joiner.h"
#include "sched/sched.h"
#include "trace/counters.h"

static uint64_t look_at_node(struct sched_node *node)
{
	/* [park.b] after the work is public; pairs with [park.c]. */
	return a_load(&node->park.word, seq_cst);
}

/* A spinner that has lost its CPU to us counts as none. */
static bool wake_at(struct sched_node *node)
{
	uint64_t word = look_at_node(node);

	return park_is_displaced(&node->park, word)
		       ? park_wake_some(&node->park, 2, 1) != 0
		       : park_notify(&node->park);
}

/*
 * Nearest to the node first; not on but. The words that are read of s lie on
 * one node: once, not once for each word.
 */
static inline bool wake_nearest(struct sched *s, struct sched_node *node,
				const struct sched_node *but)
{
	struct sched_node *nodes = s->nodes;
	int nr = s->nr_worker_nodes, i;
	bool is_asleep = false;
	uint64_t word;

	for (i = 0; i < nr; i++) {
		check(node->near[i] >= 0 && node->near[i] < s->nr_nodes);
		if (&nodes[node->near[i]] == but)
			continue;
		word = look_at_node(&nodes[node->near[i]]);
		if (park_spinners(word) &&
		    !park_is_displaced(&nodes[node->near[i]].park, word))
			return false;
		is_asleep |= park_sleepers(word) != 0;
	}
	/*
	 * A sleeper that has gone meanwhile went to look for work, or found
	 * some.
	 */
	for (i = 0; is_asleep && i < nr; i++)
		if (&nodes[node->near[i]] != but &&
		    wake_at(&nodes[node->near[i]]))
			return true;
	return false;
}

bool notify_any(struct sched *s, struct sched_node *node)
{
	if (unlikely(load_is_planned(&node->load))) {
		if (park_notify(&node->park))
			return true;
		if (!s->calls.wakes_others(node))
			return false;
	}
	return wake_nearest(s, node, NULL);
}

void notify_others(struct sched *s, struct sched_node *node)
{
	wake_nearest(s, node, node);
}

bool notify_bound(struct sched_node *node)
{
	return park_notify(&node->park);
}

bool notify_has_sleeper(struct sched *s)
{
	struct sched_node *nodes = s->nodes;
	int nr = s->nr_nodes, i;

	for (i = 0; i < nr; i++)
		if (park_sleepers(look_at_node(&nodes[i])))
			return true;
	return false;
}

bool notify_has_spinner(struct sched *s)
{
	struct sched_node *nodes = s->nodes;
	int nr = s->nr_nodes, i;

	for (i = 0; i < nr; i++)
		if (park_spinners(look_at_node(&nodes[i])))
			return true;
	return false;
}

void notify_all(struct sched *s)
{
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		park_wake_all(&s->nodes[i].park);
}

/* Items that workers of the node may take, up to the number that matters. */
static uint32_t count_public(const struct worker *w)
{
	struct sched *s = w->sched;
	uint32_t nr = 0, most = POLICY_TREE + (uint32_t)w->node->nr_workers;
	uint64_t span;
	int i;

	for (i = 0; i < s->nr_workers && nr < most; i++) {
		if (s->workers[i].node != w->node)
			continue;
		span = a_load(&s->workers[i].deque[CLASS_NORMAL].span, relaxed);
		nr += span_split(span) - span_tail(span);
	}
	return nr;
}

uint32_t notify_first(struct sched_node *node, uint32_t nr_items)
{
	uint32_t nr = policy_nr_first(nr_items);

	return park_wake_some(&node->park, nr, nr);
}

bool notify_tree(struct worker *w, uint64_t item)
{
	struct sched *s = w->sched;
	struct deque *d = &w->deque[CLASS_NORMAL];
	uint32_t nr;

	if (!s->ops.body_ticks || s->calls.keeps(w) ||
	    !policy_wake_tree(s->ops.body_ticks(item, w->executor->rt),
			      s->wake_ticks))
		return false;
	if (deque_has_private(d))
		joiner_share_all(w, d);
	nr = park_wake_some(&w->node->park, count_public(w), POLICY_TREE);
	counter_add(w->executor->counters, COUNTER_WAKES, nr);
	counter_add(w->executor->counters, COUNTER_WAKE_DEPTH,
		    wake_depth_give(&s->wakes, w->idle.wake_link, nr));
	if (nr)
		trace_event(w->executor->ring, EVENT_WAKE, 0, 0);
	return nr != 0;
}
