/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks of a heap as people speak of them: by label, size and node. Nothing
 * of this is on the way of a block without a label.
 */
#ifndef DATA_BLOCK_H
#define DATA_BLOCK_H

#include "base/log.h"
#include "mem/heap.h"

/* "on node 3", "pinned on node 3", "interleaved". */
#define BLOCK_WHERE 32
void block_memory_text(const struct heap *h, unsigned memory,
		       char text[BLOCK_WHERE]);

/* Facts about an address. */
struct block {
	bool is_ours; /* else all others are 0 */
	size_t size, offset; /* of the block, in the block */
	char label[LABEL_MAX + 1]; /* "" if none */
	char where[BLOCK_WHERE];
};

void block_find(struct heap *h, const void *p, struct block *out);

/* p has just been allocated; label may be NULL. */
void block_set_label(struct heap *h, struct cache *c, void *p,
		     const char *label);

/* Says what was not freed: no thread allocates any more. */
void block_report_leaks(struct heap *h, const struct log *log);

#endif
