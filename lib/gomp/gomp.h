/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * liblkdf-gomp: the calls that gcc makes of OpenMP's constructs, answered by
 * liblkdf. A library of its own that comes before libgomp, by LD_PRELOAD or by
 * the order of the link.
 *
 * A pool is a runtime and its gang (lkdf/gang.h). A thread that begins a region
 * has a pool until it ends, so members are the same threads in each region; a
 * region inside another one borrows a pool for as long as it lasts.
 */
#ifndef GOMP_GOMP_H
#define GOMP_GOMP_H

#include "base/atomic.h"
#include "base/util.h"

#include <lkdf/lkdf.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_THREADS 1024 /* of a team: workers of a runtime */
#define MAX_LEVELS 16 /* of OMP_NUM_THREADS */
#define NR_SIZES 5 /* of tasks, by bytes of argument */
#define TASK_ROOM 96 /* the least: what a task of lkdf has room for itself */
#define NR_TASK_ROWS 256

/* omp_sched_t; of a share, too. */
enum schedule {
	SCHEDULE_RUNTIME, /* as the program or OMP_SCHEDULE has set it */
	SCHEDULE_STATIC,
	SCHEDULE_DYNAMIC,
	SCHEDULE_GUIDED,
	SCHEDULE_AUTO,
};
#define SCHEDULE_MONOTONIC 0x80000000u
#define SCHEDULE_ANY_ORDER 0x40000000u /* our own: of chunks of a thread */

/* A task's variables that OpenMP calls internal control variables. */
struct env {
	unsigned nr_threads; /* 0: as many as the pool has workers */
	enum schedule schedule;
	uint64_t chunk; /* 0: none was given */
	unsigned max_levels; /* of regions with several threads */
	unsigned bind; /* enum bind, of regions */
	unsigned thread_limit;
	unsigned nr_teams, team_num; /* of the teams construct around */
	bool is_dynamic;
	int device; /* of constructs that name none */
	uintptr_t allocator; /* of calls that name none */
};

/* Places, from one on. */
struct part {
	unsigned first, nr; /* nr 0: there are none */
};

/* Read once, constant afterwards. */
struct settings {
	struct env env;
	unsigned nr_threads[MAX_LEVELS]; /* by level; 0: as that above */
	unsigned nr_levels;
	unsigned nr_teams, teams_limit; /* of teams constructs; 0: as ever */
	unsigned bind[MAX_LEVELS]; /* by level, as OMP_PROC_BIND has it */
	unsigned nr_binds;
	bool shows_affinity; /* OMP_DISPLAY_AFFINITY */
	bool cancels; /* OMP_CANCELLATION */
	char options[256]; /* of lkdf_open() */
	char binding[300]; /* the same, where there are no places */
};

/* Threads of a team divide work: iterations, sections, or a block. */
struct work {
	enum schedule schedule;
	bool is_ordered;
	bool is_plain; /* chunks are taken by an addition */
	bool is_any_order; /* plain, and a thread's chunks come as they like */
	uint64_t begin, end, step; /* as the program has them, modulo 2^64 */
	uint64_t nr; /* iterations */
	uint64_t chunk; /* iterations; 0: static, a block for each thread */
	uint64_t nr_chunks; /* of one that is plain */
	void *memory; /* zeroed, for the program; or NULL */
	struct reduction *reductions; /* of tasks: that of the first thread */
	struct doacross *doacross; /* iterations wait for others; or NULL */
};

/*
 * A construct and its work. Threads come to the constructs of a region in the
 * same order, each at its own pace: the first one that comes makes it, and the
 * last one that goes on to the next one frees it.
 */
struct share {
	/* Set by the first thread, constant afterwards. */
	struct work work;
	uint64_t number; /* of the region's constructs */

	/* Any thread of the team. */
	_Alignas(CACHE_LINE) _Atomic(struct share *) next;
	_Atomic(uint32_t) nr_gone;
	/* Iterations begun; of a plain one chunks. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) at;

	/* Ordered: the iteration whose turn it is; calls, a futex. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) turn;
	_Atomic(uint32_t) nr_turns;
};

/* A thread has it for itself. */
struct tally {
	/* Tasks; that thread writes, others look. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) nr_made;
	_Atomic(uint64_t) nr_begun;

	/* Chunks that it has taken and not begun, as lot_word(); that thread,
	 * and others when no more are left elsewhere. */
	_Atomic(uint64_t) lot;
};

struct pool {
	/* Set at open, constant afterwards. */
	struct lkdf *rt;
	struct lkdf_gang *gang; /* NULL: of one worker */
	struct lkdf_kind *kind[NR_SIZES]; /* tasks, of any name */
	struct tally *tally; /* of each thread */
	unsigned nr; /* workers */
	struct pool *next; /* under the lock of all pools */

	/* The thread whose region it runs: as what tools know it, and the size
	 * of the gang, 0: not known. */
	void (*named)(void *data);
	unsigned size;

	/* Any thread adds, by a hash of the function: kinds of its tasks. */
	_Atomic(struct task_kind *) named_kind[NR_TASK_ROWS];
};

struct team {
	/* Set before the threads start, constant while they run. */
	void (*fn)(void *data);
	void *data;
	struct pool *pool; /* NULL: of one thread */
	unsigned nr;
	unsigned level, nr_active; /* regions around, those of several */
	struct team *outer; /* NULL: outside of all regions */
	/* With OMP_THREAD_LIMIT: threads of all regions of the outermost team,
	 * but the first one. */
	_Atomic(uint32_t) *nr_more;
	unsigned outer_num; /* this team's first thread there */
	struct env env; /* of its threads, to begin with */
	struct part part; /* places of its threads */
	unsigned bind, place; /* enum bind; the first thread's */
	bool shows_affinity; /* each thread writes a line */
	bool cancels; /* see cancel.h */
	struct reduction *reductions; /* of its tasks, or NULL */

	/* A team of one: tasks whose end waits for an event of the program. */
	struct detach *detached;

	/* A team of several: where all threads begin. For one: each construct
	 * in turn. */
	struct share first;

	/* The outermost team: what nr_more of those below is. */
	_Atomic(uint32_t) nr_below;

	/* Any thread of the team, with cancels: the region is, and a loop or
	 * sections, by number. */
	_Atomic(uint32_t) is_cancelled, cancelled_work;

	/* The thread in a single block gives it to the others. */
	_Atomic(void *) copy;
};

/* A thread, as OpenMP sees it; a task has its own while it runs. */
struct self {
	struct team *team; /* NULL: not asked for yet */
	/* The body that it is in, of whatever team; NULL: none. In a team of
	 * one tasks run at once. */
	struct lkdf_ctx *c;
	const void *task; /* another address for each task that runs; or NULL */
	struct env env;
	unsigned num;
	bool is_explicit,
		is_final; /* of the task: no thread of a region is it */
	struct depends *depends; /* of its children; NULL: of none */
	struct reduction *reductions; /* of tasks, the innermost; or NULL */
	struct task_group *group; /* of tasks, the innermost; or NULL */
	unsigned nr_barriers; /* of this thread in its region */
	unsigned depth; /* groups of tasks around, and the region */
	struct part part; /* places of its regions */
	struct share *share; /* where it is */
	uint64_t loop_begin; /* of a loop that is recorded; or 0 */
	uint64_t trip; /* static: of chunks */
	uint64_t chunk_begin, chunk_end; /* iterations, of an ordered loop */
};

extern __thread struct self gomp_self
	__attribute__((tls_model("initial-exec")));

/* ---- settings ----------------------------------------------------------- */

const struct settings *settings_get(void);

/* How many threads OMP_NUM_THREADS says for that level; 0: it does not. */
unsigned settings_threads(unsigned level);

/* How OMP_PROC_BIND binds regions at that level; UINT_MAX: it does not say. */
unsigned settings_bind(unsigned level);

/* ---- pools -------------------------------------------------------------- */

/* This thread's, of so many workers at least if it can be; NULL: none. */
struct pool *pool_own(unsigned nr);

/* Another one, for a region; NULL: none. */
struct pool *pool_borrow(unsigned nr);
void pool_return(struct pool *p);

/* Outside of all regions: closes those that no thread uses, and its own. */
void pool_pause(void);

/* Threads of a region that asks for none: as many as lkdf has workers then. */
unsigned pool_default(void);

/* ---- teams -------------------------------------------------------------- */

/* This thread's team; the first time outside of all regions one of one. */
struct team *team_start(void);

static inline struct team *team_self(void)
{
	struct team *t = gomp_self.team;

	return likely(t != NULL) ? t : team_start();
}

/* The call of a region: its function, threads, and first construct. */
struct region {
	void (*fn)(void *data);
	void *data;
	unsigned nr; /* threads that it asks for; 0: none in particular */
	const struct work *first; /* of its first construct, or NULL */
	struct reduction *reductions; /* of its tasks, or NULL */
	unsigned flags; /* the clause proc_bind */
};

/* A team of one, where this thread is. */
void team_init(struct team *t, const struct region *r);

/* This thread is one of the team from here on, in a task with that address. */
void team_enter(struct team *t, struct lkdf_ctx *c, unsigned num,
		const void *task);

/* Threads that it has had. */
unsigned team_run(const struct region *r);
void team_barrier(void);

/* ---- shares ------------------------------------------------------------- */

/* On to the next construct. True: this thread is the first there. */
bool share_enter(const struct work *work);

/* Memory of a work that no thread needs any more. */
void share_free_work(const struct work *w);

/* After the last one of the region. */
void share_leave(void);

/* Some of its iterations, as numbers; false: none are left. */
bool share_take(struct share *s, uint64_t *begin, uint64_t *end);

/*
 * Chunks in a row that a thread takes by one addition, so that threads with
 * short chunks do not meet at each of them. Where the thread is held, others
 * take the rest: the last one first.
 */
#define LOT_FIRST_SHIFT 8
#define LOT_SHARE_SHIFT 40
#define LOT_IS_MADE 255 /* nr while its thread adds */

static inline uint64_t lot_word(const struct share *s, uint64_t first,
				uint64_t nr)
{
	return s->number << LOT_SHARE_SHIFT | first << LOT_FIRST_SHIFT | nr;
}

static inline unsigned lot_nr(uint64_t word)
{
	return word & ((1u << LOT_FIRST_SHIFT) - 1);
}

static inline uint32_t lot_first(uint64_t word)
{
	return (uint32_t)(word >> LOT_FIRST_SHIFT);
}

/* A chunk when the thread's lot is empty; false: none is left. */
bool share_take_lot(struct share *s, uint64_t *at);

static inline bool share_take_own(struct share *s, uint64_t *at)
{
	struct self *self = &gomp_self;
	_Atomic(uint64_t) *lot = &self->team->pool->tally[self->num].lot;
	uint64_t word = a_load(lot, relaxed);

	while (lot_nr(word))
		if (a_cas(lot, &word, word + (1u << LOT_FIRST_SHIFT) - 1,
			  relaxed, relaxed)) {
			*at = lot_first(word);
			return true;
		}
	return share_take_lot(s, at);
}

/*
 * For one that is plain. An addition does not fail, whoever else takes some; it
 * goes beyond the last chunk at most once for each thread.
 */
static inline bool share_take_plain(struct share *s, uint64_t *begin,
				    uint64_t *end)
{
	const struct work *w = &s->work;
	uint64_t at;

	if (w->is_any_order && gomp_self.team->nr > 1) {
		if (!share_take_own(s, &at))
			return false;
	} else {
		at = a_load(&s->at, relaxed);
		if (at < w->nr_chunks)
			at = a_add(&s->at, 1, relaxed);
		if (at >= w->nr_chunks)
			return false;
	}
	*begin = at * w->chunk;
	*end = w->nr - *begin < w->chunk ? w->nr : *begin + w->chunk;
	return true;
}

/* For an ordered one: what was taken before is over for this thread. */
void share_pass(struct share *s);
void share_wait_turn(struct share *s);

/* ---- kinds of tasks ----------------------------------------------------- */

int kinds_make(struct pool *p);
void kinds_put(struct pool *p);

/* The kind for tasks of a function that have so many bytes; *room: what it has.
 * NULL: none has so many. */
struct lkdf_kind *kinds_find(struct pool *p, void (*fn)(void *data),
			     size_t size, uint32_t *room);

/* ---- tasks -------------------------------------------------------------- */

int task_run(struct lkdf_ctx *c, void *arg);
void task_wait(void);

/* ---- teams of the host -------------------------------------------------- */

/* Teams, and threads of each, where a construct does not say; 0: as ever. */
unsigned league_teams(void);
unsigned league_threads(void);
void league_set_teams(int nr);
void league_set_threads(int nr);

/* ---- ends --------------------------------------------------------------- */

/* A line on standard error as it is; and one with the library's name. */
void gomp_write(const char *text);
void __attribute__((format(printf, 1, 2))) gomp_say(const char *fmt, ...);

/* A line on standard error, and the end of the process. */
void __attribute__((noreturn)) gomp_die(const char *why);

/* The call is not built: says so, and ends the process. */
void __attribute__((noreturn)) gomp_refuse(const char *what);

#endif
