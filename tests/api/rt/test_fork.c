/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A forked child has no workers: every call that needs them says so, close
 * frees, and the parent goes on. Several runtimes live side by side.
 */
#include "tests/api/api.h"

#include <sys/wait.h>

struct world {
	struct lkdf *rt;
	struct lkdf_kind *k;
	struct lkdf_graph *g, *open, *part, *stream;
	struct lkdf_channel *ch;
	struct lkdf_scope *s;
	struct lkdf_event e, pulse;
	atomic_int nr;
};

static void world_init(struct world *w, const char *options)
{
	*w = (struct world){ .rt = api_open(options) };
	w->k = api_kind(w->rt, "count", api_count, 0, 0);
	w->g = api_graph(w->rt, 1);
	must(lkdf_graph_add(w->g, w->k, &w->nr, NULL, 0));
	must(lkdf_graph_seal(w->g, NULL));
	w->open = api_graph(w->rt, 1);
	must(lkdf_graph_add(w->open, w->k, &w->nr, NULL, 0));
	must(lkdf_graph_add(w->open, w->k, &w->nr, NULL, 0));
	w->part = api_graph(w->rt, 1);
	must(lkdf_graph_add(w->part, w->k, &w->nr, NULL, 0));
	w->stream = api_graph(w->rt, 2);
	must(lkdf_graph_add(w->stream, w->k, &w->nr, NULL, 0));
	must(lkdf_graph_seal(w->stream, NULL));
	must(lkdf_channel_create(
		w->rt, LKDF_CHANNEL(.value_size = sizeof(int), .depth = 2),
		&w->ch));
	must(lkdf_channel_send(w->ch, &(int){ 1 }, 0));
	must(lkdf_scope_create(w->rt, NULL, &w->s));
	must(lkdf_event_create(w->rt, 1, 0, &w->e));
	must(lkdf_event_create(w->rt, 1, LKDF_EVENT_PULSE, &w->pulse));
}

static void world_fini(struct world *w)
{
	must(lkdf_event_signal(w->e, 0));
	lkdf_event_put(w->e);
	lkdf_event_put(w->pulse);
	lkdf_channel_put(w->ch);
	lkdf_scope_put(w->s);
	lkdf_graph_put(w->g);
	lkdf_graph_put(w->open);
	lkdf_graph_put(w->part);
	lkdf_graph_put(w->stream);
	lkdf_kind_put(w->k);
	is(lkdf_close(w->rt), 0, "the runtime closes");
}

/* The number of calls that did something else than refuse. */
static int nr_not_refused(const int *rc, size_t nr)
{
	int bad = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		bad += rc[i] != -EOWNERDEAD;
	return bad + !strstr(lkdf_errmsg(), "after fork");
}

#define NOT_REFUSED(rc) nr_not_refused(rc, sizeof(rc) / sizeof(*(rc)))

static int calls_in_child(struct world *w)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_graph *g;
	struct lkdf_scope *s;
	struct lkdf_limit *l;
	struct lkdf_kind *k;
	struct lkdf_event ev;
	unsigned which;
	int rc[] = {
		lkdf_submit(w->rt, NULL,
			    ATTR(lkdf_task, .kind = w->k, .arg = &w->nr), NULL),
		lkdf_graph_run(w->g, NULL, NULL, NULL),
		lkdf_graph_seal(w->open, NULL),
		lkdf_graph_set(w->g, 0, &w->nr),
		lkdf_graph_create(w->rt, NULL, &g),
		lkdf_scope_create(w->rt, NULL, &s),
		lkdf_scope_wait(w->rt, w->s, -1),
		lkdf_scope_cancel(w->rt, w->s, -EINTR),
		lkdf_scope_error(w->rt, NULL, &e),
		lkdf_limit_create(w->rt, 1, &l),
		lkdf_kind_create(w->rt,
				 ATTR(lkdf_kind_attr, .name = "n",
				      .fn = api_nothing),
				 &k),
		lkdf_event_create(w->rt, 1, 0, &ev),
		lkdf_event_signal(w->e, 0),
		lkdf_event_wait(w->e, -1),
		lkdf_event_error(w->e, &e),
		lkdf_event_any(w->rt, &w->e, 1, &ev),
		lkdf_event_which(w->e, 0, &which),
		lkdf_event_call(w->e, NULL, NULL),
		lkdf_event_fd(w->e),
		lkdf_event_from_fd(w->rt, 0, 0, &ev),
	};

	return NOT_REFUSED(rc);
}

/* Channels, signals, and what waits: none of them may wait for a worker. */
static int channels_in_child(struct world *w)
{
	struct lkdf_channel *ch;
	struct lkdf_event ev;
	int value = 0;
	uint64_t nr;
	int rc[] = {
		lkdf_channel_create(
			w->rt, LKDF_CHANNEL(.value_size = 4, .depth = 1), &ch),
		lkdf_channel_send(w->ch, &value, 0),
		lkdf_channel_send(w->ch, &value, -1),
		lkdf_channel_recv(w->ch, &value, 0),
		lkdf_channel_recv(w->ch, &value, -1),
		lkdf_channel_count(w->ch),
		lkdf_channel_end(w->ch, 0),
		lkdf_event_create(w->rt, 1, LKDF_EVENT_PULSE, &ev),
		lkdf_event_signal(w->pulse, 0),
		lkdf_event_pulses(w->pulse, &nr),
		lkdf_event_next(w->pulse, 0, 0),
		lkdf_event_next(w->pulse, 0, -1),
		lkdf_event_wait(w->pulse, -1),
		lkdf_why(w->rt, "text", -1),
		lkdf_why(w->rt, "json", -1),
	};

	return NOT_REFUSED(rc);
}

static int graphs_in_child(struct world *w)
{
	const struct lkdf_run stream = { .size = sizeof(stream),
					 .flags = LKDF_RUN_STREAM,
					 .times = 10 };
	struct lkdf_edge edge = { .size = sizeof(edge), .to = 1 };
	int rc[] = {
		lkdf_graph_run(w->stream, NULL, &stream, NULL),
		lkdf_graph_add(w->open, w->k, &w->nr, NULL, 0),
		lkdf_graph_add_task(w->open, ATTR(lkdf_task, .kind = w->k,
						  .arg = &w->nr)),
		lkdf_graph_order(w->open, 0, 1),
		lkdf_graph_edge(w->open, &edge),
		lkdf_graph_port(w->open, 0, 0, 1, 0),
		lkdf_graph_branch(w->open, 0, 0, 1),
		lkdf_graph_back(w->open, 0, 0, 0),
		lkdf_graph_label(w->open, 0, "label"),
		lkdf_graph_include(w->open, w->part),
		lkdf_graph_record(w->open, w->s),
	};

	return NOT_REFUSED(rc);
}

/* A call that waits for workers that are not there ends the child. */
static pid_t fork_with_an_end(void)
{
	pid_t pid = fork();

	if (!pid)
		watchdog_set(20);
	return pid;
}

static int child(struct world *w)
{
	struct lkdf *rt;
	int bad = calls_in_child(w) + channels_in_child(w) + graphs_in_child(w);
	struct lkdf_kind *k;
	atomic_int nr = 0;

	lkdf_channel_put(w->ch);
	lkdf_event_put(w->pulse);
	if (lkdf_close(w->rt))
		bad += 32;
	rt = api_open("workers=2");
	k = api_kind(rt, "count", api_count, 0, 0);
	if (api_call(rt, k, &nr) || nr != 1)
		bad += 64;
	lkdf_kind_put(k);
	if (lkdf_close(rt))
		bad += 64;
	return bad;
}

static void a_child_is_refused_and_the_parent_goes_on(const char *options)
{
	struct world w;
	int i, status, worst = 0;
	pid_t pid;

	printf("# %s\n", options);
	world_init(&w, options);
	for (i = 0; i < 10; i++) {
		must(lkdf_graph_run(w.g, NULL, ATTR(lkdf_run, .times = 200),
				    NULL));
		pid = fork_with_an_end();
		if (!pid)
			_exit(child(&w));
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			worst = status;
	}
	is(worst, 0, "10 children are refused, close and open their own");
	is(lkdf_scope_wait(w.rt, NULL, -1), 0, "the parent's runs end well");
	is(w.nr, 2000, "all of them");
	is(api_run(w.g, NULL, NULL), 0, "the parent goes on");
	world_fini(&w);
}

static void runtimes_do_not_mix(void)
{
	struct lkdf_limit *limit;
	struct world a, b, c;
	struct lkdf_kind *k;
	struct lkdf_event ea, eb, ec;
	int i, bad = 0;

	world_init(&a, "workers=2");
	world_init(&b, "workers=3,pin=no");
	world_init(&c, "serial=yes");
	for (i = 0; i < 100; i++) {
		must(lkdf_graph_run(a.g, NULL, ATTR(lkdf_run, .times = 5),
				    &ea));
		must(lkdf_graph_run(b.g, NULL, ATTR(lkdf_run, .times = 5),
				    &eb));
		must(lkdf_graph_run(c.g, NULL, ATTR(lkdf_run, .times = 5),
				    &ec));
		bad += lkdf_event_wait(ea, -1) || lkdf_event_wait(eb, -1) ||
		       lkdf_event_wait(ec, -1);
	}
	ok(!bad && a.nr == 500 && b.nr == 500 && c.nr == 500,
	   "three runtimes run side by side");
	is(lkdf_submit(a.rt, NULL, ATTR(lkdf_task, .kind = b.k), NULL), -EINVAL,
	   "a foreign kind is refused");
	has(lkdf_errmsg(), "another runtime", "with the reason");
	is(lkdf_graph_run(a.g, b.s, NULL, NULL), -EINVAL, "a foreign scope");
	is(lkdf_submit(a.rt, b.s, ATTR(lkdf_task, .kind = a.k), NULL), -EINVAL,
	   "for a task too");
	is(lkdf_scope_wait(a.rt, b.s, 0), -EINVAL, "or to wait for");
	is(lkdf_graph_add(a.open, b.k, NULL, NULL, 0), -EINVAL,
	   "a foreign kind in a graph");
	must(lkdf_limit_create(b.rt, 1, &limit));
	is(lkdf_kind_create(a.rt,
			    ATTR(lkdf_kind_attr, .name = "limited",
				 .fn = api_nothing,
				 .limit = &(struct lkdf_limit_use){ limit, 1 },
				 .nr_limit = 1),
			    &k),
	   -EINVAL, "a foreign limit");
	lkdf_limit_put(limit);
	world_fini(&b);
	is(api_run(a.g, NULL, NULL), 0, "one goes on when another has closed");
	world_fini(&a);
	world_fini(&c);
}

/* ---- a body that forks -------------------------------------------------- */

struct forker {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph, *open, *part;
	struct lkdf_channel *ch; /* holds one value of two */
	struct lkdf_event pulse;
	int status;
};

/* In the child: the calls of the context that did something else. */
static int calls_of_body(struct lkdf_ctx *c, struct forker *f)
{
	struct lkdf_event e = { 0 };
	uint64_t nr;
	int value = 0;
	int rc[] = {
		lkdf_spawn(c, f->kind, NULL),
		lkdf_spawn_task(c, ATTR(lkdf_task, .kind = f->kind), NULL),
		lkdf_join(c),
		lkdf_hold(c, &e),
		lkdf_then(c, api_nothing, e),
		lkdf_use_end(c, 0, false),
		lkdf_for_in(c, ATTR(lkdf_for_attr)),
		lkdf_reduce_in(c, ATTR(lkdf_reduce_attr)),
		lkdf_scope_wait(f->rt, NULL, -1),
		lkdf_submit(f->rt, NULL, ATTR(lkdf_task, .kind = f->kind),
			    NULL),
		lkdf_spawn_graph(c, f->graph, NULL),
		lkdf_graph_include(f->open, f->part),
		lkdf_graph_run(f->graph, NULL,
			       ATTR(lkdf_run, .flags = LKDF_RUN_STREAM,
				    .times = 2),
			       NULL),
		lkdf_send(c, f->ch, &value),
		lkdf_recv(c, f->ch, &value),
		lkdf_channel_send(f->ch, &value, -1),
		lkdf_channel_recv(f->ch, &value, -1),
		lkdf_channel_end(f->ch, 0),
		lkdf_event_signal(f->pulse, 0),
		lkdf_event_pulses(f->pulse, &nr),
		lkdf_event_next(f->pulse, 0, -1),
		lkdf_why(f->rt, "text", -1),
	};

	return NOT_REFUSED(rc);
}

/* In the child: is the thread as good as any other? */
static int own_runtime(struct lkdf *parents)
{
	struct lkdf *rt = NULL;
	struct lkdf_kind *k;
	atomic_int nr = 0;
	int bad;

	bad = lkdf_close(parents) ? 16 : 0;
	if (lkdf_open("workers=2", &rt))
		return bad + 32;
	k = api_kind(rt, "count", api_count, 0, 0);
	bad += api_call(rt, k, &nr) || nr != 1 ? 64 : 0;
	lkdf_kind_put(k);
	return bad + (lkdf_close(rt) ? 64 : 0);
}

static int fork_here(struct lkdf_ctx *c, void *arg)
{
	struct forker *f = arg;
	pid_t pid = fork_with_an_end();
	int bad;

	if (!pid) {
		bad = calls_of_body(c, f);
		_exit(bad + own_runtime(f->rt));
	}
	if (pid < 0 || waitpid(pid, &f->status, 0) != pid)
		return -ECHILD;
	return lkdf_spawn(c, f->kind, NULL);
}

static int fork_in_loop(uint64_t begin, uint64_t end, void *u)
{
	struct forker *f = u;
	pid_t pid;

	(void)end;
	if (begin)
		return 0;
	pid = fork();
	if (!pid)
		_exit(own_runtime(f->rt));
	return pid < 0 || waitpid(pid, &f->status, 0) != pid ? -ECHILD : 0;
}

static void forker_open(struct forker *f, const char *options)
{
	*f = (struct forker){ .rt = api_open(options), .status = -1 };
	f->kind = api_kind(f->rt, "nothing", api_nothing, 0, 0);
	f->graph = api_graph(f->rt, 2);
	must(lkdf_graph_add(f->graph, f->kind, NULL, NULL, 0));
	must(lkdf_graph_seal(f->graph, NULL));
	f->open = api_graph(f->rt, 1);
	f->part = api_graph(f->rt, 1);
	must(lkdf_graph_add(f->part, f->kind, NULL, NULL, 0));
	must(lkdf_channel_create(
		f->rt, LKDF_CHANNEL(.value_size = sizeof(int), .depth = 2),
		&f->ch));
	must(lkdf_channel_send(f->ch, &(int){ 1 }, 0));
	must(lkdf_event_create(f->rt, 1, LKDF_EVENT_PULSE, &f->pulse));
}

static void forker_close(struct forker *f)
{
	int value = 0;

	must(lkdf_channel_recv(f->ch, &value, 0));
	is(value, 1, "the parent's channel has its value");
	lkdf_channel_put(f->ch);
	lkdf_event_put(f->pulse);
	lkdf_graph_put(f->graph);
	lkdf_graph_put(f->open);
	lkdf_graph_put(f->part);
	lkdf_kind_put(f->kind);
	is(lkdf_close(f->rt), 0, "the parent closes");
}

static void a_body_may_fork(const char *options, uint32_t flags)
{
	struct forker f;
	struct lkdf_kind *k;
	struct lkdf_graph *g;

	printf("# %s, flags %#x\n", options, flags);
	forker_open(&f, options);
	k = api_kind(f.rt, "forks", fork_here, 0, flags);
	g = api_graph(f.rt, 1);
	is(api_call(f.rt, k, &f), 0, "a body that has forked goes on");
	is(f.status, 0,
	   "its child is refused by the dead runtime, and has its "
	   "own");
	f.status = -1;
	must(lkdf_graph_add(g, k, &f, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "so does one of a graph");
	is(f.status, 0, "and its child");
	f.status = -1;
	is(lkdf_for(f.rt, (struct lkdf_range){ 0, 100, 1 }, fork_in_loop, &f),
	   0, "so does a loop's function");
	is(f.status, 0, "and its child");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	forker_close(&f);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STARTS_THREADS_AFTER_FORK false
#else
#define STARTS_THREADS_AFTER_FORK true
#endif

int main(void)
{
	tap_start(60);
	if (STARTS_THREADS_AFTER_FORK) {
		a_child_is_refused_and_the_parent_goes_on("workers=1");
		a_child_is_refused_and_the_parent_goes_on("workers=2");
		a_child_is_refused_and_the_parent_goes_on("serial=yes");
		a_body_may_fork("workers=1", 0);
		a_body_may_fork("workers=2", 0);
		a_body_may_fork("workers=2", LKDF_BLOCKING);
		a_body_may_fork("serial=yes", 0);
	} else {
		skip("a child is refused and the parent goes on",
		     "sanitizers have locks of their own at a fork");
	}
	runtimes_do_not_mix();
	return tap_end();
}
