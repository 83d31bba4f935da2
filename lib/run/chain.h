/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Steps that the hot loops share: before a body, the body, and where a
 * successor goes that is ready. All of it is inline where it is in the common
 * case.
 */
#ifndef RUN_CHAIN_H
#define RUN_CHAIN_H

#include "core/item.h"
#include "run/burst.h"
#include "run/resolve.h"
#include "run/transient_call.h"
#include "sched/tick.h"
#include "task/kind.h"
#include "task/noted.h"

/* Answers of chain_look() and chain_before(). */
enum before {
	BEFORE_RUN,
	BEFORE_NOTE, /* run it and note its kind meanwhile */
	BEFORE_COUNT, /* and count it by kind */
	BEFORE_TIME, /* run it and say how long it took */
	BEFORE_TAKEN, /* it is somebody else's now, or resolved */
	BEFORE_LOOK, /* not known yet */
};

/* Special properties of a run, constant where run_chain() is inlined. */
enum {
	CHAIN_TOKENS = 1, /* the graph has some */
	CHAIN_TRANSIENT = 2, /* some tasks are, see struct transient_task */
	CHAIN_CONTROL = 4, /* it has branches; all others may be, too */
};

/* Everything that is not the plain case; once per task at most. */
enum before chain_before(struct burst *b, uint32_t index);

/*
 * Pushes a successor that has its own priority class or node. Returns the task
 * to run next, as chain_take_or_push() does.
 */
uint32_t chain_push_special(struct burst *b, const struct rec *m,
			    uint32_t index, uint32_t next);

/*
 * A serial stage of a wave has run, somebody idle asks for work, and the wave
 * goes on with next. If the stage's next call is ready, too, this worker goes
 * on with that, and next is for others. Returns its item, or 0: it is not.
 */
uint64_t chain_keep_stage(struct burst *b, uint32_t stage, uint32_t next);

/*
 * Before a task's body. Somebody who asks in vain is put off until there is
 * something to share. LOOK: chain_before() says how.
 */
static inline __attribute__((always_inline)) enum before
chain_look(struct burst *b, struct lkdf_kind *k)
{
	uint32_t attn = a_load(&b->w->attn, relaxed);
	uint32_t slow = a_load(&k->slow, relaxed);
	uint32_t rest;

	if (likely(!(attn | slow | b->hindered)))
		return BEFORE_RUN;
	if (likely((attn | slow | b->hindered) == SLOW_NOTED))
		return BEFORE_NOTE;
	if (unlikely(attn & ATTN_CLOCK))
		attn = worker_look(b->w, !(slow & ~SLOW_BUT_SHORT));
	rest = (slow & ~SLOW_NOTES) | b->hindered;
	if (attn == ATTN_STEAL && !rest && !worker_has_private(b->w)) {
		worker_defer_request(b->w);
		attn = 0;
	}
	if (attn | rest)
		return BEFORE_LOOK;
	if (likely(!slow))
		return BEFORE_RUN;
	return slow & SLOW_COUNTED ? BEFORE_COUNT : BEFORE_NOTE;
}

/* A successor is ready: the first NORMAL one is next, others are pushed. */
static inline __attribute__((always_inline)) uint32_t
chain_take_or_push(struct burst *b, const struct rec *m, uint32_t index,
		   uint32_t next)
{
	if (unlikely((m->flags & (REC_CLASS | REC_PLACED)) != CLASS_NORMAL))
		return chain_push_special(b, m, index, next);
	if (next == NO_TASK)
		return index;
	if (unlikely(!worker_push(b->w, CLASS_NORMAL,
				  item_make(b->f, index, 0))))
		resolve_overflow(b->w, b->f, index, 0);
	return next;
}

/* The body. *is_transient: transient_called() comes after it. */
static inline __attribute__((always_inline)) int
chain_call(struct burst *b, const struct rec *r, enum before how,
	   const int chain, bool *is_transient)
{
	struct lkdf_kind *k = r->kind;
	struct lkdf_ctx *c = &b->ctx;
	const struct transient_task *t;

	*is_transient = false;
	if (unlikely(how == BEFORE_NOTE))
		return noted_call(k, c, k->fn, r->arg);
	if (unlikely(how != BEFORE_RUN))
		return how == BEFORE_COUNT
			       ? noted_count(k, c, k->fn, r->arg)
			       : kind_call_timed(k, c, k->fn, r->arg);
	if (chain & CHAIN_TRANSIENT &&
	    (!(chain & CHAIN_CONTROL) || b->transient)) {
		t = &b->transient[c->index];
		*is_transient = likely(t->nr);
		if (*is_transient)
			return transient_call(c, t, k->inner[AROUND_BYTES],
					      r->arg);
	}
	return body_call(k->fn, c, r->arg);
}

/* A line on, and a chain of tasks takes a third longer. */
#define HOT_LOOP __attribute__((noinline, aligned(CACHE_LINE)))

#endif
