/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * First touch: one contiguous part of an array for each node that has
 * workers, cut into pieces that pinned tasks write.
 */
#include <lkdf/lkdf.h>

#include "api/border.h"
#include "data/place.h"
#include "topo/topo.h"

#include <string.h>

#define ARRAY_MAX (1ull << 47) /* what a process can address */
#define PIECE_MIN (64ull << 10)
#define PIECES_PER_WORKER 16

#define PAGE 4096ull
#define HUGE_PAGE (2ull << 20)
/* A node's part of so many huge pages ends between two of them. */
#define HUGE_PARTS 16

struct touch {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_scope *scope;
	char *at;
	uint64_t bytes, grain;
	int (*fn)(void *at, uint64_t bytes, void *u);
	void *u;
};

struct piece {
	const struct touch *touch;
	char *at;
	uint64_t bytes;
};

static int touch_piece(struct lkdf_ctx *c, void *arg)
{
	const struct piece *piece = arg;
	const struct touch *t = piece->touch;
	int rc;

	(void)c;
	if (!t->fn) {
		memset(piece->at, 0, piece->bytes);
		return 0;
	}
	rc = t->fn(piece->at, piece->bytes, t->u);
	if (rc >= 0)
		return 0;
	/* The others need not begin. */
	lkdf_scope_cancel(t->rt, t->scope, rc);
	return rc;
}

/* Where the part ends that below of all workers write. */
static uint64_t end_of(const struct touch *t, uint64_t below, uint64_t all,
		       uint64_t page)
{
	uintptr_t at = (uintptr_t)t->at, end;
	uint64_t offset;

	if (below == all)
		return t->bytes;
	end = (at + t->bytes * below / all) / page * page;
	offset = end > at ? end - at : 0;
	offset = (offset + t->grain - 1) / t->grain * t->grain;
	return min_u64(offset, t->bytes);
}

static int submit_part(const struct touch *t, int node, uint64_t nr_workers,
		       uint64_t begin, uint64_t end)
{
	uint64_t step = (end - begin) / (PIECES_PER_WORKER * nr_workers);
	struct piece piece = { .touch = t };
	struct lkdf_task task = {
		.size = sizeof(task),
		.flags = LKDF_PINNED,
		.kind = t->kind,
		.arg = &piece,
		.place = &t->rt->places[node],
	};
	int rc = 0;

	step = max_u64(step, PIECE_MIN);
	step = (step + t->grain - 1) / t->grain * t->grain;
	for (; begin < end && !rc; begin += piece.bytes) {
		piece.at = t->at + begin;
		piece.bytes = min_u64(step, end - begin);
		rc = lkdf_submit(t->rt, t->scope, &task, NULL);
	}
	return rc;
}

static uint64_t workers_on(const struct lkdf *rt, int node)
{
	uint64_t nr = 0;
	int i;

	for (i = 0; i < rt->nr_workers; i++)
		nr += rt->executors[i].node == node;
	return nr;
}

static int submit_all(const struct touch *t)
{
	uint64_t nr, below = 0, all = (uint64_t)t->rt->nr_workers;
	uint64_t begin = 0, end, page = PAGE;
	int i, nodes = t->rt->topo->nr_nodes, rc = 0;

	if (t->bytes / (uint64_t)nodes >= HUGE_PARTS * HUGE_PAGE)
		page = HUGE_PAGE;
	for (i = 0; i < nodes && !rc; i++) {
		nr = workers_on(t->rt, i);
		if (!nr)
			continue;
		below += nr;
		end = end_of(t, below, all, page);
		rc = submit_part(t, i, nr, begin, end);
		begin = end;
	}
	return rc;
}

static int run_touch(struct touch *t)
{
	struct lkdf_scope_attr scope = { .size = sizeof(scope),
					 .name = "first_touch" };
	struct lkdf_kind_attr kind = {
		.size = sizeof(kind),
		.name = "first_touch",
		.fn = touch_piece,
		.arg_size = sizeof(struct piece),
	};
	int rc, waited;

	rc = lkdf_kind_create(t->rt, &kind, &t->kind);
	if (rc)
		return rc;
	rc = lkdf_scope_create(t->rt, &scope, &t->scope);
	if (!rc) {
		rc = submit_all(t);
		if (rc)
			lkdf_scope_cancel(t->rt, t->scope, rc);
		waited = lkdf_scope_wait(t->rt, t->scope, -1);
		/* If a piece has failed, others were not taken. */
		rc = waited ? waited : rc;
		lkdf_scope_put(t->scope);
	}
	lkdf_kind_put(t->kind);
	return rc;
}

int lkdf_first_touch(struct lkdf *rt, void *p, uint64_t bytes, uint64_t grain,
		     int (*fn)(void *at, uint64_t bytes, void *u), void *u)
{
	struct touch t = {
		.rt = rt,
		.at = p,
		.bytes = bytes,
		.grain = grain ? grain : 1,
		.fn = fn,
		.u = u,
	};
	int rc = border_runtime(rt);

	if (!rc)
		rc = border_may_wait("lkdf_first_touch");
	if (rc)
		return rc;
	if (!p && bytes)
		return err(-EINVAL, "first_touch: the array is NULL");
	if (bytes > ARRAY_MAX || grain > ARRAY_MAX)
		return err(
			-EINVAL,
			"first_touch: %llu bytes in pieces of %llu: expected "
			"at most 2^47",
			(unsigned long long)bytes, (unsigned long long)grain);
	return bytes ? run_touch(&t) : 0;
}
