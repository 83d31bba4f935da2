/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Queues: a stream, its word, and the ops whose numbers the word has not got
 * yet. The ring has room before the stream is given a command, because what a
 * stream was given cannot be taken back.
 */
#include "cuda/device.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/util.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_KERNELS 2 /* behind the two for copies */
#define FIRST_RING 64
#define HIGHEST_PRIORITY INT_MIN /* the driver takes the nearest it has */
#define QUIET_NS 2000000 /* then the driver is asked whether all is well */

int cuda_make_words(const struct cuda_device *d, unsigned nr,
		    struct cuda_word *v, void **block)
{
	size_t bytes = (size_t)nr * CACHE_LINE;
	cu_ptr there = 0;
	void *at = NULL;
	unsigned i;
	cu_result r;

	r = d->cuda.cuMemHostAlloc(&at, bytes,
				   CU_HOST_PORTABLE | CU_HOST_MAPPED);
	if (r)
		return cuda_fails(d, "cuMemHostAlloc", r);
	memset(at, 0, bytes);
	r = d->cuda.cuMemHostGetDevicePointer(&there, at, 0);
	if (r) {
		d->cuda.cuMemFreeHost(at);
		return cuda_fails(d, "cuMemHostGetDevicePointer", r);
	}
	for (i = 0; i < nr; i++) {
		v[i].at = (void *)((char *)at + i * CACHE_LINE);
		v[i].there = there + i * CACHE_LINE;
	}
	*block = at;
	return 0;
}

static int open_stream(struct cuda_device *d, int priority, cu_stream *out)
{
	cu_result r;

	r = d->cuda.cuStreamCreateWithPriority(out, CU_STREAM_IS_NON_BLOCKING,
					       priority);
	return r ? cuda_fails(d, "cuStreamCreateWithPriority", r) : 0;
}

/* The last of several queues for kernels is for urgent ones. */
static int priority_of(unsigned queue, unsigned nr)
{
	bool is_urgent = queue == nr - 1 && nr > FIRST_KERNELS + 1;

	return is_urgent ? HIGHEST_PRIORITY : 0;
}

int cuda_open_queues(struct cuda_device *d, unsigned nr)
{
	struct cuda_word word[CUDA_MAX_QUEUES];
	struct cuda_queue *q;
	int rc;

	if (d->foreign && nr > FIRST_KERNELS + 1)
		nr = FIRST_KERNELS + 1;
	rc = cuda_make_words(d, nr, word, &d->words);
	while (!rc && d->nr_queues < nr) {
		q = &d->queue[d->nr_queues];
		list_init(&q->running);
		q->word = word[d->nr_queues];
		if (d->foreign && d->nr_queues == FIRST_KERNELS)
			q->stream = d->foreign;
		else
			rc = open_stream(d, priority_of(d->nr_queues, nr),
					 &q->stream);
		if (!rc)
			d->nr_queues++;
	}
	if (!rc && !d->foreign)
		rc = open_stream(d, 0, &d->capture);
	return rc;
}

void cuda_close_queues(struct cuda_device *d, bool keeps_words)
{
	struct cuda_queue *q;

	while (d->nr_queues) {
		q = &d->queue[--d->nr_queues];
		if (q->stream != d->foreign) {
			d->cuda.cuStreamSynchronize(q->stream);
			d->cuda.cuStreamDestroy(q->stream);
		}
		free(q->ring);
		q->ring = NULL;
		q->given = q->ended = q->size = 0;
	}
	if (d->capture)
		d->cuda.cuStreamDestroy(d->capture);
	d->capture = NULL;
	if (d->words && !keeps_words)
		d->cuda.cuMemFreeHost(d->words);
	d->words = NULL;
	cuda_close_words(d, keeps_words);
}

static bool is_at_work(const struct cuda_queue *q)
{
	return q->given != q->ended || q->has_quiet;
}

bool cuda_is_idle(const struct cuda_device *d)
{
	unsigned i;

	for (i = 0; i < d->nr_queues; i++)
		if (is_at_work(&d->queue[i]))
			return false;
	/* Relaxed: see io.c and foreign.c. */
	return !a_load(&d->io.nr_jobs, relaxed) &&
	       !a_load(&d->card->nr_watched, relaxed);
}

/* ---- commands ----------------------------------------------------------- */

int cuda_make_room(struct cuda_queue *q, uint32_t nr)
{
	uint32_t size = q->size ? 2 * q->size : FIRST_RING, n;
	struct lkdf_device_op *ring;

	if (q->given - q->ended + nr <= q->size)
		return 0;
	while (q->given - q->ended + nr > size)
		size *= 2;
	ring = calloc(size, sizeof(*ring));
	if (!ring)
		return err(-ENOMEM, "cuda: no memory");
	for (n = q->ended; n != q->given; n++)
		ring[n & (size - 1)] = q->ring[n & (q->size - 1)];
	free(q->ring);
	q->ring = ring;
	q->size = size;
	return 0;
}

/* A command for a captured stream does not run, and asking it breaks it. */
static int check_capture(const struct cuda_device *d)
{
	unsigned captures = 0;
	cu_result r = d->cuda.cuStreamIsCapturing(d->foreign, &captures);

	if (r)
		return cuda_fails(d, "cuStreamIsCapturing", r);
	return captures ? err(-EBUSY, "cuda: the stream is being captured") : 0;
}

int cuda_begin_command(struct cuda_device *d, unsigned queue)
{
	struct cuda_queue *q = &d->queue[queue];
	int rc = cuda_make_room(q, 1);

	if (!rc && d->foreign && q->stream == d->foreign)
		rc = check_capture(d);
	return rc;
}

void cuda_give_number(struct cuda_queue *q, struct lkdf_device_op op)
{
	q->has_quiet = false;
	q->is_unclaimed = !op.slot;
	q->ring[q->given & (q->size - 1)] = op;
	q->given++;
}

cu_result cuda_give_word(struct cuda_device *d, unsigned queue,
			 struct lkdf_device_op op)
{
	struct cuda_queue *q = &d->queue[queue];
	cu_result r;

	r = d->cuda.cuStreamWriteValue32(q->stream, q->word.there, q->given + 1,
					 0);
	if (!r)
		cuda_give_number(q, op);
	else
		/* The command cannot be taken back: it is waited for. */
		d->cuda.cuStreamSynchronize(q->stream);
	return r;
}

int cuda_end_command(struct cuda_device *d, unsigned queue, const char *call,
		     cu_result r, struct lkdf_device_op op)
{
	if (r)
		return cuda_fails(d, call, r);
	r = cuda_give_word(d, queue, op);
	return r ? cuda_fails(d, "cuStreamWriteValue32", r) : 0;
}

static cu_ptr address_of(const void *device_ptr, uint64_t offset)
{
	return (cu_ptr)(uintptr_t)device_ptr + offset;
}

static int carry_bytes(struct cuda_device *d, unsigned queue,
		       const struct lkdf_transfer *t, bool is_up,
		       struct lkdf_device_op op)
{
	cu_ptr there = address_of(t->device_ptr, t->offset);
	cu_stream s = d->queue[queue].stream;
	cu_result r;
	int rc;

	/* Queues for copies keep no order. */
	if (queue < FIRST_KERNELS && cuda_give_io(d, t, is_up, op))
		return 0;
	rc = cuda_begin_command(d, queue);
	if (rc)
		return rc;
	r = is_up ? d->cuda.cuMemcpyHtoDAsync(there, t->host, t->bytes, s)
		  : d->cuda.cuMemcpyDtoHAsync(t->host, there, t->bytes, s);
	return cuda_end_command(
		d, queue, is_up ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync", r,
		op);
}

int cuda_upload(void *dev, unsigned queue, const struct lkdf_transfer *t,
		struct lkdf_device_op op)
{
	return carry_bytes(dev, queue, t, true, op);
}

int cuda_fetch(void *dev, unsigned queue, const struct lkdf_transfer *t,
	       struct lkdf_device_op op)
{
	return carry_bytes(dev, queue, t, false, op);
}

int cuda_copy(void *dev, unsigned queue, const struct lkdf_device_copy *c,
	      struct lkdf_device_op op)
{
	struct cuda_device *d = dev;
	int rc = cuda_begin_command(d, queue);
	cu_result r;

	if (rc)
		return rc;
	r = d->cuda.cuMemcpyDtoDAsync(address_of(c->to, c->to_offset),
				      address_of(c->from, c->from_offset),
				      c->bytes, d->queue[queue].stream);
	return cuda_end_command(d, queue, "cuMemcpyDtoDAsync", r, op);
}

int cuda_fill(void *dev, unsigned queue, const struct lkdf_device_fill *f,
	      struct lkdf_device_op op)
{
	struct cuda_device *d = dev;
	int rc = cuda_begin_command(d, queue);
	cu_result r;

	if (rc)
		return rc;
	r = d->cuda.cuMemsetD8Async(address_of(f->device_ptr, f->offset),
				    (unsigned char)f->value, f->bytes,
				    d->queue[queue].stream);
	return cuda_end_command(d, queue, "cuMemsetD8Async", r, op);
}

/* The op is done with the last number, which nobody has. */
static void claim_last(struct cuda_queue *q, struct lkdf_device_op op)
{
	q->is_unclaimed = false;
	if (q->given == q->ended)
		lkdf_device_done(op, 0);
	else
		q->ring[(q->given - 1) & (q->size - 1)] = op;
}

int cuda_mark(void *dev, unsigned queue, struct lkdf_device_op op)
{
	struct cuda_device *d = dev;
	int rc;

	if (d->queue[queue].is_unclaimed) {
		claim_last(&d->queue[queue], op);
		return 0;
	}
	rc = cuda_begin_command(d, queue);
	return rc ? rc
		  : cuda_end_command(d, queue, "cuStreamWriteValue32",
				     CU_SUCCESS, op);
}

/* ---- ends --------------------------------------------------------------- */

/* How many of the queue have ended. */
static int take_ended(struct cuda_queue *q)
{
	uint32_t word;
	int nr = 0;

	if (q->given == q->ended)
		return 0;
	/* [cuda.word] all that the stream has written before its word, which
	 * the card releases; pairs with itself. */
	word = a_load(q->word.at, acquire);
	for (; q->given != q->ended && (int32_t)(word - q->ended) > 0; nr++) {
		struct lkdf_device_op op = q->ring[q->ended & (q->size - 1)];

		q->ended++;
		cuda_end_pieces(q, q->ended);
		if (op.slot)
			lkdf_device_done(op, 0);
	}
	return nr;
}

/* The driver is asked for faults; a capture in the way is none. */
static cu_result ask_stream(const struct cuda_device *d, cu_stream s)
{
	cu_result r = d->cuda.cuStreamQuery(s);

	return r == CU_NOT_READY || cuda_errno(r) == -EBUSY ? CU_SUCCESS : r;
}

/*
 * A stream of ours that is at work, or the idle one for memory: a fault is told
 * by each. Asking a stream of the program's could break what it captures.
 */
static cu_result ask_driver(const struct cuda_device *d)
{
	cu_result r = ask_stream(d, d->memory);
	const struct cuda_queue *q;
	unsigned i;

	for (i = 0; i < d->nr_queues && !r; i++) {
		q = &d->queue[i];
		if (q->given != q->ended && q->stream != d->foreign)
			r = ask_stream(d, q->stream);
	}
	return r;
}

static int tell_lost(const struct cuda_device *d, const char *call, cu_result r)
{
	cuda_fails(d, call, r);
	return -ENODEV;
}

static int look_for_faults(struct cuda_device *d)
{
	int64_t now = clock_now_ns();
	cu_result r;

	if (!d->quiet_since)
		d->quiet_since = now;
	if (now - d->quiet_since < QUIET_NS)
		return 0;
	d->quiet_since = now;
	r = ask_driver(d);
	return r ? tell_lost(d, "cuStreamQuery", r) : 0;
}

/*
 * The thread and the streams for copies may be at bytes of the host: behind a
 * fault of the card the driver says at once that they are not, else they end.
 * Streams for kernels have no such copies, and might never end.
 */
void cuda_lose(void *dev)
{
	struct cuda_device *d = dev;
	unsigned i;

	cuda_still_io(d);
	for (i = 0; i < d->nr_queues && i < FIRST_KERNELS; i++)
		d->cuda.cuStreamSynchronize(d->queue[i].stream);
	cuda_lose_watches(d, -ENODEV);
}

int cuda_poll(void *dev)
{
	struct cuda_device *d = dev;
	int nr = cuda_ask_watches(d);
	cu_result broken = a_load(&d->io.broken, relaxed);
	unsigned i;

	if (broken)
		return tell_lost(d, "a copy", broken);
	if (d->broken)
		return tell_lost(d, "cuStreamWriteValue32", d->broken);
	nr += cuda_ask_pieces(d);
	for (i = 0; i < d->nr_queues; i++)
		nr += take_ended(&d->queue[i]);
	if (cuda_is_late(d) && cuda_is_idle(d))
		cuda_settle(d);
	if (!nr)
		return look_for_faults(d);
	d->quiet_since = 0;
	return nr;
}
