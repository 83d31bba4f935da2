/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/cancel.h"

#include "gomp/calls.h"

#include <stdlib.h>

/* Constructs in gcc's calls, as bits. */
#define CANCEL_PARALLEL 1
#define CANCEL_LOOP 2
#define CANCEL_SECTIONS 4
#define CANCEL_GROUP 8

void cancel_begin_group(bool is_of_construct)
{
	struct self *self = &gomp_self;
	struct task_group *g;

	if (likely(!self->team->cancels))
		return;
	g = malloc(sizeof(*g));
	if (!g)
		return;
	*g = (struct task_group){ .outer = self->group,
				  .depth = self->depth,
				  .is_of_construct = is_of_construct };
	self->group = g;
}

void cancel_end_group(void)
{
	struct task_group *g = gomp_self.group;

	if (likely(!g) || g->depth != gomp_self.depth)
		return;
	gomp_self.group = g->outer;
	free(g);
}

/* The group that "taskgroup" means: one of a construct is none of the
 * program's.
 */
static struct task_group *program_group(struct task_group *g)
{
	return g && g->is_of_construct && g->outer ? g->outer : g;
}

bool cancel_drops(const struct team *t, const struct task_group *g)
{
	const struct task_group *outer = program_group((struct task_group *)g);

	return cancel_is_region(t) ||
	       (g && (a_load(&g->is_cancelled, relaxed) ||
		      a_load(&outer->is_cancelled, relaxed)));
}

/* Loops and sections end with a barrier, so their number is that of barriers.
 */
static uint32_t number_of_work(void)
{
	return gomp_self.nr_barriers + 1;
}

bool GOMP_cancellation_point(int which)
{
	struct team *t = team_self();

	if (likely(!t->cancels))
		return false;
	if (which & (CANCEL_LOOP | CANCEL_SECTIONS) &&
	    a_load(&t->cancelled_work, relaxed) == number_of_work())
		return true;
	if (which & CANCEL_GROUP)
		return cancel_drops(t, gomp_self.group);
	return cancel_is_region(t);
}

bool GOMP_cancel(int which, bool is_asked)
{
	struct team *t = team_self();
	struct task_group *g;

	if (likely(!t->cancels) || !is_asked)
		return GOMP_cancellation_point(which);
	if (which & (CANCEL_LOOP | CANCEL_SECTIONS)) {
		a_store(&t->cancelled_work, number_of_work(), relaxed);
	} else if (which & CANCEL_GROUP) {
		g = program_group(gomp_self.group);
		if (g)
			a_store(&g->is_cancelled, 1, relaxed);
	} else {
		a_store(&t->is_cancelled, 1, relaxed);
	}
	return true;
}

/*
 * True: the region is cancelled, and the thread goes to its end. The thread
 * that has cancelled it drops out after that, so threads that this releases see
 * it.
 */
bool GOMP_barrier_cancel(void)
{
	struct team *t = team_self();

	if (unlikely(cancel_is_region(t)))
		return true;
	team_barrier();
	return cancel_is_region(t);
}
