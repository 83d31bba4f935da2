/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks of memory that programs have from devices (device/held.h), found by
 * address. Memory of a device's own has addresses that nobody else has, for
 * what drivers call it may be anything: the program can say where in a block
 * something is, and faults where it touches it.
 */
#ifndef OFFLOAD_BLOCKS_H
#define OFFLOAD_BLOCKS_H

#include "device/held.h"
#include "offload/devices.h"

/* Does the device itself have to do with that memory? Else the node has it. */
bool blocks_serve(const struct lkdf_place *p, enum lkdf_mem_kind m);

/* As lkdf_alloc(), checked, where they serve. */
int blocks_alloc(struct lkdf_place *p, enum lkdf_mem_kind m, uint64_t bytes,
		 uint64_t align, const char *label, void **out);

/* The block with a user more, for held_put(); NULL: there is none. */
struct device_held *blocks_get(struct lkdf *rt, const void *p);

/*
 * 0; -EINVAL: p lies in memory of a device that was freed lately. what: the
 * call.
 */
int blocks_check(struct lkdf *rt, const void *p, const char *what);

/* The addresses of freed blocks are anybody's again. */
void blocks_forget(struct devices *all);

/* -ENOENT: there is none; -EINVAL: p lies inside of one, err() says where. */
int blocks_free(struct lkdf *rt, const void *p);

/* Says what was not freed, and frees it: no task lives. */
void blocks_close(struct lkdf *rt);

static inline bool blocks_exist(const struct lkdf *rt)
{
	return a_load(&rt->devices->nr_held, relaxed);
}

#endif
