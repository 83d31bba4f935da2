/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls that a correct program does not make: an object is put twice or used
 * after its put, a call for bodies has no context, a count has no pointer. The
 * library refuses each by name, and the runtime works on.
 */
#include "tests/api/api.h"
#include "tests/api/rt/stderr.h"

#include <lkdf/channel.h>
#include <lkdf/io.h>
#include <lkdf/loop.h>
#include <lkdf/port.h>

/* Lines in a round. */
#define NR_TOLD 10

static struct lkdf *rt;

/* Puts of the caller's that were one too many are told on standard error. */
static void ok_told(const char *text)
{
	has(lkdf_errmsg(), text, "told: %s", lkdf_errmsg());
}

/* ---- twice -------------------------------------------------------------- */

static void a_kind_is_put_twice(void)
{
	struct lkdf_kind *k = api_kind(rt, "twice", api_nothing, 0, 0);

	lkdf_kind_put(k);
	lkdf_kind_put(k);
	ok_told("kind_put: \"twice\" was put before");
	must(lkdf_kind_create_io(rt, ATTR(lkdf_kind_attr, .name = "operation"),
				 &k));
	lkdf_kind_put(k);
	lkdf_kind_put(k);
	ok_told("kind_put: \"operation\" was put before");
}

/* Its graph has it still: the second put takes nothing from the graph. */
static void a_kind_in_use_is_put_twice(void)
{
	struct lkdf_kind *k = api_kind(rt, "in use", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int nr = 0;

	must(lkdf_graph_add(g, k, &nr, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(k);
	lkdf_kind_put(k);
	ok_told("kind_put: \"in use\" was put before");
	is(api_run(g, NULL, NULL), 0, "the graph runs");
	is(nr, 1, "its task");
	lkdf_graph_put(g);
}

static void a_scope_is_put_twice(void)
{
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	struct gate gate = { 0 };
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "early"), &s));
	lkdf_scope_put(s);
	lkdf_scope_put(s);
	ok_told("scope_put: \"early\" was put before");
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "live"), &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &gate),
			 NULL));
	lkdf_scope_put(s);
	lkdf_scope_put(s);
	ok_told("scope_put: \"live\" was put before");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "its task ends");
	lkdf_kind_put(k);
}

static void a_data_is_put_twice(void)
{
	struct lkdf_data *d;

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = 8, .name = "gone"), &d));
	lkdf_data_put(d);
	lkdf_data_put(d);
	ok_told("data_put: \"gone\" was put before");
	ok(!lkdf_data_get(d), "nor is there a new reference to it");
	ok_told("data_get: \"gone\" was put before");
}

static void others_are_put_twice(void)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_channel *ch;
	struct lkdf_limit *l;

	lkdf_graph_put(g);
	lkdf_graph_put(g);
	ok_told("graph_put: \"graph\" was put before");
	must(lkdf_limit_create(rt, 3, &l));
	lkdf_limit_put(l);
	lkdf_limit_put(l);
	ok_told("limit_put: \"limit of 3 tokens\" was put before");
	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr, .name = "ch",
				      .value_size = 8, .depth = 1),
				 &ch));
	lkdf_channel_put(ch);
	lkdf_channel_put(ch);
	ok_told("channel_put: \"ch\" was put before");
}

/* ---- after the put ------------------------------------------------------ */

static void a_kind_is_used_after_its_put(void)
{
	struct lkdf_kind *k = api_kind(rt, "was", api_nothing, 0, 0);
	const struct lkdf_task t = { .size = sizeof(t), .kind = k };
	const struct lkdf_task *list[] = { &t };
	struct lkdf_graph *g = api_graph(rt, 1);

	lkdf_kind_put(k);
	is(lkdf_submit(rt, NULL, &t, NULL), -EINVAL, "no task of its kind");
	has(lkdf_errmsg(), "kind was was put", "by name");
	is(lkdf_submit_many(rt, NULL, list, 1, NULL), -EINVAL,
	   "nor one of many");
	is(lkdf_graph_add(g, k, NULL, NULL, 0), -EINVAL, "nor one of a graph");
	has(lkdf_errmsg(), "kind was was put", "by name");
	lkdf_graph_put(g);
}

/* Something lives, so that the kind's memory is needed. */
static void a_busy_runtime_refuses_it_too(void)
{
	struct lkdf_kind *k = api_kind(rt, "busy", pass_gate, 0, LKDF_BLOCKING);
	struct gate gate = { 0 };

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &gate),
			 NULL));
	lkdf_kind_put(k);
	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &gate),
		       NULL),
	   -EINVAL, "no further task, though the first one runs");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "that one ends");
}

struct chain {
	struct lkdf_kind *kind;
	struct gate gate;
	atomic_int nr;
};

/* Body: ten in a row, each starts the next. */
static int start_next(struct lkdf_ctx *c, void *arg)
{
	struct chain *x = arg;
	int nr = atomic_fetch_add(&x->nr, 1);

	gate_pass(&x->gate);
	if (nr == 10)
		return 0;
	return nr % 2 ? lkdf_spawn(c, x->kind, x)
		      : lkdf_submit(lkdf_runtime(c), NULL,
				    ATTR(lkdf_task, .kind = x->kind, .arg = x),
				    NULL);
}

static void bodies_may_use_their_own_kind(void)
{
	struct chain x = { .kind = NULL };

	x.kind = api_kind(rt, "next", start_next, 0, LKDF_BLOCKING);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = x.kind, .arg = &x),
			 NULL));
	lkdf_kind_put(x.kind);
	atomic_store(&x.gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "bodies of a kind that was put");
	is(x.nr, 11, "start more of them");
}

static void objects_are_used_after_their_put(void)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_channel *ch;
	struct lkdf_scope *s;
	struct lkdf_data *d;
	long value = 0;
	void *at;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "s"), &s));
	lkdf_scope_put(s);
	is(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k), NULL), -EINVAL,
	   "a task in a scope");
	has(lkdf_errmsg(), "scope s was put", "by name");
	is(lkdf_scope_wait(rt, s, -1), -EINVAL, "a wait for one");
	is(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .parent = s), &s),
	   -EINVAL, "a scope below one");
	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 8, .name = "d"),
			      &d));
	lkdf_data_put(d);
	is(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = k, .nr_use = 1,
			    .use = &(struct lkdf_use){ .data = d,
						       .mode = LKDF_READ }),
		       NULL),
	   -EINVAL, "a task with a data");
	has(lkdf_errmsg(), "was put", "%s", lkdf_errmsg());
	is(lkdf_data_acquire(d, LKDF_READ, -1, &at), -EINVAL, "its bytes");
	has(lkdf_errmsg(), "data \"d\" was put", "by name");
	lkdf_graph_put(g);
	is(lkdf_graph_add(g, k, NULL, NULL, 0), -EINVAL, "a task of a graph");
	is(lkdf_graph_run(g, NULL, NULL, NULL), -EINVAL, "a run of one");
	has(lkdf_errmsg(), "graph \"graph\" was put", "by name");
	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr, .name = "ch",
				      .value_size = 8, .depth = 1),
				 &ch));
	lkdf_channel_put(ch);
	is(lkdf_channel_send(ch, &value, 0), -EINVAL, "a value");
	has(lkdf_errmsg(), "\"ch\" was put", "by name");
	lkdf_kind_put(k);
}

/* ---- no context, no pointer --------------------------------------------- */

/* A pointer that the compiler knows nothing about. */
static struct lkdf_ctx *volatile no_ctx;

static void calls_for_bodies_need_a_context(void)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	struct lkdf_ctx *c = no_ctx;
	struct lkdf_event e = { 0 };
	void *room[1];
	long value = 0;
	int cpu;

	is(lkdf_spawn(c, k, NULL), -EINVAL, "spawn");
	has(lkdf_errmsg(), "spawn: the context is NULL", "is told");
	is(lkdf_spawn_task(c, ATTR(lkdf_task, .kind = k), NULL), -EINVAL,
	   "spawn_task");
	is(lkdf_spawn_graph(c, NULL, NULL), -EINVAL, "spawn_graph");
	is(lkdf_join(c), -EINVAL, "join");
	is(lkdf_hold(c, &e), -EINVAL, "hold");
	is(lkdf_then(c, api_nothing, e), -EINVAL, "then");
	is(lkdf_input_error(c, 0), -EINVAL, "input_error");
	is(lkdf_cancelled(c), -EINVAL, "cancelled");
	is(lkdf_fail(c, -EIO, "a text"), -EIO, "fail gives the error");
	ok(!lkdf_scratch(c), "scratch");
	is(lkdf_seq(c), 0, "seq");
	ok(!lkdf_run_arg(c), "run_arg");
	ok(!lkdf_runtime(c), "runtime");
	is(lkdf_worker(c), -EINVAL, "worker");
	is(lkdf_team_size(c), -EINVAL, "team_size");
	is(lkdf_where(c, &cpu, NULL), 0, "where needs none");
	ok(!lkdf_ptr(c, 0) && !lkdf_ptrs(c, 1, room), "ptr and ptrs");
	is(lkdf_use_end(c, 0, false), -EINVAL, "use_end");
	ok(!lkdf_in(c, 0) && !lkdf_out(c, 0), "in and out");
	is(lkdf_own(c, 0), -EINVAL, "own");
	is(lkdf_pass(c, 0, 0), -EINVAL, "pass");
	is(lkdf_send(c, NULL, &value), -EINVAL, "send");
	is(lkdf_recv(c, NULL, &value), -EINVAL, "recv");
	is(lkdf_for_in(c, NULL), -EINVAL, "for_in");
	is(lkdf_reduce_in(c, NULL), -EINVAL, "reduce_in");
	is(lkdf_io_result(c), -EINVAL, "io_result");
	is(lkdf_io_error(c, NULL), -EINVAL, "io_error");
	has(lkdf_errmsg(), "io_error: the context is NULL", "is told");
	lkdf_kind_put(k);
}

static void counts_are_looked_at_before_pointers(void)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	/* Nothing is there. */
	const struct lkdf_use *nowhere = (const void *)16;

	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .nr_use = 1), NULL),
	   -EINVAL, "a use, and no pointer");
	is(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = k, .nr_use = 100000,
			    .use = nowhere),
		       NULL),
	   -E2BIG, "too many uses, wherever they are");
	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .nr_after = 1),
		       NULL),
	   -EINVAL, "an event, and no pointer");
	lkdf_kind_put(k);
}

static void an_event_of_zeros_is_none(void)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	const struct lkdf_event zero = { 0 };
	struct lkdf_event e;
	uint64_t nr;
	unsigned i;

	is(lkdf_event_wait(zero, 0), -EINVAL, "wait");
	is(lkdf_event_signal(zero, 0), -EINVAL, "signal");
	is(lkdf_event_error(zero, ATTR(lkdf_error)), -EINVAL, "error");
	is(lkdf_event_fd(zero), -EINVAL, "fd");
	is(lkdf_event_call(zero, NULL, NULL), -EINVAL, "call");
	is(lkdf_event_which(zero, 0, &i), -EINVAL, "which");
	is(lkdf_event_pulses(zero, &nr), -EINVAL, "pulses");
	is(lkdf_event_next(zero, 0, 0), -EINVAL, "next");
	is(lkdf_event_any(rt, &zero, 1, &e), -EINVAL, "any");
	is(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = k, .nr_after = 1,
			    .after = &zero),
		       NULL),
	   -EINVAL, "after");
	lkdf_kind_put(k);
}

/* The second round has other memory where the first one's objects were. */
static void try_all(void)
{
	a_kind_is_put_twice();
	a_kind_in_use_is_put_twice();
	a_scope_is_put_twice();
	a_data_is_put_twice();
	others_are_put_twice();
	a_kind_is_used_after_its_put();
	a_busy_runtime_refuses_it_too();
	bodies_may_use_their_own_kind();
	objects_are_used_after_their_put();
	calls_for_bodies_need_a_context();
	counts_are_looked_at_before_pointers();
	an_event_of_zeros_is_none();
}

int main(void)
{
	tap_start(60);
	rt = api_open("workers=2");
	stderr_keep();
	try_all();
	try_all();
	is(nr_lines(stderr_text()), 2 * NR_TOLD,
	   "each put that was one too many is a line on standard error");
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
