/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/why.h"

#include "device/build.h"
#include "offload/kernel.h"

/* Under the device's lock: the request stays, and so does its task. */
static void tell_request(struct why *y, const struct device *d,
			 const struct device_req *q)
{
	const struct kernel_req *r =
		container_of(q, const struct kernel_req, req);
	struct why_row *row =
		r->task ? why_add_task(y, WHY_DEVICE, r->task)
			: why_add_index(y, WHY_DEVICE, r->frame, r->index);
	uint64_t sum = 0;
	uint32_t i;

	if (!row)
		return;
	for (i = 0; i < q->nr_operand; i++)
		sum += q->operand[i].bytes;
	switch ((enum device_state)a_load(&q->state, relaxed)) {
	case DEVICE_RESERVE:
		why_says(row,
			 "for %llu bytes on device %s: %llu of its %llu are in "
			 "use",
			 (unsigned long long)sum, d->name,
			 (unsigned long long)a_load(&d->used, relaxed),
			 (unsigned long long)d->capacity);
		break;
	case DEVICE_UPLOAD:
		why_says(row, "for its bytes to come to device %s", d->name);
		break;
	case DEVICE_RUN:
		why_says(row, "for device %s to have run it", d->name);
		break;
	case DEVICE_FETCH:
		why_says(row, "for its bytes to come from device %s", d->name);
		break;
	case DEVICE_OVER:
		break;
	}
}

/* A row for a task that waits in the queue of the launcher. */
static void tell_queued(struct why *y, const struct device *d,
			const struct blocking_item *item)
{
	const struct task *t = kernel_of_queued(item);
	struct why_row *row = t ? why_add_task(y, WHY_DEVICE, t) : NULL;

	if (!row)
		return;
	if (d->starving)
		why_says(row,
			 "for device %s to take it, where kernel %s waits for "
			 "memory",
			 d->name, d->starving->launch.name);
	else
		why_says(row,
			 "for device %s to take it, which has %u under way, "
			 "its most",
			 d->name, d->max_under_way);
}

/* Under the device's lock. */
static void look_at_queues(struct why *y, const struct device *d)
{
	const struct blocking_item *i;
	unsigned class, nr = 0;

	lock_assert_held(&d->lock);
	for (class = DEVICE_NOW; class -- > 0;)
		for (i = d->first[class]; i && nr < WHY_LOOK; i = i->next) {
			if (nr++ >= WHY_PER_QUEUE)
				y->nr_more++;
			else
				tell_queued(y, d, i);
		}
}

/* Under the device's lock: rows for tasks whose code is being made. */
static void look_at_builds(struct why *y, const struct device *d)
{
	const struct blocking_item *i;
	const struct list *l;
	const struct task *t;
	struct why_row *row;
	unsigned nr = 0;

	lock_assert_held(&d->lock);
	for (l = d->builds.next; l != &d->builds; l = l->next) {
		i = container_of(l, const struct device_build, list)->waiting;
		for (; i && nr < WHY_LOOK; i = i->next) {
			t = kernel_of_queued(i);
			row = t && nr++ < WHY_PER_QUEUE
				      ? why_add_task(y, WHY_DEVICE, t)
				      : NULL;
			if (row)
				why_says(row, "for device %s to compile it",
					 d->name);
			else
				y->nr_more++;
		}
	}
}

static void look_at_device(struct why *y, struct device *d)
{
	const struct list *l;
	unsigned nr = 0;

	lock_take(&d->lock);
	for (l = d->under_way.next; l != &d->under_way && nr < WHY_LOOK;
	     l = l->next) {
		if (nr++ >= WHY_PER_QUEUE)
			y->nr_more++;
		else
			tell_request(y, d,
				     container_of(l, const struct device_req,
						  list));
	}
	look_at_queues(y, d);
	look_at_builds(y, d);
	lock_give(&d->lock);
}

void why_look_at_devices(struct why *y)
{
	unsigned i, nr = devices_nr(y->rt);

	for (i = 0; i < nr; i++)
		look_at_device(y, y->rt->devices->device[i]);
}
