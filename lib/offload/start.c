/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/start.h"

#include "base/clock.h"
#include "core/ops.h"
#include "device/device.h"
#include "offload/devices.h"
#include "sched/tick.h"

#include <sched.h>

#define AGAIN_NS 10000000

static void queue_again(struct late_start *l)
{
	l->timer.end_ns = timers_now(&l->rt->sched.timers) + AGAIN_NS;
	sched_add_timer(&l->rt->sched, &l->timer);
}

/* On a worker. */
static void try_again(struct executor *ex, struct link_call *call)
{
	struct late_start *l = container_of(call, struct late_start, call);

	(void)ex;
	if (device_require(l->device))
		queue_again(l);
	else
		/* [start.settled] our last look; pairs with itself. */
		a_store(&l->is_queued, false, release);
}

static void fire_start(struct timer *t)
{
	struct late_start *l = container_of(t, struct late_start, timer);

	l->call.link.type = LINK_CALL;
	l->call.link.class = CLASS_NORMAL;
	l->call.run = try_again;
	runtime_push(l->rt, runtime_executor(l->rt), &l->call.link);
}

void start_launcher(struct lkdf *rt, struct device *d)
{
	struct late_start *l = &rt->devices->late[d->attr.index];

	if (likely(!device_require(d)) || a_xchg(&l->is_queued, true, relaxed))
		return;
	l->timer.fire = fire_start;
	queue_again(l);
}

void start_settle(struct late_start *l)
{
	/* [start.settled] as above. */
	while (a_load(&l->is_queued, acquire))
		sched_yield();
}
