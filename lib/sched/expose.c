/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/expose.h"

#include "sched/far.h"
#include "sched/holdoff.h"
#include "sched/nap.h"

#define NAP_MIN_NS 1000000
#define NAP_MIN_NODES_NS 16000000
#define NAP_MAX_NS 256000000

/* Of each look, so that it does not take for ever where there are many. */
#define MAX_VICTIMS 8

/* The deques of a victim that we may take from; NULL: there are no more. */
static struct deque *next_deque(struct worker *w, int victim, int *level)
{
	struct worker *v = &w->sched->workers[w->victims[victim]];
	int highest = victim < w->nr_near ? DEQUE_BOUND : DEQUE_BOUND - 1;
	int lowest = holdoff_holds(v) ? CLASS_NORMAL + 1 : 0;

	if (*level < 0)
		*level = highest + 1;
	return --*level >= lowest ? &v->deque[*level] : NULL;
}

/* Is what we saw still there? Then its owner has not come by since. */
static bool has_stayed(struct worker *w, struct covered *c)
{
	struct worker *v = &w->sched->workers[w->victims[c->victim]];
	uint32_t head;

	return c->is_set && deque_is_covered(&v->deque[c->level], &head) &&
	       head == c->head &&
	       !(c->level <= CLASS_NORMAL && holdoff_holds(v));
}

static bool find_at(struct worker *w, int victim, struct covered *c)
{
	struct worker *v = &w->sched->workers[w->victims[victim]];
	struct deque *d;
	int level = -1;

	if (v->node != w->node && !far_allows(w, v->node))
		return false;
	while ((d = next_deque(w, victim, &level))) {
		if (!deque_is_covered(d, &c->head))
			continue;
		c->victim = victim;
		c->level = level;
		return true;
	}
	return false;
}

/* Another one than before comes first, so that each has its turn. */
static void find_covered(struct worker *w, struct covered *c)
{
	int nr = w->sched->nr_workers - 1, from = c->victim + 1, i;

	c->is_set = false;
	for (i = 0; i < nr && i < MAX_VICTIMS && !c->is_set; i++)
		c->is_set = find_at(w, (from + i) % nr, c);
	if (!c->is_set)
		c->victim = (from + i - 1) % nr;
}

bool expose_look(struct worker *w)
{
	struct covered *c = &w->covered;
	uint32_t nr = 0;

	if (!w->sched->expose_ticks || worker_is_alone(w))
		return false;
	if (has_stayed(w, c))
		nr = deque_expose(&w->sched->workers[w->victims[c->victim]]
					   .deque[c->level]);
	counter_add(w->executor->counters, COUNTER_EXPOSED, nr);
	find_covered(w, c);
	return nr != 0;
}

/* We have said that we sleep. */
static bool is_anybody_busy(struct sched *s)
{
	uint64_t word;
	int i;

	for (i = 0; i < s->nr_nodes; i++) {
		/* [expose.d] we do not watch; pairs with [park.found]. */
		word = a_load(&s->nodes[i].park.word, seq_cst);
		if (park_spinners(word) + park_sleepers(word) <
		    (uint32_t)s->nodes[i].nr_workers)
			return true;
	}
	return false;
}

void expose_watch(struct worker *w)
{
	struct sched *s = w->sched;

	if (w->is_watching || !s->expose_ticks || worker_is_alone(w))
		return;
	w->is_watching = true;
	a_add(&s->nr_watching, 1, relaxed);
}

/* True: nobody does now. */
static bool unwatch(struct worker *w)
{
	if (!w->is_watching)
		return false;
	w->is_watching = false;
	/* [expose.c] before we look for busy ones; pairs with [expose.b]. */
	return a_sub(&w->sched->nr_watching, 1, seq_cst) == 1;
}

int64_t expose_nap(struct worker *w)
{
	struct sched *s = w->sched;
	bool has_nodes = s->nr_worker_nodes > 1;

	if (!s->expose_ticks || worker_is_alone(w))
		return -1;
	if (has_nodes || w->watch_nap_ns >= NAP_MAX_NS) {
		unwatch(w);
		if (!is_anybody_busy(s))
			return -1;
	}
	expose_watch(w);
	return nap_grow(&w->watch_nap_ns, 4,
			has_nodes ? NAP_MIN_NODES_NS : NAP_MIN_NS, NAP_MAX_NS);
}

void expose_leave(struct worker *w, bool has_work)
{
	struct sched *s = w->sched;

	w->watch_nap_ns = 0;
	if (unwatch(w) && has_work && notify_has_sleeper(s) &&
	    notify_any(s, w->node))
		worker_has_woken(w);
}
