/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Numbers of a runtime's memories by name: "node.3.memory.used" without the
 * "lkdf." before it. Nodes go by the system's numbers.
 */
#ifndef API_MEMSTAT_H
#define API_MEMSTAT_H

#include <stdint.h>

struct heap;

/* 0; -ENOENT: no such name. */
int memstat_find(struct heap *h, const char *name, uint64_t *out);

/* All of memories that there are, with the "lkdf.". */
void memstat_each(struct heap *h,
		  void (*fn)(void *u, const char *name, uint64_t v), void *u);

#endif
