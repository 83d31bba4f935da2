/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The scheduler: all workers of a runtime, their nodes and how they sleep. The
 * layer above hands in one function, called once per burst of work, not once
 * per task.
 *
 * An item is 64 bits. With bit 0 clear it is a struct link as link_item() makes
 * it, else it means whatever the layer above says.
 */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include "base/foreign.h"
#include "check/order.h"
#include "sched/mechanism.h"
#include "sched/timers.h"
#include "sched/wake_depth.h"
#include "sched/worker.h"

struct log;
struct options;
struct topo;
struct window;

struct sched_ops {
	/* A worker's thread has started; may be NULL. */
	void (*start)(struct worker *w);
	/* Runs the item and then own work until there is none left. */
	void (*run)(struct worker *w, uint64_t item);
	/* This item and nothing else; it may be a list, which only moves. */
	void (*run_one)(struct worker *w, uint64_t item);
	/*
	 * For an item that no other worker can take: the link of the task
	 * whose child is the run that the item belongs to, or NULL.
	 */
	struct link *(*above)(uint64_t item, void *rt);
	/*
	 * Ticks that the body of an item takes, by its kind's last sample; 0:
	 * not known, or it is no body. May be NULL.
	 */
	uint64_t (*body_ticks)(uint64_t item, void *rt);
	/*
	 * Does an item lie below a task that a join waits in? A guess: both
	 * may be gone. For who makes items public while joins rest.
	 */
	bool (*is_below)(uint64_t item, const void *root);
	/*
	 * May a worker that is due (due.h) run the link, which is bound to it,
	 * before its member has begun? The member itself may. u: not used.
	 */
	bool (*precedes)(const struct link *link, const void *u);
	/* An item that is no link, and that no deque has room for. */
	void (*overflow)(struct worker *w, uint64_t item);
	/* An idle worker: did something come from outside? May be NULL. */
	bool (*poll)(struct worker *w);
	/*
	 * Serial mode: waits for what is under way, for so long at most; -1:
	 * no limit. False: nothing is under way, or, where it is not to wait,
	 * ready.
	 */
	bool (*wait)(struct worker *w, int64_t nap_ns);
	/* A timer is due: timers_fire(), and what comes of it. */
	void (*tick)(void *rt);
	/*
	 * Where several nodes have workers: one that has said that it sleeps;
	 * for how many ns at most, -1: for ever, 0: not at all. And one that
	 * has found work. Both may be NULL.
	 */
	int64_t (*nap)(struct worker *w);
	void (*leave)(struct worker *w);
	/* A worker has closed a window (signal/windows.h). May be NULL. */
	void (*window)(struct worker *w, const struct window *win);
	/*
	 * There have been URGENT tasks that other threads may run, and no
	 * worker of the node looks for work any more. Set with has_urgent.
	 */
	void (*urgent)(void *rt);
	/*
	 * For so long a worker's thread has not run, as the kernel's programs
	 * have it; 0: it runs, or nobody knows. May be NULL.
	 */
	uint64_t (*away_ns)(const struct worker *w);
	/*
	 * A worker that may not run any more: is something under way that only
	 * it sees to the end? May be NULL: no.
	 */
	bool (*stays)(struct worker *w);
};

struct sched_setup {
	const struct topo *topo;
	const struct log *log;
	const struct sched_ops *ops;
	const struct mechanism *const
		*rows; /* end with NULL; see mechanism.h */
	struct executor *executors; /* at least nr_workers */
	/* Sets up executor i, whose memory is on its node by now. */
	void (*init_executor)(void *u, int i);
	void *u;
	int nr_workers, nr_regular;
	const int *cpu_index; /* of each worker: an index into topo->cpu */
	uint32_t bind; /* enum bind: what the workers are bound to */
	bool is_crowded; /* there are more workers than CPUs: nobody spins */
	bool has_membarrier;
	const struct options *options; /* outlives it */
};

struct sched {
	/* Set at start, constant afterwards. */
	struct sched_ops ops;
	struct mechanism_calls calls;
	const struct mechanism *const *rows;
	const struct topo *topo;
	const struct options *options;
	const struct log *log;
	struct worker *workers;
	struct sched_node *nodes;
	int nr_workers, nr_nodes;
	int nr_regular; /* of them; the others are substitutes */
	int nr_worker_nodes; /* nodes that have workers */
	int nr_started;
	bool is_pinned; /* workers began bound to one CPU each */
	bool is_bound; /* or to those of their nodes */
	bool is_serial;
	uint32_t ticks_per_1024ns;
	uint64_t spin_ticks; /* an idle worker's where there are CPUs enough */
	uint64_t wake_ticks; /* what a wake-up costs the waker, about */
	uint64_t share_ticks; /* bodies of that share all, see policy.h */
	struct foreign foreign; /* what workers tell other libraries */

	/* Any thread. */
	struct timers timers;

	/* Any thread reads, a mechanism writes: ticks that idle workers spin.
	 */
	_Atomic(uint64_t) spin;

	/* Threads that wake workers, and those workers. */
	struct wake_depth wakes;

	/* Any thread: ops.urgent is to be called; for good. */
	_Atomic(uint32_t) has_urgent;

	/* Serial mode, the thread that drains: option order. */
	struct order order;

	/* Any thread; serial mode: who asked for a drain, and the drainer. */
	_Atomic(uint32_t) nr_drains;

	/* Any thread: calls in vain since a body ran, see task/give_way.h. */
	_Atomic(uint32_t) nr_vain;

	/* Workers that rest in joins, see joiner.h. */
	_Atomic(uint32_t) nr_joiners;

	/* Any thread. */
	_Atomic(uint32_t) is_stopping;

	/* The data of mechanisms, by slot. Set at start, constant afterwards.
	 */
	void *data[MAX_MECHANISMS];
	void *memory; /* of all nodes' data and this one */
};

static inline uint64_t sched_ticks(const struct sched *s, uint64_t ns)
{
	return ns * s->ticks_per_1024ns / 1024;
}

static inline uint64_t sched_ns(const struct sched *s, uint64_t ticks)
{
	return ticks * 1024 / s->ticks_per_1024ns;
}

static inline uint64_t sched_spin(const struct sched *s)
{
	return a_load(&s->spin, relaxed);
}

/*
 * Starts all workers; half-started ones are stopped again. executors outlive
 * it. -EAGAIN: no threads to be had; -ENOMEM.
 */
int sched_start(struct sched *s, const struct sched_setup *a);

/* Joins the workers; the caller knows that no work is left. NULL-safe. */
void sched_stop(struct sched *s);

/* Frees without joining: in a forked child there is nobody to join. */
void sched_abandon(struct sched *s);

/*
 * Any thread. To the inbox of a node and a wake-up if all sleep: true, which
 * the caller counts. In serial mode call sched_drain() afterwards.
 */
bool sched_push(struct sched *s, int node, struct link *link);

/* Pushes work that only workers of the node may take; it has some. */
bool sched_push_bound(struct sched *s, int node, struct link *link);

/* Where work of a thread of the user goes: its node, or the nearest one. */
int sched_home(struct sched *s);

/* Are workers bound, to one CPU each or to those of their nodes? */
static inline bool sched_is_bound(const struct sched *s)
{
	return s->is_pinned || s->is_bound;
}

/* May a worker of the node run what is bound to it? Serial mode runs all. */
static inline bool sched_has_worker(const struct sched *s, int node)
{
	return s->is_serial || s->nodes[node].nr_workers;
}

/*
 * Serial mode: runs what is ready on this thread, and waits for nothing. Else
 * does nothing.
 */
void sched_drain(struct sched *s);

/*
 * Serial mode, on a thread that waits: runs what is ready and, where nothing
 * is, waits a moment for what is under way, at most *timeout_ns; -1: no limit.
 * True: the caller looks again at what it waits for. False: nothing is under
 * way; or another thread drains, then *timeout_ns is short, so that the caller
 * does it when the other one has left. In other modes it does nothing.
 */
bool sched_wait(struct sched *s, int64_t *timeout_ns);

/*
 * With option order, where nothing is ready or under way: time goes on to the
 * earliest timer, by timeout_ns at most; -1: no limit. False: there is no timer
 * and no limit, or time does not go on so.
 */
bool sched_pass_time(struct sched *s, int64_t timeout_ns);

/* Nobody else can have, or take, anything. */
static inline bool worker_is_alone(const struct worker *w)
{
	return w->sched->nr_workers == 1;
}

/* Makes every worker leave its fast path once. */
void sched_look(struct sched *s);

#endif
