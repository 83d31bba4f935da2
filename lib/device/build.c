/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/build.h"

#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define IO_THREADS 2

/* ---- threads ------------------------------------------------------------ */

static void *enter_thread(void *u, int thread)
{
	const struct device *d = u;
	char name[16];

	snprintf(name, sizeof(name), "lkdf/d%u.io%d", d->attr.index % 100,
		 thread % 10);
	pthread_setname_np(pthread_self(), name);
	return NULL;
}

int build_open(struct device *d)
{
	const struct blocking_attr a = {
		.start = enter_thread,
		.u = d,
		.max = IO_THREADS,
		.stack_kib = (int)d->attr.stack_kib,
	};

	return blocking_init(&d->io, &a);
}

void build_stop(struct device *d)
{
	blocking_stop(&d->io);
}

void build_close(struct device *d)
{
	blocking_fini(&d->io);
}

void build_abandon(struct device *d)
{
	blocking_abandon(&d->io);
}

/* ---- builds ------------------------------------------------------------- */

/* Back on the launcher: those that wait are in its queue again. */
static void end_build(void *executor, struct blocking_item *item)
{
	struct device_build *b = container_of(item, struct device_build, item);
	struct device *d = b->device;
	struct blocking_item *next;

	(void)executor;
	code_built(d, b->code, &b->made);
	lock_take(&d->lock);
	list_del(&b->list);
	item = b->waiting;
	lock_give(&d->lock);
	for (; item; item = next) {
		next = item->next;
		request_hand_over(d,
				  container_of(item, struct device_req, item));
	}
	free(b);
}

static void run_build(void *thread, struct blocking_item *item)
{
	struct device_build *b = container_of(item, struct device_build, item);

	(void)thread;
	code_make(b->device, b->code, b->like, &b->made);
	item->run = end_build;
	device_push(b->device, DEVICE_NOW, item);
}

static struct device_build *find_build(const struct device *d,
				       const struct device_code *c)
{
	struct list *l;
	struct device_build *b;

	lock_assert_held(&d->lock);
	for (l = d->builds.next; l != &d->builds; l = l->next) {
		b = container_of(l, struct device_build, list);
		if (b->code == c)
			return b;
	}
	return NULL;
}

static struct device_build *create_build(struct device *d,
					 struct device_code *c,
					 const struct device_req *r)
{
	struct device_build *b;

	if (blocking_require(&d->io))
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->device = d;
	b->code = c;
	b->like = &r->launch;
	b->last = &b->waiting;
	b->item.run = run_build;
	return b;
}

/* False: it cannot; the launcher builds. */
static bool wait_for(struct device *d, struct device_code *c,
		     struct device_req *r)
{
	struct device_build *b, *made = NULL;

	lock_take(&d->lock);
	b = find_build(d, c);
	lock_give(&d->lock);
	if (!b)
		b = made = create_build(d, c, r);
	if (!b)
		return false;
	r->item.next = NULL;
	lock_take(&d->lock);
	if (made)
		list_append(&d->builds, &made->list);
	*b->last = &r->item;
	b->last = &r->item.next;
	lock_give(&d->lock);
	if (made)
		blocking_push(&d->io, &made->item);
	return true;
}

static bool builds_aside(const struct device *d)
{
	return device_has(d, LKDF_DEVICE_BUILDS) && !d->attr.bell;
}

/* The first code of the request that is not there; NULL: all are. */
static struct device_code *find_missing(const struct device *d,
					const struct device_req *r)
{
	struct device_code *c = r->code;
	uint32_t i;

	for (i = 0; c; i++) {
		if (!c->code.function && !c->on[d->attr.index].is_known)
			return c;
		c = r->ops->code ? r->ops->code(r, i) : NULL;
	}
	return NULL;
}

bool build_is_there(const struct device *d, const struct device_req *r)
{
	return !builds_aside(d) || !find_missing(d, r);
}

bool build_waits(struct device *d, struct device_req *r)
{
	struct device_code *c = builds_aside(d) ? find_missing(d, r) : NULL;

	return c && wait_for(d, c, r);
}
