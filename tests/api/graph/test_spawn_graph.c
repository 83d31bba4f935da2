/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs of graphs as children of bodies: join, then and the end of the parent
 * wait for them; errors, cancels and deadlines; a graph that refines itself,
 * deep and wide, on one worker and on several.
 */
#include "tests/api/graph/child_run.h"

/* ---- who waits ---------------------------------------------------------- */

static int joins(struct lkdf_ctx *c, void *arg)
{
	struct five *f = arg;
	int rc = lkdf_spawn_graph(c, f->g, NULL);

	if (!rc)
		rc = lkdf_join(c);
	return rc ? rc : atomic_load(&f->last) == 5 ? 0 : -EPROTO;
}

static int goes_on(struct lkdf_ctx *c, void *arg)
{
	struct five *f = arg;
	int rc = lkdf_input_error(c, 0);

	return rc ? rc : atomic_load(&f->last) == 5 ? 0 : -EPROTO;
}

static int leaves(struct lkdf_ctx *c, void *arg)
{
	struct five *f = arg;
	int rc = lkdf_spawn_graph(c, f->g, NULL);

	return rc ? rc : lkdf_then(c, goes_on, (struct lkdf_event){ 0 });
}

static int only_spawns(struct lkdf_ctx *c, void *arg)
{
	struct five *f = arg;

	return lkdf_spawn_graph(c, f->g, NULL);
}

static void parents_wait(struct lkdf *rt, const char *option, uint32_t flags)
{
	static const struct {
		lkdf_fn fn;
		const char *text;
	} way[] = { { joins, "a join" },
		    { leaves, "then" },
		    { only_spawns, "the end of the parent" } };
	unsigned i;
	struct five f;
	int rc;

	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		five_open(&f, rt, 1, 0);
		rc = call_with(rt, way[i].fn, flags, &f);
		ok(!rc && f.last == 5, "%s waits for the run, %s%s",
		   way[i].text, option, flags ? ", blocking" : "");
		lkdf_graph_put(f.g);
	}
}

/* A parent that is a task of a sealed graph, three runs of it. */
static void parents_in_graphs_wait(struct lkdf *rt, const char *option)
{
	struct lkdf_kind *k = api_kind(rt, "refines", joins, 0, 0);
	struct lkdf_kind *ends = api_kind(rt, "ends", last_calls, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct five f;
	int rc, i;

	five_open(&f, rt, 1, 0);
	must(lkdf_graph_add(g, k, &f, NULL, 0));
	must(lkdf_graph_add(g, ends, &f, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0, rc = 0; i < 3 && !rc; i++) {
		f.calls = f.last = 0;
		rc = api_run(g, NULL, NULL);
		rc = rc ? rc : f.last == 6 ? 0 : -EPROTO;
	}
	is(rc, 0, "a task of a graph runs a graph, %s", option);
	lkdf_graph_put(g);
	lkdf_graph_put(f.g);
	lkdf_kind_put(k);
	lkdf_kind_put(ends);
}

static bool is_third(void *u)
{
	return ++*(int *)u == 3;
}

struct repeats {
	struct five *f;
	uint64_t times;
	int nr;
};

static int repeats(struct lkdf_ctx *c, void *arg)
{
	struct repeats *r = arg;
	int rc = lkdf_spawn_graph(c, r->f->g,
				  ATTR(lkdf_run, .times = r->times,
				       .until = r->times ? NULL : is_third,
				       .u = &r->nr));

	return rc ? rc : lkdf_join(c);
}

static void runs_repeat(struct lkdf *rt)
{
	struct repeats r = { .times = 4 };
	struct five f;

	five_open(&f, rt, 1, 0);
	r.f = &f;
	is(call_with(rt, repeats, 0, &r), 0, "a child run repeats");
	is(f.calls, 20, "as often as times says");
	f.calls = 0;
	r.times = 0;
	is(call_with(rt, repeats, 0, &r), 0, "another one");
	is(f.calls, 15, "until it is asked to end");
	lkdf_graph_put(f.g);
}

/* An empty graph's run is over before the call returns. */
static void empty_graph_runs(struct lkdf *rt)
{
	struct five f = { .last = 5, .g = api_graph(rt, 1) };

	must(lkdf_graph_seal(f.g, NULL));
	is(call_with(rt, joins, 0, &f), 0, "a run of no task is joined");
	is(call_with(rt, leaves, 0, &f), 0, "or left behind");
	lkdf_graph_put(f.g);
}

/* ---- errors ------------------------------------------------------------- */

static int looks_at_error(struct lkdf_ctx *c, void *arg)
{
	struct five *f = arg;
	int rc = lkdf_spawn_graph(c, f->g, NULL);

	if (rc)
		return rc;
	f->fails = lkdf_join(c) == -EIO ? 1 : 0;
	return strstr(lkdf_errmsg(), "third") ? 0 : -EPROTO;
}

static void errors_are_the_parents(struct lkdf *rt, const char *option)
{
	struct lkdf_kind *k = api_kind(rt, "parent", only_spawns, 0, 0);
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s;
	struct five f;

	must(lkdf_scope_create(rt, NULL, &s));
	five_open(&f, rt, 1, 0);
	f.fails = -EIO;
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &f), NULL));
	is(lkdf_scope_wait(rt, s, -1), -EIO, "a run's error is the scope's, %s",
	   option);
	must(lkdf_scope_error(rt, s, &e));
	ok(e.err == -EIO && strstr(e.task, "third"),
	   "through the parent, with its story, %s", option);
	is(f.calls, 4, "what came after the failure did not run");

	f.calls = f.last = 0;
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &f), NULL));
	is(lkdf_scope_wait(rt, s, -1), -EIO, "and so again");
	is(call_with(rt, looks_at_error, 0, &f), 0,
	   "a join returns it by name, and then the parent may succeed");
	is(f.fails, 1, "it was -EIO");
	is(lkdf_scope_wait(rt, s, 0), 0, "the scope has no error");
	lkdf_scope_put(s);
	lkdf_graph_put(f.g);
	lkdf_kind_put(k);
}

static void cancels_reach_the_run(struct lkdf *rt, const char *option)
{
	struct lkdf_kind *k = api_kind(rt, "parent", spawns_held, 0, 0);
	struct lkdf_scope *s;
	struct held h;

	must(lkdf_scope_create(rt, NULL, &s));
	held_open(&h, rt);
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &h), NULL));
	must(lkdf_event_wait(h.began, -1));
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "a cancel ends a child run, %s",
	   option);
	is(h.after, 0, "what came after the task it held did not run");
	lkdf_event_signal(h.release, 0);
	lkdf_graph_put(h.g);

	held_open(&h, rt);
	h.deadline_ns = 1000000;
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &h), NULL));
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "its deadline does, %s", option);
	is(h.after, 0, "and nothing came after");
	/* The run may have been over before its first task. */
	lkdf_event_put(h.began);
	lkdf_event_signal(h.began, 0);
	if (lkdf_event_signal(h.release, 0))
		lkdf_event_put(h.release);
	lkdf_graph_put(h.g);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

/* ---- a graph that refines itself ---------------------------------------- */

/* The sum of from .. to, by halves; each half is a run of the same graph. */
struct sum {
	struct lkdf_graph *g;
	long from, to, grain, result;
	struct sum *half[2];
	atomic_int *nr_runs, *nr_again;
};

static void add_up(struct sum *s)
{
	long i;

	for (s->result = 0, i = s->from; i <= s->to; i++)
		s->result += i;
}

static int refine(struct lkdf_ctx *c, struct sum *s)
{
	long middle = (s->from + s->to) / 2;
	struct sum half[2] = { *s, *s };
	int rc, i;

	half[0].to = middle;
	half[1].from = middle + 1;
	for (i = 0; i < 2; i++) {
		rc = lkdf_spawn_graph(c, s->g, ATTR(lkdf_run, .arg = &half[i]));
		if (rc == -EAGAIN) {
			atomic_fetch_add(s->nr_again, 1);
			add_up(&half[i]);
		} else if (rc) {
			return rc;
		} else {
			atomic_fetch_add(s->nr_runs, 1);
		}
	}
	rc = lkdf_join(c);
	s->result = half[0].result + half[1].result;
	return rc;
}

static int sums(struct lkdf_ctx *c, void *arg)
{
	struct sum *s = (struct sum *)(uintptr_t)lkdf_run_arg(c);

	(void)arg;
	if (s->to - s->from >= s->grain)
		return refine(c, s);
	add_up(s);
	return 0;
}

static int checks(struct lkdf_ctx *c, void *arg)
{
	const struct sum *s = lkdf_run_arg(c);
	long n = s->to - s->from + 1;

	(void)arg;
	return s->result == n * (s->from + s->to) / 2 ? 0 : -EBADMSG;
}

static void graph_refines_itself(struct lkdf *rt, const char *option,
				 uint32_t inflight, long grain)
{
	struct lkdf_kind *k = api_kind(rt, "sums", sums, 0, LKDF_SHARED);
	struct lkdf_kind *then = api_kind(rt, "checks", checks, 0, LKDF_SHARED);
	struct lkdf_graph *g = api_graph(rt, inflight);
	atomic_int nr_runs = 0, nr_again = 0;
	struct sum s = { g,	   1,	     1000, grain, 0, { NULL, NULL },
			 &nr_runs, &nr_again };
	int rc, i;

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_add(g, then, NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0, rc = 0; i < 4 && !rc; i++)
		rc = api_run(g, NULL, ATTR(lkdf_run, .arg = &s));
	is(rc, 0, "a graph runs itself, %s, inflight %u", option, inflight);
	is(s.result, 500500, "and the sum is right");
	ok(nr_runs > 0, "%d runs below others, %d times none was free",
	   atomic_load(&nr_runs), atomic_load(&nr_again));
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(then);
}

/* ---- what else is in graphs --------------------------------------------- */

struct program {
	struct lkdf_graph *g;
	struct lkdf_data *data;
	atomic_long seen;
};

static int makes(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(long *)lkdf_ptr(c, 0) = 40;
	*(long *)lkdf_out(c, 0) = 2;
	return 0;
}

/* A loop of three iterations. */
static int adds(struct lkdf_ctx *c, void *arg)
{
	struct program *p = arg;
	long sum = *(long *)lkdf_ptr(c, 0) + *(const long *)lkdf_in(c, 0);

	return atomic_fetch_add(&p->seen, sum) < 84 ? 1 : LKDF_NO_BRANCH;
}

static int joins_program(struct lkdf_ctx *c, void *arg)
{
	struct program *p = arg;
	int rc = lkdf_spawn_graph(c, p->g, NULL);

	return rc ? rc : lkdf_join(c);
}

static void child_has_data_ports_and_loops(struct lkdf *rt, const char *option)
{
	static const uint32_t size = sizeof(long);
	struct program p = { .g = api_graph(rt, 1) };
	struct lkdf_kind *from, *to;
	struct lkdf_use use;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = sizeof(long),
				   .flags = LKDF_DATA_ONCE),
			      &p.data));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "makes", .fn = makes,
				   .nr_out = 1, .out_size = &size),
			      &from));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "adds", .fn = adds,
				   .nr_in = 1, .in_size = &size),
			      &to));
	use = (struct lkdf_use){ .data = p.data, .mode = LKDF_WRITE };
	must(lkdf_graph_add(p.g, from, &p, &use, 1));
	use.mode = LKDF_READ;
	must(lkdf_graph_add(p.g, to, &p, &use, 1));
	must(lkdf_graph_port(p.g, 0, 0, 1, 0));
	must(lkdf_graph_back(p.g, 1, 1, 1));
	must(lkdf_graph_seal(p.g, NULL));
	is(call_with(rt, joins_program, 0, &p), 0,
	   "a child run has data, ports and a loop, %s", option);
	is(p.seen, 126, "and they have their values");
	lkdf_graph_put(p.g);
	lkdf_data_put(p.data);
	lkdf_kind_put(from);
	lkdf_kind_put(to);
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(120);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		rt = api_open(options[i]);
		parents_wait(rt, options[i], 0);
		parents_wait(rt, options[i], LKDF_BLOCKING);
		parents_in_graphs_wait(rt, options[i]);
		errors_are_the_parents(rt, options[i]);
		cancels_reach_the_run(rt, options[i]);
		graph_refines_itself(rt, options[i], 64, 8);
		graph_refines_itself(rt, options[i], 7, 100);
		child_has_data_ports_and_loops(rt, options[i]);
		is(lkdf_close(rt), 0, "nothing is left, %s", options[i]);
	}
	rt = api_open_workers(2);
	runs_repeat(rt);
	empty_graph_runs(rt);
	is(lkdf_close(rt), 0, "nothing is left");
	return tap_end();
}
