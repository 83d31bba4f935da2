/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/load.h"

#include "base/err.h"
#include "base/util.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct call {
	const char *name, *version; /* "v12040" */
	size_t at; /* in struct cuda */
};

#define CUDA_ROW(name, version, ...) \
	{ #name, #version, offsetof(struct cuda, name) },
static const struct call calls[] = { CUDA_CALLS(CUDA_ROW) };
static const struct call later_calls[] = { CUDA_LATER_CALLS(CUDA_ROW) };
#undef CUDA_ROW

/* cuGetProcAddress_v2, which tells where all others are. */
typedef cu_result (*find_fn)(const char *name, void **f, int version,
			     uint64_t flags, unsigned *status);

int cuda_version(const struct cuda *cuda)
{
	int version = 0;

	return cuda->cuDriverGetVersion(&version) ? 0 : version;
}

/* The version of a library that is too old for more; 0: it is another one. */
static int old_version(void *handle)
{
	cu_result (*get)(int *version);
	void *f = dlsym(handle, "cuDriverGetVersion");
	int version = 0;

	if (!f)
		return 0;
	memcpy(&get, &f, sizeof(get));
	return get(&version) ? 0 : version;
}

static int refuse_old(void *handle, const char *library)
{
	int version = old_version(handle);

	if (!version)
		return err(-ENOSYS,
			   "cuda: %s is no NVIDIA driver: it has no "
			   "cuGetProcAddress_v2",
			   library);
	return err(-ENOSYS,
		   "cuda: %s is a driver of CUDA %d.%d: one of CUDA 12.0 or "
		   "later is needed",
		   library, version / 1000, version % 1000 / 10);
}

/* The pointer tells: the driver says success also where it has no such call. */
static cu_result find_call(find_fn find, const struct call *c, int version,
			   struct cuda *cuda)
{
	unsigned status = 0;
	void *f = NULL;
	cu_result r = find(c->name, &f, version, 0, &status);

	if (r)
		return r;
	if (!f)
		return CU_NOT_FOUND;
	memcpy((char *)cuda + c->at, &f, sizeof(f));
	return CU_SUCCESS;
}

static int find_calls(find_fn find, const char *library, struct cuda *cuda)
{
	cu_result r = CU_SUCCESS;
	int version;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls) && !r; i++)
		r = find_call(find, &calls[i], CUDA_OLDEST, cuda);
	if (r == CU_STUB_LIBRARY)
		return err(-ENODEV,
			   "cuda: %s is no driver, it is the toolkit's library "
			   "for linkers (CUDA_ERROR_STUB_LIBRARY)",
			   library);
	version = cuda->cuDriverGetVersion ? cuda_version(cuda) : 0;
	if (r)
		return err(-ENOSYS,
			   "cuda: %s, a driver of CUDA %d.%d, has no %s (%u)",
			   library, version / 1000, version % 1000 / 10,
			   calls[i - 1].name, r);
	for (i = 0; i < ARRAY_SIZE(later_calls); i++)
		find_call(find, &later_calls[i],
			  atoi(later_calls[i].version + 1), cuda);
	return 0;
}

int cuda_load(const char *library, struct cuda *cuda)
{
	void *handle, *f;
	const char *why;
	find_fn find;
	int rc;

	memset(cuda, 0, sizeof(*cuda));
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle) {
		why = dlerror();
		return err(-ENOENT, "cuda: no NVIDIA driver: %s",
			   why ? why : library);
	}
	f = dlsym(handle, "cuGetProcAddress_v2");
	if (f) {
		memcpy(&find, &f, sizeof(find));
		rc = find_calls(find, library, cuda);
	} else {
		rc = refuse_old(handle, library);
	}
	dlclose(handle);
	return rc;
}
