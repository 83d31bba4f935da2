/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Places of a runtime and the heap behind them. A place is a node, or a part of
 * its workers, whose memory is the node's, or a device (offload/devices.h).
 */
#ifndef DATA_PLACE_H
#define DATA_PLACE_H

#include "core/home.h"
#include "core/runtime.h"

#include <lkdf/place.h>

#define PLACE_MAX_DEN 1024 /* of one call */

struct device;

struct lkdf_place {
	/* Set when made, constant afterwards. */
	struct lkdf *rt;
	struct heap *heap;
	uint32_t kind; /* enum lkdf_place_kind */
	int node; /* index in topo and heap; of a device one with workers */
	struct device *device; /* NULL: the node, or part */
	uint16_t home; /* of what prefers it */
	const struct part *part; /* NULL: the node */
	struct lkdf_place *next; /* part; of the runtime */
	unsigned memory; /* the node's own, in the heap */
	bool is_hooked; /* a tool is told of blocks, see lkdf/hooks.h, or a
			 * device has them, see offload/blocks.h */
};

/* The heap and the places of all nodes. 0 or -errno. */
int place_open(struct lkdf *rt);

/* Reports blocks that were not freed: no thread allocates any more. */
void place_report_leaks(struct lkdf *rt);

/* Unmaps all memory. After a failed place_open(), too. */
void place_close(struct lkdf *rt);

/*
 * Part num of den of the place's workers: as many of its first workers lie
 * before it as parts do, rounded down, and it has one at least. Each call gives
 * the same place; the place itself where it has all of its workers. -ENOMEM;
 * -ENOSPC.
 */
int place_part(struct lkdf_place *p, unsigned num, unsigned den,
	       struct lkdf_place **out);

/*
 * The part that has this worker alone, even where its node has no other: what
 * is pinned to a node's place goes to any of its workers, substitutes among
 * them. Each call gives the same place. -ENOMEM; -ENOSPC.
 */
int place_worker(struct lkdf *rt, int worker, struct lkdf_place **out);

/* The system's number of the node; of a device that of the library. */
int place_id(const struct lkdf_place *p);

/* Why memory is not bound to its node; NULL: it is. */
const char *place_unbound_text(const struct lkdf *rt);

#endif
