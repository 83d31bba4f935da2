/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels of a sealed graph that are given to their device ahead of their tasks
 * (device/region.h): those that wait for nothing but kernels which the device
 * has already, in the order of the graph. A kernel leads if a task behind it is
 * a kernel for the same device, and follows if one before it is.
 *
 * The task of one that was given ahead is no object. It is resolved when its
 * request is over and its turn has come, which is when all tasks before it are
 * resolved: whichever is second. So a task on a CPU behind a kernel starts when
 * that kernel is over, whatever the device has been given meanwhile. A worker
 * resolves it, or the launcher itself where all tasks behind it are given, too,
 * and so nobody has to run them.
 *
 *	extend, failed, over   the launcher of the device
 *	joins, forget          a worker
 *
 * A record is looked at by one of them at a time: the launcher gives a kernel
 * ahead while a task before it is under way on its device, so not resolved, and
 * its turn comes later.
 */
#ifndef OFFLOAD_EARLY_H
#define OFFLOAD_EARLY_H

#include "device/region.h"
#include "offload/kernel.h"

struct member;

/* For each record of a frame; whoever has it, see above. */
struct kernel_early {
	struct kernel_req *req; /* given; NULL: not */
	struct kernel_req *kept; /* of a run before, see reuse.c; or NULL */

	/* Edges from requests that are not over: of that region, of others. */
	struct device_region *region;
	uint32_t nr_before, nr_others;
};

/* Which kernels lead and which follow; each frame has a place for them. */
extern const struct seal_pass early_pass;

/* May others go with the task of the body? */
bool early_leads(const struct lkdf_ctx *c);

/* The member of a piece goes to the region ahead of its task. NULL: not now. */
struct kernel_req *early_give(struct executor *ex, struct device_region *g,
			      struct frame *f, const struct member *m);

/* The request is in the region: its edges are counted, once. */
void early_counted(struct kernel_req *r, struct device_region *g);

/* Functions of struct device_req_ops, for requests of graphs. */
void early_extend(void *executor, struct device_region *g);
void early_failed(struct device_req *r);
bool early_is_awaited(const struct device_req *r);

/* A request is over. True: it was ahead, and its task is not to be told. */
bool early_over(void *executor, struct kernel_req *r);

/* Functions of struct chain_ops, for kinds of kernels. */
bool early_joins(struct executor *ex, struct frame *f, uint32_t index);
bool early_is_given(struct frame *f, uint32_t index);
void early_forget(struct frame *f, uint32_t index);

#endif
