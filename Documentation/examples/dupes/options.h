/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user's options.
 */
#ifndef DUPES_OPTIONS_H
#define DUPES_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	unsigned workers; /* 0: as the runtime chooses */
	uint64_t top; /* sets to print, 0: all */
	uint64_t min_size;
	uint64_t open_files; /* at most at a time, >= 2 */
	uint64_t buffers; /* bytes of long buffers */
	bool json, quiet, no_hash;
	char **path; /* directories, ends with NULL */
};

/* 0: go on; 1: help was asked for and printed; -EINVAL: said why. */
int options_read(struct options *o, int argc, char **argv);

#endif
