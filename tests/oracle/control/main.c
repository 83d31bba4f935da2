/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random graphs with branches, loops, values, waves and channels in the library
 * against the model:
 *	control [--programs N] [--seed S] [--base S] [--repeat N]
 *		[--workers LIST] [--orders N]
 * Each runs both ways, with regions (lib/graph/region.h) and without them: both
 * do what the model does, and go through as many iterations. Four large graphs
 * follow, see large.h.
 *
 * --base is where the seeds begin, else ORACLE_BASE in the environment, else 1.
 * --seed runs one program, --repeat times with each number of workers. LIST has
 * up to four of these, 0 is the serial mode; 1,2,4,0 without the option. Graphs
 * that seal is to refuse are among them: the model says which, and why.
 * --orders: each program runs in so many orders instead, which its seed
 * chooses, each in runtimes of its own with option order.
 */
#include "tests/oracle/control/large.h"
#include "tests/oracle/control/run.h"
#include "tests/oracle/random.h"
#include "tests/tap.h"

#include <errno.h>
#include <signal.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define PROGRAMS 4000
#else
#define PROGRAMS 20000
#endif

static const char *const ways[] = { "loop_regions=yes", "loop_regions=no" };
#define NR_WAYS 2
#define MAX_COUNTS 4
#define MAX_RUNTIMES (NR_WAYS * MAX_COUNTS)
#define NR_KINDS 32

struct options {
	uint64_t programs, seed, base, repeat;
	uint32_t orders;
	bool has_seed;
};

static int worker_counts[MAX_COUNTS] = { 1, 2, 4, 0 };
static int nr_counts = MAX_COUNTS;

/* A number of workers has two side by side, one for each way. */
static struct lkdf *runtimes[MAX_RUNTIMES];
static struct lkdf_kind *kinds[MAX_RUNTIMES][NR_KINDS];
static const uint32_t value_size = sizeof(uint64_t);
static struct lkdf_kind *gates[MAX_RUNTIMES], *children[MAX_RUNTIMES];
static struct variables variables[MAX_RUNTIMES];
static uint64_t nr_refused, nr_runs, nr_iterations, nr_again, nr_included;
static uint64_t nr_with_data, nr_bare;

static int gate(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static struct {
	const struct program *p;
	int workers;
	uint32_t order; /* of option order; 0: none */
	const char *way;
} at; /* what runs now */

static void on_alarm(int sig)
{
	if (sig == SIGALRM && watchdog_waits())
		return;
	printf("not ok %d - a program ends\n"
	       "# hangs with %d workers, %s; --seed %llu --repeat 1000\n",
	       ++tap_nr, at.workers, at.way, (unsigned long long)at.p->seed);
	program_print(at.p);
	printf("1..%d\n", tap_nr);
	fflush(stdout);
	_exit(1);
}

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	printf("not ok %d - %s: %s\n", ++tap_nr, what, lkdf_errmsg());
	exit(1);
}

static int workers_of(int r)
{
	return worker_counts[r / NR_WAYS];
}

static void open_runtime(int r)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "t",
				    .fn = run_body,
				    .nr_out = 1,
				    .in_size = &value_size,
				    .out_size = &value_size };
	struct lkdf_kind_attr g = { .size = sizeof(g),
				    .name = "gate",
				    .fn = gate };
	char workers[32] = "serial=yes", options[64];
	int i;

	if (at.order)
		snprintf(workers, sizeof(workers), "order=%u", at.order);
	else if (workers_of(r))
		snprintf(workers, sizeof(workers), "workers=%d", workers_of(r));
	snprintf(options, sizeof(options), "%s,%s", workers, ways[r % NR_WAYS]);
	must(lkdf_open(options, &runtimes[r]), "open");
	must(lkdf_kind_create(runtimes[r], &g, &gates[r]), "kind");
	g.fn = variables_child;
	g.arg_size = sizeof(struct addend);
	must(lkdf_kind_create(runtimes[r], &g, &children[r]), "kind");
	variables_open(&variables[r], runtimes[r]);
	for (i = 0; i < NR_KINDS; i++) {
		a.flags = (i & 1 ? LKDF_ANY : 0) | (i & 2 ? LKDF_ALWAYS : 0) |
			  (i & 4 ? LKDF_BLOCKING : 0);
		a.nr_in = i & 8 ? 1 : 0;
		a.nr_out = i & 16 ? 0 : 1;
		must(lkdf_kind_create(runtimes[r], &a, &kinds[r][i]), "kind");
	}
}

static void close_runtime(int r)
{
	int i;

	for (i = 0; i < NR_KINDS; i++)
		lkdf_kind_put(kinds[r][i]);
	lkdf_kind_put(gates[r]);
	lkdf_kind_put(children[r]);
	variables_close(&variables[r]);
	if (at.order)
		must(lkdf_close(runtimes[r]), "close");
	else
		is(lkdf_close(runtimes[r]), 0,
		   "a runtime with %d workers, %s, closes", workers_of(r),
		   ways[r % NR_WAYS]);
}

static int add_value(struct lkdf_graph *g, const struct edge *e)
{
	struct lkdf_edge a = {
		.size = sizeof(a),
		.flags = LKDF_EDGE_PORT | (e->is_back	   ? LKDF_EDGE_BACK
					   : e->branch < 0 ? 0
							   : LKDF_EDGE_BRANCH),
		.from = e->from,
		.to = e->to,
		.branch = (uint16_t)(e->branch < 0 ? 0 : e->branch),
	};

	return lkdf_graph_edge(g, &a);
}

/* The same as part of another graph; a stream has one source in each. */
static struct lkdf_graph *include(int r, const struct program *p,
				  struct lkdf_graph *part)
{
	struct lkdf_graph_attr a = {
		.size = sizeof(a),
		.inflight = (uint32_t)p->inflight,
	};
	struct lkdf_graph *g;
	int before, whole;

	must(lkdf_graph_create(runtimes[r], &a, &g), "graph");
	before = lkdf_graph_add(g, gates[r], NULL, NULL, 0);
	must(before, "add");
	whole = lkdf_graph_include(g, part);
	must(whole, "include");
	must(lkdf_graph_order(g, before, whole), "order");
	lkdf_graph_put(part);
	nr_included++;
	return g;
}

static struct lkdf_graph *build(int r, const struct program *p)
{
	struct lkdf_graph_attr a = {
		.size = sizeof(a),
		.inflight = (uint32_t)p->inflight,
	};
	const struct edge *e;
	struct lkdf_use use[MAX_USES];
	struct lkdf_graph *g;
	unsigned nr;
	int t, kind;

	must(lkdf_graph_create(runtimes[r], &a, &g), "graph");
	for (t = 0; t < p->nr_tasks; t++) {
		kind = p->is_any[t] + 2 * p->is_always[t] +
		       4 * p->is_blocking[t] + 8 * p->has_in[t] +
		       16 * p->is_bare;
		nr = variables_uses(&variables[r], p, t, use);
		must(lkdf_graph_add(g, kinds[r][kind], (void *)(intptr_t)t, use,
				    nr),
		     "add");
	}
	for (e = p->edge; e < p->edge + p->nr_edges; e++)
		must(e->has_value ? add_value(g, e)
		     : e->is_back ? lkdf_graph_back(g, e->from,
						    (uint16_t)e->branch, e->to)
		     : e->branch < 0
			     ? lkdf_graph_order(g, e->from, e->to)
			     : lkdf_graph_branch(g, e->from,
						 (uint16_t)e->branch, e->to),
		     "edge");
	return p->seed % 4 ? g : include(r, p, g);
}

static uint64_t stat_of(int r, const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(runtimes[r], name, &v), name);
	return v;
}

static bool run_all(int r, const struct program *p, struct lkdf_graph *g)
{
	uint64_t unchosen = stat_of(r, "lkdf.unchosen");
	uint64_t skipped = stat_of(r, "lkdf.skipped");
	struct lkdf_event done[8];
	uint64_t out[3][MAX_TASKS] = { 0 };
	struct channels channels;
	struct story s;
	struct run run[8];
	bool good = true;
	bool has_failed = false;
	int i, error = 0;

	memset(run, 0, sizeof(run));
	channels_open(&channels, runtimes[r], p);
	for (i = 0; i < p->nr_runs; i++) {
		run[i].p = p;
		run[i].channels = &channels;
		run[i].variables = &variables[r];
		run[i].child = children[r];
		run[i].number = i;
	}
	if (!p->has_data)
		must(run_start(p, g, run, done), "run");
	for (i = 0; i < p->nr_runs; i++) {
		if (p->has_data) {
			variables_reset(&variables[r], p);
			must(run_start(p, g, run, &done[i]), "run");
		}
		if (!p->is_stream || !i)
			error = lkdf_event_wait(done[i], -1);
		model_run(p, i, out[i % p->inflight], &s);
		good &= run_compare(p, &run[i], &s);
		if (p->has_data)
			good &= variables_compare(&variables[r], &s);
		channels_expect(&channels, p, i, &s);
		has_failed |= s.has_failed;
		if (!p->is_stream || i + 1 == p->nr_runs) {
			good &= run_compare_error(i, error, has_failed);
			has_failed = false;
		}
		unchosen += (uint64_t)s.nr_unchosen;
		skipped += (uint64_t)s.nr_skipped;
		nr_runs++;
	}
	good &= channels_close(&channels, runtimes[r]);
	nr_again += channels.nr_again;
	lkdf_scope_wait(runtimes[r], NULL, -1);
	if (stat_of(r, "lkdf.unchosen") != unchosen ||
	    stat_of(r, "lkdf.skipped") != skipped) {
		printf("# %d too many not chosen, %d too many skipped\n",
		       (int)(stat_of(r, "lkdf.unchosen") - unchosen),
		       (int)(stat_of(r, "lkdf.skipped") - skipped));
		good = false;
	}
	return good;
}

static bool try(int r, const struct program *p)
{
	struct lkdf_graph *g = build(r, p);
	uint64_t out[MAX_TASKS] = { 0 };
	struct story s;
	int want = model_run(p, 0, out, &s), rc = lkdf_graph_seal(g, NULL);
	bool good = rc == want;

	at.p = p;
	at.workers = workers_of(r);
	at.way = ways[r % NR_WAYS];
	watchdog_set(30);
	if (!good)
		printf("# seal returns %d, not %d: %s\n", rc, want,
		       rc ? lkdf_errmsg() : "");
	else if (!rc)
		good = run_all(r, p, g);
	nr_refused += want != 0;
	nr_with_data += !want && p->has_data;
	nr_bare += !want && p->is_bare;
	watchdog_set(0);
	lkdf_graph_put(g);
	return good;
}

/* r: the first of the two runtimes. */
static bool try_both(int r, const struct program *p)
{
	uint64_t nr[NR_WAYS], before;
	int way;

	for (way = 0; way < NR_WAYS; way++) {
		before = stat_of(r + way, "lkdf.iterations");
		if (!try(r + way, p)) {
			printf("# %s\n", ways[way]);
			return false;
		}
		nr[way] = stat_of(r + way, "lkdf.iterations") - before;
	}
	if (nr[0] == nr[1])
		return true;
	printf("# %llu iterations with %s, %llu with %s\n",
	       (unsigned long long)nr[0], ways[0], (unsigned long long)nr[1],
	       ways[1]);
	return false;
}

/* Alone in two runtimes, so that the order depends on nothing else. */
static bool try_order(const struct program *p, uint32_t order)
{
	bool good;
	int way;

	at.order = order;
	for (way = 0; way < NR_WAYS; way++)
		open_runtime(way);
	good = try_both(0, p);
	for (way = 0; way < NR_WAYS; way++)
		close_runtime(way);
	if (!good) {
		program_print(p);
		printf("# --seed %llu in order %u\n",
		       (unsigned long long)p->seed, order);
	}
	return good;
}

/* Chosen by its seed. */
static bool try_orders(const struct options *o, uint64_t seed)
{
	struct program p;
	uint32_t i;
	bool good = true;

	program_create(&p, seed);
	for (i = 0; i < o->orders && good; i++)
		good = try_order(&p, 1 + (uint32_t)(mix(seed + i) % 1000000));
	return good;
}

static void run_orders(const struct options *o)
{
	uint64_t i, nr = o->has_seed ? 1 : o->programs;
	bool good = true;

	for (i = 0; i < nr && good; i++)
		good = try_orders(o, o->has_seed ? o->seed : mix(o->base + i));
	ok(good, "%llu graphs with control flow, in %u orders each",
	   (unsigned long long)i, o->orders);
}

static bool try_seed(const struct options *o, uint64_t seed, int r)
{
	struct program p;
	uint64_t i;

	program_create(&p, seed);
	for (i = 0; i < o->repeat; i++) {
		if (try_both(r, &p))
			continue;
		program_print(&p);
		printf("# --seed %llu, %d workers\n", (unsigned long long)seed,
		       workers_of(r));
		return false;
	}
	return true;
}

static void run_programs(const struct options *o)
{
	uint64_t i, nr = o->has_seed ? (uint64_t)nr_counts : o->programs;
	bool good = true;

	for (i = 0; i < nr && good; i++)
		good = try_seed(o, o->has_seed ? o->seed : mix(o->base + i),
				(int)i % nr_counts * NR_WAYS);
	ok(good, "%llu graphs with control flow do what the model does",
	   (unsigned long long)i);
}

static bool parse_workers(const char *list)
{
	int *nr = worker_counts;

	nr_counts = sscanf(list, "%d,%d,%d,%d", nr, nr + 1, nr + 2, nr + 3);
	return nr_counts > 0;
}

static bool parse(struct options *o, const char *name, const char *value)
{
	uint64_t v = strtoull(value, NULL, 0);

	if (!strcmp(name, "--programs"))
		o->programs = v;
	else if (!strcmp(name, "--seed"))
		o->seed = v, o->has_seed = true;
	else if (!strcmp(name, "--base"))
		o->base = v;
	else if (!strcmp(name, "--repeat"))
		o->repeat = v;
	else if (!strcmp(name, "--orders"))
		o->orders = (uint32_t)v;
	else if (!strcmp(name, "--workers"))
		return parse_workers(value);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct options o = { .programs = PROGRAMS,
			     .base = base_seed(),
			     .repeat = 1 };
	int i, r, nr_runtimes;

	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("LKDF_LOG", "none", 0);
	signal(SIGALRM, on_alarm);
	for (i = 1; i < argc; i += 2) {
		if (i + 1 < argc && parse(&o, argv[i], argv[i + 1]))
			continue;
		fprintf(stderr, "control: unknown option %s\n", argv[i]);
		return 2;
	}
	printf("# base seed %llu\n", (unsigned long long)o.base);
	if (o.orders) {
		run_orders(&o);
		return tap_end();
	}
	nr_runtimes = nr_counts * NR_WAYS;
	for (r = 0; r < nr_runtimes; r++)
		open_runtime(r);
	run_programs(&o);
	for (r = 0; r < nr_runtimes && !o.has_seed; r++)
		ok(large_try(runtimes[r], mix(o.base)),
		   "large graphs do with %d workers, %s", workers_of(r),
		   ways[r % NR_WAYS]);
	for (r = 0; r < nr_runtimes; r++)
		nr_iterations += stat_of(r, "lkdf.iterations");
	printf("# %llu runs, %llu iterations, %llu graphs refused, %llu bodies "
	       "called again, %llu graphs included, %llu with data, %llu bare\n",
	       (unsigned long long)nr_runs, (unsigned long long)nr_iterations,
	       (unsigned long long)nr_refused, (unsigned long long)nr_again,
	       (unsigned long long)nr_included,
	       (unsigned long long)nr_with_data, (unsigned long long)nr_bare);
	for (r = 0; r < nr_runtimes; r++)
		close_runtime(r);
	return tap_end();
}
