/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The area of one executor: its block of the memfd "lkdf:stats", and the heads
 * of its two rings. The library never reads back what it wrote there: others
 * may map it. Layout and rules: Documentation/internals/trace-format.rst.
 *
 *	trace_event, trace_slice	owner only
 *	trace_event_outside		any thread
 *	trace_count_outside		any thread
 */
#ifndef TRACE_RING_H
#define TRACE_RING_H

#include "base/clock.h"
#include "base/util.h"
#include "trace/counter.h"

#include <lkdf/format.h>
#include <pthread.h>

/* name, outward name, what a is, what b is, help */
#define EVENT_TABLE(X)                                                       \
	X(STEAL, "steal", "victim", "why", "took an item from a worker")     \
	X(PARK, "park", "", "", "goes to sleep, there is no work")           \
	X(UNPARK, "unpark", "", "", "has slept")                             \
	X(WAKE, "wake", "", "", "has woken another worker")                  \
	X(RUN_BEGIN, "run_begin", "frame", "run", "a run of a graph starts") \
	X(RUN_END, "run_end", "frame", "errno", "a run of a graph ends")     \
	X(ERROR, "error", "errno", "task", "a task has failed")              \
	X(TASK, "task", "kind", "ns", "a profiled body has ended")           \
	X(REHOME, "rehome", "node", "bytes", "a block moves to a thief")     \
	X(REMOTE, "remote", "data", "bytes", "a body used another node's")   \
	X(SIGNAL, "signal", "source", "permille", "a share starts a trial")  \
	X(SIGNAL_HOME, "signal_home", "source", "node",                      \
	  "work goes to another node, where its pages are")                  \
	X(SIGNAL_QUOTA, "signal_quota", "source", "workers",                 \
	  "so many run, by the quota and their CPUs")                        \
	X(NARROW, "narrow", "kind", "verdict",                               \
	  "other numbers of workers for a kind are tried, or kept")

#define EVENT_ENUM(name, text, a, b, help) EVENT_##name,
enum trace_event {
	EVENT_TABLE(EVENT_ENUM) NR_EVENTS
};
#undef EVENT_ENUM

/* Why an item was taken: EVENT_STEAL. */
enum steal_why {
	STEAL_NEAR, /* of our node */
	STEAL_FAR, /* it was nobody's in particular */
	STEAL_BEHIND, /* planned for a node that is behind ours */
	STEAL_PATIENT, /* planned, and we have waited for long enough */
};

/* For the flight recorder, and while a file is written. */
#define EVENT_RECORDS 1024u
#define EVENT_RECORDS_FILE 16384u
#define SLICE_RECORDS 524288u
/* So many that are not carried yet wake the drain thread. */
#define SLICE_BELL 65536u

/* A task that has no number in a graph, in an event and in a slice. */
#define NO_TASK_NUMBER UINT64_MAX
#define NO_SLICE_TASK UINT32_MAX

struct kind_row;

struct trace_ring {
	/* Set at open, constant afterwards. */
	_Alignas(CACHE_LINE) struct lkdf_stats_block *block;
	struct counters *counters;
	struct kind_row *kinds; /* by name; NULL: they are not counted */
	_Atomic(uint64_t) *events; /* three words each */
	uint64_t event_mask;
	_Atomic(uint32_t) *bell; /* of the drain thread */

	/* Set by the first recording, constant afterwards; NULL before. */
	_Atomic(struct lkdf_stats_slice *) slices;

	/* The executor writes, the drain thread reads. */
	_Atomic(uint64_t) event_head, slice_head, slice_lost;
	_Atomic(uint32_t) start_seq;
	_Atomic(uint32_t) kind, tid;
	_Atomic(int32_t) cpu, node;

	/* The drain thread writes, the executor reads. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) slice_tail;
	/* The drain thread only. */
	uint64_t event_tail;
	uint64_t nr_events, nr_slices, events_lost;
	uint64_t lost_before; /* slices, in recordings before this one */
	uint64_t told_lost, told_bytes; /* as the file says */
	uint32_t seen_seq;

	/* The executor only; the drain thread reads. Bytes of data by node,
	 * and last those whose node nobody knows. */
	_Atomic(uint64_t) *bytes;
	uint32_t nr_nodes;

	/* The outside only. */
	pthread_mutex_t lock;
};

/* A word of the block, which others may look at. */
static inline _Atomic(uint64_t) *trace_word(uint64_t *word)
{
	return (_Atomic(uint64_t) *)(void *)word;
}

/* Data of a body: so many bytes on a node; -1: nobody knows where. */
static inline void trace_count_bytes(struct trace_ring *r, int node,
				     uint64_t bytes)
{
	_Atomic(uint64_t) *b = &r->bytes[r->nr_nodes];

	if (node >= 0 && (uint32_t)node < r->nr_nodes)
		b = &r->bytes[node];
	a_store(b, a_load(b, relaxed) + bytes, relaxed);
}

#ifdef LKDF_MC
/* The model checker looks at what is traced, not at the tracing. */
static inline void trace_event(struct trace_ring *r, enum trace_event event,
			       uint32_t a, uint64_t b)
{
	(void)r;
	(void)event;
	(void)a;
	(void)b;
}

static inline void trace_event_outside(struct trace_ring *r,
				       enum trace_event event, uint32_t a,
				       uint64_t b)
{
	trace_event(r, event, a, b);
}

static inline void trace_count_outside(struct trace_ring *r, unsigned i,
				       uint64_t n)
{
	(void)r;
	(void)i;
	(void)n;
}
#else
static inline void trace_event(struct trace_ring *r, enum trace_event event,
			       uint32_t a, uint64_t b)
{
	uint64_t head = a_load(&r->event_head, relaxed);
	_Atomic(uint64_t) *e = r->events + (head & r->event_mask) * 3;

	/* [trace.event] the head before; pairs with [trace.recheck]. */
	a_store(&e[0], clock_ticks(), release);
	a_store(&e[1], (uint64_t)a << 32 | event, release);
	a_store(&e[2], b, release);
	/* [trace.head] the words; pairs with [trace.read]. */
	a_store(&r->event_head, head + 1, release);
	a_store(trace_word(&r->block->event_head), head + 1, release);
}

/* The outside's ring has many writers. */
static inline void trace_event_outside(struct trace_ring *r,
				       enum trace_event event, uint32_t a,
				       uint64_t b)
{
	pthread_mutex_lock(&r->lock);
	trace_event(r, event, a, b);
	pthread_mutex_unlock(&r->lock);
}

static inline void trace_count_outside(struct trace_ring *r, unsigned i,
				       uint64_t n)
{
	counter_add_shared(r->counters, i, n);
}
#endif

/*
 * A body ran, or a span is over; nothing is done when not recording. The drain
 * thread is woken where the ring fills.
 */
void trace_slice(struct trace_ring *r, const struct lkdf_stats_slice *s);
void trace_slice_outside(struct trace_ring *r,
			 const struct lkdf_stats_slice *s);

#endif
