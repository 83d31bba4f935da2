/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The object at an address of this process: a file that is loaded, with the
 * address as the file has it and its build id, so that a tool finds the symbol
 * when the process is gone; else the mapping. It reads /proc/self/maps: for
 * threads that may wait for a file.
 */
#ifndef TRACE_LOADED_H
#define TRACE_LOADED_H

#include <lkdf/format.h>
#include <stdbool.h>

struct loaded {
	char file[LKDF_MAX_TEXT + 1]; /* path; "": in none */
	uint64_t offset; /* the address, as the file has it */
	char build_id[65]; /* hexadecimal; "": it has none */
	char mapping[LKDF_MAX_TEXT + 1]; /* "": anonymous, or unknown */
	uint64_t mapping_offset; /* from where the mapping begins */
};

void loaded_find(uint64_t address, struct loaded *out);

/* The file that has code at the address. False: no loaded file has. */
bool loaded_find_code(uint64_t address, struct loaded *out);

#endif
