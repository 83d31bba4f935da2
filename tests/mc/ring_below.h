/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is above and below io_ring.c, for the scenarios of ring.h, which
 * includes it.
 */
#ifndef MC_RING_BELOW_H
#define MC_RING_BELOW_H

#include "io/io_chain.h"

/* ---- what is above and below -------------------------------------------- */

#define NOT_REACHED mc_fail("%s", __func__)

#include "ring_multi.h"
#include "rows_below.h"

/* No threads of the blocking pool want a CPU here. */
void blocking_make_room(struct blocking *b)
{
	(void)b;
}

void trace_slice(struct trace_ring *r, const struct lkdf_stats_slice *s)
{
	(void)r;
	(void)s;
	NOT_REACHED;
}

int64_t io_op_peek(const struct lkdf_io *io, enum io_sort sort)
{
	(void)io;
	(void)sort;
	NOT_REACHED;
}

int64_t io_op_peek_quick(const struct lkdf_io *io)
{
	(void)io;
	NOT_REACHED;
}

bool io_op_is_small(const struct lkdf_io *io)
{
	(void)io;
	NOT_REACHED;
}

enum io_quick io_op_quick(const struct lkdf_io *io)
{
	(void)io;
	NOT_REACHED;
}

enum io_sort io_op_sort(int fd)
{
	(void)fd;
	NOT_REACHED;
}

struct io_ring *io_ring_make(struct worker *w)
{
	(void)w;
	NOT_REACHED;
}

void io_issue_call(struct executor *ex, struct io_req *r)
{
	(void)ex;
	(void)r;
	NOT_REACHED;
}

void io_issue(struct worker *w, struct io_req *r)
{
	(void)w;
	(void)r;
	NOT_REACHED;
}

void io_ring_tell_lack(struct worker *w, int error)
{
	(void)w;
	(void)error;
	NOT_REACHED;
}

/* A thread would try again; here the worker's own try must do. */
void io_wait_again(struct lkdf *of)
{
	(void)of;
	mc_see("again");
}

void io_op_fill(struct io_op *op, struct io_uring_sqe *sqe)
{
	struct io_req *r = container_of(op, struct io_req, op);

	(void)sqe;
	plain_store(&container_of(r, struct op, req)->filled, 1);
}

enum io_next io_op_came(struct io_op *op, int64_t res)
{
	struct io_req *r = container_of(op, struct io_req, op);
	struct op *o = container_of(r, struct op, req);

	mc_assert(plain_load(&o->filled) == 1);
	mc_assert(plain_load(&o->posted) == 1);
	o->result = res;
	return IO_OVER;
}

/* It goes on as an item of who has taken it. */
enum task_end then_leave(struct executor *ex, struct task *t)
{
	struct op *op = container_of(t, struct op, task);

	op->nr_came++;
	mc_assert(op->nr_came == 1);
	mc_see(op->result < 0 ? "ended by the cancel" : "ended by itself");
	worker_push(ex->worker, CLASS_NORMAL, link_item(&op->goes_on));
	return TASK_PENDING;
}

void far_look(struct worker *w, uint64_t idle_ticks)
{
	(void)w;
	(void)idle_ticks;
}

bool far_allows(const struct worker *w, const struct sched_node *victim)
{
	(void)w;
	(void)victim;
	return true;
}

int64_t far_nap(struct worker *w)
{
	(void)w;
	return -1;
}

bool far_may_wake(struct sched_node *n)
{
	(void)n;
	return false;
}

/* ---- nothing is registered, no chains ----------------------------------- */

void io_op_fix(struct io_uring_sqe *sqe, int file, int buffer)
{
	(void)sqe;
	mc_assert(file < 0 && buffer < 0);
}

void io_fixed_look(struct io_ring *of, struct io_req *r)
{
	(void)of;
	(void)r;
	NOT_REACHED;
}

uint32_t io_chain_make(struct io_req *r)
{
	(void)r;
	NOT_REACHED;
}

struct io_req *io_chain_came(struct io_req *r, int res)
{
	(void)r;
	(void)res;
	NOT_REACHED;
}

#endif
