/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions that look for completions: who calls them while workers sleep, spin
 * or are busy, one at a time, and until when.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <sched.h>

#define NR_CALLS 20

struct look {
	struct lkdf *rt;
	struct lkdf_event e;
	atomic_int nr, nr_inside, nr_most, is_over, nr_late;
	int at; /* signals at this call; 0: never */
	int rc; /* then, of the function */
};

static int look(void *u)
{
	struct look *l = u;
	int inside = atomic_fetch_add(&l->nr_inside, 1) + 1;
	int nr = atomic_fetch_add(&l->nr, 1) + 1, rc = 0;

	if (inside > atomic_load(&l->nr_most))
		atomic_store(&l->nr_most, inside);
	if (atomic_load(&l->is_over))
		atomic_fetch_add(&l->nr_late, 1);
	if (l->at && nr == l->at) {
		must(lkdf_event_signal(l->e, 0));
		rc = l->rc;
	}
	atomic_fetch_sub(&l->nr_inside, 1);
	return rc;
}

static struct lkdf_event make_event(struct lkdf *rt)
{
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	return e;
}

static void wait_for_calls(const struct look *l, int nr)
{
	while (atomic_load(&l->nr) < nr)
		sched_yield();
}

static void it_fires_what_a_thread_waits_for(struct lkdf *rt, const char *how)
{
	struct look l = { .rt = rt, .at = NR_CALLS, .rc = 1 };

	l.e = make_event(rt);
	is(lkdf_poll_add(rt, look, &l), 0, "%s: a function is added", how);
	is(lkdf_event_wait(l.e, -1), 0, "it fires what a thread waits for");
	is(lkdf_poll_remove(rt, look, &l), 0, "it is removed");
	ok(l.nr >= NR_CALLS, "it was called until then");
	is(lkdf_poll_remove(rt, look, &l), -ENOENT, "once");
}

static int note_run(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

/* A task after the event, and a function that goes by itself. */
static void it_starts_tasks_and_leaves(struct lkdf *rt, const char *how)
{
	struct look l = { .rt = rt, .at = 3, .rc = -1 };
	struct lkdf_kind *k = api_kind(rt, "note", note_run, sizeof(void *), 0);
	atomic_int nr = 0, *at = &nr;
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .arg = &at };
	struct lkdf_event done;

	l.e = make_event(rt);
	t.nr_after = 1;
	t.after = &l.e;
	must(lkdf_submit(rt, NULL, &t, &done));
	must(lkdf_poll_add(rt, look, &l));
	is(lkdf_event_wait(done, -1), 0, "%s: a task after its event runs",
	   how);
	is(nr, 1, "once");
	while (lkdf_poll_remove(rt, look, &l) != -ENOENT)
		sched_yield();
	is(l.nr, 3, "a negative value was its last one");
	lkdf_event_put(l.e);
	lkdf_kind_put(k);
}

struct busy {
	struct look *look;
	struct lkdf_kind *kind;
};

/* It has a successor until the function was called so often. */
static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct busy *b = arg;

	usleep(100);
	return atomic_load(&b->look->nr) < NR_CALLS ? lkdf_spawn(c, b->kind, b)
						    : 0;
}

/* No worker is idle: between two bodies there is time. */
static void busy_workers_call_it(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k =
		api_kind(rt, "busy", go_on, sizeof(struct busy), 0);
	struct look l = { .rt = rt };
	struct busy b = { &l, k };

	must(lkdf_poll_add(rt, look, &l));
	is(api_call(rt, k, &b), 0, "a busy worker calls it between bodies");
	ok(l.nr >= NR_CALLS, "as often as a chain of bodies waits for");
	must(lkdf_poll_remove(rt, look, &l));
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* It finds something each time, and where a task is to run makes one. */
struct rich {
	struct lkdf *rt;
	struct lkdf_kind *kind; /* of note_run(); NULL: no task */
	atomic_int nr_run;
	int nr, nr_made, made_at, most_later;
};

static int find_always(void *u)
{
	struct rich *r = u;
	atomic_int *at = &r->nr_run;
	struct lkdf_task t = { .size = sizeof(t), .kind = r->kind, .arg = &at };

	r->nr++;
	if (!r->kind)
		return 1;
	if (r->nr_made != atomic_load(&r->nr_run)) {
		if (r->nr - r->made_at > r->most_later)
			r->most_later = r->nr - r->made_at;
	} else if (r->nr_made < NR_CALLS) {
		must(lkdf_submit(r->rt, NULL, &t, NULL));
		r->nr_made++;
		r->made_at = r->nr;
	}
	return 1;
}

/* A worker stays with a function that finds something, but not for ever. */
static void tasks_run_beside_what_it_finds(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "note", note_run, sizeof(void *), 0);
	struct rich none = { .rt = rt }, all = { .rt = rt, .kind = k };
	atomic_int nr = 0, *at = &nr;
	int i;

	must(lkdf_poll_add(rt, find_always, &none));
	for (i = 0; i < NR_CALLS; i++)
		must(api_call(rt, k, &at));
	must(lkdf_poll_remove(rt, find_always, &none));
	is(nr, NR_CALLS,
	   "tasks of another thread run beside a function that "
	   "always finds something");
	must(lkdf_poll_add(rt, find_always, &all));
	while (atomic_load(&all.nr_run) < NR_CALLS)
		sched_yield();
	must(lkdf_poll_remove(rt, find_always, &all));
	ok(all.most_later <= 2, "a task that it has made goes before its next "
				"calls");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void one_at_a_time(void)
{
	struct lkdf *rt = api_open("workers=4");
	struct look l = { .rt = rt };
	int i;

	for (i = 0; i < 3; i++)
		must(lkdf_poll_add(rt, look, &l));
	wait_for_calls(&l, 50 * NR_CALLS);
	is(lkdf_poll_remove(rt, look, &l), 0, "three entries go at once");
	is(lkdf_poll_remove(rt, look, &l), -ENOENT, "and none is left");
	is(l.nr_most, 1, "functions are called one at a time");
	must(lkdf_close(rt));
}

/* After the removal nothing of it may be touched. */
static void removed_is_not_called(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct look *l = malloc(sizeof(*l)), other = { .rt = rt };
	int i;

	must(lkdf_poll_add(rt, look, &other));
	for (i = 0; i < 20; i++) {
		*l = (struct look){ .rt = rt };
		must(lkdf_poll_add(rt, look, l));
		wait_for_calls(l, 1 + i % 3);
		must(lkdf_poll_remove(rt, look, l));
		atomic_store(&l->is_over, 1);
		wait_for_calls(&other, atomic_load(&other.nr) + 2);
		other.nr_late += l->nr_late + l->nr_inside;
	}
	free(l);
	is(other.nr_late, 0, "no function is called after its removal");
	must(lkdf_poll_remove(rt, look, &other));
	must(lkdf_close(rt));
}

/* ---- what a function may do --------------------------------------------- */

struct chain {
	struct lkdf *rt;
	struct lkdf_event e;
	int left;
};

/* Adds itself anew and goes, until it fires. */
static int add_next(void *u)
{
	struct chain *c = u;

	if (!--c->left)
		must(lkdf_event_signal(c->e, 0));
	else
		must(lkdf_poll_add(c->rt, add_next, c));
	/* With the last one, whoever waits for the event removes what is left.
	 */
	if (c->left & 1 || !c->left)
		return -1;
	/* Its own entry is one of them. */
	must(lkdf_poll_remove(c->rt, add_next, c));
	if (c->left)
		must(lkdf_poll_add(c->rt, add_next, c));
	return 0;
}

static void it_may_add_and_remove(struct lkdf *rt, const char *how)
{
	struct chain c = { .rt = rt, .left = 9 };

	c.e = make_event(rt);
	must(lkdf_poll_add(rt, add_next, &c));
	is(lkdf_event_wait(c.e, -1), 0,
	   "%s: a function adds and removes itself", how);
	while (lkdf_poll_remove(rt, add_next, &c) != -ENOENT)
		sched_yield();
	is(c.left, 0, "each entry was called");
}

static void misuse_is_refused(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct look l = { .rt = rt };

	is(lkdf_poll_add(NULL, look, &l), -EINVAL, "no runtime");
	is(lkdf_poll_add(rt, NULL, &l), -EINVAL, "no function");
	is(lkdf_poll_remove(rt, NULL, &l), -EINVAL, "nor one to remove");
	must(lkdf_poll_add(rt, look, &l));
	wait_for_calls(&l, 1);
	is(lkdf_close(rt), 0, "close takes what is left");
	is(l.nr_inside, 0, "and nobody is in it then");
}

int main(void)
{
	struct lkdf *rt;
	size_t i;
	int k;

	tap_start(120);
	for (i = 0; i < sizeof(api_options) / sizeof(*api_options); i++) {
		rt = api_open(api_options[i]);
		it_fires_what_a_thread_waits_for(rt, api_options[i]);
		for (k = 0; k < NR_CALLS; k++)
			it_starts_tasks_and_leaves(rt, api_options[i]);
		it_may_add_and_remove(rt, api_options[i]);
		must(lkdf_close(rt));
	}
	busy_workers_call_it();
	tasks_run_beside_what_it_finds();
	one_at_a_time();
	removed_is_not_called();
	misuse_is_refused();
	return tap_end();
}
