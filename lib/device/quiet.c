/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/quiet.h"

#include "base/err.h"
#include "base/util.h"
#include "device/device.h"

#include <errno.h>

void quiet_open(struct device *d)
{
	unsigned i;

	_Static_assert(QUIET_QUEUES == DEVICE_QUEUES, "a list for each");
	for (i = 0; i < QUIET_QUEUES; i++)
		list_init(&d->quiet.given[i]);
}

static struct device_slot *first_of(const struct list *head)
{
	return container_of(head->next, struct device_slot, quiet);
}

/* All that the queue was given before. */
static void cover_all(struct list *given, struct device_slot *s)
{
	struct device_slot *q;

	while (!list_is_empty(given)) {
		q = first_of(given);
		list_del(&q->quiet);
		list_append(&s->covered, &q->quiet);
	}
}

void quiet_give(struct device *d, struct device_slot *s, unsigned queue,
		bool is_quiet)
{
	unsigned at = queue - DEVICE_KERNEL_QUEUE;
	uint64_t bit = (uint64_t)1 << at;

	check(at < QUIET_QUEUES);
	if (is_quiet) {
		s->is_quiet = true;
		list_append(&d->quiet.given[at], &s->quiet);
		d->quiet.has_given |= bit;
	} else if (d->quiet.has_given & bit) {
		cover_all(&d->quiet.given[at], s);
		d->quiet.has_given &= ~bit;
	}
}

void quiet_forget(struct device_slot *s)
{
	list_del(&s->quiet);
	list_del(&s->covered);
	s->is_quiet = false;
}

struct device_slot *quiet_take(struct device_slot *s)
{
	struct device_slot *q;

	while (!list_is_empty(&s->covered)) {
		q = first_of(&s->covered);
		list_del(&q->quiet);
		/* Else it has failed, and its end is on its way. */
		if (device_end_slot(q)) {
			q->error = 0;
			q->end_ticks = s->end_ticks;
			return q;
		}
	}
	return NULL;
}

static bool mark_queue(struct device *d, unsigned queue)
{
	struct lkdf_device_op op;
	struct device_slot *s = device_give(d, NULL, &op);
	int rc;

	if (!s)
		return false;
	err_clear();
	rc = d->ops.mark(d->dev, queue, op);
	if (rc >= 0) {
		quiet_give(d, s, queue, false);
		return true;
	}
	/* Nobody will ever know when what was given is done. */
	device_returned(d, "mark", -ENODEV);
	device_revoke(d, s);
	return true;
}

bool quiet_settle(struct device *d)
{
	unsigned i;

	while (unlikely(d->quiet.has_given) && !d->has_gone) {
		i = (unsigned)__builtin_ctzll(d->quiet.has_given);
		if (!mark_queue(d, DEVICE_KERNEL_QUEUE + i))
			return false;
	}
	return true;
}
