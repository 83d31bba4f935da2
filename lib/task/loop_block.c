/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks of a loop: the call of the user's function, its context and the
 * children that it starts, how long the next one is to be, and the end that an
 * error or a cancel makes.
 */
#include "task/parallel_for.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/thrown.h"
#include "core/failure.h"
#include "mechanism/holdoff/holdoff.h"
#include "sched/current.h"
#include "scope/scope.h"
#include "task/kind.h"
#include "task/loop_traced.h"
#include "task/task.h"

#include <errno.h>

#define MAX_BLOCK (1ull << 40)

/* The first error stays; true: it is this one. */
static bool stop_loop(struct loop *l, int error, const struct piece *p,
		      uint64_t nr)
{
	int32_t none = 0;

	error = failure_errno(error);
	if (!a_cas(&l->error, &none, error, relaxed, relaxed))
		return false;
	l->bad_begin = p->begin;
	l->bad_end = p->begin + nr;
	return true;
}

bool loop_goes_on(struct loop *l, const struct lkdf_scope *s,
		  const struct piece *p)
{
	int cancelled = scope_cancelled(s);

	if (unlikely(cancelled))
		stop_loop(l, cancelled, p, p->end - p->begin);
	return !a_load(&l->error, relaxed);
}

/* Its length follows the clock, if the user has not set it. */
static void learn_grain(struct loop *l, struct piece *p, uint64_t ticks)
{
	uint32_t nr = a_load(&l->nr_short, relaxed);

	if (nr < SAMPLES)
		a_store(&l->nr_short, ticks < l->block_ticks ? nr + 1 : 0,
			relaxed);
	if (!l->is_auto)
		return;
	if (ticks < l->block_ticks && p->block < MAX_BLOCK)
		p->block *= ticks < l->block_ticks / 16 ? 8 : 2;
	else if (ticks > 4 * l->block_ticks && p->block > 1)
		p->block /= 2;
}

/* On each thread that an exception leaves it on the process ends. */
static int call_function(const struct loop *l, uint64_t begin, uint64_t end)
{
	__attribute__((cleanup(thrown_look))) const char *guard =
		"lkdf: a loop: an exception, or pthread_exit(), has left its "
		"function; catch it there and return an error\n";
	int rc = l->fn(begin, end, l->u);

	guard = NULL;
	return rc;
}

/* ---- the context of a block --------------------------------------------- */

/*
 * A task that stands in for the block, with its first child; see
 * loop_nested.c.
 */
static struct task *create_block(struct lkdf_ctx *c)
{
	struct loop_place *p = container_of(c, struct loop_place, ctx);
	struct worker *w = c->ex->worker;
	struct task *t;

	if (w && !depth_may_join(&w->depth)) {
		err(-EOVERFLOW, "a loop's function: nested too deep for "
				"children");
		return NULL;
	}
	t = task_create_group(p->now->rt, runtime_inside(c->ex), p->now->kind);
	if (!t)
		return NULL;
	t->link.type = LINK_NESTED;
	t->scope = p->now->scope;
	if (p->above)
		task_set_parent(t, p->above);
	return t;
}

static struct lkdf_scope *scope_of_block(const struct lkdf_ctx *c)
{
	return container_of(c, const struct loop_place, ctx)->now->scope;
}

const struct owner_ops loop_block_ops = {
	.create = create_block,
	.scope = scope_of_block,
};

/*
 * The function of a block of nr has returned 0 or an error. Its children end;
 * one that has failed stops the loop.
 */
static __attribute__((noinline)) void end_children(struct loop *l,
						   const struct piece *p,
						   uint64_t nr,
						   struct lkdf_ctx *c)
{
	struct executor *ex = c->ex;
	struct task *t = c->task;
	struct failure *f;
	int error;

	/* The body was perhaps taken for a short one, and waits now. */
	if (ex->worker) {
		holdoff_end(ex->worker);
		worker_share_all(ex->worker);
	}
	error = task_join_told(c, &f);
	if (error && stop_loop(l, error, p, nr))
		failure_observe(f);
	failure_put(f, &l->rt->log);
	runtime_free(ex->rt, runtime_inside(ex), POOL_TASK, t);
	c->task = NULL;
	c->after = 0;
	c->has_spawned = c->has_why = false;
}

static void call_block(struct loop *l, const struct piece *p, uint64_t nr)
{
	int rc = call_function(l, p->begin, p->begin + nr);
	struct lkdf_ctx *c = current_get();

	if (unlikely(rc < 0))
		stop_loop(l, rc, p, nr);
	if (unlikely(c && c->task))
		end_children(l, p, nr, c);
}

uint64_t loop_run_block(struct loop *l, struct piece *p)
{
	uint64_t nr = min_u64(p->block, p->end - p->begin);
	bool is_timed = l->is_auto || a_load(&l->nr_short, relaxed) < SAMPLES;
	struct loop_place *told =
		unlikely(l->name) ? loop_traced_begin() : NULL;
	uint64_t start = is_timed ? clock_ticks() : 0, ticks = 0;

	call_block(l, p, nr);
	if (unlikely(told != NULL))
		loop_traced_end(told);
	p->begin += nr;
	if (is_timed) {
		ticks = clock_ticks() - start;
		learn_grain(l, p, ticks);
	}
	return ticks;
}

/* Where the thread's context is; see sched/current.h. */
static void *swap_current(struct thread *self, struct lkdf_ctx *c)
{
	struct lkdf_ctx *outer = self->current;

	if (self->executor)
		return current_set(self->executor, c);
	self->current = c;
	return outer;
}

static struct task *task_above(const struct loop_place *p, struct task *t)
{
	const struct lkdf_ctx *outer = p->outer;

	if (t || !outer || outer->ex->rt != p->now->rt)
		return t;
	return outer->task;
}

void loop_enter(struct loop_place *p, struct loop *l, struct task *t)
{
	struct thread *self = thread_self();
	struct executor *ex = self->executor;

	p->loop = self->loop;
	p->task = self->loop_task;
	/* The record that stands in where there is no memory is of several. */
	p->is_in = !thread_is_shared(self);
	if (!p->is_in)
		return;
	self->loop = l;
	self->loop_task = t;
	p->now = l;
	p->told.begin = 0;
	p->ctx = (struct lkdf_ctx){
		.ex = ex ? ex : l->rt->outside,
		.owner = &loop_block_ops,
	};
	/* A body of another runtime waits for nothing here. */
	p->outer = swap_current(self, ex && ex->rt != l->rt ? NULL : &p->ctx);
	p->above = task_above(p, t);
}

void loop_leave(struct loop_place *p)
{
	struct thread *self = thread_self();

	if (!p->is_in)
		return;
	if (unlikely(p->told.begin))
		loop_traced_leave(p);
	self->loop = p->loop;
	self->loop_task = p->task;
	swap_current(self, p->outer);
}
