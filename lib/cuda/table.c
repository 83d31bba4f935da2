/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The table of CUDA's devices. The launcher enters with its first call and
 * stays, which no later call pays for. In serial mode the functions run on
 * threads of the program: each enters and leaves.
 */
#include "cuda/device.h"

/* enqueue() has returned. Another thread has nothing to put back here. */
static void take_back(struct cuda_device *d)
{
	if (d->has_lent && pthread_equal(d->lent_to, pthread_self()))
		cuda_leave(d, &d->lent);
	d->has_lent = false;
}

static struct cuda_before begin_call(struct cuda_device *d)
{
	static const struct cuda_before nothing;

	if (d->is_serial) {
		take_back(d);
		return cuda_enter(d);
	}
	if (!d->has_entered)
		cuda_enter(d);
	d->has_entered = true;
	return nothing;
}

static int alloc_entered(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
			 uint64_t align, void **device_ptr)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_alloc(dev, mem, bytes, align, device_ptr);

	cuda_leave(dev, &before);
	return rc;
}

static void free_entered(void *dev, void *device_ptr)
{
	struct cuda_before before = begin_call(dev);

	cuda_free(dev, device_ptr);
	cuda_leave(dev, &before);
}

static void drop_entered(void *dev, void *function)
{
	struct cuda_before before = begin_call(dev);

	cuda_drop(dev, function);
	cuda_leave(dev, &before);
}

static int upload_entered(void *dev, unsigned queue,
			  const struct lkdf_transfer *t,
			  struct lkdf_device_op op)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_upload(dev, queue, t, op);

	cuda_leave(dev, &before);
	return rc;
}

static int fetch_entered(void *dev, unsigned queue,
			 const struct lkdf_transfer *t,
			 struct lkdf_device_op op)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_fetch(dev, queue, t, op);

	cuda_leave(dev, &before);
	return rc;
}

static int launch_entered(void *dev, unsigned queue,
			  const struct lkdf_launch *l, struct lkdf_device_op op)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_launch(dev, queue, l, op);

	cuda_leave(dev, &before);
	return rc;
}

static int launch_piece_entered(void *dev, unsigned queue, struct lkdf_piece *p,
				const struct lkdf_launch *const *launch,
				const struct lkdf_device_op *op)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_launch_piece(dev, queue, p, launch, op);

	cuda_leave(dev, &before);
	return rc;
}

static void drop_piece_entered(void *dev, struct lkdf_piece *p)
{
	struct cuda_before before = begin_call(dev);

	cuda_drop_piece(dev, p);
	cuda_leave(dev, &before);
}

/*
 * enqueue() uses the stream next, entered, and may leave the thread as it
 * likes: the next call looks again.
 */
static void *queue_entered(void *dev, unsigned queue)
{
	struct cuda_device *d = dev;

	d->lent = begin_call(d);
	d->lent.has_context |= d->lent.context != NULL;
	d->has_entered = false;
	d->has_lent = d->is_serial;
	d->lent_to = pthread_self();
	d->queue[queue].is_unclaimed = false;
	return d->queue[queue].stream;
}

static int mark_entered(void *dev, unsigned queue, struct lkdf_device_op op)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_mark(dev, queue, op);

	cuda_leave(dev, &before);
	return rc;
}

static int poll_entered(void *dev)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_poll(dev);

	cuda_leave(dev, &before);
	return rc;
}

static void lose_entered(void *dev)
{
	struct cuda_before before = begin_call(dev);

	cuda_lose(dev);
	cuda_leave(dev, &before);
}

static int needs_entered(void *dev, void *function,
			 struct lkdf_kernel_needs *out)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_needs(dev, function, out);

	cuda_leave(dev, &before);
	return rc;
}

static int pin_entered(void *dev, void *host, uint64_t bytes)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_pin(dev, host, bytes);

	cuda_leave(dev, &before);
	return rc;
}

static void unpin_entered(void *dev, void *host)
{
	struct cuda_before before = begin_call(dev);

	cuda_unpin(dev, host);
	cuda_leave(dev, &before);
}

static int copy_entered(void *dev, unsigned queue,
			const struct lkdf_device_copy *c,
			struct lkdf_device_op op)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_copy(dev, queue, c, op);

	cuda_leave(dev, &before);
	return rc;
}

static int fill_entered(void *dev, unsigned queue,
			const struct lkdf_device_fill *f,
			struct lkdf_device_op op)
{
	struct cuda_before before = begin_call(dev);
	int rc = cuda_fill(dev, queue, f, op);

	cuda_leave(dev, &before);
	return rc;
}

const struct lkdf_device_ops cuda_ops = {
	.size = sizeof(struct lkdf_device_ops),
	.flags = LKDF_DEVICE_RANGES | LKDF_DEVICE_ORDERED | LKDF_DEVICE_BUILDS |
		 LKDF_DEVICE_QUIET | LKDF_DEVICE_URGENT | LKDF_DEVICE_PINS |
		 LKDF_DEVICE_EXPORTS | LKDF_DEVICE_NULL_QUEUE,
	.name = "cuda",
	.info = cuda_info,
	.start = cuda_start,
	.stop = cuda_stop,
	.alloc = alloc_entered,
	.free = free_entered,
	.build = cuda_build,
	.drop = drop_entered,
	.upload = upload_entered,
	.fetch = fetch_entered,
	.launch = launch_entered,
	.queue = queue_entered,
	.mark = mark_entered,
	.poll = poll_entered,
	.lose = lose_entered,
	.needs = needs_entered,
	.pin = pin_entered,
	.unpin = unpin_entered,
	.adopt = cuda_adopt,
	.watch = cuda_watch,
	.copy = copy_entered,
	.fill = fill_entered,
	.launch_piece = launch_piece_entered,
	.drop_piece = drop_piece_entered,
};
