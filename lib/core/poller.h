/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions of the program that look for completions of which nobody tells the
 * runtime, see lkdf_poll_add(). A worker that looks for work calls them each
 * time round. A timer of the runtime lets busy workers and one of the sleepers
 * call them: after POLL_MIN_NS, and twice as long for each time that none of
 * them finds something, up to POLL_MAX_NS.
 *
 * Something that was found is often followed by something else: an idle
 * worker calls them again at once, until they have found nothing for
 * POLL_AGAIN_NS or made a task for it, and for POLL_STAY_NS at most: then it
 * looks elsewhere, and spins for as long as behind a task.
 *
 * A thread is the runner, one at a time. The runner has no lock while it calls
 * a function, which may add and remove functions, the called one among them.
 */
#ifndef CORE_POLLER_H
#define CORE_POLLER_H

#include "base/list.h"
#include "base/lock.h"
#include "sched/timers.h"

#include <pthread.h>

struct lkdf;

#define POLL_MIN_NS 20000
#define POLL_MAX_NS 1000000
#define POLL_AGAIN_NS 5000
#define POLL_STAY_NS 50000

typedef int (*poll_fn)(void *u);

struct pollers {
	/* Any thread. */
	_Atomic(uint32_t) nr; /* in the list; changed under lock */
	_Atomic(uint32_t) is_running; /* somebody is the runner */
	_Atomic(uint32_t) is_due; /* the timer has fired */

	/* Under lock. */
	struct lock lock;
	struct list list;
	struct poller *current; /* the runner is in its function */
	pthread_t runner; /* while there is a current one */
	int64_t nap_ns;

	/* Added and deleted under lock. */
	struct timer timer;
};

void pollers_init(struct pollers *p);

/* The function is called from now on. 0 or -ENOMEM. */
int poller_add(struct lkdf *rt, poll_fn fn, void *u);

/*
 * All pairs of fn and u go. Afterwards no other thread is in fn with this u.
 * 0 or -ENOENT.
 */
int poller_remove(struct lkdf *rt, poll_fn fn, void *u);

/* Those that are left go, as if each were removed. */
void pollers_close(struct lkdf *rt);

/* In a forked child, whose parent had the runner. */
void pollers_abandon(struct lkdf *rt);

/*
 * The functions are called, unless another thread does so. True: they were, and
 * one may have made work, whatever it has returned: it lies in our deque.
 */
bool pollers_run(struct lkdf *rt);

/* On a worker that looks for work. True: something may be runnable now. */
static inline bool pollers_look(struct lkdf *rt, struct pollers *p)
{
	return unlikely(a_load(&p->nr, relaxed)) && pollers_run(rt);
}

/* After timers_fire(): how many of its timers were ours, 0 or 1. */
unsigned pollers_tick(struct lkdf *rt);

#endif
