/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Brief bytes: they live from the start of their producer to the end of their
 * last reader, in each run anew, and come from the node of the worker that
 * runs the producer. A task costs little more than its body here, so what is
 * needed of a use lies in eight bytes, in the order in which tasks run, and
 * what is needed of a var in sixteen.
 */
#ifndef FLOW_BRIEF_H
#define FLOW_BRIEF_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct lkdf_ctx;
struct wiring;

enum brief_flag {
	BRIEF_MAKES = 1, /* bytes come before the body */
	BRIEF_ENDS = 2, /* one reader less after it, or there is none */
	BRIEF_DROPS = 4, /* the data has a function for it */
	BRIEF_PLAIN = 8, /* first use: all may be looked up by number */
};

#define BRIEF_LARGE 255
#define BRIEF_MANY UINT16_MAX

/* One use; constant after seal. */
struct brief_use {
	uint32_t var;
	uint16_t nr_readers; /* of the var; BRIEF_MANY: see it */
	uint8_t flags;
	uint8_t class; /* of its bytes; BRIEF_LARGE: see the data */
};

#define NO_MEMORY UINT32_MAX

/* Of one var in one run: whoever has its turn; readers: any of them. */
struct value {
	void *bytes;
	_Atomic(uint32_t) readers; /* to come */
	uint32_t memory; /* whose bytes these are; NO_MEMORY: ask */
};

/* At the end of seal, when uses are in order. 0 or -ENOMEM. */
int brief_index(struct wiring *w);
void brief_free(struct wiring *w);

/* The body of a kind that was wrapped. */
int brief_body(struct lkdf_ctx *c, void *arg);

/* The task is over: its brief inputs are used once less. */
void brief_used(struct frame *f, uint32_t index);

#endif
