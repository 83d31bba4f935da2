/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that start after events: of other tasks, of runs, of the user. Not one
 * starts early; an error skips what comes after; a cancel does not wait.
 */
#include "tests/api/late.h"
#include "tests/oracle/random.h"

#include <pthread.h>

#define NR_NODES 400
#define MAX_IN 5

/* A task of a random program: it starts after others of lower numbers. */
struct node {
	struct dag *dag;
	int nr_in, in[MAX_IN];
	atomic_int done;
	struct lkdf_event event;
};

struct dag {
	struct node node[NR_NODES];
	atomic_int nr_early, nr_ran;
};

static int run_node(struct lkdf_ctx *c, void *arg)
{
	struct node *n = arg;
	int i;

	(void)c;
	for (i = 0; i < n->nr_in; i++)
		if (!atomic_load(&n->dag->node[n->in[i]].done))
			atomic_fetch_add(&n->dag->nr_early, 1);
	atomic_store(&n->done, 1);
	atomic_fetch_add(&n->dag->nr_ran, 1);
	return 0;
}

static void submit_node(struct lkdf *rt, struct lkdf_kind *k, struct node *n)
{
	struct lkdf_event after[MAX_IN];
	int i;

	for (i = 0; i < n->nr_in; i++)
		after[i] = n->dag->node[n->in[i]].event;
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = n, .after = after,
			      .nr_after = (uint32_t)n->nr_in),
			 &n->event));
}

static void random_programs_keep_their_order(const char *options, int nr)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "node", run_node, 0, 0);
	struct lkdf_kind *b = api_kind(rt, "b", run_node, 0, LKDF_BLOCKING);
	struct dag *d = malloc(sizeof(*d));
	struct rng r;
	int seed, i, j, early = 0, ran = 0, bad = 0;

	for (seed = 1; seed <= nr; seed++) {
		memset(d, 0, sizeof(*d));
		r = (struct rng){ .state = (uint64_t)seed };
		for (i = 0; i < NR_NODES; i++) {
			d->node[i].dag = d;
			for (j = i ? (int)rng_range(&r, 0, MAX_IN) : 0; j; j--)
				d->node[i].in[d->node[i].nr_in++] =
					(int)rng_range(&r, 0, (uint32_t)i - 1);
			submit_node(rt, rng_one_in(&r, 8) ? b : k, &d->node[i]);
		}
		for (i = 0; i < NR_NODES; i++)
			bad += lkdf_event_wait(d->node[i].event, -1) != 0;
		early += d->nr_early;
		ran += d->nr_ran;
	}
	is(bad, 0, "%s: no task fails", options);
	is(early, 0, "%s: none starts early", options);
	is(ran, nr * NR_NODES, "%s: all run, once", options);
	free(d);
	lkdf_kind_put(k);
	lkdf_kind_put(b);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: nothing is left", options);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

static int seen_error[4];

static int look_at_inputs(struct lkdf_ctx *c, void *arg)
{
	int i;

	for (i = 0; i < 4; i++)
		seen_error[i] = lkdf_input_error(c, (unsigned)i);
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

static int fail_so(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "the disk is gone");
}

static void an_error_skips_what_comes_after(const char *options)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *fails = api_kind(rt, "fails", fail_so, 0, 0);
	struct lkdf_kind *always;
	struct lkdf_event after[3], done, done_always;
	struct late l;

	late_init(&l, rt);
	always = api_kind(rt, "looks", look_at_inputs, 0, LKDF_ALWAYS);
	must(lkdf_event_create(rt, 1, 0, &after[0]));
	must(lkdf_event_create(rt, 2, 0, &after[1]));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = fails), &after[2]));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .after = after, .nr_after = 3),
			 &done));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = always, .arg = &l.ran,
			      .after = after, .nr_after = 3),
			 &done_always));
	is(lkdf_event_wait(done, 0), 1, "%s: events are to come", options);
	must(lkdf_event_signal(after[1], -EPIPE));
	must(lkdf_event_signal(after[1], 0));
	is(lkdf_event_wait(done, MS), 1, "%s: one is", options);
	must(lkdf_event_signal(after[0], 0));
	is(lkdf_event_wait(done, -1), -EPIPE,
	   "%s: skipped with the first by number", options);
	is(lkdf_event_wait(done_always, -1), 0, "%s: ALWAYS runs", options);
	is(l.ran, 1, "%s: alone", options);
	is(seen_error[0], 0, "%s: it sees that the first is fine", options);
	is(seen_error[1], -EPIPE, "%s: which error the second has", options);
	is(seen_error[2], -EIO, "%s: and the third", options);
	is(seen_error[3], 0, "%s: there is no fourth", options);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .after = &after[2], .nr_after = 1),
			 &done));
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(MS);
	has(e.why, "the disk is gone", "%s: the text of a failed task goes on",
	    options);
	is(lkdf_event_wait(done, -1), -EIO, "%s: and its error", options);
	is(lkdf_event_wait(after[2], -1), -EIO, "%s: it stays ours", options);
	is(lkdf_event_wait(after[0], -1), 0, "%s: so do the users'", options);
	is(lkdf_event_wait(after[1], -1), -EPIPE, "%s: both", options);
	must(lkdf_scope_error(rt, NULL, &e));
	is(e.nr_skipped, 2, "%s: two were skipped", options);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(fails);
	lkdf_kind_put(always);
	late_fini(&l);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

static void fired_and_stale_events(void)
{
	struct lkdf *rt = api_open("workers=1"), *other = api_open("workers=1");
	struct lkdf_event done, old, after[2], foreign;
	struct lkdf_graph *g, *unsealed;
	struct late l;

	late_init(&l, rt);
	g = api_graph(rt, 1);
	must(lkdf_graph_add(g, l.count, &l.ran, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	lkdf_scope_wait(rt, NULL, -1);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .after = &done, .nr_after = 1),
			 &after[1]));
	is(lkdf_event_wait(after[1], -1), 0, "after a run that has ended");
	is(l.ran, 2, "both have run");
	old = done;
	is(lkdf_event_wait(done, -1), 0, "the run's event is ours still");
	after[0] = (struct lkdf_event){ 0 };
	must(lkdf_event_create(rt, 1, 0, &after[0]));
	after[1] = old;
	is(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			    .after = after, .nr_after = 2),
		       NULL),
	   -ESTALE, "one whose last reference is gone is refused");
	has(lkdf_errmsg(), "event 1", "by its number: %s", lkdf_errmsg());
	must(lkdf_event_create(other, 1, 0, &foreign));
	is(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = l.count, .after = &foreign,
			    .nr_after = 1),
		       NULL),
	   -EINVAL, "one of another runtime, too");
	unsealed = api_graph(rt, 1);
	is(lkdf_graph_add_task(unsealed, ATTR(lkdf_task, .kind = l.count,
					      .after = after, .nr_after = 1)),
	   -EINVAL, "and a graph's task");
	must(lkdf_event_signal(foreign, 0));
	lkdf_event_put(foreign);
	must(lkdf_event_signal(after[0], 0));
	is(lkdf_event_wait(after[0], -1), 0,
	   "what was refused holds no reference");
	lkdf_graph_put(unsealed);
	lkdf_graph_put(g);
	late_fini(&l);
	is(lkdf_close(other), 0, "the other runtime closes");
	is(lkdf_close(rt), 0, "this one too");
}

/* Data and events: it takes its place in the order of uses at once. */
static void uses_and_events(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_use use = { .mode = LKDF_RW };
	struct lkdf_event go, first, second;
	struct lkdf_data *x;
	uint64_t zero = 0;
	struct late l;

	late_init(&l, rt);
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = 8, .init = &zero), &x));
	use.data = x;
	must(lkdf_event_create(rt, 1, 0, &go));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .use = &use, .nr_use = 1, .after = &go,
			      .nr_after = 1),
			 &first));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .use = &use, .nr_use = 1, .after = &first,
			      .nr_after = 1),
			 &second));
	is(lkdf_event_wait(second, MS), 1, "%s: the second waits", options);
	is(l.ran, 0, "%s: for the first", options);
	must(lkdf_event_signal(go, 0));
	lkdf_event_put(go);
	is(lkdf_event_wait(second, -1), 0, "%s: both run", options);
	is(lkdf_event_wait(first, -1), 0, "%s: in turn", options);
	is(lkdf_data_version(x), 3, "%s: both have written", options);
	lkdf_data_put(x);
	late_fini(&l);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: all end", options);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

/* The events never fire, or too late: it does not matter. */
static void a_cancel_does_not_wait(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_event never[2], later;
	struct lkdf_scope *s;
	struct late l;
	int i;

	late_init(&l, rt);
	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_event_create(rt, 1, 0, &later));
	for (i = 0; i < 2; i++)
		must(lkdf_event_create(rt, 1, 0, &never[i]));
	for (i = 0; i < 50; i++)
		must(lkdf_submit(rt, s,
				 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
				      .after = never, .nr_after = 2),
				 NULL));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .after = &later, .nr_after = 1),
			 NULL));
	is(lkdf_scope_wait(rt, s, MS), 1, "%s: they wait", options);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "%s: until they are cancelled",
	   options);
	is(lkdf_submit(rt, s,
		       ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			    .after = &never[1], .nr_after = 1,
			    .deadline_ns = MS),
		       NULL),
	   0, "%s: one has a deadline", options);
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "%s: and no event either",
	   options);
	must(lkdf_event_signal(later, 0));
	lkdf_event_put(later);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: the others are not touched",
	   options);
	is(l.ran, 1, "%s: and run", options);
	/* One of them still fires, the other does not before the close. */
	must(lkdf_event_signal(never[0], 0));
	lkdf_event_put(never[0]);
	lkdf_event_put(never[1]);
	lkdf_scope_put(s);
	late_fini(&l);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

struct racer {
	pthread_t id;
	struct lkdf_event *e;
	int nr;
};

static void *signal_all(void *arg)
{
	struct racer *r = arg;
	int i;

	for (i = 0; i < r->nr; i++)
		must(lkdf_event_signal(r->e[i], 0));
	return NULL;
}

/* Events, cancels and deadlines at the same time: each task ends once. */
static void all_at_once(void)
{
	enum {
		NR = 300
	};
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event event[NR];
	struct racer r = { .e = event, .nr = NR };
	struct lkdf_scope *s;
	struct late l;
	int i;

	late_init(&l, rt);
	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < NR; i++)
		must(lkdf_event_create(rt, 1, 0, &event[i]));
	for (i = 0; i < NR; i++)
		must(lkdf_submit(rt, s,
				 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
				      .after = &event[i], .nr_after = 1,
				      .deadline_ns = i % 3 ? MS : HOUR),
				 NULL));
	pthread_create(&r.id, NULL, signal_all, &r);
	api_nap_ns(20000);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	pthread_join(r.id, NULL);
	lkdf_scope_wait(rt, s, -1);
	must(lkdf_scope_error(rt, s, &e));
	is(l.ran + (int)e.nr_cancelled, NR, "each ran (%d) or was cancelled",
	   l.ran);
	for (i = 0; i < NR; i++)
		lkdf_event_put(event[i]);
	lkdf_scope_put(s);
	late_fini(&l);
	lkdf_scope_wait(rt, NULL, -1);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	int i;

	tap_start(60);
	random_programs_keep_their_order("workers=1", 5);
	random_programs_keep_their_order("workers=4", 20);
	random_programs_keep_their_order("serial=yes", 2);
	an_error_skips_what_comes_after("workers=2");
	an_error_skips_what_comes_after("serial=yes");
	fired_and_stale_events();
	uses_and_events("workers=2");
	uses_and_events("serial=yes");
	a_cancel_does_not_wait("workers=2");
	a_cancel_does_not_wait("serial=yes");
	for (i = 0; i < 20; i++)
		all_at_once();
	return tap_end();
}
