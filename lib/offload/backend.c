/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/backend.h"

#include "base/err.h"
#include "base/options.h"
#include "cuda/device.h"
#include "offload/devices.h"
#include "opencl/device.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Behind the reason of another back end, if there is one. */
static void keep_why(struct lkdf *rt, const char *why)
{
	char *text = rt->devices->why;
	size_t size = sizeof(rt->devices->why), used = strlen(text);

	if (why[0])
		snprintf(text + used, size - used, "%s%s", used ? "; " : "",
			 why);
}

static void count_cuda(void *u, enum cuda_counted what)
{
	static const enum counter counters[] = {
		[CUDA_GRAPHS] = COUNTER_CUDA_GRAPHS,
		[CUDA_UPDATES] = COUNTER_CUDA_UPDATES,
		[CUDA_REFUSED] = COUNTER_CUDA_REFUSED,
	};
	const struct lkdf *rt = u;

	trace_count_outside(trace_outside(&rt->trace), counters[what], 1);
}

static void note_cuda(void *u)
{
	keep_why(u, err_text());
}

static void add_cuda(struct lkdf *rt)
{
	const struct options *o = rt->options;
	const struct cuda_settings s = {
		.library = o->cuda_library,
		.nvrtc = o->nvrtc_library,
		.cache = o->kernel_cache,
		.is_serial = rt->sched.is_serial,
		.count = count_cuda,
		.note = note_cuda,
		.u = rt,
	};
	struct lkdf_device_ops ops = cuda_ops;
	struct cuda_device *v[LKDF_MAX_DEVICES];
	struct lkdf_place *place;
	int i, nr = cuda_devices(&s, v, LKDF_MAX_DEVICES);

	if (nr <= 0)
		keep_why(rt, err_text());
	for (i = 0; i < nr; i++) {
		ops.flags = cuda_ops.flags;
		if (o->device_pool && cuda_has_pool(v[i]))
			ops.flags &= ~(uint32_t)LKDF_DEVICE_EXPORTS;
		if (cuda_has_managed(v[i]))
			ops.flags |= LKDF_DEVICE_MANAGED;
		if (!devices_add(rt, LKDF_PLACE_GPU, &ops, v[i], &place))
			continue;
		keep_why(rt, err_text());
		cuda_ops.stop(v[i]);
	}
}

static void add_opencl(struct lkdf *rt)
{
	const char *library = rt->options->opencl_library;
	struct lkdf_device_ops ops = opencl_ops;
	struct opencl_device *v[LKDF_MAX_DEVICES];
	struct lkdf_place *place;
	int i, nr;

	nr = opencl_devices(library[0] ? library : OPENCL_LIBRARY, v,
			    LKDF_MAX_DEVICES);
	if (nr <= 0) {
		keep_why(rt, err_text());
		return;
	}
	for (i = 0; i < nr; i++) {
		ops.flags = opencl_ops.flags;
		if (opencl_has_shared(v[i]))
			ops.flags |= LKDF_DEVICE_MANAGED;
		if (!devices_add(rt, LKDF_PLACE_GPU, &ops, v[i], &place))
			continue;
		keep_why(rt, err_text());
		opencl_ops.stop(v[i]);
	}
}

void backend_open(struct lkdf *rt)
{
	const struct options *o = rt->options;

	if (!o->devices) {
		keep_why(rt, "the option devices is none");
		return;
	}
	/* Their libraries take code and files from variables of their own. */
	if (o->raised) {
		err(-EPERM, "their libraries are not loaded: %s", o->raised);
		keep_why(rt, err_text());
		return;
	}
	if (o->devices >> BACKEND_CUDA & 1)
		add_cuda(rt);
	if (o->devices >> BACKEND_OPENCL & 1)
		add_opencl(rt);
}
