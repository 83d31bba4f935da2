/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Futex words in which the workers of a process meet, over a time: taken from
 * the probe's maps twice, and the difference put together by word and kind.
 */
#ifndef TOOLS_PROBE_FUTEX_H
#define TOOLS_PROBE_FUTEX_H

#include "probe/probe.h"
#include "probe/where.h"
#include "stat/stats_map.h"

#define FUTEX_RUNTIMES 8
#define FUTEX_WORDS 64
#define FUTEX_KINDS 6
#define FUTEX_STACKS 64

/*
 * The thread that holds a word of a process, where the word tells; 0: it does
 * not, or the word may not be read.
 */
uint32_t futex_holder(int pid, uint64_t address);

/* A thread that has to do with a word. */
struct futex_thread {
	uint32_t tid; /* 0: nobody knows it; as its process has it */
	int executor; /* its number; -1: it is none of the runtime's */
	uint32_t runtime;
	uint32_t state; /* enum lkdf_probe_state; FREE: it is not seen */
	uint64_t state_ns; /* for so long */
	/* PREEMPTED: who has got its CPU. */
	uint32_t by_tid, by_tgid;
	char by[16]; /* tame */
};

struct futex_stack {
	uint32_t sort; /* enum lkdf_probe_sort */
	char kind[64];
	uint64_t word; /* of WAITS */
	uint64_t count; /* one of LKDF_PROBE_STACK_EACH is taken */
	uint64_t ip[LKDF_PROBE_IPS];
};

struct futex_kind {
	char name[64]; /* "": in no body */
	uint64_t samples, blocks;
};

struct futex_word {
	uint64_t address;
	uint64_t samples, wait_samples; /* inside futex(2); of these to wait */
	uint64_t blocks, block_ns; /* sleeps that ended */
	uint64_t wait_nodes, wake_nodes; /* bits */
	uint32_t nr_asleep; /* now */
	uint32_t nr_kinds;
	struct futex_kind kind[FUTEX_KINDS]; /* most samples first */
	struct where where;
	struct futex_thread holder; /* while one is asleep */
	struct futex_thread waker; /* the last one */
	char waker_kind[64]; /* in whose body that was; "": in none */
	uint64_t wakes; /* sleeps that a call on the word has ended */
};

struct futex_report {
	int pid;
	char command[64];
	double seconds;
	uint32_t nr_workers, nr_pool; /* that are seen; threads of the pool */
	uint32_t of_workers, of_pool; /* all of them */
	uint32_t hz;
	uint64_t nr_lost; /* looks and sleeps there was no room for, of all */
	uint64_t nr_missed; /* samples of threads that were busy, of all */
	uint64_t samples, futex, own; /* of all of them */
	uint32_t nr_words, nr_left_out;
	struct futex_word word[FUTEX_WORDS]; /* most time first */
	bool sees_wakers, sees_stacks;
	uint32_t nr_stacks;
	struct futex_stack stack[FUTEX_STACKS]; /* the most frequent first */
};

/* It looks at one process: opened, looked at as often as one likes, closed. */
struct futex_view;

struct futex_error {
	int code; /* as cli/cli.h has them */
	char why[256], fix[256];
};

int futex_open(int pid, const char *dir, struct futex_view **out,
	       struct futex_error *e);
void futex_close(struct futex_view *v);

/* Events since the call before, or since the start. */
int futex_look(struct futex_view *v, struct futex_report *r,
	       struct futex_error *e);

void futex_print_text(const struct futex_report *r, unsigned top);
void futex_print_json(const struct futex_report *r, unsigned top);

#endif
