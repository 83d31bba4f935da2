/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Signals: events with LKDF_EVENT_PULSE that are signalled again and again.
 * Threads, tasks and bodies that wait, tests for presence, functions that stay,
 * the end with an error, and what is refused.
 */
#include "tests/api/api.h"

#include <poll.h>
#include <pthread.h>

static const char *const options[] = { "workers=1", "workers=2", "serial=yes" };

static struct lkdf_event make(struct lkdf *rt)
{
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, LKDF_EVENT_PULSE, &e));
	return e;
}

static uint64_t pulses(struct lkdf_event e)
{
	uint64_t nr = UINT64_MAX;

	must(lkdf_event_pulses(e, &nr));
	return nr;
}

static void emit(struct lkdf_event e)
{
	must(lkdf_event_signal(e, 0));
}

/* ---- presence ----------------------------------------------------------- */

static void signals_are_counted(struct lkdf *rt)
{
	struct lkdf_error error = { .size = sizeof(error) };
	struct lkdf_event e = make(rt);
	int i;

	is((int)pulses(e), 0, "a signal is absent at first");
	for (i = 0; i < 1000; i++)
		emit(e);
	is((int)pulses(e), 1000, "it is emitted again and again");
	is(lkdf_event_next(e, 999, 0), 0, "there were more than 999");
	is(lkdf_event_next(e, 1000, 0), 1, "and not more than 1000");
	is(lkdf_event_wait(e, 0), 1, "a wait is for one that comes");
	is(lkdf_event_error(e, &error), 1, "it has not fired");
	lkdf_event_put(e);
	is(lkdf_event_signal(e, 0), -ESTALE, "its last reference ends it");
	is(lkdf_event_pulses(e, &(uint64_t){ 0 }), -ESTALE, "for all calls");
}

static void an_error_ends_it(struct lkdf *rt)
{
	struct lkdf_error error = { .size = sizeof(error) };
	struct lkdf_event e = make(rt);

	emit(e);
	must(lkdf_event_signal(e, -EUCLEAN));
	is(lkdf_event_wait(e, -1), -EUCLEAN, "an error ends it for all");
	is(lkdf_event_wait(e, -1), -EUCLEAN, "also for who comes later");
	is(lkdf_event_next(e, 0, -1), -EUCLEAN, "whatever was seen");
	is(lkdf_event_signal(e, 0), -ESTALE, "it is signalled no more");
	is((int)pulses(e), 2, "the one that has ended it counts");
	must(lkdf_event_error(e, &error));
	is(error.err, -EUCLEAN, "and is its error");
	lkdf_event_put(e);
}

/* ---- threads ------------------------------------------------------------ */

#define ROUNDS 500

struct ball {
	struct lkdf_event there, back;
	atomic_int rounds;
};

/* Each waits for the other by number: a lost one would be for ever. */
static void *returns(void *arg)
{
	struct ball *b = arg;
	uint64_t seen;

	for (seen = 0; seen < ROUNDS; seen++) {
		must(lkdf_event_next(b->there, seen, -1));
		atomic_fetch_add(&b->rounds, 1);
		emit(b->back);
	}
	return NULL;
}

static void threads_wait_by_number(struct lkdf *rt)
{
	struct ball b = { make(rt), make(rt), 0 };
	pthread_t thread;
	uint64_t seen;

	must(-pthread_create(&thread, NULL, returns, &b));
	for (seen = 0; seen < ROUNDS; seen++) {
		emit(b.there);
		must(lkdf_event_next(b.back, seen, -1));
	}
	pthread_join(thread, NULL);
	is(b.rounds, ROUNDS, "no signal between two threads is lost");
	lkdf_event_put(b.there);
	lkdf_event_put(b.back);
}

struct waiting {
	struct lkdf_event e;
	atomic_int nr_out;
};

static void *waits(void *arg)
{
	struct waiting *w = arg;

	must(lkdf_event_wait(w->e, -1));
	atomic_fetch_add(&w->nr_out, 1);
	return NULL;
}

/* Nobody can know when a thread waits: it is signalled until all are out. */
static void one_signal_is_for_all(struct lkdf *rt)
{
	struct waiting w = { make(rt), 0 };
	pthread_t thread[4];
	int i;

	for (i = 0; i < 4; i++)
		must(-pthread_create(&thread[i], NULL, waits, &w));
	while (atomic_load(&w.nr_out) < 4)
		emit(w.e);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	is(w.nr_out, 4, "threads wait and keep their reference");
	emit(w.e);
	lkdf_event_put(w.e);
}

/* The state of a thread of ours: 'S' where it sleeps. */
static char state_of(pid_t tid)
{
	char path[64], text[256] = "";
	const char *after;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	after = strrchr(text, ')');
	return after ? after[2] : 0;
}

struct sleeper {
	struct waiting *w;
	atomic_int tid;
	pthread_t thread;
};

static void *sleeps(void *arg)
{
	struct sleeper *s = arg;

	atomic_store(&s->tid, (int)syscall(SYS_gettid));
	return waits(s->w);
}

/* One that was not woken sleeps for ever, or until the next. */
static void one_signal_wakes_all_that_sleep(struct lkdf *rt)
{
	struct waiting w = { make(rt), 0 };
	struct sleeper s[4] = { { &w, 0, 0 } };
	int i, naps;

	for (i = 0; i < 4; i++) {
		s[i].w = &w;
		must(-pthread_create(&s[i].thread, NULL, sleeps, &s[i]));
	}
	for (i = 0; i < 4; i++)
		while (!s[i].tid || state_of(s[i].tid) != 'S')
			api_nap_ns(100000);
	emit(w.e);
	for (naps = 0; naps < 2000 && atomic_load(&w.nr_out) < 4; naps++)
		api_nap_ns(10000000);
	is(w.nr_out, 4, "one signal wakes all four that sleep");
	while (atomic_load(&w.nr_out) < 4)
		emit(w.e);
	for (i = 0; i < 4; i++)
		pthread_join(s[i].thread, NULL);
	lkdf_event_put(w.e);
}

/* ---- tasks -------------------------------------------------------------- */

static void tasks_start_after_a_signal(struct lkdf *rt, const char *option)
{
	struct lkdf_kind *k = api_kind(rt, "activated", api_count, 0, 0);
	struct lkdf_event e = make(rt);
	atomic_int nr = 0;
	int round, i;

	emit(e);
	for (round = 1; round <= 3; round++) {
		for (i = 0; i < 8; i++)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = k, .arg = &nr,
					      .after = &e, .nr_after = 1),
					 NULL));
		is(lkdf_scope_wait(rt, NULL, 0), 1,
		   "tasks wait for the next signal, %s", option);
		emit(e);
		must(lkdf_scope_wait(rt, NULL, -1));
		is(nr, 8 * round, "which starts all of them, %s", option);
	}
	lkdf_event_put(e);
	lkdf_kind_put(k);
}

struct counter {
	struct lkdf_event tick, counted;
	uint64_t want, seen;
	int error;
};

static int ticked(struct lkdf_ctx *c, void *arg);

/* It leaves first, and looks then: no signal is lost. */
static int look(struct lkdf_ctx *c, struct counter *n)
{
	must(lkdf_then(c, ticked, n->tick));
	n->seen = pulses(n->tick);
	must(lkdf_event_signal(n->counted, 0));
	return 0;
}

static int ticked(struct lkdf_ctx *c, void *arg)
{
	struct counter *n = arg;

	n->error = lkdf_input_error(c, 0);
	return n->error || pulses(n->tick) >= n->want ? 0 : look(c, n);
}

static int counts(struct lkdf_ctx *c, void *arg)
{
	return look(c, arg);
}

static void bodies_leave_for_signals(struct lkdf *rt, const char *option)
{
	struct counter n = { make(rt), make(rt), 20, 0, 0 };
	struct lkdf_kind *k = api_kind(rt, "counts", counts, 0, 0);
	struct lkdf_event done;
	uint64_t i;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &n),
			 &done));
	for (i = 0; i < n.want; i++) {
		must(lkdf_event_next(n.counted, i, -1));
		emit(n.tick);
	}
	is(lkdf_event_wait(done, -1), 0,
	   "a body leaves for one signal after the other, %s", option);
	is((int)n.seen, (int)n.want - 1, "and sees how many there were, %s",
	   option);
	lkdf_event_put(n.tick);
	lkdf_event_put(n.counted);
	lkdf_kind_put(k);
}

static void cancels_let_bodies_go(struct lkdf *rt, const char *option)
{
	struct counter n = { make(rt), make(rt), 20, 0, 0 };
	struct lkdf_kind *k = api_kind(rt, "counts", counts, 0, 0);
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &n), NULL));
	must(lkdf_event_next(n.counted, 0, -1));
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "a cancel lets it go, %s",
	   option);
	is(n.error, -EINTR, "with its error, %s", option);
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &n), NULL));
	must(lkdf_event_next(n.counted, 1, -1));
	must(lkdf_event_signal(n.tick, -EPIPE));
	must(lkdf_scope_wait(rt, s, -1));
	is(n.error, -EPIPE, "the end of the signal does, %s", option);
	lkdf_event_put(n.tick);
	lkdf_event_put(n.counted);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

/* ---- the first of several, descriptors ---------------------------------- */

static void others_wait_once(struct lkdf *rt)
{
	struct lkdf_event v[] = { make(rt), make(rt) }, any;
	struct pollfd p = { .events = POLLIN };
	unsigned which = 9, round;

	for (round = 0; round < 3; round++) {
		must(lkdf_event_any(rt, v, 2, &any));
		is(lkdf_event_wait(any, 0), 1, "the first of two signals");
		emit(v[round % 2]);
		emit(v[1]);
		must(lkdf_event_which(any, -1, &which));
		is((int)which, (int)round % 2, "is the one that came");
		lkdf_event_put(any);
	}
	p.fd = must(lkdf_event_fd(v[0]));
	is(poll(&p, 1, 0), 0, "a descriptor waits");
	emit(v[0]);
	is(poll(&p, 1, -1), 1, "for one signal");
	close(p.fd);
	lkdf_event_put(v[0]);
	lkdf_event_put(v[1]);
}

/* ---- functions that stay ------------------------------------------------ */

struct activation {
	struct lkdf *rt;
	struct lkdf_kind *k;
	struct lkdf_event e;
	atomic_int nr, ran, last, inside, overlaps;
	int deeper;
};

static void activate(void *u, int err)
{
	struct activation *a = u;

	if (atomic_fetch_add(&a->inside, 1))
		atomic_fetch_add(&a->overlaps, 1);
	atomic_fetch_add(&a->nr, 1);
	atomic_store(&a->last, err);
	if (a->deeper && a->deeper--)
		emit(a->e);
	if (a->k)
		must(lkdf_submit(a->rt, NULL,
				 ATTR(lkdf_task, .kind = a->k, .arg = &a->ran),
				 NULL));
	atomic_fetch_sub(&a->inside, 1);
}

static void functions_stay(struct lkdf *rt)
{
	struct activation a = { .rt = rt }, b = { .rt = rt };
	struct lkdf_event e = make(rt);
	int i;

	a.k = api_kind(rt, "activated", api_count, 0, 0);
	a.e = b.e = e;
	emit(e);
	must(lkdf_event_call(e, activate, &a));
	must(lkdf_event_call(e, activate, &b));
	is(a.nr, 0, "a function waits for the next signal");
	for (i = 0; i < 10; i++)
		emit(e);
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(a.nr == 10 && b.nr == 10, "and is called once for each");
	is(a.ran, 10, "it submits a task each time");
	b.deeper = 1000;
	emit(e);
	is(b.nr, 1011, "it may signal itself");
	must(lkdf_event_signal(e, -EPIPE));
	ok(b.nr == 1012 && b.last == -EPIPE, "the last call has the error");
	must(lkdf_scope_wait(rt, NULL, -1));
	must(lkdf_event_call(e, activate, &b));
	is(b.nr, 1013, "who comes later is called at once");
	lkdf_event_put(e);
	lkdf_kind_put(a.k);
}

static void *emits(void *arg)
{
	struct activation *a = arg;
	int i;

	for (i = 0; i < ROUNDS; i++)
		emit(a->e);
	return NULL;
}

static void calls_are_as_many_as_signals(struct lkdf *rt)
{
	struct activation a = { .rt = rt, .e = make(rt) };
	pthread_t thread[3];
	int i;

	must(lkdf_event_call(a.e, activate, &a));
	for (i = 0; i < 3; i++)
		must(-pthread_create(&thread[i], NULL, emits, &a));
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	is(a.nr, 3 * ROUNDS, "three threads signal, and none is lost");
	is(a.overlaps, 0, "calls of one function do not overlap");
	must(lkdf_event_signal(a.e, -ECANCELED));
	lkdf_event_put(a.e);
}

/* Nobody ends it: the runtime gives it back when it closes. */
static void closing_ends_it(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct activation a = { .rt = rt, .e = make(rt) };

	must(lkdf_event_call(a.e, activate, &a));
	emit(a.e);
	is(lkdf_close(rt), 0, "a runtime closes with its signals");
	is(a.nr, 1, "and calls nobody");
}

/* ---- refusals ----------------------------------------------------------- */

static int asks(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event *e = arg;

	(void)c;
	if (lkdf_event_next(*e, 9, -1) != -EDEADLK ||
	    lkdf_event_wait(*e, -1) != -EDEADLK)
		return -EPROTO;
	return lkdf_event_next(*e, 9, 0) == 1 ? 0 : -EPROTO;
}

static void bad_calls_are_refused(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "asks", asks, 0, 0);
	struct lkdf_event e = make(rt), plain, other;
	uint64_t nr;

	is(lkdf_event_create(rt, 2, LKDF_EVENT_PULSE, &other), -EINVAL,
	   "a count of 2 is refused");
	has(lkdf_errmsg(), "PULSE", "by name");
	is(lkdf_event_pulses(e, NULL), -EINVAL, "no room for the number");
	is(lkdf_event_pulses((struct lkdf_event){ 0 }, &nr), -EINVAL, "none");
	must(lkdf_event_create(rt, 1, 0, &plain));
	is(lkdf_event_pulses(plain, &nr), -EINVAL, "an event without PULSE");
	has(lkdf_errmsg(), "PULSE", "by name");
	is(lkdf_event_next(plain, 0, 0), -EINVAL, "also for next");
	is(lkdf_event_next(e, 0, -2), -EINVAL, "a time below -1");
	is(lkdf_event_signal(e, 5), -EINVAL, "an error above 0");
	is(api_call(rt, k, &e), 0, "a body may look, and must not wait");
	must(lkdf_event_signal(plain, 0));
	lkdf_event_put(plain);
	lkdf_event_put(e);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(60);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		rt = api_open(options[i]);
		tasks_start_after_a_signal(rt, options[i]);
		bodies_leave_for_signals(rt, options[i]);
		cancels_let_bodies_go(rt, options[i]);
		is(lkdf_close(rt), 0, "nothing is left, %s", options[i]);
	}
	rt = api_open_workers(2);
	signals_are_counted(rt);
	an_error_ends_it(rt);
	threads_wait_by_number(rt);
	one_signal_is_for_all(rt);
	one_signal_wakes_all_that_sleep(rt);
	others_wait_once(rt);
	functions_stay(rt);
	calls_are_as_many_as_signals(rt);
	bad_calls_are_refused(rt);
	is(lkdf_close(rt), 0, "nothing is left");
	closing_ends_it();
	return tap_end();
}
