/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Streams: each has its ops in order and a thread that does them, from its
 * first op on. A stream that is destroyed keeps its place in the list, so that
 * its use later is found out, and its thread ends when its work is done.
 */
#include "tests/cuda/fake/fake.h"

#include "tests/cuda/fake/control.h"
#include "tests/cuda/fake/fiber.h"

#include <stdlib.h>

struct CUstream_st *streams;

#define AT_ONCE_NS 20000000

static unsigned nr_holding; /* calls that hold launches up */
static bool host_is_busy; /* one thread calls all host functions */
static long nr_waits;

static struct CUstream_st *make_stream(struct CUctx_st *ctx, unsigned flags,
				       int priority)
{
	struct CUstream_st *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ctx = ctx;
	s->flags = flags;
	s->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
	s->end = &s->first;
	pthread_cond_init(&s->given, NULL);
	s->next = streams;
	streams = s;
	return s;
}

bool stream_is_null(const struct CUstream_st *s)
{
	return s->ctx->null_stream == s;
}

static struct CUstream_st *null_stream(void)
{
	if (current && !current->null_stream)
		current->null_stream = make_stream(current, 0, 0);
	return current ? current->null_stream : NULL;
}

cu_result stream_find(enum entry e, cu_stream s, struct CUstream_st **out)
{
	struct CUstream_st *x;

	if (!s || s == (cu_stream)CU_LEGACY) {
		s = null_stream();
		if (!s)
			return 201;
	}
	for (x = streams; x && x != s; x = x->next)
		;
	if (!x)
		return 400;
	if (x->is_dead)
		use_destroyed(e);
	if (x->ctx->is_dead)
		return 709;
	if (like(LIKE_CURRENT) && x->ctx != current && needs_current(e))
		return 400;
	*out = x;
	return 0;
}

/* ---- the thread of a stream --------------------------------------------- */

static void pop_op(struct CUstream_st *s)
{
	struct op *o = s->first;

	if (o->kind == OP_RECORD && o->event->done < o->record)
		o->event->done = o->record;
	s->first = o->next;
	if (!s->first)
		s->end = &s->first;
	s->nr--;
	op_free(o);
	tell_change();
}

/* Does the first op, without the lock meanwhile. */
static void do_op(struct CUstream_st *s)
{
	struct op *o = s->first;
	bool is_copy = o->kind == OP_COPY;
	cu_result r;

	if (is_copy)
		copy_held();
	if (is_copy && fault_told())
		return;
	if (is_copy)
		bytes_begin();
	host_is_busy |= o->kind == OP_HOST;
	fake_unlock();
	r = op_run(o);
	fake_lock();
	if (o->kind == OP_HOST)
		host_is_busy = false;
	if (is_copy)
		bytes_end();
	if (r) {
		/* It never ends, and nothing behind it ever comes. */
		fault_begin(r);
		s->is_stuck = true;
		tell_change();
		return;
	}
	pop_op(s);
}

static bool may_go(const struct CUstream_st *s)
{
	return op_may_run(s->first) &&
	       !(s->first->kind == OP_HOST && host_is_busy);
}

static void *run_stream(void *arg)
{
	struct CUstream_st *s = arg;

	pthread_setname_np(pthread_self(), "cuda-stream");
	fake_lock();
	while (s->first || !s->is_dead) {
		/* Behind a fault no stream of any card does anything. */
		if (!s->first || s->is_stuck || fault_told())
			wait_given(&s->given);
		else if (may_go(s))
			do_op(s);
		else
			wait_change();
	}
	s->has_thread = false;
	fake_unlock();
	fiber_end();
	return NULL;
}

static void start_thread(struct CUstream_st *s)
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&t, &a, run_stream, s))
		abort();
	pthread_attr_destroy(&a);
	s->has_thread = true;
}

/* ---- giving ops --------------------------------------------------------- */

/* The null stream and streams that block wait for each other. */
static bool both_block(const struct CUstream_st *a, const struct CUstream_st *b)
{
	return a != b && !((a->flags | b->flags) & CU_NON_BLOCKING) &&
	       (stream_is_null(a) || stream_is_null(b));
}

static void push_op(struct CUstream_st *s, struct op *o)
{
	*s->end = o;
	s->end = &o->next;
	s->nr++;
	if (!s->has_thread)
		start_thread(s);
	pthread_cond_signal(&s->given);
}

static void order_behind(struct CUstream_st *s, struct CUstream_st *before)
{
	struct op *record = op_make(OP_RECORD), *wait = op_make(OP_WAIT);

	record->event = wait->event = event_make(s->ctx, 0);
	record->event->is_dead = true;
	record->record = wait->record = event_number();
	record->event->recorded = record->record;
	push_op(before, record);
	push_op(s, wait);
}

/*
 * Until the stream has nothing that it can do. The host may have to do
 * something before a function of its own ends, or a kernel that has begun.
 */
static void done_at_once(struct CUstream_st *s)
{
	int64_t end_ns = now_ns() + AT_ONCE_NS;

	while (s->nr && !s->is_stuck && !fault_told() && op_may_run(s->first) &&
	       s->first->kind != OP_HOST && now_ns() < end_ns)
		wait_change();
}

void stream_append(struct CUstream_st *s, struct op *o)
{
	struct CUstream_st *x;

	if (s->capture) {
		graph_append(s->capture, o);
		s->has_left = true;
		return;
	}
	for (x = streams; x; x = x->next)
		if (x->nr && !x->is_dead && both_block(x, s))
			order_behind(s, x);
	while ((s->nr >= MAX_OPS || (o->kind == OP_KERNEL && nr_holding)) &&
	       !fault_told())
		wait_change();
	push_op(s, o);
	if (like(LIKE_AT_ONCE))
		done_at_once(s);
}

cu_result stream_give(enum entry e, cu_stream handle, struct op *o)
{
	struct CUstream_st *s = NULL;
	cu_result r = o ? stream_find(e, handle, &s) : 2;

	if (!r && stream_is_null(s))
		r = capture_null();
	if (!r)
		stream_append(s, o);
	else if (o)
		op_free(o);
	return r;
}

/* ---- waiting ------------------------------------------------------------ */

void stream_wait(struct CUstream_st *s)
{
	while (s->nr && !fault_told())
		wait_change();
}

void stream_wait_all(bool holds)
{
	struct CUstream_st *s;
	bool waits = false;

	nr_holding += holds;
	for (s = streams; s; s = s->next) {
		waits |= s->nr > 0;
		stream_wait(s);
	}
	nr_holding -= holds;
	nr_waits += waits;
	tell_change();
}

API long fake_cuda_waits(void)
{
	long n;

	fake_lock();
	n = nr_waits;
	fake_unlock();
	return n;
}

/* ---- calls -------------------------------------------------------------- */

static cu_result create(cu_stream *out, unsigned flags, int priority)
{
	struct CUstream_st *s;

	if (flags & ~(unsigned)CU_NON_BLOCKING)
		return 1;
	s = make_stream(current, flags, priority);
	if (!s)
		return 2;
	*out = s;
	return 0;
}

cu_result cuStreamCreateWithPriority(cu_stream *out, unsigned flags,
				     int priority)
{
	cu_result r = enter(E_cuStreamCreateWithPriority, NEEDS_CONTEXT);

	return leave(r ? r : create(out, flags, priority));
}

cu_result cuStreamCreate(cu_stream *out, unsigned flags)
{
	cu_result r = enter(E_cuStreamCreate, NEEDS_CONTEXT);

	return leave(r ? r : create(out, flags, 0));
}

cu_result cuStreamGetPriority(cu_stream handle, int *priority)
{
	cu_result r = enter(E_cuStreamGetPriority, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r)
		r = stream_find(E_cuStreamGetPriority, handle, &s);
	if (!r)
		*priority = s->priority;
	return leave(r);
}

cu_result cuStreamGetCtx(cu_stream handle, cu_ctx *ctx)
{
	cu_result r = enter(E_cuStreamGetCtx, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r)
		r = stream_find(E_cuStreamGetCtx, handle, &s);
	if (!r)
		*ctx = s->ctx;
	return leave(r);
}

cu_result cuStreamDestroy(cu_stream handle)
{
	cu_result r = enter(E_cuStreamDestroy, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r && !handle)
		r = 400;
	if (!r)
		r = stream_find(E_cuStreamDestroy, handle, &s);
	if (!r) {
		s->is_dead = true;
		pthread_cond_signal(&s->given);
	}
	return leave(r);
}

cu_result cuStreamQuery(cu_stream handle)
{
	cu_result r = enter(E_cuStreamQuery, NEEDS_HEALTH);
	struct CUstream_st *s = NULL;

	if (!r)
		r = stream_find(E_cuStreamQuery, handle, &s);
	if (!r)
		r = capture_forbids(s);
	if (!r && s->nr)
		r = 600;
	return leave(r);
}

cu_result cuStreamSynchronize(cu_stream handle)
{
	cu_result r = enter(E_cuStreamSynchronize, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r)
		r = stream_find(E_cuStreamSynchronize, handle, &s);
	if (!r)
		r = capture_forbids(s);
	if (!r) {
		stream_wait(s);
		pool_waited(s->ctx->device);
		r = fault_told();
	}
	return leave(r);
}
