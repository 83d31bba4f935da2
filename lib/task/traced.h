/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The trace of bodies while a file is recorded: kinds have SLOW_TRACED then and
 * are not spawned the short way, so that everything here is off the paths that
 * run when nobody records.
 *
 * The task that made another one ready, and the time, are noted in that when it
 * starts; an executor knows which body, or operation, it has begun last.
 */
#ifndef TASK_TRACED_H
#define TASK_TRACED_H

#include "base/clock.h"
#include "task/task.h"
#include "trace/trace.h"
#include "trace/usdt.h"

/* Gives the number of the body that the executor begins now. */
static inline uint64_t traced_begin(struct executor *ex)
{
	uint64_t number = ++ex->nr_begun;

	ex->now = LKDF_UID((uint32_t)ex->id, number);
	return number;
}

/* As traced_begin(), of a body. */
static inline uint64_t traced_begin_body(struct executor *ex,
					 const struct lkdf_kind *k)
{
	uint64_t number = traced_begin(ex);

	usdt_2(body__begin, &k->name[0], ex->now);
	return number;
}

/* It becomes ready, by what ex has begun last; ex may be NULL. */
static inline void traced_ready(struct executor *ex, struct task *t)
{
	t->ready_ticks = clock_ticks();
	t->ready_by = ex ? ex->now : 0;
}

/*
 * The number of a text that is no kind's name, such as a label: these leave
 * half of all names to kinds. 0: there is no room. And that of data, without a
 * part.
 */
uint32_t traced_name(struct trace *trace, const char *text);
uint32_t traced_data_name(const struct lkdf_data *d);

/* Bytes that a body on an executor was given, by where they are. */
struct traced_bytes {
	uint64_t local, remote;
};

/* Counts data, or a part of it: for the executor, too. */
void traced_count(struct traced_bytes *b, struct executor *ex,
		  const struct lkdf_data *d, uint32_t part);

/* As the value of a slice, in pieces of 64 bytes. */
uint64_t traced_value(const struct traced_bytes *b);

/* Tells a body of a task that took so long. */
void traced_task(struct lkdf_ctx *c, struct task *t, uint64_t number,
		 uint64_t begin, uint64_t end);

/* The body of a task has left and been told: for what the task waits. */
void traced_waits(struct task *t, const char *text);

/* Tells a body of a graph's task without a task of its own. */
void traced_record(struct lkdf_ctx *c, const struct lkdf_kind *k,
		   uint64_t number, uint64_t begin, uint64_t end);

#endif
