/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "check/device.h"

#include "base/list.h"

void check_device_tell(struct check *ch, enum check_device what)
{
	check_release(ch, &check_devices(ch)->token[what]);
}

void check_device_hear(struct check *ch, enum check_device what)
{
	check_acquire(ch, &check_devices(ch)->token[what]);
}

struct step {
	struct check_call call;
	struct check *check;
	void (*fn)(void *u);
	void *u;
};

static void run_step(struct check_call *call)
{
	struct step *s = container_of(call, struct step, call);

	check_device_hear(s->check, DEVICE_GIVEN);
	s->fn(s->u);
	check_device_tell(s->check, DEVICE_CAME);
}

void check_device_step(struct check *ch, void (*fn)(void *u), void *u)
{
	struct check_devices *all = check_devices(ch);
	struct step s = { .check = ch, .fn = fn, .u = u };

	s.call.run = run_step;
	s.call.name = "launcher of a device";
	s.call.stays = true;
	if (fiber_run(ch, &s.call, all->stepped))
		fn(u);
	all->stepped = s.call.place;
}
