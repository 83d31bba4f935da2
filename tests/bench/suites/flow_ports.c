/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Two rows of lkdf bench flow without a peer. ports/pair is what a value costs
 * that one task puts out at a port and the next takes: a chain of such tasks
 * against the same chain of empty bodies, with one worker. waves/memory is what
 * the waves of a long stream with ports add to resident memory, once the first
 * waves have warmed up what the stream needs.
 */
#include "tests/bench/suites/flow_ports.h"

#include "tests/bench/lkdf_graph.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHAIN 1000
#define RUNS 100 /* of one call */
#define MOST_NS 3

#define STAGES 4
#define WAVES 10000000
#define QUICK_WAVES 1000000
#define WARM_WAVES 100000
#define INFLIGHT 16
#define MOST_KIB 64

/* Where a task stands among those that hand a value on. */
enum rank {
	FIRST, /* puts out */
	MIDDLE,
	LAST, /* takes */
	NR_RANKS
};

/* Bodies count here; each field is one task's own. */
static struct {
	uint64_t nr, made, taken, wrong; /* waves, values */
	long warm, end; /* KiB resident */
} job;

static int empty(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int put(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_out(c, 0) = ++job.made;
	return 0;
}

static int hand_on(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_out(c, 0) = *(const uint64_t *)lkdf_in(c, 0);
	return 0;
}

static int take(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	job.wrong += *(const uint64_t *)lkdf_in(c, 0) != ++job.taken;
	return 0;
}

/* KiB of this process that are in memory; -1: the kernel does not tell. */
static long resident(void)
{
	char text[1024];
	const char *at;
	ssize_t nr;
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	nr = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[nr > 0 ? nr : 0] = 0;
	at = strstr(text, "Rss:");
	return at ? strtol(at + 4, NULL, 10) : -1;
}

static int source(struct lkdf_ctx *c, void *arg)
{
	if (job.made == WARM_WAVES)
		job.warm = resident();
	if (job.made == job.nr) {
		job.end = resident();
		return LKDF_END;
	}
	return put(c, arg);
}

static int make_kind(struct lkdf *rt, enum rank rank, lkdf_fn fn,
		     struct lkdf_kind **out)
{
	static const uint32_t size = sizeof(uint64_t);
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "port" };

	a.fn = fn;
	a.nr_in = rank != FIRST;
	a.nr_out = rank != LAST;
	a.in_size = a.out_size = &size;
	return lkdf_kind_create(rt, &a, out);
}

/* Tasks in a row, each hands its value to the next. */
static int add_row(struct lkdf_graph *g, struct lkdf_kind *const kind[],
		   unsigned nr)
{
	enum rank rank;
	unsigned i;
	int rc = 0;

	for (i = 0; i < nr && rc >= 0; i++) {
		rank = i == 0 ? FIRST : i + 1 < nr ? MIDDLE : LAST;
		rc = lkdf_graph_add(g, kind[rank], NULL, NULL, 0);
		if (rc > 0)
			rc = lkdf_graph_port(g, rc - 1, 0, rc, 0);
	}
	return rc < 0 ? rc : lkdf_graph_seal(g, NULL);
}

static int make_row(struct lkdf *rt, lkdf_fn first, unsigned nr,
		    uint32_t inflight, struct lkdf_graph **out)
{
	const lkdf_fn fn[NR_RANKS] = { first, hand_on, take };
	struct lkdf_graph_attr a = { .size = sizeof(a), .inflight = inflight };
	struct lkdf_kind *kind[NR_RANKS] = { NULL };
	int rc = lkdf_graph_create(rt, &a, out), i;

	for (i = 0; i < NR_RANKS && !rc; i++)
		rc = make_kind(rt, (enum rank)i, fn[i], &kind[i]);
	if (!rc)
		rc = add_row(*out, kind, nr);
	for (i = 0; i < NR_RANKS; i++)
		lkdf_kind_put(kind[i]);
	return rc;
}

/* A chain of as many tasks without values. */
static int make_empty(struct lkdf *rt, struct lkdf_graph **out)
{
	struct lkdf_kind *kind = NULL;
	int rc = lkdf_graph_create(rt, NULL, out), i;

	if (!rc)
		rc = lkdf_graph_kind(rt, "empty", empty, &kind);
	for (i = 0; i < CHAIN && rc >= 0; i++) {
		rc = lkdf_graph_add(*out, kind, NULL, NULL, 0);
		if (rc > 0)
			rc = lkdf_graph_order(*out, rc - 1, rc);
	}
	lkdf_kind_put(kind);
	return rc < 0 ? rc : lkdf_graph_seal(*out, NULL);
}

/* ns of one run. */
static int time_runs(struct lkdf_graph *g, double *ns)
{
	int64_t start = bench_now_ns();
	int rc = lkdf_graph_runs(g, RUNS);

	*ns = (double)(bench_now_ns() - start) / RUNS;
	return rc;
}

static void no_values(void)
{
	memset(&job, 0, sizeof(job));
}

/* The first round is not counted: graphs learn what their bodies are like. */
static int time_pairs(struct bench *b, struct lkdf_graph *plain,
		      struct lkdf_graph *ports, struct samples *pair,
		      struct samples *task)
{
	double without = 0, with = 0;
	unsigned i;
	int rc = 0;

	no_values();
	gate_reset(&b->gate);
	for (i = 0; i <= b->rounds && !rc; i++) {
		if (i)
			bench_round(b, "ports/pair");
		rc = time_runs(plain, &without);
		if (!rc)
			rc = time_runs(ports, &with);
		if (!i)
			continue;
		samples_add(pair, (with - without) / (CHAIN - 1));
		samples_add(task, without / CHAIN);
	}
	if (rc)
		return bench_fail(rc, "ports/pair: %s", lkdf_errmsg());
	if (job.wrong || job.taken != (uint64_t)RUNS * i)
		return bench_fail(-EBADMSG, "ports/pair: a value was lost");
	return 0;
}

static void bar_row(struct bench_row *row, const struct samples *s, double most,
		    bool is_fair)
{
	row_value(row, s, 1);
	row->ratio = row->value;
	row->spread =
		(samples_quantile(s, 0.75) - samples_quantile(s, 0.25)) / 2;
	row_judge(row, BAR_AT_MOST, most, is_fair);
}

static int measure_pairs(struct bench *b)
{
	struct samples pair = { .nr = 0 }, task = { .nr = 0 };
	struct lkdf_graph *plain = NULL, *ports = NULL;
	struct bench_row *row;
	struct lkdf *rt;
	int rc = bench_open(1, NULL, &rt);

	if (rc)
		return rc;
	rc = make_empty(rt, &plain);
	if (!rc)
		rc = make_row(rt, put, CHAIN, 1, &ports);
	rc = rc ? bench_fail(rc, "ports/pair: %s", lkdf_errmsg())
		: time_pairs(b, plain, ports, &pair, &task);
	if (!rc) {
		row = report_add(&b->report, 1, "ns/pair", "ports/pair");
		row->floor = samples_median(&task);
		bar_row(row, &pair, MOST_NS, gate_was_fair(&b->gate));
	}
	lkdf_graph_put(ports);
	lkdf_graph_put(plain);
	lkdf_close(rt);
	return rc;
}

static int run_stream(struct lkdf_graph *g)
{
	struct lkdf_run r = { .size = sizeof(r), .flags = LKDF_RUN_STREAM };
	struct lkdf_event done;
	int rc = lkdf_graph_run(g, NULL, &r, &done);

	return rc ? rc : lkdf_event_wait(done, -1);
}

static void memory_row(struct bench *b, int workers)
{
	struct samples kib = { .nr = 0 };
	struct bench_row *row = report_add(&b->report, workers, "KiB",
					   "waves/memory/%d", workers);

	if (job.warm < 0 || job.end < 0) {
		snprintf(row->note, sizeof(row->note), "no smaps_rollup");
		return;
	}
	samples_add(&kib, (double)(job.end - job.warm));
	bar_row(row, &kib, MOST_KIB, true);
}

static int measure_waves(struct bench *b, int workers)
{
	struct lkdf_graph *g = NULL;
	struct lkdf *rt;
	int rc = bench_open(workers, NULL, &rt);

	if (rc)
		return rc;
	bench_step(b, 1, "waves/memory");
	no_values();
	job.nr = b->is_quick ? QUICK_WAVES : WAVES;
	rc = make_row(rt, source, STAGES, INFLIGHT, &g);
	if (!rc)
		rc = run_stream(g);
	if (rc)
		bench_fail(rc, "waves/memory: %s", lkdf_errmsg());
	else if (job.wrong || job.taken != job.nr)
		rc = bench_fail(-EBADMSG, "waves/memory: a value was lost");
	else
		memory_row(b, workers);
	lkdf_graph_put(g);
	lkdf_close(rt);
	return rc;
}

double bench_flow_ports_steps(const struct bench *b)
{
	return b->rounds + b->nr_counts;
}

int bench_flow_ports(struct bench *b)
{
	int rc = measure_pairs(b);
	unsigned i;

	for (i = 0; i < b->nr_counts && !rc; i++)
		rc = measure_waves(b, b->workers[i]);
	return rc;
}
