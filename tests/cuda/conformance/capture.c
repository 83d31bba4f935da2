/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Captures, and which calls break them. */
#include "tests/cuda/conformance/check.h"

#include <pthread.h>

static void capture_alloc_mode(unsigned mode, const char *name)
{
	cu_graph g = NULL;
	cu_ptr at = 0;
	cu_result r, e;

	if (failed(cu.cuStreamBeginCapture(s1, mode)))
		return;
	r = cu.cuMemAlloc(&at, 4096);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "cuMemAlloc in a capture of mode %s; end %u", name, e);
	if (at)
		cu.cuMemFree(at);
}

static cu_result of_thread;

static void *alloc_thread(void *u)
{
	cu_ptr at = 0;

	(void)u;
	cu.cuCtxSetCurrent(ctx);
	of_thread = cu.cuMemAlloc(&at, 4096);
	if (at)
		cu.cuMemFree(at);
	return NULL;
}

static void beside(unsigned mode)
{
	cu_graph g = NULL;
	cu_result e;
	pthread_t t;

	if (failed(cu.cuStreamBeginCapture(s1, mode)))
		return;
	pthread_create(&t, NULL, alloc_thread, NULL);
	pthread_join(t, NULL);
	e = cu.cuStreamEndCapture(s1, &g);
	say(of_thread, "cuMemAlloc of another thread; end %u", e);
}

static void *end_thread(void *u)
{
	cu_graph g = NULL;

	(void)u;
	cu.cuCtxSetCurrent(ctx);
	of_thread = cu.cuStreamEndCapture(s1, &g);
	return NULL;
}

static void capture_query(void)
{
	cu_graph g = NULL;
	cu_result r, e;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	r = cu.cuStreamQuery(s1);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "cuStreamQuery in it; end %u, graph %s", e,
	    g ? "given" : "NULL");
}

static void capture_event_query(void)
{
	cu_graph g = NULL;
	cu_result r, e;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	r = cu.cuEventQuery(ev);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "cuEventQuery of one recorded in it; end %u", e);
	cu.cuEventRecord(ev, s1);
}

static void capture_foreign_query(void)
{
	cu_graph g = NULL;
	cu_result r, e;

	if (failed(cu.cuEventRecord(ev, s2)))
		return;
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	r = cu.cuEventQuery(ev);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "cuEventQuery of another stream's beside it; end %u", e);
}

static void capture_relaxed_query(void)
{
	cu_graph g = NULL;
	cu_result r, q, e;

	if (failed(cu.cuEventRecord(ev, s2)))
		return;
	if (failed(cu.cuStreamSynchronize(s2)))
		return;
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_RELAXED)))
		return;
	r = cu.cuEventQuery(ev);
	q = cu.cuStreamQuery(s2);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r,
	    "mode relaxed: cuEventQuery of another stream's; cuStreamQuery "
	    "of another %u; end %u",
	    q, e);
}

static void capture_relaxed_own(void)
{
	cu_graph g = NULL;
	cu_result r, e;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_RELAXED)))
		return;
	r = cu.cuStreamQuery(s1);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "mode relaxed: cuStreamQuery of the captured; end %u", e);
}

static void capture_alloc_global(void)
{
	capture_alloc_mode(CU_CAPTURE_GLOBAL, "global");
}

static void capture_alloc_thread(void)
{
	capture_alloc_mode(CU_CAPTURE_THREAD, "thread");
}

static void capture_alloc_relaxed(void)
{
	capture_alloc_mode(CU_CAPTURE_RELAXED, "relaxed");
}

static void capture_beside_global(void)
{
	beside(CU_CAPTURE_GLOBAL);
}

static void capture_beside_thread(void)
{
	beside(CU_CAPTURE_THREAD);
}

static void capture_beside_relaxed(void)
{
	beside(CU_CAPTURE_RELAXED);
}

static void capture_sync(void)
{
	cu_graph g = NULL;
	cu_result r, e;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_RELAXED)))
		return;
	r = cu.cuStreamSynchronize(s1);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "cuStreamSynchronize; end %u", e);
}

static void capture_unjoined(void)
{
	cu_graph g = NULL;
	cu_result r;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	if (failed(cu.cuStreamWaitEvent(s2, ev, 0)))
		return;
	if (failed(launch(f_empty, s2, NULL)))
		return;
	r = cu.cuStreamEndCapture(s1, &g);
	say(r, "a stream that did not come back; it works on: %u",
	    launch(f_empty, s2, NULL));
	cu.cuEventRecord(ev, s1);
}

static void capture_wrong_thread(void)
{
	cu_graph g = NULL;
	pthread_t t;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	pthread_create(&t, NULL, end_thread, NULL);
	pthread_join(t, NULL);
	say(of_thread, "then here %u", cu.cuStreamEndCapture(s1, &g));
}

static void capture_no_begin(void)
{
	cu_graph g = NULL;

	say(cu.cuStreamEndCapture(s1, &g), NULL);
}

static void capture_twice(void)
{
	cu_graph g = NULL;
	cu_result r;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	r = cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD);
	cu.cuStreamEndCapture(s1, &g);
	say(r, NULL);
}

static void capture_null_stream(void)
{
	say(cu.cuStreamBeginCapture(NULL, CU_CAPTURE_THREAD), NULL);
}

static void capture_implicit(void)
{
	cu_graph g = NULL;
	cu_stream s;
	cu_result r;

	if (failed(cu.cuStreamCreateWithPriority(&s, 0, 0)))
		return;
	if (failed(cu.cuStreamBeginCapture(s, CU_CAPTURE_THREAD)))
		return;
	r = launch(f_empty, NULL, NULL);
	cu.cuStreamEndCapture(s, &g);
	say(r, "the null stream beside a captured blocking stream");
}

static void capture_old_event(void)
{
	cu_graph g = NULL;
	cu_result r, e;

	if (failed(cu.cuEventRecord(ev, s2)))
		return;
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	r = cu.cuStreamWaitEvent(s1, ev, 0);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "waits for an event from before; end %u", e);
}

static void capture_merge(void)
{
	cu_graph g = NULL;
	cu_result r;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(cu.cuStreamBeginCapture(s2, CU_CAPTURE_THREAD)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	r = cu.cuStreamWaitEvent(s2, ev, 0);
	cu.cuStreamEndCapture(s1, &g);
	cu.cuStreamEndCapture(s2, &g);
	cu.cuEventRecord(ev, s1);
	say(r, "two captures meet");
}

const struct check capture_checks[] = {
	{ "capture_query", capture_query, OWN },
	{ "capture_event_query", capture_event_query, OWN },
	{ "capture_foreign_query", capture_foreign_query, OWN },
	{ "capture_relaxed_query", capture_relaxed_query, OWN },
	{ "capture_relaxed_own", capture_relaxed_own, OWN },
	{ "capture_alloc_global", capture_alloc_global, OWN },
	{ "capture_alloc_thread", capture_alloc_thread, OWN },
	{ "capture_alloc_relaxed", capture_alloc_relaxed, OWN },
	{ "capture_beside_global", capture_beside_global, OWN },
	{ "capture_beside_thread", capture_beside_thread, OWN },
	{ "capture_beside_relaxed", capture_beside_relaxed, OWN },
	{ "capture_sync", capture_sync, OWN },
	{ "capture_unjoined", capture_unjoined, OWN },
	{ "capture_wrong_thread", capture_wrong_thread, OWN },
	{ "capture_no_begin", capture_no_begin, OWN },
	{ "capture_twice", capture_twice, OWN },
	{ "capture_null_stream", capture_null_stream, OWN },
	{ "capture_implicit", capture_implicit, OWN },
	{ "capture_old_event", capture_old_event, OWN },
	{ "capture_merge", capture_merge, OWN },
	{ NULL, NULL, 0 },
};
