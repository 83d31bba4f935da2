/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/backend.h"

#include "base/err.h"
#include "offload/devices.h"
#include "opencl/device.h"

#include <errno.h>
#include <stdio.h>

static void keep_why(struct lkdf *rt, const char *why)
{
	snprintf(rt->devices->why, sizeof(rt->devices->why), "%s", why);
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

	keep_why(rt, "the option devices is none");
	/* Their libraries take code and files from variables of their own. */
	if (o->devices != BACKEND_NONE && o->raised) {
		err(-EPERM, "their libraries are not loaded: %s", o->raised);
		keep_why(rt, err_text());
		return;
	}
	if (o->devices == BACKEND_OPENCL)
		add_opencl(rt);
}
