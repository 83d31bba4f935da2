/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Comparing two files byte by byte: one task that has the next piece of both
 * read side by side, compares them, and so on. The verdict goes to the second
 * file only, so that one file may be compared with many at a time.
 */
#ifndef DUPES_PAIR_H
#define DUPES_PAIR_H

#include "reader.h"

struct comparing {
	struct reading *reading;
	struct lkdf_kind *brief, *full; /* in short buffers, in long ones */
};

int comparing_init(struct comparing *p, struct lkdf *rt, struct reading *r);
void comparing_fini(struct comparing *p);

/* Sets second's is_equal, err and peer_err. */
int pair_spawn(struct lkdf_ctx *c, struct comparing *p,
	       const struct file *first, struct file *second);

#endif
