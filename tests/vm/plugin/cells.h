/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is added up: bytes and accesses by class and node of the page, and by
 * named range and node of the page. One struct cells per vCPU.
 */
#ifndef TESTS_VM_PLUGIN_CELLS_H
#define TESTS_VM_PLUGIN_CELLS_H

#include "tests/vm/plugin/control.h"

#include <stdint.h>
#include <stdio.h>

#define RANGES_MAX 192
#define CELLS_NO_NODE CONTROL_MAX_NODES /* the node is not known */

enum cells_class {
	CELLS_DATA, /* the arena; the heap inside of bodies */
	CELLS_RUNTIME, /* all else, outside of bodies */
	CELLS_BODY, /* all else, inside */
	CELLS_NR_CLASSES,
};

struct cell {
	uint64_t bytes, accesses;
};

struct cells {
	struct cell class[CELLS_NR_CLASSES][CONTROL_MAX_NODES + 1];
	struct cell range[RANGES_MAX][CONTROL_MAX_NODES + 1];
};

/* Sorted by address, without overlap. */
struct ranges {
	struct range {
		char name[48];
		uint64_t from, to;
	} range[RANGES_MAX];
	unsigned nr;
};

/* -1: no room, empty, or overlaps another one. */
int ranges_add(struct ranges *r, const char *name, uint64_t from, uint64_t to);
/* Its number, or -1. @last is the caller's, where the search begins. */
int ranges_find(const struct ranges *r, uint64_t at, unsigned *last);

/* *sum += a - b, cell by cell. */
void cells_add_difference(struct cells *sum, const struct cells *a,
			  const struct cells *b);
/* Lines of what vCPUs of node @node did. */
void cells_print(const struct cells *c, const struct ranges *r, int node,
		 FILE *out);

#endif
