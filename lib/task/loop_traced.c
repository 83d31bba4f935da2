/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/loop_traced.h"

#include "sched/current.h"
#include "task/traced.h"

/* Blocks in a row are one body up to that length, with no more between two. */
#define BODY_NS 20000
#define GAP_NS 1000

void loop_traced_open(struct loop *l)
{
	const struct trace_kind told = { .flags = LKDF_KIND_IS_LOOP,
					 .width = 1 };
	struct executor *ex = runtime_executor(l->rt);

	l->name = trace_kind(&l->rt->trace, l->label, &told);
	l->open_ticks = clock_ticks();
	l->opened_by = ex ? ex->now : 0;
}

static uint64_t ticks_of(const struct loop *l, uint64_t ns)
{
	return ns * l->rt->trace.ticks_per_1024ns / 1024;
}

static void tell_body(struct loop_place *p)
{
	const struct loop *l = p->now;
	struct executor *ex = runtime_executor(l->rt);
	struct lkdf_stats_slice s = {
		.begin = p->told.begin,
		.end = p->told.end,
		.task = NO_SLICE_TASK,
		.name = l->name,
		.ready = l->open_ticks,
		.by = l->opened_by,
		.number = p->told.number,
	};

	p->told.begin = 0;
	if (ex) {
		/* Bodies within it were the last to begin. */
		ex->now = LKDF_UID((uint32_t)ex->id, s.number);
		trace_slice(ex->ring, &s);
		usdt_3(body__end, l->label, ex->now, s.end - s.begin);
		return;
	}
	s.task = callers_lane(&l->rt->trace);
	s.number = (uint64_t)LKDF_SPAN_BLOCKS << 48;
	trace_slice_outside(trace_outside(&l->rt->trace), &s);
}

struct loop_place *loop_traced_begin(void)
{
	struct lkdf_ctx *c = current_get();
	struct loop_place *p;
	struct executor *ex;
	uint64_t now;

	if (!c || !loop_is_block(c))
		return NULL;
	p = container_of(c, struct loop_place, ctx);
	now = clock_ticks();
	if (p->told.begin && now - p->told.end > ticks_of(p->now, GAP_NS))
		tell_body(p);
	if (p->told.begin)
		return p;
	p->told.begin = p->told.end = now;
	ex = runtime_executor(p->now->rt);
	if (ex) {
		p->told.number = traced_begin(ex);
		usdt_2(body__begin, p->now->label, ex->now);
	}
	return p;
}

void loop_traced_end(struct loop_place *p)
{
	p->told.end = clock_ticks();
	if (p->told.end - p->told.begin >= ticks_of(p->now, BODY_NS))
		tell_body(p);
}

void loop_traced_leave(struct loop_place *p)
{
	if (p->told.begin)
		tell_body(p);
}
