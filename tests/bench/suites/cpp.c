/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench cpp: the same shapes by the C calls, by lkdf.hpp and by coroutines
 * on one runtime, and by oneTBB; microseconds of a whole shape. A way is judged
 * by the time that the C calls took in the same rounds.
 */
#include "bench/arms.h"
#include "bench/peer.h"
#include "tests/bench/suites/suites.h"

#include <errno.h>
#include <string.h>

enum {
	BY_C,
	BY_CPP,
	BY_CO,
	BY_TBB,
	NR_WAYS
};

static const char *const way_names[NR_WAYS] = { "c", "cpp", "co", "tbb" };

/* A way of lkdf without a bar is not measured. */
static const struct {
	const char *name;
	uint32_t size, quick;
	double bar[NR_WAYS]; /* at most, by the C calls */
	bool has_tbb;
} parts[] = {
	{ "loop", 1000000, 100000, { [BY_CPP] = 1.05 }, true },
	{ "reduce", 1000000, 100000, { [BY_CPP] = 1.05 }, true },
	{ "async", 20000, 5000, { [BY_CPP] = 1.05 }, false },
	{ "data", 20000, 5000, { [BY_CPP] = 1.05 }, false },
	{ "fib", 25, 20, { [BY_CPP] = 1.1, [BY_CO] = 1.3 }, true },
	{ "skynet", 6, 4, { [BY_CPP] = 1.1, [BY_CO] = 1.3 }, true },
	{ "nqueens", 10, 8, { [BY_CPP] = 1.1, [BY_CO] = 1.3 }, true },
	{ "ping", 200, 50, { [BY_CO] = 1.1 }, false },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

struct arm {
	int workers;
	struct peer lkdf, tbb;
	struct samples by[NR_WAYS];
};

static bool is_asked(unsigned part, int way)
{
	if (way == BY_TBB)
		return parts[part].has_tbb;
	return way == BY_C || parts[part].bar[way] > 0;
}

/*
 * Twice, and the second answer counts: a program that has just been woken up
 * has cold caches, whichever way comes first.
 */
static bool ask_warm(const struct bench *b, struct arm *a, unsigned part,
		     int way, double *out)
{
	struct peer *p = way == BY_TBB ? &a->tbb : &a->lkdf;
	uint32_t size = b->is_quick ? parts[part].quick : parts[part].size;
	int i, nr = 2;

	for (i = 0; i < 2 && nr == 2; i++)
		nr = peer_ask(p, out, "%s %s %u %d", way_names[way],
			      parts[part].name, size, a->workers);
	return nr == 2;
}

/* One way after the other; all have the result of the first. */
static int ask_all(const struct bench *b, struct arm *a, unsigned part)
{
	double out[PEER_MAX_VALUES], result = 0;
	bool has_result = false;
	int way;

	for (way = 0; way < NR_WAYS; way++) {
		if (!is_asked(part, way) || !ask_warm(b, a, part, way, out))
			continue;
		if (has_result && out[1] != result)
			return bench_fail(-EBADMSG, "cpp: %s by %s is wrong",
					  parts[part].name, way_names[way]);
		result = out[1];
		has_result = true;
		samples_add(&a->by[way], out[0] / 1000);
	}
	return 0;
}

static int cpp_open(void *arm, int workers)
{
	struct arm *a = arm;

	a->workers = workers;
	peer_open(&a->lkdf, "peer_cpp");
	peer_open(&a->tbb, "peer_tbb_cpp");
	return 0;
}

static void cpp_close(void *arm)
{
	struct arm *a = arm;

	peer_close(&a->lkdf);
	peer_close(&a->tbb);
}

/* Warms heaps, frames and threads of all. */
static int cpp_build(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	int rc = ask_all(b, a, part);

	memset(a->by, 0, sizeof(a->by));
	return rc;
}

static int cpp_round(const struct bench *b, void *arm, unsigned part)
{
	return ask_all(b, arm, part);
}

/* The way's time by that of the C calls. */
static void way_row(struct bench *b, const struct arm *a, unsigned part,
		    int way)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "us", "%s/%d/%s",
			   parts[part].name, a->workers, way_names[way]);

	row_value(row, &a->by[way], 1);
	if (!row_peer(row, "c", &a->by[BY_C], a->lkdf.why))
		return;
	row_ratio(row, &a->by[way], &a->by[BY_C]);
	row_judge(row, BAR_AT_MOST, parts[part].bar[way],
		  gate_was_fair(&b->gate));
}

/* oneTBB's time by that of lkdf.hpp. */
static void tbb_row(struct bench *b, const struct arm *a, unsigned part)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "us", "%s/%d/tbb",
			   parts[part].name, a->workers);

	row_value(row, &a->by[BY_CPP], 1);
	if (row_peer(row, "tbb", &a->by[BY_TBB], a->tbb.why))
		row_ratio(row, &a->by[BY_TBB], &a->by[BY_CPP]);
}

static void cpp_rows(struct bench *b, const void *arm, const void *first,
		     unsigned part)
{
	const struct arm *a = arm;
	int way;

	(void)first;
	for (way = BY_CPP; way <= BY_CO; way++)
		if (is_asked(part, way))
			way_row(b, a, part, way);
	if (parts[part].has_tbb)
		tbb_row(b, a, part);
}

static const char *cpp_name(unsigned part)
{
	return parts[part].name;
}

static unsigned cpp_rounds(const struct bench *b, unsigned part)
{
	(void)part;
	return b->is_quick ? 5 : 15;
}

static const struct bench_arms arms = {
	.size = sizeof(struct arm),
	.open = cpp_open,
	.close = cpp_close,
	.name = cpp_name,
	.rounds = cpp_rounds,
	.build = cpp_build,
	.round = cpp_round,
	.rows = cpp_rows,
};

double bench_cpp_steps(const struct bench *b)
{
	return bench_arms_steps(b, &arms, NR_PARTS);
}

int bench_cpp(struct bench *b)
{
	return bench_arms(b, &arms, NR_PARTS);
}
