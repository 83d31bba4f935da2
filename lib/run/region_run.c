/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/region_run.h"

#include "base/err.h"
#include "graph/port.h"
#include "run/chain.h"
#include "run/control.h"
#include "run/control_loop.h"
#include "run/port_run.h"
#include "run/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- of a frame ---------------------------------------------------------- */

static bool init_run(struct region_run *run, const struct region *r)
{
	uint64_t *words = calloc(
		1, r->nr_words * 3 * sizeof(*words) +
			   r->nr * (sizeof(*run->value) + sizeof(*run->waits)));

	if (!words)
		return false;
	run->bits = words;
	run->done = run->bits + r->nr_words;
	run->chosen = run->done + r->nr_words;
	run->value = (int32_t *)(run->chosen + r->nr_words);
	run->waits = (uint16_t *)(run->value + r->nr);
	return true;
}

int region_run_create(struct frame *f)
{
	const struct control *c = f->graph->control;
	uint32_t l;

	if (!c->regions)
		return 0;
	f->control.regions = calloc(c->nr_loops, sizeof(struct region_run));
	for (l = 0; f->control.regions && l < c->nr_loops; l++)
		if (c->regions[l] &&
		    !init_run(&f->control.regions[l], c->regions[l]))
			break;
	if (f->control.regions && l == c->nr_loops)
		return 0;
	return err(-ENOMEM, "graph %s: no memory for a run's regions",
		   f->graph->name);
}

void region_run_destroy(struct frame *f)
{
	uint32_t l;

	if (!f->control.regions)
		return;
	for (l = 0; l < f->graph->control->nr_loops; l++)
		free(f->control.regions[l].bits);
	free(f->control.regions);
}

/* ---- live tasks ---------------------------------------------------------- */

struct walk {
	struct burst *b;
	const struct region *r;
	struct region_run *run;
	uint32_t loop;
	uint32_t nr_done; /* in this iteration */
	uint64_t nr_unchosen; /* not yet counted */
	bool goes; /* a BACK edge was taken */
};

static inline void set_live(struct region_run *run, uint32_t p)
{
	run->bits[p / 64] |= 1ull << p % 64;
	run->live |= 1ull << p / 64;
}

/* The first of them, which is not live any more. */
static inline uint32_t take_first(struct region_run *run)
{
	uint32_t w = (uint32_t)__builtin_ctzll(run->live);
	uint64_t bits = run->bits[w];

	run->bits[w] = bits & (bits - 1);
	if (!run->bits[w])
		run->live &= run->live - 1;
	return w * 64 + (uint32_t)__builtin_ctzll(bits);
}

static inline void set_done(struct walk *k, uint32_t p)
{
	k->run->done[p / 64] |= 1ull << p % 64;
	k->nr_done++;
}

static inline bool is_done(const struct region_run *run, uint32_t p)
{
	return run->done[p / 64] >> p % 64 & 1;
}

static inline void begin_iteration(struct walk *k)
{
	const struct region *r = k->r;
	struct region_run *run = k->run;
	uint32_t w;

	/* Most have one word, and a call for it would cost as much as a task.
	 */
	run->done[0] = 0;
	for (w = 1; unlikely(w < r->nr_words); w++)
		run->done[w] = 0;
	if (r->counts) {
		memcpy(run->waits, r->waits, r->nr * sizeof(*r->waits));
		memset(run->chosen, 0, r->nr_words * sizeof(*run->chosen));
	}
	k->nr_done = 0;
	k->goes = false;
}

/* The target waits for several edges, and this is one. */
static inline void arrive_one(struct region_run *run, uint32_t p)
{
	if (!--run->waits[p])
		set_live(run, p);
}

/* Of those that a choice takes the first one counts. */
static inline void choose_one(struct region_run *run, uint32_t p)
{
	uint64_t bit = 1ull << p % 64;

	if (run->chosen[p / 64] & bit)
		return;
	run->chosen[p / 64] |= bit;
	arrive_one(run, p);
}

static inline void take_edge(struct walk *k, const struct region_task *t,
			     const struct region_edge *e)
{
	const struct rec *r = &k->b->recs[t->index];

	if (unlikely(e->how & REGION_PORT))
		port_tell(&k->b->f->port, e->live, true);
	switch (e->how & ~REGION_PORT) {
	case REGION_LIVE:
		set_live(k->run, e->to);
		break;
	case REGION_ALL:
		arrive_one(k->run, e->to);
		break;
	case REGION_ONE:
		choose_one(k->run, e->to);
		break;
	case REGION_BACK:
		k->goes = true;
		break;
	case REGION_EXIT:
		control_leave(k->b->f,
			      k->b->graph->control->out + r->succ[0] + e->to);
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
 * The task has returned value, which is a branch of it if it has some. Returns
 * the task that is live then, the first one; 0: none, for that is the head.
 */
static inline uint32_t take_edges(struct walk *k, uint32_t p, int value)
{
	const struct region_task *t = &k->r->task[p];

	if (likely(t->only) && likely(!k->run->live))
		return t->only;
	if (unlikely(k->r->has_ports))
		tell_ports(k, p);
	take_all(k, t, t->first, t->first_branch);
	if (t->first_branch != t->end) {
		k->run->value[p] = value;
		take_chosen(k, t, value);
	}
	return k->run->live ? take_first(k->run) : 0;
}

/* ---- the ways out -------------------------------------------------------- */

/* The run may be over afterwards. */
static void count_unchosen(struct walk *k)
{
	struct counters *c = k->b->w->executor->counters;

	if (!k->nr_unchosen)
		return;
	counter_add(c, ending_rows[ENDED_UNCHOSEN].counter, k->nr_unchosen);
	a_add(&k->b->f->tally.nr[ENDED_UNCHOSEN], k->nr_unchosen, relaxed);
	k->nr_unchosen = 0;
}

/* Edges of the task at q to those behind p; how many of them close the loop. */
static uint32_t tell_behind(struct walk *k, uint32_t q, uint32_t p)
{
	const struct control *c = k->b->graph->control;
	uint32_t index = k->r->task[q].index, nr, i, nr_closed = 0;
	int verdict = is_done(k->run, q) ? k->run->value[q] : VERDICT_UNCHOSEN;
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
	uint32_t q, nr_closed = 0;
	bool is_over;

	for (q = 0; q < p; q++)
		nr_closed += tell_behind(k, q, p);
	for (q = 0; q < k->r->nr_words; q++)
		k->run->bits[q] = 0;
	k->run->live = 0;
	k->nr_unchosen += p - k->nr_done;
	count_unchosen(k);
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

	count_unchosen(k);
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
	count_unchosen(k);
	resolve_push(k->b->w, k->b->f, k->r->task[0].index, 0);
	return REGION_TURN;
}

/* ---- the way through ----------------------------------------------------- */

/* A body may return what is no branch of the task. */
static inline int check_branch(struct walk *k, const struct region_task *t,
			       int value)
{
	if (likely(value < t->nr_dense) || t->first_branch == t->end ||
	    !control_check(k->b->f, t->index, value))
		return value;
	k->b->ctx.has_why = true;
	return -ERANGE;
}

/* The worker goes through an iteration; REGION_NEXT: it is over. *at: the task
 * that it is left at. */
static inline enum region_end go_through(struct walk *k, uint32_t *at,
					 int *value)
{
	struct lkdf_ctx *c = &k->b->ctx;
	const struct region_task *t;
	const struct rec *r;
	bool is_transient;
	enum before how;
	uint32_t p = 0;
	int rc;

	do {
		t = &k->r->task[p];
		r = &k->b->recs[t->index];
		c->index = t->index;
		how = chain_look(k->b, r->kind);
		if (unlikely(how == BEFORE_LOOK) ||
		    (unlikely(k->run->live) && must_share(k))) {
			*at = t->index;
			leave_at(k, p);
			return REGION_READY;
		}
		rc = chain_call(k->b, r, how, 0, &is_transient);
		rc = check_branch(k, t, rc);
		if (unlikely((rc | c->after) < 0)) {
			*at = t->index;
			*value = rc;
			return end_body(k, p, rc);
		}
		set_done(k, p);
		p = take_edges(k, p, rc);
	} while (p);
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
		*nr_run += k.nr_done;
		if (unlikely(end != REGION_NEXT))
			return end;
		k.nr_unchosen += r->nr - k.nr_done;
		if (unlikely(!goes_round(&k)))
			return end_loop(&k, index);
		counter_add(b->w->executor->counters, COUNTER_ITERATIONS, 1);
		if (b->graph->control->loops[l].is_judged)
			sources_turn(b->w, b->f);
		if (unlikely(*nr_run >= CONTROL_TURNS))
			return give_turn(&k);
	}
}
