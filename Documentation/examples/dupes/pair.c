/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Comparing two files byte by byte, see pair.h.
 */
#include "pair.h"
#include <string.h>

static int ask(struct lkdf_ctx *c, struct pair *p);

static int finish(struct pair *p, bool is_equal)
{
	p->verdict->is_equal = is_equal;
	p->verdict->err = p->second.err;
	p->verdict->peer_err = p->first.err;
	reader_stop(&p->first);
	reader_stop(&p->second);
	return 0;
}

/* Both pieces are there. */
static int compare_piece(struct lkdf_ctx *c, void *arg)
{
	struct pair *p = arg;

	if (reader_check(c, &p->first) || reader_check(c, &p->second))
		return finish(p, false);
	if (memcmp(p->first.buffer->bytes, p->second.buffer->bytes,
		   p->first.got))
		return finish(p, false);
	if (reader_is_at_end(&p->first))
		return finish(p, true);
	return ask(c, p);
}

static int ask(struct lkdf_ctx *c, struct pair *p)
{
	struct lkdf_event children = { 0 };
	int rc;

	rc = reader_next(c, &p->first);
	if (!rc)
		rc = reader_next(c, &p->second);
	return rc ? rc : lkdf_then(c, compare_piece, children);
}

static int pair_start(struct lkdf_ctx *c, void *arg)
{
	struct pair *p = arg;
	int rc;

	rc = reader_start(c, &p->first);
	if (!rc)
		rc = reader_start(c, &p->second);
	return rc ? rc : ask(c, p);
}

/* After the last use, run to the end or not. */
static void pair_drop(void *arg)
{
	struct pair *p = arg;

	reader_stop(&p->first);
	reader_stop(&p->second);
}

int pair_kind(struct lkdf *rt, struct reading *r, struct lkdf_kind **out)
{
	struct lkdf_limit_use tokens = { r->pool.limit, 2 };
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };

	attr.name = "compare";
	attr.fn = pair_start;
	attr.arg_size = sizeof(struct pair);
	attr.limit = &tokens;
	attr.nr_limit = 1;
	attr.drop = pair_drop;
	return lkdf_kind_create(rt, &attr, out);
}

int pair_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, struct reading *r,
	       const struct file *first, struct file *second)
{
	struct pair p = { .verdict = second };

	p.first.reading = r;
	p.first.file = first;
	p.first.fd = -1;
	p.first.end = first->size;
	p.second = p.first;
	p.second.file = second;
	return lkdf_spawn(c, k, &p);
}
