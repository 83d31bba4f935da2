/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Kernels that do wrong, and all that comes after them. */
#include "tests/cuda/conformance/check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int nr_called;

static void count_call(void *u)
{
	(void)u;
	atomic_fetch_add(&nr_called, 1);
}

static cu_result fault(void)
{
	cu_result r = store(s1, 0xdead0000);

	return r ? r : cu.cuStreamSynchronize(s1);
}

static void fault_address(void)
{
	say(fault(), NULL);
}

static void fault_null(void)
{
	if (failed(store(s1, 0)))
		return;
	say(cu.cuStreamSynchronize(s1), NULL);
}

static void fault_host(void)
{
	if (failed(store(s1, (cu_ptr)(uintptr_t)malloc(64))))
		return;
	say(cu.cuStreamSynchronize(s1), "a store to pageable memory (card)");
}

static void fault_freed(void)
{
	cu_ptr at;

	if (failed(cu.cuMemAlloc(&at, 64 << 20)))
		return;
	if (failed(cu.cuMemFree(at)))
		return;
	if (failed(store(s1, at)))
		return;
	say(cu.cuStreamSynchronize(s1), "a store to freed memory");
}

static void fault_misaligned(void)
{
	if (failed(store(s1, mem + 1)))
		return;
	say(cu.cuStreamSynchronize(s1), NULL);
}

static void fault_trap(void)
{
	if (failed(launch(f_stop, s1, NULL)))
		return;
	say(cu.cuStreamSynchronize(s1), NULL);
}

static void fault_assert(void)
{
	cu_func f;
	cu_mod m;

	if (failed(cu.cuModuleLoadData(&m, ptx_assert)))
		return;
	if (failed(cu.cuModuleGetFunction(&f, m, "claim")))
		return;
	if (failed(launch(f, s1, NULL)))
		return;
	say(cu.cuStreamSynchronize(s1), NULL);
}

static void fault_other_stream(void)
{
	fault();
	say(cu.cuStreamQuery(s2), "query of another stream");
}

static void fault_old_event(void)
{
	if (failed(launch(f_empty, s2, NULL)))
		return;
	if (failed(cu.cuEventRecord(ev, s2)))
		return;
	if (failed(cu.cuStreamSynchronize(s2)))
		return;
	fault();
	say(cu.cuEventQuery(ev), "an event that came before the fault");
}

static void fault_alloc(void)
{
	cu_ptr at;

	fault();
	say(cu.cuMemAlloc(&at, 64), NULL);
}

static void fault_launch(void)
{
	fault();
	say(launch(f_empty, s2, NULL), NULL);
}

static void fault_free(void)
{
	fault();
	say(cu.cuMemFree(mem), NULL);
}

static void fault_unload(void)
{
	fault();
	say(cu.cuModuleUnload(mod), NULL);
}

static void fault_destroy(void)
{
	cu_result r;

	fault();
	r = cu.cuStreamDestroy(s2);
	say(r, "stream; event %u; pinned %u", cu.cuEventDestroy(ev),
	    cu.cuMemFreeHost(flag));
}

static void fault_unregister(void)
{
	char *p = pages(4);

	if (failed(cu.cuMemHostRegister(p, 16384, 0)))
		return;
	fault();
	say(cu.cuMemHostUnregister(p), NULL);
}

static void fault_info(void)
{
	size_t a, b;

	fault();
	say(cu.cuMemGetInfo(&a, &b), NULL);
}

static void fault_host_behind(void)
{
	cu_result r;

	atomic_store(&nr_called, 0);
	if (failed(gate(s1)))
		return;
	if (failed(store(s1, 0xdead0000)))
		return;
	if (failed(cu.cuLaunchHostFunc(s1, count_call, NULL)))
		return;
	open_gate();
	r = settle(s1);
	nap_ms(50);
	say(r, "a host function behind it ran: %d of 1",
	    atomic_load(&nr_called));
}

static void fault_host_beside(void)
{
	cu_result r;
	int i;

	atomic_store(&nr_called, 0);
	if (failed(gate(s1)))
		return;
	if (failed(store(s1, 0xdead0000)))
		return;
	if (failed(gate(s2)))
		return;
	if (failed(cu.cuLaunchHostFunc(s2, count_call, NULL)))
		return;
	open_gate();
	r = settle(s1);
	for (i = 0; i < 400 && !atomic_load(&nr_called); i++)
		nap_ms(5);
	say(r,
	    "a host function on another stream, behind a kernel, ran: "
	    "%d of 1",
	    atomic_load(&nr_called));
}

static void fault_host_late(void)
{
	static uint64_t limit = 50000000;
	cu_ptr at = 0xdead0000;
	void *p[] = { &limit, &at };
	cu_result r;
	cu_func f;

	atomic_store(&nr_called, 0);
	if (failed(get("late", &f)))
		return;
	if (failed(launch(f, s1, p)))
		return;
	nap_ms(5);
	if (failed(cu.cuLaunchHostFunc(s1, count_call, NULL)))
		return;
	r = settle(s1);
	nap_ms(50);
	say(r,
	    "a host function given while the kernel ran, before its fault: "
	    "ran %d of 1",
	    atomic_load(&nr_called));
}

static void fault_event(void)
{
	cu_result r;

	if (failed(store(s1, 0xdead0000)))
		return;
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	settle(s1);
	r = cu.cuEventQuery(ev);
	say(r, "the event behind it");
}

static void fault_write_value(void)
{
	set_flag(0);
	if (failed(store(s1, 0xdead0000)))
		return;
	if (failed(cu.cuStreamWriteValue32(s1, flag_there, 5, 0)))
		return;
	settle(s1);
	nap_ms(20);
	say(NONE, "the value written behind it: %u", get_flag());
}

static void fault_reset(void)
{
	cu_ptr at;
	cu_result r;

	fault();
	r = cu.cuDevicePrimaryCtxReset(dev);
	say(r, "retain %u, current %u, alloc %u",
	    cu.cuDevicePrimaryCtxRetain(&ctx, dev), cu.cuCtxSetCurrent(ctx),
	    cu.cuMemAlloc(&at, 64));
}

static void fault_release(void)
{
	cu_ptr at;
	cu_result r, a, b, c;

	fault();
	r = cu.cuDevicePrimaryCtxRelease(dev);
	a = cu.cuDevicePrimaryCtxRetain(&ctx, dev);
	b = cu.cuCtxSetCurrent(ctx);
	c = cu.cuMemAlloc(&at, 64);
	say(r, "release; retain %u, current %u, alloc %u", a, b, c);
}

static void fault_other_context(void)
{
	cu_stream s;
	cu_ptr at;
	cu_ctx c;

	if (failed(second(&c)))
		return;
	if (failed(cu.cuStreamCreateWithPriority(&s, CU_NON_BLOCKING, 0)))
		return;
	if (failed(cu.cuCtxSetCurrent(ctx)))
		return;
	fault();
	cu.cuCtxSetCurrent(c);
	say(cu.cuMemAlloc(&at, 64), "in a second context of the process");
}

static void fault_again(void)
{
	cu_result r = fault();

	say(cu.cuStreamSynchronize(s1), "the same again after %u", r);
}

static void fault_read_other_process(void)
{
	int status;
	pid_t p = fork();

	if (!p) {
		prepare();
		fault();
		_exit(0);
	}
	waitpid(p, &status, 0);
	prepare();
	if (failed(step(s1, mem, 5)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(0, "another process after it: %u", word(mem));
}

static void fault_delay(void)
{
	int64_t t;
	cu_result r;

	if (failed(store(s1, 0xdead0000)))
		return;
	t = now_ns();
	do
		r = cu.cuStreamQuery(s1);
	while (r == 600);
	t = now_ns() - t;
	say(r, "seen after %s (card)",
	    t < 1000000	    ? "less than 1 ms"
	    : t < 10000000  ? "1 to 10 ms"
	    : t < 100000000 ? "10 to 100 ms"
			    : "more than 100 ms");
}

const struct check fault_checks[] = {
	{ "fault_address", fault_address, OWN },
	{ "fault_null", fault_null, OWN },
	{ "fault_host", fault_host, OWN },
	{ "fault_freed", fault_freed, OWN },
	{ "fault_misaligned", fault_misaligned, OWN },
	{ "fault_trap", fault_trap, OWN },
	{ "fault_assert", fault_assert, OWN },
	{ "fault_other_stream", fault_other_stream, OWN },
	{ "fault_old_event", fault_old_event, OWN },
	{ "fault_alloc", fault_alloc, OWN },
	{ "fault_launch", fault_launch, OWN },
	{ "fault_free", fault_free, OWN },
	{ "fault_unload", fault_unload, OWN },
	{ "fault_destroy", fault_destroy, OWN },
	{ "fault_unregister", fault_unregister, OWN },
	{ "fault_info", fault_info, OWN },
	{ "fault_host_behind", fault_host_behind, OWN },
	{ "fault_host_beside", fault_host_beside, OWN },
	{ "fault_host_late", fault_host_late, OWN },
	{ "fault_event", fault_event, OWN },
	{ "fault_write_value", fault_write_value, OWN },
	{ "fault_reset", fault_reset, OWN },
	{ "fault_release", fault_release, OWN },
	{ "fault_other_context", fault_other_context, OWN },
	{ "fault_again", fault_again, OWN },
	{ "fault_read_other_process", fault_read_other_process, OWN | NO_INIT },
	{ "fault_delay", fault_delay, OWN },
	{ NULL, NULL, 0 },
};
