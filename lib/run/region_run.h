/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker goes through the iterations of a loop that has a region, see
 * graph/region.h. Nobody else has anything of an iteration before it is over,
 * so nothing in it is shared, and the counters of its tasks stay as they are.
 *
 * A worker leaves the region before its iteration is over, and the counters are
 * as if it had never been there:
 *
 *	look	 something is out of the common before a body: a request, a
 *		 trace, a limit, a cancel, values that are missing
 *	after	 a body has failed, has children, waits, goes on elsewhere,
 *		 ends its stream or returns what is no branch
 *	wide	 tasks are live side by side, and other workers could have them
 *
 * After an iteration the general way is gone where the loop ends, is cancelled,
 * or everything else has its turn. A worker that leaves a loop in the loop so
 * leaves the outer one with it.
 */
#ifndef RUN_REGION_RUN_H
#define RUN_REGION_RUN_H

#include "graph/region.h"
#include "run/burst.h"

/* Tasks that one follows without a look at what else there is. */
#define CONTROL_TURNS 64

/* For a loop in a frame; its worker's while an iteration is under way. */
struct region_run {
	uint64_t *bits; /* live tasks that have not run, by position */
	uint64_t *chosen; /* tasks that wait for several, and one was chosen */
	int32_t *value; /* what those with branches have returned */
	uint16_t *waits; /* edges to come */
	uint16_t *ran; /* positions of those that have, one after another */
	/* By edge of a loop in it: its branch was taken. */
	uint8_t *taken;
};

/* A frame of a sealed graph gets what its regions need. 0 or -ENOMEM. */
int region_run_create(struct frame *f);
void region_run_destroy(struct frame *f);

/*
 * The graph has regions. The one that begins with this task, if the worker may
 * go through it; else NULL.
 */
static inline const struct region *region_at(const struct burst *b,
					     uint32_t index)
{
	const struct control *c = b->graph->control;
	struct region *r;
	uint32_t l;

	if (!(b->recs[index].flags & REC_MEMBER))
		return NULL;
	l = c->loop_of[index];
	r = c->loops[l].head == index ? c->regions[l] : NULL;
	if (!r || b->hindered)
		return NULL;
	return a_load(&r->is_wide, relaxed) && !worker_is_alone(b->w) ? NULL
								      : r;
}

/* How a worker has left a region. */
enum region_end {
	REGION_INSIDE, /* not at all; region_run() does not return this */
	REGION_READY, /* *index is ready, the iteration goes on */
	REGION_RAN, /* *index has run, too, and has returned *value */
	REGION_NEXT, /* the loop is over: *index is next, or NO_TASK */
	REGION_TURN, /* it goes round again after all else */
	REGION_AWAY, /* a task is somebody else's, and the run may be over */
};

/* The head is *index, and ready. Adds to *nr_run the tasks that have run. */
enum region_end region_run(struct burst *b, const struct region *r,
			   uint32_t *index, uint32_t *nr_run, int *value);

#endif
