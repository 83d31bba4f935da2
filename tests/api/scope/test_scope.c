/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Scopes nest: cancelling goes down, errors and life go up. Events count
 * signals from any thread and know a stale handle.
 */
#include "tests/api/api.h"

#include <pthread.h>

static const int worker_counts[] = { 1, 2, 8 };

static struct lkdf_scope *below(struct lkdf *rt, struct lkdf_scope *parent)
{
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .parent = parent),
			       &s));
	return s;
}

static int pass_and_tell(struct lkdf_ctx *c, void *arg)
{
	gate_pass(arg);
	return lkdf_cancelled(c);
}

static int fail_now(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, *(int *)arg, "failing");
}

static int submit(struct lkdf *rt, struct lkdf_scope *s, struct lkdf_kind *k,
		  const void *arg)
{
	return lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = arg), NULL);
}

static void waiting_says_when_it_is_pending(struct lkdf *rt)
{
	struct lkdf_scope *s = below(rt, NULL);
	struct gate gate = { 0 };
	struct lkdf_kind *k;

	k = api_kind(rt, "gate", pass_and_tell, 0, LKDF_BLOCKING);
	must(submit(rt, s, k, &gate));
	is(lkdf_scope_wait(rt, s, 0), 1, "pending at once");
	is(lkdf_scope_wait(rt, s, 1000), 1, "pending after a microsecond");
	is(lkdf_scope_wait(rt, NULL, 1000000), 1, "the root is pending too");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, s, -1), 0, "and then it is empty");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "and the root");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

static void cancel_goes_down_errors_go_up(struct lkdf *rt)
{
	struct lkdf_scope *top = below(rt, NULL), *left = below(rt, top);
	struct lkdf_scope *right = below(rt, top), *leaf = below(rt, left);
	struct lkdf_kind *fails, *gate_kind;
	struct lkdf_error e = { .size = sizeof(e) };
	struct gate gate = { 0 };

	fails = api_kind(rt, "fails", fail_now, sizeof(int), 0);
	gate_kind = api_kind(rt, "gate", pass_and_tell, 0, LKDF_BLOCKING);
	must(submit(rt, leaf, fails, &(int){ -EILSEQ }));
	is(lkdf_scope_wait(rt, top, -1), -EILSEQ, "an error goes to the top");
	is(lkdf_scope_wait(rt, right, -1), 0, "not to the side");
	is(lkdf_scope_wait(rt, left, -1), 0, "the middle does not repeat it");
	is(lkdf_scope_wait(rt, leaf, -1), 0, "nor does the leaf");
	must(lkdf_scope_error(rt, right, &e));
	is(e.nr_failed, 0, "counts do not go to the side");
	must(lkdf_scope_error(rt, top, &e));
	is(e.nr_failed, 1, "but up");
	must(submit(rt, leaf, gate_kind, &gate));
	api_until(&gate.entered);
	must(lkdf_scope_cancel(rt, left, -EINTR));
	is(submit(rt, leaf, fails, &(int){ -EIO }), -ECANCELED,
	   "a cancel goes down");
	is(submit(rt, right, fails, &(int){ -EIO }), 0, "not to the side");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, leaf, -1), -EINTR, "the body was told");
	is(lkdf_scope_wait(rt, left, -1), -EINTR, "the middle is cancelled");
	is(lkdf_scope_wait(rt, right, -1), -EIO, "the side is not");
	is(submit(rt, leaf, fails, &(int){ -EDOM }), 0, "the leaf is new");
	is(lkdf_scope_wait(rt, leaf, -1), -EDOM, "and works");
	lkdf_scope_wait(rt, NULL, -1);
	/* Parents first: they stay while children do. */
	lkdf_scope_put(top);
	lkdf_scope_put(left);
	is(submit(rt, leaf, fails, &(int){ -EIO }), 0,
	   "a leaf outlives its parents' handles");
	lkdf_scope_put(leaf);
	lkdf_scope_put(right);
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "all the way to the root");
	lkdf_kind_put(fails);
	lkdf_kind_put(gate_kind);
}

#define NR_SIGNALLERS 4
#define NR_SIGNALS 500

struct signaller {
	struct lkdf_event e;
	int error, nr_fired, nr_stale;
};

static void *signal_many(void *arg)
{
	struct signaller *s = arg;
	int i, rc;

	for (i = 0; i < NR_SIGNALS; i++) {
		rc = lkdf_event_signal(s->e, i == 7 ? s->error : 0);
		s->nr_fired += rc == 0;
		s->nr_stale += rc == -ESTALE;
	}
	return NULL;
}

/* 100 signals more than counted: exactly those are stale. */
static void events_count_signals(struct lkdf *rt)
{
	const int count = NR_SIGNALLERS * NR_SIGNALS - 100;
	struct signaller s[NR_SIGNALLERS];
	pthread_t thread[NR_SIGNALLERS];
	int i, round, bad = 0, nr_fired, nr_stale;
	struct lkdf_event e;

	for (round = 0; round < 20; round++) {
		must(lkdf_event_create(rt, (uint32_t)count, 0, &e));
		nr_fired = nr_stale = 0;
		for (i = 0; i < NR_SIGNALLERS; i++) {
			s[i] = (struct signaller){ .e = e, .error = -EIO };
			pthread_create(&thread[i], NULL, signal_many, &s[i]);
		}
		bad += lkdf_event_wait(e, -1) != -EIO;
		for (i = 0; i < NR_SIGNALLERS; i++) {
			pthread_join(thread[i], NULL);
			nr_fired += s[i].nr_fired;
			nr_stale += s[i].nr_stale;
		}
		bad += nr_fired != count || nr_stale != 100;
	}
	is(bad, 0, "an event counts the signals of four threads exactly");
}

static void stale_events_are_known(struct lkdf *rt)
{
	struct lkdf_event first, e, task;
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	int i, bad = 0;

	must(lkdf_event_create(rt, 0, 0, &first));
	is(lkdf_event_signal(first, 1), -EINVAL, "a positive error is refused");
	is(lkdf_event_signal(first, -9999), -EINVAL, "so is none at all");
	is(lkdf_event_wait(first, 1000), 1, "it is pending");
	is(lkdf_event_signal(first, -EIO), 0, "it is signalled");
	is(lkdf_event_signal(first, 0), -ESTALE, "a second time is stale");
	is(lkdf_event_wait(first, -1), -EIO, "the first error stays");
	is(lkdf_event_wait(first, 0), -ESTALE, "its reference is gone");
	for (i = 0; i < 20000; i++) {
		must(lkdf_event_create(rt, 1, 0, &e));
		bad += lkdf_event_signal(first, 0) != -ESTALE;
		bad += lkdf_event_wait(first, 0) != -ESTALE;
		lkdf_event_put(first);
		bad += lkdf_event_signal(e, 0) != 0;
		bad += lkdf_event_wait(e, -1) != 0;
	}
	is(bad, 0, "stale after its slot was used 20,000 times");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &task));
	i = lkdf_event_signal(task, 0);
	ok(i == -EPERM || i == -ESTALE, "a task's event is not the user's");
	is(lkdf_event_wait(task, -1), 0, "and fires by itself");
	lkdf_kind_put(k);
}

static void slots_run_out(void)
{
	struct lkdf *rt = api_open("workers=1,events=1024");
	static struct lkdf_event e[5000];
	int i, nr, rc = 0;

	for (nr = 0; nr < 5000 && !rc; nr++)
		rc = lkdf_event_create(rt, 1, 0, &e[nr]);
	is(rc, -EAGAIN, "there is no slot any more");
	has(lkdf_errmsg(), "no slot", "is told");
	ok(nr - 1 > 512 && nr - 1 <= 1024, "about as many as asked for (%d)",
	   nr - 1);
	for (i = 0; i < nr - 1; i++) {
		must(lkdf_event_signal(e[i], 0));
		lkdf_event_put(e[i]);
	}
	for (i = 0, rc = 0; i < nr - 1; i++)
		rc += lkdf_event_signal(e[i], 0) != -ESTALE;
	is(rc, 0, "each of them is known as stale afterwards");
	is(lkdf_event_create(rt, 1, 0, &e[0]), 0, "then there is again");
	must(lkdf_event_signal(e[0], 0));
	lkdf_event_put(e[0]);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		waiting_says_when_it_is_pending(rt);
		cancel_goes_down_errors_go_up(rt);
		events_count_signals(rt);
		stale_events_are_known(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	slots_run_out();
	return tap_end();
}
