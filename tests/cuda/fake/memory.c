/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of the card: pages of the process, which are mapped while it is taken
 * and gone when it is given back, so that a kernel that still uses it faults.
 * Memory of the pool is there from where its stream takes it to where a stream
 * gives it back.
 */
#include "tests/cuda/fake/fake.h"

#include "tests/cuda/fake/control.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGN 512 /* of the card's memory, and no more */
#define PAGE 4096

static struct range *ranges;
static size_t used[MAX_CARDS];

struct range *range_first(void)
{
	return ranges;
}

struct range *range_find(uintptr_t p)
{
	struct range *r = ranges;

	while (r && (p < r->at || p - r->at >= r->size))
		r = r->next;
	return r;
}

bool range_has(uintptr_t p, size_t size)
{
	const struct range *r = range_find(p);

	return r && !r->is_given_back && size <= r->size - (p - r->at);
}

bool range_is_host(const struct range *r)
{
	return r->kind == RANGE_PINNED || r->kind == RANGE_REGISTERED;
}

void range_add(uintptr_t at, size_t size, enum range_kind kind, int device)
{
	struct range *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	*r = (struct range){ ranges, at, size, kind, device, false, NULL };
	ranges = r;
}

void range_drop(struct range *r)
{
	struct range **p = &ranges;

	while (*p != r)
		p = &(*p)->next;
	*p = r->next;
	free(r);
	tell_change();
}

/* Under the lock. */
static long count_bytes(bool is_host)
{
	const struct range *r;
	size_t n = 0;

	for (r = ranges; r; r = r->next)
		if (r->kind != RANGE_MODULE && range_is_host(r) == is_host)
			n += r->size;
	return (long)n;
}

API long fake_cuda_bytes(int host)
{
	long n;

	fake_lock();
	n = count_bytes(host);
	fake_unlock();
	return n;
}

API int fake_cuda_await_bytes(int host, long bytes, long long patience_ns)
{
	int64_t end = now_ns() + patience_ns;
	bool is_so;

	fake_lock();
	while (!(is_so = count_bytes(host) == bytes) && now_ns() < end)
		wait_change();
	fake_unlock();
	return is_so ? 0 : -ETIMEDOUT;
}

static size_t mapped_size(size_t size)
{
	return (size + ALIGN + PAGE - 1) / PAGE * PAGE;
}

bool memory_reserve(int device, size_t size)
{
	if (size > CAPACITY - used[device])
		return false;
	used[device] += size;
	return true;
}

void memory_release(int device, size_t size)
{
	used[device] -= size;
}

/* pool: NULL: of the card itself. */
static bool reserve(struct CUmemPoolHandle_st *pool, int device, size_t size)
{
	return pool ? pool_take(pool, size) : memory_reserve(device, size);
}

static void release(struct CUmemPoolHandle_st *pool, int device, size_t size)
{
	if (pool)
		pool_give(pool, size);
	else
		memory_release(device, size);
}

static cu_result take(cu_ptr *p, size_t size, enum range_kind kind,
		      struct CUmemPoolHandle_st *pool)
{
	cu_result r = size ? capture_forbids(NULL) : 1;
	int device = pool ? pool->device : current->device;
	int prot = kind == RANGE_POOL ? PROT_NONE : PROT_READ | PROT_WRITE;
	void *at;

	if (r)
		return r;
	if (!reserve(pool, device, size))
		return 2;
	at = mmap(NULL, mapped_size(size), prot,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		release(pool, device, size);
		return 2;
	}
	*p = (cu_ptr)(uintptr_t)at + ALIGN;
	range_add((uintptr_t)*p, size, kind, device);
	range_first()->pool = pool;
	return 0;
}

static void unmap(struct range *r)
{
	release(r->pool, r->device, r->size);
	munmap((void *)(r->at - ALIGN), mapped_size(r->size));
	range_drop(r);
}

/* The card's memory that begins there; NULL: none that is taken. */
static struct range *find_taken(cu_ptr p)
{
	struct range *r = range_find((uintptr_t)p);

	if (!r || r->at != p || r->is_given_back || range_is_host(r) ||
	    r->kind == RANGE_MODULE)
		return NULL;
	return r;
}

cu_result cuMemAlloc(cu_ptr *p, size_t size)
{
	cu_result r = enter(E_cuMemAlloc, NEEDS_CONTEXT);

	return leave(r ? r : take(p, size, RANGE_DEVICE, NULL));
}

cu_result cuMemAllocManaged(cu_ptr *p, size_t size, unsigned flags)
{
	cu_result r = enter(E_cuMemAllocManaged, NEEDS_CONTEXT);

	if (!r && flags != 1 && flags != 2)
		r = 1;
	return leave(r ? r : take(p, size, RANGE_MANAGED, NULL));
}

cu_result cuMemFree(cu_ptr p)
{
	cu_result r = enter(E_cuMemFree, NEEDS_CONTEXT);
	struct range *x;

	if (r || !p)
		return leave(r);
	r = find_taken(p) ? capture_forbids(NULL) : 1;
	if (r)
		return leave(r);
	stream_wait_all(true);
	r = fault_told();
	x = find_taken(p);
	if (!r && x)
		unmap(x);
	return leave(r);
}

/* ---- the pool ----------------------------------------------------------- */

/* Both run on the stream's thread, without the lock. */
void memory_take(const struct op *o)
{
	if (mprotect((char *)o->to - ALIGN, mapped_size(o->size),
		     PROT_READ | PROT_WRITE))
		abort();
}

void memory_give(const struct op *o)
{
	struct range *r;

	fake_lock();
	r = range_find((uintptr_t)o->to);
	if (r)
		unmap(r);
	fake_unlock();
}

static cu_result give_pool(enum entry e, cu_stream s, enum op_kind kind,
			   const struct range *r)
{
	struct op *o = op_make(kind);

	o->to = (void *)r->at;
	o->size = r->size;
	return stream_give(e, s, o);
}

/* pool: NULL: the default one of the stream's card. */
static cu_result take_pooled(enum entry e, cu_ptr *p, size_t size, cu_pool pool,
			     cu_stream s)
{
	struct CUstream_st *found = NULL;
	cu_result r = stream_find(e, s, &found);

	if (!r && like(LIKE_NO_POOLS))
		r = 801;
	if (r)
		return r;
	pool = pool ? pool_find(pool) : pool_default(found->ctx->device);
	r = pool ? take(p, size, RANGE_POOL, pool) : 1;
	return r ? r : give_pool(e, s, OP_TAKE, range_find((uintptr_t)*p));
}

cu_result cuMemAllocAsync(cu_ptr *p, size_t size, cu_stream s)
{
	cu_result r = enter(E_cuMemAllocAsync, NEEDS_CONTEXT);

	return leave(r ? r : take_pooled(E_cuMemAllocAsync, p, size, NULL, s));
}

cu_result cuMemAllocFromPoolAsync(cu_ptr *p, size_t size, cu_pool pool,
				  cu_stream s)
{
	cu_result r = enter(E_cuMemAllocFromPoolAsync, NEEDS_CONTEXT);

	if (!r && !pool)
		r = 1;
	return leave(
		r ? r
		  : take_pooled(E_cuMemAllocFromPoolAsync, p, size, pool, s));
}

cu_result cuMemFreeAsync(cu_ptr p, cu_stream s)
{
	cu_result r = enter(E_cuMemFreeAsync, NEEDS_CONTEXT);
	struct range *x = find_taken(p);
	struct CUstream_st *found;

	if (!r && p && !x)
		r = 1;
	if (!r)
		r = stream_find(E_cuMemFreeAsync, s, &found);
	if (r || !p)
		return leave(r);
	x->is_given_back = true;
	return leave(give_pool(E_cuMemFreeAsync, s, OP_GIVE, x));
}

/* ---- what is told ------------------------------------------------------- */

cu_result cuMemGetInfo(size_t *available, size_t *all)
{
	cu_result r = enter(E_cuMemGetInfo, NEEDS_CONTEXT);

	if (!r) {
		*available = CAPACITY - used[current->device];
		*all = CAPACITY;
	}
	return leave(r);
}

cu_result cuMemGetAddressRange(cu_ptr *base, size_t *size, cu_ptr p)
{
	cu_result r = enter(E_cuMemGetAddressRange, NEEDS_CONTEXT);
	const struct range *x = range_find((uintptr_t)p);

	if (!r && !x)
		r = 500;
	if (!r) {
		*base = x->at;
		*size = x->size;
	}
	return leave(r);
}

/* Of all attributes the kind of memory, and whether it can be exported. */
cu_result cuPointerGetAttribute(void *value, unsigned attribute, cu_ptr p)
{
	cu_result r = enter(E_cuPointerGetAttribute, NEEDS_CONTEXT);
	const struct range *x = range_find((uintptr_t)p);

	if (!r && (!x || (attribute != CU_POINTER_KIND &&
			  attribute != CU_POINTER_IS_EXPORTED)))
		r = 1;
	if (!r && attribute == CU_POINTER_KIND)
		*(unsigned *)value = range_is_host(x) ? 1 : 2;
	else if (!r)
		*(bool *)value = x->kind == RANGE_DEVICE;
	return leave(r);
}
