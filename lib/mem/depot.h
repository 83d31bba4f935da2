/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The free blocks of one class in one memory, between threads: a stack of
 * addresses in batches, so that blocks change threads without being touched
 * (Bonwick and Adams, "Magazines and vmem", 2001), and below it the spans that
 * have free blocks. Blocks that nobody took for a while go down into the spans,
 * and a span that is complete goes back to the memory.
 */
#ifndef MEM_DEPOT_H
#define MEM_DEPOT_H

#include "base/list.h"
#include "base/lock.h"
#include "mem/class.h"

#define BATCH_MAX 62

struct batch {
	struct batch *next;
	uint64_t nr;
	void *block[BATCH_MAX];
};

struct depot {
	/* Set at init, constant afterwards. */
	_Alignas(CACHE_LINE) struct memory *memory;
	unsigned class;

	/* Under lock. */
	struct lock lock;
	struct batch *batches; /* newest first */
	uint32_t nr_cached; /* blocks in batches */
	uint32_t low; /* the least there were since the last trim */
	uint32_t nr_ops; /* for looking at the clock */
	struct list partial; /* spans with free blocks */
	uint64_t nr_remote; /* blocks that came from a thread elsewhere */
};

void depot_init(struct depot *d, struct memory *m, unsigned class);

/* Up to nr blocks; 0: no memory, *error why. */
unsigned depot_take(struct depot *d, void **to, unsigned nr, int *error);

void depot_give(struct depot *d, void *const *from, unsigned nr,
		bool is_remote);

/* Half of what nobody took since the last trim goes; all: everything. */
void depot_trim(struct depot *d, bool all);

#endif
