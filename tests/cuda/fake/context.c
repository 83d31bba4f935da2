/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Contexts: the primary one of each card and those that programs create. */
#include "tests/cuda/fake/fake.h"

#include <stdlib.h>

static struct CUctx_st primary[MAX_CARDS];

_Thread_local struct CUctx_st *current;

static cu_result enter_primary(enum entry e, enum needs needs, cu_dev d)
{
	cu_result r = enter(e, needs);

	return r ? r : device_is(d) ? 0 : 101;
}

cu_result cuDevicePrimaryCtxRetain(cu_ctx *ctx, cu_dev d)
{
	cu_result r =
		enter_primary(E_cuDevicePrimaryCtxRetain, NEEDS_DRIVER, d);

	if (!r) {
		primary[d].device = d;
		primary[d].is_primary = true;
		if (!primary[d].retains++)
			primary[d].is_dead = false;
		*ctx = &primary[d];
	}
	return leave(r);
}

cu_result cuDevicePrimaryCtxRelease(cu_dev d)
{
	cu_result r = enter_primary(E_cuDevicePrimaryCtxRelease, NEEDS_INIT, d);

	if (!r && !primary[d].retains)
		r = 201;
	if (!r && !--primary[d].retains) {
		stream_wait_all(false);
		primary[d].is_dead = true;
	}
	return leave(r);
}

cu_result cuDevicePrimaryCtxReset(cu_dev d)
{
	cu_result r = enter_primary(E_cuDevicePrimaryCtxReset, NEEDS_INIT, d);

	if (!r) {
		primary[d].is_dead = true;
		primary[d].retains = 0;
	}
	return leave(r);
}

cu_result cuDevicePrimaryCtxGetState(cu_dev d, unsigned *flags, int *active)
{
	cu_result r =
		enter_primary(E_cuDevicePrimaryCtxGetState, NEEDS_DRIVER, d);

	if (!r) {
		*flags = primary[d].flags;
		*active = primary[d].retains > 0;
	}
	return leave(r);
}

cu_result cuDevicePrimaryCtxSetFlags(cu_dev d, unsigned flags)
{
	cu_result r =
		enter_primary(E_cuDevicePrimaryCtxSetFlags, NEEDS_DRIVER, d);

	if (!r)
		primary[d].flags = flags;
	return leave(r);
}

cu_result cuCtxSetCurrent(cu_ctx ctx)
{
	cu_result r = enter(E_cuCtxSetCurrent, NEEDS_INIT);

	if (!r)
		current = ctx;
	return leave(r);
}

cu_result cuCtxGetCurrent(cu_ctx *ctx)
{
	cu_result r = enter(E_cuCtxGetCurrent, NEEDS_INIT);

	if (!r && in_host_function)
		r = 800;
	if (!r)
		*ctx = current;
	return leave(r);
}

cu_result cuCtxGetDevice(cu_dev *d)
{
	cu_result r = enter(E_cuCtxGetDevice, NEEDS_INIT);

	if (!r && !current)
		r = 201;
	if (!r)
		*d = current->device;
	return leave(r);
}

cu_result cuCtxCreate(cu_ctx *ctx, unsigned flags, cu_dev d)
{
	struct CUctx_st *c = calloc(1, sizeof(*c));
	cu_result r = enter_primary(E_cuCtxCreate, NEEDS_DRIVER, d);

	if (!r && !c)
		r = 2;
	if (r) {
		free(c);
		return leave(r);
	}
	c->device = d;
	c->flags = flags;
	*ctx = current = c;
	return leave(0);
}

/* Its streams and events keep the pointer, so it stays. */
cu_result cuCtxDestroy(cu_ctx ctx)
{
	cu_result r = enter(E_cuCtxDestroy, NEEDS_DRIVER);

	if (!r && (!ctx || ctx->is_primary || ctx->is_dead))
		r = 201;
	if (!r) {
		stream_wait_all(false);
		ctx->is_dead = true;
	}
	return leave(r);
}

cu_result cuCtxSynchronize(void)
{
	cu_result r = enter(E_cuCtxSynchronize, NEEDS_CONTEXT);

	if (!r)
		r = capture_forbids(NULL);
	if (!r) {
		stream_wait_all(false);
		r = fault_told();
	}
	return leave(r);
}

cu_result cuCtxGetStreamPriorityRange(int *least, int *most)
{
	cu_result r = enter(E_cuCtxGetStreamPriorityRange, NEEDS_CONTEXT);

	if (!r) {
		*least = 0;
		*most = -5;
	}
	return leave(r);
}
