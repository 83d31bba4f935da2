/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The scope and its members for the scenarios of mc_scope.c and mc_cancel.c.
 * scope.c, room.c and deadline.c as they are shipped; what lies under them is
 * in scope_below.h.
 */
#ifndef MC_MEMBERS_H
#define MC_MEMBERS_H

#include "mc.h"
#include "scope/deadline.h"
#include "scope_below.h"

#define FOR_EVER (-1)

static struct lkdf_scope *scope, *below; /* below: of scope, or NULL */
static struct failure *failures[2];
static int work[2]; /* plain: the member's, read by who has waited */
static int told[MC_THREADS]; /* by thread */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static struct lkdf_scope *make(struct lkdf_scope *parent, uint64_t max_tasks,
			       int64_t deadline_ns)
{
	const struct lkdf_scope_attr a = { .size = sizeof(a),
					   .max_tasks = max_tasks,
					   .deadline_ns = deadline_ns };
	struct lkdf_scope *s;

	mc_assert(scope_create(&rt, parent, &a, &s) == 0);
	mc_name(&s->count, "count");
	mc_name(&s->nr_waiters, "nr_waiters");
	mc_name(&s->epoch, "epoch");
	mc_name(&s->cancel_err, "cancel_err");
	mc_name(&s->first_err, "first_err");
	mc_name(&s->lock, "lock");
	return s;
}

static void enter(struct lkdf_scope *s, int nr)
{
	while (nr-- > 0)
		mc_assert(scope_enter(s, 1, false) == 0);
}

static void begin_anew(void)
{
	int i;

	begin_runtime_anew();
	scope = below = NULL;
	for (i = 0; i < 2; i++) {
		plain_store(&work[i], 0);
		failures[i] = failure_new();
	}
	memset(told, 0, sizeof(told));
}

static void init_with(int nr_members)
{
	begin_anew();
	scope = make(&root, 0, 0);
	enter(scope, nr_members);
}

static void init_empty(void)
{
	init_with(0);
}

static void init_one(void)
{
	init_with(1);
}

static void init_two(void)
{
	init_with(2);
}

static void init_root_one(void)
{
	begin_anew();
	scope = &root;
	enter(scope, 1);
}

static void init_root_two(void)
{
	begin_anew();
	scope = &root;
	enter(scope, 2);
}

static void init_below(void)
{
	init_with(0);
	below = make(scope, 0, 0);
	enter(below, 1);
}

/* The user has put the one below. */
static void init_put_below(void)
{
	init_below();
	scope_put(below);
}

static void init_deadline(void)
{
	begin_anew();
	scope = make(&root, 0, 3 * SECOND / 2);
	enter(scope, 1);
}

/* Full. */
static void init_room(void)
{
	begin_anew();
	scope = make(&root, 1, 0);
	enter(scope, 1);
}

static bool is_live(struct lkdf_scope *s)
{
	return (s->parent ? (uint32_t)a_load(&s->count, relaxed)
			  : a_load(&s->came, relaxed) -
				    a_load(&s->departed, relaxed)) != 0;
}

/* What a body has done, then its end. */
static void leave(int member)
{
	plain_store(&work[member], 1);
	scope_leave(scope, 1);
}

static void await(int id)
{
	told[id] = scope_wait(scope, FOR_EVER);
}

/* Nobody lives in it or waits for it, and only the user holds it. */
static void is_empty(struct lkdf_scope *s)
{
	mc_assert(!is_live(s));
	mc_assert(a_load(&s->nr_waiters, relaxed) == 0);
	mc_assert(a_load(&s->count, relaxed) == SCOPE_REF);
	mc_see(a_load(&s->epoch, relaxed) ? "woken" : "found empty");
}

/* All scopes are freed, and with them all failures. */
static void is_gone(void)
{
	mc_assert(!is_live(&root));
	mc_assert(a_load(&root.count, relaxed) == SCOPE_REF);
	mc_assert(!root.children);
	mc_assert(a_load(&rt.nr_handles, relaxed) == 0);
	scope_fini(&root);
	mc_assert(a_load(&nr_failures, relaxed) == 0);
}

static void end(void)
{
	is_empty(scope);
	if (scope != &root)
		scope_put(scope);
	is_gone();
}

#define ROW(text, nr, how_far, first, fn, last, ...)                          \
	{                                                                     \
		.name = text, .nr_threads = nr, .bound = how_far, .stale = 1, \
		.timeouts = -1, .init = first, .thread = fn, .final = last,   \
		.must_see = {                                                 \
			__VA_ARGS__                                           \
		}                                                             \
	}

#pragma GCC diagnostic pop

#endif
