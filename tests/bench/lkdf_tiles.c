/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_tiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tile_arg {
	enum tile_fn fn;
	uint32_t side, nr_in;
};

static int tile_body(struct lkdf_ctx *c, void *arg)
{
	const struct tile_arg *t = arg;

	tiles_do(t->fn, t->side, t->nr_in > 0 ? lkdf_ptr(c, 1) : NULL,
		 t->nr_in > 1 ? lkdf_ptr(c, 2) : NULL, lkdf_ptr(c, 0));
	return 0;
}

static int make_data(struct lkdf_tiles *l)
{
	uint64_t bytes = (uint64_t)l->tiles->side * l->tiles->side * 8;
	struct lkdf_data_attr a = { .size = sizeof(a),
				    .bytes = bytes,
				    .align = sizeof(double) };
	uint32_t i;
	int rc;

	for (i = 0; i < l->tiles->nr * l->tiles->nr; i++) {
		a.wrap = tiles_at(l->tiles, i);
		rc = lkdf_data_create(l->rt, &a, &l->data[i]);
		if (rc)
			return rc;
	}
	return 0;
}

int lkdf_tiles_open(struct lkdf_tiles *l, struct lkdf *rt, struct tiles *t)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "tile",
				    .fn = tile_body,
				    .arg_size = sizeof(struct tile_arg) };
	int rc;

	*l = (struct lkdf_tiles){ .rt = rt, .tiles = t };
	rc = lkdf_kind_create(rt, &a, &l->kind);
	if (rc)
		return rc;
	l->data = calloc((size_t)t->nr * t->nr, sizeof(struct lkdf_data *));
	rc = l->data ? make_data(l) : -ENOMEM;
	if (rc)
		lkdf_tiles_close(l);
	return rc;
}

void lkdf_tiles_close(struct lkdf_tiles *l)
{
	uint32_t i;

	for (i = 0; l->data && i < l->tiles->nr * l->tiles->nr; i++)
		lkdf_data_put(l->data[i]);
	lkdf_kind_put(l->kind);
	free((void *)l->data);
	memset(l, 0, sizeof(*l));
}

static int submit_op(struct lkdf_tiles *l, const struct tile_op *op)
{
	struct tile_arg arg = { op->fn, l->tiles->side, op->nr_in };
	struct lkdf_use use[3] = {
		{ .data = l->data[op->out], .mode = LKDF_RW },
		{ .data = l->data[op->in[0]], .mode = LKDF_READ },
		{ .data = l->data[op->in[1]], .mode = LKDF_READ },
	};
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = l->kind,
			       .arg = &arg,
			       .use = use,
			       .nr_use = 1 + op->nr_in };

	return lkdf_submit(l->rt, NULL, &t, NULL);
}

int lkdf_tiles_run(struct lkdf_tiles *l)
{
	uint32_t i;
	int rc, done;

	for (i = 0, rc = 0; i < l->tiles->nr_ops && !rc; i++)
		rc = submit_op(l, &l->tiles->op[i]);
	done = lkdf_scope_wait(l->rt, NULL, -1);
	return rc ? rc : done;
}
