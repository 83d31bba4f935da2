/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A join that finds nothing below it leaves other tasks where they are: the
 * worker that has made one finds it in its own deque, and need not steal it
 * back.
 */
#include "tests/api/heard.h"

#include <unistd.h>

#define NAPS_NS 1000000 /* of the join, several times */
#define LOOKS 20000

struct story {
	struct lkdf_kind *child, *foreign;
	atomic_int has_begun, has_run;
	int made_by, run_by, steals;
};

static int nr_steals(struct lkdf *rt)
{
	return (int)(stat_of(rt, "lkdf.steals.near") +
		     stat_of(rt, "lkdf.steals.far"));
}

static void wait_for(atomic_int *word)
{
	int i;

	for (i = 0; i < LOOKS && !*word; i++)
		usleep(1000);
}

static int foreign(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;

	s->run_by = lkdf_worker(c);
	s->has_run = 1;
	return 0;
}

/* Until the join has looked for work some times. */
static int child(struct lkdf_ctx *c, void *arg)
{
	struct lkdf *rt = lkdf_runtime(c);
	struct story *s = arg;
	int i, rc;

	s->steals = nr_steals(rt);
	s->made_by = lkdf_worker(c);
	rc = lkdf_submit(rt, NULL, LKDF_TASK(.kind = s->foreign, .arg = s),
			 NULL);
	s->has_begun = 1;
	for (i = 0; i < LOOKS && stat_of(rt, "lkdf.join_idle_ns") < NAPS_NS;
	     i++)
		usleep(1000);
	return rc;
}

static int root(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;
	int rc = lkdf_spawn(c, s->child, s);

	wait_for(&s->has_begun);
	if (!rc)
		rc = lkdf_join(c);
	/* Else this worker would be idle, and may take it. */
	wait_for(&s->has_run);
	return rc;
}

int main(void)
{
	struct story s = { .run_by = -1, .made_by = -2 };
	struct lkdf_kind *k;
	struct lkdf *rt;

	tap_start(30);
	must(lkdf_open("workers=2", &rt));
	s.child = api_kind(rt, "child", child, 0, LKDF_SHARED);
	s.foreign = api_kind(rt, "foreign", foreign, 0, LKDF_SHARED);
	k = api_kind(rt, "root", root, 0, 0);
	is(api_call(rt, k, &s), 0, "a task joins a child on the other worker");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all is over");
	ok(stat_of(rt, "lkdf.join_idle_ns") >= NAPS_NS, "the join has napped");
	is(s.run_by, s.made_by, "another task runs where it was made");
	is(nr_steals(rt), s.steals, "and was never taken from there");
	lkdf_kind_put(k);
	lkdf_kind_put(s.child);
	lkdf_kind_put(s.foreign);
	is(lkdf_close(rt), 0, "closes");
	return tap_end();
}
