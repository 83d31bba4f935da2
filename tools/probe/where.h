/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The object at an address of another process: a symbol of a file that it has
 * loaded, or the heap or a stack. Symbols come from the file, else from the
 * debug file of its build id; where neither has one, what is left is the file,
 * the offset in it and the nearest symbol that other files may use.
 */
#ifndef TOOLS_PROBE_WHERE_H
#define TOOLS_PROBE_WHERE_H

#include "probe/elf_symbol.h"
#include "trace/read.h"

struct where {
	char object[128]; /* the file's name, or "heap", "stack", "memory" */
	uint64_t offset; /* in the file as it is loaded; 0 outside of files */
	bool has_symbol;
	struct elf_symbol symbol;
	/* The block of lkdf_alloc() that holds it; "": none with a label. */
	char label[64];
	uint64_t block, block_bytes, block_offset;
};

void where_find(int pid, uint64_t address, struct where *w);

/* It lies in that block. */
struct stats_label;
void where_in_block(struct where *w, uint64_t address,
		    const struct stats_label *l);

/*
 * As a recording has it. Symbols come from the file of that name here, if its
 * build id is the one that is recorded.
 */
void where_recorded(const struct trace_probed_place *p, struct where *w);

/* "lock (random.c) in libc.so.6", "libc.so.6+0x1d2a (near random)", and
 * "block "table"+0x40 in heap". */
const char *where_text(const struct where *w, char *to, size_t size);

#endif
