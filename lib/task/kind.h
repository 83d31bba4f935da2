/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A kind as the run loop sees it. Its first line is read for every task; slow
 * is 0 for a kind that is plain and known to be short, and anything else
 * leads the task over the general path:
 *
 *	SLOW_UNSAMPLED  how long its bodies take is not known yet
 *	SLOW_LONG       longer than the spin window: look after idle workers
 *			before each body, and measure each
 *	SLOW_TRACED     bodies are recorded: measure each, change nothing else
 *	SLOW_SAMPLED    the next few are measured, nothing else changes
 *	SLOW_DOUBTED    was SLOW_LONG beside other workers, and is alone now:
 *			the next 64 are measured, and it counts as short
 *			until then
 *	SLOW_PROFILED   the graph counts how long its task took, nothing else
 *	                changes
 *	SLOW_WATCHED    option stall knows what kind runs, a tool of the option
 *	                hooks is told, nothing else changes
 *	SLOW_NOTED      the probe knows what kind runs, nothing else changes:
 *			the hot loops know that, too, see noted.h
 *	SLOW_COUNTED    bodies are counted by kind as well; with SLOW_NOTED only
 *	SLOW_GATED      a token is wanted, see gate.h, nothing else changes
 *	SLOW_GENERAL    blocking, limits, on_cancel, placed on a part: runs as a
 *	                task of its own
 */
#ifndef TASK_KIND_H
#define TASK_KIND_H

#include "base/atomic.h"
#include "base/util.h"
#include "core/handle.h"
#include "policy/policy.h"

#include <lkdf/port.h>

#define SLOW_UNSAMPLED 1u
#define SLOW_LONG 2u
#define SLOW_GENERAL 4u
#define SLOW_TRACED 8u
#define SLOW_SAMPLED 16u
#define SLOW_WATCHED 32u
#define SLOW_PROFILED 64u
#define SLOW_DOUBTED 128u
/* No flag of tasks, no bit of attention: hot loops or these together. */
#define SLOW_NOTED (1u << 16)
#define SLOW_GATED (1u << 17)
#define SLOW_COUNTED (1u << 18)
#define SLOW_NOTES (SLOW_NOTED | SLOW_COUNTED)
#define SLOW_ADDS \
	(SLOW_TRACED | SLOW_WATCHED | SLOW_NOTES | SLOW_PROFILED | SLOW_GATED)
#define SLOW_STAYS (SLOW_GENERAL | SLOW_ADDS)
#define SLOW_BUT_SHORT (SLOW_SAMPLED | SLOW_DOUBTED | SLOW_ADDS)

#define MAX_LIMITS 4
#define NAME_SIZE 64

/* Short bodies in a row until a kind counts as short. */
#define SAMPLES 8
#define SAMPLES_DOUBTED 64

/* Long bodies of a worker alone until a kind is long whoever runs beside it. */
#define LONG_ALONE 2

/*
 * Looks at the samples of a kind, at each end of a window. Bodies that meet in
 * a spin lock or write one cache line show it by nothing but their time: most
 * of STRETCH_VOTES took 1.5 times as long as alone. Kinds that are long are
 * sampled anyway, short ones are asked for samples at each STRETCH_EVERY-th
 * look that has seen none.
 */
#define STRETCH_VOTES 8
#define STRETCH_EVERY 8

struct stretch {
	uint32_t votes, stretched; /* of the kind, when they were judged last */
	uint32_t age; /* looks since */
	bool is_stretched;
};

struct gate;
struct kernel;
struct kind_ops;
struct lkdf_limit;

struct kind_limit {
	struct lkdf_limit *limit;
	uint32_t tokens;
};

/*
 * Steps around a body, the innermost first. A kind that does one of them is a
 * copy of the kind without: its fn does it, and calls inner[step].
 */
enum kind_step {
	AROUND_MOVE, /* bytes follow the task, see run/follow.h */
	AROUND_BYTES, /* bytes come and go, see run/transient.h */
	AROUND_HOME, /* bytes come home before, see run/offhost_run.h */
	AROUND_TOKENS, /* tokens are taken and given, see run/commute.h */
	AROUND_PROFILE, /* LKDF_PROFILE: fn is the body, which is measured */
	NR_STEPS
};

/* Ports of tasks of a kind; bytes of their values. */
struct kind_ports {
	uint16_t nr_in, nr_out;
	uint16_t in_size[LKDF_MAX_PORTS], out_size[LKDF_MAX_PORTS];
	lkdf_drop_fn out_drop[LKDF_MAX_PORTS]; /* each or NULL */
};

struct lkdf_kind {
	/* Set at create, constant afterwards; read by every task. */
	_Alignas(CACHE_LINE) lkdf_fn fn;
	uint32_t arg_size;
	uint32_t flags;
	enum sched_class class;
	uint32_t width;
	uint16_t task_flags; /* of every task of its own, enum task_flag */
	bool is_away; /* fn is ops->begin: the work is done elsewhere */
	bool is_child; /* of a shape that is spawned the short way */
	bool may_block; /* its body, or its operation */
	bool is_anywhere; /* its body may run on a spare thread */

	/* Set with the last reference; tasks of it may still be under way. */
	_Atomic(bool) is_dead;

	/*
	 * Written at the start and end of a recording; both steer, so relaxed
	 * will do.
	 */
	_Atomic(bool) is_plain; /* is_child, and not traced */
	_Atomic(bool) starts_slowly; /* may_block, or is traced */

	/* Any worker; a guess that steers waking, so relaxed will do. */
	_Atomic(uint32_t) slow;
	_Atomic(uint32_t) body_ticks; /* the last sample */
	_Atomic(uint32_t) nr_short; /* samples in a row */
	_Atomic(uint32_t) least_ticks; /* the shortest sample; 0: none */
	_Atomic(uint32_t) nr_long_alone; /* samples of solo runs */

	/* Set at create, constant afterwards. */
	struct lkdf *rt;
	uint32_t spin_ticks, clock_ticks; /* the runtime's */
	lkdf_fn inner[NR_STEPS]; /* NULL: fn does not do it */
	const struct kind_ops *ops; /* of its sort */
	lkdf_fn user_fn; /* option check: fn calls it; else NULL */
	lkdf_fn tried_fn; /* fn calls it up to nr_tries times; see
			   * api/retry.h; else NULL */
	uint32_t nr_tries;
	lkdf_fn later; /* where is_away: goes on as; may be NULL */
	void (*on_cancel)(void *arg);
	void (*drop)(void *arg);
	uint32_t scratch_size;
	int nr_cpus; /* of a body with LKDF_TEAM; INT_MAX: all of its node */
	uint32_t nr_limits;
	struct kind_ports *ports; /* NULL: none; of the kind's copies, too */
	struct kernel *kernel; /* the same; NULL: it is none */
	uint32_t trace_name;
	bool is_ours; /* tasks that the user has not made */
	bool is_member; /* of a gang, see gang.h: no join runs such a task */
	bool is_seat; /* the same: nobody is told of its body */
	bool is_empty; /* the same, and their body does nothing */
	uint16_t home; /* of a kind_at(); else HOME_NONE */
	/*
	 * Changed under the runtime's lock, see task/gate.h; any thread looks.
	 * NULL: it has none.
	 */
	_Atomic(struct gate *) gate;
	struct kind_limit limit[MAX_LIMITS];
	char name[NAME_SIZE];

	/* Any thread: the user and each graph with it; tasks do not count. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) nr_refs;

	/* Any worker; guesses, of the samples that least_ticks is of. */
	_Atomic(uint32_t) alone_ticks; /* mean of bodies alone; 0: not known */
	_Atomic(uint32_t) nr_votes; /* samples */
	_Atomic(uint32_t) nr_stretched; /* took >= 1.5 times as long as alone */
	struct stretch stretch; /* of one thread at a time */

	/* Under the runtime's lock. */
	struct lkdf_kind **copies; /* by node, see kind_on(); NULL: none */
	struct lkdf_kind *around[NR_STEPS]; /* see kind_around() */
	struct lkdf_kind *on_parts; /* see kind_at(), the youngest */
	struct lkdf_kind *next_on_part; /* of one of those */
	struct lkdf_kind *next_dead; /* once nr_refs is 0 */
	struct list all; /* of the runtime, dead ones too */

	struct handle handle; /* the user's */
};

int kind_create(struct lkdf *rt, const struct lkdf_kind_attr *a,
		struct lkdf_kind **out);

/* Creates a kind of another sort than plain. -EAGAIN: no thread to be had. */
int kind_create_sort(struct lkdf *rt, const struct kind_ops *ops,
		     const struct lkdf_kind_attr *a, struct lkdf_kind **out);
void kind_get(struct lkdf_kind *k);

/*
 * With the last reference it is dead: nobody starts tasks of it any more. Its
 * memory stays until nothing at all lives in the runtime, for tasks that have
 * been started hold no reference: that would be two locked operations each.
 */
void kind_put(struct lkdf_kind *k);

/* A new kind is one of the runtime's, and recorded if others are. */
void kind_enlist(struct lkdf_kind *k);

/* Its bodies only hold a worker: no recording and no tool is told of them. */
void kind_hide(struct lkdf_kind *k);

/* The short ways are for those of which nobody records bodies. */
void kind_set_paths(struct lkdf_kind *k, uint32_t slow);

/* Bodies of all kinds are recorded from now on, or not any more. */
void kind_trace_all(struct lkdf *rt, bool is_traced);

/* SLOW_NOTED, SLOW_COUNTED: what the runtime's options and a probe want. */
uint32_t kind_notes(const struct lkdf *rt);

/*
 * Bodies of all kinds are noted, and counted where executors have rows for it,
 * from now on; or not any more, unless somebody else wants it.
 */
void kind_note_all(struct lkdf *rt, bool is_noted);

/* Frees the dead ones if nothing lives. */
void kind_reap(struct lkdf *rt);

/* Frees them all without a lock: in a forked child. */
void kind_abandon(struct lkdf *rt);

/*
 * The kind's copy on a node, for the tasks that are placed there: all that
 * every task reads and every sample writes. It goes with the kind. The kind
 * itself where there is one node only. NULL: no memory.
 */
struct lkdf_kind *kind_on(struct lkdf_kind *k, int node);

/*
 * The kind whose fn does the step around the kind's own, which is in
 * inner[step] then. All calls for a kind and a step return one kind, which goes
 * with k. NULL: no memory.
 */
struct lkdf_kind *kind_around(struct lkdf_kind *k, enum kind_step step,
			      lkdf_fn fn);

/* The kind for tasks of graphs with LKDF_PROFILE. NULL: no memory. */
struct lkdf_kind *kind_profiled(struct lkdf_kind *k);

/*
 * The kind for tasks of graphs with a place that is a part, or of a kernel:
 * they run as tasks of their own, which have that home. All calls for a kind
 * and a home return one kind. NULL: no memory.
 */
struct lkdf_kind *kind_at(struct lkdf_kind *k, uint16_t home);

/* A body took so long: is the kind short? */
void kind_sample(struct lkdf_kind *k, uint64_t body_ticks);

/* A body has spawned: it counts as short, and its time tells nothing. */
void kind_sample_spawner(struct lkdf_kind *k);

/* Samples a body of a worker that has its run for itself, as kind_sample(). */
void kind_sample_alone(struct lkdf_kind *k, uint64_t body_ticks);

/* Is a kind that was short still so? Its next bodies tell. */
void kind_sample_again(struct lkdf_kind *k);

/*
 * Bodies that wait for each other in a lock are long, and may be short one
 * after the other: is the kind known to be short where no other worker is in
 * its way? least_ticks is what a body takes then.
 */
bool kind_is_short_alone(const struct lkdf_kind *k);

/* Calls fn for a kind and all its copies; under the runtime's lock. */
void kind_each_copy(struct lkdf_kind *k,
		    void (*fn)(struct lkdf_kind *k, void *u), void *u);

/* Samples of a kind and its copies: see kind_count(). */
struct kind_count {
	uint64_t least_ticks; /* of the shortest one; 0: there is none */
	uint32_t nr_votes, nr_stretched;
	bool is_short; /* its next bodies are sampled if they are asked for */
};

/* Under the runtime's lock: how its bodies fare beside others, so far. */
void kind_count(struct lkdf_kind *k, struct kind_count *out);

/*
 * Under the runtime's lock, by one thread at a time: a look, with the counts of
 * now. asks: samples are wanted soon. True: bodies of the kind take too long.
 */
bool kind_is_stretched(struct lkdf_kind *k, const struct kind_count *c,
		       bool asks);

/*
 * Ticks that the shortest body of kinds with that name in recordings took, of
 * those that were timed; 0: none was.
 */
uint64_t kind_alone_ticks(struct lkdf *rt, uint32_t trace_name);

/* A kind that may be long only beside others counts as short until it is. */
void kind_doubt(struct lkdf_kind *k);

/* Calls a body that may be long: its worker knows meanwhile. */
int kind_call(struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn, void *arg);

/* The user's function, within all that is done around it. */
static inline lkdf_fn kind_body(const struct lkdf_kind *k)
{
	int step = 0;

	if (k->is_away)
		return k->later;
	while (step < NR_STEPS && !k->inner[step])
		step++;
	if (unlikely(k->user_fn != NULL))
		return k->user_fn;
	return step < NR_STEPS ? k->inner[step] : k->fn;
}

/* Its bodies need not be measured. */
static inline bool kind_is_noted_only(const struct lkdf_kind *k)
{
	const uint32_t noted = SLOW_WATCHED | SLOW_NOTES;
	uint32_t slow =
		a_load(&k->slow, relaxed) & ~(SLOW_GENERAL | SLOW_GATED);

	return slow & noted && !(slow & ~noted);
}

/* Calls the body of a graph's task, and looks how long it takes. */
int kind_call_timed(struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn,
		    void *arg);

/* prio: enum lkdf_prio; DEFAULT takes the kind's. */
static inline enum sched_class kind_class(const struct lkdf_kind *k, int prio)
{
	return prio == LKDF_PRIO_DEFAULT ? k->class
					 : (enum sched_class)(prio - 1);
}

#endif
