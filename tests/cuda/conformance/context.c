/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Cards and contexts. */
#include "tests/cuda/conformance/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *ask_current(void *u)
{
	cu_ctx *c = u;

	cu.cuCtxGetCurrent(c);
	return NULL;
}

static void device_range(void)
{
	cu_dev d;

	say(cu.cuDeviceGet(&d, 64), NULL);
}

static void device_negative(void)
{
	cu_dev d;

	say(cu.cuDeviceGet(&d, -1), NULL);
}

static void device_attribute(void)
{
	int v = 0;

	say(cu.cuDeviceGetAttribute(&v, 99999, dev), NULL);
}

static void device_bad(void)
{
	int v = 0;

	say(cu.cuDeviceGetAttribute(&v, CU_ATTR_WARP, 64), NULL);
}

static void device_name_short(void)
{
	char name[8] = "xxxxxxx";
	cu_result r = cu.cuDeviceGetName(name, 4, dev);

	say(r, "length %zu in 4 bytes", strnlen(name, 8));
}

static void device_bus_short(void)
{
	char name[8] = "xxxxxxx";

	say(cu.cuDeviceGetPCIBusId(name, 4, dev), NULL);
}

static void device_facts(void)
{
	static const struct {
		unsigned a;
		const char *s;
	} v[] = { { CU_ATTR_MAX_THREADS_PER_BLOCK, "block" },
		  { CU_ATTR_MAX_BLOCK_X + 2, "z" },
		  { CU_ATTR_MAX_GRID_X, "gx" },
		  { CU_ATTR_MAX_GRID_X + 1, "gy" },
		  { CU_ATTR_WARP, "warp" },
		  { CU_ATTR_MAX_THREADS_PER_UNIT, "unit" },
		  { CU_ATTR_MAX_BLOCKS_PER_UNIT, "blocks" },
		  { CU_ATTR_REGISTERS_PER_UNIT, "registers" },
		  { CU_ATTR_REGISTERS_PER_BLOCK, "block's" },
		  { CU_ATTR_SHARED_PER_UNIT, "shared" },
		  { CU_ATTR_SHARED_OPTIN, "optin" },
		  { CU_ATTR_RESERVED_SHARED, "reserved" },
		  { CU_ATTR_UNITS, "units" },
		  { CU_ATTR_ASYNC_ENGINES, "engines" },
		  { CU_ATTR_CONCURRENT_MANAGED, "managed" },
		  { CU_ATTR_HOST_REGISTERED_SAME_POINTER, "samepointer" },
		  { CU_ATTR_POOLS, "pools" },
		  { CU_ATTR_MAJOR, "major" },
		  { CU_ATTR_MINOR, "minor" } };
	char all[400] = "";
	size_t i, n = 0;
	int x;

	for (i = 0; i < sizeof(v) / sizeof(*v); i++) {
		x = -1;
		cu.cuDeviceGetAttribute(&x, v[i].a, dev);
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s=%d ",
				      v[i].s, x);
	}
	say(NONE, "%s(card)", all);
}

static void ctx_none(void)
{
	cu_ptr at;

	if (failed(cu.cuCtxSetCurrent(NULL)))
		return;
	say(cu.cuMemAlloc(&at, 64), NULL);
	cu.cuCtxSetCurrent(ctx);
}

static void ctx_none_stream(void)
{
	if (failed(cu.cuCtxSetCurrent(NULL)))
		return;
	say(cu.cuStreamQuery(s1), NULL);
	cu.cuCtxSetCurrent(ctx);
}

static void ctx_none_event(void)
{
	if (failed(cu.cuEventRecord(ev, s1)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	if (failed(cu.cuCtxSetCurrent(NULL)))
		return;
	say(cu.cuEventQuery(ev), NULL);
	cu.cuCtxSetCurrent(ctx);
}

static void ctx_none_launch(void)
{
	if (failed(cu.cuCtxSetCurrent(NULL)))
		return;
	say(launch(f_empty, s1, NULL), NULL);
	cu.cuCtxSetCurrent(ctx);
}

static void ctx_none_copy(void)
{
	if (failed(cu.cuCtxSetCurrent(NULL)))
		return;
	say(cu.cuMemcpyHtoDAsync(mem, flag, 4, s1), NULL);
	cu.cuCtxSetCurrent(ctx);
}

static void ctx_thread(void)
{
	cu_ctx c = (cu_ctx)bogus();
	pthread_t t;

	pthread_create(&t, NULL, ask_current, &c);
	pthread_join(t, NULL);
	say(NONE, "current of a new thread: %s", c ? "some" : "none");
}

static void ctx_retain_same(void)
{
	cu_ctx c = NULL;
	cu_result r = cu.cuDevicePrimaryCtxRetain(&c, dev);

	say(r, "%s", c == ctx ? "the same handle" : "another handle");
	cu.cuDevicePrimaryCtxRelease(dev);
}

static void ctx_release_too_often(void)
{
	cu.cuDevicePrimaryCtxRelease(dev);
	say(cu.cuDevicePrimaryCtxRelease(dev), NULL);
}

static void ctx_after_release(void)
{
	cu_ptr at;

	if (failed(cu.cuDevicePrimaryCtxRelease(dev)))
		return;
	say(cu.cuMemAlloc(&at, 64), "with the released context current");
}

static void ctx_stream_after_release(void)
{
	if (failed(cu.cuDevicePrimaryCtxRelease(dev)))
		return;
	say(cu.cuStreamQuery(s1), NULL);
}

static void ctx_state(void)
{
	unsigned flags = 99;
	int active = 9;
	cu_result r = cu.cuDevicePrimaryCtxGetState(dev, &flags, &active);

	say(r, "active %d flags %u", active, flags);
}

static void ctx_state_before(void)
{
	unsigned flags = 99;
	int active = 9;
	cu_result r;

	cu.cuInit(0);
	r = cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
	say(r, "active %d", active);
}

static void ctx_set_flags_active(void)
{
	cu_result r = cu.cuDevicePrimaryCtxSetFlags(dev, 4);
	unsigned flags = 99;
	int active;

	cu.cuDevicePrimaryCtxGetState(dev, &flags, &active);
	say(r, "blocking sync set while active: flags %u", flags);
	cu.cuDevicePrimaryCtxSetFlags(dev, 0);
}

static void ctx_foreign_stream(void)
{
	cu_stream s;
	cu_ctx c;

	if (failed(second(&c)))
		return;
	if (failed(cu.cuStreamCreateWithPriority(&s, CU_NON_BLOCKING, 0)))
		return;
	if (failed(cu.cuCtxSetCurrent(ctx)))
		return;
	say(launch(f_empty, s, NULL), "function of A on a stream of B");
}

static void ctx_foreign_current(void)
{
	cu_ctx c;

	if (failed(second(&c)))
		return;
	say(launch(f_empty, s1, NULL), "function and stream of A, B current");
}

static void ctx_foreign_record(void)
{
	cu_event e;
	cu_ctx c;

	if (failed(second(&c)))
		return;
	if (failed(cu.cuEventCreate(&e, CU_EVENT_NO_TIMING)))
		return;
	if (failed(cu.cuCtxSetCurrent(ctx)))
		return;
	say(cu.cuEventRecord(e, s1), "event of B on a stream of A");
}

static void ctx_foreign_wait(void)
{
	cu_event e;
	cu_ctx c;

	if (failed(second(&c)))
		return;
	if (failed(cu.cuEventCreate(&e, CU_EVENT_NO_TIMING)))
		return;
	if (failed(cu.cuEventRecord(e, NULL)))
		return;
	if (failed(cu.cuCtxSetCurrent(ctx)))
		return;
	say(cu.cuStreamWaitEvent(s1, e, 0),
	    "a stream of A waits for an event of B");
}

static void ctx_foreign_memory(void)
{
	cu_ptr at;
	cu_ctx c;

	if (failed(second(&c)))
		return;
	if (failed(cu.cuMemAlloc(&at, 4096)))
		return;
	if (failed(cu.cuCtxSetCurrent(ctx)))
		return;
	if (failed(store(s1, at)))
		return;
	say(cu.cuStreamSynchronize(s1), "a kernel of A stores to memory of B");
}

const struct check context_checks[] = {
	{ "device_range", device_range, 0 },
	{ "device_negative", device_negative, 0 },
	{ "device_attribute", device_attribute, 0 },
	{ "device_bad", device_bad, 0 },
	{ "device_name_short", device_name_short, 0 },
	{ "device_bus_short", device_bus_short, 0 },
	{ "device_facts", device_facts, 0 },
	{ "ctx_none", ctx_none, 0 },
	{ "ctx_none_stream", ctx_none_stream, 0 },
	{ "ctx_none_event", ctx_none_event, 0 },
	{ "ctx_none_launch", ctx_none_launch, 0 },
	{ "ctx_none_copy", ctx_none_copy, 0 },
	{ "ctx_thread", ctx_thread, 0 },
	{ "ctx_retain_same", ctx_retain_same, 0 },
	{ "ctx_release_too_often", ctx_release_too_often, OWN },
	{ "ctx_after_release", ctx_after_release, OWN },
	{ "ctx_stream_after_release", ctx_stream_after_release, OWN },
	{ "ctx_state", ctx_state, 0 },
	{ "ctx_state_before", ctx_state_before, OWN | NO_INIT },
	{ "ctx_set_flags_active", ctx_set_flags_active, OWN },
	{ "ctx_foreign_stream", ctx_foreign_stream, OWN },
	{ "ctx_foreign_current", ctx_foreign_current, OWN },
	{ "ctx_foreign_record", ctx_foreign_record, OWN },
	{ "ctx_foreign_wait", ctx_foreign_wait, OWN },
	{ "ctx_foreign_memory", ctx_foreign_memory, OWN },
	{ NULL, NULL, 0 },
};
