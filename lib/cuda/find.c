/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/device.h"

#include "base/err.h"

#include <errno.h>
#include <signal.h>
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

static int find_devices(const struct cuda *cuda, const struct cuda_settings *s,
			struct cuda_device **v, unsigned max)
{
	int nr = 0, i, rc = 0;
	cu_result r = cuda->cuDeviceGetCount(&nr);

	if (r)
		return cuda_failed(cuda, "cuDeviceGetCount", r);
	if (!nr)
		return err(0, "cuda: no device: the driver has none");
	for (i = 0; i < nr && i < (int)max && !rc; i++)
		rc = add_device(cuda, s, i, &v[i]);
	if (rc)
		i--;
	return i ? i : rc;
}

int cuda_devices(const struct cuda_settings *s, struct cuda_device **v,
		 unsigned max)
{
	sigset_t all, old;
	struct cuda cuda;
	int rc;

	/* Threads of the driver take no signal of the user's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = cuda_load(s->library[0] ? s->library : CUDA_LIBRARY, &cuda);
	if (!rc)
		rc = cuda_init(&cuda);
	if (!rc)
		rc = find_devices(&cuda, s, v, max);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}
