/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/loop.h"

#include "api/border.h"
#include "api/fixes.h"
#include "core/ops.h"
#include "data/data.h"
#include "sched/current.h"
#include "scope/scope.h"
#include "task/ctx.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ACC (1ull << 30)

/* Blocks of a reduction: at most; without a grain; and of how many bytes. */
#define MAX_BLOCKS 4096
#define AUTO_BLOCKS 1024
#define FEW_BLOCKS 64
#define AUTO_BYTES (64ull << 20)

/* ---- for ---------------------------------------------------------------- */

int loop_check_range(const char *what, const struct lkdf_range *r)
{
	if (r->begin <= r->end)
		return 0;
	return err(-EINVAL, "%s: the range begins at %llu and ends at %llu",
		   what, (unsigned long long)r->begin,
		   (unsigned long long)r->end);
}

int loop_check_scope(const char *what, const struct lkdf *rt,
		     const struct lkdf_scope *s)
{
	return s && s->rt != rt ? err(-EINVAL, "%s: scope %s %s", what, s->name,
				      border_whose(s->rt))
				: 0;
}

/* In which a loop runs that has none of its own. */
static struct lkdf_scope *scope_of(struct lkdf *rt, const struct lkdf_ctx *c)
{
	const struct loop *outer = thread_self()->loop;

	if (c)
		return c->frame || !c->task ? c->owner->scope(c)
					    : c->task->scope;
	return outer && outer->rt == rt ? outer->scope : rt->root;
}

static int run_loop(struct loop *l, struct lkdf_ctx *c, struct lkdf_scope *s)
{
	const struct thread *self = thread_self();

	if (l->range.begin == l->range.end)
		return 0;
	l->scope = s ? s : scope_of(l->rt, c);
	if (self->loop || (self->executor && !c))
		return loop_run_nested(l);
	return c ? loop_run_in(l, c) : loop_run(l);
}

int loop_here(struct loop *l, struct lkdf_scope *s)
{
	const struct lkdf_ctx *c = current_get();

	if (!s && c && c->ex->rt == l->rt)
		s = scope_of(l->rt, c);
	return run_loop(l, NULL, s);
}

static int check_for(const struct lkdf *rt, const struct lkdf_for_attr *a)
{
	int rc = loop_check_range("for", &a->range);

	if (rc)
		return rc;
	if (!a->fn)
		return err(-EINVAL, "for: fn is NULL");
	if (a->schedule > LKDF_SCHEDULE_STATIC)
		return err(-EINVAL, "for: unknown schedule %u", a->schedule);
	if (a->data && a->schedule == LKDF_SCHEDULE_STATIC)
		return err(-EINVAL, "for: data and SCHEDULE_STATIC exclude "
				    "each other");
	if (a->data && a->data->rt != rt)
		return err(-EINVAL, "for: data \"%s\" %s", a->data->name,
			   border_whose(a->data->rt));
	return loop_check_scope("for", rt, a->scope);
}

static int for_with(struct lkdf *rt, struct lkdf_ctx *c,
		    const struct lkdf_for_attr *attr, const char *what)
{
	struct loop l = { .rt = rt, .what = "for: iterations" };
	struct lkdf_for_attr a;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!attr)
		return err(-EINVAL, "%s: attributes are NULL", what);
	rc = border_copy(attr, &a, sizeof(a), "lkdf_for_attr");
	if (!rc)
		rc = check_for(rt, &a);
	if (rc)
		return rc;
	if (c && a.scope)
		return err(-EINVAL, "%s: it runs in the scope of the body",
			   what);
	l.label = a.name ? a.name : what;
	l.range = a.range;
	if (unlikely(rt->fixes))
		l.range.grain =
			fixes_value(rt, FIX_GRAIN, l.label, a.range.grain);
	l.fn = a.fn;
	l.u = a.u;
	l.data = a.data;
	l.is_static = a.schedule == LKDF_SCHEDULE_STATIC;
	return run_loop(&l, c, a.scope);
}

int lkdf_for(struct lkdf *rt, struct lkdf_range r, lkdf_for_fn fn, void *u)
{
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = r,
		.fn = fn,
		.u = u,
	};

	return for_with(rt, NULL, &a, "lkdf_for");
}

int lkdf_for_with(struct lkdf *rt, const struct lkdf_for_attr *a)
{
	return for_with(rt, NULL, a, "lkdf_for_with");
}

int lkdf_for_in(struct lkdf_ctx *c, const struct lkdf_for_attr *a)
{
	int rc = border_ctx(c, "lkdf_for_in");

	return rc ? rc : for_with(c->ex->rt, c, a, "lkdf_for_in");
}

/* ---- invoke ------------------------------------------------------------- */

/* Blocks of lkdf_invoke(). */
static int call_some(uint64_t begin, uint64_t end, void *u)
{
	const struct lkdf_call *v = u;
	int rc = 0;

	for (; begin < end && rc >= 0; begin++)
		rc = v[begin].fn(v[begin].u);
	return rc;
}

static int invoke_with(struct lkdf *rt, struct lkdf_ctx *c,
		       const struct lkdf_call *v, unsigned nr, const char *what)
{
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = { 0, nr, 1 },
		.fn = call_some,
		.name = what,
	};
	unsigned i;

	if (nr && !v)
		return err(-EINVAL, "%s: %u functions, but v is NULL", what,
			   nr);
	for (i = 0; i < nr; i++)
		if (!v[i].fn)
			return err(-EINVAL, "%s: function %u is NULL", what, i);
	/* The functions do not change the array. */
	a.u = (void *)(uintptr_t)v;
	return for_with(rt, c, &a, what);
}

int lkdf_invoke(struct lkdf *rt, const struct lkdf_call *v, unsigned nr)
{
	return invoke_with(rt, NULL, v, nr, "lkdf_invoke");
}

int lkdf_invoke_in(struct lkdf_ctx *c, const struct lkdf_call *v, unsigned nr)
{
	int rc = border_ctx(c, "lkdf_invoke_in");

	return rc ? rc : invoke_with(c->ex->rt, c, v, nr, "lkdf_invoke_in");
}

/* ---- reduce ------------------------------------------------------------- */

/* The range in blocks, each with an accumulator; the loop goes over these. */
struct reduce {
	struct lkdf_reduce_attr a;
	struct cut cut;
	char *acc;
};

static void *acc_of(const struct reduce *r, uint64_t i)
{
	return r->acc + i * r->cut.stride;
}

static int reduce_blocks(uint64_t begin, uint64_t end, void *u)
{
	const struct reduce *r = u;
	const struct lkdf_reduce_attr *a = &r->a;
	uint64_t i, from, nr;
	int rc = 0;

	for (i = begin; i < end && rc >= 0; i++) {
		memcpy(acc_of(r, i), a->acc, a->acc_bytes);
		from = a->range.begin + i * r->cut.block;
		nr = min_u64(r->cut.block, a->range.end - from);
		rc = a->fn(from, from + nr, acc_of(r, i), a->u);
	}
	return rc;
}

void loop_cut(struct cut *cut, const struct lkdf_range *r, uint64_t acc_bytes)
{
	uint64_t nr = r->end - r->begin, blocks;

	cut->stride = round_up(acc_bytes, CACHE_LINE);
	if (r->grain) {
		cut->block = max_u64(r->grain, (nr - 1) / MAX_BLOCKS + 1);
	} else {
		blocks = min_u64(max_u64(nr / FEW_BLOCKS, FEW_BLOCKS),
				 AUTO_BLOCKS);
		blocks = min_u64(blocks,
				 max_u64(AUTO_BYTES / cut->stride, FEW_BLOCKS));
		cut->block = (nr - 1) / blocks + 1;
	}
	cut->nr_blocks = (nr - 1) / cut->block + 1;
}

/* All into the first, in order; then it is what the caller gets. */
static int join_parts(struct reduce *r)
{
	uint64_t i;
	int rc;

	for (i = 1; i < r->cut.nr_blocks; i++) {
		rc = r->a.join(r->acc, acc_of(r, i), r->a.u);
		if (rc < 0)
			return err(failure_errno(rc), "reduce: join: %s",
				   strerror(-failure_errno(rc)));
	}
	memcpy(r->a.acc, r->acc, r->a.acc_bytes);
	return 0;
}

int loop_check_acc(const char *what, uint64_t acc_bytes)
{
	if (acc_bytes && acc_bytes <= MAX_ACC)
		return 0;
	return err(-EINVAL, "%s: acc_bytes %llu, expected 1 .. %llu", what,
		   (unsigned long long)acc_bytes, MAX_ACC);
}

static int check_reduce(const struct lkdf *rt, const struct lkdf_reduce_attr *a)
{
	int rc = border_flags("reduce", a->flags, 0);

	if (!rc)
		rc = loop_check_range("reduce", &a->range);
	if (rc)
		return rc;
	if (!a->fn || !a->join || !a->acc)
		return err(-EINVAL, "reduce: fn, join or acc is NULL");
	rc = loop_check_acc("reduce", a->acc_bytes);
	return rc ? rc : loop_check_scope("reduce", rt, a->scope);
}

static int run_reduce(struct lkdf *rt, struct lkdf_ctx *c, struct reduce *r,
		      const char *label)
{
	struct loop l = { .rt = rt,
			  .what = "reduce: blocks",
			  .label = label,
			  .fn = reduce_blocks,
			  .u = r };
	int rc;

	if (r->a.range.begin == r->a.range.end)
		return 0;
	loop_cut(&r->cut, &r->a.range, r->a.acc_bytes);
	l.range.end = r->cut.nr_blocks;
	r->acc = aligned_alloc(CACHE_LINE, r->cut.nr_blocks * r->cut.stride);
	if (!r->acc)
		return err(-ENOMEM,
			   "reduce: no memory for %llu blocks of %llu bytes",
			   (unsigned long long)r->cut.nr_blocks,
			   (unsigned long long)r->cut.stride);
	rc = run_loop(&l, c, r->a.scope);
	if (!rc)
		rc = join_parts(r);
	free(r->acc);
	return rc;
}

static int reduce_parts(struct lkdf *rt, struct lkdf_ctx *c,
			const struct lkdf_reduce_attr *attr, const char *what)
{
	struct reduce r = { .acc = NULL };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!attr)
		return err(-EINVAL, "%s: attributes are NULL", what);
	rc = border_copy(attr, &r.a, sizeof(r.a), "lkdf_reduce_attr");
	if (!rc)
		rc = check_reduce(rt, &r.a);
	if (rc)
		return rc;
	if (c && r.a.scope)
		return err(-EINVAL, "%s: it runs in the scope of the body",
			   what);
	return run_reduce(rt, c, &r, r.a.name ? r.a.name : what);
}

int lkdf_reduce(struct lkdf *rt, const struct lkdf_reduce_attr *a)
{
	return reduce_parts(rt, NULL, a, "lkdf_reduce");
}

int lkdf_reduce_in(struct lkdf_ctx *c, const struct lkdf_reduce_attr *a)
{
	int rc = border_ctx(c, "lkdf_reduce_in");

	return rc ? rc : reduce_parts(c->ex->rt, c, a, "lkdf_reduce_in");
}
