/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of deadlines, limits and events before tasks share: a body that
 * keeps the only worker busy, and one that blocks until it is kicked.
 */
#ifndef TESTS_API_LATE_H
#define TESTS_API_LATE_H

#include "tests/api/api.h"

#define MS 1000000ll
#define HOUR (3600 * SECOND)

struct late {
	struct lkdf *rt;
	struct lkdf_kind *gate, *count;
	struct gate at;
	atomic_int ran; /* by count */
};

__attribute__((unused)) static void late_init(struct late *l, struct lkdf *rt)
{
	memset(l, 0, sizeof(*l));
	l->rt = rt;
	l->gate = api_kind(rt, "gate", pass_gate, 0, 0);
	l->count = api_kind(rt, "count", api_count, 0, 0);
}

__attribute__((unused)) static void late_fini(struct late *l)
{
	lkdf_kind_put(l->gate);
	lkdf_kind_put(l->count);
}

/* A worker is busy from here until late_unblock(). */
__attribute__((unused)) static void late_block_in(struct late *l,
						  struct lkdf_scope *s)
{
	atomic_store(&l->at.entered, 0);
	atomic_store(&l->at.open, 0);
	must(lkdf_submit(l->rt, s,
			 ATTR(lkdf_task, .kind = l->gate, .arg = &l->at),
			 NULL));
	api_until(&l->at.entered);
}

__attribute__((unused)) static void late_block(struct late *l)
{
	late_block_in(l, NULL);
}

__attribute__((unused)) static void late_unblock(struct late *l)
{
	atomic_store(&l->at.open, 1);
}

/*
 * Submits it with a deadline that is long enough for it to start, which the
 * body says; its error when it has ended. Nothing else is in the scope.
 */
__attribute__((unused)) static int late_start(struct lkdf *rt,
					      struct lkdf_scope *s,
					      struct lkdf_task *t,
					      atomic_int *entered)
{
	struct lkdf_event done;
	int rc;

	atomic_store(entered, 0);
	for (t->deadline_ns = 2 * MS;; t->deadline_ns *= 2) {
		must(lkdf_submit(rt, s, t, &done));
		rc = lkdf_event_wait(done, -1);
		if (atomic_load(entered))
			return rc;
		/* It was late before it began: that is of no interest. */
		lkdf_scope_wait(rt, s, -1);
	}
}

/* Sleeps in its body until somebody kicks it. */
struct sleeper {
	atomic_int entered, kicks;
};

__attribute__((unused)) static int sleeper_body(struct lkdf_ctx *c, void *arg)
{
	struct sleeper *s = arg;

	(void)c;
	atomic_store(&s->entered, 1);
	api_until(&s->kicks);
	return 0;
}

__attribute__((unused)) static void sleeper_kick(void *arg)
{
	struct sleeper *s = arg;

	atomic_fetch_add(&s->kicks, 1);
}

__attribute__((unused)) static struct lkdf_kind *sleeper_kind(struct lkdf *rt)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "sleeper",
				   .fn = sleeper_body, .flags = LKDF_BLOCKING,
				   .on_cancel = sleeper_kick),
			      &k));
	return k;
}

#endif
