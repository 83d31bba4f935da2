/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench idle: CPU time of a process whose workers have all gone to
 * sleep, in ms per s. CPU time does not depend on what others do, so there is
 * no gate for it.
 */
#include "bench/bench.h"
#include "bench/peer.h"

#include <lkdf/lkdf.h>

#include <math.h>
#include <time.h>

#define SETTLE_NS 200000000
#define WATCH_MS 1000
#define MOST_MS 0.2

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* Wakes all workers, so that they have to go to sleep again. */
static int make_busy(struct lkdf *rt)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "nothing",
				    .fn = nothing };
	struct lkdf_task t = { .size = sizeof(t) };
	int i, rc = lkdf_kind_create(rt, &a, &t.kind);

	for (i = 0; i < 1000 && !rc; i++)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(t.kind);
	return rc ? bench_fail(rc, "submit: %s", lkdf_errmsg()) : 0;
}

static int watch(int workers, struct samples *to)
{
	struct lkdf *rt;
	int64_t start;
	int rc = bench_open(workers, NULL, &rt);

	if (rc)
		return rc;
	rc = make_busy(rt);
	bench_sleep_ns(SETTLE_NS);
	start = cpu_ns();
	bench_sleep_ns(WATCH_MS * 1000000ll);
	samples_add(to, (double)(cpu_ns() - start) / 1e6 * 1000 / WATCH_MS);
	lkdf_close(rt);
	return rc;
}

static void idle_row(struct bench *b, int workers, const struct samples *lkdf,
		     const struct samples *tbb)
{
	struct bench_row *row =
		report_add(&b->report, workers, "ms/s", "idle/%d", workers);

	row_value(row, lkdf, 1);
	row_peer(row, "tbb", tbb, NULL);
	row->ratio = row->value;
	row->spread =
		(samples_quantile(lkdf, 0.75) - samples_quantile(lkdf, 0.25)) /
		2;
	row_judge(row, BAR_AT_MOST, MOST_MS, true);
}

static int measure(struct bench *b, int workers, unsigned rounds)
{
	struct samples lkdf = { .nr = 0 }, tbb = { .nr = 0 };
	double out[PEER_MAX_VALUES];
	unsigned i;
	int rc = 0;

	for (i = 0; i < rounds && !rc; i++) {
		bench_step(b, 1, "idle");
		rc = watch(workers, &lkdf);
		if (peer_ask_fresh("peer_tbb", out, "idle %d %d", workers,
				   WATCH_MS) == 1)
			samples_add(&tbb, out[0] / 1e6 * 1000 / WATCH_MS);
	}
	if (!rc)
		idle_row(b, workers, &lkdf, &tbb);
	return rc;
}

static unsigned idle_rounds(const struct bench *b)
{
	return b->is_quick ? 3 : 7;
}

double bench_idle_steps(const struct bench *b)
{
	return (double)b->nr_counts * idle_rounds(b);
}

int bench_idle(struct bench *b)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < b->nr_counts && !rc; i++)
		rc = measure(b, b->workers[i], idle_rounds(b));
	return rc;
}
