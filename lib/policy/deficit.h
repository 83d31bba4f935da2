/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Whether work may leave its node: a node whose remaining work is clearly less
 * than another's takes tasks from it at once, because it will be done earlier
 * whatever happens; one that merely has nothing to do now waits as long as the
 * task and its remote accesses are worth, and only for a queue. Remaining work
 * is known because the graph is sealed and its blocks have homes.
 *
 * A thief trusts the plan: a node that will be done within DEFICIT_TRUST tasks'
 * time of the mean of all nodes keeps its tasks, whoever is ahead of it. Tasks
 * and not a share of the time left: near the end a share is less than a task.
 *
 * Pure functions over numbers that the caller has read, torn or stale as they
 * may be: a wrong decision costs time, nothing else. Work is in bytes touched,
 * a rate is time per byte, and time is in any one unit; no constant is a time.
 */
#ifndef POLICY_DEFICIT_H
#define POLICY_DEFICIT_H

#include <stdbool.h>
#include <stdint.h>

/* A victim must be behind by this part of its own time. */
#define DEFICIT_GAP 0.35
/* And still be behind after losing so many tasks like this one. */
#define DEFICIT_TASKS 2
/* A node that is behind the mean by so many of its tasks keeps them. */
#define DEFICIT_TRUST 1
/* Patience: so often the loss and this part of the task itself. */
#define DEFICIT_PATIENCE 4
/* After so many times its patience a worker takes whatever there is. */
#define DEFICIT_PATIENCE_END 16
#define DEFICIT_PATIENCE_TASK 0.5
/* A queue is one when it holds the loss and this part of the task. */
#define DEFICIT_QUEUE_TASK 0.5
/* How many of a victim's oldest tasks a thief looks at. */
#define DEFICIT_SCAN 8
/* Nodes whose rates differ by less than this factor are equally fast. */
#define DEFICIT_SAME_RATE 2
/* The weight of one task more in a node's rate. */
#define DEFICIT_LEARN (1.0 / 32)

/* An access, as the place of a task needs it. */
struct deficit_use {
	double bytes; /* touched: reads and writes */
	int node; /* home of the block; negative: none yet */
	bool is_own; /* of the block that the task writes most of */
};

/* A node, as others see it. */
struct deficit_node {
	double remaining; /* bytes of its tasks that have not started */
	double rate; /* deficit_rate() */
	double mean_task; /* bytes */
	uint32_t nr_ready; /* tasks waiting there */
	int nr_workers;
};

/* A ready task that a thief looks at; times at its victim's rate. */
struct deficit_task {
	double time; /* of the task on its own node */
	double loss; /* how much longer it takes at the thief's */
};

/* The lower median of those measured; 0 or less: not yet. None: 1. */
double deficit_median(const double *measured, int nr);

/* A node's rate: the median's unless it is clearly another. */
static inline double deficit_rate(double measured, double median)
{
	if (measured > median / DEFICIT_SAME_RATE &&
	    measured < median * DEFICIT_SAME_RATE)
		return median;
	return measured > 0 ? measured : median;
}

/* The rate that a node has measured, after a task that ran on its home. */
static inline double deficit_learn(double measured, double time, double bytes)
{
	if (!(bytes > 0))
		return measured;
	if (!(measured > 0))
		return time / bytes;
	return measured + (time / bytes - measured) * DEFICIT_LEARN;
}

/* The cost of one byte at a distance, in bytes. */
double deficit_extra_at(int distance);

/*
 * How much longer a task takes on a node than with all its data local, in
 * bytes; extra: the node's row of deficit_extra_at().
 */
double deficit_extra(const struct deficit_use *use, uint32_t nr,
		     const double *extra);

/* The time a node still needs. */
static inline double deficit_time(const struct deficit_node *n)
{
	return n->remaining * n->rate / n->nr_workers;
}

/* The time until one of its ready tasks' turn comes. */
static inline double deficit_wait(const struct deficit_node *n)
{
	return n->nr_ready * n->mean_task * n->rate / n->nr_workers;
}

/* bytes: the task's; the extras on both nodes are deficit_extra(). */
static inline struct deficit_task
deficit_task(double bytes, double rate, double extra_thief, double extra_victim)
{
	double more = extra_thief - extra_victim;

	return (struct deficit_task){ bytes * rate,
				      more > 0 ? more * rate : 0 };
}

/* ahead: the victim's time left less the thief's. */
static inline bool deficit_is_behind(double victim_time, double ahead,
				     const struct deficit_task *t)
{
	return ahead >
	       DEFICIT_GAP * victim_time + DEFICIT_TASKS * (t->time + t->loss);
}

/* Rent or buy (Karlin et al. 1990); idle: since the thief last had work. */
static inline bool deficit_is_patient(double wait, double idle,
				      const struct deficit_task *t)
{
	return wait >= t->loss + DEFICIT_QUEUE_TASK * t->time &&
	       idle >= DEFICIT_PATIENCE *
			       (t->loss + DEFICIT_PATIENCE_TASK * t->time);
}

/*
 * The time that all nodes would still need if each worker had the same to do;
 * 0 without workers. Nodes without workers count by what they still have.
 */
double deficit_mean(const struct deficit_node *node, int nr);

/* Will the node be done about when all are? mean: deficit_mean(). */
static inline bool deficit_keeps(const struct deficit_node *n, double mean)
{
	return deficit_time(n) <= mean + DEFICIT_TRUST * n->mean_task * n->rate;
}

/* Why a worker of the thief, idle for so long, may take the task, if it may. */
enum deficit_why {
	DEFICIT_NO,
	DEFICIT_BEHIND, /* the victim is far enough behind */
	DEFICIT_WAITED, /* patience, or so long that any task will do */
};

static inline enum deficit_why deficit_why(const struct deficit_node *thief,
					   const struct deficit_node *victim,
					   double mean, double idle,
					   const struct deficit_task *t)
{
	double left = deficit_time(victim);
	bool keeps = deficit_keeps(victim, mean);

	if (!keeps && deficit_is_behind(left, left - deficit_time(thief), t))
		return DEFICIT_BEHIND;
	return (!keeps && deficit_is_patient(deficit_wait(victim), idle, t)) ||
			       idle >= DEFICIT_PATIENCE_END * DEFICIT_PATIENCE *
					       (t->time + t->loss)
		       ? DEFICIT_WAITED
		       : DEFICIT_NO;
}

static inline bool deficit_allows(const struct deficit_node *thief,
				  const struct deficit_node *victim,
				  double mean, double idle,
				  const struct deficit_task *t)
{
	return deficit_why(thief, victim, mean, idle, t) != DEFICIT_NO;
}

/*
 * The first of two allowed tasks: less loss for its length, or as little and
 * its victim is further behind.
 */
static inline bool deficit_is_better(const struct deficit_task *a,
				     double ahead_a,
				     const struct deficit_task *b,
				     double ahead_b)
{
	double loss_a = a->loss * b->time, loss_b = b->loss * a->time;

	return loss_a < loss_b || (!(loss_a > loss_b) && ahead_a > ahead_b);
}

/* A block, with its partner if that lies there too and is written again. */
struct deficit_block {
	double remaining; /* bytes of tasks not started that write it */
	double ahead; /* the same of as many runs to come as there were */
	double bytes; /* to be moved */
	double extra; /* deficit_extra_at() the thief's distance */
};

/*
 * Should the block move to a thief that has taken its tasks again and again?
 * Where the victim is late, and is no earlier than the mean without the block;
 * where the thief is no later with it; and where what is saved is worth it.
 */
static inline bool deficit_moves(const struct deficit_node *thief,
				 const struct deficit_node *victim, double mean,
				 const struct deficit_block *b)
{
	double left = deficit_time(victim);
	double time = b->remaining * victim->rate / victim->nr_workers;

	return !deficit_keeps(victim, mean) && left - time >= mean &&
	       deficit_time(thief) + time <= left &&
	       (b->remaining + b->ahead) * b->extra > 2 * b->bytes;
}

/*
 * Where a task should run whose predecessors are complete: with most of its
 * bytes; where two nodes have about as many, on the one that has less to do.
 * Nodes without workers do not count. here: the caller's node, which wins ties
 * and gets what has no bytes anywhere. weight: nr numbers of scratch.
 */
int deficit_place(const struct deficit_use *use, uint32_t nr_uses,
		  const struct deficit_node *node, int nr, int here,
		  double *weight);

#endif
