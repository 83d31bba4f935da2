/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/region_walk.h"

#include "run/chain.h"
#include "run/control.h"
#include "run/frame_count.h"
#include "trace/counters.h"

/* ---- tasks that are not chosen ------------------------------------------- */

/* Bytes of LKDF_DATA_ONCE wait for readers no more that have not run. */
static void release_readers(struct walk *k)
{
	const struct region_list *l = &k->r->readers;
	uint32_t i, n = 0;

	for (i = 0; i < l->nr; i++) {
		while (n < k->nr_ran && k->run->ran[n] < l->at[i])
			n++;
		if (n == k->nr_ran || k->run->ran[n] != l->at[i])
			transient_used(k->b->f, k->r->task[l->at[i]].index);
	}
}

void region_count_unchosen(struct walk *k)
{
	uint32_t i;

	k->nr_unchosen += k->r->nr_counted;
	for (i = 0; i < k->nr_ran; i++)
		k->nr_unchosen -= k->r->task[k->run->ran[i]].nr_counted;
	release_readers(k);
}

/* The iteration is left in its middle, behind the task at q. */
static void leave_unchosen(struct walk *k, uint32_t q)
{
	const struct region_task *t = &k->r->task[q];

	k->nr_unchosen += t->nr_counted;
	if (k->r->readers.nr && !t->is_loop)
		transient_used(k->b->f, t->index);
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
	counter_add(c, ending_counters[ENDED_UNCHOSEN], k->nr_unchosen);
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

/* Exits of the loop at q, as above. */
static uint32_t tell_exits(struct walk *k, uint32_t q, bool has_run, uint32_t p)
{
	const struct control *c = k->b->graph->control;
	const struct region_task *t = &k->r->task[q];
	const struct graph_loop *l = &c->loops[t->first_at];
	const struct control_edge *e = c->exits + l->first_exit;
	int verdict = has_run ? VERDICT_LIVE : VERDICT_UNCHOSEN;
	uint32_t i, at = t->first_branch, nr_closed = 0;
	bool is_taken;

	for (i = 0; i < l->nr_exits; i++, e++) {
		is_taken = has_run;
		if (at < t->end && k->r->edge[at].branch == i)
			is_taken = has_run && k->run->taken[at++];
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

void region_leave(struct walk *k, uint32_t p)
{
	uint32_t q, nr_closed = 0, i = 0;
	bool is_over, has_run;

	/* They have run in the order of their positions. */
	for (q = 0; q < p; q++) {
		has_run = i < k->nr_ran && k->run->ran[i] == q;
		i += has_run;
		if (!has_run)
			leave_unchosen(k, q);
		nr_closed += k->r->task[q].is_loop
				     ? tell_exits(k, q, has_run, p)
				     : tell_behind(k, q, has_run, p);
	}
	for (q = 0; q < k->r->nr_words; q++)
		k->run->bits[q] = 0;
	k->live = 0;
	count_walk(k);
	/* The task at p leads to a latch. */
	is_over = nr_closed && control_close(k->b->f, k->loop, nr_closed);
	check(!is_over);
	(void)is_over;
	if (k->outer)
		region_leave(k->outer, k->position);
}

bool region_must_share(struct walk *k)
{
	if (worker_is_alone(k->b->w))
		return false;
	for (; k; k = k->outer)
		a_store(&((struct region *)(uintptr_t)k->r)->is_wide, 1,
			relaxed);
	return true;
}

enum region_end region_end_body(struct walk *k, uint32_t p, int rc,
				bool is_transient)
{
	uint32_t index = k->r->task[p].index;

	region_leave(k, p);
	if (!burst_after(k->b, index, rc))
		return REGION_AWAY;
	if (is_transient)
		transient_called(&k->b->ctx, &k->b->transient[index]);
	return REGION_RAN;
}

enum region_end region_end_wave(struct walk *k, uint32_t p)
{
	region_leave(k, p);
	burst_end_stream(k->b, k->r->task[p].index);
	return REGION_AWAY;
}

enum region_end region_end_loop(struct walk *k, uint32_t *index)
{
	struct burst *b = k->b;
	uint32_t nr = 0, head;

	if (k->outer)
		region_leave(k->outer, k->position);
	count_walk(k);
	a_store(&b->f->control.loops[k->loop].goes_back, k->goes, relaxed);
	head = control_end_loop(b->w, b->f, k->loop, &nr);
	b->nr_resolved += nr;
	*index = head == NO_TASK
			 ? NO_TASK
			 : chain_take_or_push(b, &b->recs[head], head, NO_TASK);
	return REGION_NEXT;
}

enum region_end region_give_turn(struct walk *k)
{
	if (k->outer)
		region_leave(k->outer, k->position);
	count_walk(k);
	resolve_push(k->b->w, k->b->f, k->r->task[0].index, 0);
	return REGION_TURN;
}
