/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From the number that QEMU gives for a page to the page's node. The number is
 * not the guest-physical address, but inside one range of memory it differs
 * from it by a constant, which pages of known address tell. Nothing is
 * assumed: a range without such a page has no node, and a second page that
 * contradicts the first is counted as a conflict.
 */
#ifndef TESTS_VM_PLUGIN_NODEMAP_H
#define TESTS_VM_PLUGIN_NODEMAP_H

#include <stdint.h>
#include <stdio.h>

#define NODEMAP_MAX 64

struct nodemap_range {
	int node;
	uint64_t from, to; /* guest-physical */
	uint64_t shift; /* QEMU's number - guest-physical address */
	unsigned nr_pages; /* that told the shift; 0: not known */
};

struct nodemap {
	struct nodemap_range range[NODEMAP_MAX];
	unsigned nr, nr_conflicts;
};

/* Memory of a node. -1: no room. */
int nodemap_add(struct nodemap *m, int node, uint64_t from, uint64_t to);
/* QEMU gave @number for the page at guest-physical @at. */
void nodemap_learn(struct nodemap *m, uint64_t at, uint64_t number);
/* The node, or -1. @last is the caller's, where the search begins. */
int nodemap_node(const struct nodemap *m, uint64_t number, unsigned *last);
void nodemap_print(const struct nodemap *m, FILE *out);

#endif
