/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Brief bytes: they live from the start of their producer to the end of their
 * last reader, in each run anew, and come from the node of the worker that
 * runs the producer. A task costs little more than its body here, so what is
 * needed of a use lies in eight bytes, in the order in which tasks run, and
 * what is needed of a var in sixteen.
 */
#ifndef RUN_BRIEF_H
#define RUN_BRIEF_H

#include "run/readers.h"

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct lkdf_ctx;
struct lkdf_graph;
struct wiring;

enum brief_flag {
	BRIEF_MAKES = 1, /* bytes come before the body */
	BRIEF_ENDS = 2, /* one reader less after it, or there is none */
	BRIEF_DROPS = 4, /* the data has a function for it */
	BRIEF_PLAIN = 8, /* first use: all may be looked up by number */
	BRIEF_EXACT = 16, /* bytes never stay over, see readers.h */
};

#define BRIEF_LARGE 255
#define BRIEF_STAYS (32 << 10) /* bytes that may stay over */
#define BRIEF_MANY UINT16_MAX /* more than READERS_MAX */

/* One use; constant after seal. */
struct brief_use {
	uint32_t var;
	uint16_t nr_readers; /* of the var; BRIEF_MANY: see it */
	uint8_t flags;
	uint8_t class; /* of its bytes; BRIEF_LARGE: see the data */
};

/*
 * A task where nothing is out of the common: its uses are plain, at most one
 * makes bytes, those that come or go are of classes, and nobody counts what
 * moves. Constant after seal.
 */
struct brief_task {
	uint32_t first; /* of its uses */
	uint16_t nr; /* uses; 0: it is no such task */
	uint16_t makes; /* which of them; nr: none */
};

/*
 * Who made a value: the executor, above the memory its bytes are of, or
 * CACHE_NO_MEMORY: ask.
 */
#define MAKER_SHIFT 10
#define MAKER_MEMORY ((1u << MAKER_SHIFT) - 1)
#define NO_MAKER (UINT32_MAX >> MAKER_SHIFT) /* no executor */

/* Of one var in one run. */
struct value {
	void *bytes; /* whoever has its turn */
	struct readers readers; /* unless there are BRIEF_MANY */
	uint32_t maker;
};

/* At the end of seal, when uses are in order. 0 or -ENOMEM. */
int brief_index(struct lkdf_graph *g);
void brief_free(struct wiring *w);

/* A frame's values before its first run, and after its last one. */
int brief_create(struct frame *f);
void brief_destroy(struct frame *f);

/* The body of a kind that was wrapped; the hot loop does without it. */
int brief_body(struct lkdf_ctx *c, void *arg);

/* The task is over: its brief inputs are used once less. */
void brief_used(struct frame *f, uint32_t index);

#endif
