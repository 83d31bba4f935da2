/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Cancelling: what has not started does not start, others are not touched,
 * and graph, scope and limits are as new afterwards.
 */
#include "tests/api/api.h"

#include <pthread.h>

static const int worker_counts[] = { 1, 2, 8 };

static struct lkdf_scope *make_scope(struct lkdf *rt, struct lkdf_scope *parent)
{
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .parent = parent),
			       &s));
	return s;
}

/* A gate and then a chain of nr tasks of kind k. */
static struct lkdf_graph *make_chain(struct lkdf *rt, struct lkdf_kind *first,
				     struct gate *gate, struct lkdf_kind *k,
				     int nr, atomic_int *ran)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	must(lkdf_graph_add(g, first, gate, NULL, 0));
	for (i = 1; i <= nr; i++) {
		must(lkdf_graph_add(g, k, ran, NULL, 0));
		must(lkdf_graph_order(g, i - 1, i));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* flags: of the kind of the chain; all its tasks are cancelled and counted. */
static void a_cancelled_run_counts_its_tasks(struct lkdf *rt, uint32_t flags)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s = make_scope(rt, NULL);
	struct lkdf_kind *first, *k;
	struct gate gate = { 0 };
	struct lkdf_event done;
	struct lkdf_graph *g;
	atomic_int ran = 0;

	first = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	k = api_kind(rt, "count", api_count, 0, flags);
	g = make_chain(rt, first, &gate, k, 100, &ran);
	must(lkdf_graph_run(g, s, NULL, &done));
	api_until(&gate.entered);
	is(lkdf_scope_cancel(rt, s, -ETIME), 0, "a scope is cancelled");
	is(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &ran), NULL),
	   -ECANCELED, "nothing enters a cancelled scope");
	is(lkdf_graph_run(g, s, NULL, NULL), -ECANCELED, "no run either");
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(done, -1), -ETIME, "the run ends with that error");
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "the scope too");
	is(ran, 0, "none of the tasks behind the gate ran");
	is(lkdf_scope_error(rt, s, &e), 0, "the counts are given");
	is(e.nr_cancelled + e.nr_skipped, 100, "each task counts once");
	is(api_run(g, s, NULL), 0, "graph and scope are usable again");
	is(ran, 100, "and all tasks run");
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(first);
	lkdf_kind_put(k);
}

/* They wait for the only blocking thread when the cancel comes. */
static void queued_tasks_count_once(void)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf *rt = api_open("workers=2,blocking=1");
	struct lkdf_scope *s = make_scope(rt, NULL);
	struct lkdf_kind *first, *k;
	struct gate gate = { 0 };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *count = api_kind(rt, "plain", api_count, 0, 0);
	atomic_int ran = 0, plain = 0;
	int i, last;

	first = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	k = api_kind(rt, "count", api_count, 0, LKDF_BLOCKING);
	must(lkdf_graph_add(g, first, &gate, NULL, 0));
	for (i = 0; i < 50; i++)
		must(lkdf_graph_add(g, k, &ran, NULL, 0));
	last = must(lkdf_graph_add(g, count, &plain, NULL, 0));
	must(lkdf_graph_order(g, last - 1, last));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, s, NULL, NULL));
	api_until(&gate.entered);
	while (!atomic_load(&ran) && lkdf_scope_wait(rt, s, SECOND / 50) != 1)
		;
	must(lkdf_scope_cancel(rt, s, -ETIME));
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "the scope is cancelled");
	must(lkdf_scope_error(rt, s, &e));
	is((int)(e.nr_cancelled + e.nr_skipped) + ran + plain, 51,
	   "what was queued and cancelled counts once");
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(first);
	lkdf_kind_put(k);
	lkdf_kind_put(count);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static int check_cancelled(struct lkdf_ctx *c, void *arg)
{
	atomic_int *ran = arg;

	if (atomic_fetch_add(ran, 1) == 30)
		must(lkdf_scope_cancel(lkdf_runtime(c), NULL, -EINTR));
	return 0;
}

/* The run after a cancelled one must not be taken for it by any worker. */
static void a_graph_is_usable_at_once(struct lkdf *rt)
{
	struct lkdf_scope *s = make_scope(rt, NULL);
	struct lkdf_kind *k, *one, *blocking;
	atomic_int ran = 0, others = 0;
	struct lkdf_graph *g;
	int i, j, bad = 0;

	k = api_kind(rt, "count", api_count, 0, 0);
	one = api_kind(rt, "one", api_count, 0, 0);
	blocking = api_kind(rt, "blocking", api_count, 0, LKDF_BLOCKING);
	g = api_graph(rt, 1);
	for (i = 0; i < 200; i++) {
		j = must(lkdf_graph_add(g, i % 50 ? k : blocking, &ran, NULL,
					0));
		if (i >= 20)
			must(lkdf_graph_order(g, j - 20, j));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 400; i++) {
		for (j = 0; j < 40; j++)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = one,
					      .arg = &others),
					 NULL));
		must(lkdf_graph_run(g, s, NULL, NULL));
		must(lkdf_scope_cancel(rt, s, -EINTR));
		lkdf_scope_wait(rt, s, -1);
		atomic_store(&ran, 0);
		if (api_run(g, s, NULL) || ran != 200)
			bad++;
	}
	is(bad, 0, "400 times a run after a cancelled one is whole");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the root saw no error");
	is(others, 400 * 40, "foreign tasks all ran");
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	lkdf_kind_put(one);
	lkdf_kind_put(blocking);
}

static void other_scopes_go_on(struct lkdf *rt)
{
	struct lkdf_scope *a = make_scope(rt, NULL), *b = make_scope(rt, NULL);
	atomic_int ran_a = 0, ran_b = 0;
	struct lkdf_kind *first, *k;
	struct gate gate_a = { 0 }, gate_b = { 0 };
	struct lkdf_graph *ga, *gb;

	first = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	k = api_kind(rt, "count", api_count, 0, 0);
	ga = make_chain(rt, first, &gate_a, k, 500, &ran_a);
	gb = make_chain(rt, first, &gate_b, k, 500, &ran_b);
	must(lkdf_graph_run(ga, a, ATTR(lkdf_run, .times = 1000000), NULL));
	must(lkdf_graph_run(gb, b, ATTR(lkdf_run, .times = 20), NULL));
	atomic_store(&gate_a.open, 1);
	api_until(&gate_b.entered);
	must(lkdf_scope_cancel(rt, a, -EINTR));
	atomic_store(&gate_b.open, 1);
	is(lkdf_scope_wait(rt, a, -1), -EINTR, "a million times are cancelled");
	is(lkdf_scope_wait(rt, b, -1), 0, "the other scope is not");
	is(ran_b, 500 * 20, "its runs are whole");
	lkdf_graph_put(ga);
	lkdf_graph_put(gb);
	lkdf_scope_put(a);
	lkdf_scope_put(b);
	lkdf_kind_put(first);
	lkdf_kind_put(k);
}

static void a_body_may_cancel_the_root(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "cancels", check_cancelled, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int ran = 0;
	int i;

	for (i = 0; i < 100; i++) {
		must(lkdf_graph_add(g, k, &ran, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EINTR, "the root is cancelled");
	is(ran, 31, "nothing starts after a body has cancelled");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static int wait_for_kick(struct lkdf_ctx *c, void *arg)
{
	struct gate *gate = *(struct gate **)arg;

	atomic_fetch_add(&gate->entered, 1);
	api_until(&gate->open);
	return lkdf_cancelled(c);
}

static void kick(void *arg)
{
	struct gate *gate = *(struct gate **)arg;

	atomic_store(&gate->open, 1);
}

/* Cancelled at any moment a body is either kicked or never started. */
static void on_cancel_reaches_every_started_body(struct lkdf *rt)
{
	struct lkdf_scope *s = make_scope(rt, NULL);
	struct gate gate, *at = &gate;
	struct lkdf_kind *k;
	int i, bad = 0;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "kicked",
				   .fn = wait_for_kick, .on_cancel = kick,
				   .arg_size = sizeof(at),
				   .flags = LKDF_BLOCKING),
			      &k));
	for (i = 0; i < 2000; i++) {
		gate = (struct gate){ 0 };
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &at),
				 NULL));
		if (i % 2)
			api_nap_ns(i * 20);
		if (i % 4 == 3)
			api_until(&gate.entered);
		must(lkdf_scope_cancel(rt, s, -EINTR));
		if (lkdf_scope_wait(rt, s, PATIENCE_NS) != -EINTR) {
			atomic_store(&gate.open, 1);
			lkdf_scope_wait(rt, s, -1);
			bad++;
		}
	}
	is(bad, 0, "2000 blocked bodies were kicked or never started");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

struct race {
	struct lkdf *rt;
	struct lkdf_scope *parent;
	pthread_barrier_t *barrier;
	int nr;
};

static void *cancel_parents(void *arg)
{
	struct race *r = arg;
	int i;

	for (i = 0; i < r->nr; i++) {
		pthread_barrier_wait(r->barrier);
		must(lkdf_scope_cancel(r->rt, r->parent, -EINTR));
		pthread_barrier_wait(r->barrier);
	}
	return NULL;
}

static void a_new_scope_below_is_cancelled_or_refused(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct race r = { .rt = rt, .nr = 5000 };
	pthread_barrier_t barrier;
	struct lkdf_scope *s;
	pthread_t thread;
	int i, rc, bad = 0;

	r.parent = make_scope(rt, NULL);
	r.barrier = &barrier;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, cancel_parents, &r);
	for (i = 0; i < r.nr; i++) {
		pthread_barrier_wait(&barrier);
		rc = lkdf_scope_create(
			rt, ATTR(lkdf_scope_attr, .parent = r.parent), &s);
		pthread_barrier_wait(&barrier);
		if (rc) {
			bad += rc != -ECANCELED;
		} else {
			bad += lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k),
					   NULL) != -ECANCELED;
			lkdf_scope_put(s);
		}
		lkdf_scope_wait(rt, r.parent, -1);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
	is(bad, 0, "no scope slips through a cancel from above");
	lkdf_scope_put(r.parent);
	lkdf_kind_put(k);
}

struct quitter {
	atomic_int entered;
	int error; /* what it returns */
};

/* Until somebody cancels. */
static int give_up(struct lkdf_ctx *c, void *arg)
{
	struct quitter *q = arg;

	atomic_fetch_add(&q->entered, 1);
	while (!lkdf_cancelled(c))
		api_nap_ns(50000);
	return q->error;
}

/* A scope keeps the cancel's error, whatever error the kernel has for it. */
static void who_gives_up_ends_with_the_cancel(struct lkdf *rt, bool is_graph)
{
	struct lkdf_kind *k = api_kind(rt, "quits", give_up, 0, LKDF_BLOCKING);
	struct lkdf_error e = { .size = sizeof(e) };
	struct quitter q = { .error = -ECANCELED };
	struct lkdf_scope *s = make_scope(rt, NULL);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done;
	int i;

	for (i = 0; i < 4; i++)
		must(lkdf_graph_add(g, k, &q, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	if (is_graph)
		must(lkdf_graph_run(g, s, NULL, &done));
	for (i = 0; i < 4 && !is_graph; i++)
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &q),
				 i ? NULL : &done));
	while (atomic_load(&q.entered) < 4)
		api_nap_ns(50000);
	must(lkdf_scope_cancel(rt, s, -ETIME));
	is(lkdf_event_wait(done, -1), -ETIME,
	   "a body that gives up ends with the cancel's error");
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "the scope does, too");
	must(lkdf_scope_error(rt, s, &e));
	is(e.nr_failed, 0, "none of them counts as failed");
	is(e.nr_cancelled, 4, "all count as cancelled");
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(150);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		a_cancelled_run_counts_its_tasks(rt, 0);
		a_cancelled_run_counts_its_tasks(rt, LKDF_BLOCKING);
		a_graph_is_usable_at_once(rt);
		other_scopes_go_on(rt);
		a_body_may_cancel_the_root(rt);
		on_cancel_reaches_every_started_body(rt);
		a_new_scope_below_is_cancelled_or_refused(rt);
		who_gives_up_ends_with_the_cancel(rt, false);
		who_gives_up_ends_with_the_cancel(rt, true);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	queued_tasks_count_once();
	return tap_end();
}
