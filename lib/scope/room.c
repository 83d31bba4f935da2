/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/room.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/util.h"
#include "core/waits.h"
#include "scope/deadline.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

/*
 * A scope of so many tasks wakes who waits when a quarter of its room is free:
 * a wake-up costs as much as many short tasks. If that takes longer than
 * PATIENCE_NS, tasks are long, and the first room will do.
 */
#ifndef ROOM_MANY
#define ROOM_MANY 64
#endif
#define PATIENCE_NS 100000

static void wake_all(struct lkdf_scope *s)
{
	/* A single one of those that have seen it wakes. */
	if (!a_xchg(&s->room_asked, 0, relaxed))
		return;
	wait_is_over(s->rt);
	/* [room.woken] that nobody asks; pairs with [room.epoch]. */
	a_add(&s->room_epoch, 1, release);
	futex_wake(&s->room_epoch, INT_MAX);
}

void room_wake(struct lkdf_scope *s)
{
	/* [room.cancel] after cancel_err; pairs with [room.c]. */
	if (unlikely(a_load(&s->room_asked, seq_cst)))
		wake_all(s);
}

static void give_one(struct lkdf_scope *s, uint32_t nr)
{
	uint64_t taken;

	if (!s->max_tasks)
		return;
	/* [room.a] what we did, and before we look who waits; pairs with
	 * [room.d] and [room.take]. */
	taken = a_sub(&s->nr_taken, nr, seq_cst) - nr;
	/* [room.b] after nr_taken; pairs with [room.c]. */
	if (unlikely(taken < a_load(&s->room_asked, seq_cst)))
		wake_all(s);
}

void room_give(struct lkdf_scope *s, uint32_t nr)
{
	check(nr);
	for (; s && s->is_limited; s = s->parent)
		give_one(s, nr);
}

static bool take_one(struct lkdf_scope *s, uint32_t nr)
{
	uint64_t taken = a_load(&s->nr_taken, relaxed);

	do {
		if (taken + nr > s->max_tasks)
			return false;
		/* [room.take] what those did that gave it; pairs with [room.a].
		 */
	} while (!a_cas(&s->nr_taken, &taken, taken + nr, acquire, relaxed));
	return true;
}

/* All or none; the scope that has none. */
static struct lkdf_scope *take_room(struct lkdf_scope *s, uint32_t nr)
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

static int refuse_room(const struct lkdf_scope *full, uint32_t nr,
		       bool may_wait)
{
	if (nr > full->max_tasks)
		return err(-E2BIG, "scope: %u tasks, \"%s\" has room for %llu",
			   nr, full->name, (unsigned long long)full->max_tasks);
	if (!may_wait)
		return err(-EAGAIN, "scope: \"%s\" has its %llu tasks",
			   full->name, (unsigned long long)full->max_tasks);
	return 0;
}

/* Somebody is to be woken when nr_taken is below that. */
static void ask_room(struct lkdf_scope *s, uint64_t below)
{
	/* [room.seen] as [room.c], of who has asked for as much; pairs with
	 * [room.b]. */
	uint64_t asked = a_load(&s->room_asked, seq_cst);

	/* [room.c] before we look; pairs with [room.b]. */
	while (asked < below &&
	       !a_cas(&s->room_asked, &asked, below, seq_cst, seq_cst))
		;
}

/*
 * Until there may be room for nr in full, or s is cancelled. False: nothing
 * has come in its time, so do not wait for more than there must be.
 */
static bool wait_for_room(struct lkdf_scope *s, struct lkdf_scope *full,
			  uint32_t nr, bool is_patient)
{
	uint64_t fits = full->max_tasks - nr, at = fits;
	uint32_t epoch;

	if (is_patient && full->max_tasks >= ROOM_MANY)
		at = min_u64(fits, full->max_tasks - full->max_tasks / 4);
	/* [room.epoch] before we ask; pairs with [room.woken]. */
	epoch = a_load(&full->room_epoch, acquire);
	ask_room(full, at + 1);
	/* [room.d] after we have asked; pairs with [room.a]. */
	if (a_load(&full->nr_taken, seq_cst) <= at)
		return true;
	/* [room.e] as [room.d]; pairs with [scope.cancel]. */
	if (a_load(&s->cancel_err, seq_cst))
		return true;
	deadline_sleep(s->rt, &full->room_epoch, epoch,
		       at < fits ? PATIENCE_NS : -1);
	return a_load(&full->room_epoch, relaxed) != epoch;
}

/* The wait for its room is over. */
static __attribute__((noinline)) void tell_room(const struct lkdf_scope *full,
						uint64_t begin)
{
	unsigned long long most = full->max_tasks;
	char text[TRACE_NAME_SIZE];

	snprintf(text, sizeof(text), "room in scope \"%.24s\" of %llu task%s",
		 full->name, most, most == 1 ? "" : "s");
	wait_tell_room(full->rt, text, most, begin);
}

int room_take(struct lkdf_scope *s, uint32_t nr, bool may_wait)
{
	struct lkdf_scope *full, *last = NULL;
	bool is_patient = true;
	uint64_t begin = 0;
	int rc = 0;

	check(nr);
	while ((full = take_room(s, nr))) {
		rc = scope_refuse(s);
		if (!rc)
			rc = refuse_room(full, nr, may_wait);
		if (rc)
			break;
		begin = begin ? begin : wait_begins(s->rt);
		is_patient = wait_for_room(s, full, nr, is_patient);
		last = full;
	}
	if (unlikely(begin))
		tell_room(last, begin);
	if (rc)
		return rc;
	/* The room may be that of a task that was cancelled with us. */
	rc = scope_refuse(s);
	if (rc)
		room_give(s, nr);
	return rc;
}
