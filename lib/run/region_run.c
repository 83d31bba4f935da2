/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/region_run.h"

#include "graph/port.h"
#include "run/chain.h"
#include "run/control.h"
#include "run/control_loop.h"
#include "run/port_run.h"
#include "run/sources.h"

#include <errno.h>
#include <string.h>

/* ---- live tasks ---------------------------------------------------------- */

struct walk {
	struct burst *b;
	const struct region *r;
	struct region_run *run;
	uint64_t live; /* which words of bits are not 0 */
	uint32_t loop;
	uint32_t nr_ran; /* in this iteration */
	/* Not yet counted. */
	uint64_t nr_unchosen, nr_turns;
	bool goes; /* a BACK edge was taken */
};

static inline void set_live(struct walk *k, uint32_t p)
{
	k->run->bits[p / 64] |= 1ull << p % 64;
	k->live |= 1ull << p / 64;
}

/* The first of them, which is not live any more. */
static inline uint32_t take_first(struct walk *k)
{
	uint32_t w = (uint32_t)__builtin_ctzll(k->live);
	uint64_t bits = k->run->bits[w];

	k->run->bits[w] = bits & (bits - 1);
	if (!k->run->bits[w])
		k->live &= k->live - 1;
	return w * 64 + (uint32_t)__builtin_ctzll(bits);
}

static inline void begin_iteration(struct walk *k)
{
	const struct region *r = k->r;
	struct region_run *run = k->run;

	if (r->counts) {
		memcpy(run->waits, r->waits, r->nr * sizeof(*r->waits));
		memset(run->chosen, 0, r->nr_words * sizeof(*run->chosen));
	}
	k->nr_ran = 0;
	k->goes = false;
}

/* The target waits for several edges, and this is one. */
static inline void arrive_one(struct walk *k, uint32_t p)
{
	if (!--k->run->waits[p])
		set_live(k, p);
}

/* Of those that a choice takes the first one counts. */
static inline void choose_one(struct walk *k, uint32_t p)
{
	uint64_t *chosen = &k->run->chosen[p / 64], bit = 1ull << p % 64;

	if (*chosen & bit)
		return;
	*chosen |= bit;
	arrive_one(k, p);
}

static __attribute__((noinline)) void leave_loop(struct walk *k,
						 const struct region_task *t,
						 const struct region_edge *e)
{
	const struct rec *r = &k->b->recs[t->index];

	control_leave(k->b->f, k->b->graph->control->out + r->succ[0] + e->to);
}

static inline __attribute__((always_inline)) void
take_edge(struct walk *k, const struct region_task *t,
	  const struct region_edge *e)
{
	if (unlikely(e->how & REGION_PORT))
		port_tell(&k->b->f->port, k->r->ports.of[e - k->r->edge], true);
	switch (e->how & ~REGION_PORT) {
	case REGION_LIVE:
		set_live(k, e->to);
		break;
	case REGION_ALL:
		arrive_one(k, e->to);
		break;
	case REGION_ONE:
		choose_one(k, e->to);
		break;
	case REGION_BACK:
		k->goes = true;
		break;
	case REGION_EXIT:
		leave_loop(k, t, e);
		break;
	}
}

/* Edges i to end, all of which are taken. */
static inline void take_all(struct walk *k, const struct region_task *t,
			    uint32_t i, uint32_t end)
{
	for (; i < end; i++)
		take_edge(k, t, &k->r->edge[i]);
}

static inline void take_chosen(struct walk *k, const struct region_task *t,
			       int value)
{
	const uint32_t *at = k->r->at + t->first_at;
	const struct region_edge *e = k->r->edge;
	uint32_t i;

	if (likely(value < t->nr_dense)) {
		take_all(k, t, at[value], at[value + 1]);
		return;
	}
	for (i = t->first_branch; i < t->end; i++)
		if (control_takes(value, e[i].branch))
			take_edge(k, t, &e[i]);
}

/*
 * The task has run. Values that came round are its head's, which has had them;
 * from then on no edge has been taken but those that are told. A task that is
 * not chosen has left no value.
 */
static __attribute__((noinline)) void tell_ports(struct walk *k, uint32_t p)
{
	const struct region_ports *ports = &k->r->ports;
	struct frame *f = k->b->f;
	uint32_t i;

	for (i = 0; !p && i < ports->nr; i++)
		port_tell(&f->port, ports->live[i], false);
	if (ports->has_hooks)
		port_resolved(f, k->r->task[p].index, true);
}

/*
 * The task has returned value, and no other is live. Returns the one task that
 * it leads to, REGION_ROUND, or 0 where more is to be done.
 */
static inline uint32_t jump_from(struct walk *k, const struct region_task *t,
				 uint32_t p, int value)
{
	if (t->only || value >= t->nr_dense)
		return t->only;
	k->run->value[p] = value;
	return k->r->jump[t->first_at + (uint32_t)value];
}

/*
 * The task has returned value, which is a branch of it if it has some. Returns
 * the task that is live then, the first one; 0: none, for that is the head.
 */
static uint32_t take_edges(struct walk *k, const struct region_task *t,
			   uint32_t p, int value)
{
	if (unlikely(k->r->has_ports))
		tell_ports(k, p);
	take_all(k, t, t->first, t->first_branch);
	if (t->first_branch != t->end) {
		k->run->value[p] = value;
		take_chosen(k, t, value);
	}
	return k->live ? take_first(k) : 0;
}

/*
 * The task takes one edge at most, though others are live, or the edge is one
 * of several to its target. False: more is to be done.
 */
static __attribute__((noinline)) bool step_beside(struct walk *k,
						  const struct region_task *t,
						  uint32_t p, int value,
						  uint32_t *next)
{
	uint32_t jump = jump_from(k, t, p, value);

	if (jump == REGION_ROUND)
		k->goes = true;
	else if (jump)
		set_live(k, jump);
	else if (t->joins)
		arrive_one(k, t->joins);
	else
		return false;
	k->run->ran[k->nr_ran++] = (uint16_t)p;
	*next = k->live ? take_first(k) : 0;
	return true;
}

/* ---- the ways out -------------------------------------------------------- */

/* The run may be over afterwards. */
static void count_walk(struct walk *k)
{
	struct counters *c = k->b->w->executor->counters;

	counter_add(c, COUNTER_ITERATIONS, k->nr_turns);
	k->nr_turns = 0;
	if (!k->nr_unchosen)
		return;
	counter_add(c, ending_rows[ENDED_UNCHOSEN].counter, k->nr_unchosen);
	a_add(&k->b->f->tally.nr[ENDED_UNCHOSEN], k->nr_unchosen, relaxed);
	k->nr_unchosen = 0;
}

/*
 * Edges of the task at q, which has run or was not chosen, to those behind p.
 * Returns how many of them close the loop.
 */
static uint32_t tell_behind(struct walk *k, uint32_t q, bool has_run,
			    uint32_t p)
{
	const struct control *c = k->b->graph->control;
	uint32_t index = k->r->task[q].index, nr, i, nr_closed = 0;
	int verdict = has_run ? k->run->value[q] : VERDICT_UNCHOSEN;
	const struct rec *r = &k->b->recs[index];
	const struct control_edge *e;
	const uint32_t *succ;
	bool is_taken;

	if (r->nr_succ != REC_CONTROL) {
		succ = graph_succ(k->b->graph, r, &nr);
		for (i = 0; i < nr; i++)
			if (c->position[succ[i]] > p)
				control_arrive(k->b->w, k->b->f, succ[i], 0,
					       verdict);
		return 0;
	}
	for (e = c->out + r->succ[0], i = 0; i < r->succ[1]; i++, e++) {
		is_taken = verdict >= 0 && control_takes(verdict, e->branch);
		if (e->flags & CONTROL_EXIT)
			continue;
		if (e->flags & CONTROL_BACK) {
			control_tell_back(k->b->f, e, is_taken);
			nr_closed++;
		} else if (c->position[e->to] > p) {
			control_arrive(k->b->w, k->b->f, e->to, e->flags,
				       control_passes(e->flags, verdict,
						      is_taken));
		}
	}
	return nr_closed;
}

/*
 * The task at p is ready, or in its body: all before it are resolved, and their
 * own counters are as they were. Counters of those behind it are told what is
 * resolved. Others may have these tasks from here on.
 */
static void leave_at(struct walk *k, uint32_t p)
{
	uint32_t q, nr_closed = 0, i = 0;
	bool is_over, has_run;

	/* They have run in the order of their positions. */
	for (q = 0; q < p; q++) {
		has_run = i < k->nr_ran && k->run->ran[i] == q;
		i += has_run;
		nr_closed += tell_behind(k, q, has_run, p);
	}
	for (q = 0; q < k->r->nr_words; q++)
		k->run->bits[q] = 0;
	k->live = 0;
	k->nr_unchosen += p - k->nr_ran;
	count_walk(k);
	/* The task at p leads to a latch. */
	is_over = nr_closed && control_close(k->b->f, k->loop, nr_closed);
	check(!is_over);
	(void)is_over;
}

/* Tasks are live side by side: others could have them. */
static bool must_share(struct walk *k)
{
	if (worker_is_alone(k->b->w))
		return false;
	a_store(&((struct region *)(uintptr_t)k->r)->is_wide, 1, relaxed);
	return true;
}

/* A body has returned more than a value. */
static enum region_end end_body(struct walk *k, uint32_t p, int rc)
{
	leave_at(k, p);
	return burst_after(k->b, k->r->task[p].index, rc) ? REGION_RAN
							  : REGION_AWAY;
}

/* The loop goes round again, and nothing else is due. */
static inline bool goes_round(struct walk *k)
{
	const struct loop_run *l = &k->b->f->control.loops[k->loop];

	return k->goes && likely(!a_load(&l->leaves, relaxed)) &&
	       likely(!frame_cancelled(k->b->f));
}

/* The iteration is over: the general way from here. */
static enum region_end end_loop(struct walk *k, uint32_t *index)
{
	struct burst *b = k->b;
	uint32_t nr = 0, head;

	count_walk(k);
	a_store(&b->f->control.loops[k->loop].goes_back, k->goes, relaxed);
	head = control_end_loop(b->w, b->f, k->loop, &nr);
	b->nr_resolved += nr;
	*index = head == NO_TASK
			 ? NO_TASK
			 : chain_take_or_push(b, &b->recs[head], head, NO_TASK);
	return REGION_NEXT;
}

/* All else has its turn. */
static enum region_end give_turn(struct walk *k)
{
	count_walk(k);
	resolve_push(k->b->w, k->b->f, k->r->task[0].index, 0);
	return REGION_TURN;
}

/* ---- the way through ----------------------------------------------------- */

/* A body may return what is no branch of the task. */
static inline int check_branch(struct walk *k, const struct region_task *t,
			       int value)
{
	if (value < t->nr_dense || t->first_branch == t->end ||
	    !control_check(k->b->f, t->index, value))
		return value;
	k->b->ctx.has_why = true;
	return -ERANGE;
}

/* The body of the task at p has returned value, and more is to be done than to
 * go on with another. *next: the position to go on at; 0: there is none. */
static __attribute__((noinline)) enum region_end
after_body(struct walk *k, uint32_t p, int *value, uint32_t *next)
{
	const struct region_task *t = &k->r->task[p];
	int rc = check_branch(k, t, *value);

	*value = rc;
	*next = 0;
	if (unlikely((rc | k->b->ctx.after) < 0))
		return end_body(k, p, rc);
	k->run->ran[k->nr_ran++] = (uint16_t)p;
	*next = take_edges(k, t, p, rc);
	return REGION_NEXT;
}

/* Before a body of the kind. False: the task is left to others. */
static inline bool may_run(struct walk *k, struct burst *b,
			   struct lkdf_kind *kind, enum before *how)
{
	*how = chain_look(b, kind);
	return likely(*how != BEFORE_LOOK) &&
	       (likely(!k->live) || !must_share(k));
}

/* The worker goes through an iteration; REGION_NEXT: it is over. *at: the task
 * that it is left at. */
static inline enum region_end go_through(struct walk *k, uint32_t *at,
					 int *value)
{
	const struct region_task *task = k->r->task, *t;
	struct burst *b = k->b;
	struct rec *recs = b->recs, *r;
	struct lkdf_ctx *c = &b->ctx;
	uint32_t p = 0, next, slow_next;
	uint16_t *ran = k->run->ran;
	enum region_end end;
	bool is_transient;
	enum before how;
	int rc;

	do {
		t = &task[p];
		r = &recs[t->index];
		c->index = t->index;
		if (unlikely(!may_run(k, b, r->kind, &how))) {
			*at = t->index;
			leave_at(k, p);
			return REGION_READY;
		}
		rc = chain_call(b, r, how, 0, &is_transient);
		next = 0;
		if (likely((rc | c->after) >= 0) && likely(!k->live))
			next = jump_from(k, t, p, rc);
		if (likely(next)) {
			ran[k->nr_ran++] = (uint16_t)p;
			p = next;
			continue;
		}
		if (unlikely((rc | c->after) < 0) ||
		    !step_beside(k, t, p, rc, &slow_next)) {
			*at = t->index;
			*value = rc;
			end = after_body(k, p, value, &slow_next);
			if (unlikely(end != REGION_NEXT))
				return end;
		}
		p = slow_next;
		/* Neither 0 nor REGION_ROUND. */
	} while (p - 1 < REGION_ROUND - 1);
	k->goes |= p == REGION_ROUND;
	return REGION_NEXT;
}

enum region_end region_run(struct burst *b, const struct region *r,
			   uint32_t *index, uint32_t *nr_run, int *value)
{
	uint32_t l = b->graph->control->loop_of[*index];
	struct walk k = {
		.b = b,
		.r = r,
		.run = &b->f->control.regions[l],
		.loop = l,
	};
	enum region_end end;

	for (;;) {
		begin_iteration(&k);
		end = go_through(&k, index, value);
		*nr_run += k.nr_ran;
		if (unlikely(end != REGION_NEXT))
			return end;
		k.nr_unchosen += r->nr - k.nr_ran;
		if (unlikely(!goes_round(&k)))
			return end_loop(&k, index);
		k.nr_turns++;
		if (b->graph->control->loops[l].is_judged)
			sources_turn(b->w, b->f);
		if (unlikely(*nr_run >= CONTROL_TURNS))
			return give_turn(&k);
	}
}
