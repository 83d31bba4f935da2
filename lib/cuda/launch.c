/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Launches. The driver takes addresses of parameters and reads as many bytes as
 * the function has, whatever there is; and it says the same of each limit that
 * is passed. So both are compared before it is called.
 */
#include "cuda/device.h"

#include "base/err.h"

#include <errno.h>

/* ---- parameters --------------------------------------------------------- */

static int add_value(const struct cuda_known *k, const struct lkdf_launch *l,
		     const struct lkdf_arg *a, struct cuda_values *v)
{
	bool is_value = a->sort == LKDF_ARG_BYTES;
	uint64_t bytes = is_value ? a->bytes : sizeof(cu_ptr);
	uint32_t i = v->nr;

	if (i == LKDF_MAX_PARAMS)
		return err(-E2BIG, "cuda: kernel %s: more than %d parameters",
			   l->name, LKDF_MAX_PARAMS);
	v->address[i] = (cu_ptr)(uintptr_t)a->value + a->offset;
	v->param[i] = is_value ? (void *)(uintptr_t)a->value : &v->address[i];
	v->nr++;
	if (k->nr_param == UINT32_MAX || i >= k->nr_param ||
	    k->param_bytes[i] == bytes)
		return 0;
	return err(-EINVAL,
		   "cuda: kernel %s: parameter %u is of %u bytes, %llu are "
		   "given",
		   l->name, i, k->param_bytes[i], (unsigned long long)bytes);
}

/* Memory of a block is no parameter: the function declares it. */
static int set_values(const struct cuda_known *k, const struct lkdf_launch *l,
		      struct cuda_values *v, uint64_t *dynamic)
{
	const struct lkdf_arg *local = NULL, *a;
	int rc = 0;

	*dynamic = l->shared_bytes;
	for (a = l->arg; a < l->arg + l->nr_arg && !rc; a++) {
		if (a->sort != LKDF_ARG_LOCAL) {
			rc = add_value(k, l, a, v);
			continue;
		}
		if (local)
			rc = err(-EINVAL,
				 "cuda: kernel %s: LKDF_PARAM_LOCAL twice: a "
				 "function has one array of that memory",
				 l->name);
		local = a;
		*dynamic += a->bytes;
	}
	if (rc || k->nr_param == UINT32_MAX || v->nr == k->nr_param)
		return rc;
	return err(-EINVAL, "cuda: kernel %s has %u parameters, %u are given",
		   l->name, k->nr_param, v->nr);
}

/* ---- sizes -------------------------------------------------------------- */

/* As many threads as the driver chooses where nobody else has. */
static uint32_t choose_block(const struct cuda_device *d, struct cuda_known *k,
			     uint32_t dynamic)
{
	int grid = 0, block = 0;
	cu_result r;

	if (k->block && k->block_dynamic == dynamic)
		return k->block;
	r = d->cuda.cuOccupancyMaxPotentialBlockSize(&grid, &block, k->function,
						     NULL, dynamic, 0);
	if (r || block < 1)
		return k->max_block;
	k->block = (uint32_t)block;
	k->block_dynamic = dynamic;
	return k->block;
}

static int set_grid(const struct cuda_device *d, const struct lkdf_launch *l,
		    unsigned i, struct cuda_shape *s)
{
	uint64_t items = l->range[i] ? l->range[i] : 1, nr;

	nr = items / s->block[i] + (items % s->block[i] != 0);
	if (nr > d->max_grid[i])
		return err(-EINVAL,
			   "cuda: kernel %s: %llu blocks of dimension %u, at "
			   "most %u",
			   l->name, (unsigned long long)nr, i, d->max_grid[i]);
	s->grid[i] = (unsigned)nr;
	return 0;
}

static int check_block(const struct cuda_device *d, const struct cuda_known *k,
		       const struct lkdf_launch *l, const struct cuda_shape *s)
{
	uint64_t threads = 1;
	unsigned i;

	for (i = 0; i < 3; i++) {
		if (s->block[i] > d->max_block[i])
			return err(-EINVAL,
				   "cuda: kernel %s: a block of %u threads in "
				   "dimension %u, at most %u",
				   l->name, s->block[i], i, d->max_block[i]);
		threads *= s->block[i];
	}
	if (threads > k->max_block)
		return err(-EINVAL,
			   "cuda: kernel %s: a block of %llu threads, the "
			   "function can have %u",
			   l->name, (unsigned long long)threads, k->max_block);
	return 0;
}

/* With a block that is given the items are rounded up to whole blocks. */
static int set_shape(const struct cuda_device *d, struct cuda_known *k,
		     const struct lkdf_launch *l, struct cuda_shape *s)
{
	unsigned i;
	int rc;

	for (i = 0; i < 3; i++)
		s->block[i] = l->block[i] ? l->block[i] : 1;
	if (!l->block[0]) {
		s->block[0] = choose_block(d, k, s->dynamic);
		if (l->range[0] < s->block[0])
			s->block[0] = l->range[0] ? (unsigned)l->range[0] : 1;
	}
	rc = check_block(d, k, l, s);
	for (i = 0; i < 3 && !rc; i++)
		rc = set_grid(d, l, i, s);
	return rc;
}

/* The function may have more memory of a block than it asked for so far. */
static int raise_dynamic(const struct cuda_device *d, struct cuda_known *k,
			 const struct lkdf_launch *l, uint64_t dynamic)
{
	cu_result r;

	if (dynamic <= k->dynamic)
		return 0;
	if (dynamic + k->shared > d->block_shared)
		return err(-EINVAL,
			   "cuda: kernel %s: a block has %llu bytes of memory "
			   "of its own beside %u in the code, at most %u",
			   l->name, (unsigned long long)dynamic, k->shared,
			   d->block_shared);
	r = d->cuda.cuFuncSetAttribute(k->function, CU_FUNC_MAX_DYNAMIC_SHARED,
				       (int)dynamic);
	if (r)
		return cuda_fails(d, "cuFuncSetAttribute", r);
	k->dynamic = (uint32_t)dynamic;
	return 0;
}

/* The driver keeps it with the function, which several kinds may have. */
static int set_carveout(const struct cuda_device *d, struct cuda_known *k,
			const struct lkdf_launch *l)
{
	cu_result r;

	if (l->carveout == k->carveout)
		return 0;
	r = d->cuda.cuFuncSetAttribute(k->function, CU_FUNC_CARVEOUT,
				       (int)l->carveout - 1);
	if (r)
		return cuda_fails(d, "cuFuncSetAttribute", r);
	k->carveout = l->carveout;
	return 0;
}

int cuda_set_step(struct cuda_device *d, const struct lkdf_launch *l,
		  struct cuda_step *s, struct cuda_values *v)
{
	uint64_t dynamic;
	int rc = cuda_know(d, l->function, NULL, &s->known);

	if (!rc)
		rc = set_values(s->known, l, v, &dynamic);
	if (!rc)
		rc = raise_dynamic(d, s->known, l, dynamic);
	if (!rc)
		rc = set_carveout(d, s->known, l);
	if (rc)
		return rc;
	s->shape.dynamic = (unsigned)dynamic;
	return set_shape(d, s->known, l, &s->shape);
}

int cuda_launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		struct lkdf_device_op op)
{
	struct cuda_device *d = dev;
	bool is_quiet = l->flags & LKDF_LAUNCH_QUIET;
	struct cuda_values v = { .nr = 0 };
	struct cuda_step s = { .is_stage = 0 };
	cu_result r;
	int rc = cuda_set_step(d, l, &s, &v);

	if (!rc)
		rc = cuda_begin_command(d, queue);
	if (rc)
		return rc;
	r = cuda_run_step(d, &s, v.param, d->queue[queue].stream);
	if (r || !is_quiet)
		return cuda_end_command(d, queue, "cuLaunchKernel", r, op);
	/* Later the program may capture its stream, which takes no word then.
	 */
	if (d->foreign)
		return cuda_end_command(d, queue, "cuLaunchKernel", r,
					(struct lkdf_device_op){ NULL, 0 });
	/* The word of a later one says that this one has ended. */
	d->queue[queue].has_quiet = true;
	return 0;
}
