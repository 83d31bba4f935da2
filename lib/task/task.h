/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task of its own: submitted, spawned, or standing for a graph's task that
 * needs more than a record (it spawns, blocks, takes limits or holds).
 *
 *	READY -> RUNNING -> ENDED -> COMPLETE     body returned, children gone
 *	            \-> LEFT -> READY             left by then, to go on as fn
 *
 * Children are counted without locked operations where possible. The body's
 * thread counts what it has spawned and what it has itself run in a join; a
 * child that ends anywhere else takes 1 from live. live is so minus the number
 * of those while the body runs; when the body ends it adds what is
 * outstanding, and whoever then makes live 0 completes the task.
 *
 * Memory is type-stable (mem/pool.h): a thief may look at the parent of a task
 * that is long gone, and looks again when it has won it.
 */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "base/atomic.h"
#include "core/limit.h"
#include "core/stock.h"
#include "ring/blocking.h"
#include "sched/inbox.h"
#include "scope/event_tap.h"
#include "task/ctx.h"
#include "task/kind.h"

#include <lkdf/task.h>
#include <stddef.h>

struct after;
struct again;
struct claim;
struct failure;
struct frame;
struct io_req;
struct kernel_req;
struct lkdf_scope;
struct worker;

#define INLINE_ARG 96

/*
 * Type of the link of a task that stands in for a loop in a body that is not
 * known. The task is in no queue, and the type stays, so workers below it may
 * look; its flags are its own thread's.
 */
#define LINK_NESTED 6

enum task_flag {
	TASK_SCOPED = 1, /* counts in its scope: submitted */
	TASK_OWNED = 2, /* owner, frame and index are set: a graph's task */
	TASK_HAS_DONE = 4,
	TASK_GENERAL = 8, /* limits, blocking pool, on_cancel */
	TASK_HAS_DROP = 16,
	TASK_FAR_ARG = 32, /* the copied argument is of the heap */
	TASK_AFTER_CHILDREN = 64, /* goes on when live is 0 */
	TASK_CONTINUES = 128, /* the body is then_fn now */
	TASK_FAILED = 256, /* error and ending are set */
	TASK_URGENT = 512, /* of that class, and may run on a spare thread */
	TASK_HOLDS = 1024, /* hold is to be waited for when the body ends */
	TASK_PLACED = 2048, /* home is set */
	TASK_HAS_DATA = 4096, /* claim is set */
	TASK_GROUP = 8192, /* no body: its owner frees it, see group.h */
	TASK_EXTRA = 16384, /* own, after, label and is_profiled are set */
	TASK_AWAY = 32768, /* its work is under way elsewhere, see away */
};

/* Flags that make the end of a task more than telling its parent. */
#define TASK_ENDS_SLOWLY                                              \
	(TASK_SCOPED | TASK_OWNED | TASK_HAS_DONE | TASK_GENERAL |    \
	 TASK_HAS_DROP | TASK_FAR_ARG | TASK_FAILED | TASK_HAS_DATA | \
	 TASK_EXTRA)

struct task {
	/* depth: of nesting below the submitted task. */
	struct link link;

	/* Set before it is ready, constant afterwards. */
	struct lkdf_kind *kind;
	void *arg;
	_Atomic(struct task *) parent; /* thieves peek: see above */
	struct lkdf_scope *scope;

	/* The body's thread; whoever completes it. */
	uint32_t nr_spawned;
	uint32_t nr_local;

	/* Any thread. */
	_Atomic(int32_t) live;
	_Atomic(int32_t) child_err;

	/* Copy of the argument, if it fits. */
	_Alignas(CACHE_LINE) char inline_arg[INLINE_ARG];

	/*
	 * Set where a flag says so; otherwise left as the last user did. Fields
	 * that most submitted tasks use come first.
	 */
	struct claim *claim;
	uint32_t index; /* in frame; else tasks it is in a scope's room */
	uint16_t home; /* as home_make(): where it runs */
	bool limit_woken; /* tries again, before newcomers */
	bool is_dead; /* of a frame: it comes after one that failed */
	uint32_t nr_limits_held; /* none or all */
	int32_t error;
	int32_t branch; /* of a frame: what its last body has returned */
	bool is_profiled; /* its bodies are told, recording or not */
	bool then_on_event;
	bool is_kicked;
	bool is_bare; /* child_err is that of a child without a failure */
	uint8_t ending; /* enum ending: why it has an error */
	uint16_t io_home; /* of an operation: where its bytes came, or none */
	struct frame *frame;
	const struct owner_ops *owner;
	struct lkdf_event done;
	struct lkdf_event hold;
	struct lkdf_scope *own; /* for its deadline: scope is it then */
	struct after *after;
	struct failure *failure; /* of error */
	/* Once child_err is set, under failed_lock while children run: those
	 * of children, oldest first, and the first error without one. */
	struct failure *child_failure;
	int32_t child_bare;
	struct task *groups; /* of the body, where its context has_groups, and
			      * while it is left by then; see group.h */
	lkdf_fn then_fn;
	_Atomic(uint32_t) then_arrivals; /* body and event: 2 goes on */
	int32_t then_err;
	union {
		/* Before a body starts. */
		struct {
			struct limit_waiter limit_waiter;
			struct blocking_item blocking_item;
		};
		/* From then() or the last body's end on; see then.h. */
		struct event_tap tap;
	};
	struct task *kick_next, **kick_prev; /* next: of a group, the body's
					      * other one */
	union { /* the work, until it is over; by the sort of its kind */
		struct io_req *io;
		struct again *again; /* while called again, see again.h */
		struct kernel_req *kernel;
	} away;
	int64_t io_value; /* of an operation: what it gave, if in part */
	int32_t io_error; /* why it gave no more, or 0 */
	uint32_t label; /* with TASK_EXTRA: see mem/label.h; 0: none */
	/* With a depth of TASK_DEEP and more: one of those above, see
	 * task_is_below(); thieves peek. */
	_Atomic(struct task *) jump;
	uint64_t ready_ticks, ready_by; /* while recording, see traced.h */
	uint64_t left_ticks, left_by; /* the same, of its body before */
	uint32_t left_name; /* for what it waits since; 0: not known */
	struct check_task *check; /* see checked.h; of the one before, until the
				   * task is made */
};

/* Added to live while the body sleeps in a join. */
#define TASK_JOINING (1 << 30)

/* In live and nr_local of a group that is open, so that live is never 0. */
#define TASK_OPEN (1 << 28)

/* On the body's thread. */
static inline bool task_has_children(const struct task *t)
{
	/* [task.join] what the children did; pairs with [task.child]. */
	return t->nr_spawned - t->nr_local +
		       (uint32_t)a_load(&t->live, acquire) !=
	       0;
}

/* No child is there, and nobody else may look. */
static inline void task_count_anew(struct task *t)
{
	int32_t open = t->link.flags & TASK_GROUP ? TASK_OPEN : 0;

	t->nr_spawned = 0;
	t->nr_local = (uint32_t)open;
	a_store(&t->live, open, relaxed);
}

enum task_end {
	TASK_COMPLETE,
	TASK_PENDING,
};

static inline struct task *task_of(struct link *link)
{
	return container_of(link, struct task, link);
}

/*
 * The lines that stock_expect() brings: its start, and what most submitted
 * tasks use.
 */
_Static_assert(offsetof(struct task, link) / CACHE_LINE == STOCK_FIRST_LINE &&
		       offsetof(struct task, claim) / CACHE_LINE ==
			       STOCK_SECOND_LINE,
	       "the lines that are fetched ahead");

/* A task with its argument copied; NULL: no memory, err() has said so. */
struct task *task_create(struct lkdf *rt, struct executor *ex,
			 struct lkdf_kind *k, const void *arg, int prio);

/* Its kind, and its label if it has one: "kind (label)". */
void task_text(const struct task *t, char *text, size_t size);

/* Never started: frees it and drops its argument. */
void task_destroy(struct lkdf *rt, struct executor *ex, struct task *t);

/* Frees its copied argument, if that is on the heap. */
void task_free_arg(struct task *t);

/* Without a body: it is complete when its children are. NULL: no memory. */
struct task *task_create_group(struct lkdf *rt, struct executor *ex,
			       struct lkdf_kind *k);

/* Place, event, uses. On failure task_undo() it. */
int task_add_extras(struct task *t, struct executor *ex, struct task *parent,
		    const struct lkdf_task *a, bool has_done);

/* It never started, whatever extras it has. */
void task_undo(struct lkdf *rt, struct executor *ex, struct task *t);

/* Once its data is there, if it has any. */
void task_has_data(struct lkdf *rt, struct executor *ex, struct task *t);

/* Its data and events first; on failure it is the caller's again. */
int task_start_in_turn(struct lkdf *rt, struct executor *ex, struct task *t);

/* As lkdf_submit_many(); a: copies. */
int task_submit_many(struct lkdf *rt, struct lkdf_scope *s,
		     const struct lkdf_task *a, unsigned nr,
		     struct lkdf_event *done);

int task_submit(struct lkdf *rt, struct lkdf_scope *s,
		const struct lkdf_task *a, struct lkdf_event *done);
int task_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg);

/* The group g counts the child in place of the body's task. */
int task_spawn_below(struct lkdf_ctx *c, struct task *g, struct lkdf_kind *k,
		     const void *arg);
int task_spawn_with(struct lkdf_ctx *c, const struct lkdf_task *a,
		    struct lkdf_event *done);

/* Waits for the body's children, where task_may_join() allows it. */
int task_join(struct lkdf_ctx *c);

/* Waits for the children of t, of which the executor runs some meanwhile. */
int task_join_on(struct executor *ex, struct task *t);

/* 0; -EDEADLK where a join could wait for ever; -EOVERFLOW of the stack. */
int task_may_join(const struct lkdf_ctx *c);
int task_hold(struct lkdf_ctx *c, struct lkdf_event *e);
int task_then(struct lkdf_ctx *c, lkdf_fn fn, struct lkdf_event on);

/* The task that stands for the graph's task that c runs. */
struct task *task_of_ctx(struct lkdf_ctx *c);

/*
 * 0; -EDEADLK: a child of that kind needs tokens that its parents hold until it
 * has ended.
 */
int task_may_have_child(const struct task *parent, const struct lkdf_kind *k);

/*
 * A worker that is crowded runs a child at once, on top of its parent's body;
 * it may be gone then. False: it is to be queued.
 */
bool task_runs_inline(struct executor *ex, struct task *t, struct task *parent);

/* A worker had taken it and does not run it: back to where others find it. */
void task_put_back(struct executor *ex, struct task *t);

/* Goes to a deque, or with its limits taken to the blocking pool. */
void task_start(struct lkdf *rt, struct executor *ex, struct task *t);

/* The first error of the task itself; why: NULL or a text. */
void task_fail(struct task *t, int returned, const char *why, int worker);

/* After the body of a graph's task that has a task of its own. */
enum task_end task_after(struct lkdf_ctx *c, int rc);

/* Body ended and children gone: tells everybody, upwards as far as it goes. */
void task_complete(struct executor *ex, struct task *t);

/* A child that is no task, a run, has ended; f is borrowed. */
void task_child_ended(struct executor *ex, struct task *parent, int error,
		      struct failure *f);

/*
 * Kicks running bodies whose scope was cancelled: those that were not yet, or
 * all. In on_cancel it only makes the kicking thread look once more.
 */
#define KICK 1u
#define KICK_AGAIN (1u << 16)
void task_kick(struct lkdf *rt, uint32_t how);

/* The work that a link of type LINK_TASK asks for, or the blocking pool. */
void task_run(struct executor *ex, struct task *t);

/* As task_join_on(), and t keeps the errors of its children. */
void task_await_children(struct executor *ex, struct task *t);

/* As task_join(). The caller is told of the error, *f: why, or NULL. */
int task_join_told(struct lkdf_ctx *c, struct failure **f);

/*
 * All children are gone: counts from 0 again; their first error, which the
 * caller returns to a body. The others go to the log, unless they were seen.
 */
int task_forget_children(struct task *t);

/* The body slept in a join a moment ago: the task may be gone by now. */
void task_wake_join(struct lkdf *rt, struct task *t);

/*
 * Is t below parent? Both may be looked at by a thief: see above. Where tasks
 * lie deep the way up goes by jumps, in as many steps as the logarithm of its
 * length, for a join that has no stack left runs what lies ever deeper below
 * it.
 */
bool task_is_below(struct task *t, const struct task *parent);

/* From here on a task has a jump. */
#define TASK_DEEP 128

static inline bool task_is_deep(const struct task *t)
{
	return a_load(&t->link.depth, relaxed) >= TASK_DEEP;
}

static inline bool task_is_above_deep(const struct task *t)
{
	return a_load(&t->link.depth, relaxed) >= TASK_DEEP - 1;
}

/*
 * To the parent; or as far as two jumps of the parent's go, where both are of
 * the same length. So lengths are those of a skew binary number: O(log n).
 */
static inline void task_set_jump(struct task *t, struct task *parent)
{
	struct task *first = parent, *second;
	uint32_t depth = a_load(&parent->link.depth, relaxed), middle;

	if (task_is_deep(parent))
		first = a_load(&parent->jump, relaxed);
	second = task_is_deep(first) ? a_load(&first->jump, relaxed) : first;
	middle = a_load(&first->link.depth, relaxed);
	a_store(&t->jump,
		first != second && depth - middle ==
					   middle - a_load(&second->link.depth,
							   relaxed)
			? second
			: parent,
		relaxed);
}

/*
 * Towards the depth, which is above t's. A jump that a thief sees of a task
 * that is gone may lead down.
 */
static inline struct task *task_go_up(const struct task *t, uint32_t depth)
{
	struct task *to = task_is_deep(t) ? a_load(&t->jump, relaxed) : NULL;
	uint32_t at = to ? a_load(&to->link.depth, relaxed) : 0;

	return to && at >= depth && at < a_load(&t->link.depth, relaxed)
		       ? to
		       : a_load(&t->parent, relaxed);
}

/* As task_set_parent(), of a parent that is not above deep ones. */
static inline void task_set_near_parent(struct task *t, struct task *parent)
{
	a_store(&t->link.depth, a_load(&parent->link.depth, relaxed) + 1,
		relaxed);
	a_store(&t->parent, parent, relaxed);
}

/* The task that stands above it, for joins, limits and reports. */
static inline void task_set_parent(struct task *t, struct task *parent)
{
	task_set_near_parent(t, parent);
	if (unlikely(task_is_deep(t)))
		task_set_jump(t, parent);
}

/* As task_set_parent(), below a group, which may be a deep one by now. */
static inline void task_set_group(struct task *t, struct task *g)
{
	if (unlikely(task_is_deep(g)))
		task_set_jump(g, a_load(&g->parent, relaxed));
	task_set_parent(t, g);
}

/* t becomes a child of the running body's task. */
static inline void task_adopt(struct task *parent, struct task *t)
{
	task_set_parent(t, parent);
	t->scope = parent->scope;
	parent->nr_spawned++;
}

static inline void task_init_limits(struct task *t)
{
	t->nr_limits_held = 0;
	t->limit_woken = false;
}

#endif
