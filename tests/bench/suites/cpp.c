/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench cpp: the same shapes by the C calls, by lkdf.hpp and by coroutines
 * on one runtime, and by oneTBB and Taskflow; microseconds of a whole shape. A
 * way is judged by the time that the C calls took in the same rounds; nested,
 * loops in a loop, by the flat loop. Where valgrind is there the whole bench
 * counts instructions on one worker as well: what a way costs but for time.
 */
#include "bench/arms.h"
#include "bench/peer.h"
#include "tests/bench/suites/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BY_C,
	BY_CPP,
	BY_CO,
	BY_TBB,
	BY_TASKFLOW,
	NR_WAYS
};

static const char *const way_names[NR_WAYS] = { "c", "cpp", "co", "tbb",
						"taskflow" };

/* All ways of lkdf are in one. */
enum {
	LKDF_PEER,
	TBB_PEER,
	TASKFLOW_PEER,
	NR_PEERS
};

static const char *const peer_names[NR_PEERS] = { "peer_cpp", "peer_tbb_cpp",
						  "peer_taskflow_cpp" };

static int peer_of(int way)
{
	return way < BY_TBB ? LKDF_PEER : way - BY_TBB + TBB_PEER;
}

#define TBB (1u << BY_TBB)
#define FLOW (1u << BY_TASKFLOW)

/* A way of lkdf without a bar is not measured. */
static const struct {
	const char *name;
	uint32_t size, quick;
	double bar[NR_WAYS]; /* at most, by the C calls */
	uint32_t others; /* ways of other runtimes, a bit each */
	unsigned rounds; /* 0: as many as is usual */
} parts[] = {
	{ "loop", 1000000, 100000, { [BY_CPP] = 1.05 }, TBB | FLOW, 0 },
	{ "nested", 1000000, 100000, { [BY_CPP] = 1.1 }, TBB, 0 },
	{ "reduce", 1000000, 100000, { [BY_CPP] = 1.05 }, TBB | FLOW, 0 },
	{ "async", 20000, 5000, { [BY_CPP] = 1.05 }, 0, 0 },
	{ "data", 20000, 5000, { [BY_CPP] = 1.05 }, 0, 0 },
	{ "fib", 25, 20, { 0, 1.1, 1.3 }, TBB | FLOW, 0 },
	{ "skynet", 8, 4, { 0, 1.1, 1.3 }, TBB | FLOW, 3 },
	{ "nqueens", 10, 8, { 0, 1.1, 1.3 }, TBB | FLOW, 0 },
	{ "ping", 200, 50, { [BY_CO] = 1.1 }, 0, 0 },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

struct arm {
	int workers;
	struct peer peer[NR_PEERS];
	struct samples by[NR_WAYS];
	double instructions[NR_WAYS]; /* 0: not counted */
};

static bool is_asked(unsigned part, int way)
{
	if (way >= BY_TBB)
		return parts[part].others & 1u << way;
	return way == BY_C || parts[part].bar[way] > 0;
}

/*
 * Twice, and the second answer counts: a program that has just been woken up
 * has cold caches, whichever way comes first.
 */
static bool ask_warm(const struct bench *b, struct arm *a, unsigned part,
		     int way, double *out)
{
	struct peer *p = &a->peer[peer_of(way)];
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

	int i;

	a->workers = workers;
	for (i = 0; i < NR_PEERS; i++)
		peer_open(&a->peer[i], peer_names[i]);
	return 0;
}

static void cpp_close(void *arm)
{
	struct arm *a = arm;
	int i;

	for (i = 0; i < NR_PEERS; i++)
		peer_close(&a->peer[i]);
}

/* ---- instructions -------------------------------------------------------- */

/*
 * Of a whole life of the peer that answers it; 0: nobody counts, or not in a
 * minute: valgrind runs one thread at a time, and the others wait for long.
 */
static double life_of(const char *question)
{
	char path[2048], command[4096], line[64];
	double nr = 0;
	FILE *f;

	if (!peer_path(peer_names[LKDF_PEER], path, sizeof(path)))
		return 0;
	snprintf(command, sizeof(command),
		 "echo '%s' | timeout 60 valgrind --tool=callgrind "
		 "--callgrind-out-file=/dev/null '%s' 2>&1 | "
		 "sed -n 's/.* Collected : //p'",
		 question, path);
	f = popen(command, "r");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f))
		nr = strtod(line, NULL);
	return pclose(f) ? 0 : nr;
}

/* Those of the shape at its quick size, the runtime's start left out. */
static double instructions_of(unsigned part, int way)
{
	char whole[128], start[128];
	double nr;

	snprintf(whole, sizeof(whole), "%s %s %u 1", way_names[way],
		 parts[part].name, parts[part].quick);
	snprintf(start, sizeof(start), "%s %s 1 1", way_names[way],
		 parts[part].name);
	nr = life_of(whole);
	return nr > 0 ? nr - life_of(start) : 0;
}

/* On one worker: two that wait for each other spin as long as they please. */
static void count_all(struct arm *a, unsigned part)
{
	int way;

	for (way = BY_C; way <= BY_CO; way++)
		a->instructions[way] =
			is_asked(part, way) ? instructions_of(part, way) : 0;
}

/* Warms heaps, frames and threads of all. */
static int cpp_build(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	int rc = ask_all(b, a, part);

	memset(a->by, 0, sizeof(a->by));
	if (a->workers == 1 && !b->is_quick)
		count_all(a, part);
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
	if (!row_peer(row, "c", &a->by[BY_C], a->peer[LKDF_PEER].why))
		return;
	row_ratio(row, &a->by[way], &a->by[BY_C]);
	row_judge(row, BAR_AT_MOST, parts[part].bar[way],
		  gate_was_fair(&b->gate));
}

/* The way's instructions by those of the C calls. */
static void instructions_row(struct bench *b, const struct arm *a,
			     unsigned part, int way)
{
	struct samples of = { 0 }, c = { 0 };
	struct bench_row *row;

	if (!a->instructions[way] || !a->instructions[BY_C])
		return;
	row = report_add(&b->report, a->workers, "instructions",
			 "%s/%d/%s-instructions", parts[part].name, a->workers,
			 way_names[way]);
	samples_add(&of, a->instructions[way]);
	samples_add(&c, a->instructions[BY_C]);
	row_value(row, &of, 1);
	if (!row_peer(row, "c", &c, ""))
		return;
	row_ratio(row, &of, &c);
	row_judge(row, BAR_AT_MOST, parts[part].bar[way], true);
}

/* Another runtime's time by that of lkdf.hpp. */
static void other_row(struct bench *b, const struct arm *a, unsigned part,
		      int way)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "us", "%s/%d/%s",
			   parts[part].name, a->workers, way_names[way]);

	row_value(row, &a->by[BY_CPP], 1);
	if (row_peer(row, way_names[way], &a->by[way],
		     a->peer[peer_of(way)].why))
		row_ratio(row, &a->by[way], &a->by[BY_CPP]);
}

static void cpp_rows(struct bench *b, const void *arm, const void *first,
		     unsigned part)
{
	const struct arm *a = arm;
	int way;

	(void)first;
	for (way = BY_CPP; way <= BY_CO; way++)
		if (is_asked(part, way)) {
			way_row(b, a, part, way);
			instructions_row(b, a, part, way);
		}
	for (way = BY_TBB; way < NR_WAYS; way++)
		if (is_asked(part, way))
			other_row(b, a, part, way);
}

static const char *cpp_name(unsigned part)
{
	return parts[part].name;
}

static unsigned cpp_rounds(const struct bench *b, unsigned part)
{
	if (b->is_quick)
		return 5;
	return parts[part].rounds ? parts[part].rounds : 15;
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
