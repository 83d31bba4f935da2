/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "opencl/wait.h"

#include "base/lock.h"
#include "opencl/load.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

enum {
	WAITS,
	TELLING,
	CALLED,
	ASKED,
	LEFT,
};

void opencl_waits_init(struct opencl_waits *l)
{
	pthread_mutex_init(&l->lock, NULL);
	l->first = NULL;
	l->last = &l->first;
}

struct opencl_wait *opencl_wait_create(void)
{
	return calloc(1, sizeof(struct opencl_wait));
}

static bool move_wait(struct opencl_wait *w, uint32_t to, uint32_t *was)
{
	*was = WAITS;
	/* [opencl.wait] the loser may free it; pairs with itself. */
	return a_cas(&w->state, was, to, acq_rel, acquire);
}

/* POCL gives a command behind a failed one -1, which loses no device. */
static int errno_of(int32_t status)
{
	if (status >= OCL_COMPLETE)
		return 0;
	return status == OCL_DEVICE_NOT_FOUND ? -EIO : opencl_errno(status);
}

static void tell_end(const struct opencl_wait *w, int32_t status)
{
	int error = errno_of(status);

	if (w->fired)
		w->fired(w->u, error);
	else
		lkdf_device_done(w->op, error);
}

/* Has it ended? The status is 0 or an error then. */
static bool has_ended(const struct opencl *cl, ocl_event e, int32_t *status)
{
	return !cl->clGetEventInfo(e, OCL_EVENT_COMMAND_EXECUTION_STATUS,
				   sizeof(*status), status, NULL) &&
	       *status <= OCL_COMPLETE;
}

void opencl_quiet_tell(const struct opencl *cl, const struct opencl_wait *w)
{
	const struct opencl_wait *q;
	int32_t status;

	for (q = w->quiet; q; q = q->next)
		if (has_ended(cl, q->event, &status) && status < OCL_COMPLETE)
			tell_end(q, status);
}

void opencl_quiet_free(const struct opencl *cl, struct opencl_wait *quiet)
{
	struct opencl_wait *next;

	for (; quiet; quiet = next) {
		next = quiet->next;
		cl->clReleaseEvent(quiet->event);
		free(quiet);
	}
}

/* On a thread of the driver. */
static void on_end(ocl_event e, int32_t status, void *arg)
{
	struct opencl_wait *w = arg, copy = { .op = w->op };
	bool has_quiet = w->has_quiet;
	uint32_t was;

	(void)e;
	copy.fired = w->fired;
	copy.u = w->u;
	if (move_wait(w, has_quiet ? TELLING : CALLED, &was)) {
		if (has_quiet)
			opencl_quiet_tell(w->cl, w);
		/* [opencl.wait] as above. */
		if (has_quiet)
			a_store(&w->state, CALLED, release);
		tell_end(&copy, status);
		return;
	}
	free(w);
	/* An event of the program's is the runtime's, which may be closed. */
	if (was == LEFT && copy.fired)
		tell_end(&copy, status);
}

/* The first ones for which the driver has called. */
static void free_called(const struct opencl *cl, struct opencl_waits *l)
{
	struct opencl_wait *w;

	mutex_assert_held(&l->lock);
	while ((w = l->first)) {
		/* [opencl.wait] as above. */
		if (a_load(&w->state, acquire) != CALLED)
			return;
		l->first = w->next;
		if (!l->first)
			l->last = &l->first;
		cl->clReleaseEvent(w->event);
		opencl_quiet_free(cl, w->quiet);
		free(w);
	}
}

int32_t opencl_wait_begin(const struct opencl *cl, struct opencl_waits *l,
			  struct opencl_wait *w, ocl_event e)
{
	int32_t error;

	w->event = e;
	pthread_mutex_lock(&l->lock);
	free_called(cl, l);
	error = cl->clSetEventCallback(e, OCL_COMPLETE, on_end, w);
	if (!error) {
		*l->last = w;
		l->last = &w->next;
	}
	pthread_mutex_unlock(&l->lock);
	return error;
}

/*
 * The next that has ended without a call is taken out of the list, and copied:
 * the driver may call after all, and free it. False: there is none.
 */
static bool take_ended(const struct opencl *cl, struct opencl_waits *l,
		       struct opencl_wait *copy, int32_t *status)
{
	struct opencl_wait **at = &l->first, *w;
	uint32_t was;
	bool is_ours;

	mutex_assert_held(&l->lock);
	while ((w = *at)) {
		copy->op = w->op;
		copy->fired = w->fired;
		copy->u = w->u;
		copy->event = w->event;
		copy->quiet = w->quiet;
		copy->next = w->next;
		is_ours = has_ended(cl, w->event, status) &&
			  move_wait(w, ASKED, &was);
		/* [opencl.wait] as above. */
		if (!is_ours && a_load(&w->state, acquire) != CALLED) {
			at = &w->next;
			continue;
		}
		*at = copy->next;
		if (!*at)
			l->last = at;
		cl->clReleaseEvent(copy->event);
		if (is_ours)
			return true;
		opencl_quiet_free(cl, copy->quiet);
		free(w);
	}
	return false;
}

void opencl_waits_ask(const struct opencl *cl, struct opencl_waits *l)
{
	struct opencl_wait copy = { .fired = NULL };
	int32_t status;
	bool has_one;

	for (;;) {
		pthread_mutex_lock(&l->lock);
		has_one = take_ended(cl, l, &copy, &status);
		pthread_mutex_unlock(&l->lock);
		if (!has_one)
			return;
		opencl_quiet_tell(cl, &copy);
		tell_end(&copy, status);
		opencl_quiet_free(cl, copy.quiet);
	}
}

void opencl_waits_leave(const struct opencl *cl, struct opencl_waits *l)
{
	struct opencl_wait *w, *quiet;
	uint32_t was;

	while ((w = l->first)) {
		l->first = w->next;
		cl->clReleaseEvent(w->event);
		quiet = w->quiet;
		if (!move_wait(w, LEFT, &was)) {
			/* [opencl.wait] as above: it looks at the device. */
			while (a_load(&w->state, acquire) == TELLING)
				sched_yield();
			free(w);
		}
		opencl_quiet_free(cl, quiet);
	}
	pthread_mutex_destroy(&l->lock);
}
