/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An event that fires with the last of several: its error, what it lets go of,
 * bodies that go on when several tasks are over, threads that fire at once.
 */
#include "tests/api/api.h"

#include <pthread.h>

#define NR 4
#define NR_THREADS 4
#define NR_ROUNDS 2000

static struct lkdf_event make(struct lkdf *rt)
{
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	return e;
}

static struct lkdf_event all_of(struct lkdf *rt, const struct lkdf_event *v,
				unsigned nr)
{
	struct lkdf_event e;

	must(lkdf_event_all(rt, v, nr, &e));
	return e;
}

static void put_all(const struct lkdf_event *v)
{
	int i;

	for (i = 0; i < NR; i++)
		lkdf_event_put(v[i]);
}

static void the_last_fires_it(struct lkdf *rt)
{
	struct lkdf_event v[NR], all;
	int i;

	for (i = 0; i < NR; i++)
		v[i] = make(rt);
	must(lkdf_event_signal(v[2], 0));
	all = all_of(rt, v, NR);
	is(lkdf_event_signal(all, 0), -EPERM, "nobody else may fire it");
	must(lkdf_event_signal(v[0], 0));
	must(lkdf_event_signal(v[3], 0));
	is(lkdf_event_wait(all, 0), 1, "three of four do not");
	must(lkdf_event_signal(v[1], 0));
	is(lkdf_event_wait(all, -1), 0, "the last one does");
	put_all(v);
	for (i = 0; i < NR; i++) {
		v[i] = make(rt);
		must(lkdf_event_signal(v[i], 0));
	}
	is(lkdf_event_wait(all_of(rt, v, NR), -1), 0,
	   "if all have fired it has, too");
	put_all(v);
}

static int fail_with(struct lkdf_ctx *c, void *arg)
{
	int error = *(int *)arg;

	return error ? lkdf_fail(c, error, "a text of %d", -error) : 0;
}

static void the_first_error_stays(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "fails", fail_with, sizeof(int), 0);
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event v[3], all;

	v[0] = make(rt);
	v[1] = make(rt);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &(int){ -EIO }),
			 &v[2]));
	while (lkdf_event_error(v[2], &e) == 1)
		api_nap_ns(100000);
	lkdf_scope_wait(rt, NULL, -1);
	all = all_of(rt, v, 3);
	must(lkdf_event_signal(v[1], -EPIPE));
	is(lkdf_event_error(all, &e), 1, "an error does not fire it");
	must(lkdf_event_signal(v[0], 0));
	must(lkdf_event_error(all, &e));
	is(e.err, -EIO, "the first error");
	has(e.why, "a text of 5", "and its story");
	is(lkdf_event_wait(all, -1), -EIO, "which a wait gives");
	lkdf_event_put(v[0]);
	lkdf_event_put(v[1]);
	is(lkdf_event_wait(v[2], -1), -EIO, "each keeps its own");
	lkdf_kind_put(k);
}

static void it_is_refused(struct lkdf *rt)
{
	struct lkdf *other = api_open("workers=1");
	struct lkdf_event v[LKDF_MAX_AFTER + 1] = { make(rt) }, all;

	is(lkdf_event_all(rt, v, 0, &all), -EINVAL, "all of none");
	is(lkdf_event_all(rt, v, 2, &all), -EINVAL, "one that is { 0 }");
	has(lkdf_errmsg(), "event: all: 1 is { 0 }", "by its number");
	is(lkdf_event_all(rt, v, LKDF_MAX_AFTER + 1, &all), -E2BIG, "too many");
	is(lkdf_event_all(other, v, 1, &all), -EINVAL, "of another runtime");
	must(lkdf_event_signal(v[0], 0));
	lkdf_event_put(v[0]);
	is(lkdf_event_all(rt, v, 1, &all), -ESTALE, "one that is gone");
	is(lkdf_close(other), 0, "the other runtime closes");
}

/* Slots are few: whoever lets go of events gives them back. */
static void it_lets_go(struct lkdf *rt)
{
	struct lkdf_event v[NR], all;
	int i, rc = 0;

	for (i = 0; i < NR; i++)
		v[i] = make(rt);
	for (i = 0; i < 3000 && !rc; i++) {
		rc = lkdf_event_all(rt, v, NR, &all);
		if (!rc)
			lkdf_event_put(all);
	}
	is(rc, 0, "3000 that nobody waits for leave nothing behind");
	for (i = 0; i < NR; i++)
		must(lkdf_event_signal(v[i], 0));
	put_all(v);
}

/* ---- bodies -------------------------------------------------------------- */

struct parent {
	struct lkdf_kind *kind;
	struct lkdf_event *v; /* or children of its own */
	atomic_int nr_ended, has_left;
	int seen, error;
};

static int child(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

static int gone_on(struct lkdf_ctx *c, void *arg)
{
	struct parent *p = *(struct parent **)arg;

	p->seen = atomic_load(&p->nr_ended);
	p->error = lkdf_input_error(c, 0);
	return 0;
}

static int leave_for_all(struct lkdf_ctx *c, void *arg)
{
	struct parent *p = *(struct parent **)arg;
	struct lkdf_event done[NR];
	atomic_int *nr = &p->nr_ended;
	int i, rc;

	for (i = 0; i < NR && !p->v; i++)
		must(lkdf_spawn_task(
			c, ATTR(lkdf_task, .kind = p->kind, .arg = &nr),
			&done[i]));
	rc = lkdf_then_all(c, gone_on, p->v ? p->v : done, NR);
	atomic_store(&p->has_left, 1);
	return rc;
}

static struct lkdf_event start(struct lkdf *rt, struct lkdf_scope *s,
			       struct parent *p)
{
	struct lkdf_kind *k = api_kind(rt, "parent", leave_for_all,
				       sizeof(struct parent *), 0);
	struct lkdf_event done;

	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &p), &done));
	lkdf_kind_put(k);
	return done;
}

static void a_body_goes_on_after_all(struct lkdf *rt)
{
	struct parent p = { .seen = -1 };

	p.kind = api_kind(rt, "child", child, sizeof(atomic_int *), 0);
	is(lkdf_event_wait(start(rt, NULL, &p), -1), 0, "a body leaves");
	is(p.seen, NR, "and goes on when all its children are over");
	is(p.error, 0, "which had no error");
	lkdf_kind_put(p.kind);
}

/* ---- several children fail ----------------------------------------------- */

/* The first child fails first, and its event fires last. */
struct late {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_event done[2];
	atomic_int may_fail[2], is_over;
	int error;
	bool is_nested;
};

struct failing {
	struct late *late;
	int num;
};

static int fail_when_told(struct lkdf_ctx *c, void *arg)
{
	const struct failing *f = arg;

	api_until(&f->late->may_fail[f->num]);
	return lkdf_fail(c, -EPROTO - f->num, "as wanted");
}

/* On the thread that ends child 0, before those who wait for all are told. */
static void end_the_other(void *u, int error)
{
	struct late *l = u;

	(void)error;
	atomic_store(&l->may_fail[1], 1);
	api_until(&l->is_over);
}

static void note_over(void *u, int error)
{
	(void)error;
	atomic_store(&((struct late *)u)->is_over, 1);
}

static int look_at_error(struct lkdf_ctx *c, void *arg)
{
	(*(struct late **)arg)->error = lkdf_input_error(c, 0);
	return 0;
}

/* Functions and whoever else waits for an event are called last in, first out.
 */
static int fail_twice(struct lkdf_ctx *c, void *arg)
{
	struct late *l = *(struct late **)arg;
	struct lkdf_event all;
	struct failing f = { .late = l };
	int rc;

	for (f.num = 0; f.num < 2; f.num++)
		must(lkdf_spawn_task(
			c, ATTR(lkdf_task, .kind = l->kind, .arg = &f),
			&l->done[f.num]));
	must(lkdf_event_call(l->done[1], note_over, l));
	if (l->is_nested) {
		must(lkdf_event_all(l->rt, l->done, 2, &all));
		lkdf_event_put(l->done[0]);
		lkdf_event_put(l->done[1]);
		rc = lkdf_then_all(c, look_at_error, &all, 1);
	} else {
		rc = lkdf_then_all(c, look_at_error, l->done, 2);
	}
	must(lkdf_event_call(l->done[0], end_the_other, l));
	atomic_store(&l->may_fail[0], 1);
	return rc;
}

static void all_errors_are_seen(bool is_nested)
{
	struct lkdf *rt = api_open("workers=4");
	struct late l = { .rt = rt, .is_nested = is_nested }, *at = &l;
	struct lkdf_kind *k =
		api_kind(rt, "parent", fail_twice, sizeof(struct late *), 0);
	struct lkdf_event done;

	l.kind = api_kind(rt, "child", fail_when_told, sizeof(struct failing),
			  0);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &at),
			 &done));
	is(lkdf_event_wait(done, -1), 0,
	   "a body that is told of all its children%s ends well",
	   is_nested ? ", by one in the other," : "");
	is(l.error, -EPROTO - 1, "it had the error that was told first");
	lkdf_kind_put(l.kind);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void a_cancel_ends_the_wait(struct lkdf *rt)
{
	struct lkdf_event v[NR], done;
	struct parent p = { .v = v };
	struct lkdf_scope *s;
	int i;

	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < NR; i++)
		v[i] = make(rt);
	done = start(rt, s, &p);
	api_until(&p.has_left);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	lkdf_event_wait(done, -1);
	is(p.error, -EINTR, "for events of the program");
	/* The references that were taken over are gone, the signals' not. */
	for (i = 0; i < NR; i++)
		must(lkdf_event_signal(v[i], 0));
	lkdf_scope_put(s);
}

/* ---- threads ------------------------------------------------------------- */

static struct lkdf_event raced[NR_THREADS];
static pthread_barrier_t barrier;

static void *fire_each_round(void *arg)
{
	struct lkdf_event *e = arg;
	int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		must(lkdf_event_signal(*e, 0));
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* Every third round nobody waits: the event is let go of while they fire. */
static void threads_fire_at_once(struct lkdf *rt)
{
	pthread_t t[NR_THREADS];
	int i, j, nr_bad = 0;
	struct lkdf_event all;

	pthread_barrier_init(&barrier, NULL, NR_THREADS + 1);
	for (i = 0; i < NR_THREADS; i++)
		must(-pthread_create(&t[i], NULL, fire_each_round, &raced[i]));
	for (i = 0; i < NR_ROUNDS; i++) {
		for (j = 0; j < NR_THREADS; j++)
			raced[j] = make(rt);
		all = all_of(rt, raced, NR_THREADS);
		pthread_barrier_wait(&barrier);
		if (i % 3)
			nr_bad += lkdf_event_wait(all, -1) != 0;
		else
			lkdf_event_put(all);
		pthread_barrier_wait(&barrier);
		for (j = 0; j < NR_THREADS; j++)
			lkdf_event_put(raced[j]);
	}
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(t[i], NULL);
	is(nr_bad, 0, "%d rounds of %d threads", NR_ROUNDS, NR_THREADS);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	static const char *const options[] = { "workers=2", "serial=yes" };
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		the_last_fires_it(rt);
		the_first_error_stays(rt);
		it_is_refused(rt);
		it_lets_go(rt);
		a_body_goes_on_after_all(rt);
		if (!i)
			a_cancel_ends_the_wait(rt);
		if (!i)
			threads_fire_at_once(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	all_errors_are_seen(false);
	all_errors_are_seen(true);
	return tap_end();
}
