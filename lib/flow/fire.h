/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task is over: the live arrivals at its successors, as part of the hot loop
 * in run.c. One that is ready runs next, the others go to the own deque.
 */
#ifndef FLOW_FIRE_H
#define FLOW_FIRE_H

#include "flow/brief_call.h"
#include "flow/burst.h"
#include "flow/decide.h"

/* What is special in a run, constant where this is inlined. */
enum {
	CHAIN_TOKENS = 1, /* the graph has some */
	CHAIN_ALONE = 2, /* there is one worker */
	CHAIN_QUICK = 4, /* some tasks are, see struct brief_task */
};

/* Of a class of its own, or with a node of its own. Returns as below. */
static __attribute__((noinline)) uint32_t fire_special(struct burst *b,
						       const struct rec *m,
						       uint32_t index,
						       uint32_t next)
{
	if (next == NO_TASK && (m->flags & REC_CLASS) == CLASS_NORMAL &&
	    index - b->home_first < b->nr_home)
		return index;
	decide_push(b->w, b->f, index, 0);
	return next;
}

/* A successor is ready: the first NORMAL one is next, others are pushed. */
static inline __attribute__((always_inline)) uint32_t
take_or_push(struct burst *b, const struct rec *m, uint32_t index,
	     uint32_t next)
{
	if (unlikely((m->flags & (REC_CLASS | REC_PLACED)) != CLASS_NORMAL))
		return fire_special(b, m, index, next);
	if (next == NO_TASK)
		return index;
	if (unlikely(!worker_push(b->w, CLASS_NORMAL,
				  item_make(b->f, index, 0))))
		decide_spill(b->w, b->f, index, 0);
	return next;
}

/* The last arrival has come. Returns as below. */
static inline __attribute__((always_inline)) uint32_t
arrived(struct burst *b, struct rec *m, uint32_t index, bool is_dead,
	uint32_t next)
{
	rec_rearm(m, graph_nr_in(b->graph, m, index));
	if (likely(!is_dead))
		return take_or_push(b, m, index, next);
	decide_push(b->w, b->f, index, ITEM_SKIP);
	return next;
}

#define FIRE_SOME 16

/*
 * Of the only worker there is, for many successors: nobody can foresee whose
 * last arrival this is, so that is no branch.
 */
static inline __attribute__((always_inline)) uint32_t
fire_alone(struct burst *b, struct rec *recs, const uint32_t *succ, uint32_t nr,
	   const int chain)
{
	uint32_t next = NO_TASK, ready[FIRE_SOME], nr_ready, i;
	struct rec *m;

	while (nr) {
		nr_ready = 0;
		for (i = 0; i < FIRE_SOME && i < nr; i++) {
			ready[nr_ready] = succ[i];
			nr_ready += rec_arrive_counted(&recs[succ[i]]);
		}
		succ += i;
		nr -= i;
		for (i = 0; i < nr_ready; i++) {
			m = &recs[ready[i]];
			if (chain & CHAIN_QUICK)
				brief_expect(&b->f->values, ready[i], m->arg);
			next = arrived(b, m, ready[i], rec_is_dead(m), next);
		}
	}
	return next;
}

/* Live arrivals at all successors of r. Returns the one to run next. */
static inline __attribute__((always_inline)) uint32_t
fire(struct burst *b, struct rec *recs, const struct rec *r, const int chain)
{
	uint32_t next = NO_TASK, nr, i;
	const uint32_t *succ = graph_succ(b->graph, r, &nr);
	enum arrival a;
	struct rec *m;

	if (chain & CHAIN_ALONE && nr > 2)
		return fire_alone(b, recs, succ, nr, chain);
	for (i = 0; i < nr; i++) {
		m = &recs[succ[i]];
		if (m->nr_in == 1) {
			next = take_or_push(b, m, succ[i], next);
			continue;
		}
		a = chain & CHAIN_ALONE ? rec_arrive_alone(m) : rec_arrive(m);
		if (a != ARRIVAL_EARLY)
			next = arrived(b, m, succ[i], a == ARRIVAL_DEAD, next);
	}
	return next;
}

#endif
