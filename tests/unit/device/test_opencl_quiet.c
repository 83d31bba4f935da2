/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Quiet commands of an OpenCL queue: no call and no flush for them; the next
 * command tells of those that failed, whether the driver calls or is asked.
 */
#include "device/device.h"
#include "opencl/device.h"

#include "tests/tap.h"

#include <errno.h>

#define QUEUE 2

struct fake_event {
	int32_t status;
	ocl_event_fn call;
	void *arg;
	int nr_refs;
};

static struct fake_event event[16];
static int nr_events, nr_calls, nr_flushes, nr_open;

static int32_t clEnqueueNDRangeKernel(ocl_queue q, ocl_kernel k, uint32_t dims,
				      const size_t *offset, const size_t *items,
				      const size_t *block, uint32_t nr,
				      const ocl_event *wait, ocl_event *e)
{
	(void)q;
	(void)k;
	(void)dims;
	(void)offset;
	(void)items;
	(void)block;
	(void)nr;
	(void)wait;
	event[nr_events] = (struct fake_event){ .status = 1, .nr_refs = 1 };
	nr_open++;
	*e = (ocl_event)&event[nr_events++];
	return 0;
}

static int32_t fake_callback(ocl_event e, int32_t type, ocl_event_fn fn,
			     void *arg)
{
	struct fake_event *f = (struct fake_event *)e;

	(void)type;
	nr_calls++;
	f->call = fn;
	f->arg = arg;
	return 0;
}

static int32_t fake_status(ocl_event e, uint32_t what, size_t size, void *to,
			   size_t *got)
{
	(void)what;
	(void)size;
	(void)got;
	*(int32_t *)to = ((struct fake_event *)e)->status;
	return 0;
}

static int32_t fake_release(ocl_event e)
{
	nr_open -= !--((struct fake_event *)e)->nr_refs;
	return 0;
}

static int32_t fake_flush(ocl_queue q)
{
	(void)q;
	nr_flushes++;
	return 0;
}

static _Atomic(uint32_t) is_alive = 1;
static struct device device;

static void launch_one(struct opencl_device *d, bool is_quiet)
{
	const struct lkdf_launch l = {
		.size = sizeof(l),
		.flags = is_quiet ? LKDF_LAUNCH_QUIET : 0,
		.name = "step",
	};
	struct lkdf_device_op op;

	device_give(&device, NULL, &op);
	is(opencl_launch(d, QUEUE, &l, op), 0, "a launch");
}

/* Ends that were told, the errors of all of them added. */
static int take_ends(int *error)
{
	struct device_slot *s = device_take_done(&device);
	int nr = 0;

	for (*error = 0; s; s = s->next, nr++)
		*error += s->error;
	return nr;
}

/* Three quiet ones, of which the second fails, and one that is told. */
static void ends_are_known(bool calls, const char *how)
{
	struct opencl_device d = { .nr_queues = QUEUE + 1 };
	int error, i;

	d.cl.clEnqueueNDRangeKernel = clEnqueueNDRangeKernel;
	d.cl.clSetEventCallback = fake_callback;
	d.cl.clGetEventInfo = fake_status;
	d.cl.clReleaseEvent = fake_release;
	d.cl.clFlush = fake_flush;
	opencl_waits_init(&d.commands);
	nr_events = nr_calls = nr_flushes = nr_open = 0;
	for (i = 0; i < 4; i++)
		launch_one(&d, i < 3);
	is(nr_calls, 1, "%s: one call for four commands", how);
	is(nr_flushes, 1, "%s: and one flush", how);
	for (i = 0; i < 4; i++)
		event[i].status = i == 1 ? -5 : 0;
	is(take_ends(&error), 0, "%s: nothing is told yet", how);
	if (calls)
		event[3].call((ocl_event)&event[3], 0, event[3].arg);
	else
		opencl_waits_ask(&d.cl, &d.commands);
	is(take_ends(&error), 2, "%s: two ends are told", how);
	is(error, -ENOMEM, "%s: one with the error of its command", how);
	if (!calls)
		event[3].call((ocl_event)&event[3], 0, event[3].arg);
	is(take_ends(&error), 0, "%s: a late call tells nothing", how);
	launch_one(&d, true);
	launch_one(&d, false);
	opencl_waits_leave(&d.cl, &d.commands);
	event[5].call((ocl_event)&event[5], 0, event[5].arg);
	is(nr_open, 0, "%s: each event is released", how);
}

int main(void)
{
	tap_start(10);
	device.attr.is_alive = &is_alive;
	device.bell = &device.own_bell;
	ends_are_known(true, "called");
	ends_are_known(false, "asked");
	return tap_end();
}
