/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user's name for a block: a text, kept once, and a number per block. A
 * block keeps its number after it was freed, so that freeing it twice can be
 * reported by name, until it is somebody else's or its span ends. A text ends
 * with the last block that has its number, which is given on then. A heap
 * without labels pays one load per allocation.
 *
 * Texts lie in chunks that double in size and stay; a table of hashes, which
 * doubles, too, has those in use.
 */
#ifndef MEM_LABEL_H
#define MEM_LABEL_H

#include "base/lock.h"
#include "mem/listing.h"
#include "mem/meta.h"

#define LABEL_MAX 63 /* bytes kept of a text */
#define LABEL_FIRST 512 /* labels in the first chunk */
#define LABEL_CHUNKS 14

struct span;

struct label {
	/* Any thread: blocks, and threads that remember it. */
	_Atomic(uint32_t) nr_refs;

	/* Under lock. */
	uint32_t next; /* of the same hash, or free; 0: none */
	bool is_used;
	char text[LABEL_MAX + 1];
};

struct labels {
	_Atomic(uint32_t) nr; /* numbers ever given out, from 1 on */
	_Atomic(struct label *) chunk[LABEL_CHUNKS];

	/* Under lock. */
	struct lock lock;
	uint32_t *hash; /* numbers, hash_size of them; NULL: none yet */
	uint32_t hash_size, nr_used, free;
	struct meta *meta;

	/* Set before there are labels, cleared when no thread runs. */
	struct listing listing; /* for other processes */
};

/* The number of the text with one reference; 0: NULL, empty, or no memory. */
uint32_t label_take(struct labels *l, const char *text);

/* Adds a reference to a label that the caller has; drops one. 0: nothing. */
void label_hold(struct labels *l, uint32_t number);
void label_put(struct labels *l, uint32_t number);

/* The text of a number; "" for 0. */
void label_text(struct labels *l, uint32_t number, char text[LABEL_MAX + 1]);

/* Block i of the span is called so from now on; takes over the reference. */
void label_set(struct span *s, uint32_t i, uint32_t number);
uint32_t label_get(struct span *s, uint32_t i);

/* The span ends: its numbers of labels are freed. */
void label_forget(struct span *s);

#endif
