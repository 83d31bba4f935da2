/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/spare.h"

#include "base/util.h"
#include "device/device.h"
#include "trace/counters.h"

#include <stdlib.h>

struct spare {
	struct list size, lru;
	uint64_t bytes;
	void *device_ptr;
};

void spare_open(struct device *d)
{
	unsigned i;

	for (i = 0; i < SPARE_BUCKETS; i++)
		list_init(&d->spare.by_size[i]);
	list_init(&d->spare.lru);
}

static struct list *bucket_of(struct device *d, uint64_t bytes)
{
	return &d->spare.by_size[bytes / DEVICE_ALIGN % SPARE_BUCKETS];
}

static void *unlink_spare(struct device *d, struct spare *s)
{
	void *device_ptr = s->device_ptr;

	list_del(&s->size);
	list_del(&s->lru);
	d->spare.bytes -= s->bytes;
	free(s);
	return device_ptr;
}

void *spare_take(struct device *d, uint64_t bytes)
{
	struct list *b = bucket_of(d, bytes), *l;
	struct spare *s;

	for (l = b->next; l != b; l = l->next) {
		s = container_of(l, struct spare, size);
		if (s->bytes == bytes)
			return unlink_spare(d, s);
	}
	return NULL;
}

void spare_keep(struct device *d, uint64_t bytes, void *device_ptr)
{
	bool is_lost = a_load(&d->is_lost, relaxed);
	struct spare *s = is_lost ? NULL : malloc(sizeof(*s));

	if (!s) {
		if (!is_lost)
			d->ops.free(d->dev, device_ptr);
		return;
	}
	s->bytes = bytes;
	s->device_ptr = device_ptr;
	list_push(bucket_of(d, bytes), &s->size);
	list_push(&d->spare.lru, &s->lru);
	d->spare.bytes += bytes;
}

static void drop_spare(struct device *d, struct spare *s)
{
	void *device_ptr = unlink_spare(d, s);

	if (!a_load(&d->is_lost, relaxed))
		d->ops.free(d->dev, device_ptr);
}

void spare_shrink(struct device *d, uint64_t bytes)
{
	bool is_drained = d->spare.bytes > bytes;

	while (d->spare.bytes > bytes)
		drop_spare(d,
			   container_of(d->spare.lru.prev, struct spare, lru));
	if (is_drained && d->executor)
		d->attr.count(d->executor, COUNTER_DRAINS, 1);
}

bool spare_drop_all(struct device *d)
{
	bool has_some = d->spare.bytes;

	spare_shrink(d, 0);
	return has_some;
}
