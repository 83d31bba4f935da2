/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that kernels of a sealed graph leave on devices (data/offhost.h),
 * between its tasks, its runs and whoever comes later. The claim of a run takes
 * such data where it is; each task of the run that looks at it on the host
 * waits until it is home, before it starts, and makes copies stale if it
 * writes.
 *
 * Those tasks have a kind with a function around their own, which sends the
 * task away to wait as a task of its own; others have nothing of it. Data that
 * moves, or is reduced into by a task of the graph, does not stay on devices;
 * of data that lives for a run see offhost_once.h.
 */
#ifndef RUN_OFFHOST_RUN_H
#define RUN_OFFHOST_RUN_H

#include "graph/access.h"

struct blocking_item;
struct frame;
struct lkdf_ctx;
struct lkdf_graph;
struct lkdf_kind;
struct task;

/* ---- at seal ------------------------------------------------------------ */

/* Which vars may be away. */
void offhost_find(struct lkdf_graph *g);

/* Does the host look at the use of a task of that kind? */
bool offhost_is_looked_at(const struct lkdf_kind *k,
			  const struct access_table *w,
			  const struct access_use *u);

/* The function of such a kind, see kind_around(). */
int offhost_body(struct lkdf_ctx *c, void *arg);

/* ---- in a run ----------------------------------------------------------- */

/* The task is to start. True: some bytes are to come, and then it is started.
 */
bool offhost_run_holds(struct task *t);

/*
 * True: some bytes are to come, and the blocking item of the task is run when
 * they may be home; then ask again. here: of a kernel that is run on the host.
 */
bool offhost_run_waits(struct task *t, bool here);

/* They are home, and the body begins. 0; the error of bytes that were lost. */
int offhost_run_begin(struct lkdf_ctx *c, bool here);

/* The error of a use that reads bytes that were lost; 0: they were not. */
int offhost_run_error(const struct frame *f, const struct access_use *u);

/* The task that waits for bytes with that item; NULL: none does. */
const struct task *offhost_run_of_bytes(const struct blocking_item *item);

#endif
