/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option stall: programs in which nothing ends any more, what the log is told
 * of each, and how often; programs of which there is nothing to tell.
 */
#include "tests/api/channel.h"
#include "tests/api/why.h"
#include "tests/threads.h"

#define NAP_NS 20000000
#define HEAD "stall: nothing has ended for "

/* What the log was told. */
static struct heard {
	pthread_mutex_t lock;
	char text[WHY_SIZE];
	size_t used;
	int nr_heads, nr_others; /* lines of stall, of anything else */
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void hear(void *u, int level, const char *text)
{
	size_t left;

	(void)u;
	pthread_mutex_lock(&heard.lock);
	if (strncmp(text, "stall: ", 7) || level != LKDF_LOG_ERROR)
		heard.nr_others++;
	heard.nr_heads += !strncmp(text, HEAD, strlen(HEAD));
	left = sizeof(heard.text) - heard.used;
	if (strlen(text) + 2 < left)
		heard.used += (size_t)snprintf(heard.text + heard.used, left,
					       "%s\n", text);
	pthread_mutex_unlock(&heard.lock);
}

static int nr_heads(void)
{
	int nr;

	pthread_mutex_lock(&heard.lock);
	nr = heard.nr_heads;
	pthread_mutex_unlock(&heard.lock);
	return nr;
}

static void forget(void)
{
	pthread_mutex_lock(&heard.lock);
	heard.used = 0;
	heard.text[0] = 0;
	heard.nr_heads = heard.nr_others = 0;
	pthread_mutex_unlock(&heard.lock);
}

static bool has_heard(const char *part)
{
	bool has;

	pthread_mutex_lock(&heard.lock);
	has = strstr(heard.text, part);
	pthread_mutex_unlock(&heard.lock);
	return has;
}

/* The watchdog ends a test in which it is never said. */
static void hear_until(const char *part, const char *what)
{
	int i;

	for (i = 0; i < 3000 && !has_heard(part); i++)
		api_nap_ns(NAP_NS);
	ok(has_heard(part), "%s: %.*s", what, (int)strcspn(part, "\n"), part);
}

static struct lkdf *open_heard(const char *options)
{
	struct lkdf *rt = NULL;

	forget();
	must(lkdf_open_with(
		ATTR(lkdf_open_attr, .options = options, .log = hear), &rt));
	return rt;
}

/* ---- its thread --------------------------------------------------------- */

/* How often the thread went to sleep; -1: there is none. */
static long nr_sleeps(void)
{
	struct found_thread t;

	return threads_find("lkdf/stall", &t, 1) ? thread_sleeps(t.tid) : -1;
}

static void nobody_watches_without(void)
{
	struct lkdf *rt = open_heard("workers=1");

	is(nr_sleeps(), -1, "without the option there is no thread");
	must(lkdf_close(rt));
}

/* It looks four times in a second while something is open. */
static void idle_ones_are_left_alone(const char *options)
{
	struct lkdf *rt = open_heard(options);
	struct lkdf_kind *k = api_kind(rt, "plain", api_nothing, 0, 0);
	long nr, i;

	is(api_call(rt, k, NULL), 0, "%s: a task has run", options);
	/* It gives itself its name. */
	for (i = 0; i < 3000 && nr_sleeps() < 0; i++)
		api_nap_ns(NAP_NS);
	ok(nr_sleeps() >= 0, "there is a thread");
	/* Until its last look at what is open is over. */
	for (i = 0, nr = -1; i < 50 && nr != nr_sleeps(); i++) {
		nr = nr_sleeps();
		api_nap_ns(1500000000);
	}
	is(nr_sleeps(), nr, "and nothing wakes it while nothing is open");
	is(nr_heads(), 0, "there is nothing to tell");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	is(nr_sleeps(), -1, "it has gone with the runtime");
}

/* ---- what waits --------------------------------------------------------- */

/* Told once, and once more when something has ended since. */
static void a_deadlock_is_named(const char *options)
{
	struct lkdf *rt = open_heard(options);
	struct lkdf_channel *there = named(rt, "there", 4);
	struct lkdf_channel *back = named(rt, "back", 4);
	struct lkdf_kind *k = api_kind(rt, "plain", api_nothing, 0, 0);
	struct side a = { .from = back, .to = there };
	struct side b = { .from = there, .to = back };
	uint64_t v = 1;

	submit_side(rt, "client", &a);
	submit_side(rt, "server", &b);
	hear_until("stall: task \"server\" waits for a value of channel "
		   "\"there\"\n",
		   options);
	ok(has_heard("stall: task \"client\" waits for a value of channel "
		     "\"back\"\n"),
	   "so is the other one");
	ok(has_heard(HEAD "1 s, lkdf_why() says:\nstall: as seen: 2 submitted "
			  "tasks"),
	   "behind a line that says since when");
	api_nap_ns(1600000000);
	is(nr_heads(), 1, "it is told once");
	forget();
	is(api_call(rt, k, NULL), 0, "another task ends");
	hear_until("stall: task \"server\" waits", "told again");
	is(heard.nr_others, 0, "nothing else was told");
	must(lkdf_channel_send(back, &v, -1));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "a value breaks the circle");
	lkdf_channel_put(there);
	lkdf_channel_put(back);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* No worker hears of it. */
static void a_task_that_never_starts_is_named(const char *options)
{
	struct lkdf *rt = open_heard(options);
	struct lkdf_kind *k = api_kind(rt, "late", api_nothing, 0, 0);
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	api_nap_ns(300000000);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .after = &e, .nr_after = 1),
			 NULL));
	hear_until("stall: task \"late\" waits before it starts, for an event "
		   "that the program fires, 1 signal to come\n",
		   options);
	must(lkdf_event_signal(e, 0));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "it starts");
	lkdf_event_put(e);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* ---- what runs ---------------------------------------------------------- */

static atomic_int may_end;

/* The first arguments are short ones. */
static int spin(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	if (*(int *)arg)
		api_until(&may_end);
	return 0;
}

static void *submit_long(void *arg)
{
	must(lkdf_event_wait(*(struct lkdf_event *)arg, -1));
	return NULL;
}

static void is_named(const char *kind, const char *where)
{
	char line[128];

	snprintf(line, sizeof(line), "stall: a body of \"%s\" has run for ",
		 kind);
	hear_until(line, where);
	atomic_store(&may_end, 1);
}

/* In a task of its own, and of the blocking pool. */
static void long_bodies_are_named(const char *options)
{
	struct lkdf *rt = open_heard(options);
	struct lkdf_kind *k[2] = {
		api_kind(rt, "endless", spin, sizeof(int), 0),
		api_kind(rt, "blocked", spin, sizeof(int), LKDF_BLOCKING),
	};
	struct lkdf_event done;
	pthread_t thread;
	int i, j, rc = 0;

	for (i = 0; i < 2; i++) {
		atomic_store(&may_end, 0);
		for (j = 0; j < 200 && !rc; j++)
			rc = api_call(rt, k[i], &(int){ 0 });
		is(rc, 0, "%s: its kind is known to be short", options);
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k[i],
				      .arg = &(int){ 1 }),
				 &done));
		pthread_create(&thread, NULL, submit_long, &done);
		is_named(i ? "blocked" : "endless", options);
		pthread_join(thread, NULL);
		lkdf_kind_put(k[i]);
	}
	must(lkdf_close(rt));
}

struct step {
	atomic_int is_long;
};

static int step(struct lkdf_ctx *c, void *arg)
{
	struct step *s = arg;

	(void)c;
	if (atomic_load(&s->is_long))
		api_until(&may_end);
	return 0;
}

/* Also one that goes by its static order. */
static void long_bodies_of_graphs_are_named(const char *options)
{
	struct lkdf *rt = open_heard(options);
	struct lkdf_kind *k = api_kind(rt, "step", step, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done;
	struct step s = { 0 };
	int t[3], i, rc = 0;
	pthread_t thread;

	for (i = 0; i < 3; i++) {
		t[i] = must(lkdf_graph_add(g, k, &s, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, t[i - 1], t[i]));
	}
	must(lkdf_graph_seal(g, NULL));
	atomic_store(&may_end, 0);
	for (i = 0; i < 100 && !rc; i++)
		rc = api_run(g, NULL, NULL);
	is(rc, 0, "%s: the graph has run often", options);
	atomic_store(&s.is_long, 1);
	must(lkdf_graph_run(g, NULL, NULL, &done));
	pthread_create(&thread, NULL, submit_long, &done);
	is_named("step", options);
	pthread_join(thread, NULL);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* ---- what goes on ------------------------------------------------------- */

static int rest(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	api_nap_ns(50000000);
	return 0;
}

/* A run of more than the time, of bodies that are much shorter. */
static void a_long_run_is_no_stall(void)
{
	struct lkdf *rt = open_heard("workers=1,stall=2");
	struct lkdf_kind *k = api_kind(rt, "rest", rest, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int last = -1, i, t;

	for (i = 0; i < 60; i++) {
		t = must(lkdf_graph_add(g, k, NULL, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, last, t));
		last = t;
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a run of many bodies");
	is(nr_heads(), 0, "nothing is told of it");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* ---- bad input ---------------------------------------------------------- */

static void is_refused(const char *options, const char *why)
{
	struct lkdf *rt = NULL;

	is(lkdf_open(options, &rt), -EINVAL, "%s is refused", options);
	has(lkdf_errmsg(), why, "and why");
}

static void bad_times_are_refused(void)
{
	is_refused("stall=86401", "stall=86401 is outside 0 .. 86400");
	is_refused("stall=-1", "stall=-1 is outside 0 .. 86400");
	is_refused("stall=soon", "stall=soon");
}

int main(void)
{
	static const char *const options[] = { "workers=1,stall=1",
					       "workers=2,stall=1,signal=off" };
	size_t i;

	tap_start(120);
	bad_times_are_refused();
	nobody_watches_without();
	/* A stall takes a second at least: what workers change twice. */
	idle_ones_are_left_alone(options[0]);
	a_deadlock_is_named(options[1]);
	a_task_that_never_starts_is_named(options[1]);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		long_bodies_are_named(options[i]);
	long_bodies_of_graphs_are_named(options[0]);
	a_task_that_never_starts_is_named("serial=yes,stall=1");
	a_long_run_is_no_stall();
	return tap_end();
}
