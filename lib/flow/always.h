/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tasks with LKDF_ALWAYS are told of their inputs in a graph. Arrivals say
 * that something before them has failed, not what; so for each use of theirs
 * that reads, seal notes who writes it, and a run with failures notes which
 * tasks are dead. Graphs without such tasks have nothing of it.
 */
#ifndef FLOW_ALWAYS_H
#define FLOW_ALWAYS_H

#include "flow/graph.h"
#include "flow/values.h"

struct task;
struct wire_use;
struct wirer;
struct wiring;

static inline bool always_is(const struct lkdf_graph *g, uint32_t task)
{
	return g->recs[task].kind->flags & LKDF_ALWAYS;
}

/* At seal: the use reads what the task writes. */
void always_note(struct wirer *r, const struct wire_use *u, uint32_t writer);

/* Last thing of seal, when tasks have their index. */
void always_index(struct lkdf_graph *g);

/* Room for what a run notes. False: no memory. */
bool always_create(struct values *v, const struct wiring *w);

/* A run begins. */
void always_begin(struct values *v, const struct wiring *w);

/* The task failed or was skipped. */
static inline void always_dead(struct values *v, uint32_t index)
{
	if (likely(!v->dead))
		return;
	v->dead[index] = 1;
	a_store(&v->has_dead, 1, relaxed);
}

/* As lkdf_input_error(), in the body of such a task of a frame. */
int always_input_error(const struct task *t, unsigned input);

#endif
