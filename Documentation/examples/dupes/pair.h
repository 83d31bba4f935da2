/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Comparing two files byte by byte: one task that has the next piece of both
 * read side by side, compares them, and so on. The verdict goes to the second
 * file only, so that one file may be compared with many at a time.
 */
#ifndef DUPES_PAIR_H
#define DUPES_PAIR_H

#include "reader.h"

/* The argument, copied into the task. */
struct pair {
	struct reader first, second;
	struct file *verdict; /* second's is_equal, err and peer_err */
};

int pair_kind(struct lkdf *rt, struct reading *r, struct lkdf_kind **out);
int pair_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, struct reading *r,
	       const struct file *first, struct file *second);

#endif
