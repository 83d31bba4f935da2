/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The order of uses: which use of a data may start next. A var is a queue of
 * uses in the order of submission; the uses at its head that go together are
 * its group, and may go now. A task takes its place in all its vars at once,
 * under their locks, which are taken in the order of their addresses: so the
 * union of all orders has no cycle, however many threads submit.
 *
 * A group is counted in active. While nobody waits behind it there is one OPEN
 * more, so that a use comes and goes with one locked operation each. The use
 * that makes active 0 lets the next group in: the first to wait takes OPEN
 * away.
 *
 *	active   OPEN              nobody uses it, nobody waits
 *		 OPEN + n          n use it, nobody waits
 *		 n                 n use it, some wait
 *		 0                 the next group is being let in
 *
 * Parts: each part is a var of its own, and all uses of parts are one group
 * (TURN_PARTS) of the whole. A task that uses a part so is in two queues, both
 * under one lock. The view that a task's children have of its data is a domain
 * of their own below its use.
 */
#ifndef DATA_VAR_H
#define DATA_VAR_H

#include "base/atomic.h"
#include "base/lock.h"
#include "base/util.h"

struct claim;
struct domain;
struct executor;
struct failure;
struct lkdf;
struct lkdf_data;
struct reduction;
struct use;

#define VAR_OPEN (1u << 31)

/* How uses of a var go together: equal ones do, but WRITE. */
enum turn {
	TURN_WRITE, /* alone */
	TURN_READ,
	TURN_COMMUTE, /* one at a time, by the token */
	TURN_REDUCE,
	TURN_PARTS, /* of a whole: its parts are used */
};

#define NR_TURNS (TURN_PARTS + 1)

/* Whose next group waits for it, and counts it in active. */
enum combine_for {
	COMBINE_OWN = 1,
	COMBINE_WHOLE = 2,
};

/* The first 32 bytes are all that a usual use looks at. */
struct var {
	/* Any thread. */
	_Atomic(uint32_t) active;

	/* Under the domain's lock. */
	uint8_t turn; /* of the group */
	uint8_t combining; /* copies, for whom: enum combine_for */
	bool has_token; /* a COMMUTE use goes */
	bool is_written; /* a use that is already queued writes it */

	/* The use that goes alone; read by those that go together. */
	bool has_value;

	/*
	 * Set when made; then under the domain's lock, before anybody sees what
	 * is not plain: it is a whole data, without parts, and neither its
	 * flags nor a function for LKDF_REDUCE ask for more than to wait.
	 */
	_Atomic(bool) is_plain;

	/* As has_value. */
	_Atomic(int32_t) error; /* the last writer failed, or did not run */

	/* Under the domain's lock; anybody looks who is first. */
	_Atomic(struct use *) first; /* of those that wait */
	struct use *last;
	struct use *commuters; /* those that wait for the token only */

	/* As error. */
	_Atomic(struct failure *) failure; /* of error; NULL: not known */
	_Atomic(int32_t) node; /* of a part's own pages; -1: unknown */
	_Atomic(uint32_t) foreign; /* any thread; a guess, see move.h */

	/* Set when made, constant afterwards. */
	struct domain *domain;

	/* Under the domain's lock, at the first such use. */
	struct reduction *reduction; /* that of the data's own var */

	/* Used by a thread that has let nobody in yet. */
	struct var *next_combine;

	/* Option check: tokens, by turn; NULL: none yet. */
	uint64_t *check;
};

/*
 * A data and its parts, as tasks of one parent see them. The submitter, the
 * runner and the next user are often on three CPUs: all that a usual use looks
 * at is in the first line, up to the first half of the whole's var.
 */
struct domain {
	struct lock lock;

	/* Set when made, constant afterwards. */
	uint32_t nr_parts; /* 0: not split, or not seen to be */

	/* Any thread. */
	_Atomic(uint64_t) version; /* successful writes */

	/* Set when made, constant afterwards. */
	struct lkdf *rt;

	/*
	 * The bytes; NULL: not there, or not told (those below a use). Set
	 * under lock, then constant but for whoever goes alone.
	 */
	_Atomic(void *) at;

	/* Under lock, then as struct var says. */
	struct var whole;
	struct var *parts;

	/* Any thread. */
	/* Below: children's, 1 the parent, 1 who opens it. */
	_Atomic(uint32_t) nr_uses;
	_Atomic(uint32_t) nr_poisoned; /* vars with an error */

	/* Under lock. */
	bool has_reductions; /* some var has */

	/* Set when made, constant afterwards. */
	struct lkdf_data *data;
	struct use *above; /* the parent's; NULL: tasks without a parent */
	void *bytes; /* of this run of a graph; NULL: those of the data */
};

_Static_assert(offsetof(struct domain, whole) ==
		       offsetof(struct var, commuters),
	       "a line ends before the var's second half");

static inline bool var_is_plain(const struct var *v)
{
	return likely(a_load(&v->is_plain, relaxed));
}

static inline struct use *var_first(const struct var *v)
{
	return a_load(&v->first, relaxed);
}

enum use_flag {
	USE_READS = 1, /* what was there before */
	USE_WRITES = 2,
	USE_WEAK = 4, /* the task does not wait for it */
	USE_HIDDEN = 8, /* the whole's, for parts */
	USE_UNSEEN = 16, /* weak, of a graph's task, which waits for it */
	USE_LATER = 32, /* of a run: bytes that are away come for its tasks */
};

/*
 * A cache line of its claim: the thread that lets it in is another thread, and
 * often long after. Indices are of the claim's uses.
 */
struct use {
	/* Set before it enters, constant afterwards. */
	struct var *var; /* NULL: stands_for is in the queue instead */
	struct domain *domain;
	struct use *after; /* the next of the claim in the order of locks */

	/* Under the domain's lock. */
	struct use *next; /* in the var's queue, or that of the token */
	struct domain *below; /* what children see */

	/* Set before it enters, constant afterwards. */
	uint32_t part;

	/* Any thread. */
	_Atomic(uint32_t) nr_parts; /* hidden: uses of parts, not left */

	/* Set before it enters, constant afterwards. */
	uint16_t stands_for; /* the use that stands for this one, or itself */
	uint16_t whole; /* the hidden one of a part; 0: of a whole */
	uint8_t turn;
	uint8_t mode; /* enum lkdf_mode, as asked for */

	/* The claim's holder, before its body: see data/replica.h. */
	uint16_t copy; /* node + 1 of the copy that it reads; 0: the bytes */

	/* Constant until the use is granted, then the claim's holder. */
	uint8_t flags;

	/* The claim's holder. */
	bool is_given; /* on */
	bool is_untouched; /* it turned out not to write */

	/* Under the domain's lock. */
	bool is_granted;
	bool has_left; /* before it was granted: a weak one */
	bool fails; /* leaves later, with the claim's error */
};

_Static_assert(sizeof(struct use) == 64, "one cache line");

/* Uses that a change let in; delivered when no lock is held. */
struct news {
	struct use *granted; /* not weak: their claims have one less to wait */
	struct claim *ready;
	struct use *opened; /* weak ones: their children may go */
	struct use *early; /* weak ones that had left before */
	struct var *combine; /* copies to be combined first */
};

void var_init(struct var *v, struct domain *d);
void domain_init(struct domain *d, struct lkdf *rt, struct lkdf_data *data,
		 struct use *above);

/* The var of a part in the domain; NULL: there is none. */
struct var *domain_var(struct domain *d, uint32_t part);

/* Under the domain's lock. True: it may go at once. */
bool var_enter(struct var *v, struct use *u, struct news *n);

/* Under the domain's lock: the group has gone, and somebody waits. */
void var_advance(struct var *v, struct news *n);

/*
 * Under the domain's lock: has somebody taken his place who writes it, or all
 * of its parts?
 */
bool var_is_written(struct domain *d, const struct var *v);

/*
 * The domain below a use, made now if need be; only the task's own thread.
 * nr_parts: of the data, where the use is of the whole. NULL: no memory.
 */
struct domain *use_below(struct use *u, size_t nr_parts);

/* Has somebody of this domain written it, or all of its parts? */
bool var_has_value(const struct domain *d, const struct var *v);

/*
 * Why the bytes of a var, or of a part of it, are not what they should be; 0:
 * they are. The asker has been granted a use of it.
 */
int var_error(const struct domain *d, const struct var *v,
	      struct failure **failure);

/* The first error stays until it is healed. failure is borrowed. */
void var_fail(struct var *v, int error, struct failure *failure);

/*
 * Publishes what the use has written, or with an error should have: before it
 * leaves. failure is borrowed.
 */
void use_publish(struct use *u, int error, struct failure *failure);

/* Combines what children left, now: none of them uses it any more. */
void domain_combine(struct domain *d);

/*
 * It belongs to the layer above. Combines the copies, then calls
 * var_combined(); a reduction that is not combined is forgotten.
 */
void var_combine(struct executor *ex, struct var *v);
void var_combine_now(struct var *v);
bool reduction_is_touched(const struct reduction *r);
void reduction_forget(struct reduction *r);

/* A reference to it is kept; both may be NULL. */
struct failure *var_failure_get(struct failure *f);
void var_failure_put(struct lkdf *rt, struct failure *f);

#endif
