/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/library.h"

#include "base/err.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Under start_lock. */
static int add_here(struct device *d, struct device_library *l)
{
	uint32_t nr = a_load(&d->nr_libraries, relaxed);

	if (nr == LKDF_MAX_LIBRARIES)
		return err(-ENOSPC, "place_library: device %s has %d", d->name,
			   LKDF_MAX_LIBRARIES);
	d->library[nr] = l;
	/* [library.add] what it is; pairs with [library.find]. */
	a_store(&d->nr_libraries, nr + 1, release);
	return (int)nr;
}

int library_add(struct device *d, const struct lkdf_library_attr *a)
{
	struct device_library *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return err(-ENOMEM, "place_library: no memory");
	snprintf(l->name, sizeof(l->name), "%s", a->name ? a->name : "?");
	l->create = a->create;
	l->destroy = a->destroy;
	l->u = a->u;
	pthread_mutex_lock(&d->start_lock);
	rc = add_here(d, l);
	pthread_mutex_unlock(&d->start_lock);
	if (rc < 0)
		free(l);
	return rc;
}

static int make_handle(struct device *d, struct device_library *l,
		       unsigned queue)
{
	unsigned at = queue - DEVICE_KERNEL_QUEUE;
	char why[DEVICE_WHY];
	int rc;

	err_clear();
	rc = l->create(l->u, d->ops.queue(d->dev, queue), &l->handle[at]);
	if (rc >= 0) {
		l->has |= (uint64_t)1 << at;
		return 0;
	}
	snprintf(why, sizeof(why), "%s", err_text());
	return err(rc, "library: %s on device %s: create%s%s", l->name, d->name,
		   why[0] ? ": " : "", why);
}

int library_find(struct device *d, unsigned queue, uint32_t library,
		 void **handle)
{
	unsigned at = queue - DEVICE_KERNEL_QUEUE;
	struct device_library *l;
	int rc = 0;

	/* [library.find] pairs with [library.add]. */
	if (library >= a_load(&d->nr_libraries, acquire))
		return err(-EINVAL, "library: device %s has no library %u",
			   d->name, library);
	check(at < DEVICE_QUEUES);
	l = d->library[library];
	if (!(l->has >> at & 1))
		rc = make_handle(d, l, queue);
	if (!rc)
		*handle = l->handle[at];
	return rc;
}

static void drop_handles(struct device_library *l)
{
	unsigned i;

	for (i = 0; i < DEVICE_QUEUES; i++)
		if (l->has >> i & 1 && l->destroy)
			l->destroy(l->u, l->handle[i]);
	l->has = 0;
}

void library_drop_all(struct device *d)
{
	uint32_t i, nr = a_load(&d->nr_libraries, relaxed);

	for (i = 0; i < nr; i++)
		drop_handles(d->library[i]);
}

void library_close(struct device *d)
{
	uint32_t i, nr = a_load(&d->nr_libraries, relaxed);

	for (i = 0; i < nr; i++)
		free(d->library[i]);
}
