/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions: what is told of them, and their launches with all limits. */
#include "tests/cuda/fake/fake.h"

#include <stdlib.h>
#include <string.h>

#define MAX_GRID_X 2147483647u
#define MAX_GRID_YZ 65535u
#define MAX_BLOCK 1024u
#define MAX_BLOCK_Z 64u
#define UNIT_THREADS 2048
#define REGISTERS 16 /* of each thread of each function */

/* How parameters are packed in extra: its words. */
enum {
	EXTRA_END = 0,
	EXTRA_BUFFER = 1,
	EXTRA_SIZE = 2
};

static cu_result enter_function(enum entry e, cu_func f)
{
	cu_result r = enter(e, NEEDS_CONTEXT);

	return r ? r : !f || f->mod->is_dead ? 400 : 0;
}

cu_result cuFuncGetName(const char **name, cu_func f)
{
	cu_result r = enter_function(E_cuFuncGetName, f);

	if (!r)
		*name = f->name;
	return leave(r);
}

cu_result cuFuncGetParamInfo(cu_func f, size_t i, size_t *at, size_t *size)
{
	cu_result r = enter_function(E_cuFuncGetParamInfo, f);

	if (!r && i >= f->nr_params)
		r = 1;
	if (!r && at)
		*at = f->params[i].at;
	if (!r && size)
		*size = f->params[i].size;
	return leave(r);
}

/* A function that was only enumerated has none: it is not loaded. */
cu_result cuFuncGetAttribute(int *value, unsigned attribute, cu_func f)
{
	cu_result r = enter_function(E_cuFuncGetAttribute, f);

	if (!r)
		r = attribute > 15 ? 1 : f->is_loaded ? 0 : 913;
	if (r)
		return leave(r);
	*value = 0;
	if (attribute == CU_FUNC_MAX_THREADS)
		*value = (int)f->max_threads;
	else if (attribute == CU_FUNC_SHARED)
		*value = (int)f->shared;
	else if (attribute == CU_FUNC_REGISTERS)
		*value = REGISTERS;
	else if (attribute == CU_FUNC_MAX_DYNAMIC_SHARED)
		*value = (int)(f->dynamic ? f->dynamic
					  : STATIC_SHARED - f->shared);
	return leave(0);
}

cu_result cuFuncSetAttribute(cu_func f, unsigned attribute, int value)
{
	cu_result r = enter_function(E_cuFuncSetAttribute, f);

	if (!r && attribute == CU_FUNC_MAX_DYNAMIC_SHARED)
		r = value < 0 || (unsigned)value + f->shared > MAX_SHARED ? 1
									  : 0;
	else if (!r && attribute == CU_FUNC_CARVEOUT)
		r = value < -1 || value > 100 ? 1 : 0;
	else if (!r)
		r = 1;
	if (!r && attribute == CU_FUNC_MAX_DYNAMIC_SHARED)
		f->dynamic = (unsigned)value;
	else if (!r)
		f->carveout = (unsigned)(value + 1);
	return leave(r);
}

cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, cu_func f,
						      int block, size_t shared)
{
	cu_result r = enter_function(
		E_cuOccupancyMaxActiveBlocksPerMultiprocessor, f);

	(void)shared;
	if (!r && block < 1)
		r = 1;
	if (!r)
		*n = block > (int)f->max_threads ? 0 : UNIT_THREADS / block;
	return leave(r);
}

cu_result cuOccupancyMaxPotentialBlockSize(int *grid, int *block, cu_func f,
					   cu_shared_fn fn, size_t shared,
					   int limit)
{
	cu_result r = enter_function(E_cuOccupancyMaxPotentialBlockSize, f);

	(void)fn;
	(void)shared;
	if (!r) {
		*block = (int)f->max_threads;
		if (limit > 0 && limit < *block)
			*block = limit;
		*grid = 132 * (UNIT_THREADS / *block);
	}
	return leave(r);
}

static bool has_shape(const struct CUfunc_st *f, const struct cu_kernel_node *k)
{
	uint64_t threads = (uint64_t)k->block[0] * k->block[1] * k->block[2];
	unsigned most = f->dynamic > STATIC_SHARED ? f->dynamic : STATIC_SHARED;

	return k->grid[0] && k->grid[1] && k->grid[2] && threads &&
	       k->grid[0] <= MAX_GRID_X && k->grid[1] <= MAX_GRID_YZ &&
	       k->grid[2] <= MAX_GRID_YZ && k->block[0] <= MAX_BLOCK &&
	       k->block[1] <= MAX_BLOCK && k->block[2] <= MAX_BLOCK_Z &&
	       threads <= f->max_threads && k->shared + f->shared <= most;
}

/* Too few packed bytes are taken as they are, too many are refused. */
static cu_result copy_packed(struct op *o, void **extra)
{
	const void *from = NULL;
	size_t size = 0;

	for (; *extra != (void *)EXTRA_END; extra += 2) {
		if (*extra == (void *)EXTRA_BUFFER)
			from = extra[1];
		else if (*extra == (void *)EXTRA_SIZE)
			size = *(size_t *)extra[1];
		else
			return 1;
	}
	if (size > o->func->params_size)
		return 701;
	if (from)
		memcpy(o->bytes, from, size);
	return 0;
}

static void copy_params(struct op *o, void **params)
{
	const struct CUfunc_st *f = o->func;
	unsigned i;

	for (i = 0; i < f->nr_params; i++)
		memcpy(o->bytes + f->params[i].at, params[i],
		       f->params[i].size);
}

cu_result launch_op(cu_func f, const struct cu_kernel_node *k, struct op **out)
{
	cu_result r = 0;
	struct op *o;
	int i;

	if (!f || f->mod->is_dead)
		return 400;
	if (!has_shape(f, k) || (k->params && k->extra) ||
	    (f->nr_params && !k->params && !k->extra))
		return 1;
	o = op_make(OP_KERNEL);
	o->func = f;
	for (i = 0; i < 3; i++) {
		o->grid[i] = k->grid[i];
		o->block[i] = k->block[i];
	}
	o->shared = k->shared;
	o->carveout = f->carveout;
	o->nr_bytes = f->params_size + 8;
	o->bytes = calloc(1, o->nr_bytes);
	if (!o->bytes)
		abort();
	if (k->extra)
		r = copy_packed(o, k->extra);
	else if (k->params)
		copy_params(o, k->params);
	if (r)
		op_free(o);
	else
		*out = o;
	return r;
}

/* The stream and the function are of one context, whatever is current. */
static cu_result launch(enum entry e, const struct cu_kernel_node *k,
			cu_stream handle)
{
	struct CUstream_st *s = NULL;
	struct op *o = NULL;
	cu_result r;

	r = stream_find(e, handle, &s);
	if (!r)
		r = launch_op(k->func, k, &o);
	if (!r && k->func->mod->ctx != s->ctx) {
		op_free(o);
		r = 400;
	}
	return r ? r : stream_give(e, handle, o);
}

cu_result cuLaunchKernel(cu_func f, unsigned gx, unsigned gy, unsigned gz,
			 unsigned bx, unsigned by, unsigned bz, unsigned shared,
			 cu_stream s, void **params, void **extra)
{
	const struct cu_kernel_node k = {
		.func = f,
		.grid = { gx, gy, gz },
		.block = { bx, by, bz },
		.shared = shared,
		.params = params,
		.extra = extra,
	};
	cu_result r = enter(E_cuLaunchKernel, NEEDS_DRIVER);

	return leave(r ? r : launch(E_cuLaunchKernel, &k, s));
}

/* No attribute is known. */
cu_result cuLaunchKernelEx(const struct cu_config *c, cu_func f, void **params,
			   void **extra)
{
	struct cu_kernel_node k = {
		.func = f,
		.shared = c->shared,
		.params = params,
		.extra = extra,
	};
	cu_result r = enter(E_cuLaunchKernelEx, NEEDS_DRIVER);

	memcpy(k.grid, c->grid, sizeof(k.grid));
	memcpy(k.block, c->block, sizeof(k.block));
	if (!r && c->nr_attributes)
		r = 1;
	return leave(r ? r : launch(E_cuLaunchKernelEx, &k, c->stream));
}
