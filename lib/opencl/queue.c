/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Commands that queues are given. Each command has an event that says when it
 * is done (wait.h).
 */
#include "opencl/device.h"

#include "base/err.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* flags: LKDF_LAUNCH_QUIET or 0. */
static struct opencl_wait *prepare_launch(struct lkdf_device_op op,
					  uint32_t flags)
{
	struct opencl_wait *w = opencl_wait_create();

	if (!w) {
		err(-ENOMEM, "opencl: no memory");
		return NULL;
	}
	w->op = op;
	w->is_quiet = flags & LKDF_LAUNCH_QUIET;
	return w;
}

/* A quiet command is not flushed; the next one that is told tells of it. */
static void keep_quiet(struct opencl_device *d, unsigned queue, ocl_event e,
		       struct opencl_wait *w)
{
	struct opencl_wait **at = d->last_quiet[queue];

	w->event = e;
	if (!d->quiet[queue])
		at = &d->quiet[queue];
	*at = w;
	d->last_quiet[queue] = &w->next;
}

/* A command that has no call cannot be taken back: it is waited for. */
static void finish_command(struct opencl_device *d, unsigned queue,
			   int32_t error, ocl_event e, struct opencl_wait *w)
{
	d->cl.clFinish(d->queue[queue]);
	d->cl.clReleaseEvent(e);
	opencl_quiet_tell(&d->cl, w);
	lkdf_device_done(w->op, opencl_failed("clSetEventCallback", error));
	opencl_quiet_free(&d->cl, w->quiet);
	free(w);
}

/* The command is under way with event e, or error says why it is not. */
static int send_command(struct opencl_device *d, unsigned queue,
			const char *call, int32_t error, ocl_event e,
			struct opencl_wait *w)
{
	check(queue < d->nr_queues);
	if (error) {
		free(w);
		return opencl_failed(call, error);
	}
	if (w->is_quiet) {
		keep_quiet(d, queue, e, w);
		return 0;
	}
	w->cl = &d->cl;
	w->quiet = d->quiet[queue];
	w->has_quiet = w->quiet;
	d->quiet[queue] = NULL;
	error = opencl_wait_begin(&d->cl, &d->commands, w, e);
	if (error)
		finish_command(d, queue, error, e, w);
	else
		d->cl.clFlush(d->queue[queue]);
	return 0;
}

int opencl_upload(void *dev, unsigned queue, const struct lkdf_transfer *t,
		  struct lkdf_device_op op)
{
	struct opencl_device *d = dev;
	struct opencl_wait *w = prepare_launch(op, t->flags);
	ocl_event e = NULL;
	int32_t error;

	if (!w)
		return -ENOMEM;
	error = d->cl.clEnqueueWriteBuffer(d->queue[queue], t->device_ptr, 0,
					   t->offset, t->bytes, t->host, 0,
					   NULL, &e);
	return send_command(d, queue, "clEnqueueWriteBuffer", error, e, w);
}

int opencl_fetch(void *dev, unsigned queue, const struct lkdf_transfer *t,
		 struct lkdf_device_op op)
{
	struct opencl_device *d = dev;
	struct opencl_wait *w = prepare_launch(op, 0);
	ocl_event e = NULL;
	int32_t error;

	if (!w)
		return -ENOMEM;
	error = d->cl.clEnqueueReadBuffer(d->queue[queue], t->device_ptr, 0,
					  t->offset, t->bytes, t->host, 0, NULL,
					  &e);
	return send_command(d, queue, "clEnqueueReadBuffer", error, e, w);
}

int opencl_copy(void *dev, unsigned queue, const struct lkdf_device_copy *c,
		struct lkdf_device_op op)
{
	struct opencl_device *d = dev;
	struct opencl_wait *w = prepare_launch(op, 0);
	ocl_event e = NULL;
	int32_t error;

	if (!w)
		return -ENOMEM;
	error = d->cl.clEnqueueCopyBuffer(d->queue[queue], c->from, c->to,
					  c->from_offset, c->to_offset,
					  c->bytes, 0, NULL, &e);
	return send_command(d, queue, "clEnqueueCopyBuffer", error, e, w);
}

int opencl_fill(void *dev, unsigned queue, const struct lkdf_device_fill *f,
		struct lkdf_device_op op)
{
	struct opencl_device *d = dev;
	struct opencl_wait *w = prepare_launch(op, 0);
	const unsigned char value = (unsigned char)f->value;
	ocl_event e = NULL;
	int32_t error;

	if (!w)
		return -ENOMEM;
	error = d->cl.clEnqueueFillBuffer(d->queue[queue], f->device_ptr,
					  &value, sizeof(value), f->offset,
					  f->bytes, 0, NULL, &e);
	return send_command(d, queue, "clEnqueueFillBuffer", error, e, w);
}

int opencl_mark(void *dev, unsigned queue, struct lkdf_device_op op)
{
	struct opencl_device *d = dev;
	struct opencl_wait *w = prepare_launch(op, 0);
	ocl_event e = NULL;
	int32_t error;

	if (!w)
		return -ENOMEM;
	error = d->cl.clEnqueueMarkerWithWaitList(d->queue[queue], 0, NULL, &e);
	return send_command(d, queue, "clEnqueueMarkerWithWaitList", error, e,
			    w);
}

/* Parts of memory that are arguments of a launch: until it is enqueued. */
struct parts {
	ocl_mem part[LKDF_MAX_PARAMS];
	uint32_t nr;
};

static void release_parts(struct opencl_device *d, struct parts *p)
{
	while (p->nr)
		d->cl.clReleaseMemObject(p->part[--p->nr]);
}

/* A part of memory as an argument: a kernel does not retain it. */
static int set_part(struct opencl_device *d, const struct lkdf_launch *l,
		    uint32_t i, struct parts *all)
{
	const struct lkdf_arg *a = &l->arg[i];
	struct ocl_region r = { a->offset, a->bytes };
	int32_t error;
	ocl_mem part;

	part = d->cl.clCreateSubBuffer((ocl_mem)a->value, OCL_MEM_READ_WRITE,
				       OCL_BUFFER_CREATE_TYPE_REGION, &r,
				       &error);
	if (error == OCL_MISALIGNED_SUB_BUFFER_OFFSET)
		return err(-EINVAL,
			   "opencl: kernel %s: parameter %u is a part at byte "
			   "%llu of its data, which the task uses, too: that "
			   "has to be a multiple of what the device aligns for",
			   l->name, i, (unsigned long long)a->offset);
	if (error)
		return opencl_failed("clCreateSubBuffer", error);
	check(all->nr < LKDF_MAX_PARAMS);
	all->part[all->nr++] = part;
	error = d->cl.clSetKernelArg(l->function, i, sizeof(part), &part);
	return error ? opencl_failed("clSetKernelArg", error) : 0;
}

static int set_arg(struct opencl_device *d, const struct lkdf_launch *l,
		   uint32_t i, struct parts *all)
{
	const struct lkdf_arg *a = &l->arg[i];
	const void *value = a->value;
	size_t bytes = a->bytes;
	int32_t error;
	void *at;
	int rc;

	if (a->sort == LKDF_ARG_MEMORY && a->offset)
		return set_part(d, l, i, all);
	/* Else it is a number that looks like an address. */
	if (a->sort == LKDF_ARG_BYTES &&
	    opencl_is_shared(d, value, bytes, &at) &&
	    !d->cl.clSetKernelArgSVMPointer(l->function, i, at))
		return 0;
	rc = opencl_check_pointer(d, l, i);
	if (rc)
		return rc;
	if (a->sort == LKDF_ARG_MEMORY) {
		value = &a->value;
		bytes = sizeof(ocl_mem);
	} else if (a->sort == LKDF_ARG_LOCAL) {
		value = NULL;
	}
	error = d->cl.clSetKernelArg(l->function, i, bytes, value);
	if (error == OCL_INVALID_ARG_INDEX)
		return err(
			-EINVAL,
			"opencl: kernel %s has no parameter %u, %u are given",
			l->name, i, l->nr_arg);
	if (error == OCL_INVALID_ARG_SIZE)
		return err(
			-EINVAL,
			"opencl: kernel %s: parameter %u is not of %zu bytes",
			l->name, i, bytes);
	return error ? opencl_failed("clSetKernelArg", error) : 0;
}

/*
 * With a block that is given the items are rounded up to whole blocks, so the
 * kernel compares; else the driver chooses one that divides them.
 */
static uint32_t set_sizes(const struct lkdf_launch *l, size_t *items,
			  size_t *block)
{
	uint32_t d, nr_dims = 1;

	for (d = 0; d < 3; d++) {
		items[d] = l->range[d] ? l->range[d] : 1;
		block[d] = l->block[d] ? l->block[d] : 1;
		if (l->block[0] && items[d] % block[d])
			items[d] += block[d] - items[d] % block[d];
		if (items[d] > 1 || block[d] > 1)
			nr_dims = d + 1;
	}
	return nr_dims;
}

int opencl_launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		  struct lkdf_device_op op)
{
	struct opencl_device *d = dev;
	size_t items[3], block[3];
	uint32_t i, nr_dims = set_sizes(l, items, block);
	struct parts parts = { .nr = 0 };
	struct opencl_wait *w;
	ocl_event e = NULL;
	int32_t error;
	int rc = 0;

	if (l->shared_bytes)
		return err(-EINVAL,
			   "opencl: kernel %s: shared_bytes: in OpenCL memory "
			   "of a block is a parameter, LKDF_PARAM_LOCAL",
			   l->name);
	for (i = 0; i < l->nr_arg && !rc; i++)
		rc = set_arg(d, l, i, &parts);
	w = rc ? NULL : prepare_launch(op, l->flags);
	if (!w) {
		release_parts(d, &parts);
		return rc ? rc : -ENOMEM;
	}
	error = d->cl.clEnqueueNDRangeKernel(d->queue[queue], l->function,
					     nr_dims, NULL, items,
					     l->block[0] ? block : NULL, 0,
					     NULL, &e);
	release_parts(d, &parts);
	return send_command(d, queue, "clEnqueueNDRangeKernel", error, e, w);
}
