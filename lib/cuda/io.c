/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/io.h"

#include "base/err.h"
#include "base/helper.h"
#include "base/thread.h"
#include "cuda/device.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the thread --------------------------------------------------------- */

/* When a card is lost, the bytes of the host are the program's again. */
static cu_result carry_job(const struct cuda_io *io, const struct cuda_job *j,
			   const char **call)
{
	const struct cuda *cuda = io->cuda;
	cu_result r = a_load(&io->broken, relaxed);

	*call = j->is_up ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync";
	if (r)
		return r;
	r = j->is_up ? cuda->cuMemcpyHtoDAsync(j->there, j->host, j->bytes,
					       io->stream)
		     : cuda->cuMemcpyDtoHAsync(j->host, j->there, j->bytes,
					       io->stream);
	if (r)
		return r;
	*call = "cuStreamSynchronize";
	return cuda->cuStreamSynchronize(io->stream);
}

/* Where the card is lost poll() says so, with the driver's error. */
static void end_job(struct cuda_io *io, struct cuda_job *j, const char *call,
		    cu_result r)
{
	int rc = r ? cuda_failed(io->cuda, call, r) : 0;

	if (rc == -ENODEV)
		a_store(&io->broken, r, relaxed);
	else if (rc)
		lkdf_device_failed(j->op, rc, err_text());
	else
		lkdf_device_done(j->op, 0);
	free(j);
	/* Relaxed: a guess whether calls would wait for it. */
	a_sub(&io->nr_jobs, 1, relaxed);
}

static struct cuda_job *take_job(struct cuda_io *io)
{
	struct cuda_job *j;

	pthread_mutex_lock(&io->lock);
	io->is_carrying = false;
	while (!io->first && !io->is_closing)
		pthread_cond_wait(&io->given, &io->lock);
	j = io->is_closing ? NULL : io->first;
	io->is_carrying = j != NULL;
	/* The launcher may wait for the end of the job before. */
	if (!j)
		pthread_cond_signal(&io->given);
	else
		io->first = j->next;
	if (!io->first)
		io->last = &io->first;
	pthread_mutex_unlock(&io->lock);
	return j;
}

static void *io_main(void *arg)
{
	struct cuda_io *io = arg;
	struct cuda_before before;
	const char *call;
	struct cuda_job *j;
	cu_result r;

	pthread_setname_np(pthread_self(), "lkdf/cuda.io");
	cuda_enter_context(io->cuda, io->context, &before);
	while ((j = take_job(io))) {
		r = carry_job(io, j, &call);
		end_job(io, j, call, r);
	}
	thread_retire();
	return NULL;
}

static bool start_thread(struct cuda_device *d)
{
	struct cuda_io *io = &d->io;

	if (d->cuda.cuStreamCreateWithPriority(&io->stream,
					       CU_STREAM_IS_NON_BLOCKING, 0))
		return false;
	io->cuda = &d->cuda;
	io->context = d->context;
	if (!helper_start(&io->thread, NULL, io_main, io))
		return true;
	d->cuda.cuStreamDestroy(io->stream);
	io->stream = NULL;
	return false;
}

/* ---- the launcher ------------------------------------------------------- */

void cuda_open_io(struct cuda_device *d)
{
	struct cuda_io *io = &d->io;

	pthread_mutex_init(&io->lock, NULL);
	pthread_cond_init(&io->given, NULL);
	io->last = &io->first;
}

void cuda_still_io(struct cuda_device *d)
{
	struct cuda_io *io = &d->io;

	pthread_mutex_lock(&io->lock);
	io->is_closing = true;
	pthread_cond_signal(&io->given);
	while (io->is_carrying)
		pthread_cond_wait(&io->given, &io->lock);
	pthread_mutex_unlock(&io->lock);
}

void cuda_close_io(struct cuda_device *d)
{
	struct cuda_io *io = &d->io;
	struct cuda_job *j;

	cuda_still_io(d);
	if (io->has_thread) {
		pthread_join(io->thread, NULL);
		d->cuda.cuStreamDestroy(io->stream);
	}
	while ((j = io->first)) {
		io->first = j->next;
		free(j);
	}
	tdestroy(io->pinned, free);
	io->pinned = NULL;
	pthread_cond_destroy(&io->given);
	pthread_mutex_destroy(&io->lock);
}

static bool has_thread(struct cuda_device *d)
{
	struct cuda_io *io = &d->io;

	if (io->has_thread || io->has_none)
		return io->has_thread;
	io->has_thread = start_thread(d);
	io->has_none = !io->has_thread;
	return io->has_thread;
}

bool cuda_give_io(struct cuda_device *d, const struct lkdf_transfer *t,
		  bool is_up, struct lkdf_device_op op)
{
	struct cuda_io *io = &d->io;
	struct cuda_job *j;

	if (d->is_serial || t->bytes <= CUDA_IO_BYTES ||
	    cuda_find_pinned(d, t->host, t->bytes) || !has_thread(d))
		return false;
	j = malloc(sizeof(*j));
	if (!j)
		return false;
	*j = (struct cuda_job){ .op = op,
				.host = t->host,
				.there = (cu_ptr)(uintptr_t)t->device_ptr +
					 t->offset,
				.bytes = t->bytes,
				.is_up = is_up };
	a_add(&io->nr_jobs, 1, relaxed);
	pthread_mutex_lock(&io->lock);
	*io->last = j;
	io->last = &j->next;
	pthread_cond_signal(&io->given);
	pthread_mutex_unlock(&io->lock);
	return true;
}

/* ---- pinned bytes ------------------------------------------------------- */

/* The driver knows no byte twice, so those of two have an order. */
static int by_place(const void *a, const void *b)
{
	const struct cuda_pinned *x = a, *y = b;

	if (x->first >= y->first + y->bytes)
		return 1;
	return x->first + x->bytes <= y->first ? -1 : 0;
}

int cuda_note_pinned(struct cuda_device *d, struct cuda_pinned *p)
{
	if (tsearch(p, &d->io.pinned, by_place))
		return 0;
	if (p->is_ours)
		d->cuda.cuMemHostUnregister((void *)p->first);
	free(p);
	return err(-ENOMEM, "cuda: no memory");
}

struct cuda_pinned *cuda_find_pinned(const struct cuda_device *d,
				     const void *host, uint64_t bytes)
{
	const struct cuda_pinned key = { (uintptr_t)host, 1, false };
	struct cuda_pinned **at = tfind(&key, &d->io.pinned, by_place);

	if (!at || key.first + bytes > (*at)->first + (*at)->bytes)
		return NULL;
	return *at;
}

void cuda_forget_pinned(struct cuda_device *d, struct cuda_pinned *p)
{
	tdelete(p, &d->io.pinned, by_place);
	free(p);
}
