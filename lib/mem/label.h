/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the user calls a block: a text, kept once, and a number per block. A
 * block keeps its number after it was freed, so that freeing it twice can be
 * reported by name. A heap without labels pays one load per allocation.
 */
#ifndef MEM_LABEL_H
#define MEM_LABEL_H

#include "base/lock.h"
#include "mem/meta.h"

#define LABEL_MAX 63 /* bytes kept of a text */
#define LABEL_HASH 256

struct span;

struct label {
	struct label *next; /* same hash */
	uint32_t number;
	char text[LABEL_MAX + 1];
};

struct labels {
	_Atomic(uint32_t) nr;

	/* Under lock; texts never change. */
	struct lock lock;
	struct label *hash[LABEL_HASH];
	struct meta *meta;
};

/* The number of the text, from 1 on; 0: NULL, empty, or no memory. */
uint32_t label_number(struct labels *l, const char *text);

/* The text of a number; "" for 0. */
const char *label_text(struct labels *l, uint32_t number);

/* Block i of the span is called so from now on. */
void label_set(struct span *s, uint32_t i, uint32_t number);
uint32_t label_get(struct span *s, uint32_t i);

/* The span ends. */
void label_forget(struct span *s);

#endif
