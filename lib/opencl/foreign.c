/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Queues and events that the program has made by itself. */
#include "opencl/device.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

/* ---- queues ------------------------------------------------------------- */

static int ask_queue(const struct opencl *cl, ocl_queue queue, uint32_t what,
		     size_t size, void *to)
{
	int32_t error = cl->clGetCommandQueueInfo(queue, what, size, to, NULL);

	return error ? opencl_failed("clGetCommandQueueInfo", error) : 0;
}

static int check_queue(const struct opencl_device *d, ocl_queue queue,
		       ocl_context *context)
{
	uint64_t properties = 0;
	ocl_device id = NULL;
	int rc;

	rc = ask_queue(&d->cl, queue, OCL_QUEUE_DEVICE, sizeof(id), &id);
	if (!rc)
		rc = ask_queue(&d->cl, queue, OCL_QUEUE_PROPERTIES,
			       sizeof(properties), &properties);
	if (!rc)
		rc = ask_queue(&d->cl, queue, OCL_QUEUE_CONTEXT,
			       sizeof(*context), context);
	if (rc)
		return rc;
	if (id != d->id)
		return err(-EINVAL, "the queue is of another device");
	if (properties & OCL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		return err(-EINVAL, "the queue does not keep its order");
	return 0;
}

/* Memory of a context is for its queues only, so it is a device of its own. */
int opencl_adopt(void *dev, void *queue, void **out)
{
	const struct opencl_device *from = dev;
	ocl_context context = NULL;
	struct opencl_device *d;
	int rc = check_queue(from, queue, &context);

	if (rc)
		return rc;
	d = calloc(1, sizeof(*d));
	if (!d)
		return err(-ENOMEM, "no memory");
	d->cl = from->cl;
	opencl_waits_init(&d->commands);
	opencl_waits_init(&d->events);
	d->id = from->id;
	d->foreign = queue;
	d->context = context;
	d->cl.clRetainContext(context);
	*out = d;
	return 0;
}

/* ---- events ------------------------------------------------------------- */

int opencl_watch(void *dev, void *event, void (*fired)(void *u, int error),
		 void *u)
{
	struct opencl_device *d = dev;
	struct opencl_wait *w = opencl_wait_create();
	int32_t error;

	if (!w)
		return err(-ENOMEM, "no memory");
	w->fired = fired;
	w->u = u;
	error = d->cl.clRetainEvent(event);
	if (!error) {
		error = opencl_wait_begin(&d->cl, &d->events, w, event);
		if (!error)
			return 0;
		d->cl.clReleaseEvent(event);
	}
	free(w);
	return opencl_failed("clSetEventCallback", error);
}
