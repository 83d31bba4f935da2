/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hashing a file's head, or what is behind it: one task that has a piece read,
 * hashes it on a worker while other files are being read, has the next one
 * read, and so on.
 */
#ifndef DUPES_HASH_H
#define DUPES_HASH_H

#include "reader.h"

struct hashing {
	struct reading *reading;
	struct lkdf_kind *head, *rest;
};

int hashing_init(struct hashing *h, struct lkdf *rt, struct reading *r);
void hashing_fini(struct hashing *h);

/* The sum goes to f; a head is what a short buffer holds. */
int hash_head(struct lkdf_ctx *c, struct hashing *h, struct file *f);
int hash_rest(struct lkdf_ctx *c, struct hashing *h, struct file *f);

#endif
