/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/checked.h"

#include "base/err.h"
#include "check/device.h"
#include "core/limit.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "data/claim.h"
#include "data/var_check.h"
#include "scope/scope.h"
#include "task/after.h"
#include "task/body.h"
#include "task/ctx.h"
#include "task/kind.h"
#include "task/task.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256

enum task_token {
	TOKEN_TOLD, /* by the creator */
	TOKEN_CHILDREN,
	TOKEN_LEFT, /* by the task's own body */
	NR_TASK_TOKENS
};

/* It lies in the task until the next one in that memory is made. */
struct check_task {
	uint64_t token[NR_TASK_TOKENS];
	void *arg; /* a copy that nobody has touched; NULL: not needed */
	struct check_place place; /* its last body */
};

/* A part of a body, or what stands for it. */
struct body {
	struct check_call call;
	struct lkdf_ctx *c;
	lkdf_fn fn;
	void *arg;
	struct task *t;
	struct check_place after;
	bool goes_on;
	int rc;
};

static struct check *check_of(const struct task *t)
{
	return t->kind->rt->check;
}

/* ---- records ------------------------------------------------------------ */

/* A task of a run, or of a group, has it when it is asked for. */
static struct check_task *record_of(struct task *t)
{
	if (!t->check)
		t->check = calloc(1, sizeof(*t->check));
	return t->check;
}

static uint64_t *token_of(struct task *t, enum task_token which)
{
	struct check_task *r = record_of(t);

	return r ? &r->token[which] : NULL;
}

void checked_made(struct task *t)
{
	if (t->check)
		check_free(t->check->arg);
	free(t->check);
	t->check = NULL;
	check_release(check_of(t), token_of(t, TOKEN_TOLD));
}

/* In the task's own memory other arguments were before. */
static void *fresh_arg(struct task *t, void *arg)
{
	struct check_task *r = record_of(t);
	uint32_t size = t->kind->arg_size;

	if (!r || arg != t->inline_arg || !size)
		return arg;
	r->arg = check_alloc(CACHE_LINE, size);
	if (!r->arg)
		return arg;
	memcpy(r->arg, arg, size);
	t->arg = r->arg;
	return r->arg;
}

/* ---- data and limits ---------------------------------------------------- */

/* A task above it has not waited where its use is weak. */
static void hear_use(struct check *ch, const struct use *u)
{
	for (; u; u = u->domain->above)
		var_hear(ch, u->var, u->turn);
}

void checked_hear_uses(struct check *ch, const struct claim *cl)
{
	const struct use *u;

	/* Its bytes may have come from a device. */
	check_device_hear(ch, DEVICE_CAME);
	for (u = cl->first; u; u = u->after)
		if (!(u->flags & USE_WEAK))
			hear_use(ch, u);
}

/* A body has told the uses that it has given on, see uses_leave(). */
static void tell_uses_left(struct check *ch, const struct claim *cl)
{
	const struct use *u;

	for (u = cl->first; u; u = u->after)
		if (!u->is_given)
			var_tell(ch, u->var, u->turn);
}

void checked_tell_uses(struct check *ch, const struct claim *cl)
{
	const struct use *u;

	for (u = cl->first; u; u = u->after)
		var_tell(ch, u->var, u->turn);
}

/* Tokens that one task has at a time exclude, and give no order. */
static void hold_limits(struct task *t,
			void (*fn)(struct check *ch, uint64_t *token))
{
	const struct lkdf_kind *k = t->kind;
	struct lkdf_limit *l;
	uint32_t i;

	for (i = 0; i < k->nr_limits; i++) {
		l = k->limit[i].limit;
		if (!l->check)
			l->check = check_tokens(1);
		if (l->check && 2 * k->limit[i].tokens > l->nr_tokens)
			fn(check_of(t), l->check);
	}
}

static void hold_uses(struct task *t,
		      void (*fn)(struct check *ch, uint64_t *token))
{
	const struct use *u;
	uint64_t *held;

	if (!(t->link.flags & TASK_HAS_DATA))
		return;
	for (u = t->claim->first; u; u = u->after) {
		held = use_takes_token(u) ? var_held(u->var) : NULL;
		if (held)
			fn(check_of(t), held);
	}
}

/* ---- what comes before -------------------------------------------------- */

static void hear_event(struct check *ch, struct lkdf_event e)
{
	if (e.slot)
		check_acquire(ch, event_token(ch, e.slot, e.gen));
}

static void hear_before(struct body *b)
{
	struct check *ch = check_of(b->t);
	struct task *t = b->t;
	uint32_t i;

	if (t->link.flags & TASK_OWNED)
		t->owner->hear(t->frame, t->index);
	else
		check_acquire(ch, token_of(t, TOKEN_TOLD));
	if (b->goes_on) {
		check_acquire(ch, token_of(t, TOKEN_LEFT));
		if (t->then_on_event)
			hear_event(ch, t->tap.event);
		else
			check_acquire(ch, token_of(t, TOKEN_CHILDREN));
		return;
	}
	if (t->link.flags & TASK_HAS_DATA && !(t->link.flags & TASK_OWNED))
		checked_hear_uses(ch, t->claim);
	if (t->link.flags & TASK_EXTRA && t->after)
		for (i = 0; i < t->after->nr; i++)
			hear_event(ch, t->after->input[i].event);
}

/* ---- what comes after --------------------------------------------------- */

void checked_tell_scope(struct lkdf_scope *s)
{
	for (; s; s = s->parent) {
		if (!s->check)
			s->check = check_tokens(1);
		check_release(s->rt->check, s->check);
	}
}

/* own: whose body has ended, if it is that. */
static void checked_tell(struct task *t, const struct task *own)
{
	struct check *ch = check_of(t);
	struct task *parent;

	for (;; t = parent) {
		if (t->link.flags & TASK_OWNED) {
			t->owner->tell(t->frame, t->index, NULL);
			return;
		}
		if (t->link.flags & TASK_HAS_DONE)
			check_release(ch, event_token(ch, t->done.slot,
						      t->done.gen));
		if (t->link.flags & TASK_HAS_DATA && t == own)
			tell_uses_left(ch, t->claim);
		else if (t->link.flags & TASK_HAS_DATA)
			checked_tell_uses(ch, t->claim);
		if (t->link.flags & TASK_SCOPED)
			checked_tell_scope(t->scope);
		parent = a_load(&t->parent, relaxed);
		if (!parent)
			return;
		check_release(ch, token_of(parent, TOKEN_CHILDREN));
	}
}

void checked_tell_parent(struct task *t)
{
	check_release(check_of(t), token_of(t, TOKEN_CHILDREN));
	checked_tell(t, NULL);
}

/* The fiber on which it runs goes on with what comes after this body alone. */
static void tell_after(struct body *b)
{
	struct task *t = b->t;
	struct check_task *r = record_of(t);

	if (r) {
		r->place = b->call.place;
		check_release(check_of(t), &r->token[TOKEN_LEFT]);
	}
	if (t->link.flags & TASK_OWNED)
		t->owner->tell(t->frame, t->index, &b->call.place);
	else
		checked_tell(t, t);
}

/* ---- bodies ------------------------------------------------------------- */

/* The task whose body has made it, past those that stand for several. */
static const struct task *body_above(const struct task *t)
{
	const struct task *up = a_load(&t->parent, relaxed);

	while (up && !(up->link.flags & (TASK_GENERAL | TASK_OWNED)))
		up = a_load(&up->parent, relaxed);
	return up;
}

static void body_name(const struct task *t, char *name, size_t size)
{
	const struct task *parent = body_above(t);
	const char *kind = t->kind->name;
	char text[2 * NAME_SIZE];

	if (t->link.flags & TASK_OWNED) {
		t->owner->name(t->frame, t->index, text, sizeof(text));
		snprintf(name, size, "task \"%s\" of graph \"%s\", kind \"%s\"",
			 text, t->owner->graph(t->frame), kind);
		return;
	}
	task_text(t, text, sizeof(text));
	if (t->kind->ops->told & LKDF_KIND_IS_LOOP)
		snprintf(name, size, "block of a loop");
	else if (parent)
		snprintf(name, size, "child \"%s\" below \"%s\"", text,
			 parent->kind->name);
	else
		snprintf(name, size, "task \"%s\"", text);
}

/*
 * The library begins work elsewhere, and calls a driver of the program, which
 * has threads of its own.
 */
static bool is_deaf(const struct body *b)
{
	return b->goes_on || !b->t->kind->is_away;
}

static void run_body(struct check_call *call)
{
	struct body *b = container_of(call, struct body, call);
	struct check *ch = check_of(b->t);
	struct worker *w = b->c ? b->c->ex->worker : NULL;
	struct depth outer;

	if (w) {
		outer = w->depth;
		depth_set(&w->depth, call->stack, call->stack_size);
	}
	hear_before(b);
	if (b->fn) {
		hold_limits(b->t, check_hold);
		hold_uses(b->t, check_hold);
		if (is_deaf(b))
			check_enter(ch);
		b->rc = body_call(b->fn, b->c, b->arg);
		check_leave(ch);
		hold_uses(b->t, check_drop);
		hold_limits(b->t, check_drop);
	}
	tell_after(b);
	if (w)
		w->depth = outer;
}

static int call_on_fiber(struct body *b)
{
	char name[NAME_BYTES];
	int rc;

	body_name(b->t, name, sizeof(name));
	b->call.run = run_body;
	b->call.name = name;
	if (b->goes_on && b->t->check)
		b->after = b->t->check->place;
	else if (b->t->link.flags & TASK_OWNED)
		b->after = b->t->owner->after(b->t->frame, b->t->index);
	rc = fiber_run(check_of(b->t), &b->call, b->after);
	if (!rc)
		return b->rc;
	log_text(&b->t->kind->rt->log, LKDF_LOG_ERROR, "%s", err_text());
	if (b->c)
		b->c->has_why = true;
	return rc;
}

int checked_body(struct lkdf_ctx *c, void *arg)
{
	struct task *t = c->task ? c->task : task_of_ctx(c);
	struct body b = { .c = c, .t = t };

	if (!t)
		return -ENOMEM;
	b.fn = t->kind->user_fn;
	b.arg = t->link.flags & TASK_OWNED ? arg : fresh_arg(t, arg);
	return call_on_fiber(&b);
}

int checked_then(struct lkdf_ctx *c, void *arg)
{
	struct body b = {
		.c = c,
		.t = c->task,
		.fn = c->task->then_fn,
		.arg = arg,
		.goes_on = true,
	};

	return call_on_fiber(&b);
}

void checked_joined(struct task *t)
{
	if (t->check)
		check_acquire(check_of(t), &t->check->token[TOKEN_CHILDREN]);
}

void checked_skipped(struct task *t)
{
	struct body b = { .t = t };

	call_on_fiber(&b);
}

void checked_left(struct task *t)
{
	check_release(check_of(t), token_of(t, TOKEN_LEFT));
}

void checked_came(struct task *t)
{
	struct body b = { .t = t, .goes_on = true };

	call_on_fiber(&b);
}

static void run_drop(struct check_call *call)
{
	struct body *b = container_of(call, struct body, call);
	struct check *ch = check_of(b->t);

	check_acquire(ch, token_of(b->t, TOKEN_TOLD));
	check_acquire(ch, token_of(b->t, TOKEN_LEFT));
	check_acquire(ch, token_of(b->t, TOKEN_CHILDREN));
	check_enter(ch);
	b->t->kind->drop(b->t->arg);
	check_leave(ch);
	checked_tell(b->t, b->t);
}

void checked_drop(struct task *t)
{
	struct body b = { .t = t };
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "drop of \"%s\"", t->kind->name);
	b.call.run = run_drop;
	b.call.name = name;
	fiber_run(check_of(t), &b.call, b.after);
}

struct held {
	struct check_call call;
	struct task *t;
	struct lkdf_event e;
};

static void run_held(struct check_call *call)
{
	struct held *h = container_of(call, struct held, call);

	check_acquire(check_of(h->t), token_of(h->t, TOKEN_LEFT));
	hear_event(check_of(h->t), h->e);
	checked_tell(h->t, h->t);
}

void checked_held(struct task *t, struct lkdf_event e)
{
	struct held h = { .t = t, .e = e };

	h.call.run = run_held;
	h.call.name = "event that a task holds";
	fiber_run(check_of(t), &h.call, (struct check_place){ 0 });
}
