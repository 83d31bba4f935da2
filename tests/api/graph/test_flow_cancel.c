/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A cancel and a deadline in each state of a graph with control flow: a branch
 * that is not chosen yet, a loop that goes round, a member that waits at a
 * channel, an included graph, a value that nobody has dropped. Nothing behind
 * runs, each value is dropped once, and the graph is usable afterwards.
 */
#include "tests/api/port.h"

#define MS 1000000ll

enum state {
	RUNS, /* to its end */
	CHOOSES, /* task 0 has not returned */
	GOES_ROUND, /* the loop of 2, 3, 4, for ever */
	WAITS, /* 4, for a value of a channel */
	IS_INSIDE, /* 6, which is part of 5, goes round for ever */
	HAS_VALUE, /* 3 has begun with what 1 has made */
	NR_STATES,
};

static const char *const names[NR_STATES] = {
	"to its end",		"before the choice",	"in a loop",
	"waiting at a channel", "in an included graph", "with a value",
};

#define NR_TASKS 9

struct flow {
	enum state state;
	struct lkdf_channel *channel;
	struct lkdf_graph *g;
	atomic_int calls[NR_TASKS], is_there, nr_made, nr_dropped;
};

static struct flow flow;

static void drop_one(void *value)
{
	if (*(long *)value)
		atomic_fetch_add(&flow.nr_dropped, 1);
	*(long *)value = 0;
}

static void make_value(struct lkdf_ctx *c)
{
	*(long *)lkdf_out(c, 0) = 1 + atomic_fetch_add(&flow.nr_made, 1);
}

/* Stays in the state until the run is to end, and gives up then. */
static int stay(struct lkdf_ctx *c, enum state s)
{
	int i;

	if (flow.state != s)
		return 0;
	atomic_store(&flow.is_there, 1);
	for (i = 0; i < 10000 && !lkdf_cancelled(c); i++)
		api_nap_ns(MS);
	return -ECANCELED;
}

static int close_loop(struct lkdf_ctx *c, int nr_calls)
{
	long value;
	int rc;

	if (flow.state == GOES_ROUND) {
		if (nr_calls > 100)
			atomic_store(&flow.is_there, 1);
		return 0;
	}
	if (flow.state != WAITS)
		return nr_calls < 3 ? 0 : 1;
	rc = lkdf_recv(c, flow.channel, &value);
	atomic_store(&flow.is_there, 1);
	return rc == -EAGAIN ? LKDF_AGAIN : -EPROTO;
}

static int go_inside(int nr_calls)
{
	if (flow.state != IS_INSIDE)
		return nr_calls < 3 ? 0 : LKDF_NO_BRANCH;
	if (nr_calls > 100)
		atomic_store(&flow.is_there, 1);
	return 0;
}

static int act(struct lkdf_ctx *c, void *arg)
{
	int t = (int)(intptr_t)arg;
	int n = atomic_fetch_add(&flow.calls[t], 1) + 1;

	if (t == 0)
		return stay(c, CHOOSES);
	if (t == 1 || t == 3)
		make_value(c);
	if (t == 3)
		return stay(c, HAS_VALUE);
	if (t == 4)
		return close_loop(c, n);
	return t == 6 ? go_inside(n) : 0;
}

static struct lkdf_kind *act_kind(struct lkdf *rt, unsigned in, unsigned out,
				  uint32_t flags)
{
	static void (*const drops[])(void *) = { drop_one };
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "act", .fn = act,
				   .nr_in = (uint16_t)in,
				   .nr_out = (uint16_t)out, .in_size = of_long,
				   .out_size = of_long, .flags = flags,
				   .out_drop = out ? drops : NULL),
			      &k));
	return k;
}

static int put(struct lkdf_graph *g, struct lkdf_kind *k, int number)
{
	int task =
		must(lkdf_graph_add(g, k, (void *)(intptr_t)number, NULL, 0));

	lkdf_kind_put(k);
	return task;
}

/* A graph of one task, which repeats itself. */
static int put_part(struct lkdf *rt, struct lkdf_graph *g, int number)
{
	struct lkdf_graph *part = api_graph(rt, 1);
	int whole;

	put(part, act_kind(rt, 0, 0, 0), number);
	must(lkdf_graph_back(part, 0, 0, 0));
	whole = must(lkdf_graph_include(g, part));
	lkdf_graph_put(part);
	return whole;
}

/* 0 chooses 1 or the end; 2, 3, 4 are a loop; then the part; then the end. */
static void flow_open(struct lkdf *rt)
{
	struct lkdf_channel_attr ch = { .size = sizeof(ch),
					.value_size = sizeof(long),
					.depth = 1 };
	struct lkdf_graph *g = api_graph(rt, 1);
	int end;

	memset(&flow, 0, sizeof(flow));
	flow.g = g;
	must(lkdf_channel_create(rt, &ch, &flow.channel));
	put(g, act_kind(rt, 0, 0, 0), 0);
	put(g, act_kind(rt, 0, 1, 0), 1);
	put(g, act_kind(rt, 0, 0, 0), 2);
	put(g, act_kind(rt, 1, 1, 0), 3);
	put(g, act_kind(rt, 1, 0, 0), 4);
	is(put_part(rt, g, 6), 5, "the part is task 5, its task is 6");
	end = put(g, act_kind(rt, 0, 0, LKDF_ANY), 8);
	must(lkdf_graph_branch(g, 0, 0, 1));
	must(lkdf_graph_branch(g, 0, 1, end));
	must(lkdf_graph_order(g, 1, 2));
	must(lkdf_graph_order(g, 2, 3));
	must(lkdf_graph_port(g, 1, 0, 3, 0));
	must(lkdf_graph_port(g, 3, 0, 4, 0));
	must(lkdf_graph_back(g, 4, 0, 2));
	must(lkdf_graph_branch(g, 4, 1, 5));
	must(lkdf_graph_order(g, 5, end));
	must(lkdf_graph_seal(g, NULL));
}

static void flow_close(void)
{
	lkdf_graph_put(flow.g);
	lkdf_channel_put(flow.channel);
}

/* The error of a run that is ended in this state. */
static int run_in(struct lkdf *rt, enum state state, int64_t deadline_ns)
{
	struct lkdf_scope *s;
	struct lkdf_event done;
	int rc, i;

	flow.state = state;
	atomic_store(&flow.is_there, 0);
	atomic_store(&flow.nr_made, 0);
	atomic_store(&flow.nr_dropped, 0);
	for (i = 0; i < NR_TASKS; i++)
		atomic_store(&flow.calls[i], 0);
	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_graph_run(flow.g, s,
			    ATTR(lkdf_run, .deadline_ns = deadline_ns), &done));
	if (state != RUNS && !deadline_ns) {
		api_until(&flow.is_there);
		must(lkdf_scope_cancel(rt, s, -EINTR));
	}
	rc = lkdf_event_wait(done, -1);
	lkdf_scope_wait(rt, s, -1);
	lkdf_scope_put(s);
	lkdf_scope_wait(rt, NULL, -1);
	return rc;
}

/* The first task that is not called in this state. */
static int first_behind(enum state s)
{
	static const int first[NR_STATES] = {
		[CHOOSES] = 1,	 [GOES_ROUND] = 5, [WAITS] = 5,
		[IS_INSIDE] = 7, [HAS_VALUE] = 4,
	};

	return first[s];
}

static void is_ended(struct lkdf *rt, enum state s, int64_t deadline_ns)
{
	const char *what = deadline_ns ? "a deadline" : "a cancel";
	int rc = run_in(rt, s, deadline_ns), nr = 0, t;

	is(rc, deadline_ns ? -ETIME : -EINTR, "%s ends a run %s", what,
	   names[s]);
	for (t = first_behind(s); t < NR_TASKS; t++)
		nr += flow.calls[t];
	is(nr, 0, "nothing behind is called");
	ok(s != WAITS || flow.calls[4] <= 1, "who waits is not called again");
	is(flow.nr_dropped, flow.nr_made, "each value is dropped once");
	rc = run_in(rt, RUNS, 0);
	is(rc, 0, "the next run ends well");
	is(flow.calls[4] * 100 + flow.calls[6] * 10 + flow.calls[8], 331,
	   "with three iterations of both loops");
	is(flow.nr_made * 10 + flow.nr_dropped, 44, "and four values");
}

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);
	int s;

	flow_open(rt);
	for (s = CHOOSES; s < NR_STATES; s++) {
		is_ended(rt, (enum state)s, 0);
		is_ended(rt, (enum state)s, 20 * MS);
	}
	flow_close();
	is(lkdf_close(rt), 0, "%d workers are closed", nr);
}

int main(void)
{
	tap_start(120);
	all(1);
	all(2);
	all(4);
	return tap_end();
}
