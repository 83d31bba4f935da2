/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The tables by which results go up. Control goes down by calls; what comes of
 * it goes up through a pointer to one of these tables, which an upper room has
 * handed down. The lower rooms call the table and know none of its rows.
 *
 *	owner_ops   who resolves a task besides its parent and its scope. The
 *	            row is a run of a graph (run/own_task.c), for those of its
 *	            tasks that have an object of their own.
 *	kind_ops    the sorts of kinds. A plain kind's work is its body. The
 *	            work of the others is done elsewhere: their tasks begin it
 *	            and leave, as lkdf_then() does. The rows are plain kinds
 *	            (task/kind.c), operations of the system (io/io.c) and
 *	            kernels of devices (offload/kernel.c).
 *	completion_ops
 *	            where completions come from. The rows are the rings of the
 *	            workers (io/io_ring.c) and devices (offload/devices.c).
 *	            Launchers of devices end tasks themselves, and need a row
 *	            for serial mode and cancels only.
 *	seal_pass   what a room adds to a graph at its seal and to each of its
 *	            frames. The rows are operations that follow each other in
 *	            a ring (io/io_chain.c) and kernels that are given to their
 *	            device early (offload/early.c).
 */
#ifndef CORE_OPS_H
#define CORE_OPS_H

#include "check/fiber.h"

#include <lkdf/kind.h>
#include <stdbool.h>
#include <stdint.h>

struct executor;
struct failure;
struct frame;
struct lkdf;
struct lkdf_graph;
struct lkdf_scope;
struct lkdf_stats_slice;
struct task;
struct worker;

/* For tasks with TASK_OWNED, and for bodies whose context has an owner. */
struct owner_ops {
	/* The object of the task whose body runs. NULL: no memory. */
	struct task *(*create)(struct lkdf_ctx *c);

	/* The scope of the body's run. */
	struct lkdf_scope *(*scope)(const struct lkdf_ctx *c);

	/* A child uses its data: it gets a claim. 0 or -ENOMEM. */
	int (*open)(struct task *t);

	/*
	 * Before the body of a task with data: 0; > 0: an input is not there,
	 * *failure (borrowed) tells why and the error is its negative.
	 */
	int (*begin)(const struct task *t, struct failure **failure);

	/* A body has ended well and goes on nowhere: what is it with rc? */
	int (*returned)(struct lkdf_ctx *c, int rc);

	/* A body has failed, with text why or NULL. */
	void (*failed)(struct task *t, int error, const char *why, int worker);

	/*
	 * Body and children are gone, and its data is not given on yet: the
	 * error it ends with. Then nobody else has the task: it is over.
	 */
	int (*ending)(struct task *t, int error);
	void (*ended)(struct executor *ex, struct task *t);

	/* Its number, run and frame, for a slice of a recording. */
	void (*describe)(const struct frame *f, uint32_t index,
			 struct lkdf_stats_slice *s);

	/* Bytes of its data for a slice of a recording, as its value. */
	uint64_t (*bytes)(struct executor *ex, const struct frame *f,
			  uint32_t index);

	/* Option check, see task/checked.h: what comes before and after it, the
	 * fiber of a body before it, its graph. */
	void (*hear)(struct frame *f, uint32_t index);
	void (*tell)(struct frame *f, uint32_t index,
		     const struct check_place *at);
	struct check_place (*after)(const struct frame *f, uint32_t index);
	const char *(*graph)(const struct frame *f);

	/* A body of a task with LKDF_PROFILE took so many ticks. */
	void (*took)(const struct frame *f, uint32_t index, uint64_t ticks);

	/* The task's name; NULL here means that of its kind. */
	const char *(*name)(const struct frame *f, uint32_t index, char *name,
			    size_t size);
};

struct kind_ops {
	/*
	 * The body of every task of the sort; the user's function is in
	 * lkdf_kind.later then, and may be NULL. NULL: the user's function is
	 * the body.
	 */
	lkdf_fn begin;

	/* Any thread. 0; or why the argument of such a task is refused. */
	int (*check_arg)(const void *arg);

	/*
	 * A kind is made: makes the threads that its tasks need here; NULL:
	 * none. 0 or -EAGAIN. And a kind is gone; NULL: it has nothing.
	 */
	int (*prepare)(struct lkdf *rt);
	void (*free)(struct lkdf_kind *k);

	/*
	 * One task that is ready: does it run on another thread than a worker?
	 * Then push queues it there; NULL: on the blocking pool.
	 */
	bool (*wants_pool)(struct task *t);
	void (*push)(struct task *t);

	/*
	 * The use whose bytes the host reads before the body; -1: none. NULL:
	 * those of all uses, in the body, see data/offhost.h.
	 */
	int (*host_use)(const struct lkdf_kind *k);

	uint32_t told; /* enum lkdf_kind_told, of a recording; see trace.h */

	/*
	 * The body has left and the work, which TASK_AWAY tells of, is over;
	 * whoever of the two was last calls. ex is NULL on a thread of the
	 * user. True: the task has no function to go on as and ends now; it may
	 * have failed.
	 */
	bool (*ended)(struct executor *ex, struct task *t);

	/*
	 * A graph's task has ended. True: it was sent to another node, whose
	 * worker resolves it, since its bytes came there.
	 */
	bool (*goes_home)(struct executor *ex, struct task *t);

	/* For tasks with REC_FOLLOWS; NULL: the sort has none. */
	const struct chain_ops *chain;
};

/*
 * A graph's task with REC_FOLLOWS: its work may have been given together with
 * that of the task before it. A worker calls all four.
 */
struct chain_ops {
	/* The work is begun or done. */
	bool (*is_early)(struct frame *f, uint32_t index);

	/* True: the work resolves the task, which needs no object. NULL: it
	 * never does. */
	bool (*joins)(struct executor *ex, struct frame *f, uint32_t index);

	/* The new object of the task takes the work over. */
	void (*adopt)(struct task *t);

	/* The task is skipped: nobody wants the work. */
	void (*forget)(struct frame *f, uint32_t index);
};

/* The thread that seals the graph calls these, one pass after the other. */
struct seal_pass {
	/* The records of the graph are final; the pass may set flags in them.
	 */
	void (*seal)(struct lkdf_graph *g);

	/* A frame of the graph is made, 0 or -errno, or goes, which may be one
	 * that is half made. NULL: the pass adds nothing to frames. */
	int (*create_frame)(struct frame *f);
	void (*destroy_frame)(struct frame *f);
};

/* A worker's part of a source: in its list once it is made. */
struct completions {
	/* Set by the worker, constant afterwards. */
	const struct completion_ops *ops;
	struct completions *next;
};

/* See core/completion.h, whose functions call these. */
struct completion_ops {
	/* The worker, between two of its tasks. */
	bool (*has_news)(const struct completions *c);
	void (*look)(struct completions *c, uint64_t next);
	bool (*stays)(const struct completions *c); /* some are under way */

	/* Any worker. */
	void (*guard)(struct worker *w);
	bool (*poll)(struct worker *w);
	int64_t (*nap)(struct worker *w);
	void (*leave)(struct worker *w);

	/* Serial mode. */
	bool (*wait)(struct worker *w, int64_t nap_ns);
	bool (*sleep)(struct lkdf *rt, int64_t timeout_ns);

	/* Any thread. */
	void (*kick)(struct lkdf *rt);
};

#endif
