/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/suites/burst.h"

#include "bench/arms.h"
#include "tests/bench/lkdf_graph.h"
#include "tests/bench/suites/sweeps.h"
#include "tests/bench/work.h"

#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

#define CALIBRATION 200000
#define ASLEEP_NS 3000000

static struct {
	_Atomic int64_t last_ns; /* the last body's begin */
	uint32_t units;
} job;

static int body(struct lkdf_ctx *c, void *arg)
{
	int64_t now = bench_now_ns(), last = atomic_load(&job.last_ns);

	(void)c;
	(void)arg;
	while (last < now &&
	       !atomic_compare_exchange_weak(&job.last_ns, &last, now))
		;
	work_for(job.units);
	return 0;
}

/* The shortest of some trials. */
uint32_t burst_units(unsigned ns)
{
	int64_t start, took, best = INT64_MAX;
	unsigned i;

	if (!ns)
		return 0;
	for (i = 0; i < 5; i++) {
		start = bench_now_ns();
		work_for(CALIBRATION);
		took = bench_now_ns() - start;
		best = took < best ? took : best;
	}
	return (uint32_t)fmax(1, (double)ns * CALIBRATION / (double)best);
}

int burst_open(struct burst *s, struct lkdf *rt, int workers)
{
	int rc;

	s->rt = rt;
	s->workers = workers;
	s->last_us.nr = s->links.nr = 0;
	rc = lkdf_graph_kind(rt, "burst", body, &s->kind);
	return rc ? bench_fail(rc, "kind: %s", lkdf_errmsg()) : 0;
}

void burst_close(struct burst *s)
{
	lkdf_kind_put(s->kind);
	s->kind = NULL;
}

int burst_round(struct burst *s, uint32_t units)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = s->kind };
	uint64_t before = 0, after = 0;
	int64_t start;
	int i, rc = 0;

	job.units = units;
	bench_sleep_ns(ASLEEP_NS);
	lkdf_stat(s->rt, "lkdf.wake_depth", &before);
	start = bench_now_ns();
	atomic_store(&job.last_ns, start);
	for (i = 0; i < s->workers && !rc; i++)
		rc = lkdf_submit(s->rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_scope_wait(s->rt, NULL, -1);
	if (rc)
		return bench_fail(rc, "burst: %s", lkdf_errmsg());
	lkdf_stat(s->rt, "lkdf.wake_depth", &after);
	samples_add(&s->last_us,
		    (double)(atomic_load(&job.last_ns) - start) / 1e3);
	samples_add(&s->links, (double)(after - before));
	return 0;
}

/* Each link of the chain wakes four. */
void burst_row(struct bench *b, const struct burst *s)
{
	struct bench_row *row = report_add(&b->report, s->workers, "us",
					   "burst/%d", s->workers);
	int links, most = 1;

	for (links = 1; links < s->workers; links *= 4)
		most++;
	row_value(row, &s->last_us, 1);
	row->ratio = samples_median(&s->links) / most;
	row->spread = 0;
	row_judge(row, BAR_AT_MOST, 1,
		  s->workers <= sysconf(_SC_NPROCESSORS_ONLN));
	snprintf(row->note, sizeof(row->note),
		 "until the last begins; links %.0f, ratio by 1 + log4",
		 samples_median(&s->links));
}

/* ---- lkdf bench wake ---------------------------------------------------- */

static uint32_t units;

static int wake_open(void *arm, int workers)
{
	struct burst *s = arm;
	struct lkdf *rt;
	int rc = bench_open(workers, NULL, &rt);

	return rc ? rc : burst_open(s, rt, workers);
}

static void wake_close(void *arm)
{
	struct burst *s = arm;

	burst_close(s);
	lkdf_close(s->rt);
}

static const char *wake_name(unsigned part)
{
	(void)part;
	return "burst";
}

static unsigned wake_rounds(const struct bench *b, unsigned part)
{
	(void)part;
	return b->is_quick ? 5 : 15;
}

static int wake_begin(unsigned part)
{
	(void)part;
	units = burst_units(BURST_NS);
	return 0;
}

static int wake_build(const struct bench *b, void *arm, unsigned part)
{
	(void)b;
	(void)arm;
	(void)part;
	return 0;
}

static int wake_round(const struct bench *b, void *arm, unsigned part)
{
	(void)b;
	(void)part;
	return burst_round(arm, units);
}

static void wake_rows(struct bench *b, const void *arm, const void *first,
		      unsigned part)
{
	(void)first;
	(void)part;
	burst_row(b, arm);
}

static const struct bench_arms arms = {
	.size = sizeof(struct burst),
	.open = wake_open,
	.close = wake_close,
	.name = wake_name,
	.rounds = wake_rounds,
	.begin = wake_begin,
	.build = wake_build,
	.round = wake_round,
	.rows = wake_rows,
};

double bench_burst_steps(const struct bench *b)
{
	return bench_arms_steps(b, &arms, 1);
}

int bench_burst(struct bench *b)
{
	return bench_arms(b, &arms, 1);
}
