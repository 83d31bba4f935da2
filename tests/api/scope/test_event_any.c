/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An event that fires with the first of several: which one, its error, what
 * stays behind, and many threads that fire and let go at the same time.
 */
#include "tests/api/api.h"

#include <pthread.h>

#define NR 4
#define DEPTH 64

static struct lkdf_event make(struct lkdf *rt)
{
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	return e;
}

static struct lkdf_event any_of(struct lkdf *rt, const struct lkdf_event *v,
				unsigned nr)
{
	struct lkdf_event e;

	must(lkdf_event_any(rt, v, nr, &e));
	return e;
}

static void make_all(struct lkdf *rt, struct lkdf_event *v)
{
	int i;

	for (i = 0; i < NR; i++)
		v[i] = make(rt);
}

/* Those that have not fired do so. */
static void end_all(const struct lkdf_event *v)
{
	int i;

	for (i = 0; i < NR; i++) {
		lkdf_event_signal(v[i], 0);
		lkdf_event_put(v[i]);
	}
}

static void the_first_fires_it(struct lkdf *rt)
{
	struct lkdf_event v[NR], any;
	unsigned which = 99;

	make_all(rt, v);
	any = any_of(rt, v, NR);
	is(lkdf_event_which(any, 0, &which), 1, "none has fired yet");
	is(lkdf_event_wait(any, 1000000), 1, "a wait ends in time");
	ok(which == 99, "which is not touched");
	is(lkdf_event_signal(any, 0), -EPERM, "nobody else may fire it");
	must(lkdf_event_signal(v[2], 0));
	is(lkdf_event_which(any, -1, &which), 0, "one has");
	is(which, 2, "it is told which");
	must(lkdf_event_signal(v[0], -EIO));
	is(lkdf_event_which(any, 0, &which), 0, "asked again");
	is(which, 2, "it is the same");
	is(lkdf_event_wait(any, -1), 0, "it ends well as that one did");
	is(lkdf_event_which(any, 0, &which), -ESTALE, "then it is gone");
	is(lkdf_event_wait(v[1], 0), 1, "the others go on");
	end_all(v);
}

static void what_has_fired_counts(struct lkdf *rt)
{
	struct lkdf_event v[NR], any;
	unsigned which;

	make_all(rt, v);
	must(lkdf_event_signal(v[3], 0));
	must(lkdf_event_signal(v[1], -EXDEV));
	any = any_of(rt, v, NR);
	is(lkdf_event_which(any, 0, &which), 0, "it fires at once");
	is(which, 1, "with the first in order");
	is(lkdf_event_wait(any, 0), -EXDEV, "and its error");
	v[0] = (lkdf_event_put(v[0]), make(rt));
	any = any_of(rt, (struct lkdf_event[]){ v[0], v[0] }, 2);
	must(lkdf_event_signal(v[0], 0));
	is(lkdf_event_wait(any, -1), 0, "one event may be there twice");
	end_all(v);
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -ENOANO, "there is none");
}

static void the_story_is_told(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_kind *k = api_kind(rt, "fails", fail, 0, 0);
	struct lkdf_event v[2], any;

	v[0] = make(rt);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &v[1]));
	any = any_of(rt, v, 2);
	is(lkdf_scope_wait(rt, NULL, -1), -ENOANO, "a task fails");
	while (lkdf_event_error(any, &e) == 1)
		api_nap_ns(100000);
	is(e.err, -ENOANO, "the error comes through");
	has(e.why, "there is none", "and why");
	is(lkdf_event_wait(any, -1), -ENOANO, "a wait says it too");
	lkdf_event_put(v[1]);
	must(lkdf_event_signal(v[0], 0));
	lkdf_event_put(v[0]);
	lkdf_kind_put(k);
}

/* With 1024 slots, and memory that is looked at. */
static void nothing_stays_at_an_event_that_lives_long(struct lkdf *rt)
{
	struct lkdf_event stop = make(rt), v[2], any;
	int i, bad = 0;

	for (i = 0; i < 20000; i++) {
		v[0] = stop;
		v[1] = make(rt);
		bad += lkdf_event_any(rt, v, 2, &any) != 0;
		if (i % 2)
			bad += lkdf_event_signal(v[1], 0) != 0;
		if (i % 3)
			bad += lkdf_event_wait(any, 0) != !(i % 2);
		if (i % 3 == 0 || i % 2 == 0)
			lkdf_event_put(any);
		if (i % 2 == 0)
			bad += lkdf_event_signal(v[1], 0) != 0;
		lkdf_event_put(v[1]);
	}
	is(bad, 0, "20000 times one of two, one of which lives on");
	any = any_of(rt, &stop, 1);
	must(lkdf_event_signal(stop, -EINTR));
	is(lkdf_event_wait(any, -1), -EINTR,
	   "it fires for those that are left");
	lkdf_event_put(stop);
}

static void one_in_the_other(struct lkdf *rt)
{
	struct lkdf_event e = make(rt), any[DEPTH + 1];
	int i;

	any[0] = any_of(rt, &e, 1);
	for (i = 1; i < DEPTH; i++) {
		any[i] = any_of(rt, &any[i - 1], 1);
		lkdf_event_put(any[i - 1]);
	}
	is(lkdf_event_any(rt, &any[DEPTH - 1], 1, &any[DEPTH]), -E2BIG,
	   "one more than %d is refused", DEPTH);
	has(lkdf_errmsg(), "64", "with the number");
	must(lkdf_event_signal(e, -EILSEQ));
	is(lkdf_event_wait(any[DEPTH - 1], -1), -EILSEQ,
	   "the error comes through all");
	lkdf_event_put(e);
	e = make(rt);
	any[0] = any_of(rt, &e, 1);
	for (i = 1; i < DEPTH; i++) {
		any[i] = any_of(rt, &any[i - 1], 1);
		lkdf_event_put(any[i - 1]);
	}
	lkdf_event_put(any[DEPTH - 1]);
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	ok(true, "all of them may be left");
}

static void tasks_come_after_it(struct lkdf *rt)
{
	struct lkdf_kind *k;
	struct lkdf_event v[NR], any;
	atomic_int nr = 0;

	k = api_kind(rt, "count", api_count, 0, 0);
	make_all(rt, v);
	any = any_of(rt, v, NR);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &nr, .after = &any,
			      .nr_after = 1),
			 NULL));
	/* The task alone holds it now. */
	lkdf_event_put(any);
	api_nap_ns(1000000);
	is(nr, 0, "a task waits for the first");
	must(lkdf_event_signal(v[3], 0));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "and starts with it");
	is(nr, 1, "once");
	end_all(v);
	lkdf_kind_put(k);
}

static int ask(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event *v = arg, any;
	unsigned which;

	must(lkdf_event_any(lkdf_runtime(c), v, 2, &any));
	is(lkdf_event_which(any, -1, &which), -EDEADLK, "a body may not wait");
	is(lkdf_event_which(any, 0, &which), 0, "but look");
	is(which, 1, "and is told");
	lkdf_event_put(any);
	return 0;
}

static void bodies_may_make_one(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "ask", ask, 0, 0);
	struct lkdf_event v[NR];

	make_all(rt, v);
	must(lkdf_event_signal(v[1], 0));
	must(api_call(rt, k, v));
	end_all(v);
	lkdf_kind_put(k);
}

/* With 1024 slots: what keeps a reference keeps its slot. */
static void a_refusal_keeps_nothing(struct lkdf *rt)
{
	struct lkdf_event v[3] = { { 0 } }, out;
	int i, k, bad = 0;

	for (i = 0; i < 2000 && !bad; i++) {
		v[0] = make(rt);
		v[1] = make(rt);
		bad += lkdf_event_any(rt, v, 3, &out) != -EINVAL;
		for (k = 0; k < 2; k++) {
			must(lkdf_event_signal(v[k], 0));
			lkdf_event_put(v[k]);
			bad += lkdf_event_wait(v[k], 0) != -ESTALE;
		}
	}
	is(bad, 0, "refusals keep no reference of what came before");
}

static uint64_t memory_of(struct lkdf *rt)
{
	uint64_t used;

	must(lkdf_stat(rt, "lkdf.node.0.memory.used", &used));
	return used;
}

/* Before and behind the one that has fired there is one that has not. */
static void one_that_is_early_keeps_nothing(struct lkdf *rt)
{
	struct lkdf_event stop = make(rt), v[3] = { stop, { 0 }, stop }, any;
	uint64_t before = 0;
	int i, bad = 0;

	for (i = 0; i < 5000; i++) {
		if (i == 1000)
			before = memory_of(rt);
		v[1] = make(rt);
		must(lkdf_event_signal(v[1], 0));
		any = any_of(rt, v, 3);
		bad += lkdf_event_wait(any, -1) != 0;
		lkdf_event_put(v[1]);
	}
	is(bad, 0, "5000 fire at once");
	is(memory_of(rt), before, "and leave nothing at the others");
	must(lkdf_event_signal(stop, 0));
	lkdf_event_put(stop);
}

static void what_cannot_be_is_refused(struct lkdf *rt)
{
	static struct lkdf_event many[LKDF_MAX_AFTER + 1];
	struct lkdf_event e = make(rt), gone = make(rt), out = { 0 }, far;
	struct lkdf *other = api_open("serial=yes");
	unsigned which;

	must(lkdf_event_signal(gone, 0));
	lkdf_event_put(gone);
	far = make(other);
	is(lkdf_event_any(NULL, &e, 1, &out), -EINVAL, "no runtime");
	is(lkdf_event_any(rt, NULL, 1, &out), -EINVAL, "no events");
	is(lkdf_event_any(rt, &e, 0, &out), -EINVAL, "none of them");
	is(lkdf_event_any(rt, &e, 1, NULL), -EINVAL, "nowhere to put it");
	is(lkdf_event_any(rt, many, LKDF_MAX_AFTER + 1, &out), -E2BIG,
	   "too many");
	is(lkdf_event_any(rt, (struct lkdf_event[]){ e, { 0 } }, 2, &out),
	   -EINVAL, "one that is { 0 }");
	has(lkdf_errmsg(), "1 is { 0 }", "which");
	is(lkdf_event_any(rt, (struct lkdf_event[]){ e, gone }, 2, &out),
	   -ESTALE, "one that is gone");
	is(lkdf_event_any(rt, (struct lkdf_event[]){ e, far }, 2, &out),
	   -EINVAL, "one of another runtime");
	ok(!out.slot, "and out was not touched");
	is(lkdf_event_which(e, 0, &which), -EINVAL, "which of an event alone");
	out = any_of(rt, &e, 1);
	is(lkdf_event_which(out, 0, NULL), -EINVAL, "which, but not where to");
	is(lkdf_event_which((struct lkdf_event){ 0 }, 0, &which), -EINVAL,
	   "which of { 0 }");
	must(lkdf_event_signal(e, 0));
	is(lkdf_event_wait(out, -1), 0, "the event is as it was");
	lkdf_event_put(e);
	must(lkdf_event_signal(far, 0));
	lkdf_event_put(far);
	must(lkdf_close(other));
}

struct race {
	pthread_barrier_t start;
	struct lkdf_event v[NR];
	int rounds;
};

struct racer {
	struct race *race;
	int nr;
	pthread_t thread;
};

static void *signal_one(void *arg)
{
	struct racer *r = arg;
	int i;

	for (i = 0; i < r->race->rounds; i++) {
		pthread_barrier_wait(&r->race->start);
		must(lkdf_event_signal(r->race->v[r->nr], -1 - r->nr));
		pthread_barrier_wait(&r->race->start);
	}
	return NULL;
}

/* Half of the rounds somebody lets go while they fire. */
static int race(struct lkdf *rt, struct race *race, int round)
{
	struct lkdf_event any = { 0 }, again;
	bool is_early = round % 4 < 2;
	unsigned which = 99;
	int rc, bad = 0;

	make_all(rt, race->v);
	if (is_early)
		any = any_of(rt, race->v, NR);
	pthread_barrier_wait(&race->start);
	if (!is_early)
		any = any_of(rt, race->v, NR);
	again = any_of(rt, &any, 1);
	if (round % 2) {
		lkdf_event_put(any);
		lkdf_event_put(again);
	} else {
		bad += lkdf_event_which(any, -1, &which) != 0;
		rc = lkdf_event_wait(any, -1);
		bad += which >= NR || rc != -1 - (int)which;
		bad += lkdf_event_wait(again, -1) != rc;
	}
	pthread_barrier_wait(&race->start);
	for (which = 0; which < NR; which++)
		lkdf_event_put(race->v[which]);
	return bad;
}

static void many_threads_fire_at_once(struct lkdf *rt)
{
	struct race r = { .rounds = 1000 };
	struct racer racer[NR];
	int i, bad = 0;

	pthread_barrier_init(&r.start, NULL, NR + 1);
	for (i = 0; i < NR; i++) {
		racer[i].race = &r;
		racer[i].nr = i;
		pthread_create(&racer[i].thread, NULL, signal_one, &racer[i]);
	}
	for (i = 0; i < r.rounds; i++)
		bad += race(rt, &r, i);
	for (i = 0; i < NR; i++)
		pthread_join(racer[i].thread, NULL);
	pthread_barrier_destroy(&r.start);
	is(bad, 0, "%d times one of four wins, with its own error", r.rounds);
}

static void close_ends_what_is_pending(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_event v[NR], any;
	int i;

	make_all(rt, v);
	for (i = 0; i < 10; i++)
		any = any_of(rt, v, NR);
	any = any_of(rt, &any, 1);
	is(lkdf_close(rt), 0, "close with ten that wait");
}

static void run(const char *options)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	the_first_fires_it(rt);
	what_has_fired_counts(rt);
	the_story_is_told(rt);
	nothing_stays_at_an_event_that_lives_long(rt);
	one_in_the_other(rt);
	tasks_come_after_it(rt);
	bodies_may_make_one(rt);
	a_refusal_keeps_nothing(rt);
	one_that_is_early_keeps_nothing(rt);
	what_cannot_be_is_refused(rt);
	many_threads_fire_at_once(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	close_ends_what_is_pending(options);
}

int main(void)
{
	tap_start(60);
	run("workers=2,events=1024");
	run("serial=yes,events=1024");
	return tap_end();
}
