/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads the report of the access counter: what it learnt of the machine, and
 * one section for each label with the cells, the named ranges and the notes
 * that the program left.
 */
#ifndef TESTS_VM_PLUGIN_SECTIONS_H
#define TESTS_VM_PLUGIN_SECTIONS_H

#include "tests/vm/plugin/cells.h"

#include <stdbool.h>

/* Node of the vCPU, node of the page; CELLS_NO_NODE: not known. */
struct section_matrix {
	struct cell at[CONTROL_MAX_NODES + 1][CONTROL_MAX_NODES + 1];
};

struct section_buffer {
	char name[48];
	int from, to; /* node of the vCPU, of the page */
	struct cell cell;
};

struct section {
	char label[96];
	struct section_matrix class[CELLS_NR_CLASSES];
	struct section_buffer *buffer;
	char (*note)[160];
	unsigned nr_buffers, nr_notes;
	bool is_verified;
	unsigned long long nr_verified, nr_wrong;
};

struct sections {
	struct section *section;
	unsigned nr;
	unsigned nr_cpus, nr_refused, nr_conflicts;
	unsigned nr_memories; /* nodes of whose memory pages are known */
	bool has_memory[CONTROL_MAX_NODES];
	unsigned nr_nodes; /* highest number with a CPU or memory, + 1 */
};

/* 0, or -errno; sections_fini() either way. */
int sections_read(struct sections *s, const char *path);
void sections_fini(struct sections *s);

/* Text of the @i'th note that starts with @word and a blank, or NULL. */
const char *section_note(const struct section *s, const char *word, unsigned i);
/* The number after @word, or -1. */
double section_number(const struct section *s, const char *word);

#endif
