/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The chunks KERNEL: counts that programs inside the kernel keep of each
 * executor's thread and of futex words. The code that maps those programs'
 * memory gives a source; the drain thread asks the source at each sample and
 * tells what came since recording began. Without a source nothing is told.
 */
#ifndef TRACE_PROBED_H
#define TRACE_PROBED_H

#include "trace/file.h"

struct trace;

/* A thread as the source has it. */
struct probed_thread {
	uint64_t id; /* counts begin at 0 anew where it changes */
	uint32_t state; /* as in lkdf/signals.h */
	uint64_t state_ns; /* it has been in that state */
	uint64_t word; /* a futex word in which it sleeps; 0 */
	uint32_t by_tid; /* who got its CPU when it was preempted last; 0 */
	char by[16];
	uint64_t count[LKDF_PROBED_COUNTS];
};

/* Counts of a word, in the order of the record. */
enum probed_word_count {
	WORD_SLEEPS,
	WORD_SLEPT_NS,
	WORD_SAMPLES, /* inside futex(2) on it */
	WORD_WAITS, /* of these to wait */
	NR_WORD_COUNTS
};

/* A futex word in bodies of a kind as the source has it. */
struct probed_word {
	uint64_t id; /* counts begin at 0 anew where it changes; not 0 */
	uint64_t address;
	uint32_t kind; /* name of the kind; 0: in no body */
	uint64_t count[NR_WORD_COUNTS];
	uint64_t wait_nodes, wake_nodes; /* bits */
	/* Sleeps that a thread ended which was seen; who it was the last time.
	 */
	uint64_t wakes;
	uint32_t waker_tid, waker_kind; /* kind 0: in no body */
	int waker; /* its executor; -1: none */
};

/* Callers in bodies of a kind as the source has them. */
struct probed_stack {
	uint64_t id; /* counts begin at 0 anew where it changes; not 0 */
	uint32_t sort, kind; /* enum lkdf_stack_sort; name of the kind */
	uint64_t word, count;
	uint64_t ip[LKDF_STACK_IPS]; /* 0: there are no more */
};

/* Called by the drain thread only. */
struct probed_source {
	const void *u;
	uint32_t nr_words; /* places of its table */
	/* enum lkdf_probed_bit; 0: nobody feeds it now. *hz: of samples */
	uint32_t (*sees)(const void *u, uint32_t *hz);
	/* False: that thread is not seen. */
	bool (*thread)(const void *u, int executor, struct probed_thread *out);
	/* Place i; false: it is free, or not of this runtime. */
	bool (*word)(const void *u, uint32_t i, struct probed_word *out);
	uint32_t nr_stacks; /* places of its table; 0: there is none */
	bool (*stack)(const void *u, uint32_t i, struct probed_stack *out);
};

struct probed_thread_row {
	uint64_t id; /* 0: not seen so far */
	uint64_t last[LKDF_PROBED_COUNTS], sum[LKDF_PROBED_COUNTS];
};

struct probed_word_row {
	uint64_t id; /* 0: nobody's */
	uint64_t base[NR_WORD_COUNTS]; /* when recording began */
	uint64_t told[NR_WORD_COUNTS];
	uint64_t base_wakes, told_wakes;
	bool is_placed;
};

struct probed_stacks; /* probed_stacks.h */

struct probed {
	const struct trace *t;
	struct probed_thread_row *threads; /* by executor; NULL: no memory */
	struct probed_word_row *words; /* by place; NULL: none so far */
	struct probed_stacks *stacks; /* NULL: none so far */
	uint32_t sees; /* as told last */
	bool has_begun; /* the first sample is over */
};

void probed_init(struct probed *k, const struct trace *t);
void probed_fini(struct probed *k);

/* Does a source tell anything? */
bool probed_has_source(const struct probed *k);

/* Names from nr_names on are not in the file. */
void probed_sample(struct probed *k, struct trace_file *f, uint64_t ticks,
		   uint32_t nr_names);

#endif
