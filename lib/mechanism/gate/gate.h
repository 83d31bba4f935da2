/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A gate: at most cap workers run items of a set. Kinds whose bodies meet in
 * one lock are such a set (task/gate.h): a worker more makes all of them slower
 * there. A worker that meets such an item while all tokens are given puts it
 * aside, into a ring of the gate, and goes on with other work; whoever has a
 * token takes what lies aside one by one when it has nothing else.
 *
 *	worker w meets an item of g
 *
 *	w has g's token ----------------------------> runs it
 *	running < cap ---> w has a token from now on -> runs it
 *	else, the item may wait, room in the ring ---> lies aside
 *	else ----------------------------------------> runs it: nr_over[why]
 *
 * A token belongs to a worker, and a worker has one at most. The worker keeps
 * the token over short bodies of other kinds: given up at each of them, six to
 * ten items were put aside for each that ran, and one worker was as slow as the
 * convoy. It gives the token up
 *
 *	before a body that may be long and is not of the set,
 *	before an item of another gate,
 *	before it rests in a join, and when it has helped in a wait (help.h),
 *	when it leaves the run loop, so always before it looks for work as an
 *	idle worker, sleeps or stands by for a quota: then the ring is empty,
 *	when it has run nothing of the set between two looks at the inbox.
 *
 * Nothing is lost aside. An item is put aside while all tokens are given, or
 * the free one is kept for another node: then who puts it there tells others.
 * That is decided under the gate's lock, as is giving one up; so a worker
 * that gives its token up sees what was put aside before, and what comes later
 * finds the gate open. An open gate, with items aside and a token free, is a
 * place where work lies as others are: the row below. The thread that opens a
 * gate tells sleepers, as after a push:
 *
 *	opener                           sleeper
 *	(A) state says open              (C) says that it sleeps
 *	(B) looks at the park words      (D) looks at all states
 *
 * All four are seq_cst, see park.h. A busy worker looks whenever it looks at
 * its inbox.
 *
 * Each node has rings of its own: by class, one of planned items, and one of
 * items that are bound to it. An item goes to the rings of the node that it has
 * its place on, else to those of the worker that puts it aside. A worker takes
 * from its own node first. From other nodes it takes no bound item, and a
 * planned one where far.h allows it. So an open gate may have nothing for a
 * worker, which sleeps then: the opener tells each node with bound items.
 *
 * Tokens travel as in a cohort lock. A token stays on a node for GATE_TURN
 * bodies or GATE_TURN_NS, and longer while no other node has items. Then its
 * worker gives it up, and it is kept for a node that has some: the one that has
 * the page of the lock's word, where that is known, else the one with most.
 * Until a worker of that node comes, or for GATE_TURN_NS, others do not get it.
 *
 * A join looks for what lies below it, in deques first, then here
 * (task/descend.c), and runs an item with a token only. Where there is none it
 * rests, and comes back after a short nap, so nobody calls it. Joins that wait
 * for tokens wait for no join: a worker that rests has no token.
 *
 * A token is not enough where the item below a join is bound to another node
 * and all workers there are in joins, too. Without more, two of them would wait
 * for each other for ever, and the token would be free:
 *
 *	join of worker 0, node 0  --child bound to node 1-->  worker 1 alone
 *	join of worker 1, node 1  --child bound to node 0-->  worker 0 alone
 *
 * So a join that finds nothing below it takes an item that is bound to its own
 * node, last of all, whoever waits for that, as it does from deques
 * (run_bound() in task/descend.c, which also says which joins may not). No
 * circle is left. Each worker has a body on top of its stack. Suppose all these
 * are in joins, and take the one that was begun last. Tasks below it that have
 * begun were begun still later, so no body on a stack is one of them, and some
 * task below it has not begun. This worker takes that task, or, where it is
 * bound to another node, the worker there does. Both need a token, and a worker
 * that has one runs a body, or gives the token up before it rests.
 *
 * A token is taken back from a worker that cannot use it: one that the probe
 * has seen without a CPU, or asleep, for GATE_AWAY_NS; without the probe, or
 * where it sees no reason, once no holder has come by for GATE_PATIENCE_NS.
 * Workers that find items behind a shut gate look for that, now and then, and
 * nap no longer than GATE_NAP_MAX_NS. The body goes on, and its worker finds
 * out when it comes to the gate again: until then cap + 1 run.
 *
 * cap is a wish, for speed; nothing relies on it. A program that needs a limit
 * that holds has lkdf_limit_create().
 *
 *	state, ring, counts	any thread, under lock; anybody looks at state
 *	holder.gate, .since*	that worker, and who takes the token back; both
 *				under the lock of that gate
 *	holder.over		that worker; who tells of gates reads
 *	holder.nr_gated		that worker; who looks for idle holders reads
 *	holder.seen		that worker
 */
#ifndef MECHANISM_GATE_H
#define MECHANISM_GATE_H

#include "base/lock.h"
#include "mechanism/rows.h"
#include "sched/sched.h"

struct gate;

/* For each worker. */
struct gate_holder {
	_Atomic(struct gate *) gate; /* whose token it has; or NULL */
	/* Whose body it runs, or has just run, without a token; or NULL. */
	_Atomic(struct gate *) over;
	_Atomic(uint32_t) nr_gated; /* bodies that it has begun there */
	uint32_t since; /* of those, when it got the token; under the lock */
	uint64_t since_ticks; /* and the time then; the same */
	uint32_t seen; /* of those, when it looked last */
	int64_t nap_ns;
};

/* For each scheduler. */
struct gate_sched {
	/* Added to by any thread; NULL: none so far. */
	_Atomic(struct gate *) gates;
};

extern const struct mechanism gate_mechanism;

static inline struct gate_holder *gate_of(const struct worker *w)
{
	return w->data[SLOT_GATE];
}

static inline struct gate_sched *gate_in(const struct sched *s)
{
	return s->data[SLOT_GATE];
}

/* Why a body may not wait aside; FULL where it might. */
enum gate_pass {
	GATE_PASS_FULL, /* the ring is full, or there is no memory */
	GATE_PASS_PART, /* it is bound to a part of a node's workers */
	GATE_PASS_URGENT,
	GATE_PASS_DEADLINE,
	GATE_PASS_CANCELLED, /* it is skipped, or is ALWAYS */
	NR_GATE_PASSES,
};

/* A ring begins with room for so many items, and grows up to most. */
#define GATE_ROOM 64u
#define GATE_ROOM_MOST 65536u

/* So many bodies, or for so long, while other nodes have items. */
#define GATE_TURN 64
#define GATE_TURN_NS 1000000

/* A token is taken back from who has had no CPU for so long. */
#define GATE_AWAY_NS 50000

/* Likewise where nobody with a token has come by. */
#define GATE_PATIENCE_NS 20000000

/* Between two looks whether tokens are to be taken back. */
#define GATE_LOOK_NS 50000

/* How long somebody sleeps while items lie behind a shut gate. */
#define GATE_NAP_MIN_NS 100000
#define GATE_NAP_MAX_NS 10000000

/* Rings of a node: by class, and two more. */
enum gate_ring_id {
	GATE_IDLE = CLASS_IDLE,
	GATE_NORMAL = CLASS_NORMAL,
	GATE_HIGH = CLASS_HIGH,
	GATE_PLANNED, /* far.h says which other nodes may take them */
	GATE_BOUND, /* to the node */
	NR_GATE_RINGS
};

struct gate_ring {
	_Atomic(uint32_t) nr; /* changed under lock; tell_others() looks */
	uint32_t first; /* counts on: the oldest item */
	uint32_t room; /* a power of two; 0: none yet */
	uint64_t *at;
};

struct gate_node {
	struct gate_ring ring[NR_GATE_RINGS];
};

/* An item that a worker meets, and where it may wait. */
struct gate_item {
	uint64_t item; /* 0: it may not, for this reason: */
	enum gate_pass why;
	int node; /* GATE_HERE: that of the worker */
	enum gate_ring_id ring;
};

#define GATE_HERE (-1)

struct gate {
	/* Changed under lock; anybody looks: see gate_make(). */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) state;

	/* Any thread, when it looked for holders to take a token from. */
	_Atomic(uint64_t) looked_at;

	/* Under lock. */
	_Alignas(CACHE_LINE) struct lock lock;
	uint32_t most_running; /* since somebody read it */
	uint64_t nr_aside, nr_revoked;
	uint64_t nr_held; /* bodies with tokens that were given back */
	uint64_t nr_over[NR_GATE_PASSES]; /* bodies without one */
	uint64_t seen, seen_at; /* nr_gated of all holders, and ticks */
	int home; /* the node of the lock's word; -1: not known */
	/* The node that the free token is kept for, or -1. Anybody looks. */
	_Atomic(int) kept_for;
	uint64_t kept_until; /* ticks */
	uint64_t nr_turns; /* times that a token was kept so */

	/* Set at create, constant afterwards. */
	struct sched *sched;
	struct gate_node *node; /* by node */
	uint32_t room_most;
	uint64_t look_ticks, patience_ticks, turn_ticks;
	uint32_t turn; /* GATE_TURN */
	struct gate *next;
};

/* Under the lock: bodies that the worker has begun since it has its token. */
static inline uint32_t gate_bodies_of(const struct gate *g,
				      const struct worker *w)
{
	lock_assert_held(&g->lock);
	return a_load(&gate_of(w)->nr_gated, relaxed) - gate_of(w)->since;
}

/* For gate_read(). */
struct gate_count {
	uint32_t cap, running; /* tokens: all, and given */
	uint32_t aside; /* items, now */
	uint32_t most_running; /* tokens given at once since the last read */
	uint32_t over; /* workers that run a body without a token */
	uint64_t nr_aside; /* items put aside so far */
	uint64_t nr_bodies; /* begun, with a token or without one */
	uint64_t nr_over; /* of those, without one */
	uint64_t nr_pass[NR_GATE_PASSES]; /* the same, by reason */
	uint64_t nr_revoked; /* tokens taken back */
	uint64_t nr_turns; /* tokens kept for another node */
};

/* cap : 16 | running : 16 | aside : 32 */
static inline uint64_t gate_make(uint32_t cap, uint32_t running, uint32_t aside)
{
	return (uint64_t)cap << 48 | (uint64_t)running << 32 | aside;
}

static inline uint32_t gate_cap(uint64_t state)
{
	return (uint32_t)(state >> 48);
}

static inline uint32_t gate_running(uint64_t state)
{
	return (uint32_t)(state >> 32) & 0xffff;
}

static inline uint32_t gate_aside(uint64_t state)
{
	return (uint32_t)state;
}

/* May somebody have an item? */
static inline bool gate_is_open(uint64_t state)
{
	return gate_aside(state) && gate_running(state) < gate_cap(state);
}

/*
 * Zeroed memory; nobody knows it yet. All workers may have tokens. False: there
 * is no memory, or this library was built without gates.
 */
bool gate_init(struct gate *g, struct sched *s);

/* From now on workers look at this gate, until the scheduler is freed. */
void gate_enlist(struct gate *g);

/* No worker is left: frees the memory of all gates. */
void gate_free_all(struct sched *s);

/* Any thread: so many tokens. ex: the thread's executor, or NULL. */
void gate_limit(struct gate *g, uint32_t cap);

/* Any thread: other kinds have it from now on, so counts begin anew. */
void gate_reset(struct gate *g);

/* Any thread: the node that has the page of the lock's word; -1: not known. */
void gate_set_home(struct gate *g, int node);

/*
 * Any thread: what the gate has counted, and its state now. most_running begins
 * anew with gate_read(), and with gate_peek() it does not.
 */
void gate_read(struct gate *g, struct gate_count *out);
void gate_peek(struct gate *g, struct gate_count *out);

/* The word of lkdf why for that reason. */
const char *gate_pass_text(enum gate_pass pass);

/* This worker only: it begins a body at its gate. */
void gate_begin_body(struct worker *w);

/* This worker only: it has met an item of the set. True: it runs it. */
bool gate_enter_slowly(struct gate *g, struct worker *w, struct gate_item i);

static inline bool gate_enter(struct gate *g, struct worker *w,
			      struct gate_item i)
{
	if (unlikely(a_load(&gate_of(w)->gate, relaxed) != g))
		return gate_enter_slowly(g, w, i);
	gate_begin_body(w);
	return true;
}

/* This worker only: it gives its token up, and others hear of what waits. */
void gate_give_up(struct worker *w);

/* Has the worker a token, or does it run a body that should have had one? */
static inline bool gate_is_at(const struct worker *w)
{
	const struct gate_holder *h = gate_of(w);

	return a_load(&h->gate, relaxed) || a_load(&h->over, relaxed);
}

static inline void gate_release(struct worker *w)
{
	if (unlikely(gate_is_at(w)))
		gate_give_up(w);
}

/*
 * This worker only, which has no other work: the next item that its gate has
 * for it. False: it has no token any more.
 */
bool gate_take_next(struct worker *w, uint64_t *item);

static inline bool gate_next(struct worker *w, uint64_t *item)
{
	return unlikely(a_load(&gate_of(w)->gate, relaxed) != NULL) &&
	       gate_take_next(w, item);
}

/*
 * The row of the table: an item of any gate that is open, with a token; and a
 * bit if there is any, after the worker has said that it sleeps.
 */
bool gate_take_any(struct worker *w, bool is_far, uint64_t *item);
unsigned gate_has_any(struct worker *w);

/* NULL: there is no gate. */
static inline struct gate *gate_first(const struct sched *s)
{
	/* [gate.list] pairs with itself. */
	return a_load(&gate_in(s)->gates, acquire);
}

static inline bool gate_is_any(const struct sched *s)
{
	return unlikely(gate_first(s) != NULL);
}

/* This worker only, whenever it looks at its inbox. True: an item. */
bool gate_look_around(struct worker *w, uint64_t *item);

static inline bool gate_look(struct worker *w, uint64_t *item)
{
	return gate_is_any(w->sched) && gate_look_around(w, item);
}

/* Before it sleeps, of what lies behind shut gates: see nap.h. */
int64_t gate_nap(struct worker *w);

/* Items that a join looks for. */
struct gate_wanted {
	/* NULL: all that are bound to the worker's node, and no others. */
	bool (*fits)(uint64_t item, const void *u);
	const void *u;
	uint32_t nr; /* of each ring; those before it lie behind others then */
};

/*
 * This worker only, in a join: such an item aside, with a token. False: there
 * is none, or it waits for a token.
 */
bool gate_dig(struct worker *w, const struct gate_wanted *d, uint64_t *item);

/* Do items lie aside that only workers of this node may run? */
bool gate_has_bound(const struct worker *w);

#endif
