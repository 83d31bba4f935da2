/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory that a device and the host have at one address: shared virtual memory
 * of OpenCL 2, of the sort that needs no mapping (fine-grained buffers). A
 * kernel gets an address in it as a value of a pointer parameter.
 */
#include "opencl/device.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool opencl_has_shared(const struct opencl_device *d)
{
	uint64_t v = 0;

	return !d->cl.clGetDeviceInfo(d->id, OCL_DEVICE_SVM_CAPABILITIES,
				      sizeof(v), &v, NULL) &&
	       v & OCL_DEVICE_SVM_FINE_GRAIN_BUFFER;
}

int opencl_alloc_shared(struct opencl_device *d, uint64_t bytes, uint64_t align,
			void **device_ptr)
{
	struct opencl_shared *s = malloc(sizeof(*s));

	if (!s)
		return err(-ENOMEM, "opencl: no memory");
	/* A driver aligns for its largest type, of 128 bytes, and no more. */
	s->block = d->cl.clSVMAlloc(
		d->context, OCL_MEM_READ_WRITE | OCL_MEM_SVM_FINE_GRAIN_BUFFER,
		bytes + align, 0);
	if (!s->block) {
		free(s);
		return err(-ENOMEM, "opencl: clSVMAlloc of %llu bytes",
			   (unsigned long long)(bytes + align));
	}
	s->at = s->block + (align - (uintptr_t)s->block % align) % align;
	s->bytes = bytes;
	s->next = d->shared;
	d->shared = s;
	*device_ptr = s->at;
	return 0;
}

bool opencl_free_shared(struct opencl_device *d, void *device_ptr)
{
	struct opencl_shared **at = &d->shared, *s;

	while (*at && (*at)->at != device_ptr)
		at = &(*at)->next;
	s = *at;
	if (!s)
		return false;
	*at = s->next;
	d->cl.clSVMFree(d->context, s->block);
	free(s);
	return true;
}

bool opencl_is_shared(const struct opencl_device *d, const void *value,
		      size_t bytes, void **at)
{
	const struct opencl_shared *s;
	uintptr_t v;

	if (!d->shared || bytes != sizeof(v))
		return false;
	memcpy(&v, value, sizeof(v));
	for (s = d->shared; s; s = s->next)
		if (v - (uintptr_t)s->at < s->bytes) {
			*at = s->at + (v - (uintptr_t)s->at);
			return true;
		}
	return false;
}
