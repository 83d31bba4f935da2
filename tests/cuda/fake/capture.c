/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Captures: the ops of a stream become those of a graph. A stream that waits
 * for an event of a capture joins it, and comes back when a stream of it waits
 * for its event.
 */
#include "tests/cuda/fake/fake.h"

/* Each thread begins with CU_CAPTURE_GLOBAL, which is 0. */
static _Thread_local unsigned thread_mode;

/* This thread may make no call that might wait beside this capture. */
static bool is_strict(const struct CUgraph_st *g)
{
	if (thread_mode == CU_CAPTURE_RELAXED || g->mode == CU_CAPTURE_RELAXED)
		return false;
	return pthread_equal(g->thread, pthread_self()) ||
	       (thread_mode == CU_CAPTURE_GLOBAL &&
		g->mode == CU_CAPTURE_GLOBAL);
}

cu_result capture_forbids(const struct CUstream_st *s)
{
	struct CUstream_st *x;
	cu_result r = 0;

	for (x = streams; x; x = x->next)
		if (x->capture && !x->is_dead && x->capture->origin == x &&
		    is_strict(x->capture)) {
			x->capture->broken = 901;
			r = 900;
		}
	if (s && s->capture) {
		s->capture->broken = 901;
		r = 900;
	}
	return r;
}

cu_result cuThreadExchangeStreamCaptureMode(unsigned *mode)
{
	cu_result r = enter(E_cuThreadExchangeStreamCaptureMode, NEEDS_DRIVER);
	unsigned before = thread_mode;

	if (!r && *mode > CU_CAPTURE_RELAXED)
		r = 1;
	if (!r) {
		thread_mode = *mode;
		*mode = before;
	}
	return leave(r);
}

/* The null stream would wait for a captured stream that blocks. */
static cu_result find_blocking(bool breaks)
{
	struct CUstream_st *x;
	cu_result r = 0;

	for (x = streams; x; x = x->next)
		if (x->capture && !(x->flags & CU_NON_BLOCKING)) {
			if (breaks)
				x->capture->broken = 901;
			r = 906;
		}
	return r;
}

cu_result capture_null(void)
{
	return find_blocking(true);
}

cu_result cuStreamBeginCapture(cu_stream handle, unsigned mode)
{
	cu_result r = enter(E_cuStreamBeginCapture, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r && (!handle || handle == (cu_stream)CU_LEGACY))
		r = 900;
	if (!r)
		r = stream_find(E_cuStreamBeginCapture, handle, &s);
	if (!r && mode > CU_CAPTURE_RELAXED)
		r = 1;
	if (!r && s->capture)
		r = 401;
	if (r)
		return leave(r);
	s->capture = graph_make();
	s->capture->origin = s;
	s->capture->mode = mode;
	s->capture->thread = pthread_self();
	return leave(0);
}

/* Takes the capture from its streams; 904: one has not come back. */
static cu_result end_streams(struct CUgraph_st *g)
{
	struct CUstream_st *x;
	cu_result r = 0;

	for (x = streams; x; x = x->next) {
		if (x->capture != g)
			continue;
		if (x != g->origin && x->has_left)
			r = 904;
		x->capture = NULL;
		x->has_left = false;
	}
	return r;
}

static cu_result end_capture(struct CUstream_st *s, cu_graph *out)
{
	struct CUgraph_st *g = s->capture;
	cu_result r, unjoined;

	*out = NULL;
	if (!g || g->origin != s)
		return 401;
	unjoined = end_streams(g);
	r = g->broken ? g->broken : unjoined;
	if (g->mode != CU_CAPTURE_RELAXED &&
	    !pthread_equal(g->thread, pthread_self()))
		r = 908;
	if (r)
		return r; /* events of it keep it */
	*out = g;
	return 0;
}

/* It ends also where a test lets the call fail. */
cu_result cuStreamEndCapture(cu_stream handle, cu_graph *out)
{
	cu_result r = enter(E_cuStreamEndCapture, NEEDS_DRIVER), found;
	struct CUstream_st *s = NULL;

	found = stream_find(E_cuStreamEndCapture, handle, &s);
	if (found)
		return leave(r ? r : found);
	if (r && s->capture)
		s->capture->broken = r;
	return leave(r && !s->capture ? r : end_capture(s, out));
}

cu_result cuStreamIsCapturing(cu_stream handle, unsigned *state)
{
	cu_result r = enter(E_cuStreamIsCapturing, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r)
		r = stream_find(E_cuStreamIsCapturing, handle, &s);
	if (!r && stream_is_null(s))
		r = find_blocking(false);
	if (!r)
		*state = !s->capture ? 0 : s->capture->broken ? 2 : 1;
	return leave(r);
}
