/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code becomes a module with one function that is asked for. While a module is
 * loaded the driver lets no other thread launch, and waits for what runs; a
 * text is compiled before that, beside everything.
 */
#include "cuda/code.h"

#include "base/err.h"
#include "cuda/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load_module(const struct cuda_device *d, const void *image,
		       cu_module *out, struct code_log log)
{
	char said[1024] = "";
	unsigned option[] = { CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES };
	void *value[] = { said, (void *)(uintptr_t)sizeof(said) };
	cu_result r;
	int rc;

	r = d->cuda.cuModuleLoadDataEx(out, image, 2, option, value);
	if (!r)
		return 0;
	rc = cuda_fails(d, "cuModuleLoadDataEx", r);
	said[sizeof(said) - 1] = 0;
	snprintf(log.text, log.size, "%s%s%s", err_text(), said[0] ? ": " : "",
		 said);
	return rc;
}

/* A function that was only listed is not loaded: it is found by its name. */
static int find_only(const struct cuda_device *d, cu_module m, cu_function *out,
		     struct code_log log)
{
	const struct cuda *cuda = &d->cuda;
	const char *name = NULL;
	unsigned nr = 0;
	cu_result r;

	if (!cuda->cuModuleGetFunctionCount ||
	    !cuda->cuModuleEnumerateFunctions || !cuda->cuFuncGetName) {
		snprintf(log.text, log.size,
			 "cuda: entry is NULL, which needs a driver of CUDA "
			 "12.4 or later");
		return -EINVAL;
	}
	r = cuda->cuModuleGetFunctionCount(&nr, m);
	if (!r && nr != 1) {
		snprintf(log.text, log.size,
			 "cuda: entry is NULL, which needs code with one "
			 "kernel; there are %u",
			 nr);
		return -EINVAL;
	}
	if (!r)
		r = cuda->cuModuleEnumerateFunctions(out, 1, m);
	if (!r)
		r = cuda->cuFuncGetName(&name, *out);
	if (!r)
		r = cuda->cuModuleGetFunction(out, m, name);
	return r ? cuda_fails(d, "cuModuleGetFunction", r) : 0;
}

static int find_function(const struct cuda_device *d, cu_module m,
			 const char *entry, cu_function *out,
			 struct code_log log)
{
	cu_result r;

	if (!entry)
		return find_only(d, m, out, log);
	r = d->cuda.cuModuleGetFunction(out, m, entry);
	if (r == CU_NOT_FOUND)
		snprintf(log.text, log.size, "cuda: the code has no kernel %s",
			 entry);
	return r ? cuda_fails(d, "cuModuleGetFunction", r) : 0;
}

static int make_function(struct cuda_device *d, const void *image,
			 const char *entry, void **function,
			 struct code_log log)
{
	struct cuda_known *k;
	cu_module m = NULL;
	cu_function f = NULL;
	int rc = load_module(d, image, &m, log);

	if (rc)
		return rc;
	rc = find_function(d, m, entry, &f, log);
	if (!rc)
		rc = cuda_know(d, f, m, &k);
	if (rc)
		d->cuda.cuModuleUnload(m);
	else
		*function = f;
	return rc;
}

/* The driver wants a 0 behind a text. */
static int make_ptx(struct cuda_device *d, const struct lkdf_code *c,
		    void **function, struct code_log log)
{
	char *text = c->bytes ? strndup(c->image, c->bytes) : NULL;
	int rc = -ENOMEM;

	if (text || !c->bytes)
		rc = make_function(d, text ? text : c->image, c->entry,
				   function, log);
	free(text);
	return rc;
}

static int make_cuda_c(struct cuda_device *d, const struct lkdf_code *c,
		       void **function, struct code_log log)
{
	struct code_made made = { .image = NULL };
	const struct nvrtc_settings s = { d->nvrtc, d->cache, d->arch,
					  cuda_version(&d->cuda) };
	int rc = nvrtc_compile(&s, c, &made, log);

	if (rc)
		return rc;
	rc = make_function(d, made.image, made.entry, function, log);
	free(made.image);
	free(made.entry);
	return rc;
}

/* On any thread, beside others; start() was called before. */
int cuda_build(void *dev, const struct lkdf_code *c,
	       const struct lkdf_launch *like, void **function, char *log,
	       uint32_t log_size)
{
	struct cuda_device *d = dev;
	const struct code_log l = { log, log_size };
	enum code_sort sort;
	struct cuda_before before;
	int rc = code_sort(c, &sort, l);

	(void)like;
	if (rc)
		return rc;
	before = cuda_enter(d);
	switch (sort) {
	case CODE_CUDA_C:
		rc = make_cuda_c(d, c, function, l);
		break;
	case CODE_PTX:
		rc = make_ptx(d, c, function, l);
		break;
	case CODE_BINARY:
		rc = make_function(d, c->image, c->entry, function, l);
		break;
	}
	cuda_leave(d, &before);
	return rc;
}
