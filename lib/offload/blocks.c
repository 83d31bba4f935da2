/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/blocks.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/util.h"
#include "mem/heap.h"
#include "mem/region.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of the report at close. */
#define MAX_LEAKS 16
#define MAX_ALIGN 4096
/* How long a body in serial mode sleeps before it looks again. */
#define SERIAL_NS 20000

bool blocks_serve(const struct lkdf_place *p, enum lkdf_mem_kind m)
{
	const struct device *d = p->device;

	if (!d || device_has(d, LKDF_DEVICE_HOST_MEMORY))
		return false;
	return m == LKDF_MEM_OWN || m == LKDF_MEM_MANAGED ||
	       (m == LKDF_MEM_HOST_PINNED && d->ops.pin);
}

/* ---- by address --------------------------------------------------------- */

/* Under held_lock: the first that ends behind p, or where it would be. */
static unsigned place_of(const struct devices *all, const char *p)
{
	unsigned lo = 0, hi = a_load(&all->nr_held, relaxed), i;

	while (lo < hi) {
		i = lo + (hi - lo) / 2;
		if (all->held[i]->base + all->held[i]->taken <= p)
			lo = i + 1;
		else
			hi = i;
	}
	return lo;
}

/* Under held_lock. NULL: p is in none. */
static struct device_held *find_block(const struct devices *all, const void *p)
{
	unsigned i = place_of(all, p);
	struct device_held *h;

	if (i == a_load(&all->nr_held, relaxed))
		return NULL;
	h = all->held[i];
	return h->base <= (const char *)p ? h : NULL;
}

/* Under held_lock. False: no memory. */
static bool grow_table(struct devices *all)
{
	unsigned room = all->room_held ? 2 * all->room_held : 16;
	struct device_held **held;

	if (a_load(&all->nr_held, relaxed) < all->room_held)
		return true;
	held = realloc(all->held, room * sizeof(*held));
	if (!held)
		return false;
	all->held = held;
	all->room_held = room;
	return true;
}

static bool add_block(struct devices *all, struct device_held *h)
{
	unsigned i, nr;
	bool is_there;

	pthread_mutex_lock(&all->held_lock);
	is_there = grow_table(all);
	if (is_there) {
		nr = a_load(&all->nr_held, relaxed);
		i = place_of(all, h->base);
		memmove(&all->held[i + 1], &all->held[i],
			(nr - i) * sizeof(*all->held));
		all->held[i] = h;
		a_store(&all->nr_held, nr + 1, relaxed);
	}
	pthread_mutex_unlock(&all->held_lock);
	return is_there;
}

/* Under held_lock. */
static void take_out(struct devices *all, const struct device_held *h)
{
	unsigned i = place_of(all, h->base);
	unsigned nr = a_load(&all->nr_held, relaxed) - 1;

	memmove(&all->held[i], &all->held[i + 1],
		(nr - i) * sizeof(*all->held));
	a_store(&all->nr_held, nr, relaxed);
}

struct device_held *blocks_get(struct lkdf *rt, const void *p)
{
	struct devices *all = rt->devices;
	struct device_held *h;

	if (!blocks_exist(rt))
		return NULL;
	pthread_mutex_lock(&all->held_lock);
	h = find_block(all, p);
	if (h)
		a_add(&h->nr_users, 1, relaxed);
	pthread_mutex_unlock(&all->held_lock);
	return h;
}

/* ---- freed ones --------------------------------------------------------- */

/* The addresses last until the device has given its memory back, too. */
static void free_record(struct device_held *h)
{
	/* [record.put] all uses before the free; pairs with itself. */
	if (a_sub(&h->nr_keepers, 1, acq_rel) != 1)
		return;
	if (h->mem == LKDF_MEM_OWN)
		region_unmap(h->base, h->taken);
	else if (h->mem == LKDF_MEM_HOST_PINNED)
		os_unmap(h->base, h->taken);
	free(h);
}

/*
 * Under held_lock. The addresses of a device's own memory stay nobody's for a
 * while, so that a copy of freed bytes is refused. The oldest of them, which is
 * to go, or NULL.
 */
static struct device_held *keep_freed(struct devices *all,
				      struct device_held *h)
{
	struct device_held *oldest = all->freed[all->next_freed];

	if (h->mem != LKDF_MEM_OWN)
		return NULL;
	a_add(&h->nr_keepers, 1, relaxed);
	all->freed[all->next_freed] = h;
	all->next_freed = (all->next_freed + 1) % NR_GRAVES;
	a_store(&all->has_freed, true, relaxed);
	return oldest;
}

/* Under held_lock. NULL: p is in none of them. */
static const struct device_held *find_freed(const struct devices *all,
					    const void *p)
{
	const struct device_held *h;
	unsigned i;

	for (i = 0; i < NR_GRAVES; i++) {
		h = all->freed[i];
		if (h && (uintptr_t)p - (uintptr_t)h->base < h->taken)
			return h;
	}
	return NULL;
}

int blocks_check(struct lkdf *rt, const void *p, const char *what)
{
	struct devices *all = rt->devices;
	const struct device_held *h;
	int rc = 0;

	if (likely(!a_load(&all->has_freed, relaxed)))
		return 0;
	pthread_mutex_lock(&all->held_lock);
	h = find_freed(all, p);
	if (h)
		rc = err(-EINVAL,
			 "%s: %p lies in block \"%s\" of device %s, which was "
			 "freed",
			 what, p, h->label, h->device->name);
	pthread_mutex_unlock(&all->held_lock);
	return rc;
}

void blocks_forget(struct devices *all)
{
	struct device_held *freed[NR_GRAVES];
	unsigned i;

	pthread_mutex_lock(&all->held_lock);
	memcpy(freed, all->freed, sizeof(freed));
	memset(all->freed, 0, sizeof(all->freed));
	a_store(&all->has_freed, false, relaxed);
	pthread_mutex_unlock(&all->held_lock);
	for (i = 0; i < NR_GRAVES; i++)
		if (freed[i])
			free_record(freed[i]);
}

/* -ENOENT: it was never there. */
static int refuse_twice(struct lkdf *rt, const void *p)
{
	int rc = blocks_check(rt, p, "free");

	return rc ? rc : -ENOENT;
}

int blocks_free(struct lkdf *rt, const void *p)
{
	struct device_held *h, *oldest = NULL;
	struct devices *all = rt->devices;
	bool is_base;

	if (!blocks_exist(rt))
		return refuse_twice(rt, p);
	pthread_mutex_lock(&all->held_lock);
	h = find_block(all, p);
	is_base = h && h->base == p;
	if (is_base) {
		take_out(all, h);
		oldest = keep_freed(all, h);
	} else if (h) {
		err(-EINVAL,
		    "free: %p lies %llu bytes inside a block of %llu bytes "
		    "\"%s\" of device %s",
		    p, (unsigned long long)((const char *)p - h->base),
		    (unsigned long long)h->bytes, h->label, h->device->name);
	}
	pthread_mutex_unlock(&all->held_lock);
	if (oldest)
		free_record(oldest);
	if (is_base)
		held_put(h);
	if (!h)
		return refuse_twice(rt, p);
	return is_base ? 0 : -EINVAL;
}

/* ---- asking the launcher ------------------------------------------------ */

/* The launcher of that device; in serial mode whoever makes its calls. */
static bool kind_launches(const struct lkdf *rt, const struct executor *ex,
			  const struct device *d)
{
	/* [device.started] its number; pairs with itself. */
	if (!a_load(&d->is_started, acquire))
		return false;
	if (rt->sched.is_serial)
		return ex->worker && d->is_stepping;
	return !ex->worker && (uint32_t)ex->id == d->attr.executor;
}

static bool is_launcher(const struct lkdf *rt, const struct executor *ex)
{
	unsigned i, nr = devices_nr(rt);

	for (i = 0; ex && i < nr; i++)
		if (kind_launches(rt, ex, rt->devices->device[i]))
			return true;
	return false;
}

/* Serial mode: a body is the one that makes the device's calls meanwhile. */
static void step_here(struct device *d, struct executor *ex,
		      struct held_call *c)
{
	/* [held.wait] pairs with [held.over]. */
	while (!a_load(&c->is_over, acquire))
		if (!devices_step(d, ex))
			futex_wait(&c->is_over, 0, SERIAL_NS);
}

static int ask_launcher(struct lkdf *rt, struct held_call *c)
{
	struct executor *ex = runtime_executor(rt);
	struct device *d = c->held->device;
	int rc = device_require(d);
	int64_t left;

	if (rc)
		return rc;
	held_ask(c);
	if (rt->sched.is_serial && ex && ex->worker)
		step_here(d, ex, c);
	/* [held.wait] pairs with [held.over]. */
	while (!a_load(&c->is_over, acquire)) {
		left = -1;
		if (!sched_wait(&rt->sched, &left))
			futex_wait(&c->is_over, 0, left);
	}
	return c->error < 0
		       ? err(c->error, "alloc: %llu bytes on device %s: %s",
			     (unsigned long long)c->held->bytes, d->name,
			     c->why)
		       : 0;
}

/* ---- making them -------------------------------------------------------- */

/* Where addresses are limited those of freed blocks are given back first. */
static void *reserve_block(struct devices *all, uint64_t bytes)
{
	void *base = region_reserve(bytes);

	if (base || !a_load(&all->has_freed, relaxed))
		return base;
	blocks_forget(all);
	return region_reserve(bytes);
}

/* The addresses, and of pinned memory the pages. */
static int map_block(const struct lkdf_place *p, struct device_held *h)
{
	const struct memory *m = p->heap->memory[p->memory];
	int error = ENOMEM, bind_error;

	h->taken = h->mem == LKDF_MEM_MANAGED ? h->bytes
					      : round_up(h->bytes, REGION_PAGE);
	if (h->mem == LKDF_MEM_MANAGED)
		return 0;
	if (h->mem == LKDF_MEM_OWN)
		h->base = reserve_block(p->rt->devices, h->taken);
	else
		h->base = os_map(h->taken, REGION_PAGE, &m->policy, &error,
				 &bind_error);
	if (h->base)
		return 0;
	return err(-ENOMEM, "alloc: %llu bytes on device %s: %s",
		   (unsigned long long)h->bytes, h->device->name,
		   strerror(error));
}

static struct device_held *new_record(const struct lkdf_place *p,
				      enum lkdf_mem_kind m, uint64_t bytes,
				      uint64_t align, const char *label)
{
	struct device_held *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->device = p->device;
	h->mem = m;
	h->bytes = bytes;
	h->align = max_u64(align, DEVICE_ALIGN);
	h->gone = free_record;
	a_store(&h->nr_users, 1, relaxed);
	a_store(&h->nr_keepers, 1, relaxed);
	snprintf(h->label, sizeof(h->label), "%s", label ? label : "");
	return h;
}

static int check_call(const struct lkdf_place *p, enum lkdf_mem_kind m,
		      uint64_t align)
{
	const char *name = p->device->name;

	if (m == LKDF_MEM_MANAGED &&
	    !device_has(p->device, LKDF_DEVICE_MANAGED))
		return err(-EOPNOTSUPP,
			   "alloc: LKDF_MEM_MANAGED: device %s has none", name);
	if (align > MAX_ALIGN)
		return err(-EINVAL,
			   "alloc: alignment %llu: at most %d on device %s",
			   (unsigned long long)align, MAX_ALIGN, name);
	if (is_launcher(p->rt, runtime_executor(p->rt)))
		return err(-EDEADLK,
			   "alloc: memory of device %s in a function that a "
			   "launcher calls",
			   name);
	return 0;
}

int blocks_alloc(struct lkdf_place *p, enum lkdf_mem_kind m, uint64_t bytes,
		 uint64_t align, const char *label, void **out)
{
	struct held_call c = { .held = NULL };
	struct device_held *h;
	int rc = check_call(p, m, align);

	if (rc)
		return rc;
	c.held = h = new_record(p, m, bytes, align, label);
	if (!h)
		return err(-ENOMEM, "alloc: no memory");
	rc = map_block(p, h);
	if (!rc)
		rc = ask_launcher(p->rt, &c);
	if (rc) {
		free_record(h);
		return rc;
	}
	if (!add_block(p->rt->devices, h)) {
		held_put(h);
		return err(-ENOMEM, "alloc: no memory");
	}
	*out = h->base;
	return 0;
}

/* ---- the end ------------------------------------------------------------ */

void blocks_close(struct lkdf *rt)
{
	struct devices *all = rt->devices;
	unsigned i, nr = a_load(&all->nr_held, relaxed);
	const struct device_held *h;

	for (i = 0; i < nr && i < MAX_LEAKS; i++) {
		h = all->held[i];
		log_text(&rt->log, LKDF_LOG_INFO,
			 "close: memory not freed: \"%s\" 1 block, %llu bytes, "
			 "of device %u, %s",
			 h->label, (unsigned long long)h->bytes,
			 h->device->attr.index, h->device->name);
	}
	if (nr > MAX_LEAKS)
		log_text(&rt->log, LKDF_LOG_INFO,
			 "close: and %u more blocks of devices",
			 nr - MAX_LEAKS);
	a_store(&all->nr_held, 0, relaxed);
	for (i = 0; i < nr; i++)
		held_put(all->held[i]);
}
