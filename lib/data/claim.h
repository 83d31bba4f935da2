/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All uses of one task, run or thread: they take their places at once, under
 * the locks of all their vars, which are taken in the order of addresses. So
 * the union of all orders has no cycle, however many threads submit.
 */
#ifndef DATA_CLAIM_H
#define DATA_CLAIM_H

#include "data/var.h"

struct lkdf;

struct claim_ops {
	/* All it waited for is there. ex: of this thread, or NULL. */
	void (*ready)(struct executor *ex, struct claim *c);
	/* The last use has left: nobody looks at it any more. */
	void (*free)(struct claim *c);
};

struct claim {
	/* Any thread. */
	_Atomic(uint32_t) pending; /* grants to come */
	/* Uses that have not left, not hidden ones, 1 the holder. */
	_Atomic(uint32_t) nr_in;

	/* Set before it enters, constant afterwards. */
	uint16_t nr; /* as the user numbers them; hidden ones follow */
	uint16_t nr_all;
	uint16_t nr_queued; /* those that take a place */
	bool has_commute; /* some use, as asked for */
	bool has_weak;
	bool is_expected; /* what it reads: need not be looked at */

	/* The thread that makes it ready, then the holder: 1 + the use that
	 * was let in last, or whose token came last; 0, as it is created: it
	 * did not wait. */
	uint16_t last;

	/* The holder when it leaves, before has_left of its uses. */
	int error;

	/* Set before it enters, constant afterwards. */
	void *holder; /* of the layer above: the task */
	struct lkdf *rt; /* as above; may be NULL */
	struct use *first; /* in the order of locks */
	const struct claim_ops *ops;

	union {
		/* The thread that has made it ready, until it is told. */
		struct claim *next;

		/* As error: one reference; NULL: there is none, or unknown. */
		struct failure *failure;
	};

	struct use use[];
};

_Static_assert(sizeof(struct claim) == 64, "one cache line");

/*
 * Entered: places in queues are some of the uses, the user's among them; a
 * claim with uses has somebody to tell.
 */
static inline bool claim_sane(const struct claim *c)
{
	return c->nr <= c->nr_all && c->nr_queued <= c->nr_all &&
	       (!c->nr_queued || c->first) && c->ops && c->ops->ready &&
	       c->ops->free;
}

/* For a use that stands for itself. */
static inline struct claim *use_claim(struct use *u)
{
	return container_of(u - u->stands_for, struct claim, use[0]);
}

/* The hidden one of the whole; NULL: it is of a whole itself. */
static inline struct use *use_whole(struct use *u)
{
	return likely(!u->whole) ? NULL : u + (u->whole - u->stands_for);
}

/*
 * Orders the uses, merges those of the same thing, and adds the hidden ones:
 * there is room for nr more. Each use has domain, part, mode and flags.
 * -EINVAL: REDUCE together with another mode.
 */
int claim_prepare(struct claim *c);

/*
 * Takes its place everywhere at once. 1: it may go; 0: ready() will be called;
 * -ENODATA: *why reads what nobody has written, and nothing has changed.
 */
int claim_enter(struct executor *ex, struct claim *c, struct use **why);

/*
 * Lets go of one use, of all. failure of error may be NULL, and is borrowed.
 * After the last the claim is gone.
 */
void use_leave(struct executor *ex, struct use *u, int error,
	       struct failure *failure);
void claim_leave(struct executor *ex, struct claim *c, int error,
		 struct failure *failure);

/* The combining that var_combine() of the layer above began is done. */
void var_combined(struct executor *ex, struct var *v);

/*
 * Its tokens, all or none. False: it is the business of whoever gives back the
 * one that was taken.
 */
bool claim_take_tokens(struct claim *c, struct news *n);

/* Takes a claim that is in no queue. False: ready() will be called. */
bool claim_take(struct executor *ex, struct claim *c);

/* Back to whoever waits for it. */
void claim_give_token(struct executor *ex, struct var *v);

/* Takes one token, now or not at all; gives one back. */
bool token_take(struct var *v);
void token_give(struct var *v, struct news *n);

/*
 * The use that waits behind this one will be let in soon, and first of all its
 * claim is looked at, which lies before it. A guess: it may be gone.
 */
static inline void use_expect_next(const struct use *u)
{
	const struct use *next = var_first(u->var);

	if (!next)
		return;
	__builtin_prefetch(next, 1);
	__builtin_prefetch((const char *)next - CACHE_LINE, 1);
	__builtin_prefetch((const char *)next - 2 * CACHE_LINE, 1);
}

/* It is used soon: all of it, if it has no more than CLAIM_FEW uses. */
#define CLAIM_FEW 2

static inline void claim_expect(const struct claim *c)
{
	size_t i;

	for (i = 0; i < sizeof(*c) + CLAIM_FEW * sizeof(c->use[0]);
	     i += CACHE_LINE)
		__builtin_prefetch((const char *)c + i, 1);
}

/* Fetches the data that the claim uses. */
static inline void claim_expect_data(const struct claim *c)
{
	unsigned i;

	for (i = 0; i < c->nr && i < CLAIM_FEW; i++)
		__builtin_prefetch(c->use[i].domain, 1);
}

static inline bool use_takes_token(const struct use *u)
{
	return u->turn == TURN_COMMUTE && !(u->flags & USE_WEAK);
}

static inline void news_ready(struct news *n, struct claim *c)
{
	c->next = n->ready;
	n->ready = c;
}

#endif
