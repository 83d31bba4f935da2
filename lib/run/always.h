/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The errors that tasks with LKDF_ALWAYS are told of their inputs in a graph,
 * and the fate of an input that is bad and that they leave as it was: by a use
 * with LKDF_MAYBE, or a weak one whose children have not written. Arrivals say
 * that something before a task has failed, not what; so for each use of theirs
 * that reads, and each use that reads what they may have left, seal notes who
 * writes it, and a run with failures notes which uses have left their vars bad.
 * Graphs without such tasks have nothing of it.
 *
 * A whole that was bad in one part, and is left as it was, is bad to who comes
 * later in the run.
 */
#ifndef RUN_ALWAYS_H
#define RUN_ALWAYS_H

#include "graph/access.h"
#include "run/frame.h"

struct domain;
struct task;

/* Last thing of seal, when tasks have their index. */
void always_index(struct lkdf_graph *g);

/* Room for what a run notes. False: no memory. */
bool always_create(struct values *v, const struct access_table *w);

/* A run begins: nothing that it uses is bad yet. */
void always_begin(struct values *v, const struct access_table *w);

void always_note_bad(struct frame *f, const struct access_use *u);

/* The task of the use failed or was skipped. */
static inline void always_dead(struct frame *f, const struct access_use *u)
{
	if (unlikely(f->values.bad) && u->flags & ACCESS_WRITES &&
	    !values_is_untouched(f, u))
		always_note_bad(f, u);
}

/* A task of a frame ends; its claim is still there. */
void always_end(struct task *t);

bool always_is_bad(const struct frame *f, uint32_t from, uint32_t to);

/* Does one read what the other has left bad, though it may have succeeded? */
static inline bool always_passes_error(const struct frame *f, uint32_t from,
				       uint32_t to)
{
	return unlikely(a_load(&f->values.has_bad, relaxed)) &&
	       always_is_bad(f, from, to);
}

/* As lkdf_input_error(), in the body of such a task of a frame. */
int always_input_error(const struct task *t, unsigned input);

/* Children see a weak use of its parent in the domain: as bad as it is. */
void always_open(const struct task *t, unsigned use, struct domain *d);

#endif
