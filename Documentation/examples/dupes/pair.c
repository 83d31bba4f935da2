/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Comparing two files byte by byte, see pair.h.
 */
#include "pair.h"
#include <string.h>

/* The argument, copied into the task. */
struct pair {
	struct reader first, second;
	struct file *verdict;
};

static int go_on(struct lkdf_ctx *c, int rc);

static int finish(struct lkdf_ctx *c, struct pair *p, bool is_equal)
{
	int rc;

	p->verdict->is_equal = is_equal;
	p->verdict->err = p->second.err;
	p->verdict->peer_err = p->first.err;
	rc = reader_stop(c, &p->first);
	return rc ? rc : reader_stop(c, &p->second);
}

/* Both pieces are there. */
static int compare_piece(struct lkdf_ctx *c, void *arg)
{
	struct pair *p = arg;
	int rc;

	if (reader_check(c, &p->first) || reader_check(c, &p->second))
		return finish(c, p, false);
	if (memcmp(p->first.buffer->bytes, p->second.buffer->bytes,
		   p->first.want))
		return finish(c, p, false);
	if (reader_is_at_end(&p->first))
		return finish(c, p, true);
	rc = reader_next(c, &p->first);
	return go_on(c, rc ? rc : reader_next(c, &p->second));
}

static int go_on(struct lkdf_ctx *c, int rc)
{
	struct lkdf_event children = { 0 };

	return rc ? rc : lkdf_then(c, compare_piece, children);
}

static int pair_start(struct lkdf_ctx *c, void *arg)
{
	struct pair *p = arg;
	int rc = reader_start(c, &p->first);

	return go_on(c, rc ? rc : reader_start(c, &p->second));
}

/* After the last use, run to the end or not. */
static void pair_drop(void *arg)
{
	struct pair *p = arg;

	reader_fini(&p->first);
	reader_fini(&p->second);
}

static int make(struct lkdf *rt, const char *name,
		const struct lkdf_limit_use *tokens, uint32_t nr,
		struct lkdf_kind **out)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr), .name = name };

	attr.fn = pair_start;
	attr.arg_size = sizeof(struct pair);
	attr.limit = tokens;
	attr.nr_limit = nr;
	attr.drop = pair_drop;
	return lkdf_kind_create(rt, &attr, out);
}

int comparing_init(struct comparing *p, struct lkdf *rt, struct reading *r)
{
	struct lkdf_limit_use tokens[] = { { r->pool->files, 2 },
					   { r->pool->pieces, 2 } };
	int rc;

	*p = (struct comparing){ .reading = r };
	rc = make(rt, "compare brief", tokens, 1, &p->brief);
	return rc ? rc : make(rt, "compare", tokens, 2, &p->full);
}

void comparing_fini(struct comparing *p)
{
	lkdf_kind_put(p->full);
	lkdf_kind_put(p->brief);
}

int pair_spawn(struct lkdf_ctx *c, struct comparing *p,
	       const struct file *first, struct file *second)
{
	bool is_long = first->size > (off_t)HEAD_SIZE;
	struct pair x = { .verdict = second };

	reader_init(&x.first, p->reading, first, 0, first->size, is_long);
	reader_init(&x.second, p->reading, second, 0, first->size, is_long);
	return lkdf_spawn(c, is_long ? p->full : p->brief, &x);
}
