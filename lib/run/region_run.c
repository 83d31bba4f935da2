/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/region_run.h"

#include "graph/port.h"
#include "run/chain.h"
#include "run/control.h"
#include "run/port_run.h"
#include "run/region_place.h"
#include "run/region_walk.h"
#include "run/solo_run.h"

#include <errno.h>
#include <string.h>

/* As CONTROL_TURNS, in a loop in a loop: the outer one is left with it. */
#define INNER_TURNS (16 * CONTROL_TURNS)

/* ---- live tasks ---------------------------------------------------------- */

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

static inline void begin_iteration(struct walk *k, const bool is_plain)
{
	const struct region *r = k->r;
	struct region_run *run = k->run;
	uint32_t i;

	if (r->counts) {
		memcpy(run->waits, r->waits, r->nr * sizeof(*r->waits));
		memset(run->chosen, 0, r->nr_words * sizeof(*run->chosen));
	}
	for (i = 0; !is_plain && i < r->begins.nr; i++)
		set_live(k, r->begins.at[i]);
	k->nr_ran = 0;
	k->goes = false;
}

/* The target waits for several edges, and this is one. */
static inline void arrive_one(struct walk *k, uint32_t p)
{
	if (!--k->run->waits[p])
		set_live(k, p);
}

/* The first branch that a choice takes counts. */
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
	case REGION_ORDER:
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

static inline void take_branch(struct walk *k, const struct region_task *t,
			       int branch)
{
	uint32_t place = region_place_of(k->r, t, branch);

	if (place != NO_PLACE)
		take_all(k, t, k->r->at[place], k->r->at[place + 1]);
}

/* The value is of LKDF_BRANCHES(), or LKDF_NO_BRANCH. */
static __attribute__((noinline)) void
take_several(struct walk *k, const struct region_task *t, int value)
{
	int branch;

	for (branch = 0; branch < CONTROL_SEVERAL; branch++)
		if (control_takes(value, (uint16_t)branch))
			take_branch(k, t, branch);
}

static inline void take_chosen(struct walk *k, const struct region_task *t,
			       int value)
{
	if (likely(value <= UINT16_MAX))
		take_branch(k, t, value);
	else
		take_several(k, t, value);
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

static __attribute__((noinline)) uint32_t
jump_sparse(struct walk *k, const struct region_task *t, uint32_t p, int value)
{
	uint32_t place = region_find_sparse(k->r, t, (uint32_t)value);

	if (place == NO_PLACE)
		return 0;
	k->run->value[p] = value;
	return k->r->jump[place];
}

/*
 * The task has returned value, and no other is live. Returns the one task that
 * it leads to, REGION_ROUND, or 0 where more is to be done.
 */
static inline uint32_t jump_from(struct walk *k, const struct region_task *t,
				 uint32_t p, int value)
{
	uint32_t at = (uint32_t)value - t->base;

	if (t->only)
		return t->only;
	if (unlikely(at >= t->nr_dense))
		return t->sparse ? jump_sparse(k, t, p, value) : 0;
	k->run->value[p] = value;
	return k->r->jump[t->first_at + at];
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

/* ---- the way through ----------------------------------------------------- */

/* The loop goes round again, and nothing else is due. */
static inline bool goes_round(struct walk *k)
{
	const struct loop_run *l = &k->b->f->control.loops[k->loop];

	return k->goes && likely(!a_load(&l->leaves, relaxed)) &&
	       likely(!k->has_folds) && likely(!frame_cancelled(k->b->f));
}

/* A body may return what is no branch of the task. */
static inline int check_branch(struct walk *k, const struct region_task *t,
			       int value)
{
	if (value < 0 || t->first_branch == t->end ||
	    region_place_of(k->r, t, value) != NO_PLACE ||
	    !control_check(k->b->f, t->index, value))
		return value;
	k->b->ctx.has_why = true;
	return -ERANGE;
}

/* The body of the task at p has returned value, and more is to be done than to
 * go on with another. *next: the position to go on at; 0: there is none. */
static __attribute__((noinline)) enum region_end
after_body(struct walk *k, uint32_t p, int *value, bool is_transient,
	   uint32_t *next)
{
	const struct region_task *t = &k->r->task[p];
	int rc = check_branch(k, t, *value);

	*value = rc;
	*next = 0;
	if (unlikely((rc | k->b->ctx.after) < 0))
		return region_end_body(k, p, rc, is_transient);
	if (is_transient)
		transient_called(&k->b->ctx,
				 &k->b->transient[k->r->task[p].index]);
	k->run->ran[k->nr_ran++] = (uint16_t)p;
	*next = take_edges(k, t, p, rc);
	return REGION_INSIDE;
}

/* Before a body of the kind. False: the task is left to others. */
static inline bool may_run(struct walk *k, struct burst *b,
			   struct lkdf_kind *kind, enum before *how)
{
	*how = chain_look(b, kind);
	return likely(*how != BEFORE_LOOK) &&
	       (likely(!k->live) || !region_must_share(k));
}

/* Edges that leave a loop in the loop, which is over. */
static void take_exits(struct walk *k, const struct region_task *t)
{
	const struct control *c = k->b->graph->control;
	_Atomic(uint8_t) *taken = k->b->f->control.taken, *exit;
	const struct region_edge *e = k->r->edge;
	uint32_t i;

	taken += c->loops[t->first_at].first_exit;
	take_all(k, t, t->first, t->first_branch);
	for (i = t->first_branch; i < t->end; i++) {
		exit = &taken[e[i].branch];
		k->run->taken[i] = a_load(exit, relaxed);
		a_store(exit, 0, relaxed);
		if (k->run->taken[i])
			take_edge(k, t, &e[i]);
	}
}

static enum region_end go_round(struct walk *k, uint32_t *at, int *value);

/*
 * The loop in the loop is gone through; as go_through(). *next: the position to
 * go on at; 0: there is none.
 */
static __attribute__((noinline)) enum region_end
go_inside(struct walk *k, uint32_t p, uint32_t *at, int *value, uint32_t *next)
{
	const struct region_task *t = &k->r->task[p];
	struct control_run *run = &k->b->f->control;
	const struct control *c = k->b->graph->control;
	struct walk inner = {
		.b = k->b,
		.r = c->regions[t->first_at],
		.run = &run->regions[t->first_at],
		.loop = t->first_at,
		.outer = k,
		.position = p,
		.nr_run = k->nr_run,
		.max_run = INNER_TURNS,
	};
	enum region_end end;

	if (k->live && region_must_share(k)) {
		*at = t->index;
		region_leave(k, p);
		return REGION_READY;
	}
	end = go_round(&inner, at, value);
	if (unlikely(end != REGION_INSIDE))
		return end;
	if (unlikely(frame_cancelled(k->b->f)))
		return region_end_loop(&inner, at);
	k->nr_turns += inner.nr_turns;
	k->nr_unchosen += inner.nr_unchosen;
	control_over(k->b->f, t->first_at);
	/* A loop is no task. */
	--*k->nr_run;
	k->run->ran[k->nr_ran++] = (uint16_t)p;
	take_exits(k, t);
	*next = k->live ? take_first(k) : 0;
	return REGION_INSIDE;
}

/* The source of a stream has said that there is no more. */
static inline bool ends_wave(const struct walk *k, int rc)
{
	return unlikely(rc == LKDF_END) && k->b->f->stream &&
	       k->b->ctx.after >= 0;
}

/*
 * The worker goes through an iteration; REGION_INSIDE: it is over. *at: the
 * task that it is left at. is_plain: see struct region, and it is no stream's.
 */
static inline __attribute__((always_inline)) enum region_end
go_through(struct walk *k, uint32_t *at, int *value, const bool is_plain)
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
		if (!is_plain && t->is_loop) {
			end = go_inside(k, p, at, value, &slow_next);
			if (unlikely(end != REGION_INSIDE))
				return end;
			p = slow_next;
			continue;
		}
		r = &recs[t->index];
		c->index = t->index;
		if (unlikely(!may_run(k, b, r->kind, &how))) {
			*at = t->index;
			region_leave(k, p);
			return REGION_READY;
		}
		rc = chain_call(b, r, how,
				is_plain ? 0 : CHAIN_TRANSIENT | CHAIN_CONTROL,
				&is_transient);
		if (!is_plain && ends_wave(k, rc))
			return region_end_wave(k, p);
		next = 0;
		if (likely((rc | c->after) >= 0) && likely(!k->live))
			next = jump_from(k, t, p, rc);
		if (likely(next)) {
			if (is_transient)
				transient_called(c, &b->transient[t->index]);
			ran[k->nr_ran++] = (uint16_t)p;
			p = next;
			continue;
		}
		if (unlikely((rc | c->after) < 0) ||
		    !step_beside(k, t, p, rc, &slow_next)) {
			*at = t->index;
			*value = rc;
			end = after_body(k, p, value, is_transient, &slow_next);
			if (unlikely(end != REGION_INSIDE))
				return end;
		} else if (is_transient) {
			transient_called(c, &b->transient[t->index]);
		}
		p = slow_next;
		/* Neither 0 nor REGION_ROUND. */
	} while (p - 1 < REGION_ROUND - 1);
	k->goes |= p == REGION_ROUND;
	return REGION_INSIDE;
}

/* The worker goes through an iteration, as above, and counts it. */
static inline __attribute__((always_inline)) enum region_end
go_once(struct walk *k, uint32_t *at, int *value, const bool is_plain)
{
	enum region_end end;

	begin_iteration(k, is_plain);
	end = go_through(k, at, value, is_plain);
	if (unlikely(end != REGION_INSIDE))
		return end;
	if (is_plain)
		k->nr_unchosen += k->r->nr - k->nr_ran;
	else
		region_count_unchosen(k);
	return end;
}

/* All of the loop's iterations; REGION_INSIDE: it is over, or cancelled. */
static inline __attribute__((always_inline)) enum region_end
go_all(struct walk *k, uint32_t *at, int *value, const bool is_plain)
{
	const bool is_judged = k->b->graph->control->loops[k->loop].is_judged;
	enum region_end end;

	for (;;) {
		end = go_once(k, at, value, is_plain);
		*k->nr_run += k->nr_ran;
		if (unlikely(end != REGION_INSIDE || !goes_round(k)))
			return end;
		k->nr_turns++;
		if (is_judged)
			solo_run_turn(k->b->w, k->b->f);
		if (unlikely(*k->nr_run >= k->max_run))
			return region_give_turn(k);
	}
}

static HOT_LOOP enum region_end go_plain(struct walk *k, uint32_t *at,
					 int *value)
{
	return go_all(k, at, value, true);
}

static HOT_LOOP enum region_end go_special(struct walk *k, uint32_t *at,
					   int *value)
{
	return go_all(k, at, value, false);
}

static enum region_end go_round(struct walk *k, uint32_t *at, int *value)
{
	return k->r->is_plain && !k->b->f->stream ? go_plain(k, at, value)
						  : go_special(k, at, value);
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
		.nr_run = nr_run,
		.max_run = CONTROL_TURNS,
		.has_folds = b->graph->control->loops[l].nr_folds,
	};
	enum region_end end;

	end = go_round(&k, index, value);
	return end == REGION_INSIDE ? region_end_loop(&k, index) : end;
}
