/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/acquire.h"

#include "task/checked.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/thread.h"
#include "core/runtime.h"
#include "data/offhost.h"
#include "data/replica.h"
#include "scope/deadline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAITS 0
#define IS_THERE 1
#define GIVEN_UP 2

static void free_acquisition(struct claim *c)
{
	free(container_of(c, struct acquisition, claim));
}

static void resume_acquirer(void *executor, struct blocking_item *item);

static bool waits_for_bytes(struct acquisition *a)
{
	a->bytes.run = resume_acquirer;
	return offhost_is_possible(a->claim.use[0].domain->rt) &&
	       offhost_claim_waits(&a->claim, &a->bytes);
}

static void data_acquired(struct executor *ex, struct claim *c)
{
	struct acquisition *a = container_of(c, struct acquisition, claim);
	uint32_t state = WAITS;

	if (waits_for_bytes(a))
		return;
	/* [acquire.there] what all before did; pairs with [acquire.look]. */
	if (a_cas(&a->is_there, &state, IS_THERE, acq_rel, acquire)) {
		futex_wake(&a->is_there, 1);
		return;
	}
	c->use[0].flags &= (uint8_t)~USE_WRITES;
	claim_leave(ex, c, 0, NULL);
}

static void resume_acquirer(void *executor, struct blocking_item *item)
{
	data_acquired(executor,
		      &container_of(item, struct acquisition, bytes)->claim);
}

static const struct claim_ops ops = { data_acquired, free_acquisition };

bool acquire_has(const struct claim *c)
{
	return c->ops == &ops;
}

bool acquire_wants_bytes(const struct blocking_item *item)
{
	return item->run == resume_acquirer;
}

bool acquire_is_held(const struct lkdf_data *d)
{
	const struct acquisition *a;

	mutex_assert_held(&d->rt->data_lock);
	for (a = d->acquisitions; a; a = a->next)
		if (a_load(&a->is_there, relaxed) == IS_THERE)
			return true;
	return false;
}

static struct acquisition *create_acquisition(struct lkdf_data *d,
					      uint32_t mode)
{
	struct acquisition *a = calloc(1, sizeof(*a) + sizeof(struct use));
	struct use *u;

	if (!a)
		return NULL;
	a->thread = thread_self();
	a->mode = mode;
	a->claim.nr = 1;
	a->claim.ops = &ops;
	u = &a->claim.use[0];
	u->domain = &d->domain;
	u->mode = (uint8_t)mode;
	u->flags = (mode & LKDF_READ ? USE_READS : 0) |
		   (mode & LKDF_WRITE ? USE_WRITES : 0);
	return a;
}

/* This thread's; taken out of the list if told so. NULL: it has none. */
static struct acquisition *find_acquisition(struct lkdf_data *d, bool takes)
{
	const void *self = thread_self();
	struct acquisition **at, *a;

	pthread_mutex_lock(&d->rt->data_lock);
	for (at = &d->acquisitions; (a = *at); at = &a->next)
		if (a->thread == self)
			break;
	if (a && takes)
		*at = a->next;
	pthread_mutex_unlock(&d->rt->data_lock);
	return a;
}

static void add_acquisition(struct lkdf_data *d, struct acquisition *a)
{
	pthread_mutex_lock(&d->rt->data_lock);
	a->next = d->acquisitions;
	d->acquisitions = a;
	pthread_mutex_unlock(&d->rt->data_lock);
}

static int begin_acquisition(struct lkdf_data *d, uint32_t mode,
			     struct acquisition **out)
{
	struct acquisition *a = create_acquisition(d, mode);
	char text[DATA_TEXT];
	struct use *why;
	int rc;

	if (!a)
		return err(-ENOMEM, "acquire: no memory");
	claim_prepare(&a->claim);
	rc = claim_enter(NULL, &a->claim, &why);
	if (rc < 0) {
		free(a);
		return err(rc, "acquire: nobody has written %s",
			   data_text(d, 0, text));
	}
	if (rc && !waits_for_bytes(a))
		a_store(&a->is_there, IS_THERE, relaxed);
	add_acquisition(d, a);
	*out = a;
	return 0;
}

/* 0; 1: the time is up. */
static int wait_for(struct lkdf *rt, struct acquisition *a, int64_t timeout_ns)
{
	const struct timers *ts = &rt->sched.timers;
	int64_t end = timers_end_of(ts, timeout_ns), left;

	/* [acquire.look] pairs with [acquire.there]. */
	while (a_load(&a->is_there, acquire) == WAITS) {
		if (timers_are_over(ts, end, &left))
			return 1;
		deadline_sleep(rt, &a->is_there, WAITS, left);
	}
	return 0;
}

/* It is our turn. The error of a writer before us, which is observed now. */
static int look_at_claim(struct lkdf_data *d, const struct acquisition *a)
{
	const struct use *u = &a->claim.use[0];
	struct failure *failure;
	char text[DATA_TEXT];
	int error;

	offhost_begin(u, false);
	if (!(u->flags & USE_READS))
		return 0;
	error = var_error(&d->domain, u->var, &failure);
	if (!error)
		return 0;
	failure_observe(failure);
	return err(error, "acquire: %s: %s", data_text(d, 0, text),
		   failure ? failure->error.why : strerror(-error));
}

static void end_acquisition(struct lkdf_data *d, struct acquisition *a,
			    int error)
{
	struct use *u = &a->claim.use[0];
	struct lkdf *rt = d->rt;

	if (rt->check)
		checked_tell_uses(rt->check, &a->claim);
	/* Nobody wrote: what was there stays, poison and all. */
	if (error)
		u->flags &= (uint8_t)~USE_WRITES;
	claim_leave(NULL, &a->claim, 0, NULL);
	/* We may have been the last before it was deleted. */
	sched_drain(&rt->sched);
}

int data_acquire(struct lkdf_data *d, uint32_t mode, int64_t timeout_ns,
		 void **out)
{
	struct acquisition *a = find_acquisition(d, false);
	char text[DATA_TEXT];
	void *bytes;
	int rc;

	data_text(d, 0, text);
	if (a && a_load(&a->is_there, relaxed) == IS_THERE && a->is_held)
		return err(-EDEADLK, "acquire: this thread holds %s", text);
	if (a && a->mode != mode)
		return err(-EINVAL,
			   "acquire: this thread waits for %s with mode %u, "
			   "not %u",
			   text, a->mode, mode);
	rc = a ? 0 : begin_acquisition(d, mode, &a);
	if (rc)
		return rc;
	sched_drain(&d->rt->sched);
	if (wait_for(d->rt, a, timeout_ns))
		return 1;
	if (d->rt->check)
		checked_hear_uses(d->rt->check, &a->claim);
	rc = look_at_claim(d, a);
	bytes = rc ? NULL : data_bytes(d, -1);
	if (!rc && !bytes)
		rc = -ENOMEM;
	if (rc) {
		find_acquisition(d, true);
		end_acquisition(d, a, rc);
		return rc;
	}
	if (mode & LKDF_WRITE)
		data_will_write(d);
	offhost_begin(&a->claim.use[0], true);
	a->is_held = true;
	if (out)
		*out = bytes;
	return 0;
}

int data_release(struct lkdf_data *d)
{
	struct acquisition *a = find_acquisition(d, true);
	uint32_t state = WAITS;
	char text[DATA_TEXT];

	if (!a)
		return err(-EPERM, "release: this thread has not acquired %s",
			   data_text(d, 0, text));
	/* [acquire.there] as above: one of us lets go. */
	if (a_cas(&a->is_there, &state, GIVEN_UP, acq_rel, acquire))
		return 0;
	end_acquisition(d, a, !a->is_held);
	return 0;
}
