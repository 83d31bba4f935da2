/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Several threads that wait for one scope, for one run or for a frame of one
 * graph are all let go, and take all the frames that are free; whoever needs
 * many tokens of a limit is not overtaken by those that need few; and the
 * counter of wake-ups has those of threads of the program.
 */
#include "tests/api/heard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define NR_THREADS 6

struct waiter {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_graph *graph;
	struct lkdf_event event;
	bool is_shared; /* the event is the others' too */
	pthread_t thread;
	atomic_int tid;
	int rc;
};

static int wait_for(const struct waiter *w)
{
	unsigned which;

	if (w->is_shared)
		return lkdf_event_which(w->event, -1, &which);
	if (w->event.slot)
		return lkdf_event_wait(w->event, -1);
	return w->graph ? lkdf_graph_run(w->graph, NULL, NULL, NULL)
			: lkdf_scope_wait(w->rt, w->scope, -1);
}

static void *wait_main(void *arg)
{
	struct waiter *w = arg;

	atomic_store(&w->tid, (int)gettid());
	w->rc = wait_for(w);
	return NULL;
}

/* The third field of its stat. */
static char state_of(int tid)
{
	char path[64], text[256] = "", *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return '?';
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '?';
}

/* All sleep: they have nothing to sleep for but what they wait for. */
static void start_all(struct waiter *w)
{
	int i;

	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&w[i].thread, NULL, wait_main, &w[i]);
	for (i = 0; i < NR_THREADS; i++)
		while (!atomic_load(&w[i].tid) ||
		       state_of(atomic_load(&w[i].tid)) != 'S')
			api_nap_ns(100000);
}

/* How many come back, and well. */
static int nr_back(struct waiter *w)
{
	struct timespec end;
	int i, nr = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	for (i = 0; i < NR_THREADS; i++)
		nr += !pthread_timedjoin_np(w[i].thread, NULL, &end) &&
		      !w[i].rc;
	return nr;
}

static void all_waiters_of_a_scope_go_on(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	static struct waiter w[NR_THREADS];
	struct lkdf_scope *s = NULL;
	struct gate gate = { 0 };
	int i;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &gate),
			 NULL));
	for (i = 0; i < NR_THREADS; i++)
		w[i] = (struct waiter){ .rt = rt, .scope = s };
	start_all(w);
	atomic_store(&gate.open, 1);
	is(nr_back(w), NR_THREADS, "%d threads waited for one scope",
	   NR_THREADS);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

static void all_waiters_of_a_graph_go_on(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	static struct waiter w[NR_THREADS];
	struct lkdf_graph *g = api_graph(rt, 1);
	struct gate gate = { 0 };
	int i;

	must(lkdf_graph_add(g, k, &gate, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, NULL));
	for (i = 0; i < NR_THREADS; i++)
		w[i] = (struct waiter){ .rt = rt, .graph = g };
	start_all(w);
	atomic_store(&gate.open, 1);
	is(nr_back(w), NR_THREADS, "%d threads waited for one frame",
	   NR_THREADS);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "their runs end");
	is(gate.entered, NR_THREADS + 1, "each has run");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* Some ask one event of the run together, each of the others one of its own. */
static void all_waiters_of_a_run_go_on(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	static struct waiter w[NR_THREADS];
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done, shared;
	struct gate gate = { 0 };
	int i;

	must(lkdf_graph_add(g, k, &gate, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	must(lkdf_event_any(rt, &done, 1, &shared));
	for (i = 0; i < NR_THREADS; i++) {
		w[i] = (struct waiter){ .event = shared, .is_shared = i % 2 };
		if (i % 2 == 0)
			must(lkdf_event_any(rt, &done, 1, &w[i].event));
	}
	start_all(w);
	atomic_store(&gate.open, 1);
	is(nr_back(w), NR_THREADS, "%d threads waited for one run", NR_THREADS);
	lkdf_event_put(shared);
	is(lkdf_event_wait(done, -1), 0, "which has ended well");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

struct visit {
	struct gate first, late;
};

/* The first run stays, so do all from NR_THREADS on. */
static int visit(struct lkdf_ctx *c, void *arg)
{
	struct visit *v = arg;

	if (!lkdf_seq(c))
		gate_pass(&v->first);
	else if (lkdf_seq(c) >= NR_THREADS)
		gate_pass(&v->late);
	return 0;
}

/*
 * Runs that pass tokens take frames in turn, and the frame whose turn it is is
 * the last that gets free: as many threads as the graph has frames wait for
 * that one, and all of them may go on with it.
 */
static void waiters_of_a_frame_take_all_that_are_free(struct lkdf *rt)
{
	struct lkdf_kind *k =
		api_kind(rt, "visit", visit, 0, LKDF_BLOCKING | LKDF_SHARED);
	struct lkdf_kind *serial = api_kind(rt, "serial", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, NR_THREADS);
	struct lkdf_event done[NR_THREADS];
	static struct waiter w[NR_THREADS];
	struct visit v = { 0 };
	int i;

	must(lkdf_graph_add(g, serial, NULL, NULL, 0));
	must(lkdf_graph_add(g, k, &v, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < NR_THREADS; i++)
		must(lkdf_graph_run(g, NULL, NULL, &done[i]));
	for (i = 1; i < NR_THREADS; i++)
		must(lkdf_event_wait(done[i], -1));
	for (i = 0; i < NR_THREADS; i++)
		w[i] = (struct waiter){ .rt = rt, .graph = g };
	start_all(w);
	atomic_store(&v.first.open, 1);
	for (i = 0; i < 20000 && atomic_load(&v.late.entered) < NR_THREADS; i++)
		api_nap_ns(1000000);
	is(v.late.entered, NR_THREADS, "as many runs as frames at a time");
	atomic_store(&v.late.open, 1);
	is(nr_back(w), NR_THREADS, "whose threads waited for the first frame");
	must(lkdf_event_wait(done[0], -1));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all of them end");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(serial);
}

/* ---- limits ------------------------------------------------------------- */

#define NR_SMALL 20

static atomic_int nr_small, nr_plain, nr_before_large;

static int run_large(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&nr_before_large, atomic_load(&nr_small));
	return 0;
}

static struct lkdf_kind *limited(struct lkdf *rt, const char *name, lkdf_fn fn,
				 uint32_t flags, struct lkdf_limit *l,
				 uint64_t tokens)
{
	struct lkdf_limit_use use = { .limit = l, .tokens = tokens };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .flags = flags, .limit = &use,
				   .nr_limit = 1),
			      &k));
	return k;
}

static void submit(struct lkdf *rt, struct lkdf_kind *k, void *arg)
{
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = arg),
			 NULL));
}

/* One of two tokens is free all the time, and one task wants both. */
static void newcomers_do_not_overtake(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *holder, *large, *small, *plain;
	struct lkdf_limit *l = NULL;
	struct gate gate = { 0 };
	int i;

	must(lkdf_limit_create(rt, 2, &l));
	holder = limited(rt, "holder", pass_gate, LKDF_BLOCKING, l, 1);
	large = limited(rt, "large", run_large, 0, l, 2);
	small = limited(rt, "small", api_count, 0, l, 1);
	plain = api_kind(rt, "plain", api_count, 0, 0);
	atomic_store(&nr_before_large, -1);
	submit(rt, holder, &gate);
	api_until(&gate.entered);
	submit(rt, large, NULL);
	for (i = 0; i < NR_SMALL; i++)
		submit(rt, small, &nr_small);
	/* The worker takes the oldest first: it has tried them all then. */
	must(api_call(rt, plain, &nr_plain));
	is(nr_small, 0, "who needs few waits behind who needs many");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all get their tokens");
	is(nr_before_large, 0, "and the one that needs many is the first");
	is(nr_small, NR_SMALL, "before the others");
	lkdf_kind_put(holder);
	lkdf_kind_put(large);
	lkdf_kind_put(small);
	lkdf_kind_put(plain);
	lkdf_limit_put(l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static struct lkdf_kind *child_kind, *middle_kind;
static int spawned;

static int spawn_child(struct lkdf_ctx *c, void *arg)
{
	spawned = lkdf_spawn(c, child_kind, arg);
	if (spawned == -EDEADLK &&
	    !strstr(lkdf_errmsg(), "limit \"beds\" of 3 tokens"))
		return -EPROTO;
	return lkdf_join(c);
}

static int spawn_middle(struct lkdf_ctx *c, void *arg)
{
	must(lkdf_spawn(c, middle_kind, arg));
	return lkdf_join(c);
}

/* Neither would end: a task holds its tokens until its children have ended. */
static void a_child_that_waits_for_its_parents_is_refused(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *parent, *above;
	struct lkdf_limit *l = NULL;
	atomic_int ran = 0;

	must(lkdf_limit_create_with(rt, LKDF_LIMIT(.name = "beds", .tokens = 3),
				    &l));
	parent = limited(rt, "parent", spawn_child, 0, l, 2);
	above = limited(rt, "above", spawn_middle, 0, l, 2);
	middle_kind = api_kind(rt, "middle", spawn_child, 0, 0);
	child_kind = limited(rt, "child", api_count, 0, l, 1);
	is(api_call(rt, parent, &ran), 0,
	   "a child takes what its parent leaves");
	ok(!spawned && ran == 1, "and runs");
	lkdf_kind_put(child_kind);
	child_kind = limited(rt, "child", api_count, 0, l, 2);
	is(api_call(rt, parent, &ran), 0, "a child that needs more");
	is(spawned, -EDEADLK, "is refused, with the reason");
	is(api_call(rt, above, &ran), 0, "and one further below");
	is(spawned, -EDEADLK, "too");
	is(ran, 1, "none of them ran");
	lkdf_kind_put(parent);
	lkdf_kind_put(above);
	lkdf_kind_put(middle_kind);
	lkdf_kind_put(child_kind);
	lkdf_limit_put(l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* ---- wake-ups ----------------------------------------------------------- */

/* A worker that has said that it sleeps may find the task before it does. */
static void wakes_from_outside_are_counted(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *k = api_kind(rt, "count", api_count, 0, 0);
	uint64_t parks = 0;
	atomic_int ran = 0;
	int i;

	for (i = 0; i < 200 && !stat_of(rt, "lkdf.wakes"); i++) {
		while (stat_of(rt, "lkdf.parks") == parks)
			api_nap_ns(1000000);
		parks = stat_of(rt, "lkdf.parks");
		must(api_call(rt, k, &ran));
	}
	ok(stat_of(rt, "lkdf.wakes") > 0,
	   "a thread of the program that wakes a worker is counted (%d tries)",
	   i);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	struct lkdf *rt;

	tap_start(150);
	rt = api_open_workers(2);
	all_waiters_of_a_scope_go_on(rt);
	all_waiters_of_a_graph_go_on(rt);
	all_waiters_of_a_run_go_on(rt);
	waiters_of_a_frame_take_all_that_are_free(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	newcomers_do_not_overtake();
	a_child_that_waits_for_its_parents_is_refused();
	wakes_from_outside_are_counted();
	return tap_end();
}
