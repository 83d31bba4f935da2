/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pieces of a frame in a run (pieces.h): from the second run on the kernels of
 * a piece are given to their device together, where the device takes pieces.
 *
 *	WAITS  for all that its kernels wait for: kernels before them are given
 *	       to one region, or over; tasks that begin by themselves have come
 *	       to the launcher, which holds them
 *	LEADS  all have come: the first makes a region, and the others go there
 *	GIVEN  to a region
 *	LOOSE  its kernels go one by one, in this run: the first one, one that
 *	       is recorded, has failed or is cancelled, or where there is no
 *	       room
 *
 * All of it is the launcher's, but for gather_gone().
 */
#ifndef OFFLOAD_GATHER_H
#define OFFLOAD_GATHER_H

#include "device/piece.h"
#include "device/region.h"
#include "offload/kernel.h"
#include "run/frame.h"

enum gather_state {
	GATHER_LOOSE,
	GATHER_WAITS,
	GATHER_LEADS,
	GATHER_GIVEN,
};

/* Each piece of a frame has it. */
struct kernel_piece {
	struct frame *frame;
	uint32_t number;
	enum gather_state state;
	uint64_t run; /* that the rest is of; 0: none yet */
	uint64_t nr_runs;

	/* Edges from kernels of others: given to the region, to other regions,
	 * and over. */
	struct device_region *region;
	uint32_t nr_before, nr_others, nr_over;

	struct kernel_req *held; /* tasks that have come, linked by next_held */
	uint32_t nr_held;
	int64_t since; /* ns, of the first of them */
	struct device_hold hold;
	struct list ready; /* of the region */
	struct device_piece *piece; /* NULL: none was made */

	/* Any worker: the run in which one of its tasks does not come. */
	_Atomic(uint64_t) gone;
};

/* For each frame of the graph; 0 or -ENOMEM. */
int gather_create(struct frame *f);
void gather_destroy(struct frame *f);

/* Edges from the request to others, of its region: it is given, or over. */
void gather_count(struct kernel_req *r, struct device_region *g, int by);

/* The kernel is over, or its task has ended without a request. */
void gather_over(struct frame *f, uint32_t index, int error);

/* The request is over, and its task is not resolved yet. */
void gather_end(struct kernel_req *r);

/* A worker: the task is skipped, or never made. */
void gather_gone(struct frame *f, uint32_t index);

/* Does it go with its piece, in this run? Which one that is on the device. */
bool gather_has(struct frame *f, uint32_t index);
struct device_piece *gather_piece(struct frame *f, uint32_t index);

/* Pieces that may be given to the region, as many as it takes. */
void gather_extend(struct executor *ex, struct device_region *g);

/* Functions of struct device_req_ops. */
void gather_complete(void *executor, struct device_region *g,
		     struct device_req *r);
bool gather_holds(void *executor, struct device_req *r);

#endif
