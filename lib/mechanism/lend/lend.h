/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker that rests in a join has a CPU and may run nothing but work below
 * its task. After LEND_NS of that it lends its seat: one of the substitutes,
 * the last workers of the runtime (option substitutes), runs whatever is ready
 * until the join finds work or is over. Substitutes are on standby meanwhile,
 * see quota.h; so many of them may run as seats are lent.
 *
 * Workers in the seats of a gang (task/gang.h) lend theirs as well, from one
 * run to the next.
 *
 * The lender waits for nobody: it goes on at once, and its substitute leaves
 * where it comes between two bodies. So a foreign body that waits for what the
 * lender does after its join hangs no more than beside any other worker, and
 * for the rest of one body there are more threads than CPUs.
 *
 *	lender                           substitute
 *	(A) nr_lent - 1                  (C) is_parking = 1
 *	(B) looks at is_parking          (D) looks at nr_lent
 *
 * All four are seq_cst: B sees C and calls it, or D sees A and it does not
 * sleep. A substitute that sleeps on all the same would take a wake-up that was
 * meant for others, and pass it on; a seat that is lent it hears of as of any
 * news of the quota.
 */
#ifndef MECHANISM_LEND_H
#define MECHANISM_LEND_H

#include "mechanism/rows.h"
#include "sched/sched.h"

/* How long a join in which there is nothing to run rests first. */
#define LEND_NS 50000

/* For each worker. */
struct lend_worker {
	/* This worker sets, in a join; lkdf_why() reads. */
	_Atomic(uint32_t) has_lent;
};

extern const struct mechanism lend_mechanism;

static inline struct lend_worker *lend_of(const struct worker *w)
{
	return w->data[SLOT_LEND];
}

static inline bool lend_is_substitute(const struct worker *w)
{
	return unlikely(w->id >= w->sched->nr_regular);
}

/*
 * This worker only, in a join, before it rests for so long. True: its seat is
 * lent, until lend_end().
 */
bool lend_begin(struct worker *w, int64_t nap_ns);
void lend_end(struct worker *w);

/* Any thread: that of a worker which sleeps in a body, and back again. */
void lend_seat(struct sched *s);
void lend_take_back(struct sched *s);

#endif
