/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pools of memory. A pool takes bytes of the card and keeps what it is given
 * back: other memory of the card has it when the pool is trimmed or destroyed,
 * or at a wait for a stream, above the pool's threshold. The driver takes it
 * back also where it has no other; ours does not, for that is so in one process
 * only.
 */
#include "tests/cuda/fake/fake.h"

#include <stdlib.h>

static struct CUmemPoolHandle_st defaults[MAX_CARDS];
static struct CUmemPoolHandle_st *pools;

struct CUmemPoolHandle_st *pool_default(int device)
{
	defaults[device].device = device;
	defaults[device].is_default = true;
	return &defaults[device];
}

struct CUmemPoolHandle_st *pool_find(cu_pool pool)
{
	struct CUmemPoolHandle_st *p;
	int i;

	for (i = 0; i < device_count(); i++)
		if (pool == &defaults[i])
			return pool_default(i);
	for (p = pools; p && p != pool; p = p->next)
		;
	return p && !p->is_dead ? p : NULL;
}

static void trim(struct CUmemPoolHandle_st *p, uint64_t keep)
{
	size_t stays = p->used > keep ? p->used : (size_t)keep;

	if (p->reserved <= stays)
		return;
	memory_release(p->device, p->reserved - stays);
	p->reserved = stays;
}

static void free_dead(struct CUmemPoolHandle_st *p)
{
	struct CUmemPoolHandle_st **at = &pools;

	trim(p, 0);
	if (p->used)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p);
}

bool pool_take(struct CUmemPoolHandle_st *p, size_t size)
{
	size_t has = p->reserved - p->used, more = size > has ? size - has : 0;

	if (!memory_reserve(p->device, more))
		return false;
	p->reserved += more;
	p->used += size;
	return true;
}

void pool_give(struct CUmemPoolHandle_st *p, size_t size)
{
	p->used -= size;
	if (p->is_dead)
		free_dead(p);
}

void pool_waited(int device)
{
	struct CUmemPoolHandle_st *p;

	trim(pool_default(device), defaults[device].threshold);
	for (p = pools; p; p = p->next)
		if (p->device == device)
			trim(p, p->threshold);
}

/* ---- calls -------------------------------------------------------------- */

cu_result cuDeviceGetDefaultMemPool(cu_pool *pool, cu_dev d)
{
	cu_result r = enter(E_cuDeviceGetDefaultMemPool, NEEDS_DRIVER);

	if (!r && !device_is(d))
		r = 101;
	if (!r)
		*pool = pool_default(d);
	return leave(r);
}

/* Pinned memory of a card, which no other process is given: all else is 0. */
static bool are_known(const struct cu_pool_props *props)
{
	size_t i;

	for (i = 0; i < sizeof(props->later); i++)
		if (props->later[i])
			return false;
	return props->sort == 1 && !props->handles && props->place == 1 &&
	       !props->none;
}

static cu_result make_pool(const struct cu_pool_props *props, cu_pool *out)
{
	struct CUmemPoolHandle_st *p;

	if (like(LIKE_NO_POOLS))
		return 801;
	if (!props || !are_known(props))
		return 1;
	if (!device_is(props->device))
		return 101;
	p = calloc(1, sizeof(*p));
	if (!p)
		return 2;
	p->device = props->device;
	p->next = pools;
	pools = p;
	*out = p;
	return 0;
}

cu_result cuMemPoolCreate(cu_pool *out, const struct cu_pool_props *props)
{
	cu_result r = enter(E_cuMemPoolCreate, NEEDS_DRIVER);

	return leave(r ? r : make_pool(props, out));
}

static cu_result enter_pool(enum entry e, cu_pool pool)
{
	cu_result r = enter(e, NEEDS_DRIVER);

	return r ? r : pool_find(pool) ? 0 : 1;
}

cu_result cuMemPoolDestroy(cu_pool pool)
{
	cu_result r = enter_pool(E_cuMemPoolDestroy, pool);

	if (!r && pool->is_default)
		r = 1;
	if (!r) {
		pool->is_dead = true;
		free_dead(pool);
	}
	return leave(r);
}

cu_result cuMemPoolTrimTo(cu_pool pool, size_t keep)
{
	cu_result r = enter_pool(E_cuMemPoolTrimTo, pool);

	if (!r)
		trim(pool, keep);
	return leave(r);
}

/* Attributes below the threshold say how memory is used again: ours is not. */
cu_result cuMemPoolSetAttribute(cu_pool pool, unsigned attribute, void *value)
{
	cu_result r = enter_pool(E_cuMemPoolSetAttribute, pool);

	if (!r && (!attribute || attribute > CU_POOL_THRESHOLD || !value))
		r = 1;
	if (!r && attribute == CU_POOL_THRESHOLD)
		pool->threshold = *(uint64_t *)value;
	return leave(r);
}

cu_result cuMemPoolGetAttribute(cu_pool pool, unsigned attribute, void *value)
{
	cu_result r = enter_pool(E_cuMemPoolGetAttribute, pool);

	if (r)
		return leave(r);
	if (attribute == CU_POOL_THRESHOLD)
		*(uint64_t *)value = pool->threshold;
	else if (attribute == CU_POOL_RESERVED)
		*(uint64_t *)value = pool->reserved;
	else if (attribute == CU_POOL_USED)
		*(uint64_t *)value = pool->used;
	else
		r = 1;
	return leave(r);
}
