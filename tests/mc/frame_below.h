/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What frame.c calls and does not matter to the scenarios of mc_frame.c and
 * mc_stream.c: mutexes that spin, and functions that do nothing or are not
 * reached.
 */
#ifndef FRAME_BELOW_H
#define FRAME_BELOW_H

#include "base/futex.h"
#include "check_below.h"
#include "core/failure.h"
#include "core/runtime.h"
#include "data/data.h"
#include "graph/tell.h"
#include "mc.h"
#include "mutex_below.h"
#include "run/frame.h"
#include "run/planned.h"
#include "run/resolve.h"
#include "run/sources.h"
#include "run/stream.h"
#include "scope/deadline.h"
#include "task/task.h"
#include "thread_below.h"

void deadline_sleep(struct lkdf *r, _Atomic(uint32_t) *word, uint32_t expect,
		    int64_t timeout_ns)
{
	(void)r;
	futex_wait(word, expect, timeout_ns);
}

/* What frame.c calls besides: nothing to do here, or not reached. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

void graph_get(struct lkdf_graph *g)
{
}

void sched_drain(struct sched *s)
{
}

#define NOT_REACHED(type, name, ...)                  \
	type name(__VA_ARGS__)                        \
	{                                             \
		mc_fail("frame.c has called " #name); \
	}

void failure_count(struct failure *f, const struct tally *t)
{
}

NOT_REACHED(struct failure *, failure_create, const struct lkdf_error *e,
	    const char *kind)
NOT_REACHED(void, failure_observe, struct failure *f)
NOT_REACHED(void, failure_tell, struct lkdf_error *e, int error,
	    const char *why)
NOT_REACHED(const char *, graph_task_name, const struct lkdf_graph *g,
	    uint32_t task, char *buf, size_t size)
NOT_REACHED(void, graph_tell, struct lkdf_graph *g,
	    uint32_t (*slot)(const struct lkdf_graph *g, uint32_t n))
NOT_REACHED(int, values_prepare, struct lkdf_graph *g)
NOT_REACHED(int, values_enter, struct executor *ex, struct frame *f)
NOT_REACHED(void, values_begin, struct frame *f)
NOT_REACHED(void, values_leave, struct executor *ex, struct frame *f, int error,
	    struct failure *failure)
NOT_REACHED(void, planned_end, struct frame *f)
NOT_REACHED(bool, values_are_wanted, const struct frame *f)
NOT_REACHED(void, values_count, struct frame *f)
NOT_REACHED(void, values_begin_wave, struct frame *f,
	    const struct frame *holder)
NOT_REACHED(void, values_end_wave, struct frame *f, struct frame *holder)
NOT_REACHED(void, values_end_waves, struct frame *holder)
NOT_REACHED(const char *, data_text, const struct lkdf_data *d, uint32_t part,
	    char text[DATA_TEXT])
NOT_REACHED(void, resolve_pass_tokens, struct worker *w, struct frame *f)
NOT_REACHED(int, scope_refuse, const struct lkdf_scope *s)
NOT_REACHED(void, task_child_ended, struct executor *ex, struct task *parent,
	    int error, struct failure *f)
NOT_REACHED(int, deadline_create, struct lkdf_scope *parent, int64_t ns,
	    struct lkdf_scope **out)
NOT_REACHED(struct lkdf_scope *, deadline_leave, struct lkdf_scope *own)

#pragma GCC diagnostic pop

#endif
