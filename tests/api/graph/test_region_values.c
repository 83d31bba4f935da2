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
	int calls[NR], nr_children, nr_put, nr_dropped;
	uint64_t seen[NR], sum, iterations, unchosen, skipped, tasks;
};

static struct {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_kind *child;
	enum what what;
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

/* What the task chooses at its nth call. */
static int value_of_call(int task, int n)
{
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
	default:
		break;
	}
	return value_of_call(task, n);
}

static int step(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg, n = ++at.o.calls[task];
	const uint64_t *in = lkdf_in(c, 0);
	uint64_t *out;

	at.o.seen[task] = at.o.seen[task] * 31 + (in ? *in : 7);
	++*(uint64_t *)lkdf_ptr(c, 0);
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

static struct lkdf_kind *make_kind(uint32_t flags, bool drops)
{
	static const uint32_t size = sizeof(uint64_t);
	static void (*const drop[])(void *) = { drop_value };
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "step",
		.fn = step,
		.arg_size = sizeof(int),
		.flags = flags,
		.nr_in = 1,
		.nr_out = 1,
		.in_size = &size,
		.out_size = &size,
		.out_drop = drops ? drop : NULL,
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

static struct lkdf_graph *make_loop(struct lkdf_data *d, bool drops)
{
	struct lkdf_kind *k = make_kind(0, drops);
	struct lkdf_kind *any = make_kind(LKDF_ANY, drops);
	struct lkdf_graph *g = api_graph(at.rt, 1);
	struct lkdf_use use = ON(d, LKDF_RW);
	int i;

	for (i = 0; i < NR; i++)
		must(lkdf_graph_add(g, i == JOIN ? any : k, &i, &use, 1));
	add_value(g, HEAD, CHOICE, 0, 0);
	add_value(g, CHOICE, ONE, LKDF_EDGE_BRANCH, 0);
	add_value(g, CHOICE, OTHER, LKDF_EDGE_BRANCH, 1);
	add_value(g, ONE, JOIN, 0, 0);
	add_value(g, OTHER, JOIN, 0, 0);
	add_value(g, JOIN, LATCH, 0, 0);
	add_value(g, LATCH, HEAD, LKDF_EDGE_BACK, 0);
	add_value(g, LATCH, AFTER, LKDF_EDGE_BRANCH, 1);
	must(lkdf_graph_seal(g, NULL));
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
	at.o.rc = api_run(g, at.scope, NULL);
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
	return strstr(text, "\"region\":true");
}

static void run_way(int way, const char *options, bool drops)
{
	char text[64];
	struct lkdf_graph *g;
	struct lkdf_data *d;
	int what, who;

	snprintf(text, sizeof(text), "%s,log=none,loop_regions=%s", options,
		 way ? "no" : "yes");
	at.rt = api_open(text);
	at.child = api_kind(at.rt, "child", count_child, 0, 0);
	d = DATA(at.rt, .bytes = sizeof(uint64_t));
	g = make_loop(d, drops);
	is(is_region(g), !way, "%s: dump says %s", text,
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
	lkdf_kind_put(at.child);
	lkdf_scope_wait(at.rt, NULL, -1);
	is(lkdf_close(at.rt), 0, "%s: close", text);
}

/* ---- both ---------------------------------------------------------------- */

static void compare_them(const char *options, bool drops)
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
			       "dropped; %d and %d rounds\n",
			       who, a->rc, b->rc, a->nr_put, b->nr_put,
			       a->nr_dropped, b->nr_dropped, a->calls[LATCH],
			       b->calls[LATCH]);
		}
		is(bad, 0, "%s%s: each task %s: both ways are the same",
		   options, drops ? ", dropped values" : "", what_name[what]);
	}
	a = &outcomes[0][NOTHING][0];
	is(a->rc, 0, "a run ends well");
	is(a->iterations, ROUNDS - 1, "goes round so often");
	is(a->unchosen, ROUNDS, "one arm a round is not chosen");
	is(a->sum, 5 * ROUNDS + 1, "each body has used the data");
	is(a->nr_dropped, drops ? a->nr_put : 0, "each value is dropped once");
	is(outcomes[0][FAILS][JOIN].rc, -EXDEV, "a failure is told");
	is(outcomes[0][CANCELS][ONE].rc, -EINTR, "a cancel is told");
	is(outcomes[0][SPAWNS][LATCH].nr_children, 1, "a child has run");
}

static void run_both(const char *options, bool drops)
{
	run_way(0, options, drops);
	run_way(1, options, drops);
	compare_them(options, drops);
}

int main(void)
{
	tap_start(60);
	run_both("workers=1", false);
	run_both("workers=1", true);
	run_both("workers=2", true);
	run_both("serial=yes", true);
	return tap_end();
}
