/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of the card for copies comes from a pool of the device's own, whose
 * calls never wait for kernels, in a stream that has nothing else. The pool
 * keeps what it was given back, until the driver has no other memory. Other
 * memory goes back when nothing is under way.
 */
#include "cuda/device.h"

#include "base/err.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

/*
 * Its memory is for copies. The program's is none of it: memory of a pool is
 * not exported by the calls that MPI and UCX use. Without a pool cuMemAlloc
 * serves.
 */
static int open_pool(struct cuda_device *d)
{
	const struct cu_pool_props props = { .sort = CU_POOL_PINNED,
					     .place = CU_POOL_DEVICE,
					     .device = d->id };
	uint64_t keeps = UINT64_MAX;
	cu_pool pool = NULL;
	cu_result r = d->cuda.cuMemPoolCreate(&pool, &props);

	if (r)
		return cuda_errno(r) == -ENODEV
			       ? cuda_fails(d, "cuMemPoolCreate", r)
			       : 0;
	d->pool = pool;
	r = d->cuda.cuMemPoolSetAttribute(pool, CU_POOL_RELEASE_THRESHOLD,
					  &keeps);
	return r ? cuda_fails(d, "cuMemPoolSetAttribute", r) : 0;
}

bool cuda_has_pool(const struct cuda_device *d)
{
	return cuda_number(d, CU_ATTR_POOLS);
}

int cuda_open_memory(struct cuda_device *d)
{
	cu_result r;

	r = d->cuda.cuStreamCreateWithPriority(&d->memory,
					       CU_STREAM_IS_NON_BLOCKING, 0);
	if (r)
		return cuda_fails(d, "cuStreamCreateWithPriority", r);
	return cuda_has_pool(d) ? open_pool(d) : 0;
}

void cuda_close_memory(struct cuda_device *d)
{
	tdestroy(d->blocks, free);
	d->blocks = NULL;
	if (!d->memory)
		return;
	d->cuda.cuStreamSynchronize(d->memory);
	d->cuda.cuStreamDestroy(d->memory);
	d->memory = NULL;
	if (d->pool)
		d->cuda.cuMemPoolDestroy(d->pool);
	d->pool = NULL;
}

/* ---- what goes back late ------------------------------------------------ */

static void give_now(const struct cuda_device *d, const struct cuda_late *l)
{
	if (l->module)
		d->cuda.cuModuleUnload(l->module);
	else
		d->cuda.cuMemFree(l->memory);
}

/*
 * A module is small, and the driver would wait for kernels of the program, of
 * which nobody knows: some are kept.
 */
void cuda_give_back(struct cuda_device *d, cu_module module, cu_ptr memory)
{
	const struct cuda_late now = { .module = module, .memory = memory };
	struct cuda_late *l = NULL;

	if (module || !cuda_is_idle(d))
		l = malloc(sizeof(*l));
	/* Without memory for a note of it: at once. */
	if (!l) {
		give_now(d, &now);
		return;
	}
	*l = now;
	l->next = d->late;
	d->late = l;
	d->nr_late += module ? 1 : CUDA_LATE_MODULES;
}

bool cuda_is_late(const struct cuda_device *d)
{
	return d->nr_late >= CUDA_LATE_MODULES;
}

void cuda_settle(struct cuda_device *d)
{
	struct cuda_late *l;

	while ((l = d->late)) {
		d->late = l->next;
		give_now(d, l);
		free(l);
	}
	d->nr_late = 0;
}

void cuda_forget_late(struct cuda_device *d)
{
	struct cuda_late *l;

	while ((l = d->late)) {
		d->late = l->next;
		free(l);
	}
	d->nr_late = 0;
}

/* ---- memory of the card ------------------------------------------------- */

/* Other streams use it at once, so it is waited for: nothing is before it. */
static cu_result take_pooled(struct cuda_device *d, uint64_t bytes, cu_ptr *out)
{
	cu_result r;

	r = d->cuda.cuMemAllocFromPoolAsync(out, bytes, d->pool, d->memory);
	return r ? r : d->cuda.cuStreamSynchronize(d->memory);
}

static cu_result ask_memory(struct cuda_device *d, enum lkdf_mem_kind mem,
			    uint64_t bytes, cu_ptr *out)
{
	if (mem == LKDF_MEM_MANAGED)
		return d->cuda.cuMemAllocManaged(out, bytes, CU_MANAGED_GLOBAL);
	return mem == LKDF_MEM_OWN && d->pool ? take_pooled(d, bytes, out)
					      : d->cuda.cuMemAlloc(out, bytes);
}

static const char *call_of(const struct cuda_device *d, enum lkdf_mem_kind mem)
{
	if (mem == LKDF_MEM_MANAGED)
		return "cuMemAllocManaged";
	return mem == LKDF_MEM_OWN && d->pool ? "cuMemAllocFromPoolAsync"
					      : "cuMemAlloc";
}

/* Memory that the pool keeps for later, and what goes back when nothing is
 * under way. */
static void give_unused(struct cuda_device *d)
{
	if (d->late && cuda_is_idle(d))
		cuda_settle(d);
	if (!d->pool)
		return;
	/* The stream gives back what it was told to before. */
	d->cuda.cuStreamSynchronize(d->memory);
	d->cuda.cuMemPoolTrimTo(d->pool, 0);
}

static int take_memory(struct cuda_device *d, enum lkdf_mem_kind mem,
		       uint64_t bytes, cu_ptr *out)
{
	cu_result r = ask_memory(d, mem, bytes, out);

	if (r == CU_OUT_OF_MEMORY) {
		give_unused(d);
		r = ask_memory(d, mem, bytes, out);
	}
	return r ? cuda_fails(d, call_of(d, mem), r) : 0;
}

static void put_memory(struct cuda_device *d, cu_ptr at, bool is_pooled)
{
	if (is_pooled)
		d->cuda.cuMemFreeAsync(at, d->memory);
	else
		cuda_give_back(d, NULL, at);
}

static int by_address(const void *a, const void *b)
{
	const struct cuda_block *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
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
	if (tsearch(b, &d->blocks, by_address))
		return 0;
	free(b);
	return err(-ENOMEM, "cuda: no memory");
}

static int alloc_block(struct cuda_device *d, enum lkdf_mem_kind mem,
		       uint64_t bytes, uint64_t align, void **device_ptr)
{
	bool is_pooled = mem == LKDF_MEM_OWN && d->pool;
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

	if (mem != LKDF_MEM_OWN && mem != LKDF_MEM_EXPORTED &&
	    mem != LKDF_MEM_MANAGED)
		return err(-EOPNOTSUPP, "cuda: memory of kind %d", (int)mem);
	return alloc_block(d, mem, bytes, align, device_ptr);
}

/* Memory that the pool gave has no note. */
static bool take_note(struct cuda_device *d, cu_ptr at, struct cuda_block *out)
{
	const struct cuda_block key = { .at = at };
	struct cuda_block **found = tfind(&key, &d->blocks, by_address), *b;

	if (!found)
		return false;
	b = *found;
	*out = *b;
	tdelete(b, &d->blocks, by_address);
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
