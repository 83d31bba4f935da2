/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parallel loops. The caller runs a loop with the workers that are idle, see
 * loop_crew.h. Where nobody is, where another loop has the crew, and where
 * several nodes have workers, it is cut into pieces:
 *
 * A piece is a task with a part of the range. It halves its
 * part, spawning the upper halves, which thieves take largest first, until one
 * grain is left: then nobody waits behind a block that turns out long.
 *
 * Where the user gives no grain the size of a block is found by the clock: it
 * begins with 1 and grows until a block is long against what it costs. A
 * piece halves only until there are some for each worker; then it runs block
 * after block and gives away the upper half of what is left whenever its
 * worker has nothing that thieves could take. So there are few tasks where
 * nobody is idle. This is the lazy splitting of Tzannes et al., PPoPP 2010.
 *
 * The loop lies on the stack of who called, who waits for all pieces.
 */
#ifndef TASK_PARALLEL_FOR_H
#define TASK_PARALLEL_FOR_H

#include "base/atomic.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "task/ctx.h"

#include <lkdf/loop.h>

struct piece {
	struct loop *loop;
	uint64_t begin, end;
	uint64_t block; /* iterations of the next; 0: not known yet */
};

struct loop {
	/* Set by the user, constant afterwards. */
	struct lkdf *rt;
	const char *what; /* goes over, for error texts */
	const char *label; /* for hooks: its name, or the function called */
	struct lkdf_range range; /* not empty */
	lkdf_for_fn fn;
	void *u;
	struct lkdf_data *data;
	struct lkdf_scope *scope; /* that it runs in */
	bool is_static;

	/* Set before the first piece, constant afterwards. */
	struct lkdf_kind *kind;
	double rest_ticks; /* after the first blocks, on one thread; a guess */
	uint64_t grain;
	uint64_t coarse; /* longer pieces are halved before their first block */
	uint64_t large; /* so long is a piece that nobody should wait for */
	uint64_t block_ticks; /* what is shorter counts as short */
	bool is_auto; /* how long blocks are is found by the clock */
	bool probes; /* runs some blocks before it is cut */
	uint32_t name; /* of its blocks, while somebody records; 0: nobody */
	uint64_t open_ticks,
		opened_by; /* the same: since when, by which body */
	_Atomic(uint32_t) *is_taken; /* static: the part, by worker */

	/* Any thread. */
	_Atomic(int32_t) error;
	_Atomic(uint32_t) nr_short; /* blocks in a row; a guess */

	/* Written by the body that sets error; read when all have ended. */
	uint64_t bad_begin, bad_end;
};

/* All of it, from a thread that may wait. The first error. */
int loop_run(struct loop *l);

/* As children of the body, and waits for them all. */
int loop_run_in(struct loop *l, struct lkdf_ctx *c);

/*
 * Where this thread may not wait: in a loop's function, or in a body whose
 * context is not at hand. See loop_nested.c.
 */
int loop_run_nested(struct loop *l);

/* ---- of a loop ---------------------------------------------------------- */

/* 0; -ECANCELED: the scope is cancelled. */
int loop_may_begin(const struct loop *l);

/* Its fields before the first piece. 0; -ENOMEM. */
int loop_start(struct loop *l);
struct piece loop_first_piece(struct loop *l, uint64_t begin, uint64_t end);

/* This thread runs the first blocks, so that a short loop wakes nobody. */
void loop_probe(struct loop *l, const struct lkdf_scope *s, struct piece *p);

/* All of a piece, but for what becomes children of the body. */
void loop_run_piece(struct lkdf_ctx *c, const struct lkdf_scope *s,
		    struct piece *p);

/* As a task of the scope, anywhere. */
int loop_submit_piece(struct loop *l, struct lkdf_scope *s, struct piece *p,
		      struct lkdf_event *done);

/* From where the upper half of the piece begins, in whole grains. */
uint64_t loop_middle(const struct piece *p);

/* The first error: rc, which the wait returned, or that of the function. */
int loop_result(struct loop *l, int rc);

/*
 * Are its pieces at a gate? Then each is a task, and no other thread runs any.
 */
bool loop_is_gated(const struct loop *l);

/* Have workers of one node only part in it? */
bool loop_is_of_one_node(const struct loop *l);

/*
 * The nodes and their parts of the range, in order: in *out, malloc'ed. Return:
 * how many; -ENOMEM.
 */
struct part {
	uint64_t begin, end;
	int node; /* -1: any */
};
int loop_parts(const struct loop *l, struct part **out);

/*
 * False: something has failed, or somebody has cancelled it. The piece is not
 * empty.
 */
bool loop_goes_on(struct loop *l, const struct lkdf_scope *s,
		  const struct piece *p);

/* The next block; how long it took, where that counts. */
uint64_t loop_run_block(struct loop *l, struct piece *p);

/*
 * This thread is in the loop's function from here on, in the body of t or NULL:
 * it waits for nothing but children of the block, and loops that it begins are
 * nested. leave goes back.
 */
struct loop_place {
	void *loop, *task; /* before */
	struct lkdf_ctx *outer; /* the same */
	bool is_in;

	/* Its blocks, one after another. */
	struct loop *now;
	struct task *above; /* NULL: none of the runtime */
	struct lkdf_ctx ctx;

	/* The body that a recording is told; begin 0: none. */
	struct {
		uint64_t begin, end, number;
	} told;
};
void loop_enter(struct loop_place *p, struct loop *l, struct task *t);
void loop_leave(struct loop_place *p);

/* The context of a loop's block, which goes on as nothing and holds nothing. */
extern const struct owner_ops loop_block_ops;

static inline bool loop_is_block(const struct lkdf_ctx *c)
{
	return c->owner == &loop_block_ops && !c->frame;
}

/* begin .. end of what so many of all workers are due, in whole grains. */
uint64_t loop_share(const struct loop *l, uint64_t below, uint64_t all);

/* The kind goes. When nothing lives. */
void loop_close(struct lkdf *rt);

#endif
