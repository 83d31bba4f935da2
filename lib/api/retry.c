/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/retry.h"

#include "base/err.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "run/frame.h"
#include "scope/deadline.h"
#include "task/step.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A failed body, and what it has said. */
struct failed_try {
	int rc;
	uint32_t nr; /* tries so far, with this one */
	char why[ERRMSG_SIZE]; /* "": nothing */
};

static const struct lkdf_kind *kind_of(const struct lkdf_ctx *c)
{
	return c->task ? c->task->kind : c->frame->recs[c->index].kind;
}

static bool is_cancelled(const struct lkdf_ctx *c)
{
	struct lkdf_scope *s = c->frame ? c->frame->scope : c->task->scope;

	return deadline_look(s) != 0;
}

/* Something of that body goes on, which a further call would not know. */
static bool has_left_something(const struct lkdf_ctx *c)
{
	return c->leaves || c->has_groups ||
	       (c->task && c->task->link.flags & TASK_HOLDS);
}

/*
 * The children of the failed body end before the next one begins, which
 * replaces what they have made, and their errors.
 */
static bool await_children(struct lkdf_ctx *c)
{
	if (!c->task)
		return true;
	if (task_may_join(c))
		return false;
	task_join(c);
	return true;
}

static bool may_call_again(struct lkdf_ctx *c, const struct failed_try *t)
{
	return t->nr < kind_of(c)->nr_tries && !has_left_something(c) &&
	       !is_cancelled(c) && await_children(c) && !is_cancelled(c);
}

static void note_try(const struct lkdf_ctx *c, struct failed_try *t, int rc)
{
	t->rc = rc;
	t->nr++;
	snprintf(t->why, sizeof(t->why), "%s", c->has_why ? err_text() : "");
}

/* The error of the last try is the task's. */
static int tell_tries(struct lkdf_ctx *c, const struct failed_try *t)
{
	uint32_t most = kind_of(c)->nr_tries;
	char count[32] = "";

	if (t->nr < most)
		snprintf(count, sizeof(count), " of %u", most);
	c->has_why = true;
	c->after = AFTER_LOOK;
	return err(t->rc, "after %u%s tries: %s", t->nr, count,
		   t->why[0] ? t->why
			     : strerror(t->rc < -4095 ? ERANGE : -t->rc));
}

static __attribute__((noinline)) int try_again(struct lkdf_ctx *c, void *arg,
					       int rc)
{
	struct failed_try t = { .nr = 0 };

	for (;;) {
		note_try(c, &t, rc);
		if (!may_call_again(c, &t))
			return tell_tries(c, &t);
		c->has_why = false;
		counter_add(c->ex->counters, COUNTER_RETRIES, 1);
		rc = kind_of(c)->tried_fn(c, arg);
		if (rc >= 0 || rc == LKDF_AGAIN)
			return rc;
	}
}

static int tried_body(struct lkdf_ctx *c, void *arg)
{
	int rc = kind_of(c)->tried_fn(c, arg);

	return likely(rc >= 0 || rc == LKDF_AGAIN) ? rc : try_again(c, arg, rc);
}

int retry_create_kind(struct lkdf *rt, const struct lkdf_kind_attr *attr,
		      struct lkdf_kind **out)
{
	struct lkdf_kind_attr a = *attr;
	int rc;

	a.fn = tried_body;
	rc = kind_create(rt, &a, out);
	if (rc)
		return rc;
	/* Nobody else has the kind yet, and it has no copies. */
	(*out)->tried_fn = attr->fn;
	(*out)->nr_tries = attr->nr_tries;
	return 0;
}
