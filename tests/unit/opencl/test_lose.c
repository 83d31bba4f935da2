/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device of OpenCL that is lost: its queues end what they have begun before
 * the core lets go of the bytes of tasks, for a queue copies some of them
 * itself. That of the program has work of the program, for which nobody waits.
 */
#include "opencl/device.h"

#include "tests/tap.h"

static ocl_queue finished[OPENCL_MAX_QUEUES + 1];
static unsigned nr_finished;

static int32_t finish(ocl_queue q)
{
	if (nr_finished <= OPENCL_MAX_QUEUES)
		finished[nr_finished++] = q;
	return OCL_SUCCESS;
}

static struct opencl_device *make_device(unsigned nr_queues)
{
	struct opencl_device *d = calloc(1, sizeof(*d));
	static char at[OPENCL_MAX_QUEUES];
	unsigned i;

	if (!d)
		exit(1);
	d->cl.clFinish = finish;
	for (i = 0; i < nr_queues; i++)
		d->queue[i] = (ocl_queue)&at[i];
	d->nr_queues = nr_queues;
	nr_finished = 0;
	return d;
}

static void each_queue_comes_to_its_end(void)
{
	struct opencl_device *d = make_device(3);

	opencl_ops.lose(d);
	is(nr_finished, 3, "all queues are waited for");
	ok(finished[0] == d->queue[0] && finished[1] == d->queue[1] &&
		   finished[2] == d->queue[2],
	   "each of them once");
	free(d);
}

static void that_of_the_program_is_not_waited_for(void)
{
	struct opencl_device *d = make_device(2);

	d->foreign = d->queue[0];
	opencl_ops.lose(d);
	is(nr_finished, 1, "one of two queues is waited for");
	ok(finished[0] == d->queue[1], "it is ours");
	free(d);
}

static void a_device_that_has_not_started_waits_for_nothing(void)
{
	struct opencl_device *d = make_device(0);

	opencl_ops.lose(d);
	is(nr_finished, 0, "without queues nothing is called");
	free(d);
}

int main(void)
{
	tap_start(20);
	each_queue_comes_to_its_end();
	that_of_the_program_is_not_waited_for();
	a_device_that_has_not_started_waits_for_nothing();
	return tap_end();
}
