/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A region: requests that depend on each other and lie in one queue of a device
 * that keeps its order (LKDF_DEVICE_ORDERED), so that the host does not stand
 * between them. A request leads: it has got its room and begins as ever; the
 * layer above adds those that wait for nothing but requests of the region. They
 * share its memory (region_memory.h). Each ends by itself, as soon as its
 * launch is done and what the host needs of it has come.
 *
 *	added -> UPLOAD -> RUN, in order -> FETCH -> over
 *
 * A request is added only if its memory is there at once, so it never waits for
 * room. Bytes that a later one of the region writes are not fetched before:
 * whoever reads them in between is of the region, for else the later one could
 * not have been added.
 *
 * A request that depends on a failed one is not run, or its bytes are not
 * fetched. The failed ones are over when nothing else of the region is under
 * way, the last one first, so that what depends on one is over before it.
 */
#ifndef DEVICE_REGION_H
#define DEVICE_REGION_H

#include "device/piece.h"
#include "device/request.h"

/* The launcher's alone. */
struct device_region {
	struct device *device;
	const struct device_req_ops *ops; /* of the one that leads */
	unsigned queue;
	struct device_req *first; /* in order, whose launches are not done */
	struct device_req **end;
	struct device_req *next; /* of these, to be launched; NULL: none */
	uint32_t nr_first; /* how many these are */
	uint32_t nr_open; /* not over, but for failed ones */
	uint64_t last_end; /* of a launch, ticks; 0: none yet */
	uint32_t nr_ended; /* launches since then */
	uint32_t nr_quiet; /* launches since the last one that is told */
	uint32_t nr_holds; /* calls that are in it */
	struct device_req *failed; /* the last one first */
	struct list memory;
	struct list ready; /* of the layer: pieces that may be added */
	bool has_loose; /* the layer's: others than pieces may be added */
};

/* The one that leads has its memory. False: it goes on alone. */
bool region_begin(void *executor, struct device_req *r);

/*
 * For extend(): the request goes behind all others of the region. False: it has
 * no room, or something of the region is in its way.
 */
bool region_add(struct device_region *g, struct device_req *r);

/* Requests of regions in one queue, at most. */
static inline uint32_t region_window(const struct device *d)
{
	return window_size(&d->window, d->nr_queues, d->info.max_queue_ops);
}

/* May it be given more, but for the window? */
static inline bool region_is_open(const struct device_region *g)
{
	return !g->failed && !g->device->starving && !g->device->hungry;
}

static inline bool region_has_room(const struct device_region *g)
{
	const struct device *d = g->device;

	return d->nr_in_queue[g->queue] < region_window(d) && region_is_open(g);
}

/* May another piece be added? Two are under way, and one is made ready. */
static inline bool region_takes_piece(const struct device_region *g)
{
	return g->device->nr_in_queue[g->queue] < 2 * PIECE_MOST &&
	       region_is_open(g);
}

/* Something has come that may be added to it. */
void region_poke(void *executor, struct device_region *g);

/* The requests of the piece that are not launched go one by one. */
void region_break_piece(struct device_region *g, struct device_piece *p);

/*
 * All ops of the request are done, the last one at that time, in ticks, or 0:
 * nobody knows when; and: it is to end whatever it is at.
 */
void region_go_on(void *executor, struct device_req *r, uint64_t end);
void region_end(void *executor, struct device_req *r);

#endif
