/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Facts about the workers from the kernel, each with its source and its age.
 * Without any rights threads report about themselves; after "lkdf probe start"
 * BPF programs add what no thread can know of itself. Documentation/signals.rst
 * describes each fact and its limits.
 */
#ifndef LKDF_SIGNALS_H
#define LKDF_SIGNALS_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_signal_source {
	LKDF_SIGNAL_NONE = 0, /* no source knows it: the value is 0 */
	LKDF_SIGNAL_SELF = 1, /* the thread itself, without rights */
	LKDF_SIGNAL_BPF = 2, /* the programs of "lkdf probe start" */
	LKDF_SIGNAL_KMOD = 3, /* the kernel module, of each page and at once */
	LKDF_SIGNAL_PROC = 4, /* the kernel when asked, of a page per block */
};

enum lkdf_worker_state {
	LKDF_STATE_UNKNOWN = 0,
	LKDF_STATE_RUNS = 1,
	LKDF_STATE_PREEMPTED = 2, /* could run, another thread has its CPU */
	LKDF_STATE_BLOCKED = 3,
	LKDF_STATE_FUTEX = 4, /* blocked in a futex of the program */
};

struct lkdf_fact {
	uint64_t value;
	uint64_t age_ns; /* time since the source updated it */
	uint32_t source; /* enum lkdf_signal_source */
	uint32_t reserved; /* 0 */
};

/*
 * Facts of one worker, or sums of all workers. Counts and times since the
 * thread started.
 */
struct lkdf_facts {
	uint32_t size; /* set by the caller */
	int32_t worker; /* -1: all */

	/* SELF */
	struct lkdf_fact user_ns, system_ns; /* CPU time */
	struct lkdf_fact run_delay_ns; /* could run, and had no CPU */
	struct lkdf_fact nr_slept, nr_forced; /* context switches */
	struct lkdf_fact quota_milli; /* cgroup's, 1/1000 CPU; 0: none */

	/* BPF */
	struct lkdf_fact state; /* enum lkdf_worker_state; of all: UNKNOWN */
	struct lkdf_fact state_ns; /* it has been in it for so long */
	struct lkdf_fact nr_preempt, preempt_ns;
	struct lkdf_fact nr_block, block_ns; /* asleep for whatever reason */
	struct lkdf_fact nr_futex_block, futex_block_ns; /* words of others */
	struct lkdf_fact nr_migrate, nr_xnode; /* to another CPU, node */
	struct lkdf_fact samples, futex_samples; /* looks; inside futex(2) */
	struct lkdf_fact futex_ppm; /* futex_samples of samples, millionths */
	struct lkdf_fact word; /* address of the last futex word; 0 */

	/* The policy's verdict, with option narrow=auto; else 0. */
	uint32_t active_workers; /* that run the kind with the fewest of them */
	uint32_t nr_narrow; /* sets of kinds that not all workers run */

	/* KMOD or PROC: of data that are watched (option signal_kib), blocks of
	 * 64 KiB and more count whole. For all workers: any node. */
	struct lkdf_fact node_bytes; /* pages on the worker's node */
	struct lkdf_fact unsettled_bytes; /* moved, or new; of all: not found */
	struct lkdf_fact nr_moves; /* looks that found another node; of all */
	/* BPF */
	/* Moved by the thread, as AutoNUMA lets it; of all: by any thread of
	 * the machine. */
	struct lkdf_fact moved_pages;

	/* Facts of the last window, 10 ms and more: of all workers only. */
	struct lkdf_fact window_ns; /* SELF: its length */
	struct lkdf_fact window_ppm; /* went to futexes or the system */
	struct lkdf_fact window_word; /* BPF: most samples, in bodies */
};

/**
 * lkdf_signals() - get facts about a worker, or about all
 * @rt:     runtime
 * @worker: 0 .. lkdf_nr_executors() - 1, or -1 for all
 * @out:    size set by the caller; the call fills the facts that fit
 *
 * The call copies facts from memory that their sources write. It makes no
 * system call, and the facts of a worker may be of different moments. For all
 * workers, word is the futex with most samples. Each call counts the blocks of
 * watched data, with at most 65,536 loads.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL NULL or size; -ENOENT no such worker; -EOWNERDEAD in a
 * forked child.
 */
int lkdf_signals(struct lkdf *rt, int worker, struct lkdf_facts *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
