/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_why(): programs that wait for what does not come, and what the runtime
 * says of each; when it has come, that nothing waits any more.
 */
#include "tests/api/using.h"
#include "tests/api/why.h"

#include <errno.h>

static struct lkdf_limit *limit(struct lkdf *rt, const char *name, int tokens)
{
	struct lkdf_limit *l;

	must(lkdf_limit_create_with(
		rt, ATTR(lkdf_limit_attr, .name = name, .tokens = tokens), &l));
	return l;
}

static struct lkdf_kind *kind_with(struct lkdf *rt, const char *name,
				   lkdf_fn fn, struct lkdf_limit *l)
{
	struct lkdf_limit_use use = { l, 1 };
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .limit = &use, .nr_limit = 1),
			      &k));
	return k;
}

static void nothing_waits(struct lkdf *rt, const char *after)
{
	must(lkdf_scope_wait(rt, NULL, -1));
	has(why_until(rt, "nothing waits"), "0 submitted tasks",
	    "nothing is left after %s", after);
}

/* ---- two bodies and two limits ------------------------------------------ */

struct side {
	struct lkdf_kind *child;
	atomic_int is_in, *other;
};

static int cross(struct lkdf_ctx *c, void *arg)
{
	struct side *s = arg;

	atomic_store(&s->is_in, 1);
	api_until(s->other);
	must(lkdf_spawn(c, s->child, NULL));
	return lkdf_join(c);
}

/* In a child: it has no end. */
static void deadlock(int fd)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_limit *left = limit(rt, "left", 1);
	struct lkdf_limit *right = limit(rt, "right", 1);
	static struct side s[2];
	const char *text;

	s[0].child = kind_with(rt, "a.child", api_nothing, right);
	s[1].child = kind_with(rt, "b.child", api_nothing, left);
	s[0].other = &s[1].is_in;
	s[1].other = &s[0].is_in;
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task,
			      .kind = kind_with(rt, "a", cross, left),
			      .arg = &s[0]),
			 NULL));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task,
			      .kind = kind_with(rt, "b", cross, right),
			      .arg = &s[1]),
			 NULL));
	do {
		text = why_says(rt, "text");
	} while (!strstr(text, "\"a.child\"") || !strstr(text, "\"b.child\""));
	if (write(fd, text, strlen(text)) < 0)
		_exit(1);
	_exit(0);
}

static void two_bodies_over_limits(void)
{
	static char text[WHY_SIZE];
	size_t used = 0;
	ssize_t n;
	int fd[2];

	must(pipe(fd));
	fflush(stdout);
	if (!must(fork()))
		deadlock(fd[1]);
	close(fd[1]);
	while ((n = read(fd[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	close(fd[0]);
	has(text,
	    "task \"a.child\", below \"a\" (holds limit \"left\" of 1 token) "
	    "waits for 1 of limit \"right\" of 1 token, of which 0 are free; "
	    "1 unresolved task behind",
	    "one child waits for the other's token");
	has(text,
	    "task \"b.child\", below \"b\" (holds limit \"right\" of 1 token) "
	    "waits for 1 of limit \"left\" of 1 token, of which 0 are free",
	    "and the other way");
	has(text, "2 submitted tasks", "both are under way");
}

/* ---- graphs and events -------------------------------------------------- */

static struct lkdf_event signal_me[2];

/* One for each run: then() takes over the reference. */
static int wait_for_it(struct lkdf_ctx *c, void *arg)
{
	const int *nr = lkdf_run_arg(c);

	(void)arg;
	return lkdf_then(c, api_nothing, signal_me[*nr]);
}

static struct lkdf_graph *a_chain(struct lkdf *rt, struct lkdf_kind *middle)
{
	struct lkdf_kind *k = api_kind(rt, "plain", api_nothing, 0, 0);
	struct lkdf_graph *g;
	int t[4];

	must(lkdf_graph_create(
		rt, ATTR(lkdf_graph_attr, .name = "chain", .inflight = 2), &g));
	t[0] = must(lkdf_graph_add(g, k, NULL, NULL, 0));
	t[1] = must(lkdf_graph_add(g, middle, NULL, NULL, 0));
	t[2] = must(lkdf_graph_add(g, k, NULL, NULL, 0));
	t[3] = must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_label(g, t[1], "middle"));
	must(lkdf_graph_order(g, t[0], t[1]));
	must(lkdf_graph_order(g, t[1], t[2]));
	must(lkdf_graph_order(g, t[2], t[3]));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(k);
	return g;
}

static void a_task_of_a_graph_waits(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "middle.kind", wait_for_it, 0, 0);
	struct lkdf_graph *g = a_chain(rt, k);
	struct lkdf_event done[2];
	const char *text;

	must(lkdf_event_create(rt, 1, 0, &signal_me[0]));
	must(lkdf_event_create(rt, 1, 0, &signal_me[1]));
	must(lkdf_event_signal(signal_me[1], 0));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .arg = &(int){ 0 }),
			    &done[0]));
	why_until(rt,
		  "task \"middle\" of graph \"chain\" waits to go on, by "
		  "lkdf_then(), for an event that the program fires, 1 signal "
		  "to come; 2 unresolved tasks behind");
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .arg = &(int){ 1 }),
			    &done[1]));
	text = why_until(rt, "a run of graph \"chain\" waits for tokens of "
			     "another run of its graph");
	has(text, "task \"middle\" of graph \"chain\"",
	    "the run that it waits for is told as well");
	text = why_says(rt, "json");
	has(text, "{\"schema\":\"lkdf/why/1\",\"under_way\":2,", "JSON");
	has(text,
	    "{\"cause\":\"event\",\"who\":\"task \\\"middle\\\" of graph "
	    "\\\"chain\\\"\",\"waits\":\"to go on, by lkdf_then(), for an "
	    "event that the program fires, 1 signal to come\",\"behind\":2,\"next\":\"\"}",
	    "with its row");
	must(lkdf_event_signal(signal_me[0], 0));
	is(lkdf_event_wait(done[0], -1), 0, "the first run ends");
	is(lkdf_event_wait(done[1], -1), 0, "the second run ends");
	nothing_waits(rt, "the runs");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static int hold_it(struct lkdf_ctx *c, void *arg)
{
	return lkdf_hold(c, arg);
}

static void tasks_wait_for_events(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "late", api_nothing, 0, 0);
	struct lkdf_kind *holder = api_kind(rt, "holder", hold_it, 0, 0);
	struct lkdf_event e, held, any, ready, done[4];
	int fd[2];
	char text[64];

	must(pipe(fd));
	must(lkdf_event_create(rt, 2, 0, &e));
	must(lkdf_event_any(rt, &e, 1, &any));
	must(lkdf_event_from_fd(rt, fd[0], 0, &ready));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .after = &e, .nr_after = 1),
			 &done[0]));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .after = &any,
			      .nr_after = 1),
			 &done[1]));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .after = &ready,
			      .nr_after = 1),
			 &done[2]));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = holder, .arg = &held),
			 &done[3]));
	why_until(rt, "task \"late\" waits before it starts, for an event that "
		      "the program fires, 2 signals to come");
	why_until(rt, "task \"late\" waits before it starts, for the first of "
		      "1 events");
	snprintf(text, sizeof(text), "until descriptor %d is ready", fd[0]);
	why_until(rt, text);
	why_until(rt, "task \"holder\" waits to end, by lkdf_hold(), for an "
		      "event that the program fires, 1 signal to come");
	must(lkdf_event_signal(e, 0));
	must(lkdf_event_signal(e, 0));
	must(lkdf_event_signal(held, 0));
	must((int)write(fd[1], "x", 1));
	is(lkdf_event_wait(done[0], -1), 0, "after an event");
	is(lkdf_event_wait(done[1], -1), 0, "after the first of several");
	is(lkdf_event_wait(done[2], -1), 0, "after a descriptor");
	is(lkdf_event_wait(done[3], -1), 0, "held");
	lkdf_event_put(e);
	lkdf_event_put(any);
	lkdf_event_put(ready);
	lkdf_event_put(held);
	nothing_waits(rt, "events");
	lkdf_kind_put(k);
	lkdf_kind_put(holder);
	close(fd[0]);
	close(fd[1]);
}

/* A cancel does not reach it: it has a line all the same. */
static void held_always(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "always", hold_it, 0, LKDF_ALWAYS);
	struct lkdf_kind *late =
		api_kind(rt, "late always", api_nothing, 0, LKDF_ALWAYS);
	struct lkdf_event held, done, e, ran;
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr), &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &held),
			 &done));
	why_until(rt, "task \"always\" waits to end, by lkdf_hold(), for an "
		      "event that the program fires, 1 signal to come");
	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_submit(rt, s,
			 ATTR(lkdf_task, .kind = late, .after = &e,
			      .nr_after = 1),
			 &ran));
	must(lkdf_event_label(held, "a message"));
	must(lkdf_scope_cancel(rt, s, -EINTR));
	why_until(rt, "task \"always\" waits to end, by lkdf_hold(), for an "
		      "event \"a message\" that the program fires");
	why_until(rt,
		  "task \"late always\" waits before it starts, for an event");
	must(lkdf_event_signal(held, 0));
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(held);
	lkdf_event_put(e);
	is(lkdf_event_wait(done, -1), 0, "which no cancel ends");
	is(lkdf_event_wait(ran, -1), 0, "nor the wait before it");
	lkdf_scope_wait(rt, s, -1);
	lkdf_scope_put(s);
	nothing_waits(rt, "a task that runs always");
	lkdf_kind_put(k);
	lkdf_kind_put(late);
}

/* ---- operations --------------------------------------------------------- */

static void an_operation_waits(struct lkdf *rt)
{
	struct lkdf_kind *k;
	struct lkdf_event done;
	char text[128], byte;
	int fd[2];

	must(pipe(fd));
	must(lkdf_kind_create_io(rt,
				 ATTR(lkdf_kind_attr, .name = "reader",
				      .arg_size = sizeof(struct lkdf_io)),
				 &k));
	must(lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = k,
		     .arg = &(struct lkdf_io){ .size = sizeof(struct lkdf_io),
					       .op = LKDF_IO_READ,
					       .fd = fd[0],
					       .buf = &byte,
					       .len = 1,
					       .off = -1 }),
		&done));
	snprintf(text, sizeof(text),
		 "task \"reader\" waits for its operation read on descriptor "
		 "%d",
		 fd[0]);
	why_until(rt, text);
	has(why_says(rt, "json"), "{\"cause\":\"io\",", "JSON says so, too");
	must((int)write(fd[1], "x", 1));
	is(lkdf_event_wait(done, -1), 0, "the operation ends");
	nothing_waits(rt, "an operation");
	lkdf_kind_put(k);
	close(fd[0]);
	close(fd[1]);
}

/* ---- data --------------------------------------------------------------- */

struct family {
	struct lkdf_kind *first, *second;
	struct lkdf_use use;
};

static int spawn_using(struct lkdf_ctx *c, struct lkdf_kind *k,
		       const struct lkdf_use *use)
{
	return lkdf_spawn_task(
		c, ATTR(lkdf_task, .kind = k, .use = use, .nr_use = 1), NULL);
}

static int join_two(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	must(spawn_using(c, f->first, &f->use));
	must(spawn_using(c, f->second, &f->use));
	return lkdf_join(c);
}

static int leave_to_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	must(spawn_using(c, f->second, &f->use));
	return 0;
}

static int wait_for_first(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_then(c, api_nothing, signal_me[0]);
}

/* The second child waits for the first, that one for an event. */
static void a_join_waits_for_data(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "parent", join_two, 0, 0);
	struct lkdf_data *d = number(rt, "table", &(uint64_t){ 1 });
	struct family f = {
		.first = api_kind(rt, "first", wait_for_first, 0, 0),
		.second = api_kind(rt, "second", api_nothing, 0, 0),
		.use = ON(d, LKDF_RW),
	};
	struct lkdf_event done;

	must(lkdf_event_create(rt, 1, 0, &signal_me[0]));
	must(submit_on(rt, k, &f, f.use, &done));
	why_until(rt, "task \"first\", below \"parent\" waits to go on, by "
		      "lkdf_then(), for an event that the program fires, "
		      "1 signal to come; 2 unresolved tasks behind, as is task "
		      "\"second\", which is to write table");
	must(lkdf_event_signal(signal_me[0], 0));
	is(lkdf_event_wait(done, -1), 0, "the parent ends");
	nothing_waits(rt, "a join");
	lkdf_data_put(d);
	lkdf_kind_put(f.first);
	lkdf_kind_put(f.second);
	lkdf_kind_put(k);
}

static void tasks_wait_for_a_thread(struct lkdf *rt)
{
	struct lkdf_kind *weak = api_kind(rt, "weak", leave_to_child, 0, 0);
	struct lkdf_data *d = number(rt, "table", &(uint64_t){ 1 });
	struct family f = {
		.second = api_kind(rt, "second", api_nothing, 0, 0),
		.use = ON(d, LKDF_RW),
	};
	struct lkdf_event done[2];
	void *at;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &at));
	must(submit_on(rt, weak, &f, ON(d, LKDF_RW | LKDF_WEAK), &done[0]));
	must(submit_on(rt, f.second, NULL, f.use, &done[1]));
	why_until(rt,
		  "task \"weak\" waits to write table, for its "
		  "children, which a thread has acquired; 1 unresolved task "
		  "behind");
	must(lkdf_data_release(d));
	is(lkdf_event_wait(done[0], -1), 0, "the one with a child ends");
	is(lkdf_event_wait(done[1], -1), 0, "the one behind it ends");
	nothing_waits(rt, "data");
	lkdf_data_put(d);
	lkdf_kind_put(f.second);
	lkdf_kind_put(weak);
}

/* ---- room --------------------------------------------------------------- */

struct submitter {
	struct lkdf *rt;
	struct lkdf_scope *s;
	struct lkdf_kind *k;
};

static void *submit_one(void *arg)
{
	struct submitter *u = arg;

	must(lkdf_submit(u->rt, u->s, ATTR(lkdf_task, .kind = u->k), NULL));
	return NULL;
}

static void a_thread_waits_for_room(struct lkdf *rt)
{
	struct submitter u = { .rt = rt };
	pthread_t thread;
	struct lkdf_event e;

	u.k = api_kind(rt, "late", api_nothing, 0, 0);
	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .name = "small", .max_tasks = 1),
		&u.s));
	must(lkdf_submit(rt, u.s,
			 ATTR(lkdf_task, .kind = u.k, .after = &e,
			      .nr_after = 1),
			 NULL));
	pthread_create(&thread, NULL, submit_one, &u);
	why_until(rt, "a thread that submits waits for room in scope "
		      "\"small\", which has its 1 tasks");
	must(lkdf_event_signal(e, 0));
	pthread_join(thread, NULL);
	is(lkdf_scope_wait(rt, u.s, -1), 0, "the scope ends");
	lkdf_event_put(e);
	lkdf_scope_put(u.s);
	nothing_waits(rt, "room");
	lkdf_kind_put(u.k);
}

/* ---- bad input ---------------------------------------------------------- */

static void it_refuses(struct lkdf *rt)
{
	is(lkdf_why(NULL, "text", 1), -EINVAL, "no runtime");
	is(lkdf_why(rt, NULL, 1), -EINVAL, "no format");
	is(lkdf_why(rt, "xml", 1), -EINVAL, "format xml");
	has(lkdf_errmsg(), "why: format=xml: expected text or json",
	    "and what it expected");
	is(lkdf_why(rt, "text", -1), -EBADF, "no descriptor");
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=2",
					       "workers=2,io=threads" };
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	two_bodies_over_limits();
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		rt = api_open(options[i]);
		nothing_waits(rt, "lkdf_open()");
		a_task_of_a_graph_waits(rt);
		tasks_wait_for_events(rt);
		held_always(rt);
		an_operation_waits(rt);
		a_join_waits_for_data(rt);
		tasks_wait_for_a_thread(rt);
		a_thread_waits_for_room(rt);
		it_refuses(rt);
		must(lkdf_close(rt));
	}
	return tap_end();
}
