/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions, of build's and of the program's own: what they need is asked once.
 * A function of the program's stays loaded until the device is stopped.
 */
#include "cuda/device.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

static struct cuda_known **bucket_of(struct cuda_device *d, cu_function f)
{
	return &d->known[(uintptr_t)f / 32 % CUDA_FUNCTION_BUCKETS];
}

static cu_result ask_number(const struct cuda_device *d, unsigned what,
			    cu_function f, uint32_t *out)
{
	int v = 0;
	cu_result r = d->cuda.cuFuncGetAttribute(&v, what, f);

	*out = v > 0 ? (uint32_t)v : 0;
	return r;
}

/* The driver says of the first parameter that is none that it is no value. */
static int ask_params(const struct cuda_device *d, struct cuda_known *k)
{
	size_t offset, size;
	cu_result r;

	if (!d->cuda.cuFuncGetParamInfo) {
		k->nr_param = UINT32_MAX;
		return 0;
	}
	while (!(r = d->cuda.cuFuncGetParamInfo(k->function, k->nr_param,
						&offset, &size))) {
		if (k->nr_param == LKDF_MAX_PARAMS)
			return err(-E2BIG,
				   "cuda: a kernel of more than %d parameters",
				   LKDF_MAX_PARAMS);
		k->param_bytes[k->nr_param++] = (uint32_t)size;
	}
	return r == CU_INVALID_VALUE ? 0
				     : cuda_fails(d, "cuFuncGetParamInfo", r);
}

static int ask_driver(const struct cuda_device *d, struct cuda_known *k)
{
	cu_result r;

	r = ask_number(d, CU_FUNC_MAX_THREADS, k->function, &k->max_block);
	if (!r)
		r = ask_number(d, CU_FUNC_REGISTERS, k->function,
			       &k->registers);
	if (!r)
		r = ask_number(d, CU_FUNC_SHARED, k->function, &k->shared);
	if (r)
		return cuda_fails(d, "cuFuncGetAttribute", r);
	k->dynamic = k->shared < CUDA_PLAIN_SHARED
			     ? CUDA_PLAIN_SHARED - k->shared
			     : 0;
	return ask_params(d, k);
}

static int make_known(struct cuda_device *d, cu_function f, cu_module module,
		      struct cuda_known **out)
{
	struct cuda_known *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return err(-ENOMEM, "cuda: no memory");
	k->function = f;
	k->module = module;
	rc = ask_driver(d, k);
	if (rc)
		free(k);
	else
		*out = k;
	return rc;
}

int cuda_know(struct cuda_device *d, cu_function f, cu_module module,
	      struct cuda_known **out)
{
	struct cuda_known **first = bucket_of(d, f), *k;
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	k = *first;
	while (k && k->function != f)
		k = k->next;
	if (!k) {
		rc = make_known(d, f, module, &k);
		if (!rc) {
			k->next = *first;
			*first = k;
		}
	}
	pthread_mutex_unlock(&d->lock);
	*out = k;
	return rc;
}

void cuda_drop(void *dev, void *function)
{
	struct cuda_device *d = dev;
	struct cuda_known **at = bucket_of(d, function), *k;

	pthread_mutex_lock(&d->lock);
	while ((k = *at)->function != function)
		at = &k->next;
	*at = k->next;
	pthread_mutex_unlock(&d->lock);
	cuda_forget_pieces(d, k);
	cuda_give_back(d, k->module, 0);
	free(k);
}

void cuda_forget_all(struct cuda_device *d)
{
	struct cuda_known *k;
	unsigned i;

	for (i = 0; i < CUDA_FUNCTION_BUCKETS; i++)
		while ((k = d->known[i])) {
			d->known[i] = k->next;
			free(k);
		}
}

int cuda_needs(void *dev, void *function, struct lkdf_kernel_needs *out)
{
	struct cuda_known *k;
	int rc = cuda_know(dev, function, NULL, &k);

	if (rc)
		return rc;
	out->max_block = k->max_block;
	out->registers = k->registers;
	out->shared = k->shared;
	return 0;
}
