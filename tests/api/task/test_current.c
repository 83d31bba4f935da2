/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_current(): each body, in every place where bodies run, and each block of
 * a loop finds its own context; threads of the program and callbacks find none.
 * A block starts children, joins them, and they end before the loop does.
 */
#include "tests/api/loop.h"

#include <pthread.h>

static const char *const options[] = { "serial=yes", "workers=1", "workers=2",
				       "workers=4" };

#define NR_OPTIONS (sizeof(options) / sizeof(*options))

static bool is_none(void)
{
	struct lkdf *rt = (struct lkdf *)&rt;

	return !lkdf_current(&rt) && !rt;
}

static bool is_here(const struct lkdf_ctx *c)
{
	struct lkdf *rt = NULL;

	return lkdf_current(&rt) == c && rt == lkdf_runtime(c) &&
	       lkdf_current(NULL) == c;
}

/* Bodies and callbacks that were called, and those that were elsewhere. */
static atomic_int nr_calls, nr_bad;

static void note_call(bool is_right)
{
	atomic_fetch_add(&nr_calls, 1);
	atomic_fetch_add(&nr_bad, !is_right);
}

static void calls_are_right(int nr, const char *what, const char *machine)
{
	int bad = atomic_exchange(&nr_bad, 0);

	is(bad, 0, "%s: %s", machine, what);
	is(atomic_exchange(&nr_calls, 0), nr, "and all were called");
}

static int look(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	note_call(is_here(c));
	return 0;
}

/* ---- bodies ------------------------------------------------------------- */

static int go_on(struct lkdf_ctx *c, void *arg)
{
	return look(c, arg);
}

/* Children run within its join, and it is itself again behind it. */
static int parent(struct lkdf_ctx *c, void *arg)
{
	int i, rc = 0;

	for (i = 0; i < 10 && !rc; i++)
		rc = lkdf_spawn(c, arg, NULL);
	note_call(is_here(c));
	if (!rc)
		rc = lkdf_join(c);
	note_call(is_here(c));
	return rc ? rc : lkdf_then(c, go_on, (struct lkdf_event){ 0 });
}

static void bodies_find_themselves(struct lkdf *rt, const char *machine)
{
	struct lkdf_kind *k = api_kind(rt, "look", look, 0, 0);
	struct lkdf_kind *p = api_kind(rt, "parent", parent, 0, 0);
	struct lkdf_kind *b = api_kind(rt, "waits", look, 0, LKDF_BLOCKING);

	is(api_call(rt, p, k), 0, "%s: a body with children", machine);
	is(api_call(rt, b, NULL), 0, "one that may block");
	calls_are_right(14, "bodies, children and what goes on", machine);
	lkdf_kind_put(b);
	lkdf_kind_put(p);
	lkdf_kind_put(k);
}

static int choose(struct lkdf_ctx *c, void *arg)
{
	atomic_int *nr = arg;

	look(c, NULL);
	return atomic_fetch_add(nr, 1) % 3 == 2;
}

/* Chains, tasks side by side, and a loop of the graph; warm runs, too. */
static void tasks_of_graphs_find_themselves(struct lkdf *rt,
					    const char *machine)
{
	struct lkdf_kind *k = api_kind(rt, "look", look, 0, LKDF_SHARED);
	struct lkdf_kind *p = api_kind(rt, "parent", parent, 0, LKDF_SHARED);
	struct lkdf_kind *x = api_kind(rt, "choose", choose, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1), *l = api_graph(rt, 1);
	atomic_int nr = 0;
	int i, t[8];

	for (i = 0; i < 8; i++)
		t[i] = must(lkdf_graph_add(g, i == 3 ? p : k, k, NULL, 0));
	for (i = 0; i < 5; i++)
		must(lkdf_graph_order(g, t[i], t[i + 1]));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 10; i++)
		must(api_run(g, NULL, NULL));
	calls_are_right(10 * (8 + 12), "tasks of a graph", machine);
	t[0] = must(lkdf_graph_add(l, k, NULL, NULL, 0));
	t[1] = must(lkdf_graph_add(l, x, &nr, NULL, 0));
	t[2] = must(lkdf_graph_add(l, k, NULL, NULL, 0));
	must(lkdf_graph_order(l, t[0], t[1]));
	must(lkdf_graph_back(l, t[1], 0, t[0]));
	must(lkdf_graph_branch(l, t[1], 1, t[2]));
	must(lkdf_graph_seal(l, NULL));
	for (i = 0; i < 5; i++)
		must(api_run(l, NULL, NULL));
	calls_are_right(5 * 7, "tasks of a graph's loop", machine);
	lkdf_graph_put(l);
	lkdf_graph_put(g);
	lkdf_kind_put(x);
	lkdf_kind_put(p);
	lkdf_kind_put(k);
}

/* ---- where there is no body --------------------------------------------- */

static void *thread_main(void *arg)
{
	note_call(is_none());
	return arg;
}

static void drop(void *arg)
{
	(void)arg;
	note_call(is_none());
}

static void fired(void *u, int error)
{
	(void)u;
	(void)error;
	note_call(is_none());
}

static int signal_event(struct lkdf_ctx *c, void *arg)
{
	int rc = lkdf_event_signal(*(struct lkdf_event *)arg, 0);

	note_call(is_here(c));
	return rc;
}

/* Bodies that are ended on top of their parent's, and the parent's callback. */
static int drop_children(struct lkdf_ctx *c, void *arg)
{
	int i, rc = 0;

	for (i = 0; i < 3 && !rc; i++)
		rc = lkdf_spawn(c, arg, NULL);
	return rc ? rc : lkdf_join(c);
}

static void callbacks_are_in_no_body(struct lkdf *rt, const char *machine)
{
	struct lkdf_kind *s = api_kind(rt, "signals", signal_event, 0, 0);
	struct lkdf_kind *p = api_kind(rt, "drops", drop_children, 0, 0);
	struct lkdf_kind *d;
	struct lkdf_event e;
	pthread_t thread;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "dropped",
				   .fn = look, .drop = drop),
			      &d));
	ok(is_none(), "%s: the program's thread is in no body", machine);
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	is(api_call(rt, p, d), 0, "children with a drop");
	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_event_call(e, fired, NULL));
	is(api_call(rt, s, &e), 0, "an event's function in a body");
	calls_are_right(1 + 6 + 2, "threads and callbacks", machine);
	lkdf_event_put(e);
	lkdf_kind_put(d);
	lkdf_kind_put(p);
	lkdf_kind_put(s);
}

/* ---- blocks of loops ---------------------------------------------------- */

struct blocks {
	struct lkdf *rt;
	struct lkdf_kind *child, *deep;
	atomic_int nr_ended;
	bool joins;
	int level;
};

static int child(struct lkdf_ctx *c, void *arg)
{
	struct blocks *b = *(struct blocks **)arg;

	note_call(is_here(c));
	atomic_fetch_add(&b->nr_ended, 1);
	return 0;
}

/* Has children of its own, and does not wait for them. */
static int deep_child(struct lkdf_ctx *c, void *arg)
{
	struct blocks *b = *(struct blocks **)arg;

	return lkdf_spawn(c, b->child, arg);
}

static int start_children(struct lkdf_ctx *c, struct blocks *b)
{
	int rc = lkdf_spawn(c, b->child, &b);

	if (!rc)
		rc = lkdf_spawn_task(
			c, ATTR(lkdf_task, .kind = b->deep, .arg = &b), NULL);
	return rc;
}

static int block(uint64_t begin, uint64_t end, void *u)
{
	struct lkdf_range inner = { 0, 3, 1 };
	struct blocks *b = u, below;
	struct lkdf *rt = NULL;
	struct lkdf_ctx *c = lkdf_current(&rt);
	int rc = 0;

	note_call(c && rt == b->rt && !lkdf_cancelled(c));
	for (; begin < end && !rc; begin++) {
		rc = start_children(c, b);
		if (b->level && !rc) {
			below = (struct blocks){ .rt = b->rt,
						 .child = b->child,
						 .deep = b->deep,
						 .joins = true };
			rc = lkdf_for(b->rt, inner, block, &below);
			atomic_fetch_add(&b->nr_ended,
					 atomic_load(&below.nr_ended));
			note_call(lkdf_current(NULL) == c);
		}
		if (b->joins && !rc)
			rc = lkdf_join(c);
	}
	return rc;
}

static int loop_of_blocks(struct lkdf_ctx *c, void *arg)
{
	int rc = lkdf_for_in(c, ATTR(lkdf_for_attr, .fn = block, .u = arg,
				     .range = { 0, 40, 1 }));

	note_call(is_here(c));
	return rc;
}

/* As a function that got no context. */
static int loop_without_context(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_range r = { 0, 40, 1 };
	int rc = lkdf_for(lkdf_runtime(c), r, block, arg);

	note_call(is_here(c));
	return rc;
}

static void blocks_have_children(struct lkdf *rt, const char *machine)
{
	struct lkdf_kind *in = api_kind(rt, "loop", loop_of_blocks, 0, 0);
	struct lkdf_kind *no = api_kind(rt, "nest", loop_without_context, 0, 0);
	struct blocks b = { .rt = rt };
	struct lkdf_for_attr a = {
		.size = sizeof(a), .range = { 0, 40, 1 }, .fn = block, .u = &b
	};
	int i;

	b.child = api_kind(rt, "child", child, sizeof(void *), 0);
	b.deep = api_kind(rt, "deep", deep_child, sizeof(void *), 0);
	for (i = 0; i < 4; i++) {
		b.joins = i & 1;
		b.level = i / 2;
		is(lkdf_for_with(rt, &a), 0, "%s: a loop, form %d", machine, i);
		is(atomic_exchange(&b.nr_ended, 0), b.level ? 320 : 80,
		   "its children have ended");
		is(api_call(rt, in, &b), 0, "in a body");
		is(atomic_exchange(&b.nr_ended, 0), b.level ? 320 : 80,
		   "its children have ended");
		is(api_call(rt, no, &b), 0, "in a body without its context");
		is(atomic_exchange(&b.nr_ended, 0), b.level ? 320 : 80,
		   "its children have ended");
		calls_are_right(3 * (b.level ? 520 : 120) + 2,
				"blocks and children", machine);
	}
	a.schedule = LKDF_SCHEDULE_STATIC;
	is(lkdf_for_with(rt, &a), 0, "%s: a static loop", machine);
	is(atomic_exchange(&b.nr_ended, 0), 320, "its children have ended");
	atomic_store(&nr_calls, 0);
	is(atomic_exchange(&nr_bad, 0), 0, "all found their context");
	lkdf_kind_put(b.deep);
	lkdf_kind_put(b.child);
	lkdf_kind_put(no);
	lkdf_kind_put(in);
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EPROTO, "as wanted");
}

struct trouble {
	struct lkdf_kind *fails;
	struct lkdf_channel *ch;
	bool sees;
	int nr_refused;
};

/* The child of one block fails. */
static int failing_block(uint64_t begin, uint64_t end, void *u)
{
	struct lkdf_ctx *c = lkdf_current(NULL);
	struct trouble *t = u;
	int rc;

	if (begin > 3 || end <= 3)
		return 0;
	rc = lkdf_spawn(c, t->fails, NULL);
	if (!rc && t->sees)
		return lkdf_join(c) == -EPROTO ? 0 : -EIO;
	return rc;
}

static int refused_block(uint64_t begin, uint64_t end, void *u)
{
	struct lkdf_ctx *c = lkdf_current(NULL);
	struct trouble *t = u;
	struct lkdf_event e;
	int value;

	(void)begin;
	(void)end;
	t->nr_refused = 0;
	t->nr_refused +=
		lkdf_then(c, go_on, (struct lkdf_event){ 0 }) == -EINVAL;
	t->nr_refused += lkdf_hold(c, &e) == -EINVAL;
	t->nr_refused += !lkdf_scratch(c);
	t->nr_refused += lkdf_recv(c, t->ch, &value) == -EAGAIN;
	t->nr_refused += lkdf_input_error(c, 0) == 0;
	t->nr_refused += !lkdf_ptr(c, 0);
	t->nr_refused += !lkdf_run_arg(c) && !lkdf_seq(c);
	return 0;
}

static void errors_of_blocks(struct lkdf *rt, const char *machine)
{
	struct lkdf_range r = { 0, 10, 1 }, one = { 0, 1, 1 };
	struct trouble t = { .fails = api_kind(rt, "fails", fail, 0, 0) };

	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr, .depth = 1,
				      .value_size = sizeof(int)),
				 &t.ch));
	is(lkdf_for(rt, r, failing_block, &t), -EPROTO,
	   "%s: a child's error is the loop's", machine);
	t.sees = true;
	is(lkdf_for(rt, r, failing_block, &t), 0, "unless the block sees it");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the scope knows of none");
	is(lkdf_for(rt, one, refused_block, &t), 0, "a block ends as one");
	is(t.nr_refused, 7, "then, hold and what it has not are refused");
	lkdf_channel_put(t.ch);
	lkdf_kind_put(t.fails);
}

/* ---- two runtimes ------------------------------------------------------- */

static struct lkdf *other;
static bool is_serial;
static __thread bool is_outer_body;

/* On the thread of the outer body it is in none; on a worker it is in its own.
 */
static int foreign_block(uint64_t begin, uint64_t end, void *u)
{
	struct lkdf *rt = NULL;
	struct lkdf_ctx *c = lkdf_current(&rt);

	(void)begin;
	(void)end;
	(void)u;
	note_call(is_outer_body ? !c && !rt : c && rt == other);
	return 0;
}

static int use_other(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_range r = { 0, 50, 1 };
	struct lkdf_event e;
	int rc;

	is_outer_body = true;
	rc = lkdf_for(other, r, foreign_block, NULL);
	is_outer_body = false;
	note_call(is_here(c));
	/* In serial mode nobody goes on by what happens elsewhere. */
	if (rc || is_serial)
		return rc;
	rc = lkdf_submit(other, NULL, ATTR(lkdf_task, .kind = arg), &e);
	return rc ? rc : lkdf_then(c, go_on, e);
}

static void two_runtimes_keep_apart(struct lkdf *rt, const char *machine)
{
	struct lkdf_kind *u = api_kind(rt, "uses", use_other, 0, 0), *k;

	is_serial = machine == options[0];
	other = api_open("workers=2");
	k = api_kind(other, "look", look, 0, 0);
	is(api_call(rt, u, k), 0, "%s: a loop of another runtime", machine);
	calls_are_right(is_serial ? 51 : 53, "blocks of another runtime",
			machine);
	lkdf_kind_put(k);
	must(lkdf_close(other));
	lkdf_kind_put(u);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < NR_OPTIONS; i++) {
		rt = api_open(options[i]);
		bodies_find_themselves(rt, options[i]);
		tasks_of_graphs_find_themselves(rt, options[i]);
		callbacks_are_in_no_body(rt, options[i]);
		blocks_have_children(rt, options[i]);
		errors_of_blocks(rt, options[i]);
		two_runtimes_keep_apart(rt, options[i]);
		is(lkdf_close(rt), 0, "%s: closes", options[i]);
	}
	return tap_end();
}
