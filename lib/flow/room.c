/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/room.h"

#include "base/err.h"
#include "base/futex.h"
#include "flow/deadline.h"

#include <errno.h>
#include <limits.h>

void room_wake(struct lkdf_scope *s)
{
	/* [room.b] after nr_taken or cancel_err; pairs with [room.c]. */
	if (likely(!a_load(&s->nr_room_waiters, seq_cst)))
		return;
	a_add(&s->room_epoch, 1, seq_cst);
	futex_wake(&s->room_epoch, INT_MAX);
}

static void give_one(struct lkdf_scope *s, uint32_t nr)
{
	if (!s->max_tasks)
		return;
	/* [room.a] before we look at the waiters; pairs with [room.d]. */
	a_sub(&s->nr_taken, nr, seq_cst);
	room_wake(s);
}

void room_give(struct lkdf_scope *s, uint32_t nr)
{
	for (; s && s->is_limited; s = s->parent)
		give_one(s, nr);
}

static bool take_one(struct lkdf_scope *s, uint32_t nr)
{
	/* [room.d] after nr_room_waiters; pairs with [room.a]. */
	uint64_t taken = a_load(&s->nr_taken, seq_cst);

	do {
		if (taken + nr > s->max_tasks)
			return false;
	} while (!a_cas(&s->nr_taken, &taken, taken + nr, relaxed, relaxed));
	return true;
}

/* All or none; the scope that has none. */
static struct lkdf_scope *take(struct lkdf_scope *s, uint32_t nr)
{
	struct lkdf_scope *at, *back;

	for (at = s; at && at->is_limited; at = at->parent) {
		if (!at->max_tasks || take_one(at, nr))
			continue;
		for (back = s; back != at; back = back->parent)
			give_one(back, nr);
		return at;
	}
	return NULL;
}

static int refuse(const struct lkdf_scope *full, uint32_t nr, bool may_wait)
{
	if (nr > full->max_tasks)
		return err(-E2BIG, "scope: %u tasks, \"%s\" has room for %llu",
			   nr, full->name, (unsigned long long)full->max_tasks);
	if (!may_wait)
		return err(-EAGAIN, "scope: \"%s\" has its %llu tasks",
			   full->name, (unsigned long long)full->max_tasks);
	return 0;
}

/* Until there may be room in full, or s is cancelled. */
static void wait(struct lkdf_scope *s, struct lkdf_scope *full, uint32_t nr)
{
	uint32_t epoch;

	/* [room.c] before we look; pairs with [room.b]. */
	a_add(&full->nr_room_waiters, 1, seq_cst);
	epoch = a_load(&full->room_epoch, seq_cst);
	/* [room.e] after nr_room_waiters; pairs with [scope.cancel]. */
	if (a_load(&s->cancel_err, seq_cst) == 0 &&
	    a_load(&full->nr_taken, seq_cst) + nr > full->max_tasks)
		deadline_sleep(s->rt, &full->room_epoch, epoch, -1);
	a_sub(&full->nr_room_waiters, 1, relaxed);
}

int room_take(struct lkdf_scope *s, uint32_t nr, bool may_wait)
{
	struct lkdf_scope *full;
	int rc;

	while ((full = take(s, nr))) {
		rc = scope_refuse(s);
		if (!rc)
			rc = refuse(full, nr, may_wait);
		if (rc)
			return rc;
		wait(s, full, nr);
	}
	/* The room may be that of a task that was cancelled with us. */
	rc = scope_refuse(s);
	if (rc)
		room_give(s, nr);
	return rc;
}
