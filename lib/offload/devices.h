/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The devices of a runtime, which are places: registered by the user, or by a
 * back end of the library. They stay until the runtime closes.
 */
#ifndef OFFLOAD_DEVICES_H
#define OFFLOAD_DEVICES_H

#include "core/runtime.h"
#include "data/place.h"
#include "device/launcher.h"
#include "offload/own_kind.h"
#include "offload/start.h"

struct devices {
	/* Set at open: why one of the library is no place, or is less. */
	char why[512];

	/* Any thread looks, in serial mode: somebody sleeps. */
	_Atomic(uint32_t) bell;

	/* Under lock; any thread looks at those below nr. */
	pthread_mutex_t lock;
	struct list foreign; /* see foreign.h */
	_Atomic(unsigned) nr;
	struct device *device[LKDF_MAX_DEVICES];
	struct lkdf_place *place[LKDF_MAX_DEVICES];
	struct late_start late[LKDF_MAX_DEVICES]; /* see start.h */

	/* Under held_lock; any thread looks at the number: see blocks.h. */
	pthread_mutex_t held_lock;
	struct device_held **held; /* by address */
	unsigned room_held;
	_Atomic(unsigned) nr_held;
	struct device_held *freed[NR_GRAVES]; /* a ring; NULL: none yet */
	unsigned next_freed; /* the oldest */
	_Atomic(bool) has_freed;

	/* Any thread; see own_kind.h. */
	_Atomic(struct lkdf_kind *) own_kind[NR_OWN_KINDS];
};

void devices_init(struct lkdf *rt);

/* Which kernels devices hold, as text: of each one, and how many. False: none.
 */
bool devices_hold(struct lkdf *rt, char *text, size_t size);

/* A thread of serial mode makes a step of the launcher, see launcher_step(). */
bool devices_step(struct device *d, struct executor *ex);

/* Joins the launchers: no task lives, and workers are still there. */
void devices_stop(struct lkdf *rt);

/* After it, or in a forked child, where no device is called. */
void devices_fini(struct lkdf *rt, bool is_child);

/*
 * A new place of the kind, for checked functions of full size. 0; -EEXIST; what
 * info() returned; -ENOSPC; -ENOMEM.
 */
int devices_add(struct lkdf *rt, enum lkdf_place_kind kind,
		const struct lkdf_device_ops *ops, void *dev,
		struct lkdf_place **out);

/* A place beside p for a queue of the program. As devices_add(), or what the
 * device's adopt() returned. */
int devices_adopt(const struct lkdf_place *p, void *queue,
		  struct lkdf_place **out);

/* Serial mode, cancels. */
extern const struct completion_ops device_completions;

static inline unsigned devices_nr(const struct lkdf *rt)
{
	/* [devices.nr] those below it are there; pairs with itself. */
	return a_load(&rt->devices->nr, acquire);
}

#endif
