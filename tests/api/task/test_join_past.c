/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A join that finds nothing below it leaves other tasks where they are: the
 * worker that has made one finds it in its own deque, and need not steal it
 * back. What lies behind more of them than it looks past is found all the same.
 */
#include "tests/api/heard.h"

#include <unistd.h>

#define NAPS_NS 1000000 /* of the join, several times */
#define LOOKS 20000
#define MANY 200 /* more than a join looks past */

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

/* ---- behind many -------------------------------------------------------- */

struct crowd {
	struct lkdf_kind *child, *foreign, *last;
	atomic_int has_begun, has_run, nr;
	int ran_below; /* while its maker waited for it */
};

static int one_of_many(struct lkdf_ctx *c, void *arg)
{
	struct crowd *m = arg;

	(void)c;
	m->nr++;
	return 0;
}

static int last(struct lkdf_ctx *c, void *arg)
{
	struct crowd *m = arg;

	(void)c;
	m->has_run = 1;
	return 0;
}

/* Nobody but the worker in the join has time for the last one. */
static int make_many(struct lkdf_ctx *c, void *arg)
{
	struct lkdf *rt = lkdf_runtime(c);
	struct crowd *m = arg;
	int i, rc = 0;

	m->has_begun = 1;
	for (i = 0; i < MANY && !rc; i++)
		rc = lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = m->foreign, .arg = m), NULL);
	if (!rc)
		rc = lkdf_spawn(c, m->last, m);
	wait_for(&m->has_run);
	m->ran_below = m->has_run;
	return rc;
}

static int root_of_many(struct lkdf_ctx *c, void *arg)
{
	struct crowd *m = arg;
	int rc = lkdf_spawn(c, m->child, m);

	wait_for(&m->has_begun);
	return rc ? rc : lkdf_join(c);
}

static void it_finds_what_lies_behind_many(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "root", root_of_many, 0, 0);
	struct crowd m = { .nr = 0 };

	m.child = api_kind(rt, "child", make_many, 0, LKDF_SHARED);
	m.foreign = api_kind(rt, "foreign", one_of_many, 0, LKDF_SHARED);
	m.last = api_kind(rt, "last", last, 0, LKDF_SHARED);
	is(api_call(rt, k, &m), 0, "a child waits for one below it");
	is(m.ran_below, 1, "which lies behind many and has run meanwhile");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all is over");
	is(m.nr, MANY, "the many have run, too");
	lkdf_kind_put(k);
	lkdf_kind_put(m.child);
	lkdf_kind_put(m.foreign);
	lkdf_kind_put(m.last);
}

int main(void)
{
	struct story s = { .run_by = -1, .made_by = -2 };
	struct lkdf_kind *k;
	struct lkdf *rt;

	tap_start(60);
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
	it_finds_what_lies_behind_many(rt);
	is(lkdf_close(rt), 0, "closes");
	return tap_end();
}
