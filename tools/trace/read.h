/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads a file *.lkdf front to back and tells each record. Every number in it
 * is taken as hostile: nothing is told before it was compared with what holds
 * it, and the first thing that is wrong ends the reading with its offset.
 */
#ifndef TOOLS_TRACE_READ_H
#define TOOLS_TRACE_READ_H

#include <lkdf/format.h>
#include <stdbool.h>
#include <stdio.h>

#define TRACE_TEXT (LKDF_MAX_TEXT + 1)

struct trace_event_info {
	char name[TRACE_TEXT], a[TRACE_TEXT], b[TRACE_TEXT];
};

/* Facts about the file so far. */
struct trace_info {
	struct lkdf_file_header header;
	char runtime[TRACE_TEXT];
	uint32_t nr_counters, nr_events;
	char (*counter)[TRACE_TEXT];
	struct trace_event_info *event;
	char **name; /* LKDF_MAX_NAMES; NULL: not told */
	bool has_ended;
	uint64_t slices, slices_lost, events, events_lost; /* of the end */
};

/* Facts about a body or a span beside its time: chunk LINKS. */
struct trace_links {
	bool is_known; /* false: the file tells nothing, all below is 0 */
	uint64_t number; /* with the executor its uid; 0: it has none */
	int32_t by_executor; /* who made it ready; -1: nobody known */
	uint64_t by_number;
	uint64_t ready; /* ticks; 0: unknown */
	uint32_t frame; /* 1 + the frame of its run; 0: of no graph */
	uint64_t run;
	uint64_t local, remote; /* bytes */
	uint32_t edge; /* the name of the data it waited for last; 0: none */
	uint32_t edge_mode; /* enum lkdf_mode, its own; 0: not known */
};

struct trace_slice {
	uint32_t executor, name;
	uint64_t begin, end; /* ticks */
	int64_t task; /* -1: none */
	struct trace_links links;
};

struct trace_span {
	uint32_t lane; /* an executor, the outside, or a lane that was told */
	uint32_t sort; /* enum lkdf_span_sort, or a later one */
	uint32_t name;
	uint64_t begin, end; /* ticks */
	int64_t value;
	struct trace_links links;
};

struct trace_event {
	uint32_t executor, event;
	uint64_t ticks, a, b;
};

struct trace_executor {
	uint32_t executor, kind;
	int32_t cpu, node; /* -1: none */
	uint32_t tid;
};

struct trace_kind {
	uint32_t name, flags; /* enum lkdf_kind_bit */
	uint32_t prio, width, limits;
};

struct trace_graph {
	uint32_t graph; /* its number, used once */
	const char *name;
	uint32_t nr_tasks;
	uint64_t nr_edges;
	uint32_t nr_frames;
	const uint32_t *frame;
};

/* Told again with further successors where they are many. */
struct trace_task {
	uint32_t graph, task;
	uint32_t name, flags; /* enum lkdf_task_bit */
	const char *label; /* "": none */
	uint32_t nr_succ;
	const uint32_t *succ;
};

/* Why a task of a graph waits for one before it. */
struct trace_edge {
	uint32_t graph, task, succ;
	uint32_t name, mode; /* of data and enum lkdf_mode, or of a port */
};

struct trace_thread {
	uint32_t executor; /* nr_executors: a thread of the program */
	uint32_t tid;
	uint64_t ticks;
	uint64_t cpu_ns, queue_ns, times; /* since the thread began */
	bool has_kernel; /* the file tells what follows */
	uint64_t system_ns, faults; /* the same; minor page faults */
	const char *name;
};

/* Bytes that the bodies of an executor were given so far. */
struct trace_bytes {
	uint32_t executor;
	uint64_t ticks;
	uint64_t unknown; /* on no known node */
	uint32_t nr_nodes;
	const uint64_t *bytes; /* by node */
};

struct trace_lane {
	uint32_t lane, sort, device; /* enum lkdf_lane_sort */
	const char *label;
};

/* So many of an executor were lost so far. */
struct trace_lost {
	uint32_t executor;
	uint64_t ticks, slices, events;
};

/* The probe from then on; chunk KERNEL. */
struct trace_probe {
	uint64_t ticks;
	uint32_t sees; /* enum lkdf_probed_bit; 0: it has gone */
	uint32_t hz; /* of its samples */
};

/* An executor's thread, as the probe has counted it so far. */
struct trace_probed_thread {
	uint32_t executor;
	uint64_t ticks;
	uint32_t state; /* enum lkdf_worker_state, or a later one */
	uint64_t state_ns; /* it has been in it */
	uint64_t word; /* address of the futex word in which it sleeps; 0 */
	uint64_t count[LKDF_PROBED_COUNTS];
};

/* A futex word in bodies of one kind so far. */
struct trace_probed_word {
	uint64_t ticks, address;
	uint32_t name; /* of the kind; 0: in no body */
	uint64_t sleeps, slept_ns;
	uint64_t samples, waits; /* inside futex(2); of these to wait */
	uint64_t wait_nodes, wake_nodes; /* bits */
};

/* Stacks that were taken of one sort, since the record before of these callers.
 */
struct trace_probed_stack {
	uint64_t ticks;
	uint32_t sort; /* enum lkdf_stack_sort */
	uint32_t name; /* of the kind of the body; 0: not told */
	uint64_t word; /* of WAITS */
	uint64_t count;
	uint32_t nr;
	uint64_t ip[LKDF_STACK_IPS]; /* the innermost first */
};

/* A thread has ended sleeps in a word, of bodies of one kind. */
struct trace_probed_waker {
	uint64_t ticks, address;
	uint32_t name; /* of the kind that slept */
	uint32_t tid, by; /* the last waker; the kind of its body, or 0 */
	int32_t executor; /* which that thread is; -1: none */
	uint64_t wakes; /* so far */
};

/* A thread that got the CPU of an executor's one, which could go on: the last
 * since the record before. */
struct trace_preemptor {
	uint32_t executor, tid;
	const char *name;
};

/* Where a futex word lies. */
struct trace_probed_place {
	uint64_t address;
	const char *file, *build_id; /* loaded there; "": none */
	uint64_t offset; /* the address, as the file has it */
	const char *mapping; /* "": anonymous, or not known */
	uint64_t mapping_offset;
	const char *label; /* of the block that holds it; "": none */
	uint64_t label_offset, label_bytes;
};

/*
 * Whom to tell; what is NULL is checked all the same. Texts and lists are the
 * reader's, until the call returns.
 */
struct trace_sink {
	void (*slice)(void *u, const struct trace_slice *s);
	void (*event)(void *u, const struct trace_event *e);
	void (*executor)(void *u, const struct trace_executor *x);
	void (*clock)(void *u, uint64_t ticks, uint64_t ns);
	/* Before the counters of that executor. */
	void (*sample)(void *u, uint32_t executor, uint64_t ticks);
	void (*counter)(void *u, uint32_t executor, uint32_t counter,
			uint64_t value);
	void (*span)(void *u, const struct trace_span *s);
	void (*kind)(void *u, const struct trace_kind *k);
	void (*graph)(void *u, const struct trace_graph *g);
	void (*task)(void *u, const struct trace_task *t);
	void (*edge)(void *u, const struct trace_edge *e);
	void (*thread)(void *u, const struct trace_thread *t);
	void (*bytes)(void *u, const struct trace_bytes *b);
	void (*fact)(void *u, const char *key, const char *value);
	void (*lane)(void *u, const struct trace_lane *l);
	void (*lost)(void *u, const struct trace_lost *l);
	void (*probe)(void *u, const struct trace_probe *p);
	void (*probed_thread)(void *u, const struct trace_probed_thread *t);
	void (*probed_word)(void *u, const struct trace_probed_word *w);
	void (*probed_place)(void *u, const struct trace_probed_place *p);
	void (*probed_stack)(void *u, const struct trace_probed_stack *s);
	void (*probed_waker)(void *u, const struct trace_probed_waker *w);
	void (*preemptor)(void *u, const struct trace_preemptor *p);
	void *u;
};

/* Where and why reading ended early. */
struct trace_fault {
	uint64_t offset;
	char why[128];
};

/*
 * Reads from the start of f. info is filled as reading goes on and freed with
 * trace_info_fini(). Return: 0; -EBADMSG: damaged or cut, see fault; -EIO;
 * -ENOMEM.
 */
int trace_read(FILE *f, const struct trace_sink *sink, struct trace_info *info,
	       struct trace_fault *fault);

void trace_info_fini(struct trace_info *info);

#endif
