/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/team/team.h"

#include "base/futex.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/quota/quota.h"
#include "sched/bind.h"
#include "sched/sched.h"

#include <limits.h>
#include <sched.h>

/* ---- away --------------------------------------------------------------- */

void team_away(struct worker *w)
{
	/* [team.away] before we look whether we are lent; pairs with
	 * [team.a]. */
	a_store(&team_of(w)->is_away, 1, seq_cst);
	if (team_has(w))
		futex_wake(&team_of(w)->is_away, INT_MAX);
}

/* Others run its children, or it does when the team is over. */
void team_rest(struct worker *w)
{
	struct team_node *node = team_at(w->node);
	uint32_t word;

	holdoff_end(w);
	worker_share_all(w);
	do {
		team_away(w);
		for (;;) {
			/* [team.word] before we look; pairs with
			 * [team.over]. */
			word = a_load(&node->word, acquire);
			if (!team_has(w))
				break;
			futex_wait(&node->word, word, -1);
		}
		team_back(w);
	} while (team_has(w));
}

static void wait_for(struct worker *v)
{
	/* [team.b] after lent_to; pairs with [team.c]. */
	while (!a_load(&team_of(v)->is_away, seq_cst))
		futex_wait(&team_of(v)->is_away, 0, -1);
}

/* ---- who lends ---------------------------------------------------------- */

static struct worker *first_of(const struct worker *w)
{
	struct worker *first = w->sched->workers;

	while (first->node != w->node)
		first++;
	return first;
}

/* The others of the node, in a circle from the next one on; i from 1. */
static struct worker *other_member(const struct worker *w, struct worker *first,
				   int i)
{
	return first + (w - first + i) % w->node->nr_workers;
}

static bool may_lend(const struct worker *v)
{
	return !a_load(&quota_of(v)->is_exempt, relaxed);
}

static bool can_lend(const struct worker *v)
{
	return may_lend(v) && !team_of(v)->is_leader &&
	       !a_load(&team_of(v)->lent_to, relaxed);
}

static int count_others(const struct worker *w,
			bool (*is)(const struct worker *v))
{
	struct worker *first = first_of(w);
	int i, nr = 0;

	for (i = 1; i < w->node->nr_workers; i++)
		nr += is(other_member(w, first, i));
	return nr;
}

static void lend_cpu(struct worker *w, int nr)
{
	struct worker *first = first_of(w), *v;
	int i;

	for (i = 1; nr; i++) {
		v = other_member(w, first, i);
		if (!can_lend(v))
			continue;
		/* [team.a] before we look whether it is away; pairs with
		 * [team.d], [team.away]. */
		a_store(&team_of(v)->lent_to, (uint32_t)w->id + 1, seq_cst);
		nr--;
	}
}

/* All of them or none; false: not yet. */
static bool try_to_lead(struct worker *w, int nr)
{
	struct team_node *node = team_at(w->node);
	int most;
	bool leads;

	lock_take(&node->lock);
	most = count_others(w, may_lend) + 1;
	if (nr > most)
		nr = most;
	leads = !a_load(&team_of(w)->lent_to, relaxed) &&
		count_others(w, can_lend) >= nr - 1;
	if (leads) {
		lend_cpu(w, nr - 1);
		team_of(w)->is_leader = true;
	}
	lock_give(&node->lock);
	if (leads) {
		team_of(w)->size = nr;
		team_of(w)->depth = 1;
	}
	return leads;
}

static bool is_lent_to(const struct worker *v, const struct worker *w)
{
	return a_load(&team_of(v)->lent_to, relaxed) == (uint32_t)w->id + 1;
}

/* Those that sleep hear of it: by name, as one token is like another. */
static void call_all(struct worker *w)
{
	struct worker *first = first_of(w), *v;
	bool is_parking = false;
	int i;

	for (i = 1; i < w->node->nr_workers; i++) {
		v = other_member(w, first, i);
		/* [team.call] after lent_to; pairs with [part.c]. */
		if (is_lent_to(v, w) && a_load(&v->is_parking, seq_cst))
			is_parking |= a_xchg(&v->is_parking, 0, relaxed) != 0;
	}
	if (is_parking)
		park_call(&w->node->park);
}

static void wait_for_all(struct worker *w)
{
	struct worker *first = first_of(w), *v;
	int i;

	for (i = 1; i < w->node->nr_workers; i++) {
		v = other_member(w, first, i);
		if (is_lent_to(v, w))
			wait_for(v);
	}
}

static void lead_team(struct worker *w, int nr)
{
	struct team_node *node = team_at(w->node);
	uint32_t word;

	holdoff_end(w);
	worker_share_all(w);
	team_away(w);
	for (;;) {
		/* Before we try: whoever has counted since has given the lock
		 * before it did. */
		word = a_load(&node->word, relaxed);
		if (try_to_lead(w, nr))
			break;
		futex_wait(&node->word, word, -1);
	}
	/* Nobody lends one that leads. */
	team_back(w);
	if (team_of(w)->size > 1) {
		call_all(w);
		wait_for_all(w);
	}
}

static void return_workers(struct worker *w)
{
	struct team_node *node = team_at(w->node);
	struct worker *first = first_of(w), *v;
	int i;

	lock_take(&node->lock);
	for (i = 1; i < w->node->nr_workers; i++) {
		v = other_member(w, first, i);
		if (is_lent_to(v, w))
			a_store(&team_of(v)->lent_to, 0, relaxed);
	}
	team_of(w)->is_leader = false;
	lock_give(&node->lock);
	team_of(w)->depth = 0;
	/* [team.over] they are free; pairs with [team.word]. */
	a_add(&node->word, 1, release);
	futex_wake(&node->word, INT_MAX);
	quota_stir(quota_in(w->sched));
}

/* ---- CPUs --------------------------------------------------------------- */

/* The workers' of the node, or its own alone; nothing if one is not bound. */
static void run_on(const struct worker *w, bool is_all)
{
	struct worker *first = first_of(w);
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	for (i = 0; i < w->node->nr_workers; i++) {
		if ((is_all || &first[i] == w) && !bind_add(&first[i], &set))
			return;
	}
	sched_setaffinity(0, sizeof(set), &set);
}

int team_begin(struct worker *w, int nr)
{
	if (team_of(w)->depth) {
		team_of(w)->depth++;
		return team_of(w)->size;
	}
	if (w->sched->is_serial || w->node->nr_workers == 1) {
		team_of(w)->size = team_of(w)->depth = 1;
		return 1;
	}
	lead_team(w, nr);
	if (team_of(w)->size > 1)
		run_on(w, true);
	foreign_threads(&w->sched->foreign, team_of(w)->size);
	return team_of(w)->size;
}

void team_end(struct worker *w)
{
	if (team_of(w)->depth > 1 || w->sched->is_serial ||
	    w->node->nr_workers == 1) {
		team_of(w)->depth--;
		return;
	}
	foreign_threads(&w->sched->foreign, 1);
	if (team_of(w)->size > 1)
		run_on(w, false);
	return_workers(w);
}

const struct mechanism team_mechanism = {
	.name = "team",
	.uses = "holdoff quota",
	.needs = "quota",
	.of_worker = MECHANISM_DATA(struct team_worker),
	.of_node = MECHANISM_DATA(struct team_node),
};
