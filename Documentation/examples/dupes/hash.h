/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hashing a file, or a part of it: one task that reads a piece, hashes it on a
 * worker while other files are being read, reads the next, and so on.
 */
#ifndef DUPES_HASH_H
#define DUPES_HASH_H

#include "reader.h"

/* The argument, copied into the task. */
struct hash {
	struct reader reader; /* reading, file, pos and end are set */
	struct file *file;
};

int hash_kind(struct lkdf *rt, struct reading *r, struct lkdf_kind **out);
int hash_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, struct reading *r,
	       struct file *f, off_t from, off_t to);

#endif
