/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Deadlines of runs: the run is cancelled, its graph is as new, its data hold
 * together. And deadlines in serial mode, where nobody but the caller looks at
 * the clock.
 */
#include "tests/api/late.h"

/* A gate and then a chain of nr tasks of kind k. */
static struct lkdf_graph *make_chain(struct late *l, struct gate *gate, int nr)
{
	struct lkdf_graph *g = api_graph(l->rt, 1);
	int i;

	must(lkdf_graph_add(g, gate ? l->gate : l->count,
			    gate ? (void *)gate : (void *)&l->ran, NULL, 0));
	for (i = 1; i <= nr; i++) {
		must(lkdf_graph_add(g, l->count, &l->ran, NULL, 0));
		must(lkdf_graph_order(g, i - 1, i));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void a_late_run_ends(const char *options)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf *rt = api_open(options);
	struct gate gate = { 0 };
	struct lkdf_event done;
	struct lkdf_graph *g;
	struct late l;
	int i, bad = 0;

	late_init(&l, rt);
	g = make_chain(&l, &gate, 100);
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .deadline_ns = MS), &done));
	api_nap_ns(3 * MS);
	atomic_store(&gate.open, 1);
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(MS);
	is(e.err, -ETIME, "%s: the run is late", options);
	has(e.why, "deadline", "%s: which its error says: %s", options, e.why);
	is(lkdf_event_wait(done, -1), -ETIME, "%s: its event too", options);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: which told it", options);
	is(l.ran, 0, "%s: nothing behind the gate has run", options);
	for (i = 0; i < 100; i++)
		bad += api_run(g, NULL, ATTR(lkdf_run, .deadline_ns = HOUR)) !=
		       0;
	is(bad, 0, "%s: the graph is usable at once", options);
	is(l.ran, 100 * 100, "%s: all tasks run", options);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: the scope is fine", options);
	lkdf_graph_put(g);
	late_fini(&l);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

/* Without end: whoever is busy with short bodies looks at the clock. */
static void a_run_without_end_ends(const char *options, int length)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_graph *g;
	struct late l;

	late_init(&l, rt);
	g = make_chain(&l, NULL, length);
	is(api_run(g, NULL,
		   ATTR(lkdf_run, .times = UINT64_MAX, .deadline_ns = 5 * MS)),
	   -ETIME, "%s: %d tasks again and again end in time", options,
	   length + 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: and has told it", options);
	atomic_store(&l.ran, 0);
	is(api_run(g, NULL, NULL), 0, "%s: the graph runs on", options);
	is(l.ran, length + 1, "%s: as a whole", options);
	lkdf_graph_put(g);
	late_fini(&l);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

static int one_more(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	++*(uint64_t *)lkdf_ptr(c, 0);
	return 0;
}

/* The second of them is late or not: whoever reads afterwards can tell. */
static void data_of_a_late_run(struct lkdf *rt, int64_t ns)
{
	struct lkdf_kind *k = api_kind(rt, "more", one_more, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_data *x;
	struct lkdf_use use = { .mode = LKDF_RW };
	uint64_t zero = 0, *at;
	int i, rc, got;

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = 8, .init = &zero), &x));
	use.data = x;
	for (i = 0; i < 200; i++)
		must(lkdf_graph_add(g, k, NULL, &use, 1));
	must(lkdf_graph_seal(g, NULL));
	rc = api_run(g, NULL, ATTR(lkdf_run, .deadline_ns = ns));
	got = lkdf_data_acquire(x, LKDF_READ, -1, (void **)&at);
	is(got, rc, "a reader has the run's error (%d)", rc);
	if (!got) {
		is(*at, 200, "or all of its writes");
		lkdf_data_release(x);
	}
	must(lkdf_data_acquire(x, LKDF_WRITE, -1, (void **)&at));
	*at = 7;
	lkdf_data_release(x);
	is(api_run(g, NULL, NULL), 0, "healed, it runs again");
	must(lkdf_data_acquire(x, LKDF_READ, -1, (void **)&at));
	is(*at, 207, "from there on");
	lkdf_data_release(x);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(x);
	lkdf_kind_put(k);
}

static void data_hold_together(void)
{
	struct lkdf *rt = api_open("workers=2");
	int64_t ns;

	for (ns = 1; ns < 200000; ns *= 4)
		data_of_a_late_run(rt, ns);
	data_of_a_late_run(rt, HOUR);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* It waits for an event that never comes; the thread that waits for it wakes
 * in time. */
static void serial_waits_look_at_the_clock(void)
{
	struct lkdf *rt = api_open("serial=yes");
	struct lkdf_event never, done;
	struct lkdf_scope *s;
	struct late l;

	late_init(&l, rt);
	must(lkdf_event_create(rt, 1, 0, &never));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .after = &never, .nr_after = 1,
			      .deadline_ns = 2 * MS),
			 &done));
	is(lkdf_event_wait(done, -1), -ETIME, "a wait for its event ends");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "which it has told");
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .after = &never, .nr_after = 1,
			      .deadline_ns = 2 * MS),
			 NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -ETIME, "a wait for its scope ends");
	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .deadline_ns = HOUR, .max_tasks = 1),
		&s));
	must(lkdf_submit(rt, s,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .after = &never, .nr_after = 1,
			      .deadline_ns = 2 * MS),
			 NULL));
	is(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = l.count, .arg = &l.ran),
		       NULL),
	   0, "a wait for room ends");
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "the first one was late");
	is(l.ran, 1, "the second one ran");
	lkdf_scope_put(s);
	must(lkdf_event_signal(never, 0));
	lkdf_event_put(never);
	late_fini(&l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static int sleep_a_little(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	api_nap_ns(MS);
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

/* Between one item and the next. */
static void serial_runs_look_between_tasks(void)
{
	struct lkdf *rt = api_open("serial=yes");
	struct lkdf_kind *k = api_kind(rt, "naps", sleep_a_little, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int ran = 0;
	int i;

	for (i = 0; i < 50; i++)
		must(lkdf_graph_add(g, k, &ran, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .deadline_ns = 3 * MS)), -ETIME,
	   "a run ends between two tasks");
	ok(ran < 50, "%d of 50 tasks ran", ran);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "and is told once");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

struct family {
	struct lkdf_kind *child;
	struct sleeper *s;
	atomic_int *nr;
};

static int join_sleeper(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	must(lkdf_spawn(c, f->child, f->s));
	return lkdf_join(c);
}

/* The only worker waits in a join for a body that waits to be kicked. */
static void a_join_keeps_the_time(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "joins", join_sleeper, 0, 0);
	struct sleeper s = { 0 };
	struct family f = { .child = sleeper_kind(rt), .s = &s };

	is(late_start(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &f),
		      &s.entered),
	   0, "a worker that joins kicks in time");
	is(s.kicks, 1, "once");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* Children that are spawned and joined for ever, until one is cancelled. */
static int breed(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	int rc = 0;

	while (!rc) {
		must(lkdf_spawn(c, f->child, f->nr));
		rc = lkdf_join(c);
	}
	return rc;
}

static void joins_without_end_end(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "breeds", breed, 0, 0);
	atomic_int nr = 0;
	struct family f = { .child = api_kind(rt, "count", api_count, 0, 0),
			    .nr = &nr };
	int rc;

	rc = late_start(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &f), &nr);
	is(rc, -ETIME, "%s: joins without end end in time", options);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

int main(void)
{
	tap_start(60);
	a_late_run_ends("workers=1");
	a_late_run_ends("workers=2");
	a_run_without_end_ends("workers=1", 0);
	a_run_without_end_ends("workers=1", 100);
	a_run_without_end_ends("workers=4", 100);
	a_run_without_end_ends("serial=yes", 100);
	data_hold_together();
	a_join_keeps_the_time();
	joins_without_end_end("workers=1");
	joins_without_end_end("workers=2");
	joins_without_end_end("serial=yes");
	serial_waits_look_at_the_clock();
	serial_runs_look_between_tasks();
	return tap_end();
}
