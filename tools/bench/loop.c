/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench loop: lkdf_for() over an array, short and long, against OpenMP's
 * parallel for and oneTBB's; nanoseconds per iteration. The floor is the same
 * loop on one thread.
 */
#include "bench/bench.h"
#include "bench/peer.h"

#include "tests/bench/loop.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *program, *name;
	int is_dynamic;
} peers[] = {
	{ "peer_omp_gcc", "libgomp", 0 },
	{ "peer_omp_gcc", "libgomp-dyn", 1 },
	{ "peer_tbb", "tbb", 0 },
};

#define NR_PEERS (sizeof(peers) / sizeof(peers[0]))

/* Iterations of a loop, and loops of a round. */
static const struct {
	uint32_t nr, passes;
} sizes[] = {
	{ 1000, 2000 },
	{ 1000000, 20 },
};

#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct arm {
	int workers;
	struct lkdf *rt;
	struct peer peer[NR_PEERS];
	struct samples by_lkdf, by_serial, by_peer[NR_PEERS];
};

static __attribute__((noinline)) int block(uint64_t begin, uint64_t end,
					   void *u)
{
	loop_block(u, begin, end);
	return 0;
}

/* All passes of one contestant: ns an iteration. rt NULL: on this thread. */
static int run(struct lkdf *rt, unsigned size, struct samples *to)
{
	uint32_t nr = sizes[size].nr, passes = sizes[size].passes, i;
	uint32_t *x = calloc(nr, sizeof(*x));
	struct lkdf_range r = { 0, nr, 0 };
	int64_t start = bench_now_ns();
	int rc = 0;

	if (!x)
		return bench_fail(-ENOMEM, "no memory for %u numbers", nr);
	for (i = 0; i < passes && !rc; i++)
		rc = rt ? lkdf_for(rt, r, block, x) : block(0, nr, x);
	start = bench_now_ns() - start;
	if (rc)
		bench_fail(rc, "loop: %s", lkdf_errmsg());
	else if (loop_wrong(x, nr, passes))
		rc = bench_fail(-EBADMSG, "loop: an iteration was left out");
	samples_add(to, (double)start / nr / passes);
	free(x);
	return rc;
}

static int one_round(struct arm *a, unsigned size)
{
	double out[PEER_MAX_VALUES], all;
	int rc = run(NULL, size, &a->by_serial);
	unsigned i;

	all = (double)sizes[size].nr * sizes[size].passes;
	if (!rc)
		rc = run(a->rt, size, &a->by_lkdf);
	for (i = 0; i < NR_PEERS && !rc; i++) {
		if (peer_ask(&a->peer[i], out, "loop %u %u %d %d",
			     sizes[size].nr, sizes[size].passes, a->workers,
			     peers[i].is_dynamic) != 2)
			continue;
		if (out[1] > 0)
			rc = bench_fail(-EBADMSG, "%s: wrong", peers[i].name);
		samples_add(&a->by_peer[i], out[0] / all);
	}
	return rc;
}

static int arm_open(struct arm *a, int workers)
{
	unsigned i;

	a->workers = workers;
	for (i = 0; i < NR_PEERS; i++)
		peer_open(&a->peer[i], peers[i].program);
	return bench_open(workers, NULL, &a->rt);
}

static void arm_close(struct arm *a)
{
	unsigned i;

	for (i = 0; i < NR_PEERS; i++)
		peer_close(&a->peer[i]);
	lkdf_close(a->rt);
}

static void arm_rows(struct bench *b, const struct arm *a, unsigned size)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "ns/it", "for(%u)/%d",
			   sizes[size].nr, a->workers);
	unsigned i;

	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->by_serial);
	row_ratio(row, &a->by_lkdf, &a->by_serial);
	/* A loop as short as the first is dearer than a plain one: no bar. */
	if (a->workers == 1 && size > 0)
		row_judge(row, BAR_AT_MOST, 1.05, gate_was_fair(&b->gate));
	for (i = 0; i < NR_PEERS; i++) {
		row = report_add(&b->report, a->workers, "ns/it",
				 "for(%u)/%d/%s", sizes[size].nr, a->workers,
				 peers[i].name);
		row_value(row, &a->by_lkdf, 1);
		if (row_peer(row, peers[i].name, &a->by_peer[i],
			     a->peer[i].why))
			row_ratio(row, &a->by_peer[i], &a->by_lkdf);
	}
}

static void forget(struct arm *a)
{
	memset(&a->by_lkdf, 0, sizeof(a->by_lkdf));
	memset(&a->by_serial, 0, sizeof(a->by_serial));
	memset(a->by_peer, 0, sizeof(a->by_peer));
}

static unsigned rounds_of(const struct bench *b)
{
	return b->is_quick ? 9 : b->rounds;
}

static int measure(struct bench *b, struct arm *arms, unsigned size)
{
	unsigned i, k;
	int rc = 0;

	for (k = 0; k < b->nr_counts && !rc; k++) {
		/* Warms heaps and thread pools of all. */
		rc = one_round(&arms[k], size);
		forget(&arms[k]);
	}
	gate_reset(&b->gate);
	for (i = 0; i < rounds_of(b) && !rc; i++) {
		bench_round(b, "loop");
		for (k = 0; k < b->nr_counts && !rc; k++)
			rc = one_round(&arms[k], size);
	}
	for (k = 0; k < b->nr_counts && !rc; k++)
		arm_rows(b, &arms[k], size);
	return rc;
}

double bench_loop_steps(const struct bench *b)
{
	return (double)NR_SIZES * rounds_of(b);
}

int bench_loop(struct bench *b)
{
	struct arm *arms = calloc(b->nr_counts, sizeof(*arms));
	unsigned i;
	int rc = 0;

	if (!arms)
		return -ENOMEM;
	for (i = 0; i < b->nr_counts && !rc; i++)
		rc = arm_open(&arms[i], b->workers[i]);
	for (i = 0; i < NR_SIZES && !rc; i++)
		rc = measure(b, arms, i);
	for (i = 0; i < b->nr_counts; i++)
		arm_close(&arms[i]);
	free(arms);
	return rc;
}
