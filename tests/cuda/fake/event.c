/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events and words. A wait keeps the number of the record that was the last
 * when it was given; an event that was destroyed stays for those who wait.
 */
#include "tests/cuda/fake/fake.h"

#include <stdlib.h>
#include <unistd.h>

static struct CUevent_st *events;
static uint64_t nr_records;

struct CUevent_st *event_make(struct CUctx_st *ctx, unsigned flags)
{
	struct CUevent_st *e = calloc(1, sizeof(*e));

	if (!e)
		abort();
	e->ctx = ctx;
	e->flags = flags;
	e->next = events;
	events = e;
	return e;
}

uint64_t event_number(void)
{
	return ++nr_records;
}

static cu_result check_event(enum entry call, const struct CUevent_st *e)
{
	if (!e)
		return 400;
	if (e->is_dead)
		use_destroyed(call);
	return 0;
}

cu_result cuEventCreate(cu_event *e, unsigned flags)
{
	cu_result r = enter(E_cuEventCreate, NEEDS_CONTEXT);

	/* A process shares only those that take no times. */
	if (!r && (flags & ~7u || ((flags & CU_EVENT_SHARED) &&
				   !(flags & CU_EVENT_NO_TIMING))))
		r = 1;
	if (!r)
		*e = event_make(current, flags);
	return leave(r);
}

cu_result cuEventDestroy(cu_event e)
{
	cu_result r = enter(E_cuEventDestroy, NEEDS_DRIVER);

	if (!r)
		r = check_event(E_cuEventDestroy, e);
	if (!r)
		e->is_dead = true;
	return leave(r);
}

cu_result cuEventRecord(cu_event e, cu_stream handle)
{
	cu_result r = enter(E_cuEventRecord, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;
	struct op *o;

	if (!r)
		r = check_event(E_cuEventRecord, e);
	if (!r)
		r = stream_find(E_cuEventRecord, handle, &s);
	if (!r && e->ctx != s->ctx)
		r = 400;
	if (r)
		return leave(r);
	e->capture = s->capture;
	e->stream = s;
	if (s->capture)
		return leave(0);
	o = op_make(OP_RECORD);
	o->event = e;
	o->record = e->recorded = event_number();
	return leave(stream_give(E_cuEventRecord, handle, o));
}

cu_result cuEventQuery(cu_event e)
{
	cu_result r = enter(E_cuEventQuery, NEEDS_HEALTH);

	if (!r)
		r = check_event(E_cuEventQuery, e);
	if (!r && e->capture) {
		e->capture->broken = 901;
		r = 907;
	}
	if (!r)
		r = capture_forbids(NULL);
	if (!r && e->done < e->recorded)
		r = 600;
	return leave(r);
}

cu_result cuEventSynchronize(cu_event e)
{
	cu_result r = enter(E_cuEventSynchronize, NEEDS_DRIVER);
	uint64_t record;

	if (!r)
		r = check_event(E_cuEventSynchronize, e);
	if (!r)
		r = capture_forbids(NULL);
	if (!r) {
		record = e->recorded;
		while (e->done < record && !fault_told())
			wait_change();
		r = fault_told();
	}
	return leave(r);
}

/* No times are kept: a run on the CPU tells nothing of a card. */
cu_result cuEventElapsedTime(float *ms, cu_event a, cu_event b)
{
	cu_result r = enter(E_cuEventElapsedTime, NEEDS_DRIVER);

	if (!r)
		r = check_event(E_cuEventElapsedTime, a);
	if (!r)
		r = check_event(E_cuEventElapsedTime, b);
	if (!r && ((a->flags | b->flags) & CU_EVENT_NO_TIMING || !a->recorded ||
		   !b->recorded))
		r = 400;
	if (!r && (a->done < a->recorded || b->done < b->recorded))
		r = 600;
	if (!r)
		*ms = 0;
	return leave(r);
}

/* The stream joins the capture in which the event was recorded, or comes back.
 */
static cu_result wait_captured(struct CUstream_st *s, struct CUevent_st *e)
{
	if (!s->capture) {
		s->capture = e->capture;
		s->has_left = true;
		return 0;
	}
	if (s->capture != e->capture) {
		s->capture->broken = e->capture->broken = 901;
		return 902;
	}
	e->stream->has_left = false;
	return 0;
}

cu_result cuStreamWaitEvent(cu_stream handle, cu_event e, unsigned flags)
{
	cu_result r = enter(E_cuStreamWaitEvent, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;
	struct op *o;

	if (!r && flags > 1)
		r = 1;
	if (!r)
		r = stream_find(E_cuStreamWaitEvent, handle, &s);
	if (!r)
		r = check_event(E_cuStreamWaitEvent, e);
	if (r)
		return leave(r);
	if (e->capture)
		return leave(wait_captured(s, e));
	if (s->capture && e->recorded) {
		s->capture->broken = 901;
		return leave(905);
	}
	o = op_make(OP_WAIT);
	o->event = e;
	o->record = e->recorded;
	return leave(stream_give(E_cuStreamWaitEvent, handle, o));
}

/* A word that the card may read and write. */
static cu_result give_word(enum entry e, cu_stream s, enum op_kind kind,
			   cu_ptr p, uint32_t value)
{
	struct op *o;

	if (like(LIKE_NO_WORDS))
		return 801;
	if (p & 3 || !range_has(p, 4))
		return 1;
	o = op_make(kind);
	o->to = (void *)(uintptr_t)p;
	o->value = value;
	return stream_give(e, s, o);
}

cu_result cuStreamWriteValue32(cu_stream s, cu_ptr p, uint32_t v,
			       unsigned flags)
{
	cu_result r = enter(E_cuStreamWriteValue32, NEEDS_DRIVER);

	if (!r)
		r = flags > 1 ? 1
			      : give_word(E_cuStreamWriteValue32, s, OP_WRITE,
					  p, v);
	return leave(r);
}

/* Only >=, which is 0. */
cu_result cuStreamWaitValue32(cu_stream s, cu_ptr p, uint32_t v, unsigned flags)
{
	cu_result r = enter(E_cuStreamWaitValue32, NEEDS_DRIVER);

	if (!r)
		r = flags ? 801
			  : give_word(E_cuStreamWaitValue32, s, OP_WAIT_VALUE,
				      p, v);
	return leave(r);
}

cu_result cuLaunchHostFunc(cu_stream s, cu_host_fn fn, void *arg)
{
	cu_result r = enter(E_cuLaunchHostFunc, NEEDS_DRIVER);
	struct op *o;

	if (!r && !fn)
		r = 1;
	if (!r) {
		o = op_make(OP_HOST);
		o->fn = fn;
		o->arg = arg;
		r = stream_give(E_cuLaunchHostFunc, s, o);
	}
	return leave(r);
}
