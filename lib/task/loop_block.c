/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks of a loop: the call of the user's function, how long the next one
 * is to be, and the end that an error or a cancel makes.
 */
#include "task/parallel_for.h"

#include "base/clock.h"
#include "base/thrown.h"
#include "core/failure.h"
#include "scope/scope.h"
#include "task/kind.h"

#define MAX_BLOCK (1ull << 40)

/* The first error stays. */
static void stop_loop(struct loop *l, int error, const struct piece *p,
		      uint64_t nr)
{
	int32_t none = 0;

	error = failure_errno(error);
	if (!a_cas(&l->error, &none, error, relaxed, relaxed))
		return;
	l->bad_begin = p->begin;
	l->bad_end = p->begin + nr;
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

uint64_t loop_run_block(struct loop *l, struct piece *p)
{
	uint64_t nr = min_u64(p->block, p->end - p->begin);
	bool is_timed = l->is_auto || a_load(&l->nr_short, relaxed) < SAMPLES;
	uint64_t start = is_timed ? clock_ticks() : 0, ticks = 0;
	int rc = call_function(l, p->begin, p->begin + nr);

	if (unlikely(rc < 0))
		stop_loop(l, rc, p, nr);
	p->begin += nr;
	if (is_timed) {
		ticks = clock_ticks() - start;
		learn_grain(l, p, ticks);
	}
	return ticks;
}

struct loop_place loop_enter(struct loop *l, struct task *t)
{
	struct thread *self = thread_self();
	struct loop_place before = { self->loop, self->loop_task };

	/* The record that stands in where there is no memory is of several. */
	if (thread_is_shared(self))
		return before;
	self->loop = l;
	self->loop_task = t;
	return before;
}

void loop_leave(const struct loop_place *before)
{
	struct thread *self = thread_self();

	if (thread_is_shared(self))
		return;
	self->loop = before->loop;
	self->loop_task = before->task;
}
