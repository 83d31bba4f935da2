/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/commute.h"

#include "base/err.h"
#include "core/failure.h"
#include "data/claim.h"
#include "graph/access.h"
#include "run/frame.h"
#include "run/task_claim.h"
#include "task/ctx.h"
#include "task/task.h"

#include <errno.h>

static struct var *token_of(const struct access_table *w,
			    const struct access_use *u)
{
	return u->flags & ACCESS_TOKEN ? &access_var(w, u->var)->token->whole
				       : NULL;
}

static void give_tokens(struct lkdf_ctx *c, const struct access_use *u,
			const struct access_use *end, int error)
{
	const struct access_table *w = c->frame->graph->accesses;
	struct var *v;

	for (; u < end; u++) {
		v = token_of(w, u);
		if (v && error)
			var_fail(v, failure_errno(error), NULL);
		if (v)
			claim_give_token(c->ex, v);
	}
}

/* All or none; none as well where another one has failed. */
static bool take_tokens(struct lkdf_ctx *c, const struct access_use *first,
			const struct access_use *end)
{
	const struct access_table *w = c->frame->graph->accesses;
	const struct access_use *u;
	struct var *v;

	for (u = first; u < end; u++) {
		v = token_of(w, u);
		if (!v)
			continue;
		if (!token_take(v))
			break;
		if (unlikely(a_load(&v->error, relaxed))) {
			claim_give_token(c->ex, v);
			break;
		}
	}
	if (likely(u == end))
		return true;
	give_tokens(c, first, u, 0);
	return false;
}

/* Until its children are gone: the claim has them from here on. */
static int keep_tokens(struct lkdf_ctx *c, const struct access_use *first,
		       const struct access_use *end, int rc)
{
	if (likely(!task_claim_open(c->task)))
		return rc;
	give_tokens(c, first, end, -ENOMEM);
	if (rc < 0 && rc != LKDF_AGAIN)
		return rc;
	c->has_why = true;
	return -ENOMEM;
}

int commute_body(struct lkdf_ctx *c, void *arg)
{
	const struct access_use *first, *end;
	struct frame *f = c->frame;
	lkdf_fn body = f->recs[c->index].kind->inner[AROUND_TOKENS];
	int rc;

	/* Its claim has taken them. */
	if (c->task)
		return body(c, arg);
	first = access_uses(f->graph->accesses, c->index, &end);
	if (!take_tokens(c, first, end)) {
		c->put_off = true;
		c->after = AFTER_LOOK;
		return 0;
	}
	rc = body(c, arg);
	if (unlikely(c->task))
		return keep_tokens(c, first, end, rc);
	give_tokens(c, first, end, rc < 0 ? rc : 0);
	return rc;
}
