/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io_far.h"

#include "base/clock.h"
#include "core/runtime.h"
#include "io/io_ring.h"
#include "sched/notify.h"

/* Between two looks. */
#define NAP_NS 1000000

/* Looks that find it in good hands before we leave it to itself: that comes
 * and goes with every body, and a look is cheaper than a wake-up. */
#define MOST_IDLE 100

static struct lkdf *rt_of(const struct worker *w)
{
	return w->executor->rt;
}

static struct io_unattended *unattended_of(struct lkdf *rt,
					   const struct sched_node *n)
{
	return &rt->io_rings->unattended[n - rt->sched.nodes];
}

static uint32_t mark_of(const struct worker *w)
{
	return (uint32_t)(w->id + 1) << 1 | IO_UNATTENDED;
}

/* NULL: the worker has none, or is of another node. */
static struct io_ring *ring_at(struct lkdf *rt, int worker,
			       const struct sched_node *n)
{
	return rt->sched.workers[worker].node == n
		       ? io_ring_at(rt->io_rings, worker)
		       : NULL;
}

static bool has_some_under_way(struct lkdf *rt, const struct sched_node *n)
{
	struct io_ring *ring;
	int i;

	for (i = 0; i < rt->nr_workers; i++) {
		ring = ring_at(rt, i, n);
		if (ring && a_load(&ring->nr_under_way, relaxed))
			return true;
	}
	return false;
}

/*
 * Something is under way there and nobody of the node is idle. A worker that
 * has acquired the mark sees what the one who made it has seen; else a guess.
 */
static bool is_unattended(struct lkdf *rt, struct sched_node *n)
{
	uint64_t word = a_load(&n->park.word, relaxed);

	return !park_spinners(word) && !park_sleepers(word) &&
	       has_some_under_way(rt, n);
}

static void tell_node(struct lkdf *rt, struct sched_node *n)
{
	/* [far.tell] what is under way, and before we look who sleeps; pairs
	 * with [far.look] and [far.left]. */
	if (!a_or(&unattended_of(rt, n)->mark, IO_UNATTENDED, seq_cst))
		notify_others(&rt->sched, n);
}

void io_ring_wake_watcher(struct worker *w)
{
	struct park *p = &w->node->park;
	struct lkdf *rt = rt_of(w);
	uint64_t word;

	if (park_is_watched(p) || !has_some_under_way(rt, w->node) ||
	    park_notify(p) || w->sched->nr_worker_nodes == 1)
		return;
	/* [far.word] what is under way, to who turns to something else after
	 * us; who does before us is not counted here; pairs with
	 * [park.found]. */
	word = a_add(&p->word, 0, release);
	if (!park_spinners(word) && !park_sleepers(word))
		tell_node(rt, w->node);
}

/* True: it is looked after by this worker from now on, or still. */
static bool looks_after(struct worker *w, struct sched_node *n)
{
	struct io_unattended *l = unattended_of(rt_of(w), n);
	/* [far.look] after we have said that we sleep; pairs with [far.tell].
	 */
	uint32_t mark = a_load(&l->mark, seq_cst), nr_idle;

	if (!mark || (mark != IO_UNATTENDED && mark != mark_of(w)))
		return false;
	nr_idle = mark == IO_UNATTENDED ? MOST_IDLE
					: a_load(&l->nr_idle, relaxed);
	if (is_unattended(rt_of(w), n)) {
		nr_idle = 0;
	} else if (nr_idle++ >= MOST_IDLE) {
		/* [far.drop] what made it; who comes later finds none; pairs
		 * with [far.tell]. */
		a_xchg(&l->mark, 0, acquire);
		if (!is_unattended(rt_of(w), n))
			return false;
		nr_idle = 0;
	}
	a_store(&l->nr_idle, nr_idle, relaxed);
	a_store(&l->mark, mark_of(w), relaxed);
	return true;
}

/* Has it lain there, untouched, since an earlier look? */
static bool is_late(struct io_ring *ring, uint64_t now)
{
	uint64_t seen = (uint64_t)1 << 32 | a_load(ring->u.cq_head, relaxed);

	if (!uring_looks_ready(&ring->u))
		seen = 0;
	if (seen && a_load(&ring->far_seen, relaxed) == seen)
		return now - a_load(&ring->far_since, relaxed) >=
		       ring->late_ticks;
	a_store(&ring->far_since, now, relaxed);
	a_store(&ring->far_seen, seen, relaxed);
	return false;
}

static struct io_ring *find_late(struct lkdf *rt, const struct sched_node *n)
{
	uint64_t now = clock_ticks();
	struct io_ring *ring;
	int i;

	for (i = 0; i < rt->nr_workers; i++) {
		ring = ring_at(rt, i, n);
		if (ring && is_late(ring, now))
			return ring;
	}
	return NULL;
}

static bool has_marks(const struct lkdf *rt)
{
	return a_load(&rt->io_rings->nr, relaxed) != 0;
}

int64_t io_far_look(struct worker *w)
{
	struct sched *s = w->sched;
	int64_t nap = -1;
	int i;

	for (i = 0; has_marks(rt_of(w)) && i < s->nr_nodes; i++) {
		if (&s->nodes[i] == w->node || !looks_after(w, &s->nodes[i]))
			continue;
		w->io.far = find_late(rt_of(w), &s->nodes[i]);
		if (w->io.far)
			return 0;
		nap = NAP_NS;
	}
	return nap;
}

void io_far_leave(struct worker *w)
{
	struct sched *s = w->sched;
	struct io_unattended *l;
	uint32_t mark;
	int i;

	for (i = 0; has_marks(rt_of(w)) && i < s->nr_nodes; i++) {
		if (&s->nodes[i] == w->node)
			continue;
		l = unattended_of(rt_of(w), &s->nodes[i]);
		/* [far.left] after we have found work; pairs with
		 * [far.tell]. */
		mark = a_load(&l->mark, seq_cst);
		if (!mark || (mark != IO_UNATTENDED && mark != mark_of(w)))
			continue;
		/* [far.hand] as [far.drop]; pairs with [far.tell]. */
		a_xchg(&l->mark, 0, acquire);
		if (is_unattended(rt_of(w), &s->nodes[i]))
			tell_node(rt_of(w), &s->nodes[i]);
	}
}
