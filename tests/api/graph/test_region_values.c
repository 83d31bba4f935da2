/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops whose tasks hand values on at ports and use data: a worker that goes
 * through them by bits does what one with counters does. Each way out, in each
 * task, is run both ways, and all that can be seen of the two runs is compared.
 */
#include "tests/api/using.h"

#include <lkdf/port.h>
#include <string.h>

#define ROUNDS 60
#define WHEN 20 /* the call in which something is out of the common */

enum what {
	NOTHING,
	SPAWNS, /* a child */
	GOES_ON, /* by lkdf_then() */
	FAILS,
	NO_BRANCH_OF_IT,
	CANCELS,
	NOT_AGAIN, /* LKDF_AGAIN of what nobody lets wait: an error */
	OWNS, /* the value that it was given, which it drops itself */
	ENDS, /* the stream, where it is one */
	NR_WHATS,
};

static const char *const what_name[] = {
	"nothing happens",
	"has a child",
	"goes on as another function",
	"fails",
	"returns what is no branch",
	"cancels the run",
	"asks to be called again",
	"owns a value",
	"ends the stream",
};

/* What the loop is made of. */
enum sort {
	PLAIN,
	DROPS, /* values at ports that nobody owns */
	ONCE, /* data whose bytes come and go with each iteration */
	COMMUTES,
	REDUCES, /* combined after each iteration, as others use it */
	UNTOUCHED, /* some calls leave what they may have written */
	ALWAYS,
	PART, /* an arm is a graph that was included */
	NESTED, /* both arms are loops, left by a branch and by an edge */
	STREAM, /* which uses no data */
	NR_SORTS,
};

static const char *const sort_name[] = {
	"plain",     "dropped values", "bytes of an iteration",
	"commuting", "reducing",       "left untouched",
	"always",    "a part",	       "nested",
	"a stream",
};

/* head -> choice -> one or other -> join -> latch -> head; after follows. */
enum task {
	HEAD,
	CHOICE,
	ONE,
	OTHER,
	JOIN,
	LATCH,
	AFTER,
	NR
};

/* What can be seen of a run. */
struct outcome {
	int rc, data_rc;
	int calls[NR], nr_children, nr_put, nr_dropped, nr_gone;
	uint64_t seen[NR], sum, iterations, unchosen, skipped, tasks;
};

static struct {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_kind *child;
	enum what what;
	enum sort sort;
	int who;
	struct outcome o;
} at;

static int count_child(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	at.o.nr_children++;
	return 0;
}

static void drop_value(void *value)
{
	at.o.nr_dropped += *(uint64_t *)value != 0;
}

static void drop_bytes(void *bytes)
{
	(void)bytes;
	at.o.nr_gone++;
}

static int add_number(void *acc, const void *x, uint64_t bytes)
{
	(void)bytes;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

/* What the task chooses at its nth call. */
static int value_of_call(int task, int n)
{
	if (at.sort == NESTED && task == ONE)
		return n % 2 == 0;
	if (at.sort == NESTED && task == OTHER)
		return n % 3 ? 0 : LKDF_NO_BRANCH;
	if (task == CHOICE)
		return n % 3 == 0;
	return task == LATCH && n == ROUNDS ? 1 : 0;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg;

	(void)c;
	return value_of_call(task, at.o.calls[task]);
}

static int do_what(struct lkdf_ctx *c, int task, int n)
{
	switch (at.what) {
	case SPAWNS:
		must(lkdf_spawn_task(c, ATTR(lkdf_task, .kind = at.child),
				     NULL));
		break;
	case GOES_ON:
		return lkdf_then(c, go_on, LKDF_EVENT_NONE);
	case FAILS:
		return -EXDEV;
	case NO_BRANCH_OF_IT:
		return 1000;
	case CANCELS:
		must(lkdf_scope_cancel(at.rt, at.scope, -EINTR));
		break;
	case NOT_AGAIN:
		return LKDF_AGAIN;
	case OWNS:
		if (lkdf_in(c, 0) && !lkdf_own(c, 0))
			at.o.nr_dropped++;
		break;
	case ENDS:
		/* What follows is the source's to say. */
		if (at.sort != STREAM || task == HEAD)
			return LKDF_END;
		break;
	default:
		break;
	}
	return value_of_call(task, n);
}

static void use_data(struct lkdf_ctx *c, int task, int n)
{
	uint64_t *once;

	if (at.sort == UNTOUCHED && task != AFTER && n % 2)
		must(lkdf_use_end(c, 0, true));
	else if (at.sort != STREAM)
		++*(uint64_t *)lkdf_ptr(c, 0);
	once = at.sort == ONCE ? lkdf_ptr(c, 1) : NULL;
	if (once && task == HEAD)
		*once = (uint64_t)n;
	else if (once)
		at.o.seen[task] = at.o.seen[task] * 31 + *once;
}

static int step(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg, n = ++at.o.calls[task];
	const uint64_t *in = lkdf_in(c, 0);
	uint64_t *out;

	at.o.seen[task] = at.o.seen[task] * 31 + (in ? *in : 7);
	use_data(c, task, n);
	out = lkdf_out(c, 0);
	if (out) {
		*out = (uint64_t)(task * 1000 + n);
		at.o.nr_put++;
	}
	if (task == at.who && n == (task == ONE || task == OTHER ? WHEN / 3
				    : task == AFTER		 ? 1
								 : WHEN))
		return do_what(c, task, n);
	return value_of_call(task, n);
}

/* ---- the graph ----------------------------------------------------------- */

static struct lkdf_kind *make_kind(uint32_t flags, uint16_t nr_in)
{
	static const uint32_t size = sizeof(uint64_t);
	static void (*const drop[])(void *) = { drop_value };
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "step",
		.fn = step,
		.arg_size = sizeof(int),
		.flags = flags | (at.sort == ALWAYS ? LKDF_ALWAYS : 0),
		.nr_in = nr_in,
		.nr_out = 1,
		.in_size = &size,
		.out_size = &size,
		.out_drop = at.sort == DROPS ? drop : NULL,
	};
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(at.rt, &a, &k));
	return k;
}

static void add_value(struct lkdf_graph *g, int from, int to, uint32_t flags,
		      uint16_t branch)
{
	must(lkdf_graph_edge(g,
			     ATTR(lkdf_edge, .flags = LKDF_EDGE_PORT | flags,
				  .from = from, .to = to, .branch = branch)));
}

static const uint32_t mode[NR_SORTS] = {
	[COMMUTES] = LKDF_COMMUTE,
	[REDUCES] = LKDF_REDUCE,
	[UNTOUCHED] = LKDF_MAYBE | LKDF_RW,
};

/* After uses all data in its own way, so that copies are combined for it. */
static int add_step(struct lkdf_graph *g, struct lkdf_kind *k, int task,
		    struct lkdf_data *d, struct lkdf_data *once)
{
	struct lkdf_use use[] = {
		ON(d, mode[at.sort] && task != AFTER ? mode[at.sort] : LKDF_RW),
		ON(once, task == HEAD ? LKDF_WRITE : LKDF_READ),
	};
	uint32_t nr = at.sort == STREAM			? 0
		      : at.sort == ONCE && task <= JOIN ? 2
							: 1;

	return must(lkdf_graph_add(g, k, &task, use, nr));
}

/* Of one task, which hands nothing on. */
static struct lkdf_graph *make_part(struct lkdf_data *d)
{
	struct lkdf_kind *k = make_kind(0, 0);
	struct lkdf_graph *g = api_graph(at.rt, 1);

	add_step(g, k, OTHER, d, NULL);
	lkdf_kind_put(k);
	return g;
}

static void connect_arm(struct lkdf_graph *g, const int *task, int arm)
{
	bool is_part = at.sort == PART && arm == OTHER;
	uint16_t branch = arm == OTHER;

	if (is_part)
		must(lkdf_graph_branch(g, task[CHOICE], branch, task[arm]));
	else
		add_value(g, task[CHOICE], task[arm], LKDF_EDGE_BRANCH, branch);
	if (is_part)
		must(lkdf_graph_order(g, task[arm], task[JOIN]));
	else if (at.sort == NESTED && arm == ONE)
		add_value(g, task[arm], task[JOIN], LKDF_EDGE_BRANCH, 1);
	else
		add_value(g, task[arm], task[JOIN], 0, 0);
	if (at.sort == NESTED)
		must(lkdf_graph_back(g, task[arm], 0, task[arm]));
}

static struct lkdf_graph *make_loop(struct lkdf_data *d, struct lkdf_data *once)
{
	struct lkdf_kind *k = make_kind(0, 1), *any = make_kind(LKDF_ANY, 1);
	struct lkdf_graph *g = api_graph(at.rt, at.sort == STREAM ? 2 : 1);
	struct lkdf_graph *part = at.sort == PART ? make_part(d) : NULL;
	int i, task[NR];

	for (i = 0; i < NR; i++)
		task[i] = part && i == OTHER ? must(lkdf_graph_include(g, part))
					     : add_step(g, i == JOIN ? any : k,
							i, d, once);
	add_value(g, task[HEAD], task[CHOICE], 0, 0);
	connect_arm(g, task, ONE);
	connect_arm(g, task, OTHER);
	add_value(g, task[JOIN], task[LATCH], 0, 0);
	add_value(g, task[LATCH], task[HEAD], LKDF_EDGE_BACK, 0);
	add_value(g, task[LATCH], task[AFTER], LKDF_EDGE_BRANCH, 1);
	must(lkdf_graph_seal(g, NULL));
	lkdf_graph_put(part);
	lkdf_kind_put(k);
	lkdf_kind_put(any);
	return g;
}

static uint64_t counter(const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(at.rt, name, &v));
	return v;
}

static void run_it(struct lkdf_graph *g, struct lkdf_data *d)
{
	uint64_t iterations = counter("lkdf.iterations"),
		 unchosen = counter("lkdf.unchosen"),
		 skipped = counter("lkdf.skipped"),
		 tasks = counter("lkdf.tasks");
	void *p;

	memset(&at.o, 0, sizeof(at.o));
	must(lkdf_data_acquire(d, LKDF_WRITE, -1, &p));
	*(uint64_t *)p = 0;
	must(lkdf_data_release(d));
	must(lkdf_scope_create(at.rt, NULL, &at.scope));
	at.o.rc = at.sort == STREAM
			  ? api_run(g, at.scope,
				    ATTR(lkdf_run, .flags = LKDF_RUN_STREAM,
					 .times = 1))
			  : api_run(g, at.scope, NULL);
	lkdf_scope_wait(at.rt, at.scope, -1);
	lkdf_scope_put(at.scope);
	at.o.data_rc = lkdf_data_acquire(d, LKDF_READ, -1, &p);
	if (!at.o.data_rc) {
		at.o.sum = *(uint64_t *)p;
		must(lkdf_data_release(d));
	}
	at.o.iterations = counter("lkdf.iterations") - iterations;
	at.o.unchosen = counter("lkdf.unchosen") - unchosen;
	at.o.skipped = counter("lkdf.skipped") - skipped;
	at.o.tasks = counter("lkdf.tasks") - tasks;
}

/* ---- one way, all that may happen ---------------------------------------- */

static struct outcome outcomes[2][NR_WHATS][NR];

static bool is_region(const struct lkdf_graph *g)
{
	char text[8192] = "";
	FILE *f = tmpfile();

	must(f ? lkdf_graph_dump(g, fileno(f), "json") : -EIO);
	rewind(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return strstr(text, "\"region\":true") &&
	       !strstr(text, "\"region\":false");
}

static void run_way(int way, const char *options)
{
	char text[64];
	struct lkdf_graph *g;
	struct lkdf_data *d, *once;
	int what, who;

	snprintf(text, sizeof(text), "%s,log=none,loop_regions=%s", options,
		 way ? "no" : "yes");
	at.rt = api_open(text);
	at.child = api_kind(at.rt, "child", count_child, 0, 0);
	d = DATA(at.rt, .bytes = sizeof(uint64_t), .reduce = add_number);
	once = DATA(at.rt, .bytes = sizeof(uint64_t), .flags = LKDF_DATA_ONCE,
		    .drop = drop_bytes);
	g = make_loop(d, once);
	is(is_region(g), !way, "%s, %s: dump says %s", text, sort_name[at.sort],
	   way ? "counters" : "bits");
	for (what = 0; what < NR_WHATS; what++)
		for (who = 0; who < NR; who++) {
			at.what = (enum what)what;
			at.who = who;
			run_it(g, d);
			outcomes[way][what][who] = at.o;
		}
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(once);
	lkdf_kind_put(at.child);
	lkdf_scope_wait(at.rt, NULL, -1);
	is(lkdf_close(at.rt), 0, "%s: close", text);
}

/* ---- both ---------------------------------------------------------------- */

static void compare_them(const char *options)
{
	const struct outcome *a, *b;
	int what, who, bad;

	for (what = 0; what < NR_WHATS; what++) {
		for (bad = 0, who = 0; who < NR; who++) {
			a = &outcomes[0][what][who];
			b = &outcomes[1][what][who];
			if (!memcmp(a, b, sizeof(*a)))
				continue;
			bad++;
			printf("# task %d: %d, %d; %d and %d put, %d and %d "
			       "dropped; %d and %d gone; %d and %d rounds\n",
			       who, a->rc, b->rc, a->nr_put, b->nr_put,
			       a->nr_dropped, b->nr_dropped, a->nr_gone,
			       b->nr_gone, a->calls[LATCH], b->calls[LATCH]);
		}
		is(bad, 0, "%s, %s: each task %s: both ways are the same",
		   options, sort_name[at.sort], what_name[what]);
	}
}

/* Where nothing happens, and where something does. */
static void expect_outcome(void)
{
	const struct outcome *a = &outcomes[0][NOTHING][0];
	uint64_t sum = 5 * ROUNDS + 1, iterations = ROUNDS - 1;

	/* The first of two calls, and so on, has left it. */
	if (at.sort == UNTOUCHED)
		sum = 5 * ROUNDS / 2 + 1;
	/* Two calls of one arm in 40 rounds, three of the other in 20. */
	if (at.sort == NESTED) {
		sum += 80;
		iterations += 80;
	}
	is(a->rc, 0, "a run ends well");
	is(a->iterations, iterations, "goes round so often");
	is(a->unchosen, ROUNDS, "one arm a round is not chosen");
	is(a->sum, at.sort == STREAM ? 0 : sum, "each body has used the data");
	is(a->nr_dropped, at.sort == DROPS ? a->nr_put : 0,
	   "each value is dropped once");
	is(a->nr_gone, at.sort == ONCE ? ROUNDS : 0,
	   "bytes have gone with each iteration");
	is(outcomes[0][FAILS][JOIN].rc, -EXDEV, "a failure is told");
	is(outcomes[0][CANCELS][ONE].rc, -EINTR, "a cancel is told");
	is(outcomes[0][SPAWNS][LATCH].nr_children, 1, "a child has run");
	is(outcomes[0][ENDS][HEAD].calls[CHOICE],
	   at.sort == STREAM ? WHEN - 1 : ROUNDS, "a stream ends");
}

static void run_both(const char *options, enum sort sort)
{
	at.sort = sort;
	run_way(0, options);
	run_way(1, options);
	compare_them(options);
	expect_outcome();
}

int main(void)
{
	int sort;

	tap_start(23 * (NR_SORTS + 3));
	for (sort = 0; sort < NR_SORTS; sort++)
		run_both("workers=1", (enum sort)sort);
	run_both("workers=2", DROPS);
	run_both("workers=2", NESTED);
	run_both("serial=yes", ONCE);
	return tap_end();
}
