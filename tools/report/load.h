/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The reading of a recording: what load.c, keep.c and link.c share. */
#ifndef REPORT_LOAD_H
#define REPORT_LOAD_H

#include "report/model.h"
#include "trace/clock.h"

/* A number for each pair (frame, run) of graphs: chains in a table. */
struct run {
	uint64_t number;
	uint32_t frame, next;
	uint32_t graph; /* index, NO_GRAPH */
	uint64_t begin; /* NO_TIME: not told */
	bool is_outside; /* a thread of the program started it */
};

#define NO_GRAPH UINT32_MAX

/* Why one task waits for another: data or a port. */
struct reason {
	uint32_t task, succ;
	uint16_t name, mode;
};

/* A sealed graph as edges from each task to those it waits for. */
struct graph {
	uint32_t number, nr_tasks, nr_told;
	struct reason *reason; /* by both tasks */
	uint32_t nr_reasons, cap_reasons;
	uint32_t *edge; /* pairs: before, after */
	uint32_t nr_edges, cap;
	uint32_t *first, *before; /* of task i: before[first[i]] .. */
};

struct futex_rows;
struct stack_rows;

struct counts {
	uint64_t slices, enters, parks, samples, probed;
};

/* The last sums of an executor, and when they were taken. */
struct byte_sums {
	uint64_t at, known[MAX_NODES], unknown;
};

struct load {
	struct report *r;
	FILE *in;
	struct trace_fault *fault;
	int rc; /* of a call-back */
	struct trace_clock clock;
	struct counts *count; /* by lane */
	uint32_t nr_lanes; /* one past the last that the file tells of */
	uint64_t all_slices, nr_slices, nr_ops, nr_waits, nr_held;
	uint64_t nr_regions, nr_marks;
	uint64_t first, last; /* ticks */
	int64_t zero; /* CLOCK_MONOTONIC ns of time 0 */
	uint64_t from, to; /* the window, from time 0 */
	uint64_t end; /* of the recording */
	uint64_t cut; /* where memory ends; NO_TIME */
	uint64_t pairs[2]; /* ticks of the last two samples of the clock */

	/* While records are kept. */
	uint32_t cap_kinds, cap_aways;
	uint16_t *kind_of; /* by name, 1 + index */
	uint8_t *flags_of; /* of kinds, by name: enum lkdf_kind_bit */
	uint32_t *bucket; /* of runs */
	struct run *run;
	uint32_t nr_runs, cap_runs;
	struct graph *graph;
	uint32_t nr_graphs, cap_graphs;
	uint32_t *frame_graph, nr_frames; /* by frame; NO_GRAPH */
	uint64_t *park_since; /* by lane, ticks; NO_TIME */
	struct byte_sums *bytes; /* by lane */
	struct futex_rows *futexes; /* NULL: none so far */
	struct stack_rows *stacks; /* the same */
};

/* Executors, the outside, rows of devices. */
static inline uint32_t max_lanes(const struct load *l)
{
	return l->r->info.header.nr_executors + 1 + LKDF_MAX_LANES;
}

/* Numbers of a record and of who made it ready, until link.c. */
static inline uint32_t load_uid(uint64_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : 0;
}

static inline uint32_t load_by(const struct trace_links *k)
{
	if (k->by_executor < 0 || !load_uid(k->by_number))
		return NO_SLICE;
	return (uint32_t)k->by_number;
}

static inline uint16_t load_by_lane(const struct trace_links *k)
{
	return (uint16_t)(k->by_executor < 0 ? 0 : k->by_executor);
}

/* keep.c: keeps what lies in the window; the counts were made before. */
int keep_records(struct load *l);
uint64_t load_time(struct load *l, uint64_t ticks);

/* An event narrow of a kind with that name; at: ns of the run. */
void narrow_keep(struct report *r, uint64_t at, uint64_t name,
		 uint64_t verdict);
/* Reads the file once. */
int load_pass(struct load *l, const struct trace_sink *sink);

/* keep.c: kinds as they come. */
uint16_t load_kind(struct load *l, uint32_t name);

/* probed.c: while records are kept, and when all are. */
void note_thread(void *u, const struct trace_thread *t);
void note_probe(void *u, const struct trace_probe *p);
void note_preemptor(void *u, const struct trace_preemptor *p);
void note_probed_thread(void *u, const struct trace_probed_thread *t);
int probed_merge(struct load *l);

/* away.c: while records are kept; when they have their slices. */
void note_away(struct load *l, const struct trace_span *s,
	       const struct span *at);
void aways_sort(struct report *r);

/* submission.c */
void note_outside(struct report *r, uint64_t at, const struct trace_thread *t);

/* flow.c */
void note_bytes(void *u, const struct trace_bytes *b);
void flow_judge(struct report *r);

/* futexes.c */
void note_probed_word(void *u, const struct trace_probed_word *w);
void note_probed_place(void *u, const struct trace_probed_place *p);
int futexes_sum(struct load *l);
void futexes_fini(struct load *l);
void note_probed_waker(void *u, const struct trace_probed_waker *w);
/* After futexes_sum(): where an address lies; false: it was not told. */
bool futexes_place(const struct load *l, uint64_t address,
		   struct trace_probed_place *out);

/* stacks.c */
void note_probed_stack(void *u, const struct trace_probed_stack *s);
int stacks_sum(struct load *l);
void stacks_fini(struct load *l);

/* runs.c */
struct run *run_of(struct load *l, uint32_t frame, uint64_t number);
void note_graph(void *u, const struct trace_graph *g);
void note_task(void *u, const struct trace_task *t);
void note_edge(void *u, const struct trace_edge *e);
/* When tasks of graphs became ready, and by whom. */
int runs_link(struct load *l);
void runs_fini(struct load *l);

/* link.c: order, who made whom ready, nodes. */
int link_records(struct load *l);

#endif
