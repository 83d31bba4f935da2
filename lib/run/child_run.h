/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs as children of bodies. Such a run has a frame as any other, and its end
 * is told to its parent instead of its scope, as that of a child that is a
 * task. A join of the parent, on whichever worker, runs what the run asks for,
 * so nothing that the run waits for may stand outside of it: no token of
 * another run, no data of others, no limit that its parents hold.
 */
#ifndef RUN_CHILD_RUN_H
#define RUN_CHILD_RUN_H

struct lkdf_ctx;
struct lkdf_graph;
struct lkdf_run;

/* See lkdf_spawn_graph(); g is sealed and of the body's runtime, r checked. */
int child_run_start(struct lkdf_ctx *c, struct lkdf_graph *g,
		    const struct lkdf_run *r);

#endif
