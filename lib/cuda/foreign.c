/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Streams and events that the program has made by itself. */
#include "cuda/device.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- streams ------------------------------------------------------------ */

static int check_device(const struct cuda_device *d, cu_context context)
{
	struct cuda_before before;
	cu_device id = -1;
	cu_result r;

	cuda_enter_context(&d->cuda, context, &before);
	r = d->cuda.cuCtxGetDevice(&id);
	cuda_leave_context(&d->cuda, &before);
	if (r)
		return cuda_fails(d, "cuCtxGetDevice", r);
	return id == d->id ? 0
			   : err(-EINVAL, "the stream is of another device");
}

static int check_stream(const struct cuda_device *d, cu_stream s,
			cu_context *context)
{
	unsigned captures = 0;
	cu_result r;

	if ((uintptr_t)s == CU_HANDLE_PER_THREAD)
		return err(-EINVAL,
			   "stream 2 is another one in each thread: give one "
			   "that was created, or NULL");
	r = d->cuda.cuStreamIsCapturing(s, &captures);
	if (r)
		return cuda_fails(d, "cuStreamIsCapturing", r);
	if (captures)
		return err(-EINVAL, "the stream is being captured");
	r = d->cuda.cuStreamGetCtx(s, context);
	if (r)
		return cuda_fails(d, "cuStreamGetCtx", r);
	return check_device(d, *context);
}

/* The context whose default stream the caller means. */
static int find_context(struct cuda_device *d)
{
	cu_context current = NULL;
	cu_device id = -1;

	if (!d->cuda.cuCtxGetCurrent(&current) && current &&
	    !d->cuda.cuCtxGetDevice(&id) && id == d->id) {
		d->context = current;
		return 0;
	}
	return cuda_require(d);
}

/* A function is for streams of its own context, so it is a device of its own.
 */
int cuda_adopt(void *dev, void *queue, void **out)
{
	const struct cuda_device *from = dev;
	bool is_default = (uintptr_t)queue <= CU_HANDLE_LEGACY;
	cu_context context = NULL;
	struct cuda_device *d;
	int rc = is_default ? 0 : check_stream(from, queue, &context);

	if (rc)
		return rc;
	d = cuda_create(&from->cuda, from->id, from->card);
	if (!d)
		return err(-ENOMEM, "no memory");
	memcpy(d->nvrtc, from->nvrtc, sizeof(d->nvrtc));
	memcpy(d->cache, from->cache, sizeof(d->cache));
	d->count = from->count;
	d->is_serial = from->is_serial;
	d->count_u = from->count_u;
	d->foreign = is_default ? (cu_stream)CU_HANDLE_LEGACY : queue;
	d->context = context;
	rc = is_default ? find_context(d) : 0;
	if (rc)
		cuda_stop(d);
	else
		*out = d;
	return rc;
}

/* ---- events ------------------------------------------------------------- */

static int make_watch(struct cuda_device *d, struct cuda_watch **out)
{
	struct cuda_watch *w = calloc(1, sizeof(*w));
	void *block;
	cu_result r;
	int rc;

	if (!w)
		return err(-ENOMEM, "no memory");
	rc = cuda_make_words(d, 1, &w->word, &block);
	if (rc) {
		free(w);
		return rc;
	}
	r = d->cuda.cuStreamCreateWithPriority(&w->stream,
					       CU_STREAM_IS_NON_BLOCKING, 0);
	if (r) {
		d->cuda.cuMemFreeHost(block);
		free(w);
		return cuda_fails(d, "cuStreamCreateWithPriority", r);
	}
	*out = w;
	return 0;
}

/* The driver frees the word when all kernels of the card have ended. */
static void free_watch(struct cuda_device *d, struct cuda_watch *w,
		       bool keeps_word)
{
	d->cuda.cuStreamDestroy(w->stream);
	if (!keeps_word)
		d->cuda.cuMemFreeHost((void *)w->word.at);
	free(w);
}

/* A watch that nobody waits for, out of the list, or a new one. */
static int take_watch(struct cuda_device *d, struct cuda_watch **out)
{
	struct cuda_watch **at = &d->watches, *w;

	while (*at && (*at)->fired)
		at = &(*at)->next;
	w = *at;
	if (!w)
		return make_watch(d, out);
	*at = w->next;
	*out = w;
	return 0;
}

/* The stream keeps the record that the event has now. */
static int begin_watch(struct cuda_device *d, struct cuda_watch *w,
		       cu_event event)
{
	const char *call = "cuStreamWaitEvent";
	cu_result r = d->cuda.cuStreamWaitEvent(w->stream, event, 0);

	if (!r) {
		call = "cuStreamWriteValue32";
		r = d->cuda.cuStreamWriteValue32(w->stream, w->word.there,
						 ++w->number, 0);
	}
	if (!r)
		return 0;
	free_watch(d, w, true);
	return cuda_fails(d, call, r);
}

static int add_watch(struct cuda_device *d, cu_event event,
		     void (*fired)(void *u, int error), void *u)
{
	struct cuda_watch *w = NULL;
	int rc;

	pthread_mutex_lock(&d->lock);
	if (d->is_lost)
		rc = err(-ENODEV, "the device is lost");
	else
		rc = take_watch(d, &w);
	if (!rc)
		rc = begin_watch(d, w, event);
	if (!rc) {
		w->fired = fired;
		w->u = u;
		w->next = d->watches;
		d->watches = w;
		a_add(&d->card->nr_watched, 1, relaxed);
	}
	pthread_mutex_unlock(&d->lock);
	return rc;
}

int cuda_watch(void *dev, void *event, void (*fired)(void *u, int error),
	       void *u)
{
	struct cuda_device *d = dev;
	struct cuda_before before;
	int rc = cuda_require(d);

	if (rc)
		return rc;
	before = cuda_enter(d);
	rc = add_watch(d, event, fired, u);
	cuda_leave(d, &before);
	return rc;
}

static bool has_come(const struct cuda_watch *w)
{
	/* [cuda.word] as in queue.c. */
	return a_load(w->word.at, acquire) == w->number;
}

/* The next that somebody waits for; all: or has come. False: there is none. */
static bool take_next(struct cuda_device *d, bool all, struct cuda_watch *out)
{
	struct cuda_watch *w;
	bool has_one = false;

	pthread_mutex_lock(&d->lock);
	for (w = d->watches; w && !has_one; w = w->next) {
		has_one = w->fired && (all || has_come(w));
		if (!has_one)
			continue;
		*out = *w;
		w->fired = NULL;
		a_sub(&d->card->nr_watched, 1, relaxed);
	}
	pthread_mutex_unlock(&d->lock);
	return has_one;
}

int cuda_ask_watches(struct cuda_device *d)
{
	struct cuda_watch w;
	int nr = 0;

	while (a_load(&d->card->nr_watched, relaxed) &&
	       take_next(d, false, &w)) {
		w.fired(w.u, 0);
		nr++;
	}
	return nr;
}

void cuda_lose_watches(struct cuda_device *d, int error)
{
	struct cuda_watch w;

	pthread_mutex_lock(&d->lock);
	d->is_lost = true;
	pthread_mutex_unlock(&d->lock);
	while (a_load(&d->card->nr_watched, relaxed) && take_next(d, true, &w))
		w.fired(w.u, error);
}

/*
 * The word of one that still waits is the card's, and its stream stays, too: it
 * may be written yet.
 */
bool cuda_close_watches(struct cuda_device *d)
{
	struct cuda_watch *w;
	bool is_over;

	cuda_ask_watches(d);
	is_over = !a_load(&d->card->nr_watched, relaxed);
	while ((w = d->watches)) {
		d->watches = w->next;
		if (!w->fired) {
			free_watch(d, w, !is_over);
			continue;
		}
		w->fired(w->u, -ECANCELED);
		free(w);
	}
	return is_over;
}
