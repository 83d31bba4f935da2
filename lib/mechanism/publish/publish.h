/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Private work behind a body that goes on and on. Before a body that may be
 * long a worker makes all it has public, but not before one whose kind is known
 * to be short. Such a body may go on all the same: it waits for another task,
 * or its thread has lost the CPU. Then who has nothing to do finds the same
 * items as a while ago, with nothing public before them, and publishes them for
 * their owner (deque_publish_for()). That others publish a worker's tasks, by
 * signals, is of Custodio, Paulino and Rito, "Efficient synchronization-light
 * work stealing", SPAA 2023.
 *
 * For that somebody has to look. A sleeper watches: it comes back after 1, 4,
 * 16, 64 and 256 ms, until all have been idle for that long. Where several
 * nodes have workers, who is up may take what has just come for another node,
 * so it comes back after 16 ms at first, and only while somebody is busy. A
 * worker with work behind a body while nobody watches or looks for work wakes
 * one.
 *
 *	worker                           sleeper
 *	(A) is busy                      (C) watches no more
 *	(B) looks for who watches        (D) looks for busy ones
 *
 * All four are seq_cst. Either B sees C and wakes it, or D sees A and it
 * watches on. A worker that watched last and found work itself hands it on.
 *
 * All of it only where there is membarrier(2).
 */
#ifndef MECHANISM_PUBLISH_H
#define MECHANISM_PUBLISH_H

#include "mechanism/rows.h"
#include "sched/notify.h"
#include "sched/sched.h"

/* Private work that a worker has seen behind a body. */
struct hidden {
	bool is_set;
	int victim; /* which of its victims it looked at last */
	int level; /* the deque */
	uint32_t head;
	uint64_t at; /* ticks: when it looked */
};

/* For each worker, which alone uses it. */
struct publish_worker {
	struct hidden hidden;
	int64_t nap_ns;
	bool is_watching;
};

/* For each scheduler. */
struct publish_sched {
	bool is_on; /* set at start */

	/* Any thread: sleepers that come back. */
	_Atomic(uint32_t) nr_watching;
};

extern const struct mechanism publish_mechanism;

static inline struct publish_worker *publish_of(const struct worker *w)
{
	return w->data[SLOT_PUBLISH];
}

static inline struct publish_sched *publish_in(const struct sched *s)
{
	return s->data[SLOT_PUBLISH];
}

/* An idle worker, now and then. True: there is something public now. */
bool publish_look(struct worker *w);

/*
 * A worker that is about to say that it sleeps: before, or whoever sees it
 * asleep and not watching would wake it.
 */
void publish_watch(struct worker *w);

/* A worker that has said so: see nap.h. */
int64_t publish_nap(struct worker *w);

/* It does not sleep any more; has_work: because there is work for it. */
void publish_leave(struct worker *w, bool has_work);

/* Does anybody come by? */
static inline bool publish_is_watched(struct sched *s)
{
	struct publish_sched *p = publish_in(s);

	/* [publish.b] after we are busy; pairs with [publish.c]. */
	return !p->is_on || a_load(&p->nr_watching, seq_cst) ||
	       notify_has_spinner(s);
}

/* There is, or will be, work behind a body: sees to it that somebody does. */
static inline void publish_ask(struct worker *w)
{
	if (unlikely(!publish_is_watched(w->sched)) &&
	    notify_any(w->sched, w->node))
		worker_has_woken(w);
}

#endif
