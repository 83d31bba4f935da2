/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thread of the program that uses the bytes of a data: its place among the
 * tasks, waiting with a timeout, other threads.
 */
#include "tests/api/using.h"

#include <pthread.h>

static struct {
	atomic_int nr;
	atomic_ullong value; /* of one that was dropped */
} dropped;

static void note_drop(void *bytes)
{
	atomic_fetch_add(&dropped.nr, 1);
	dropped.value = *(uint64_t *)bytes;
}

static atomic_int nr_reads;

static int read_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_reads, *(uint64_t *)lkdf_ptr(c, 0) != 0);
	return 0;
}

static void acquire_refuses(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .name = "fresh");
	void *at = NULL;

	is(lkdf_data_acquire(d, LKDF_READ, -1, &at), -ENODATA,
	   "READ of what nobody has written");
	has(lkdf_errmsg(), "fresh", "by its name");
	is(lkdf_data_acquire(d, LKDF_RW, 0, &at), -ENODATA, "nor RW");
	ok(at == NULL, "out is untouched");
	is(lkdf_data_release(d), -EPERM, "nothing is held then");
	is(lkdf_data_acquire(d, LKDF_COMMUTE, -1, &at), -EINVAL, "COMMUTE");
	is(lkdf_data_acquire(d, LKDF_REDUCE, -1, &at), -EINVAL, "REDUCE");
	is(lkdf_data_acquire(d, 0, -1, &at), -EINVAL, "no mode");
	is(lkdf_data_acquire(d, LKDF_WRITE, -1, &at), 0, "WRITE");
	ok(at != NULL, "gives bytes");
	is(lkdf_data_acquire(d, LKDF_READ, 0, NULL), -EDEADLK,
	   "a second time by this thread");
	is(lkdf_data_acquire(d, LKDF_WRITE, -1, NULL), -EDEADLK,
	   "in whatever mode");
	is(lkdf_data_release(d), 0, "release");
	is(lkdf_data_release(d), -EPERM, "a second time");
	is(lkdf_data_acquire(d, LKDF_READ, 0, &at), 0, "now it can be read");
	is(lkdf_data_release(d), 0, "and released");
	lkdf_data_put(d);
}

static int acquire_inside(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_data *d = *(struct lkdf_data **)arg;
	int rc = lkdf_data_acquire(d, LKDF_READ, 0, NULL);

	(void)c;
	return rc == -EDEADLK && lkdf_data_release(d) == -EPERM ? 0 : -EPROTO;
}

static void bodies_do_not_acquire(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 });
	static const uint32_t flags[] = { 0, LKDF_BLOCKING };
	struct lkdf_kind *k;
	size_t i;

	for (i = 0; i < LENGTH(flags); i++) {
		k = api_kind(rt, "inside", acquire_inside, sizeof(d), flags[i]);
		is(api_call(rt, k, &d), 0, "acquire in a body: -EDEADLK%s",
		   flags[i] ? ", in one that may block" : "");
		lkdf_kind_put(k);
	}
	lkdf_data_put(d);
}

/* What this thread holds orders the tasks around it. */
static void tasks_wait_for_this_thread(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 });
	struct lkdf_kind *adds, *reads, *counts;
	struct lkdf_event wrote, read;
	atomic_int nr = 0;
	uint64_t *at;

	nr_reads = 0;
	adds = api_kind(rt, "adds", add_one, 0, 0);
	reads = api_kind(rt, "reads", read_one, 0, 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	must(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at));
	must(submit_on(rt, reads, NULL, ON(d, LKDF_READ), &read));
	is(lkdf_event_wait(read, -1), 0, "others read what we read");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), &wrote));
	must(api_call(rt, counts, &nr));
	is(lkdf_event_wait(wrote, 0), 1, "a writer waits for us");
	is(*at, 1, "and has not written");
	must(lkdf_data_release(d));
	is(lkdf_event_wait(wrote, -1), 0, "released, it goes");
	must(lkdf_data_acquire(d, LKDF_RW, -1, (void **)&at));
	is(*at, 2, "we see what it wrote");
	must(submit_on(rt, reads, NULL, ON(d, LKDF_READ), &read));
	must(submit_on(rt, adds, NULL, ON(d, LKDF_COMMUTE), &wrote));
	must(api_call(rt, counts, &nr));
	is(lkdf_event_wait(read, 0), 1, "readers wait for who writes");
	*at += 40;
	must(lkdf_data_release(d));
	is(lkdf_event_wait(read, -1), 0, "released, they go");
	is(lkdf_event_wait(wrote, -1), 0, "and the rest");
	must(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at));
	is(*at, 43, "all has come together");
	must(lkdf_data_release(d));
	lkdf_data_put(d);
	lkdf_kind_put(adds);
	lkdf_kind_put(reads);
	lkdf_kind_put(counts);
}

/* A place in the order is kept from call to call, and can be given up. */
static void pending_keeps_its_place(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 });
	struct gate gate = { 0 }, *g = &gate, again = { 0 }, *h = &again;
	struct lkdf_kind *gates, *adds;
	struct lkdf_event wrote;
	uint64_t *at = NULL;

	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	must(submit_on(rt, gates, g, ON(d, LKDF_RW), NULL));
	is(lkdf_data_acquire(d, LKDF_READ, 0, (void **)&at), 1,
	   "timeout 0: still pending");
	ok(at == NULL, "out is untouched");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), &wrote));
	is(lkdf_data_acquire(d, LKDF_READ, 0, (void **)&at), 1,
	   "a second look");
	is(lkdf_data_acquire(d, LKDF_READ, 1000000, (void **)&at), 1,
	   "a short wait");
	atomic_store(&g->open, 1);
	is(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at), 0,
	   "then it is there");
	is(*at, 1, "before the writer that came later");
	is(lkdf_event_wait(wrote, 0), 1, "which waits");
	must(lkdf_data_release(d));
	is(lkdf_event_wait(wrote, -1), 0, "until we release");
	must(submit_on(rt, gates, h, ON(d, LKDF_RW), NULL));
	is(lkdf_data_acquire(d, LKDF_RW, 0, NULL), 1, "pending again");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), &wrote));
	is(lkdf_data_release(d), 0, "given up");
	is(lkdf_data_release(d), -EPERM, "it is gone then");
	atomic_store(&h->open, 1);
	is(lkdf_event_wait(wrote, -1), 0, "nobody waits for who gave up");
	must(lkdf_scope_wait(rt, NULL, -1));
	is(lkdf_data_version(d), 5, "who gave up has written nothing");
	lkdf_data_put(d);
	lkdf_kind_put(gates);
	lkdf_kind_put(adds);
}

struct worker {
	struct lkdf_data *d;
	pthread_t thread;
	int nr, rc;
	atomic_int *here;
};

static void *read_together(void *arg)
{
	struct worker *w = arg;

	w->rc = lkdf_data_acquire(w->d, LKDF_READ, -1, NULL);
	atomic_fetch_add(w->here, 1);
	while (atomic_load(w->here) < w->nr)
		api_nap_ns(20000);
	w->rc |= lkdf_data_release(w->d);
	return NULL;
}

static void *add_many(void *arg)
{
	struct worker *w = arg;
	uint64_t *at;
	int i;

	for (i = 0; i < w->nr; i++) {
		w->rc |= lkdf_data_acquire(w->d, LKDF_RW, -1, (void **)&at);
		*at += 1;
		w->rc |= lkdf_data_release(w->d);
	}
	return NULL;
}

static void *release_others(void *arg)
{
	struct worker *w = arg;

	w->rc = lkdf_data_release(w->d);
	return NULL;
}

static int on_threads(struct lkdf_data *d, void *(*fn)(void *), int nr_threads,
		      int nr)
{
	struct worker w[8];
	atomic_int here = 0;
	int i, rc = 0;

	for (i = 0; i < nr_threads; i++) {
		w[i] = (struct worker){ .d = d, .nr = nr, .here = &here };
		must(-pthread_create(&w[i].thread, NULL, fn, &w[i]));
	}
	for (i = 0; i < nr_threads; i++) {
		pthread_join(w[i].thread, NULL);
		rc |= w[i].rc;
	}
	return rc;
}

static void threads_share_data(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 });
	struct lkdf_kind *adds = api_kind(rt, "adds", add_one, 0, 0);
	uint64_t *at;
	int i;

	is(on_threads(d, read_together, 4, 4), 0, "4 threads read together");
	for (i = 0; i < 500; i++)
		must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), NULL));
	is(on_threads(d, add_many, 4, 500), 0, "4 threads and tasks add");
	must(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at));
	is(*at, 2501, "the sum is exact");
	is(on_threads(d, release_others, 1, 0), -EPERM,
	   "another thread does not release ours");
	must(lkdf_data_release(d));
	lkdf_data_put(d);
	lkdf_kind_put(adds);
}

/* It is the last reference, but not the last use. */
static void what_is_put_while_held_ends_later(struct lkdf *rt)
{
	struct lkdf_data *d;
	uint64_t *at;

	dropped.nr = 0;
	d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 }, .drop = note_drop);
	must(lkdf_data_acquire(d, LKDF_RW, -1, (void **)&at));
	lkdf_data_put(d);
	is(dropped.nr, 0, "the last reference goes, we hold it still");
	*at = 9;
	is(lkdf_data_release(d), 0, "released");
	must(lkdf_scope_wait(rt, NULL, -1));
	is(dropped.nr, 1, "it is dropped");
	is(dropped.value, 9, "after us");
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=8",
					       "serial=yes" };
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		acquire_refuses(rt);
		bodies_do_not_acquire(rt);
		tasks_wait_for_this_thread(rt);
		threads_share_data(rt);
		/* Here bodies wait for this thread. */
		if (strcmp(options[i], "serial=yes"))
			pending_keeps_its_place(rt);
		what_is_put_while_held_ends_later(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
