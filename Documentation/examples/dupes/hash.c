/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hashing a file, see hash.h. The sum of what came before is the seed, so that
 * sums of a file's later part differ where its start differs.
 */
#include "hash.h"

static int ask(struct lkdf_ctx *c, struct hash *h);

/* A piece is there: hash it, and go on until the end. */
static int hash_piece(struct lkdf_ctx *c, void *arg)
{
	struct hash *h = arg;
	struct buffer *b = h->reader.buffer;

	if (!reader_check(c, &h->reader)) {
		XXH3_128bits_update(b->state, b->bytes, h->reader.got);
		if (!reader_is_at_end(&h->reader))
			return ask(c, h);
		h->file->sum = XXH3_128bits_digest(b->state);
	}
	h->file->err = h->reader.err;
	reader_stop(&h->reader);
	return 0;
}

/* Leaves the worker while a piece is being read; no stack is kept. */
static int ask(struct lkdf_ctx *c, struct hash *h)
{
	struct lkdf_event children = { 0 };
	int rc;

	rc = reader_next(c, &h->reader);
	return rc ? rc : lkdf_then(c, hash_piece, children);
}

static int hash_start(struct lkdf_ctx *c, void *arg)
{
	struct hash *h = arg;
	int rc;

	rc = reader_start(c, &h->reader);
	if (rc)
		return rc;
	XXH3_128bits_reset_withSeed(h->reader.buffer->state,
				    h->file->sum.low64);
	return ask(c, h);
}

/* After the last use, run to the end or not. */
static void hash_drop(void *arg)
{
	struct hash *h = arg;

	reader_stop(&h->reader);
}

int hash_kind(struct lkdf *rt, struct reading *r, struct lkdf_kind **out)
{
	struct lkdf_limit_use token = { r->pool.limit, 1 };
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };

	attr.name = "hash";
	attr.fn = hash_start;
	attr.arg_size = sizeof(struct hash);
	attr.limit = &token;
	attr.nr_limit = 1;
	attr.drop = hash_drop;
	return lkdf_kind_create(rt, &attr, out);
}

int hash_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, struct reading *r,
	       struct file *f, off_t from, off_t to)
{
	struct hash h = { .file = f };

	h.reader.reading = r;
	h.reader.file = f;
	h.reader.fd = -1;
	h.reader.pos = from;
	h.reader.end = to;
	return lkdf_spawn(c, k, &h);
}
