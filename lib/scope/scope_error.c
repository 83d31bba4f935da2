/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/scope_error.h"

#include "base/err.h"
#include "core/failure.h"
#include "core/runtime.h"

#include <errno.h>
#include <string.h>

/* ---- those that no scope has kept, oldest first -------------------------- */

static void observe_later(struct failure *f)
{
	for (; f; f = f->later)
		failure_observe(f);
}

static struct failure *find_unseen(struct failure *f)
{
	while (f && failure_is_seen(f))
		f = f->later;
	return f;
}

/* The first of those that nobody has seen stands for the others. */
static void count_later(struct failure *list)
{
	struct failure *first = find_unseen(list), *f;

	for (f = first ? first->later : NULL; f; f = f->later) {
		if (failure_is_seen(f))
			continue;
		failure_observe(f);
		a_add(&first->nr_more, 1, relaxed);
	}
}

static void put_later(struct lkdf_scope *s)
{
	struct failure *f, *next;

	for (f = s->later; f; f = next) {
		next = f->later;
		failure_put(f, &s->rt->log);
	}
	s->later = NULL;
}

/* ---- looking ------------------------------------------------------------- */

/* Under lock: the user is told of an error of the scope. */
static void forget_later(struct lkdf_scope *s)
{
	mutex_assert_held(&s->lock);
	observe_later(s->later);
	put_later(s);
}

/*
 * Under lock: the error that a wait returns, or 0; *f is its story, and the
 * caller's. An error that somebody has seen is passed over for another one.
 */
static int take_unseen(struct lkdf_scope *s, struct failure **f)
{
	int rc = a_xchg(&s->first_err, 0, relaxed);
	struct failure *other = s->below;

	mutex_assert_held(&s->lock);
	*f = plain_load(&s->failure);
	plain_store(&s->failure, NULL);
	if (!failure_is_seen(*f))
		return rc;
	s->told_err = rc;
	if (!other || failure_is_seen(other))
		other = find_unseen(s->later);
	if (!other)
		return 0;
	failure_put(*f, &s->rt->log);
	*f = failure_get(other);
	return other->error.err;
}

/* Under lock: f is told, or was; error 0: it was. */
static void keep_told(struct lkdf_scope *s, struct failure *f, int error)
{
	mutex_assert_held(&s->lock);
	failure_observe(f);
	failure_put(s->told, &s->rt->log);
	s->told = f;
	if (error)
		s->told_err = error;
	failure_put(s->below, &s->rt->log);
	s->below = NULL;
	forget_later(s);
}

int scope_take_error(struct lkdf_scope *s)
{
	struct failure *f;
	int cancelled, rc;

	pthread_mutex_lock(&s->lock);
	rc = take_unseen(s, &f);
	/* A cancel that comes now is cleared and told, or neither. */
	cancelled = a_xchg(&s->cancel_err, 0, relaxed);
	if (cancelled == -ETIME)
		a_store(&s->end_ns, 0, relaxed);
	if (!rc)
		rc = cancelled;
	if (rc || f)
		keep_told(s, f, rc);
	/* Under the lock: the next wait lets go of what was told. */
	if (rc)
		err(rc, "scope \"%s\": %s", s->name,
		    f ? f->error.why : strerror(-rc));
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int scope_error(struct lkdf_scope *s, struct lkdf_error *out)
{
	struct lkdf_error e = { .size = sizeof(e), .id = -1, .worker = -1 };
	struct failure *f;
	int error, rc;

	pthread_mutex_lock(&s->lock);
	error = a_load(&s->first_err, relaxed);
	f = error ? plain_load(&s->failure) : s->told;
	if (f) {
		failure_observe(f);
		e = f->error;
	}
	e.err = error ? error : s->told_err;
	tally_tell(&s->tally, &e);
	rc = failure_copy(&e, out);
	forget_later(s);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* ---- keeping ------------------------------------------------------------- */

/* An error that somebody has still to look at counts a later one. */
static void stands_for_one_more(struct failure *f)
{
	if (f && !failure_is_seen(f))
		a_add(&f->nr_more, 1, relaxed);
}

/* Under lock: behind those that are kept aside. False: they are many. */
static bool add_later(struct lkdf_scope *s, struct failure *f)
{
	struct failure **at = &s->later, *old;
	unsigned nr = 0;

	mutex_assert_held(&s->lock);
	while ((old = *at)) {
		if (!failure_is_seen(old)) {
			at = &old->later;
			nr++;
			continue;
		}
		*at = old->later;
		failure_put(old, &s->rt->log);
	}
	if (nr < SCOPE_MAX_LATER) {
		*at = failure_get(f);
		f->is_aside = true;
	}
	return nr < SCOPE_MAX_LATER;
}

/*
 * No scope has kept f. An earlier error that is still to be looked at counts
 * it; it is kept aside for a wait, should the earlier ones be seen elsewhere,
 * and for the end of the scope.
 */
static void keep_aside(struct lkdf_scope *s, struct failure *f)
{
	pthread_mutex_lock(&s->lock);
	if (f->is_aside) {
		pthread_mutex_unlock(&s->lock);
		return;
	}
	stands_for_one_more(plain_load(&s->failure));
	if (!add_later(s, f)) {
		stands_for_one_more(find_unseen(s->later));
		failure_observe(f);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Under lock. Lets go of the one before. */
static void keep_below(struct lkdf_scope *s, struct failure *f)
{
	mutex_assert_held(&s->lock);
	if (!f || (s->below && !failure_is_seen(s->below)))
		return;
	failure_put(s->below, &s->rt->log);
	s->below = failure_get(f);
}

/*
 * Both under the lock: a wait takes both or none. True: this is the first, of
 * those that nobody has seen.
 */
static bool keep_first(struct lkdf_scope *s, int error, struct failure *f,
		       bool is_kept)
{
	struct failure *old;
	bool is_first;

	pthread_mutex_lock(&s->lock);
	old = plain_load(&s->failure);
	is_first = !a_load(&s->first_err, relaxed) || failure_is_seen(old);
	if (f && f == old) {
		/* Two tasks may have failed for one reason. */
		is_first = true;
	} else if (is_first) {
		a_store(&s->first_err, error, relaxed);
		plain_store(&s->failure, failure_get(f));
		failure_put(old, &s->rt->log);
		if (f && find_unseen(s->later))
			a_add(&f->nr_more, 1, relaxed);
	} else if (is_kept) {
		keep_below(s, f);
	}
	pthread_mutex_unlock(&s->lock);
	return is_first;
}

void scope_fail(struct lkdf_scope *s, int error, struct failure *f)
{
	struct lkdf_scope *asked = s;
	bool is_kept = false;

	check(error < 0);
	while (asked->is_own)
		asked = asked->parent;
	for (; s; s = s->parent)
		if (keep_first(s, error, f, is_kept))
			is_kept |= !s->is_own; /* of which nobody can ask */
	if (f && !is_kept)
		keep_aside(asked, f);
}

void scope_count(struct lkdf_scope *s, const struct tally *t)
{
	for (; s; s = s->parent)
		tally_add(&s->tally, t);
}

void scope_fini_errors(struct lkdf_scope *s)
{
	struct failure *first = plain_load(&s->failure);

	/* The first has counted the others: the log has a line for all. */
	if (first && !failure_is_seen(first))
		observe_later(s->later);
	else if (s->later)
		count_later(s->later);
	failure_put(first, &s->rt->log);
	failure_put(s->told, &s->rt->log);
	failure_put(s->below, &s->rt->log);
	put_later(s);
}
