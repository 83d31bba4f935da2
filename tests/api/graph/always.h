/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What tests of LKDF_ALWAYS in graphs share: kinds, and a body that looks. */
#ifndef TESTS_API_GRAPH_ALWAYS_H
#define TESTS_API_GRAPH_ALWAYS_H

#include "tests/api/using.h"

#define NR_INPUTS 4

/* What the body of a task that runs always has seen. */
struct seen {
	int nr, error[NR_INPUTS], cancelled, before;
	bool has_bytes[NR_INPUTS];
	int rc; /* what it returns */
	atomic_int *ran; /* what came before */
};

static int look(struct lkdf_ctx *c, void *arg)
{
	struct seen *s = arg;
	unsigned i;

	for (i = 0; i < NR_INPUTS; i++) {
		s->error[i] = lkdf_input_error(c, i);
		s->has_bytes[i] = lkdf_ptr(c, i) != NULL;
	}
	s->cancelled = lkdf_cancelled(c);
	s->before = s->ran ? atomic_load(s->ran) : 0;
	s->nr++;
	return s->rc;
}

static int fail_io(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "on purpose");
}

struct kinds {
	struct lkdf *rt;
	const char *how;
	struct lkdf_kind *fails, *count, *gate, *looks, *blocks, *adds;
};

__attribute__((unused)) static void kinds_init(struct kinds *k, struct lkdf *rt,
					       const char *how)
{
	k->rt = rt;
	k->how = how;
	k->fails = api_kind(rt, "fails", fail_io, 0, 0);
	k->count = api_kind(rt, "count", api_count, 0, LKDF_SHARED);
	k->gate = api_kind(rt, "gate", pass_gate, 0, 0);
	k->looks = api_kind(rt, "looks", look, 0, LKDF_ALWAYS);
	k->blocks =
		api_kind(rt, "blocks", look, 0, LKDF_ALWAYS | LKDF_BLOCKING);
	k->adds = api_kind(rt, "adds", add_one, 0, 0);
}

__attribute__((unused)) static void kinds_fini(struct kinds *k)
{
	lkdf_kind_put(k->fails);
	lkdf_kind_put(k->count);
	lkdf_kind_put(k->gate);
	lkdf_kind_put(k->looks);
	lkdf_kind_put(k->blocks);
	lkdf_kind_put(k->adds);
}

#endif
