/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/device.h"

#include "base/err.h"
#include "base/helper.h"

#include <errno.h>
#include <stdio.h>

static int add_device(const struct cuda *cuda, const struct cuda_settings *s,
		      int i, struct cuda_device **out)
{
	struct cuda_device *d;
	cu_device id = 0;
	cu_result r = cuda->cuDeviceGet(&id, i);

	if (r)
		return cuda_failed(cuda, "cuDeviceGet", r);
	d = cuda_create(cuda, id, NULL);
	if (!d)
		return err(-ENOMEM, "cuda: no memory");
	snprintf(d->nvrtc, sizeof(d->nvrtc), "%s", s->nvrtc);
	snprintf(d->cache, sizeof(d->cache), "%s", s->cache);
	d->is_serial = s->is_serial;
	d->count = s->count;
	d->count_u = s->u;
	*out = d;
	return 0;
}

/* The text says why the card is no device, or what it lacks. */
static void tell_note(const struct cuda_settings *s)
{
	if (s->note)
		s->note(s->u);
	err_clear();
}

/* The driver says so; where it does not answer nobody knows. */
static bool is_zero(const struct cuda_device *d, unsigned what)
{
	int v = 1;

	return !d->cuda.cuDeviceGetAttribute(&v, what, d->id) && !v;
}

/* 0: the card can be used; else -errno with a text. */
static int check_card(const struct cuda_device *d)
{
	char name[64] = "";

	d->cuda.cuDeviceGetName(name, sizeof(name), d->id);
	name[sizeof(name) - 1] = 0;
	if (cuda_number(d, CU_ATTR_COMPUTE_MODE) == CU_MODE_PROHIBITED)
		return err(-EACCES,
			   "cuda: card %d, %s: its compute mode is prohibited, "
			   "which lets no process use it (nvidia-smi -c)",
			   d->id, name);
	if (is_zero(d, CU_ATTR_WORDS_V1) && is_zero(d, CU_ATTR_WORDS_64))
		return err(-EOPNOTSUPP,
			   "cuda: card %d, %s: its streams write no words "
			   "(stream memory operations)",
			   d->id, name);
	return 0;
}

static void check_version(const struct cuda *cuda,
			  const struct cuda_settings *s)
{
	int version = cuda_version(cuda);

	if (cuda->cuFuncGetParamInfo)
		return;
	err(0,
	    "cuda: the driver is one of CUDA %d.%d: kernels of sealed graphs "
	    "are launched one by one, and the parameters of a launch are not "
	    "compared; CUDA 12.4 does both",
	    version / 1000, version % 1000 / 10);
	tell_note(s);
}

static int find_devices(const struct cuda *cuda, const struct cuda_settings *s,
			struct cuda_device **v, unsigned max)
{
	int nr = 0, i, found = 0, rc = 0;
	cu_result r = cuda->cuDeviceGetCount(&nr);

	if (r)
		return cuda_failed(cuda, "cuDeviceGetCount", r);
	if (!nr)
		return err(0, "cuda: no device: the driver has none");
	for (i = 0; i < nr && found < (int)max && !rc; i++) {
		rc = add_device(cuda, s, i, &v[found]);
		if (!rc && check_card(v[found])) {
			tell_note(s);
			cuda_stop(v[found]);
		} else if (!rc) {
			found++;
		}
	}
	if (found)
		check_version(cuda, s);
	return found ? found : rc;
}

int cuda_devices(const struct cuda_settings *s, struct cuda_device **v,
		 unsigned max)
{
	sigset_t old;
	struct cuda cuda;
	int rc;

	/* Threads of the driver take no signal of the user's. */
	helper_hide(&old);
	rc = cuda_load(s->library[0] ? s->library : CUDA_LIBRARY, &cuda);
	if (!rc)
		rc = cuda_init(&cuda);
	if (!rc)
		rc = find_devices(&cuda, s, v, max);
	helper_show(&old);
	return rc;
}
