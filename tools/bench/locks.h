/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Locks that bodies meet in, and the ways on which these bodies come to run:
 * the load of the first rows of lkdf bench policy. Each lock is the one of a
 * function that programs call, or one that they make.
 */
#ifndef TOOLS_BENCH_LOCKS_H
#define TOOLS_BENCH_LOCKS_H

#include <stdint.h>

struct lkdf;
struct lkdf_graph;
struct lkdf_kind;

enum lock_sort {
	LOCK_RANDOM, /* random(): a lock of libc */
	LOCK_RAND, /* rand(): the same */
	LOCK_FPUTC, /* fputc() into one FILE */
	LOCK_SEM, /* sem_t */
	LOCK_MALLOC, /* malloc() of threads that share an arena */
	LOCK_MUTEX,
	LOCK_PI, /* a mutex with PTHREAD_PRIO_INHERIT */
	LOCK_RWLOCK, /* to write */
	LOCK_SPIN,
	LOCK_NONE, /* computes */
	LOCK_PART, /* 100 steps in a mutex, 400 outside */
	NR_LOCKS
};

enum lock_mode {
	MODE_SEALED, /* one graph, run again and again */
	MODE_FRESH, /* a graph for each run */
	MODE_SUBMITTED, /* tasks, from one thread */
	MODE_SPAWNED, /* a tree of tasks */
	NR_TABLE_MODES, /* those of all locks; the others are forms of work: */
	MODE_JOINED = NR_TABLE_MODES, /* spawned by a body that joins them */
	MODE_LOOP, /* iterations of lkdf_for() */
	MODE_HIGH, /* submitted, of class HIGH */
	MODE_GOES_ON, /* submitted; the body goes on by lkdf_then() */
	MODE_LIMITED, /* submitted, with a limit that none waits for */
	NR_MODES
};

extern const char *const lock_names[NR_LOCKS];
extern const char *const mode_names[NR_MODES];

/* Before any load. 0 or -errno, why is on stderr. */
int locks_open(void);
void locks_close(void);

/* Bodies of all loads meet in this lock from now on. */
void locks_choose(enum lock_sort lock);

/* Tasks in a runtime of their own. */
struct lock_load {
	enum lock_mode mode;
	unsigned nr_tasks;
	struct lkdf *rt;
	struct lkdf_kind *node, *leaf, *branch;
	struct lkdf_kind *form; /* of its mode; or NULL */
	struct lkdf_limit *limit; /* of LIMITED */
	struct lkdf_graph *g; /* of SEALED */
	int is_mixed; /* the leaves of graphs compute, and meet nobody */
};

/*
 * nr_tasks: a power of two less one. options: beside workers, or NULL. 0 or
 * -errno, why is on stderr. close also takes what open() left half done.
 */
int lock_load_open(struct lock_load *l, int nr_workers, const char *options);
void lock_load_close(struct lock_load *l);

/* Runs all tasks. The ns that they took, without the graph's making; -errno. */
int64_t lock_load_run(struct lock_load *l);

#endif
