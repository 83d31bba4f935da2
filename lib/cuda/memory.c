/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of the card comes from the driver's pool, whose calls never wait for
 * kernels, in a stream of its own that has nothing else. The pool keeps what it
 * was given back. Other memory goes back when nothing is under way.
 */
#include "cuda/device.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

int cuda_open_memory(struct cuda_device *d)
{
	uint64_t keeps = UINT64_MAX;
	cu_pool pool = NULL;
	cu_result r;

	r = d->cuda.cuStreamCreateWithPriority(&d->memory,
					       CU_STREAM_IS_NON_BLOCKING, 0);
	if (r)
		return cuda_fails(d, "cuStreamCreateWithPriority", r);
	if (!cuda_number(d, CU_ATTR_POOLS))
		return 0;
	r = d->cuda.cuDeviceGetDefaultMemPool(&pool, d->id);
	if (r)
		return cuda_fails(d, "cuDeviceGetDefaultMemPool", r);
	r = d->cuda.cuMemPoolSetAttribute(pool, CU_POOL_RELEASE_THRESHOLD,
					  &keeps);
	if (r)
		return cuda_fails(d, "cuMemPoolSetAttribute", r);
	d->has_pool = true;
	return 0;
}

void cuda_close_memory(struct cuda_device *d)
{
	struct cuda_block *b;

	while ((b = d->blocks)) {
		d->blocks = b->next;
		free(b);
	}
	if (!d->memory)
		return;
	d->cuda.cuStreamSynchronize(d->memory);
	d->cuda.cuStreamDestroy(d->memory);
	d->memory = NULL;
}

/* ---- what goes back late ------------------------------------------------ */

void cuda_give_back(struct cuda_device *d, cu_module module, cu_ptr memory)
{
	struct cuda_late *l = cuda_is_idle(d) ? NULL : malloc(sizeof(*l));

	/* Without memory for a note of it: at once. */
	if (!l) {
		if (module)
			d->cuda.cuModuleUnload(module);
		else
			d->cuda.cuMemFree(memory);
		return;
	}
	l->module = module;
	l->memory = memory;
	l->next = d->late;
	d->late = l;
}

void cuda_settle(struct cuda_device *d)
{
	struct cuda_late *l;

	while ((l = d->late)) {
		d->late = l->next;
		if (l->module)
			d->cuda.cuModuleUnload(l->module);
		else
			d->cuda.cuMemFree(l->memory);
		free(l);
	}
}

void cuda_forget_late(struct cuda_device *d)
{
	struct cuda_late *l;

	while ((l = d->late)) {
		d->late = l->next;
		free(l);
	}
}

/* ---- memory of the card ------------------------------------------------- */

/* Other streams use it at once, so it is waited for: nothing is before it. */
static int take_pooled(struct cuda_device *d, uint64_t bytes, cu_ptr *out)
{
	cu_result r = d->cuda.cuMemAllocAsync(out, bytes, d->memory);

	if (r)
		return cuda_fails(d, "cuMemAllocAsync", r);
	r = d->cuda.cuStreamSynchronize(d->memory);
	return r ? cuda_fails(d, "cuStreamSynchronize", r) : 0;
}

static int take_memory(struct cuda_device *d, enum lkdf_mem_kind mem,
		       uint64_t bytes, cu_ptr *out)
{
	bool is_own = mem == LKDF_MEM_OWN;
	cu_result r;

	if (is_own && d->has_pool)
		return take_pooled(d, bytes, out);
	r = is_own ? d->cuda.cuMemAlloc(out, bytes)
		   : d->cuda.cuMemAllocManaged(out, bytes, CU_MANAGED_GLOBAL);
	if (!r)
		return 0;
	return cuda_fails(d, is_own ? "cuMemAlloc" : "cuMemAllocManaged", r);
}

static void put_memory(struct cuda_device *d, cu_ptr at, bool is_pooled)
{
	if (is_pooled)
		d->cuda.cuMemFreeAsync(at, d->memory);
	else
		cuda_give_back(d, NULL, at);
}

static int note_block(struct cuda_device *d, cu_ptr at, cu_ptr base,
		      bool is_pooled)
{
	struct cuda_block *b = malloc(sizeof(*b));

	if (!b)
		return err(-ENOMEM, "cuda: no memory");
	b->at = at;
	b->base = base;
	b->is_pooled = is_pooled;
	b->next = d->blocks;
	d->blocks = b;
	return 0;
}

static int alloc_block(struct cuda_device *d, enum lkdf_mem_kind mem,
		       uint64_t bytes, uint64_t align, void **device_ptr)
{
	bool is_pooled = mem == LKDF_MEM_OWN && d->has_pool;
	cu_ptr base = 0, at;
	int rc;

	if (align > CUDA_ALIGN)
		bytes += align;
	rc = take_memory(d, mem, bytes, &base);
	if (rc)
		return rc;
	at = align > CUDA_ALIGN ? (base + align - 1) & ~(cu_ptr)(align - 1)
				: base;
	if (!is_pooled || at != base)
		rc = note_block(d, at, base, is_pooled);
	if (rc) {
		put_memory(d, base, is_pooled);
		return rc;
	}
	*device_ptr = (void *)(uintptr_t)at;
	return 0;
}

int cuda_alloc(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
	       uint64_t align, void **device_ptr)
{
	struct cuda_device *d = dev;

	if (mem != LKDF_MEM_OWN && mem != LKDF_MEM_MANAGED)
		return err(-EOPNOTSUPP, "cuda: memory of kind %d", (int)mem);
	return alloc_block(d, mem, bytes, align, device_ptr);
}

/* Memory that the pool gave has no note. */
static bool take_note(struct cuda_device *d, cu_ptr at, struct cuda_block *out)
{
	struct cuda_block **p = &d->blocks, *b;

	while (*p && (*p)->at != at)
		p = &(*p)->next;
	b = *p;
	if (!b)
		return false;
	*out = *b;
	*p = b->next;
	free(b);
	return true;
}

void cuda_free(void *dev, void *device_ptr)
{
	struct cuda_device *d = dev;
	cu_ptr at = (cu_ptr)(uintptr_t)device_ptr;
	struct cuda_block b = { .base = at, .is_pooled = true };

	take_note(d, at, &b);
	put_memory(d, b.base, b.is_pooled);
}

/* ---- memory of the host ------------------------------------------------- */

/*
 * Another card of the process, or the program, may have told the driver of them
 * already: that is as good, and they are its own to take back.
 */
int cuda_pin(void *dev, void *host, uint64_t bytes)
{
	struct cuda_device *d = dev;
	struct cuda_pinned *p = malloc(sizeof(*p));
	cu_result r;

	if (!p)
		return err(-ENOMEM, "cuda: no memory");
	r = d->cuda.cuMemHostRegister(host, bytes, CU_HOST_PORTABLE);
	*p = (struct cuda_pinned){ (uintptr_t)host, bytes, !r };
	if (!r || r == CU_HOST_MEMORY_ALREADY_REGISTERED)
		return cuda_note_pinned(d, p);
	free(p);
	return cuda_fails(d, "cuMemHostRegister", r);
}

/*
 * The driver waits for all kernels of the card. That cannot be put off: behind
 * new pages at these addresses it would still see the old ones.
 */
void cuda_unpin(void *dev, void *host)
{
	struct cuda_device *d = dev;
	struct cuda_pinned *p = cuda_find_pinned(d, host, 1);

	if (p->is_ours)
		d->cuda.cuMemHostUnregister(host);
	cuda_forget_pinned(d, p);
}
