/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Streams and events. */
#include "tests/cuda/conformance/check.h"

static void stream_idle(void)
{
	say(cu.cuStreamQuery(s1), NULL);
}

static void stream_busy(void)
{
	if (failed(gate(s1)))
		return;
	say(cu.cuStreamQuery(s1), NULL);
	open_gate();
	cu.cuStreamSynchronize(s1);
}

static void stream_null(void)
{
	say(cu.cuStreamQuery(NULL), NULL);
}

static void stream_null_waits(void)
{
	cu_stream s;
	cu_result r;

	if (failed(cu.cuStreamCreateWithPriority(&s, 0, 0)))
		return;
	if (failed(gate(s)))
		return;
	if (failed(launch(f_empty, NULL, NULL)))
		return;
	r = cu.cuStreamQuery(NULL);
	say(r, "the null stream behind a blocking stream");
	open_gate();
	cu.cuStreamSynchronize(s);
}

static void stream_null_free(void)
{
	cu_result r;

	if (failed(gate(s1)))
		return;
	if (failed(launch(f_empty, NULL, NULL)))
		return;
	r = settle(NULL);
	say(r, "the null stream beside a non-blocking stream");
	open_gate();
	cu.cuStreamSynchronize(s1);
}

static void stream_destroy_busy(void)
{
	cu_stream s;
	cu_result r;
	bool waited;
	int i;

	if (failed(cu.cuMemsetD8Async(mem, 0, 4, s1)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	if (failed(cu.cuStreamCreateWithPriority(&s, CU_NON_BLOCKING, 0)))
		return;
	if (failed(gate(s)))
		return;
	if (failed(step(s, mem, 3)))
		return;
	r = cu.cuStreamDestroy(s);
	waited = gate_is_done();
	open_gate();
	for (i = 0; i < 400 && !word(mem); i++)
		nap_ms(5);
	say(r, "at once: %s, its work is done: %u", waited ? "no" : "yes",
	    word(mem));
}

static void stream_destroy_twice(void)
{
	if (failed(cu.cuStreamDestroy(s1)))
		return;
	say(cu.cuStreamDestroy(s1), NULL);
}

static void stream_destroy_null(void)
{
	say(cu.cuStreamDestroy(NULL), NULL);
}

static void stream_launch_destroyed(void)
{
	if (failed(cu.cuStreamDestroy(s1)))
		return;
	say(launch(f_empty, s1, NULL), NULL);
}

static void stream_query_destroyed(void)
{
	if (failed(cu.cuStreamDestroy(s1)))
		return;
	say(cu.cuStreamQuery(s1), NULL);
}

static void stream_garbage(void)
{
	say(cu.cuStreamQuery((cu_stream)bogus()), NULL);
}

static void stream_priority(void)
{
	int least = 9, most = 9, got = 9;
	cu_stream s;
	cu_result r;

	if (failed(cu.cuCtxGetStreamPriorityRange(&least, &most)))
		return;
	r = cu.cuStreamCreateWithPriority(&s, CU_NON_BLOCKING, -100);
	cu.cuStreamGetPriority(s, &got);
	say(r, "range %d..%d, asked -100, got %d (card)", least, most, got);
}

static void stream_flags(void)
{
	cu_stream s;

	say(cu.cuStreamCreateWithPriority(&s, 0x1000, 0), NULL);
}

static void stream_ctx(void)
{
	cu_ctx c = NULL;
	cu_result r = cu.cuStreamGetCtx(s1, &c);

	say(r, "%s", c == ctx ? "ours" : "another");
}

static void stream_many(void)
{
	cu_stream s;
	cu_result r = 0;
	int i;

	for (i = 0; i < 2000 && !r; i++)
		r = cu.cuStreamCreateWithPriority(&s, CU_NON_BLOCKING, 0);
	say(r, "%d streams", i);
}

static void event_unrecorded(void)
{
	cu_event e;

	if (failed(cu.cuEventCreate(&e, CU_EVENT_NO_TIMING)))
		return;
	say(cu.cuEventQuery(e), NULL);
}

static void event_wait_unrecorded(void)
{
	cu_event e;

	if (failed(cu.cuEventCreate(&e, CU_EVENT_NO_TIMING)))
		return;
	if (failed(cu.cuStreamWaitEvent(s1, e, 0)))
		return;
	if (failed(launch(f_empty, s1, NULL)))
		return;
	say(settle(s1), "nothing is waited for");
}

static void event_busy(void)
{
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	say(cu.cuEventQuery(ev), NULL);
	open_gate();
	cu.cuStreamSynchronize(s1);
}

static void event_done(void)
{
	if (failed(launch(f_empty, s1, NULL)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(cu.cuEventQuery(ev), NULL);
}

static void event_wait_orders(void)
{
	cu_result r;

	if (failed(gate(s1)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	if (failed(cu.cuStreamWaitEvent(s2, ev, 0)))
		return;
	if (failed(launch(f_empty, s2, NULL)))
		return;
	nap_ms(20);
	r = cu.cuStreamQuery(s2);
	say(r, "the second stream, gate shut");
	open_gate();
	cu.cuStreamSynchronize(s2);
}

static void event_record_again(void)
{
	cu_result r;

	if (failed(launch(f_empty, s1, NULL)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	if (failed(cu.cuStreamWaitEvent(s2, ev, 0)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	if (failed(launch(f_empty, s2, NULL)))
		return;
	r = settle(s2);
	say(r, "a wait keeps the record that was the last when it was given");
	open_gate();
	cu.cuStreamSynchronize(s1);
}

static void event_destroy_busy(void)
{
	cu_event e;
	cu_result r;

	if (failed(cu.cuEventCreate(&e, CU_EVENT_NO_TIMING)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuEventRecord(e, s1)))
		return;
	if (failed(cu.cuStreamWaitEvent(s2, e, 0)))
		return;
	r = cu.cuEventDestroy(e);
	if (failed(launch(f_empty, s2, NULL)))
		return;
	nap_ms(20);
	say(r, "who waits, waits on: %s",
	    cu.cuStreamQuery(s2) == 600 ? "yes" : "no");
	open_gate();
	cu.cuStreamSynchronize(s1);
}

static void event_destroy_twice(void)
{
	if (failed(cu.cuEventDestroy(ev)))
		return;
	say(cu.cuEventDestroy(ev), NULL);
}

static void event_query_destroyed(void)
{
	if (failed(cu.cuEventDestroy(ev)))
		return;
	say(cu.cuEventQuery(ev), NULL);
}

static void event_record_destroyed_stream(void)
{
	if (failed(cu.cuStreamDestroy(s1)))
		return;
	say(cu.cuEventRecord(ev, s1), NULL);
}

static void event_null(void)
{
	say(cu.cuEventQuery(NULL), NULL);
}

static void event_elapsed_untimed(void)
{
	float ms;

	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(cu.cuEventElapsedTime(&ms, ev, ev), NULL);
}

static void event_elapsed_unrecorded(void)
{
	cu_event e;
	float ms;

	if (failed(cu.cuEventCreate(&e, 0)))
		return;
	say(cu.cuEventElapsedTime(&ms, e, e), NULL);
}

static void event_elapsed_early(void)
{
	cu_event a, b;
	cu_result r;
	float ms;

	if (failed(cu.cuEventCreate(&a, 0)))
		return;
	if (failed(cu.cuEventCreate(&b, 0)))
		return;
	if (failed(cu.cuEventRecord(a, s1)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuEventRecord(b, s1)))
		return;
	r = cu.cuEventElapsedTime(&ms, a, b);
	open_gate();
	say(r, NULL);
	cu.cuStreamSynchronize(s1);
}

static void event_flags(void)
{
	cu_event e;

	say(cu.cuEventCreate(&e, 0x100), NULL);
}

static void event_interprocess(void)
{
	cu_event e;

	say(cu.cuEventCreate(&e, 4), "interprocess with timing");
}

const struct check stream_checks[] = {
	{ "stream_idle", stream_idle, 0 },
	{ "stream_busy", stream_busy, 0 },
	{ "stream_null", stream_null, 0 },
	{ "stream_null_waits", stream_null_waits, 0 },
	{ "stream_null_free", stream_null_free, 0 },
	{ "stream_destroy_busy", stream_destroy_busy, 0 },
	{ "stream_destroy_twice", stream_destroy_twice, OWN },
	{ "stream_destroy_null", stream_destroy_null, OWN },
	{ "stream_launch_destroyed", stream_launch_destroyed, OWN },
	{ "stream_query_destroyed", stream_query_destroyed, OWN },
	{ "stream_garbage", stream_garbage, OWN },
	{ "stream_priority", stream_priority, 0 },
	{ "stream_flags", stream_flags, 0 },
	{ "stream_ctx", stream_ctx, 0 },
	{ "stream_many", stream_many, OWN },
	{ "event_unrecorded", event_unrecorded, 0 },
	{ "event_wait_unrecorded", event_wait_unrecorded, 0 },
	{ "event_busy", event_busy, 0 },
	{ "event_done", event_done, 0 },
	{ "event_wait_orders", event_wait_orders, 0 },
	{ "event_record_again", event_record_again, 0 },
	{ "event_destroy_busy", event_destroy_busy, 0 },
	{ "event_destroy_twice", event_destroy_twice, OWN },
	{ "event_query_destroyed", event_query_destroyed, OWN },
	{ "event_record_destroyed_stream", event_record_destroyed_stream, OWN },
	{ "event_null", event_null, OWN },
	{ "event_elapsed_untimed", event_elapsed_untimed, 0 },
	{ "event_elapsed_unrecorded", event_elapsed_unrecorded, 0 },
	{ "event_elapsed_early", event_elapsed_early, 0 },
	{ "event_flags", event_flags, 0 },
	{ "event_interprocess", event_interprocess, 0 },
	{ NULL, NULL, 0 },
};
