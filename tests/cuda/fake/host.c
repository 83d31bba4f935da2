/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Memory of the host that the card may use: taken pinned, or registered. */
#include "tests/cuda/fake/fake.h"

#include "tests/cuda/fake/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* The byte is mapped and may be written: it is read and written back. */
static bool may_write(const void *p)
{
	char byte;
	struct iovec mine = { &byte, 1 }, there = { (void *)(uintptr_t)p, 1 };

	return process_vm_readv(getpid(), &mine, 1, &there, 1, 0) == 1 &&
	       process_vm_writev(getpid(), &mine, 1, &there, 1, 0) == 1;
}

static bool overlaps(uintptr_t at, size_t size)
{
	const struct range *r;

	for (r = range_first(); r; r = r->next)
		if (at < r->at + r->size && r->at < at + size)
			return true;
	return false;
}

cu_result cuMemHostAlloc(void **p, size_t size, unsigned flags)
{
	cu_result r = enter(E_cuMemHostAlloc, NEEDS_CONTEXT);
	void *at;

	if (!r)
		r = !size || flags > 7 ? 1 : capture_forbids(NULL);
	if (r)
		return leave(r);
	at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return leave(2);
	range_add((uintptr_t)at, size, RANGE_PINNED, current->device);
	*p = at;
	return leave(0);
}

cu_result cuMemFreeHost(void *p)
{
	cu_result r = enter(E_cuMemFreeHost, NEEDS_CONTEXT);
	struct range *x = range_find((uintptr_t)p);

	if (!r && (!x || x->at != (uintptr_t)p || x->kind != RANGE_PINNED))
		r = 1;
	if (!r)
		r = capture_forbids(NULL);
	if (r)
		return leave(r);
	stream_wait_all(true);
	r = fault_told();
	x = r ? NULL : range_find((uintptr_t)p);
	if (x) {
		munmap(p, x->size);
		range_drop(x);
	}
	return leave(r);
}

cu_result cuMemHostGetDevicePointer(cu_ptr *there, void *p, unsigned flags)
{
	cu_result r = enter(E_cuMemHostGetDevicePointer, NEEDS_CONTEXT);
	const struct range *x = range_find((uintptr_t)p);

	if (!r && (flags || !x || !range_is_host(x)))
		r = 1;
	if (!r)
		*there = (cu_ptr)(uintptr_t)p;
	return leave(r);
}

cu_result cuMemHostRegister(void *p, size_t size, unsigned flags)
{
	cu_result r = enter(E_cuMemHostRegister, NEEDS_CONTEXT);

	if (!r && (!size || flags > 15 || !may_write(p) ||
		   !may_write((char *)p + size - 1)))
		r = 1;
	if (!r)
		r = capture_forbids(NULL);
	if (!r && overlaps((uintptr_t)p, size))
		r = 712;
	if (!r)
		range_add((uintptr_t)p, size, RANGE_REGISTERED,
			  current->device);
	return leave(r);
}

static cu_result check_registered(void *p)
{
	const struct range *x = range_find((uintptr_t)p);

	if (!x)
		return 713;
	return x->at == (uintptr_t)p && x->kind == RANGE_REGISTERED ? 0 : 1;
}

cu_result cuMemHostUnregister(void *p)
{
	cu_result r = enter(E_cuMemHostUnregister, NEEDS_CONTEXT);

	if (!r)
		r = check_registered(p);
	if (!r)
		r = capture_forbids(NULL);
	if (r)
		return leave(r);
	stream_wait_all(true);
	r = fault_told();
	if (!r && !check_registered(p))
		range_drop(range_find((uintptr_t)p));
	return leave(r);
}

/* ---- pages that leave the process --------------------------------------- */

static const struct range *find_registered(uintptr_t at, size_t size)
{
	const struct range *r;

	for (r = range_first(); r; r = r->next)
		if (r->kind == RANGE_REGISTERED && at < r->at + r->size &&
		    r->at < at + size)
			return r;
	return NULL;
}

API void fake_cuda_gone(const char *call, const void *at, size_t size)
{
	const struct range *r;

	/* The library's own pages. */
	if (fake_is_locked())
		return;
	fake_lock();
	r = device_ready() || fault_is_there()
		    ? NULL
		    : find_registered((uintptr_t)at, size);
	if (r) {
		fprintf(stderr,
			"%s(%p, %zu): %zu bytes from %#zx on are registered\n",
			call, at, size, r->size, (size_t)r->at);
		abort();
	}
	fake_unlock();
}
