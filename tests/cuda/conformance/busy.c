/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Calls that are made while a kernel runs: which of them wait for it. */
#include "tests/cuda/conformance/check.h"

#include <stdlib.h>
#include <string.h>

static cu_stream b_stream;
static cu_event b_event;
static cu_ptr b_mem;
static void *b_host, *b_library;
static cu_graph b_graph;
static cu_exec b_exec;
static cu_mod b_mod;
static cu_func b_func;
static size_t b_free, b_all;
static int b_int;

static cu_result library_load(void)
{
	cu_result (*load)(void **, const void *, unsigned *, void **, unsigned,
			  unsigned *, void **, unsigned);
	void *f = NULL, *lib;

	cu.get("cuLibraryLoadData", &f, CU_ASK, 0, NULL);
	memcpy(&load, &f, sizeof(f));
	return f ? load(&lib, ptx_later, NULL, NULL, 0, NULL, NULL, 0) : 500;
}

static cu_result library_launch(void)
{
	cu_result (*load)(void **, const void *, unsigned *, void **, unsigned,
			  unsigned *, void **, unsigned);
	cu_result (*get_kernel)(void **, void *, const char *);
	void *f = NULL, *kernel;
	cu_result r;

	cu.get("cuLibraryLoadData", &f, CU_ASK, 0, NULL);
	memcpy(&load, &f, sizeof(f));
	cu.get("cuLibraryGetKernel", &f, CU_ASK, 0, NULL);
	memcpy(&get_kernel, &f, sizeof(f));
	r = load(&b_library, ptx_later, NULL, NULL, 0, NULL, NULL, 0);
	if (!r)
		r = get_kernel(&kernel, b_library, "later");
	return r ? r : launch((cu_func)kernel, s2, NULL);
}

/* Does the call wait for a kernel that runs on another stream? */
static void call_beside(cu_result (*call)(void))
{
	bool waited;
	cu_result r;

	if (failed(gate(s1)))
		return;
	r = call();
	waited = gate_is_done();
	open_gate();
	cu.cuCtxSynchronize();
	say(r, "%s", waited ? "waits" : "at once");
}

static cu_result make_graph(void)
{
	cu_result r = chain(3, 1, &b_graph);

	return r ? r : cu.cuGraphInstantiateWithFlags(&b_exec, b_graph, 0);
}

static cu_result load_later(void)
{
	return cu.cuModuleLoadData(&b_mod, ptx_later);
}

static cu_result load_function(void)
{
	cu_result r = load_later();

	return r ? r : cu.cuModuleGetFunction(&b_func, b_mod, "later");
}

static void prepare_lazy(void)
{
	setenv("CUDA_MODULE_LOADING", "LAZY", 1);
	prepare();
}

static cu_result do_stream_create(void)
{
	return cu.cuStreamCreateWithPriority(&b_stream, CU_NON_BLOCKING, 0);
}

static void busy_stream_create(void)
{
	call_beside(do_stream_create);
}

static cu_result do_event_create(void)
{
	return cu.cuEventCreate(&b_event, CU_EVENT_NO_TIMING);
}

static void busy_event_create(void)
{
	call_beside(do_event_create);
}

static cu_result do_event_destroy(void)
{
	return cu.cuEventDestroy(b_event);
}

static void busy_event_destroy(void)
{
	if (failed(cu.cuEventCreate(&b_event, CU_EVENT_NO_TIMING)))
		return;
	call_beside(do_event_destroy);
}

static cu_result do_host_alloc(void)
{
	return cu.cuMemHostAlloc(&b_host, 1 << 20, CU_HOST_PORTABLE);
}

static void busy_host_alloc(void)
{
	call_beside(do_host_alloc);
}

static cu_result do_host_free(void)
{
	return cu.cuMemFreeHost(b_host);
}

static void busy_host_free(void)
{
	if (failed(cu.cuMemHostAlloc(&b_host, 1 << 20, CU_HOST_PORTABLE)))
		return;
	call_beside(do_host_free);
}

static cu_result do_alloc(void)
{
	return cu.cuMemAlloc(&b_mem, 64 << 20);
}

static void busy_alloc(void)
{
	call_beside(do_alloc);
}

static cu_result do_free(void)
{
	return cu.cuMemFree(b_mem);
}

static void busy_free(void)
{
	if (failed(cu.cuMemAlloc(&b_mem, 64 << 20)))
		return;
	call_beside(do_free);
}

static cu_result do_alloc_async(void)
{
	return cu.cuMemAllocAsync(&b_mem, 64 << 20, s2);
}

static void busy_alloc_async(void)
{
	call_beside(do_alloc_async);
}

static cu_result do_free_async(void)
{
	return cu.cuMemFreeAsync(b_mem, s2);
}

static void busy_free_async(void)
{
	if (failed(cu.cuMemAllocAsync(&b_mem, 64 << 20, s2)))
		return;
	call_beside(do_free_async);
}

static cu_result do_managed_alloc(void)
{
	return cu.cuMemAllocManaged(&b_mem, 1 << 20, CU_MANAGED_GLOBAL);
}

static void busy_managed_alloc(void)
{
	call_beside(do_managed_alloc);
}

static cu_result do_managed_free(void)
{
	return cu.cuMemFree(b_mem);
}

static void busy_managed_free(void)
{
	if (failed(cu.cuMemAllocManaged(&b_mem, 1 << 20, CU_MANAGED_GLOBAL)))
		return;
	call_beside(do_managed_free);
}

static cu_result do_copy_up_pageable(void)
{
	return cu.cuMemcpyHtoDAsync(mem, b_host, 1 << 20, s2);
}

static void busy_copy_up_pageable(void)
{
	b_host = calloc(1, 8 << 20);
	call_beside(do_copy_up_pageable);
}

static cu_result do_copy_down_pageable(void)
{
	return cu.cuMemcpyDtoHAsync(b_host, mem, 1 << 20, s2);
}

static void busy_copy_down_pageable(void)
{
	b_host = calloc(1, 8 << 20);
	call_beside(do_copy_down_pageable);
}

static cu_result do_copy_sync(void)
{
	return cu.cuMemcpyHtoD(mem, b_host, 1 << 20);
}

static void busy_copy_sync(void)
{
	b_host = calloc(1, 8 << 20);
	call_beside(do_copy_sync);
}

static cu_result do_module_load(void)
{
	return cu.cuModuleLoadData(&b_mod, ptx_later);
}

static void busy_module_load(void)
{
	call_beside(do_module_load);
}

static cu_result do_module_unload(void)
{
	return cu.cuModuleUnload(b_mod);
}

static void busy_module_unload(void)
{
	if (failed(load_later()))
		return;
	call_beside(do_module_unload);
}

static cu_result do_func_attribute(void)
{
	return cu.cuFuncSetAttribute(f_bound, CU_FUNC_MAX_DYNAMIC_SHARED,
				     65536);
}

static void busy_func_attribute(void)
{
	call_beside(do_func_attribute);
}

static cu_result do_mem_info(void)
{
	return cu.cuMemGetInfo(&b_free, &b_all);
}

static void busy_mem_info(void)
{
	call_beside(do_mem_info);
}

static cu_result do_occupancy(void)
{
	return cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&b_int, f_empty,
							      128, 0);
}

static void busy_occupancy(void)
{
	call_beside(do_occupancy);
}

static cu_result do_graph_instantiate(void)
{
	return cu.cuGraphInstantiateWithFlags(&b_exec, b_graph, 0);
}

static void busy_graph_instantiate(void)
{
	if (failed(chain(3, 1, &b_graph)))
		return;
	call_beside(do_graph_instantiate);
}

static cu_result do_graph_launch(void)
{
	return cu.cuGraphLaunch(b_exec, s2);
}

static void busy_graph_launch(void)
{
	if (failed(make_graph()))
		return;
	call_beside(do_graph_launch);
}

static cu_result do_graph_destroy(void)
{
	return cu.cuGraphExecDestroy(b_exec);
}

static void busy_graph_destroy(void)
{
	if (failed(make_graph()))
		return;
	call_beside(do_graph_destroy);
}

static cu_result do_lazy_module_load(void)
{
	return cu.cuModuleLoadData(&b_mod, ptx_later);
}

static void busy_lazy_module_load(void)
{
	prepare_lazy();
	call_beside(do_lazy_module_load);
}

static cu_result do_lazy_first_launch(void)
{
	return launch(b_func, s2, NULL);
}

static void busy_lazy_first_launch(void)
{
	prepare_lazy();
	if (failed(load_function()))
		return;
	call_beside(do_lazy_first_launch);
}

static cu_result do_lazy_get_function(void)
{
	return cu.cuModuleGetFunction(&b_func, b_mod, "later");
}

static void busy_lazy_get_function(void)
{
	prepare_lazy();
	if (failed(load_later()))
		return;
	call_beside(do_lazy_get_function);
}

static void busy_library_load(void)
{
	call_beside(library_load);
}

static void busy_library_launch(void)
{
	call_beside(library_launch);
}

static void busy_lazy_library_launch(void)
{
	prepare_lazy();
	call_beside(library_launch);
}

const struct check busy_checks[] = {
	{ "busy_stream_create", busy_stream_create, OWN },
	{ "busy_event_create", busy_event_create, OWN },
	{ "busy_event_destroy", busy_event_destroy, OWN },
	{ "busy_host_alloc", busy_host_alloc, OWN },
	{ "busy_host_free", busy_host_free, OWN | BRIEF },
	{ "busy_alloc", busy_alloc, OWN },
	{ "busy_free", busy_free, OWN | BRIEF },
	{ "busy_alloc_async", busy_alloc_async, OWN },
	{ "busy_free_async", busy_free_async, OWN },
	{ "busy_managed_alloc", busy_managed_alloc, OWN },
	{ "busy_managed_free", busy_managed_free, OWN | BRIEF },
	{ "busy_copy_up_pageable", busy_copy_up_pageable, OWN },
	{ "busy_copy_down_pageable", busy_copy_down_pageable, OWN },
	{ "busy_copy_sync", busy_copy_sync, OWN },
	{ "busy_module_load", busy_module_load, OWN | BRIEF },
	{ "busy_module_unload", busy_module_unload, OWN | BRIEF },
	{ "busy_func_attribute", busy_func_attribute, OWN },
	{ "busy_mem_info", busy_mem_info, OWN },
	{ "busy_occupancy", busy_occupancy, OWN },
	{ "busy_graph_instantiate", busy_graph_instantiate, OWN },
	{ "busy_graph_launch", busy_graph_launch, OWN },
	{ "busy_graph_destroy", busy_graph_destroy, OWN },
	{ "busy_lazy_module_load", busy_lazy_module_load,
	  OWN | NO_INIT | BRIEF },
	{ "busy_lazy_first_launch", busy_lazy_first_launch, OWN | NO_INIT },
	{ "busy_lazy_get_function", busy_lazy_get_function, OWN | NO_INIT },
	{ "busy_library_load", busy_library_load, OWN | BRIEF },
	{ "busy_library_launch", busy_library_launch, OWN | BRIEF },
	{ "busy_lazy_library_launch", busy_lazy_library_launch,
	  OWN | NO_INIT | BRIEF },
	{ NULL, NULL, 0 },
};
