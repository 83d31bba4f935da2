/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/chooser.h"

#include <errno.h>
#include <stdlib.h>

/* By counting; a choice's arms have theirs side by side. */
static void sort_pairs(struct chooser *p)
{
	uint32_t i, a;

	for (i = 0; i < p->nr_pairs; i++)
		p->arms[p->pair[i].arm + 1].first_pair++;
	for (a = 1; a <= p->nr_arms; a++)
		p->arms[a].first_pair += p->arms[a - 1].first_pair;
	for (i = 0; i < p->nr_pairs; i++)
		p->sorted[p->arms[p->pair[i].arm].first_pair++] = p->pair[i];
	for (a = p->nr_arms; a; a--)
		p->arms[a].first_pair = p->arms[a - 1].first_pair;
}

/* The next choice begins with another arm. */
static uint32_t end_of(const struct chooser *p, uint32_t arm)
{
	uint32_t task = p->arms[arm].task;

	while (arm < p->nr_arms && p->arms[arm].task == task)
		arm++;
	return arm;
}

/* Each join of a choice has a place among them. */
static void place_joins(struct chooser *p)
{
	uint32_t arm, end, i, nr;
	struct edges e;

	for (arm = 1; arm < p->nr_arms; arm = end) {
		end = end_of(p, arm);
		p->nr_choices++;
		nr = 0;
		for (i = p->arms[arm].first_pair; i < p->arms[end].first_pair;
		     i++) {
			if (p->seen[p->sorted[i].to] != p->nr_choices)
				p->place[p->sorted[i].to] = nr++;
			p->seen[p->sorted[i].to] = p->nr_choices;
			p->sorted[i].place = p->place[p->sorted[i].to];
		}
		p->nr_joins += nr;
		e = chooser_edges(p, p->arms[arm].task);
		for (i = 0; i < e.nr; i++)
			p->nr_others += !(e.out[i].flags & CONTROL_ARM);
	}
	p->nr_joins += p->nr_pairs;
}

static int compare_places(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static void count_pair(struct choice_join *j, const struct pair *p)
{
	j->to = p->to;
	j->nr++;
	j->nr_strong += p->is_strong;
}

/* The arm's joins, in the order of the sum's, each once. */
static void fill_arm(struct chooser *p, struct choice_arm *a, struct pair *pair,
		     uint32_t nr)
{
	struct choice_join *join = p->c->choices.join;
	uint32_t i;

	a->first_join = p->nr_joins;
	if (nr > 1)
		qsort(pair, nr, sizeof(*pair), compare_places);
	for (i = 0; i < nr; i++) {
		p->nr_joins += !i || pair[i].place != pair[i - 1].place;
		count_pair(&join[p->nr_joins - 1], &pair[i]);
	}
	a->nr_joins = p->nr_joins - a->first_join;
}

/* The sum of all arms up to end; their joins come before the arms' own. */
static void fill_sum(struct chooser *p, struct choice *ch, uint32_t end)
{
	struct choice_join *join = p->c->choices.join + p->nr_joins;
	const struct pair *pair;
	uint32_t i;

	ch->all.first_join = p->nr_joins;
	for (i = ch->first_arm; i < end; i++) {
		ch->all.nr_tasks += p->arms[i].sum.nr_tasks;
		ch->all.nr_counted += p->arms[i].sum.nr_counted;
		ch->all.nr_backs += p->arms[i].sum.nr_backs;
	}
	for (i = p->arms[ch->first_arm].first_pair; i < p->arms[end].first_pair;
	     i++) {
		pair = &p->sorted[i];
		count_pair(&join[pair->place], pair);
		if (ch->all.nr_joins <= pair->place)
			ch->all.nr_joins = pair->place + 1;
	}
	p->nr_joins += ch->all.nr_joins;
}

/* A worker that has told the last one may not look at the graph any more. */
static void end_at_last(const struct control *c, struct choice_arm *a)
{
	const struct control_edge *e = c->out + a->first_edge;

	while (a->nr_edges && !(e[a->nr_edges - 1].flags & CONTROL_ARM))
		a->nr_edges--;
}

/* It fills the arms from first on. Returns where the next choice begins. */
static uint32_t fill_choice(struct chooser *p, struct choice *ch,
			    uint32_t first)
{
	struct choices *to = &p->c->choices;
	uint32_t end = end_of(p, first), i;
	struct edges e = chooser_edges(p, p->arms[first].task);

	ch->first_arm = first;
	ch->nr_arms = end - first;
	fill_sum(p, ch, end);
	for (i = first; i < end; i++) {
		to->arm[i] = p->arms[i].sum;
		fill_arm(p, &to->arm[i], &p->sorted[p->arms[i].first_pair],
			 p->arms[i + 1].first_pair - p->arms[i].first_pair);
		end_at_last(p->c, &to->arm[i]);
		ch->nr_arm_joins += to->arm[i].nr_joins;
	}
	ch->first_other = p->nr_others;
	for (i = 0; i < e.nr; i++)
		if (!(e.out[i].flags & CONTROL_ARM))
			to->other[p->nr_others++] =
				(uint32_t)(e.out + i - p->c->out);
	ch->nr_others = p->nr_others - ch->first_other;
	e.out->choice = ++to->nr;
	return end;
}

static bool has_room(const struct chooser *p)
{
	uint64_t bytes = p->nr_choices * sizeof(struct choice) +
			 p->nr_arms * sizeof(struct choice_arm) +
			 p->nr_joins * sizeof(struct choice_join) +
			 p->nr_others * sizeof(uint32_t);

	return !p->is_full && bytes <= (uint64_t)p->g->nr_tasks * CHOICE_BYTES;
}

static int fill_choices(struct chooser *p)
{
	struct choices *to = &p->c->choices;
	uint32_t arm = 1;

	to->choice = calloc(p->nr_choices + 1ul, sizeof(*to->choice));
	to->arm = calloc(p->nr_arms + 1ul, sizeof(*to->arm));
	to->join = calloc(p->nr_joins + 1ul, sizeof(*to->join));
	to->other = calloc(p->nr_others + 1ul, sizeof(*to->other));
	if (!to->choice || !to->arm || !to->join || !to->other)
		return -ENOMEM;
	p->nr_joins = p->nr_others = 0;
	while (arm < p->nr_arms)
		arm = fill_choice(p, &to->choice[to->nr], arm);
	return 0;
}

int chooser_fill(struct chooser *p)
{
	check(!p->g->is_sealed);
	sort_pairs(p);
	place_joins(p);
	return has_room(p) ? fill_choices(p) : 0;
}
