/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/guest.h"

#include "base/thread.h"

void guest_enter(struct guest *g, struct worker *w)
{
	struct thread *self = thread_self();

	check(self->executor != w->executor);
	*g = (struct guest){ .executor = self->executor,
			     .loop = self->loop,
			     .loop_task = self->loop_task,
			     .depth = w->depth };
	self->executor = w->executor;
	self->loop = self->loop_task = NULL;
	depth_begin(&w->depth);
}

void guest_leave(const struct guest *g, struct worker *w)
{
	struct thread *self = thread_self();

	check(self->executor == w->executor);
	w->depth = g->depth;
	self->executor = g->executor;
	self->loop = g->loop;
	self->loop_task = g->loop_task;
}
