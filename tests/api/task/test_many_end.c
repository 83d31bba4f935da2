/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The end of what lkdf_submit_many() started: one event with the first error,
 * cancelled scopes; and calls from bodies and from many threads at once.
 * Order and refusals: test_many.c.
 */
#include "tests/api/task/list.h"
#include "tests/api/using.h"

#include <pthread.h>

#define NR_THREADS 4

static int fail_with(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, *(int *)arg, "as told");
}

static int64_t version_now(const struct lkdf_data *d)
{
	return (int64_t)lkdf_data_version(d);
}

/* The last of the list is held back, then one in the middle. */
static void done_fires_after_all(struct lkdf *rt, int late)
{
	struct lkdf_kind *gates, *counts;
	struct gate gate = { 0 };
	struct lkdf_event done;
	atomic_int nr = 0;
	struct list l;
	int i;

	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	list_init(&l, (struct lkdf_task){ .kind = counts, .arg = &nr });
	l.task[late].kind = gates;
	l.task[late].arg = &gate;
	must(lkdf_submit_many(rt, NULL, l.at, NR_LIST, &done));
	api_until(&gate.entered);
	for (i = 0; i < 20000 && atomic_load(&nr) < NR_LIST - 1; i++)
		api_nap_ns(1000000);
	is(nr, NR_LIST - 1, "all but task %d have run", late);
	is(lkdf_event_wait(done, 0), 1, "done has not fired");
	is(lkdf_scope_wait(rt, NULL, 0), 1, "the scope waits, too");
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(done, -1), 0, "with the last it fires");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	lkdf_kind_put(gates);
	lkdf_kind_put(counts);
}

static void done_has_the_error_of_one(struct lkdf *rt, int which)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_kind *fails, *counts;
	struct lkdf_event done;
	struct lkdf_scope *s;
	atomic_int nr = 0;
	int err = -EILSEQ, rc;
	struct list l;

	fails = api_kind(rt, "fails", fail_with, 0, 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	must(lkdf_scope_create(rt, NULL, &s));
	list_init(&l, (struct lkdf_task){ .kind = counts, .arg = &nr });
	l.task[which].kind = fails;
	l.task[which].arg = &err;
	must(lkdf_submit_many(rt, s, l.at, NR_LIST, &done));
	is(lkdf_scope_wait(rt, s, -1), -EILSEQ, "the scope: task %d", which);
	/* It may fire a little after the scope has ended. */
	while ((rc = lkdf_event_error(done, &e)) == 1)
		api_nap_ns(100000);
	is(rc, 0, "the event tells");
	is(e.err, -EILSEQ, "the error");
	has(e.task, "fails", "of which kind");
	has(e.why, "as told", "and why");
	is(lkdf_event_wait(done, -1), -EILSEQ, "done has it");
	is(nr, NR_LIST - 1, "the others have run");
	e = (struct lkdf_error){ .size = sizeof(e) };
	is(lkdf_scope_error(rt, s, &e), 0, "the scope tells");
	is(e.nr_failed, 1, "one has failed");
	is(e.nr_skipped, 0, "none was skipped");
	lkdf_scope_put(s);
	lkdf_kind_put(fails);
	lkdf_kind_put(counts);
	lkdf_scope_wait(rt, NULL, -1);
}

/* One after another by their data, each with an error of its own. */
static void done_has_the_first_error_of_several(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_data *d = number(rt, NULL, &(uint64_t){ 0 });
	struct lkdf_use write = ON(d, LKDF_WRITE);
	struct lkdf_use read = ON(d, LKDF_READ);
	struct lkdf_kind *k = api_kind(rt, "fails", fail_with, 0, 0);
	struct lkdf_event done;
	int i, err[NR_LIST];
	struct lkdf_scope *s;
	struct list l;

	must(lkdf_scope_create(rt, NULL, &s));
	list_init(&l, (struct lkdf_task){ .kind = k, .nr_use = 1 });
	for (i = 0; i < NR_LIST; i++) {
		err[i] = -10 - i;
		l.task[i].arg = &err[i];
		l.task[i].use = i % 4 == 3 ? &read : &write;
	}
	must(lkdf_submit_many(rt, s, l.at, NR_LIST, &done));
	is(lkdf_event_wait(done, -1), -10, "the first error is that of done");
	is(lkdf_scope_wait(rt, s, -1), 0, "which the scope does not repeat");
	is(lkdf_scope_error(rt, s, &e), 0, "the scope counts");
	is(e.nr_failed, NR_LIST - NR_LIST / 4, "the writers have failed");
	is(e.nr_skipped, NR_LIST / 4, "the readers were skipped");
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), -10,
	   "and of the data, which nobody has healed");
	lkdf_scope_put(s);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_scope_wait(rt, NULL, -1);
}

/* Tasks that wait for a gate are cancelled. */
static void a_list_is_cancelled(struct lkdf *rt)
{
	struct lkdf_data *d = number(rt, NULL, &(uint64_t){ 0 });
	struct lkdf_use use = ON(d, LKDF_RW);
	struct lkdf_kind *gates, *adds;
	struct gate gate = { 0 };
	struct lkdf_event done;
	struct lkdf_scope *s;
	struct list l;

	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	must(lkdf_scope_create(rt, NULL, &s));
	must(submit_on(rt, gates, &gate, use, NULL));
	list_init(&l,
		  (struct lkdf_task){ .kind = adds, .use = &use, .nr_use = 1 });
	must(lkdf_submit_many(rt, s, l.at, NR_LIST, &done));
	api_until(&gate.entered);
	is(lkdf_scope_cancel(rt, s, -ETIME), 0, "a scope is cancelled");
	is(lkdf_submit_many(rt, s, l.at, NR_LIST, &done), -ECANCELED,
	   "it takes no list");
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(done, -1), -ETIME, "what waits ends with it");
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "the scope, too");
	is(version_now(d), 2, "none has written");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_WRITE), NULL));
	must(lkdf_submit_many(rt, s, l.at, NR_LIST, &done));
	is(lkdf_event_wait(done, -1), 0, "then the scope takes lists again");
	is(version_now(d), 3 + NR_LIST, "which run");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_scope_put(s);
	lkdf_data_put(d);
	lkdf_kind_put(gates);
	lkdf_kind_put(adds);
}

/*
 * Bodies and threads
 */

struct sender {
	struct lkdf *rt;
	struct lkdf_kind *adds;
	struct lkdf_data *d[2];
	int nr_calls;
	atomic_int nr_wrong;
};

/* Both data in turn; every other call wants an event. */
static int send_lists(struct sender *s, bool may_wait)
{
	struct lkdf_use use[2];
	struct lkdf_event done;
	int i, j, rc = 0;
	struct list l;

	use[0] = ON(s->d[0], LKDF_RW);
	use[1] = ON(s->d[1], LKDF_COMMUTE);
	list_init(&l, (struct lkdf_task){ .kind = s->adds, .nr_use = 1 });
	for (j = 0; j < NR_LIST; j++)
		l.task[j].use = &use[j % 2];
	for (i = 0; i < s->nr_calls && !rc; i++) {
		rc = lkdf_submit_many(s->rt, NULL, l.at, NR_LIST,
				      i % 2 ? &done : NULL);
		if (rc || i % 2 == 0)
			continue;
		if (may_wait && i % 4 == 1)
			rc = lkdf_event_wait(done, -1);
		else
			lkdf_event_put(done);
	}
	if (rc)
		atomic_fetch_add(&s->nr_wrong, 1);
	return rc;
}

static int send_in_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return send_lists(*(struct sender **)arg, false);
}

static void *send_in_thread(void *arg)
{
	send_lists(arg, true);
	return NULL;
}

static void all_came(struct sender *s, int nr_senders)
{
	uint64_t want = (uint64_t)nr_senders * (uint64_t)s->nr_calls;

	want *= NR_LIST / 2;
	is(lkdf_scope_wait(s->rt, NULL, -1), 0, "all end");
	is(s->nr_wrong, 0, "no call has failed");
	is(value_of(s->d[0]), want, "nothing is lost of one data");
	is(value_of(s->d[1]), want, "nor of the other");
}

static void sender_init(struct sender *s, struct lkdf *rt, int nr_calls)
{
	memset(s, 0, sizeof(*s));
	s->rt = rt;
	s->nr_calls = nr_calls;
	s->adds = api_kind(rt, "adds", add_one, 0, 0);
	s->d[0] = number(rt, NULL, &(uint64_t){ 0 });
	s->d[1] = number(rt, NULL, &(uint64_t){ 0 });
}

static void sender_fini(struct sender *s)
{
	lkdf_data_put(s->d[0]);
	lkdf_data_put(s->d[1]);
	lkdf_kind_put(s->adds);
}

static void bodies_submit_lists(struct lkdf *rt)
{
	struct sender sender, *s = &sender;
	struct lkdf_kind *k = api_kind(rt, "sends", send_in_body, sizeof(s), 0);
	struct list l;

	sender_init(s, rt, 20);
	list_init(&l, (struct lkdf_task){ .kind = k, .arg = &s });
	is(lkdf_submit_many(rt, NULL, l.at, NR_LIST, NULL), 0,
	   "bodies submit lists");
	all_came(s, NR_LIST);
	sender_fini(s);
	lkdf_kind_put(k);
}

static void threads_submit_lists(struct lkdf *rt)
{
	pthread_t thread[NR_THREADS];
	struct sender s;
	int i;

	sender_init(&s, rt, HAS_SANITIZER ? 100 : 400);
	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, send_in_thread, &s))
			exit(1);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("# %d threads\n", NR_THREADS);
	all_came(&s, NR_THREADS);
	sender_fini(&s);
}

int main(void)
{
	static const char *const options[] = {
		"workers=1",
		"workers=2",
		"workers=4",
		"serial=yes",
	};
	struct lkdf *rt;
	size_t i;

	tap_start(240);
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		/* Here a body waits for this thread. */
		if (strcmp(options[i], "serial=yes")) {
			done_fires_after_all(rt, NR_LIST - 1);
			done_fires_after_all(rt, 0);
			done_fires_after_all(rt, NR_LIST / 2);
			a_list_is_cancelled(rt);
		}
		done_has_the_error_of_one(rt, 0);
		done_has_the_error_of_one(rt, NR_LIST / 2);
		done_has_the_error_of_one(rt, NR_LIST - 1);
		done_has_the_first_error_of_several(rt);
		bodies_submit_lists(rt);
		threads_submit_lists(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
