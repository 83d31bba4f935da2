/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Transient bytes: they live from the start of their producer to the end of
 * their last reader, in each run anew, and come from the node of the worker
 * that runs the producer. A task costs little more than its body here, so what
 * is needed of a use lies in eight bytes, in the order in which tasks run, and
 * what is needed of a var in sixteen.
 */
#ifndef RUN_TRANSIENT_H
#define RUN_TRANSIENT_H

#include "run/readers.h"

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct lkdf_ctx;
struct lkdf_graph;
struct access_table;

enum transient_flag {
	TRANSIENT_MAKES = 1, /* bytes come before the body */
	TRANSIENT_ENDS = 2, /* one reader less after it, or there is none */
	TRANSIENT_DROPS = 4, /* the data has a function for it */
	TRANSIENT_PLAIN = 8, /* first use: all may be looked up by number */
	TRANSIENT_EXACT = 16, /* bytes never stay over, see readers.h */
	TRANSIENT_OFFHOST =
		32, /* devices may have copies, see offhost_once.h */
};

#define TRANSIENT_LARGE 255
#define TRANSIENT_STAYS (32 << 10) /* bytes that may stay over */
#define TRANSIENT_MANY UINT16_MAX /* more than READERS_MAX */

/* A use; constant after seal. */
struct transient_use {
	uint32_t var;
	uint16_t nr_readers; /* of the var; TRANSIENT_MANY: see it */
	uint8_t flags;
	uint8_t class; /* of its bytes; TRANSIENT_LARGE: see the data */
};

/*
 * A task where nothing is out of the common: its uses are plain, at most one
 * makes bytes, those that come or go are of classes, and nobody counts what
 * moves. Constant after seal.
 */
struct transient_task {
	uint32_t first; /* of its uses */
	uint16_t nr; /* uses; 0: it is no such task */
	uint16_t makes; /* which of them; nr: none */
};

/*
 * The maker of a value: the executor, above the memory its bytes are of, or
 * CACHE_NO_MEMORY: ask.
 */
#define MAKER_SHIFT 10
#define MAKER_MEMORY ((1u << MAKER_SHIFT) - 1)
#define NO_MAKER (UINT32_MAX >> MAKER_SHIFT) /* no executor */

/* The value of a var in a run. */
struct value {
	void *bytes; /* whoever has its turn */
	struct readers readers; /* unless there are TRANSIENT_MANY */
	uint32_t maker;
};

/* At the end of seal, when uses are in order. 0 or -ENOMEM. */
int transient_index(struct lkdf_graph *g);
void transient_free(struct access_table *w);

/* A frame's values before its first run, and after its last one. */
int transient_create(struct frame *f);
void transient_destroy(struct frame *f);

/* The body of a kind that was wrapped; the hot loop does without it. */
int transient_body(struct lkdf_ctx *c, void *arg);

/* The task is over: its transient inputs are used once less. */
void transient_used(struct frame *f, uint32_t index);

#endif
