/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thief does not look at single tasks: theirs may be gone by then. It takes
 * the mean task of the victim, and that all its bytes are there.
 */
#include "mechanism/far/far.h"

#include "base/clock.h"
#include "base/options.h"
#include "sched/sched.h"
#include "topo/topo.h"

#define MIN_NAP_NS 50000
#define MAX_NAP_NS 5000000

static uint32_t nr_public(struct deque *d)
{
	uint64_t span = a_load(&d->span, relaxed);

	return span_split(span) - span_tail(span);
}

/* Items that wait for their turn: nobody knows how long without any rate. */
static void count_ready(const struct worker *w)
{
	struct sched *s = w->sched;
	struct deficit_node *d = far_of(w)->node;
	unsigned deques;
	int i, level;

	for (i = 0; i < s->nr_nodes; i++)
		d[i].nr_ready =
			a_load(&s->nodes[i].inbox.head, relaxed) != NULL;
	for (i = 0; i < s->nr_workers; i++) {
		deques = worker_deques(&s->workers[i]);
		for (level = 0; level < DEQUE_BOUND; level++)
			if (deques & 1u << level)
				d[s->workers[i].node - s->nodes].nr_ready +=
					nr_public(&s->workers[i].deque[level]);
	}
}

static void load_node(const struct worker *w, int i, double median)
{
	struct sched_node *n = &w->sched->nodes[i];
	struct deficit_node *d = &far_of(w)->node[i];
	int64_t bytes = a_load(&n->load.bytes, relaxed);
	int64_t nr = a_load(&n->load.nr_tasks, relaxed);

	d->remaining = bytes > 0 && nr > 0 ? (double)bytes : 0;
	d->mean_task = nr > 0 ? d->remaining / (double)nr : 0;
	d->rate = deficit_rate(far_of(w)->measured[i], median);
	d->nr_ready = 0;
	d->nr_workers = n->nr_workers;
}

void far_look(struct worker *w, uint64_t idle_ticks)
{
	struct sched *s = w->sched;
	struct far *far = far_of(w);
	uint64_t now = clock_ticks();
	bool is_known = false;
	double median;
	int i;

	for (i = 0; i < s->nr_nodes; i++) {
		far->measured[i] = load_rate(&s->nodes[i].load);
		is_known |= far->measured[i] > 0;
		far->idle[i] =
			(double)load_idle(&s->nodes[i].load, idle_ticks, now);
	}
	median = deficit_median(far->measured, s->nr_nodes);
	for (i = 0; i < s->nr_nodes; i++)
		load_node(w, i, median);
	if (is_known)
		count_ready(w);
	far->mean = deficit_mean(far->node, s->nr_nodes);
}

/* A task of the victim, as far as we can tell. */
static struct deficit_task mean_task(const struct worker *w, int i)
{
	const struct deficit_node *v = &far_of(w)->node[i];

	return deficit_task(v->mean_task, v->rate,
			    v->mean_task * far_of(w)->extra[i], 0);
}

bool far_allows(const struct worker *w, const struct sched_node *victim)
{
	const struct sched *s = w->sched;
	const struct deficit_node *own = &far_of(w)->node[w->node - s->nodes];
	int i = (int)(victim - s->nodes);
	const struct deficit_node *v = &far_of(w)->node[i];
	struct deficit_task t;
	enum deficit_why why;

	if (victim == w->node || !load_is_planned(&victim->load))
		return true;
	/* An item that has just come was not there when we looked. */
	if (!s->options->far_steals || !(v->mean_task > 0))
		return false;
	t = mean_task(w, i);
	why = deficit_why(own, v, far_of(w)->mean, far_of(w)->idle[i], &t);
	far_of(w)->why = why == DEFICIT_BEHIND ? STEAL_BEHIND : STEAL_PATIENT;
	return why != DEFICIT_NO;
}

int64_t far_nap(struct worker *w)
{
	const struct sched *s = w->sched;
	double ticks, least = -1;
	struct deficit_task t;
	uint64_t ns;
	int i;

	for (i = 0; i < s->nr_nodes; i++) {
		if (&s->nodes[i] == w->node ||
		    !load_is_planned(&s->nodes[i].load))
			continue;
		t = mean_task(w, i);
		ticks = DEFICIT_PATIENCE *
			(t.loss + DEFICIT_PATIENCE_TASK * t.time);
		if (least < 0 || ticks < least)
			least = ticks;
	}
	if (least < 0)
		return -1;
	ns = (uint64_t)least * 1024 / s->ticks_per_1024ns;
	return (int64_t)min_u64(max_u64(ns, MIN_NAP_NS), MAX_NAP_NS);
}

bool far_may_wake(struct sched_node *node)
{
	struct load *l = &node->load;
	uint64_t now = clock_ticks(), last = a_load(&l->woken, relaxed);
	int64_t bytes = a_load(&l->bytes, relaxed);
	int64_t nr = a_load(&l->nr_tasks, relaxed);
	double rate = load_rate(l), mean;

	mean = nr > 0 ? (double)bytes / (double)nr : 0;
	if ((double)(now - last) < DEFICIT_PATIENCE * mean * rate)
		return false;
	a_store(&l->woken, now, relaxed);
	return true;
}

/* The extra cost of one byte there. */
static double extra_at(const struct sched *s, int from, int to)
{
	return deficit_extra_at(from == to ? TOPO_DISTANCE_LOCAL
					   : topo_distance(s->topo, from, to));
}

static int open_far(struct sched *s, const struct sched_setup *a)
{
	struct far *far;
	int i, node;

	(void)a;
	for (i = 0; i < s->nr_workers; i++) {
		far = far_of(&s->workers[i]);
		far->node = (struct deficit_node *)(far + 1);
		far->measured = (double *)(far->node + s->nr_nodes);
		far->extra = far->measured + s->nr_nodes;
		far->idle = far->extra + s->nr_nodes;
		for (node = 0; node < s->nr_nodes; node++)
			far->extra[node] =
				extra_at(s, s->workers[i].executor->node, node);
	}
	return 0;
}

const struct mechanism far_mechanism = {
	.name = "far",
	.of_worker = { .size = sizeof(struct far),
		       .align = _Alignof(struct far),
		       .per_node = 3 * sizeof(double) +
				   sizeof(struct deficit_node) },
	.open = open_far,
	.nap = far_nap,
	.wakes_others = far_may_wake,
};
