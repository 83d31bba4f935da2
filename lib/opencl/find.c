/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "opencl/device.h"

#include "base/err.h"
#include "base/helper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLATFORMS 16

static int make_device(const struct opencl *cl, ocl_device id,
		       struct opencl_device **out)
{
	struct opencl_device *d = calloc(1, sizeof(*d));

	if (!d)
		return err(-ENOMEM, "opencl: no memory");
	d->cl = *cl;
	opencl_waits_init(&d->commands);
	opencl_waits_init(&d->events);
	d->id = id;
	*out = d;
	return 0;
}

/* How many more there are now, or -errno. */
static int add_platform(const struct opencl *cl, ocl_platform p,
			struct opencl_device **v, unsigned max)
{
	ocl_device id[LKDF_MAX_DEVICES];
	uint32_t nr = 0, i;
	int rc = 0;

	if (cl->clGetDeviceIDs(p, OCL_DEVICE_TYPE_ALL, LKDF_MAX_DEVICES, id,
			       &nr))
		return 0;
	if (nr > LKDF_MAX_DEVICES)
		nr = LKDF_MAX_DEVICES;
	for (i = 0; i < nr && i < max; i++) {
		rc = make_device(cl, id[i], &v[i]);
		if (rc)
			break;
	}
	return i ? (int)i : rc;
}

static int find_devices(const struct opencl *cl, struct opencl_device **v,
			unsigned max)
{
	ocl_platform platform[MAX_PLATFORMS];
	uint32_t nr = 0, i;
	unsigned found = 0;
	int32_t error;
	int rc;

	error = cl->clGetPlatformIDs(MAX_PLATFORMS, platform, &nr);
	if (error == OCL_PLATFORM_NOT_FOUND || (!error && !nr))
		return err(0, "opencl: no OpenCL driver is installed");
	if (error)
		return opencl_failed("clGetPlatformIDs", error);
	for (i = 0; i < nr && i < MAX_PLATFORMS; i++) {
		rc = add_platform(cl, platform[i], v + found, max - found);
		if (rc < 0 && !found)
			return rc;
		found += rc > 0 ? (unsigned)rc : 0;
	}
	if (!found)
		return err(0, "opencl: %u drivers, none has a device", nr);
	return (int)found;
}

int opencl_devices(const char *library, struct opencl_device **v, unsigned max)
{
	sigset_t old;
	struct opencl cl;
	int rc;

	/* Threads of drivers take no signal of the user's. */
	helper_hide(&old);
	rc = opencl_load(library, &cl);
	if (!rc)
		rc = find_devices(&cl, v, max);
	helper_show(&old);
	return rc;
}
