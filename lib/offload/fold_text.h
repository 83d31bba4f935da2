/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The text of the kernels of a reduction or of a scan, in two levels. n items
 * are cut into pieces, one for each block, of a length that n and the threads
 * of a block decide; so the order in which values are joined, and with it each
 * bit of the result, depends on n and the block alone.
 *
 * Kernels of a reduction: NAME_part (one block a piece: the join of its items),
 * NAME_last (one block: the join of the parts). A scan has NAME_part as well,
 * which keeps the order of the items, NAME_last, which puts before each part
 * what precedes it, and NAME_scan, which writes what comes out. Level one joins
 * in shared memory by halves (a reduction: the join commutes) or as Hillis and
 * Steele do (1986).
 *
 * Parameters behind those of the user, types in C:
 *	NAME_part	ulong begin, ulong n, ulong piece, GLOBAL T *part
 *	NAME_last	GLOBAL T *part, uint nr, GLOBAL T *out
 *	NAME_scan	ulong begin, ulong n, ulong piece,
 *			GLOBAL const T *part, GLOBAL T *out
 * NAME_last has none of the user's; its out is the result of a reduction, and
 * the join of all items of a scan.
 */
#ifndef OFFLOAD_FOLD_TEXT_H
#define OFFLOAD_FOLD_TEXT_H

#include "offload/loop_text.h"

enum fold_sort {
	FOLD_REDUCE,
	FOLD_SCAN,
	FOLD_SCAN_EXCLUSIVE
};

struct fold_text {
	struct loop_head head; /* entry: NAME */
	enum fold_sort sort;
	const char *type; /* of the values, without a *; top may declare it */
	uint32_t value_size; /* bytes of it; 0: the compiler knows */
	const char *item; /* expression of i and the parameters */
	const char *join; /* expression of a and b */
	const char *neutral; /* expression */
	uint32_t block; /* threads: a power of two, 2 .. 1024 */
};

/* -EINVAL: what is no name, type or block, with a text; -ENOMEM. */
int fold_text(const struct fold_text *f, struct text *out);

/* Items of a piece; pieces, at most as many as a block has threads. */
uint64_t fold_piece(uint64_t n, uint32_t block);
uint32_t fold_pieces(uint64_t n, uint32_t block);

#endif
