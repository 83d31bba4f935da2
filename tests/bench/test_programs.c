/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The programs of lkdf bench submit, data and flow at small sizes: that lkdf's
 * contestants do what the serial programs do, and that the checks notice what
 * is wrong.
 */
#include "tests/bench/cpp.h"
#include "tests/bench/lkdf_control.h"
#include "tests/bench/lkdf_flow.h"
#include "tests/bench/lkdf_graph.h"
#include "tests/bench/lkdf_once.h"
#include "tests/bench/lkdf_plan.h"
#include "tests/bench/lkdf_tiles.h"
#include "tests/bench/loop.h"
#include "tests/bench/raw_cl.h"
#include "tests/opencl.h"
#include "tests/tap.h"

#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

/* One run of all tasks but @but, in the order of the plan or backwards. */
static void plan_serially(struct plan *p, uint32_t but, bool is_backwards)
{
	uint32_t i, k, task;

	for (i = 0; i < p->nr_tasks; i++) {
		task = is_backwards ? p->nr_tasks - 1 - i : i;
		for (k = p->use_at[task] + 1; k < p->use_at[task + 1]; k++)
			if (!plan_fits(p, p->use[k], p->word[p->use[k]],
				       p->word[task]))
				p->is_wrong = true;
		p->word[task] += task != but;
	}
	p->nr_runs++;
}

static void a_wrong_run_is_noticed(void)
{
	struct plan p;

	ok(!plan_init(&p, "wave", 64), "a plan is drawn");
	plan_serially(&p, UINT32_MAX, false);
	ok(plan_is_right(&p), "the serial order is right");
	plan_serially(&p, 5, false);
	ok(!plan_is_right(&p), "a lost task is noticed");
	plan_fini(&p);
	ok(!plan_init(&p, "wave", 64), "a plan is drawn again");
	plan_serially(&p, UINT32_MAX, true);
	ok(p.is_wrong && !plan_is_right(&p), "a wrong order is noticed");
	plan_fini(&p);
	ok(plan_init(&p, "uses9", 64) < 0, "too many uses are refused");
	ok(plan_init(&p, "knot", 64) < 0, "an unknown plan is refused");
}

static void uses_are_disjoint(void)
{
	bool *is_used, is_shared = false;
	struct plan p;
	uint32_t i;

	ok(!plan_init(&p, "uses4", 100), "uses4 is drawn");
	is(p.use_at[p.nr_tasks], 400, "four uses each");
	is(p.nr_words, 400, "as many words");
	is_used = calloc(p.nr_words, sizeof(*is_used));
	for (i = 0; is_used && i < p.use_at[p.nr_tasks]; i++) {
		is_shared |= is_used[p.use[i]];
		is_used[p.use[i]] = true;
	}
	ok(is_used && !is_shared, "no word is used twice");
	free(is_used);
	plan_fini(&p);
}

static void plans_run(struct lkdf *rt, const char *name)
{
	struct lkdf_plan l = { .rt = NULL };
	struct plan p;
	int i, rc = plan_init(&p, name, 400);

	if (!rc)
		rc = lkdf_plan_open(&l, rt, &p);
	for (i = 0; i < 20 && !rc; i++) {
		rc = lkdf_plan_submit(&l, 0, p.nr_tasks);
		/* Some runs behind each other without a wait, if uses keep
		 * them in order. */
		if (!rc && (i % 4 == 3 || !p.use_at[p.nr_tasks]))
			rc = lkdf_scope_wait(rt, NULL, -1);
		p.nr_runs++;
	}
	is(rc, 0, "%s with uses is submitted and run", name);
	ok(plan_is_right(&p), "%s runs each task in order", name);
	if (l.rt)
		lkdf_plan_close(&l);
	plan_fini(&p);
}

static void a_flow_is_checked(void)
{
	struct flow_serial s;
	struct flow f;

	ok(!flow_init(&f, "chain", 50, 512) && !flow_serial_init(&s, &f),
	   "a chain is drawn");
	is(s.nr_blocks, 2, "a chain needs two blocks");
	flow_serial_run(&s);
	flow_serial_run(&s);
	ok(flow_is_right(&s, 2), "two serial runs are two serial runs");
	flow_serial_run(&s);
	f.result[7]++;
	ok(!flow_is_right(&s, 1), "a wrong value is noticed");
	flow_serial_run(&s);
	ok(!flow_is_right(&s, 2), "a lost run is noticed");
	flow_serial_fini(&s);
	flow_fini(&f);
	ok(flow_init(&f, "chain", 50, 12) < 0, "an odd size is refused");
}

static int flow_open(struct flow *f, struct flow_serial *s, struct lkdf_flow *l,
		     struct lkdf *rt)
{
	int rc = flow_serial_init(s, f);

	return rc ? rc : lkdf_flow_open(l, rt, f);
}

static void flow_runs(struct flow *f, const char *name, struct lkdf *rt)
{
	struct flow_serial s = { .flow = NULL };
	struct lkdf_flow l = { .rt = NULL };
	int rc = flow_open(f, &s, &l, rt);

	is(rc, 0, "%s is built: %s", name, rc ? lkdf_errmsg() : "no error");
	if (!rc) {
		is(lkdf_graph_runs(l.graph, 1), 0, "%s passes blocks on", name);
		ok(flow_is_right(&s, 1), "%s: as the serial program", name);
		f->seed = 77;
		is(lkdf_graph_runs(l.graph, 10), 0, "%s: ten times", name);
		ok(flow_is_right(&s, 10), "%s: with new values", name);
		lkdf_flow_close(&l);
	}
	if (s.flow)
		flow_serial_fini(&s);
}

static void flows_run(struct lkdf *rt, const char *name, uint64_t bytes)
{
	struct flow f;

	if (flow_init(&f, name, bytes > 4096 ? 20 : 400, bytes)) {
		ok(false, "%s is drawn", name);
		return;
	}
	flow_runs(&f, name, rt);
	flow_fini(&f);
}

static void tiles_serially(struct tiles *t, uint32_t but)
{
	const struct tile_op *op;
	uint32_t i;

	for (i = 0; i < t->nr_ops; i++) {
		op = &t->op[i];
		if (i != but)
			tiles_do(op->fn, t->side, tiles_at(t, op->in[0]),
				 tiles_at(t, op->in[1]), tiles_at(t, op->out));
	}
}

static void factors_are_checked(const char *name)
{
	struct tiles t;

	ok(!tiles_init(&t, name, 96, 16), "%s is drawn", name);
	tiles_serially(&t, UINT32_MAX);
	ok(tiles_residual(&t) < 1, "%s: the serial residual is small", name);
	tiles_reset(&t);
	tiles_serially(&t, t.nr_ops / 2);
	ok(!(tiles_residual(&t) < 1), "%s: a lost operation is noticed", name);
	t.now[3] = NAN;
	ok(!(tiles_residual(&t) < 1), "%s: no number is noticed", name);
	tiles_fini(&t);
	ok(tiles_init(&t, name, 100, 16) < 0, "%s: a part of a tile is refused",
	   name);
}

static void tiles_run(struct lkdf *rt, const char *name)
{
	struct lkdf_tiles l = { .rt = NULL };
	struct tiles t, serial;
	int rc = tiles_init(&t, name, 96, 16);

	rc |= tiles_init(&serial, name, 96, 16);
	if (!rc)
		rc = lkdf_tiles_open(&l, rt, &t);
	is(rc, 0, "%s: data are made", name);
	if (!rc) {
		tiles_serially(&serial, UINT32_MAX);
		is(lkdf_tiles_run(&l), 0, "%s is factored by tasks", name);
		ok(!memcmp(t.now, serial.now, sizeof(double) * t.n * t.n),
		   "%s has the serial program's bits", name);
		tiles_reset(&t);
		is(lkdf_tiles_run(&l), 0, "%s is factored again", name);
		ok(tiles_residual(&t) < 1, "%s: the residual is small", name);
		lkdf_tiles_close(&l);
	}
	tiles_fini(&t);
	tiles_fini(&serial);
}

static void a_wrong_iteration_is_noticed(const char *shape)
{
	struct control c;

	ok(!control_init(&c, shape, 9), "%s is drawn", shape);
	control_serial(&c);
	ok(control_is_right(&c), "%s: the serial program is right", shape);
	c.step[1].sum++;
	ok(!control_is_right(&c), "%s: a wrong order is noticed", shape);
	c.step[1].sum--;
	control_do(&c.step[0]);
	ok(!control_is_right(&c), "%s: a body too many is noticed", shape);
	ok(!control_init(&c, shape, 8), "%s is drawn again", shape);
	control_serial(&c);
	c.nr = 9;
	ok(!control_is_right(&c), "%s: a lost iteration is noticed", shape);
}

/* The bodies of two tokens, those of the second before those of the first. */
static void a_wrong_token_is_noticed(const char *stages, unsigned from)
{
	struct stream s;
	unsigned i;

	ok(!stream_init(&s, stages, 2, 0), "%s is drawn", stages);
	stream_serial(&s);
	ok(stream_is_right(&s), "%s: the serial program is right", stages);
	ok(!stream_init(&s, stages, 2, 0), "%s is drawn again", stages);
	for (i = 0; i < 2 * STREAM_STAGES; i++)
		stream_do(&s, i / 2, i / 2 < from ? i % 2 : 1 - i % 2);
	is(stream_is_right(&s), 0, "%s: a wrong order from stage %u on", stages,
	   from);
	ok(!stream_init(&s, stages, 2, 0), "%s is drawn again", stages);
	for (i = 0; i < 2 * STREAM_STAGES; i++)
		if (i != 3)
			stream_do(&s, i / 2, i % 2);
	ok(!stream_is_right(&s), "%s: a lost body is noticed", stages);
}

static void a_wrong_message_is_noticed(const char *stages)
{
	struct packet m;
	struct stream s;
	unsigned i;

	ok(!stream_init(&s, stages, 2, 0), "%s is drawn", stages);
	stream_serial(&s);
	ok(stream_is_right(&s), "%s: the serial program is right", stages);
	m = (struct packet){ 1, 5 };
	stream_pass(&s, 3, m);
	ok(!stream_is_right(&s), "%s: a body too many is noticed", stages);
	ok(!stream_init(&s, stages, 2, 0), "%s is drawn again", stages);
	for (i = 0; i < 2 * STREAM_STAGES; i++) {
		m.token = i / STREAM_STAGES;
		if (i != 2)
			m = stream_pass(&s, i % STREAM_STAGES, m);
	}
	ok(!stream_is_right(&s), "%s: a lost body is noticed", stages);
}

static void flow_is_checked(void)
{
	const char *shape;
	struct control c;
	struct stream s;
	unsigned i;

	for (i = 0; (shape = control_name(i)); i++)
		a_wrong_iteration_is_noticed(shape);
	a_wrong_token_is_noticed("SPPS", 0);
	a_wrong_token_is_noticed("SPPS", 3);
	a_wrong_token_is_noticed("SSSS", 1);
	a_wrong_message_is_noticed("CPPS");
	ok(control_init(&c, "knot", 1) < 0, "an unknown shape is refused");
	ok(stream_init(&s, "PPPS", 1, 0) < 0, "a parallel source is refused");
	ok(stream_init(&s, "SPS", 1, 0) < 0, "three stages are refused");
	ok(stream_init(&s, "SCPS", 1, 0) < 0, "a queue behind is refused");
}

static void controls_run(struct lkdf *rt, const char *shape)
{
	struct lkdf_graph *g = NULL;
	struct control c;
	uint64_t nr;
	int rc = control_init(&c, shape, 1);

	if (!rc)
		rc = lkdf_control_open(rt, &c, &g);
	is(rc, 0, "%s is built: %s", shape, rc ? lkdf_errmsg() : "no error");
	for (nr = 1; nr < 2000 && !rc; nr *= 3) {
		rc = control_init(&c, shape, nr);
		if (!rc)
			rc = lkdf_control_run(&c, g);
		is(rc, 0, "%s with %lu iterations", shape, nr);
		ok(control_is_right(&c), "%s: as the serial program", shape);
	}
	lkdf_graph_put(g);
}

static void streams_run(struct lkdf *rt, const char *stages)
{
	struct lkdf_stream l = { .graph = NULL };
	struct stream s;
	uint64_t nr;
	int rc = stream_init(&s, stages, 1, 0);

	if (!rc)
		rc = lkdf_stream_open(&l, rt, &s);
	is(rc, 0, "%s is built: %s", stages, rc ? lkdf_errmsg() : "no error");
	for (nr = 1; nr < 4000 && !rc; nr *= 3) {
		rc = stream_init(&s, stages, nr, 10);
		if (!rc)
			rc = lkdf_stream_run(&l);
		is(rc, 0, "%s with %lu tokens", stages, nr);
		ok(stream_is_right(&s), "%s: as the serial program", stages);
	}
	lkdf_stream_close(&l);
}

static void onces_run(struct lkdf *rt, const char *name)
{
	struct shape s;
	struct once o;
	int rc = shape_init(&s, name, 500), i;

	if (!rc)
		rc = once_init(&o, rt, &s);
	for (i = 0; i < 2 && !rc; i++) {
		rc = once_live(&o, rt);
		is(rc, 0, "once, %s: %s", name, rc ? lkdf_errmsg() : "lives");
		ok(once_is_right(&o), "once, %s: as a serial program", name);
		o.sum++;
		ok(!once_is_right(&o), "once, %s: a lost value is seen", name);
	}
	once_fini(&o);
	shape_fini(&s);
}

static void lkdf_runs_them(const char *options)
{
	static const char *const plans[] = {
		"uses0", "uses1", "uses2", "uses8",
		"chain", "tree",  "wave",  "random"
	};
	static const char *const flows[] = { "chain", "tree", "wave",
					     "random" };
	const char *shape;
	struct lkdf *rt;
	unsigned i;

	if (lkdf_open(options, &rt)) {
		ok(false, "%s: %s", options, lkdf_errmsg());
		return;
	}
	for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		plans_run(rt, plans[i]);
	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		flows_run(rt, flows[i], i == 1 ? 32 : 512);
	flows_run(rt, "chain", 2 * 1024 * 1024);
	tiles_run(rt, "cholesky");
	tiles_run(rt, "lu");
	for (i = 0; (shape = control_name(i)); i++)
		controls_run(rt, shape);
	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		onces_run(rt, flows[i]);
	streams_run(rt, "SPPS");
	streams_run(rt, "SSSS");
	streams_run(rt, "CPPS");
	streams_run(rt, "CSPS");
	is(lkdf_close(rt), 0, "%s: nothing is left", options);
}

/* What lkdf bench cpp holds C++, coroutines and oneTBB against. */
static void shapes_of_cpp_are_right(const char *options)
{
	static const struct {
		const char *name;
		int (*run)(struct cpp_job *j);
		uint32_t size;
		uint64_t result;
	} shapes[] = {
		{ "loop", cpp_c_loop, 1000, 0 },
		{ "reduce", cpp_c_reduce, 1000, 500000 },
		{ "async", cpp_c_async, 1000, 501000 },
		{ "data", cpp_c_data, 1000, 1000 },
		{ "fib", cpp_c_fib, 15, 610 },
		{ "skynet", cpp_c_skynet, 3, 499500 },
		{ "nqueens", cpp_c_nqueens, 6, 4 },
		{ "ping", cpp_c_ping, 3, 2 * 20 * 3 * 64 },
	};
	struct cpp_job j = { .rt = NULL };
	uint32_t x[1000], at;
	unsigned i;

	j.x = x;
	is(lkdf_open(options, &j.rt), 0, "cpp: %s", options);
	for (i = 0; i < CPP_CONNECTIONS; i++)
		is(socketpair(AF_UNIX, SOCK_STREAM, 0, j.fd[i]), 0,
		   "cpp: connection %u", i);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (at = 0; at < 1000; at++)
			x[at] = at | 1;
		j.size = shapes[i].size;
		is(shapes[i].run(&j), 0, "cpp: %s runs", shapes[i].name);
		is((long)j.result, (long)shapes[i].result, "cpp: %s is right",
		   shapes[i].name);
		if (shapes[i].run == cpp_c_loop)
			is((long)loop_wrong(x, 1000, 2), 0,
			   "cpp: the loop has each number once");
	}
	for (i = 0; i < CPP_CONNECTIONS; i++) {
		close(j.fd[i][0]);
		close(j.fd[i][1]);
	}
	is(lkdf_close(j.rt), 0, "cpp: nothing is left");
}

static void a_queue_by_hand_is_checked(void)
{
	char why[96];
	struct raw_cl *r;

	opencl_env(NULL);
	r = raw_cl_open(why, sizeof(why));
	if (!r) {
		skip("a queue by hand", why);
		return;
	}
	ok(raw_cl_chain(r, 10) > 0, "a chain of kernels by hand is right");
	ok(raw_cl_side_by_side(r, 10) > 0, "kernels that do nothing, too");
	ok(raw_cl_pairs(r, 10) > 0, "and pairs of a kernel and the host");
	raw_cl_close(r);
}

int main(void)
{
	tap_start(120);
	a_queue_by_hand_is_checked();
	a_wrong_run_is_noticed();
	uses_are_disjoint();
	a_flow_is_checked();
	flow_is_checked();
	factors_are_checked("cholesky");
	factors_are_checked("lu");
	lkdf_runs_them("workers=1");
	lkdf_runs_them("workers=3");
	shapes_of_cpp_are_right("workers=1");
	shapes_of_cpp_are_right("workers=3");
	return tap_end();
}
