/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * rmw_shapes SHAPE WORKERS: runs a shape on a library that counts its locked
 * operations, and writes
 *
 *	units N
 *	FILE LINE FUNCTION LOCKED MOVED
 *
 * with a line for each place. rmw.py reads that.
 */
#include "tests/bench/lkdf_control.h"
#include "tests/bench/lkdf_graph.h"
#include "tests/bench/lkdf_plan.h"
#include "tests/rmw/count.h"

#include <errno.h>
#include <lkdf/channel.h>
#include <lkdf/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF_US 500 /* units of work_for() */
#define NR_TASKS 4096
#define NR_TOKENS 4000
#define NR_VALUES 20000
#define FIB 18

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "rmw: %s: %s\n", what, lkdf_errmsg());
	exit(1);
}

/* ---- graphs ------------------------------------------------------------- */

static int half_us(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	++*(uint32_t *)arg;
	work_for(HALF_US);
	return 0;
}

static uint64_t run_graph(struct lkdf *rt, const char *name, uint32_t nr)
{
	struct lkdf_graph *g;
	struct lkdf_kind *k;
	struct shape s;
	uint32_t *count;

	must(shape_init(&s, name, nr), name);
	count = calloc(s.nr_tasks, sizeof(*count));
	if (!count)
		exit(1);
	must(lkdf_graph_kind(rt, "half a us", half_us, &k), "kind");
	must(lkdf_graph_of(rt, k, &s, count, 1, &g), name);
	must(lkdf_graph_runs(g, 4), name);
	rmw_start();
	must(lkdf_graph_runs(g, 8), name);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	nr = shape_all_ran(&s, count, 12) ? 8 * s.nr_tasks : 0;
	free(count);
	shape_fini(&s);
	return nr;
}

static uint64_t run_stencil(struct lkdf *rt)
{
	return run_graph(rt, "stencil_1d", NR_TASKS);
}

static uint64_t run_tree(struct lkdf *rt)
{
	return run_graph(rt, "tree", NR_TASKS);
}

/* ---- forks and joins ---------------------------------------------------- */

struct fib {
	struct lkdf_kind *kind;
	long n, result;
};

static int fib_body(struct lkdf_ctx *c, void *arg)
{
	struct fib *f = arg, x, y;

	if (f->n < 2) {
		f->result = f->n;
		return 0;
	}
	x = (struct fib){ f->kind, f->n - 1, 0 };
	y = (struct fib){ f->kind, f->n - 2, 0 };
	must(lkdf_spawn(c, f->kind, &x), "spawn");
	must(lkdf_spawn(c, f->kind, &y), "spawn");
	must(lkdf_join(c), "join");
	f->result = x.result + y.result;
	return 0;
}

static uint64_t run_fib(struct lkdf *rt)
{
	struct lkdf_kind *k;
	struct fib f = { .n = FIB };
	struct lkdf_task t = { .size = sizeof(t), .arg = &f };
	int i;

	must(lkdf_graph_kind(rt, "fib", fib_body, &k), "kind");
	f.kind = t.kind = k;
	for (i = 0; i < 5; i++) {
		if (i == 1)
			rmw_start();
		must(lkdf_submit(rt, NULL, &t, NULL), "submit");
		must(lkdf_scope_wait(rt, NULL, -1), "wait");
	}
	lkdf_kind_put(k);
	/* fib(18) is called 8361 times. */
	return f.result == 2584 ? 4 * 8361 : 0;
}

/* ---- submission --------------------------------------------------------- */

static uint64_t run_submit(struct lkdf *rt)
{
	struct lkdf_plan l;
	struct plan p;
	int i;
	bool is_right;

	must(plan_init(&p, "uses1", NR_TASKS), "plan");
	must(lkdf_plan_open(&l, rt, &p), "plan");
	for (i = 0; i < 5; i++) {
		if (i == 1)
			rmw_start();
		must(lkdf_plan_submit(&l, 0, p.nr_tasks), "submit");
		must(lkdf_scope_wait(rt, NULL, -1), "wait");
		p.nr_runs++;
	}
	is_right = plan_is_right(&p);
	lkdf_plan_close(&l);
	plan_fini(&p);
	return is_right ? 4 * NR_TASKS : 0;
}

/* ---- streams ------------------------------------------------------------ */

static uint64_t run_stream(struct lkdf *rt, uint32_t units)
{
	struct lkdf_stream l;
	struct stream s;
	bool is_right;

	must(stream_init(&s, "SSSS", NR_TOKENS, units), "stream");
	must(lkdf_stream_open(&l, rt, &s), "stream");
	rmw_start();
	must(lkdf_stream_run(&l), "stream");
	is_right = stream_is_right(&s);
	lkdf_stream_close(&l);
	return is_right ? NR_TOKENS * STREAM_STAGES : 0;
}

static uint64_t run_empty_stream(struct lkdf *rt)
{
	return run_stream(rt, 0);
}

static uint64_t run_busy_stream(struct lkdf *rt)
{
	return run_stream(rt, HALF_US);
}

/* ---- channels ----------------------------------------------------------- */

struct pipe {
	struct lkdf_channel *ch;
	uint64_t nr_sent, nr_received;
};

static int send_all(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = arg;
	int rc = 0;

	for (; p->nr_sent < NR_VALUES && !rc; p->nr_sent += !rc)
		rc = lkdf_send(c, p->ch, &p->nr_sent);
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static int receive_all(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = arg;
	uint64_t value;
	int rc = 0;

	for (; p->nr_received < NR_VALUES && !rc; p->nr_received += !rc)
		rc = lkdf_recv(c, p->ch, &value);
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static uint64_t run_channel(struct lkdf *rt)
{
	struct lkdf_task t = { .size = sizeof(t) };
	struct lkdf_kind *from, *to;
	struct pipe p = { 0 };

	must(lkdf_channel_create(rt, LKDF_CHANNEL(.value_size = 8, .depth = 64),
				 &p.ch),
	     "channel");
	must(lkdf_graph_kind(rt, "send", send_all, &from), "kind");
	must(lkdf_graph_kind(rt, "receive", receive_all, &to), "kind");
	t.arg = &p;
	rmw_start();
	t.kind = from;
	must(lkdf_submit(rt, NULL, &t, NULL), "submit");
	t.kind = to;
	must(lkdf_submit(rt, NULL, &t, NULL), "submit");
	must(lkdf_scope_wait(rt, NULL, -1), "wait");
	lkdf_kind_put(from);
	lkdf_kind_put(to);
	lkdf_channel_put(p.ch);
	return p.nr_received;
}

/* ---- loops -------------------------------------------------------------- */

static int add_range(uint64_t begin, uint64_t end, void *u)
{
	__atomic_fetch_add((uint64_t *)u, end - begin, __ATOMIC_RELAXED);
	work_for((uint32_t)(end - begin) * 2);
	return 0;
}

static uint64_t run_loop(struct lkdf *rt)
{
	struct lkdf_range r = { .end = 100000 };
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 60; i++) {
		if (i == 10)
			rmw_start();
		must(lkdf_for(rt, r, add_range, &sum), "loop");
	}
	return sum == 60 * 100000 ? 50 : 0;
}

static const struct shape_row {
	const char *name;
	uint64_t (*run)(struct lkdf *rt); /* units; 0: it went wrong */
} shapes[] = {
	{ "stencil", run_stencil },
	{ "tree", run_tree },
	{ "fib", run_fib },
	{ "submit", run_submit },
	{ "stream-empty", run_empty_stream },
	{ "stream", run_busy_stream },
	{ "channel", run_channel },
	{ "loop", run_loop },
};

static void print_place(const struct rmw_place *p, void *u)
{
	(void)u;
	printf("%s %d %s %llu %llu\n", p->file, p->line, p->function,
	       (unsigned long long)p->nr, (unsigned long long)p->nr_moved);
}

int main(int argc, char **argv)
{
	const struct shape_row *row = NULL;
	struct lkdf *rt;
	char text[64];
	uint64_t nr;
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!strcmp(argv[1], shapes[i].name))
			row = &shapes[i];
	if (!row) {
		fprintf(stderr, "usage: rmw_shapes SHAPE WORKERS\n");
		return 2;
	}
	/* Solo runs lock nothing, and when they begin is the clock's to say. */
	snprintf(text, sizeof(text), "workers=%s,solo_runs=no", argv[2]);
	must(lkdf_open(text, &rt), "open");
	nr = row->run(rt);
	printf("units %llu\n", (unsigned long long)nr);
	rmw_each(print_place, NULL);
	must(lkdf_close(rt), "close");
	return nr ? 0 : 1;
}
