/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/detach.h"

#include "base/futex.h"

#include <limits.h>
#include <stdlib.h>

/* OPEN -> FULFILLED, or OPEN -> HELD, and then who fulfills it frees it. */
enum detach_state {
	DETACH_OPEN,
	DETACH_HELD, /* a task's end waits for held */
	DETACH_FULFILLED,
};

struct detach {
	_Atomic(uint32_t) state; /* a futex */
	struct lkdf_event held;
	struct detach *next; /* of a team of one */
};

struct detach *detach_make(void **handle, void **data)
{
	struct detach *d = calloc(1, sizeof(*d));

	if (!d)
		gomp_die("no memory for a task's event");
	*handle = d;
	if (data)
		*data = d;
	return d;
}

bool detach_hold(struct detach *d, struct lkdf_ctx *c)
{
	struct lkdf_event held;
	uint32_t state = DETACH_OPEN;

	if (lkdf_hold(c, &d->held))
		return false;
	held = d->held;
	/* [gomp.held] the event, or what came before it was fulfilled; pairs
	 * with itself. */
	if (a_cas(&d->state, &state, DETACH_HELD, acq_rel, acquire))
		return true;
	lkdf_event_signal(held, 0);
	free(d);
	return true;
}

void detach_await(struct detach *d)
{
	/* [gomp.await] what came before; pairs with [gomp.held]. */
	while (a_load(&d->state, acquire) != DETACH_FULFILLED)
		futex_wait(&d->state, DETACH_OPEN, -1);
	free(d);
}

void detach_keep(struct team *t, struct detach *d)
{
	d->next = t->detached;
	t->detached = d;
}

void detach_wait(struct team *t)
{
	struct detach *d;

	while ((d = t->detached) != NULL) {
		t->detached = d->next;
		detach_await(d);
	}
}

/* ---- calls -------------------------------------------------------------- */

void omp_fulfill_event(uintptr_t event);
void omp_fulfill_event_(uintptr_t event);

void omp_fulfill_event(uintptr_t event)
{
	struct detach *d = (struct detach *)event;
	uint32_t state = DETACH_OPEN;
	struct lkdf_event held;

	/* [gomp.held] as above. */
	if (a_cas(&d->state, &state, DETACH_FULFILLED, acq_rel, acquire)) {
		futex_wake(&d->state, INT_MAX);
		return;
	}
	held = d->held;
	free(d);
	lkdf_event_signal(held, 0);
}

void omp_fulfill_event_(uintptr_t event)
{
	omp_fulfill_event(event);
}
