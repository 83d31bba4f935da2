/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/publish/publish.h"

#include "base/clock.h"
#include "mechanism/far/far.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/quota/quota.h"
#include "sched/nap.h"
#include "trace/counters.h"

/* Between two looks at what is private; a short body is shorter than that. */
#define PUBLISH_NS 20000

#define NAP_MIN_NS 1000000
#define NAP_MIN_NODES_NS 16000000
#define NAP_MAX_NS 256000000

/* The most in each look, so that it does not take for ever where there are
 * many. */
#define MAX_VICTIMS 8

/* The deques of a victim that we may take from; NULL: there are no more. */
static struct deque *next_deque(struct worker *w, int victim, int *level)
{
	struct worker *v = &w->sched->workers[w->victims[victim]];
	int highest = victim < w->nr_near ? DEQUE_BOUND : DEQUE_BOUND - 1;
	int lowest = holdoff_holds(w, v) ? CLASS_NORMAL + 1 : 0;

	if (*level < 0)
		*level = highest + 1;
	check(*level <= (int)NR_DEQUES);
	do
		--*level;
	while (*level >= lowest && !(worker_deques(v) & 1u << *level));
	return *level >= lowest ? &v->deque[*level] : NULL;
}

/* Is what we saw still there? Then its owner has not come by since. */
static bool has_stayed(struct worker *w, struct hidden *h)
{
	struct worker *v = &w->sched->workers[w->victims[h->victim]];
	uint32_t head;

	return h->is_set && deque_has_hidden(&v->deque[h->level], &head) &&
	       head == h->head &&
	       !(h->level <= CLASS_NORMAL && holdoff_holds(w, v));
}

static bool find_at(struct worker *w, int victim, struct hidden *h)
{
	struct worker *v = &w->sched->workers[w->victims[victim]];
	struct deque *d;
	int level = -1;

	if (v->node != w->node && !far_allows(w, v->node))
		return false;
	while ((d = next_deque(w, victim, &level))) {
		if (!deque_has_hidden(d, &h->head))
			continue;
		h->victim = victim;
		h->level = level;
		return true;
	}
	return false;
}

/* Another one than before comes first, so that each has its turn. */
static void find_hidden(struct worker *w, struct hidden *h)
{
	int nr = w->sched->nr_workers - 1, from = h->victim + 1, i;

	check(h->victim >= -1 && h->victim < w->sched->nr_workers);
	h->is_set = false;
	for (i = 0; i < nr && i < MAX_VICTIMS && !h->is_set; i++)
		h->is_set = find_at(w, (from + i) % nr, h);
	if (!h->is_set)
		h->victim = (from + i - 1) % nr;
}

bool publish_look(struct worker *w)
{
	struct hidden *h = &publish_of(w)->hidden;
	struct sched *s = w->sched;
	uint64_t now = clock_ticks();
	uint32_t nr = 0;

	if (!publish_in(s)->is_on || worker_is_alone(w))
		return false;
	if (has_stayed(w, h)) {
		nr = deque_publish_for(
			&s->workers[w->victims[h->victim]].deque[h->level]);
		counter_add(w->executor->counters, COUNTER_HIDDEN_NS,
			    sched_ns(s, now - h->at));
	}
	h->at = now;
	counter_add(w->executor->counters, COUNTER_EXPOSED, nr);
	find_hidden(w, h);
	return nr != 0;
}

/* We have said that we sleep. */
static bool is_anybody_busy(struct sched *s)
{
	/* First: who leaves it meanwhile looks after us. */
	uint32_t nr = a_load(&quota_in(s)->nr_standby, relaxed);
	uint64_t word;
	int i;

	for (i = 0; i < s->nr_nodes; i++) {
		/* [publish.d] we do not watch; pairs with [park.found]. */
		word = a_load(&s->nodes[i].park.word, seq_cst);
		nr += park_spinners(word) + park_sleepers(word);
	}
	return nr < (uint32_t)s->nr_workers;
}

void publish_watch(struct worker *w)
{
	struct sched *s = w->sched;

	if (publish_of(w)->is_watching || !publish_in(s)->is_on ||
	    worker_is_alone(w))
		return;
	publish_of(w)->is_watching = true;
	a_add(&publish_in(s)->nr_watching, 1, relaxed);
}

/* True: nobody does now. */
static bool stop_watching(struct worker *w)
{
	uint32_t nr;

	if (!publish_of(w)->is_watching)
		return false;
	publish_of(w)->is_watching = false;
	/* [publish.c] before we look for busy ones; pairs with [publish.b]. */
	nr = a_sub(&publish_in(w->sched)->nr_watching, 1, seq_cst);
	check(nr);
	return nr == 1;
}

int64_t publish_nap(struct worker *w)
{
	struct sched *s = w->sched;
	bool has_nodes = s->nr_worker_nodes > 1;

	if (!publish_in(s)->is_on || worker_is_alone(w))
		return -1;
	if (has_nodes || publish_of(w)->nap_ns >= NAP_MAX_NS) {
		stop_watching(w);
		if (!is_anybody_busy(s))
			return -1;
	}
	publish_watch(w);
	return nap_grow(&publish_of(w)->nap_ns, 4,
			has_nodes ? NAP_MIN_NODES_NS : NAP_MIN_NS, NAP_MAX_NS);
}

void publish_leave(struct worker *w, bool has_work)
{
	struct sched *s = w->sched;

	publish_of(w)->nap_ns = 0;
	if (stop_watching(w) && has_work && notify_has_sleeper(s) &&
	    notify_any(s, w->node))
		worker_has_woken(w);
}

static int open_publish(struct sched *s, const struct sched_setup *a)
{
	publish_in(s)->is_on = a->has_membarrier;
	return 0;
}

static void look_now_and_then(struct worker *w, bool is_last)
{
	(void)is_last;
	publish_look(w);
}

const struct mechanism publish_mechanism = {
	.name = "publish",
	.uses = "far holdoff quota",
	.of_worker = MECHANISM_DATA(struct publish_worker),
	.of_sched = MECHANISM_DATA(struct publish_sched),
	.open = open_publish,
	.spin = look_now_and_then,
	.spin_ns = PUBLISH_NS,
	.announce = publish_watch,
	.nap = publish_nap,
	.leave = publish_leave,
	.is_watched = publish_is_watched,
	.watch = publish_ask,
};
