/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Devices: what lkdf finds of them, and what is missing for more. */
#include "doctor.h"

#include <lkdf/lkdf.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Names of those that there are, as far as they fit. */
static void list_devices(struct lkdf *rt, unsigned nr, char *to, size_t size)
{
	struct lkdf_place *place[LKDF_MAX_DEVICES];
	size_t used = 0;
	unsigned i;
	int n;

	nr = nr < LKDF_MAX_DEVICES ? nr : LKDF_MAX_DEVICES;
	lkdf_places(rt, LKDF_PLACE_GPU, place, nr);
	to[0] = '\0';
	for (i = 0; i < nr && used < size; i++) {
		struct lkdf_device_info info = { .size = sizeof(info) };

		if (lkdf_place_info(place[i], &info))
			continue;
		n = snprintf(to + used, size - used, "%s%s, %llu MiB",
			     used ? "; " : "", info.name,
			     (unsigned long long)info.memory >> 20);
		used += n > 0 ? (size_t)n : 0;
	}
}

static void say_none(struct finding *f, const char *why)
{
	if (!strncmp(why, "places: ", 8))
		why += 8;
	finding_say(f, DOCTOR_NONE, "%.200s", why);
	finding_fix(f, "the driver's package, and the loader "
		       "ocl-icd-libopencl1; pocl-opencl-icd makes a device of "
		       "the CPUs");
}

void probe_opencl(struct finding *f)
{
	char names[160];
	struct lkdf *rt;
	int nr;

	if (lkdf_open("workers=1,devices=opencl", &rt)) {
		finding_say(f, DOCTOR_FAIL,
			    "cannot open a runtime with devices=opencl: %.160s",
			    lkdf_errmsg());
		finding_fix(f, "devices=none");
		return;
	}
	nr = lkdf_places(rt, LKDF_PLACE_GPU, NULL, 0);
	if (nr > 0) {
		list_devices(rt, (unsigned)nr, names, sizeof(names));
		finding_say(f, DOCTOR_OK,
			    "opencl: %d device%s with devices=opencl: %s", nr,
			    nr == 1 ? "" : "s", names);
	} else {
		say_none(f, lkdf_errmsg());
	}
	lkdf_close(rt);
}

/* The version of the driver, as 12040; 0: it does not tell. */
static int cuda_version(void *library)
{
	int (*get)(int *version);
	int version = 0;

	*(void **)&get = dlsym(library, "cuDriverGetVersion");
	return get && !get(&version) ? version : 0;
}

void probe_cuda(struct finding *f)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	int version;

	if (!library) {
		finding_say(f, DOCTOR_NONE, "cuda: no NVIDIA driver: %.180s",
			    dlerror());
		finding_fix(f, "NVIDIA's driver, of which devices=opencl uses "
			       "the OpenCL part");
		return;
	}
	version = cuda_version(library);
	finding_say(f, DOCTOR_NONE,
		    "cuda: an NVIDIA driver for CUDA %d.%d, which this version "
		    "of lkdf does not use",
		    version / 1000, version % 1000 / 10);
	finding_fix(f, "devices=opencl, if the driver has its OpenCL part; "
		       "lkdf_place_register() for a device of your own");
	/* It stays: drivers have threads. */
}
