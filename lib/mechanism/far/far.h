/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * May a worker take planned work from another node? See policy/deficit.h for
 * the rule; here are its numbers. Other work is nobody's in particular, and
 * planned work is taken one task at a time.
 */
#ifndef MECHANISM_FAR_H
#define MECHANISM_FAR_H

#include "mechanism/rows.h"
#include "sched/worker.h"

/* For each worker, which alone uses it: what it knows of the nodes. */
struct far {
	double mean; /* ticks until all nodes are done, see deficit_mean() */
	enum steal_why why; /* of what was allowed last */
	double *measured; /* by node: its rate */
	double *idle; /* by node: ticks without work while it had some */
	double *extra; /* by node: of one byte there, constant */
	struct deficit_node *node;
};

extern const struct mechanism far_mechanism;

static inline struct far *far_of(const struct worker *w)
{
	return w->data[SLOT_FAR];
}

/* For the idle worker: what all nodes have to do. Once per round of looks. */
void far_look(struct worker *w, uint64_t idle_ticks);

/* After far_look(). True where the node has no planned work. */
bool far_allows(const struct worker *w, const struct sched_node *victim);

/* The reason why an item was taken from another worker, after far_allows(). */
static inline enum steal_why far_why(const struct worker *w, bool is_near,
				     uint64_t item)
{
	if (is_near)
		return STEAL_NEAR;
	return item_is_planned(item) ? far_of(w)->why : STEAL_FAR;
}

/* How long to sleep at most until some of it is allowed, see nap.h. */
int64_t far_nap(struct worker *w);

/*
 * Planned work was made public: is it time to wake other nodes as well? No
 * more often than their patience would let them come by themselves.
 */
bool far_may_wake(struct sched_node *node);

#endif
