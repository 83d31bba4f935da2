/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Compiled texts in a directory of the user's, one file for each: what was
 * compiled is in the file, too, and is compared, so a file is either that of
 * the text or none. Files are written beside and renamed, so that whoever reads
 * sees all of one, also where two write at a time. A directory or a file that
 * others own, or may write, is not read. The text is compiled again where
 * anything is wrong with its file.
 */
#ifndef CUDA_CACHE_H
#define CUDA_CACHE_H

#include "cuda/code.h"

#include <stdbool.h>

/* The text with everything that its image depends on. */
struct cache_key {
	const struct lkdf_code *code;
	int arch;
	int compiler; /* version of NVRTC, 13000; 0: there is none, any will do
		       */
};

/*
 * Does its image depend on files that the key has not: does the text include
 * others, or do the options name some? Then it is compiled each time.
 */
bool cache_reads_files(const struct lkdf_code *c);

/* The image, for free(). False: it is not there. */
bool cache_find(const char *directory, const struct cache_key *key,
		struct code_made *out);

/* Keeps the image where that can be; the directory is made, its parent not. */
void cache_keep(const char *directory, const struct cache_key *key,
		const struct code_made *made);

#endif
