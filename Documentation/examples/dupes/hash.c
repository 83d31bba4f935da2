/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hashing a file, see hash.h. The sum of what came before is the seed, so that
 * sums of a file's later part differ where its start differs.
 */
#include "hash.h"

/* The argument, copied into the task. */
struct hash {
	struct reader reader;
	struct file *file;
};

static int go_on(struct lkdf_ctx *c, int rc);

/* A piece is there: hash it, and go on until the end. */
static int hash_piece(struct lkdf_ctx *c, void *arg)
{
	struct hash *h = arg;
	struct buffer *b = h->reader.buffer;

	if (!reader_check(c, &h->reader)) {
		XXH3_128bits_update(b->state, b->bytes, h->reader.want);
		if (!reader_is_at_end(&h->reader))
			return go_on(c, reader_next(c, &h->reader));
		h->file->sum = XXH3_128bits_digest(b->state);
	}
	h->file->err = h->reader.err;
	return reader_stop(c, &h->reader);
}

/* Leaves the worker while a piece is being read; no stack is kept. */
static int go_on(struct lkdf_ctx *c, int rc)
{
	struct lkdf_event children = { 0 };

	return rc ? rc : lkdf_then(c, hash_piece, children);
}

static int hash_start(struct lkdf_ctx *c, void *arg)
{
	struct hash *h = arg;
	int rc = reader_start(c, &h->reader);

	if (!rc)
		XXH3_128bits_reset_withSeed(h->reader.buffer->state,
					    h->file->sum.low64);
	return go_on(c, rc);
}

/* After the last use, run to the end or not. */
static void hash_drop(void *arg)
{
	struct hash *h = arg;

	reader_fini(&h->reader);
}

static int make(struct lkdf *rt, const char *name,
		const struct lkdf_limit_use *tokens, uint32_t nr,
		struct lkdf_kind **out)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr), .name = name };

	attr.fn = hash_start;
	attr.arg_size = sizeof(struct hash);
	attr.limit = tokens;
	attr.nr_limit = nr;
	attr.drop = hash_drop;
	return lkdf_kind_create(rt, &attr, out);
}

int hashing_init(struct hashing *h, struct lkdf *rt, struct reading *r)
{
	struct lkdf_limit_use tokens[] = { { r->pool->files, 1 },
					   { r->pool->pieces, 1 } };
	int rc;

	*h = (struct hashing){ .reading = r };
	rc = make(rt, "hash head", tokens, 1, &h->head);
	return rc ? rc : make(rt, "hash rest", tokens, 2, &h->rest);
}

void hashing_fini(struct hashing *h)
{
	lkdf_kind_put(h->rest);
	lkdf_kind_put(h->head);
}

int hash_head(struct lkdf_ctx *c, struct hashing *h, struct file *f)
{
	off_t end = f->size < (off_t)HEAD_SIZE ? f->size : (off_t)HEAD_SIZE;
	struct hash x = { .file = f };

	reader_init(&x.reader, h->reading, f, 0, end, false);
	return lkdf_spawn(c, h->head, &x);
}

int hash_rest(struct lkdf_ctx *c, struct hashing *h, struct file *f)
{
	struct hash x = { .file = f };

	reader_init(&x.reader, h->reading, f, HEAD_SIZE, f->size, true);
	return lkdf_spawn(c, h->rest, &x);
}
