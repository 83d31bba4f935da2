/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Launches while another thread waits for a kernel: which are held up. */
#include "tests/cuda/conformance/check.h"

#include <pthread.h>
#include <stdlib.h>

static cu_ptr b_mem;
static cu_mod b_mod;
static char *b_pages;
static cu_result of_thread;

static cu_result load_later(void)
{
	return cu.cuModuleLoadData(&b_mod, ptx_later);
}

static cu_result do_free(void)
{
	return cu.cuMemFree(b_mem);
}

static void prepare_lazy(void)
{
	setenv("CUDA_MODULE_LOADING", "LAZY", 1);
	prepare();
}

/*
 * While another thread is in a call that waits for a kernel: do launches wait?
 * A hundred of them are made as soon as that thread makes the call.
 */
static cu_result (*beside_call)(void);

static void *beside_thread(void *is_there)
{
	cu.cuCtxSetCurrent(ctx);
	__atomic_store_n((int *)is_there, 1, __ATOMIC_RELEASE);
	of_thread = beside_call();
	return NULL;
}

static void beside_one(cu_result (*call)(void))
{
	bool asked = false, launched = false;
	int is_there = 0, i;
	cu_result r = 0;
	pthread_t p;

	beside_call = call;
	if (failed(gate(s1)))
		return;
	pthread_create(&p, NULL, beside_thread, &is_there);
	while (!__atomic_load_n(&is_there, __ATOMIC_ACQUIRE))
		nap_ms(1);
	for (i = 0; i < 100 && !launched && !r; i++) {
		nap_ms(1);
		cu.cuEventQuery(ev);
		asked = gate_is_done();
		if (asked)
			break;
		r = launch(f_empty, s2, NULL);
		launched = gate_is_done();
	}
	open_gate();
	pthread_join(p, NULL);
	say(r, "launch %s, event query %s", launched ? "waits" : "at once",
	    asked ? "waits" : "at once");
}

static cu_result do_unload(void)
{
	return cu.cuModuleUnload(b_mod);
}

static cu_result do_unpin(void)
{
	return cu.cuMemHostUnregister(b_pages);
}

static cu_result do_sync(void)
{
	return cu.cuStreamSynchronize(s1);
}

static void beside_load(void)
{
	beside_one(load_later);
}

static void beside_unload(void)
{
	if (failed(load_later()))
		return;
	beside_one(do_unload);
}

static void beside_free(void)
{
	if (failed(cu.cuMemAlloc(&b_mem, 64 << 20)))
		return;
	beside_one(do_free);
}

static void beside_sync(void)
{
	beside_one(do_sync);
}

static void beside_unpin(void)
{
	b_pages = pages(16384);
	if (failed(cu.cuMemHostRegister(b_pages, 64 << 20, 0)))
		return;
	beside_one(do_unpin);
}

static void beside_first_compile(void)
{
	prepare_lazy();
	beside_one(load_later);
}

const struct check beside_checks[] = {
	{ "beside_load", beside_load, OWN | BRIEF },
	{ "beside_unload", beside_unload, OWN },
	{ "beside_free", beside_free, OWN | BRIEF },
	{ "beside_unpin", beside_unpin, OWN | BRIEF },
	{ "beside_sync", beside_sync, OWN },
	{ "beside_first_compile", beside_first_compile, OWN | NO_INIT | BRIEF },
	{ NULL, NULL, 0 },
};
