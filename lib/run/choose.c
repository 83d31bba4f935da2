/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/choose.h"

#include "run/frame_count.h"
#include "run/tell.h"

/* Arms that were chosen; at: the join of each that comes next. */
struct chosen {
	const struct choice_arm *arm[CONTROL_SEVERAL];
	uint32_t at[CONTROL_SEVERAL];
	unsigned nr;
	unsigned nr_told; /* arms up to the last one with edges to tell */
	bool has_joins; /* arms that were not chosen have joins to tell */
};

static const struct choice_arm *
find_arm(const struct choices *all, const struct choice *ch, uint32_t branch)
{
	const struct choice_arm *arm = all->arm + ch->first_arm;
	uint32_t low = 0, high = ch->nr_arms, mid = branch - arm->branch;

	/* Most have numbers that follow one another. */
	if (mid < high && arm[mid].branch == branch)
		return &arm[mid];
	while (low < high) {
		mid = (low + high) / 2;
		if (arm[mid].branch < branch)
			low = mid + 1;
		else
			high = mid;
	}
	return low < ch->nr_arms && arm[low].branch == branch ? &arm[low]
							      : NULL;
}

static void find_chosen(const struct choices *all, const struct choice *ch,
			int value, struct chosen *to)
{
	const struct choice_arm *arm;
	uint32_t branch;

	to->nr = 0;
	if (likely(value < 0x20000000)) {
		to->arm[0] = find_arm(all, ch, (uint32_t)value);
		to->nr = to->arm[0] != NULL;
		return;
	}
	for (branch = 0; branch < CONTROL_SEVERAL; branch++) {
		if (!control_takes(value, (uint16_t)branch))
			continue;
		arm = find_arm(all, ch, branch);
		if (arm)
			to->arm[to->nr++] = arm;
	}
}

/* Tasks of the arms that were not chosen. Returns how many edges of theirs
 * close the loop. */
static uint32_t count_others(struct burst *b, const struct rec *r,
			     const struct choice *ch, const struct chosen *is)
{
	uint32_t nr = ch->all.nr_tasks, nr_counted = ch->all.nr_counted;
	struct counters *c = b->w->executor->counters;
	uint32_t nr_backs = ch->all.nr_backs;
	unsigned i;

	for (i = 0; i < is->nr; i++) {
		nr -= is->arm[i]->nr_tasks;
		nr_counted -= is->arm[i]->nr_counted;
		nr_backs -= is->arm[i]->nr_backs;
	}
	/* Members are the loop's, whose end counts them. */
	if (!(r->flags & REC_MEMBER))
		b->nr_resolved += nr;
	if (nr_counted) {
		counter_add(c, ending_counters[ENDED_UNCHOSEN], nr_counted);
		a_add(&b->f->tally.nr[ENDED_UNCHOSEN], nr_counted, relaxed);
	}
	return nr_backs;
}

/* Seal's sums say which arms and joins have an edge to tell, so the graph need
 * not be read after the last one. */
static void find_left(const struct choice *ch, struct chosen *is)
{
	uint32_t nr_joins = ch->nr_arm_joins;
	unsigned i;

	is->nr_told = 0;
	for (i = 0; i < is->nr; i++) {
		nr_joins -= is->arm[i]->nr_joins;
		if (is->arm[i]->nr_edges)
			is->nr_told = i + 1;
	}
	is->has_joins = nr_joins != 0;
}

/* Edges of all the arms that were chosen. */
static uint32_t tell_chosen(struct burst *b, const struct chosen *is,
			    uint32_t next)
{
	const struct control_edge *e, *end;
	unsigned i;

	for (i = 0; i < is->nr_told; i++) {
		e = b->graph->control->out + is->arm[i]->first_edge;
		end = e + is->arm[i]->nr_edges;
		for (; e < end; e++) {
			if (!(e->flags & CONTROL_ARM))
				continue;
			if (unlikely(e->flags & CONTROL_PORT))
				port_tell(&b->f->port, e->live, true);
			next = tell_successor(b, e->to, e->flags, VERDICT_LIVE,
					      next);
		}
	}
	return next;
}

/* Less what arms that were chosen tell by themselves. */
static struct choice_join left_of(const struct choices *all,
				  const struct choice_join *sum,
				  struct chosen *is)
{
	const struct choice_join *j;
	struct choice_join left = *sum;
	unsigned i;

	for (i = 0; i < is->nr; i++) {
		j = all->join + is->arm[i]->first_join + is->at[i];
		if (is->at[i] == is->arm[i]->nr_joins || j->to != sum->to)
			continue;
		is->at[i]++;
		left.nr -= j->nr;
		left.nr_strong -= j->nr_strong;
	}
	return left;
}

/* The join that is told last is passed over here, where it is not chosen. */
static uint32_t tell_join(struct burst *b, const struct choice_join *j,
			  bool is_last, uint32_t next)
{
	struct rec *m = &b->recs[j->to];
	int verdict = VERDICT_UNCHOSEN;
	uint32_t all;

	if (m->nr_in != 1) {
		if (!rec_arrive_unchosen(m, j->nr, j->nr_strong, &all))
			return next;
		rec_rearm(m, graph_nr_in(b->graph, m, j->to));
		verdict = control_verdict(m, all);
	}
	if (verdict >= 0)
		return chain_take_or_push(b, m, j->to, next);
	if (is_last && verdict == VERDICT_UNCHOSEN)
		burst_pass_over(b, j->to);
	else
		control_push(b->w, b->f, j->to, verdict);
	return next;
}

/* A join that is still to be told keeps the graph. */
static uint32_t tell_joins(struct burst *b, const struct choice *ch,
			   struct chosen *is, uint32_t next)
{
	const struct choices *all = &b->graph->control->choices;
	const struct choice_join *sum = all->join + ch->all.first_join;
	const struct choice_join *end = sum + ch->all.nr_joins;
	struct choice_join held = { .nr = 0 }, left;
	unsigned i;

	for (i = 0; i < is->nr; i++)
		is->at[i] = 0;
	for (; sum < end; sum++) {
		left = left_of(all, sum, is);
		if (!left.nr)
			continue;
		if (held.nr)
			next = tell_join(b, &held, false, next);
		held = left;
	}
	return held.nr ? tell_join(b, &held, true, next) : next;
}

/*
 * A member owes its frame nothing, so the run may end once all is told: what is
 * read of the graph is read while something is still to be told.
 */
uint32_t choose_arms(struct burst *b, const struct rec *r, int value,
		     uint32_t *nr_closed)
{
	const struct control *c = b->graph->control;
	const struct choice *ch =
		&c->choices.choice[c->out[r->succ[0]].choice - 1];
	const uint32_t *other = c->choices.other + ch->first_other;
	const uint32_t *end = other + ch->nr_others;
	uint32_t next = NO_TASK;
	struct chosen is;

	find_chosen(&c->choices, ch, value, &is);
	find_left(ch, &is);
	if (is.nr < ch->nr_arms)
		*nr_closed += count_others(b, r, ch, &is);
	for (; other < end; other++)
		next = tell_edge(b, &c->out[*other], value, next, nr_closed);
	next = tell_chosen(b, &is, next);
	return is.has_joins ? tell_joins(b, ch, &is, next) : next;
}
