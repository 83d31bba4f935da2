/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench forkjoin: fib, two spawns and a join per call, in every
 * contestant alike; nanoseconds per spawn. The floor is the serial call.
 */
#include "bench/arms.h"
#include "bench/peer.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_PEERS 3

static const struct {
	const char *program, *name;
	double bar; /* 0: none; with one worker only */
} peers[NR_PEERS] = {
	{ "peer_tbb", "tbb", 6 },
	{ "peer_omp_clang", "libomp", 4 },
	{ "peer_omp_gcc", "libgomp", 0 },
};

/* fib(30) spawns four times as often as fib(27). */
static const int sizes[] = { 27, 30 };

struct fib {
	int n;
	long result;
};

struct arm {
	int workers;
	struct lkdf *rt;
	struct peer peer[NR_PEERS];
	struct samples by_lkdf, by_serial, by_peer[NR_PEERS];
};

/* A single kind for all runtimes would do, but a kind belongs to one. */
static struct lkdf_kind *fib_kind;

static int fib_body(struct lkdf_ctx *c, void *arg)
{
	struct fib *f = arg, x, y;
	int rc;

	if (f->n < 2) {
		f->result = f->n;
		return 0;
	}
	x.n = f->n - 1;
	y.n = f->n - 2;
	rc = lkdf_spawn(c, fib_kind, &x);
	if (rc)
		return rc;
	rc = lkdf_spawn(c, fib_kind, &y);
	if (rc)
		return rc;
	rc = lkdf_join(c);
	f->result = x.result + y.result;
	return rc;
}

static __attribute__((noinline)) long fib_serial(int n)
{
	/* Keeps the compiler from turning one of the calls into a loop. */
	__asm__ volatile("" : "+r"(n));
	return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2);
}

/* Calls but the first are spawns: 2 fib(n + 1) - 2. */
static double nr_spawns(int n)
{
	return 2.0 * (double)fib_serial(n + 1) - 2;
}

static int lkdf_batch(struct arm *a, int n, double spawns)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr),
				       .flags = LKDF_SHARED,
				       .name = "fib",
				       .fn = fib_body };
	struct fib f = { n, 0 };
	struct lkdf_task t = { .size = sizeof(t), .arg = &f };
	struct lkdf_event done;
	int64_t start;
	int rc = lkdf_kind_create(a->rt, &attr, &fib_kind);

	if (rc)
		return bench_fail(rc, "kind: %s", lkdf_errmsg());
	t.kind = fib_kind;
	start = bench_now_ns();
	rc = lkdf_submit(a->rt, NULL, &t, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	start = bench_now_ns() - start;
	lkdf_kind_put(fib_kind);
	if (rc)
		return bench_fail(rc, "fib: %s", lkdf_errmsg());
	if (f.result != fib_serial(n))
		return bench_fail(-EBADMSG, "fib(%d) is not %ld", n, f.result);
	samples_add(&a->by_lkdf, (double)start / spawns);
	return 0;
}

static void serial_batch(struct arm *a, int n, double spawns)
{
	int64_t start = bench_now_ns();

	fib_serial(n);
	samples_add(&a->by_serial, (double)(bench_now_ns() - start) / spawns);
}

static int call_tree(struct arm *a, int n, double spawns)
{
	double out[PEER_MAX_VALUES];
	unsigned i;
	int rc;

	serial_batch(a, n, spawns);
	rc = lkdf_batch(a, n, spawns);
	for (i = 0; i < NR_PEERS && !rc; i++) {
		if (peer_ask(&a->peer[i], out, "fib %d %d", n, a->workers) != 2)
			continue;
		if ((long)out[1] != fib_serial(n))
			rc = bench_fail(-EBADMSG, "%s: fib(%d) is not %ld",
					peers[i].name, n, (long)out[1]);
		samples_add(&a->by_peer[i], out[0] / spawns);
	}
	return rc;
}

static int arm_open(void *arm, int workers)
{
	struct arm *a = arm;
	unsigned i;

	a->workers = workers;
	for (i = 0; i < NR_PEERS; i++)
		peer_open(&a->peer[i], peers[i].program);
	return bench_open(workers, NULL, &a->rt);
}

static void arm_close(void *arm)
{
	struct arm *a = arm;
	unsigned i;

	for (i = 0; i < NR_PEERS; i++)
		peer_close(&a->peer[i]);
	lkdf_close(a->rt);
}

static void peer_row(struct bench *b, const struct arm *a, int n, unsigned i)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "ns/spawn", "fib(%d)/%d/%s",
			   n, a->workers, peers[i].name);

	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->by_serial);
	if (row_peer(row, peers[i].name, &a->by_peer[i], a->peer[i].why))
		row_ratio(row, &a->by_peer[i], &a->by_lkdf);
	if (peers[i].bar > 0 && a->workers == 1)
		row_judge(row, BAR_AT_LEAST, peers[i].bar,
			  gate_was_fair(&b->gate));
}

static void arm_rows(struct bench *b, const void *arm, const void *first,
		     unsigned part)
{
	const struct arm *a = arm, *one = first;
	struct bench_row *row;
	int n = sizes[part];
	unsigned i;

	row = report_add(&b->report, a->workers, "ns/spawn", "fib(%d)/%d", n,
			 a->workers);
	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->by_serial);
	row_ratio(row, &a->by_lkdf, &a->by_serial);
	for (i = 0; i < NR_PEERS; i++)
		peer_row(b, a, n, i);
	if (a == one)
		return;
	row = report_add(&b->report, a->workers, "ns/spawn", "fib(%d)/slower",
			 n);
	row_value(row, &a->by_lkdf, 1);
	row_ratio(row, &a->by_lkdf, &one->by_lkdf);
	row_judge(row, BAR_AT_MOST, 1.05, gate_was_fair(&b->gate));
}

static void forget(struct arm *a)
{
	memset(&a->by_lkdf, 0, sizeof(a->by_lkdf));
	memset(&a->by_serial, 0, sizeof(a->by_serial));
	memset(a->by_peer, 0, sizeof(a->by_peer));
}

/* Warms heaps and thread pools of all. */
static int arm_build(const struct bench *b, void *arm, unsigned part)
{
	int rc;

	(void)b;
	(void)part;
	rc = call_tree(arm, 20, nr_spawns(20));
	forget(arm);
	return rc;
}

static int one_round(const struct bench *b, void *arm, unsigned part)
{
	(void)b;
	return call_tree(arm, sizes[part], nr_spawns(sizes[part]));
}

static const char *name_of(unsigned part)
{
	(void)part;
	return "fib";
}

static unsigned rounds_of(const struct bench *b, unsigned part)
{
	return b->is_quick ? 9 : part ? 7 : b->rounds;
}

static const struct bench_arms fibs = {
	.size = sizeof(struct arm),
	.open = arm_open,
	.close = arm_close,
	.name = name_of,
	.rounds = rounds_of,
	.build = arm_build,
	.round = one_round,
	.rows = arm_rows,
};

/* The quick one leaves the large size out. */
static unsigned nr_sizes(const struct bench *b)
{
	return b->is_quick ? 1 : sizeof(sizes) / sizeof(sizes[0]);
}

double bench_forkjoin_steps(const struct bench *b)
{
	return bench_arms_steps(b, &fibs, nr_sizes(b));
}

int bench_forkjoin(struct bench *b)
{
	return bench_arms(b, &fibs, nr_sizes(b));
}
