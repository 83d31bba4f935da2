/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Workers whose threads are not where they were bound to. The kernel widens the
 * set by itself, when a CPU goes away or a cpuset changes: whoever looks at the
 * quota binds the thread again. A worker that is bound to one CPU and waits for
 * it for a quarter of a second in a second, because other threads have it,
 * leaves it for those of its node, unless the user has said pin=yes.
 */
#ifndef MECHANISM_UNPIN_H
#define MECHANISM_UNPIN_H

#include "mechanism/rows.h"
#include "sched/sched.h"

#include <sched.h>

/* For each worker, which alone uses it. */
struct unpin {
	uint64_t waited_ns; /* for its CPU, when it looked last */
	int64_t at_ns; /* and that was then; 0: never */
};

extern const struct mechanism unpin_mechanism;

static inline struct unpin *unpin_of(const struct worker *w)
{
	return w->data[SLOT_UNPIN];
}

/* Any thread: it may run on CPUs of own, which may be more than it should. */
void unpin_restore(const struct worker *v, int tid, const cpu_set_t *own);

/*
 * This worker only: so long has its thread waited for a CPU until at_ns, since
 * it began.
 */
void unpin_look(struct worker *w, uint64_t waited_ns, int64_t at_ns);

#endif
