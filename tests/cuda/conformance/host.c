/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of the host in streams. */
#include "tests/cuda/conformance/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int nr_called, nr_inside, most_inside;
static cu_result of_call[6];

static void count_call(void *u)
{
	(void)u;
	atomic_fetch_add(&nr_called, 1);
}

/* The most that are inside at one time. */
static void sleep_call(void *u)
{
	int n = atomic_fetch_add(&nr_inside, 1) + 1;

	(void)u;
	if (n > atomic_load(&most_inside))
		atomic_store(&most_inside, n);
	nap_ms(100);
	atomic_fetch_sub(&nr_inside, 1);
	atomic_fetch_add(&nr_called, 1);
}

static atomic_int is_told;

/* At most two seconds. */
static void until_told_call(void *u)
{
	int i;

	(void)u;
	for (i = 0; i < 400 && !atomic_load(&is_told); i++)
		nap_ms(5);
	atomic_fetch_add(&nr_called, 1);
}

static void driver_call(void *u)
{
	cu_ptr at;
	cu_ctx c;
	const char *s;

	(void)u;
	of_call[0] = cu.cuMemAlloc(&at, 64);
	of_call[1] = cu.cuEventQuery(ev);
	of_call[2] = cu.cuStreamQuery(s2);
	of_call[3] = launch(f_empty, s2, NULL);
	of_call[4] = cu.cuCtxGetCurrent(&c);
	of_call[5] = cu.cuGetErrorName(1, &s);
	atomic_fetch_add(&nr_called, 1);
}

static pthread_t host_thread[2];

static void thread_call(void *u)
{
	*(pthread_t *)u = pthread_self();
}

static sigset_t host_mask;

static void mask_call(void *u)
{
	(void)u;
	pthread_sigmask(SIG_SETMASK, NULL, &host_mask);
}

static void *masked_thread(void *u)
{
	sigset_t all;

	(void)u;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	prepare();
	cu.cuLaunchHostFunc(s1, mask_call, NULL);
	cu.cuStreamSynchronize(s1);
	return NULL;
}

static void host_order(void)
{
	int before;

	atomic_store(&nr_called, 0);
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuLaunchHostFunc(s1, count_call, NULL)))
		return;
	nap_ms(20);
	before = atomic_load(&nr_called);
	open_gate();
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(0, "called before the kernel's end %d, after %d", before,
	    atomic_load(&nr_called));
}

static void host_calls(void)
{
	atomic_store(&nr_called, 0);
	if (failed(cu.cuLaunchHostFunc(s1, driver_call, NULL)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(NONE,
	    "in it cuMemAlloc %u cuEventQuery %u cuStreamQuery %u "
	    "cuLaunchKernel %u cuCtxGetCurrent %u cuGetErrorName %u",
	    of_call[0], of_call[1], of_call[2], of_call[3], of_call[4],
	    of_call[5]);
}

static void host_null(void)
{
	say(cu.cuLaunchHostFunc(s1, NULL, NULL), NULL);
}

static void host_serial(void)
{
	atomic_store(&most_inside, 0);
	if (failed(cu.cuLaunchHostFunc(s1, sleep_call, NULL)))
		return;
	if (failed(cu.cuLaunchHostFunc(s2, sleep_call, NULL)))
		return;
	if (failed(cu.cuCtxSynchronize()))
		return;
	say(NONE, "two that sleep 200 ms on two streams: %s",
	    atomic_load(&most_inside) > 1 ? "side by side"
					  : "one after the other");
}

/* The function waits for the kernel, which cannot wait for it, then. */
static void host_beside(void)
{
	cu_result r;

	atomic_store(&nr_called, 0);
	if (failed(cu.cuLaunchHostFunc(s1, until_told_call, NULL)))
		return;
	if (failed(launch(f_empty, s2, NULL)))
		return;
	r = cu.cuStreamSynchronize(s2);
	say(r, "a kernel beside it: %s",
	    atomic_load(&nr_called) ? "waits" : "not held up");
	atomic_store(&is_told, 1);
	cu.cuStreamSynchronize(s1);
}

static void host_is_busy(void)
{
	cu_result r;

	atomic_store(&is_told, 0);
	if (failed(cu.cuLaunchHostFunc(s1, until_told_call, NULL)))
		return;
	nap_ms(20);
	r = cu.cuStreamQuery(s1);
	atomic_store(&is_told, 1);
	say(r, "while the function runs");
	cu.cuStreamSynchronize(s1);
}

static void host_which_thread(void)
{
	if (failed(cu.cuLaunchHostFunc(s1, thread_call, &host_thread[0])))
		return;
	if (failed(cu.cuLaunchHostFunc(s2, thread_call, &host_thread[1])))
		return;
	if (failed(cu.cuCtxSynchronize()))
		return;
	say(NONE, "%s%s",
	    pthread_equal(host_thread[0], pthread_self())
		    ? "the caller's thread"
		    : "a thread of the driver",
	    pthread_equal(host_thread[0], host_thread[1])
		    ? ", one for two streams"
		    : ", two for two streams");
}

static void host_signals(void)
{
	if (failed(cu.cuLaunchHostFunc(s1, mask_call, NULL)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(NONE, "SIGUSR1 in the driver's thread: %s",
	    sigismember(&host_mask, SIGUSR1) ? "blocked" : "not blocked");
}

static void host_signals_masked(void)
{
	pthread_t t;

	pthread_create(&t, NULL, masked_thread, NULL);
	pthread_join(t, NULL);
	say(NONE,
	    "context made by a thread that blocks all: SIGUSR1 in the "
	    "driver's thread: %s",
	    sigismember(&host_mask, SIGUSR1) ? "blocked" : "not blocked");
}

const struct check host_checks[] = {
	{ "host_order", host_order, 0 },
	{ "host_calls", host_calls, 0 },
	{ "host_null", host_null, 0 },
	{ "host_serial", host_serial, 0 },
	{ "host_beside", host_beside, 0 },
	{ "host_is_busy", host_is_busy, 0 },
	{ "host_which_thread", host_which_thread, 0 },
	{ "host_signals", host_signals, 0 },
	{ "host_signals_masked", host_signals_masked, OWN | NO_INIT },
	{ NULL, NULL, 0 },
};
