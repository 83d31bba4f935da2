/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench data, second part: what warm runs ask of the kernel and of
 * malloc, and how much memory a long chain of large blocks holds at its peak.
 * Counts, in fresh processes of peer_flow; exact, so no gate.
 */
#include "bench/peer.h"
#include "tests/bench/suites/data.h"

#define RERUNS 50
#define BLOCK (2 * 1024 * 1024)
#define CHAIN 10000
#define MOST_BLOCKS 3

static const struct {
	const char *name, *shape;
	int nr_tasks, bytes;
} programs[] = {
	{ "linear/512B", "chain", 10000, 512 },
	{ "tree/32B", "tree", 8191, 32 },
	{ "wave/512B", "wave", 100, 512 },
	{ "graph/512B", "random", 10000, 512 },
	{ "linear/2MiB", "chain", 20, BLOCK },
};
#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static void measure_reruns(struct bench *b, unsigned which, int workers)
{
	static const char *const texts[] = { "mallocs", "mmaps", "faults" };
	double out[PEER_MAX_VALUES];
	struct bench_row *row;
	unsigned i;
	int nr;

	bench_step(b, 1, "warm runs");
	nr = peer_ask_fresh("peer_flow", out, "rerun %s %d %d %d %d",
			    programs[which].shape, programs[which].nr_tasks,
			    programs[which].bytes, workers, RERUNS);
	for (i = 0; i < 3; i++) {
		row = report_add(&b->report, workers, texts[i], "%s/%d/%s",
				 programs[which].name, workers, texts[i]);
		if (nr == 3) {
			row->value = out[i];
			row->ratio = out[i];
		} else {
			snprintf(row->note, sizeof(row->note), "no answer");
		}
		row_judge(row, BAR_AT_MOST, 0, true);
	}
}

static void measure_peak(struct bench *b, int workers)
{
	double out[PEER_MAX_VALUES];
	struct bench_row *row;
	int nr;

	bench_step(b, 1, "peak");
	nr = peer_ask_fresh("peer_flow", out, "peak chain %d %d %d", CHAIN,
			    BLOCK, workers);
	row = report_add(&b->report, workers, "blocks", "linear/2MiB/%d/peak",
			 workers);
	if (nr == 2) {
		row->value = out[0] / BLOCK;
		row->ratio = row->value;
	} else {
		snprintf(row->note, sizeof(row->note), "no answer");
	}
	row_judge(row, BAR_AT_MOST, MOST_BLOCKS, true);
	if (nr == 2)
		snprintf(row->note, sizeof(row->note),
			 "%d links, growth of the process; counted by lkdf: "
			 "%.3g",
			 CHAIN, out[1] / BLOCK);
}

double bench_held_steps(const struct bench *b)
{
	return b->nr_counts * (NR_PROGRAMS + 1.0);
}

int bench_held(struct bench *b)
{
	unsigned i, k;

	for (k = 0; k < b->nr_counts; k++) {
		for (i = 0; i < NR_PROGRAMS; i++)
			measure_reruns(b, i, b->workers[k]);
		measure_peak(b, b->workers[k]);
	}
	return 0;
}
