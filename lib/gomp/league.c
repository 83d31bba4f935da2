/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Teams of the host: the block of a teams construct runs once for each, one
 * after the other, in the thread that meets it. Threads and tasks below have
 * the number of their team with their other variables.
 */
#include "gomp/calls.h"
#include "gomp/gomp.h"

#include <limits.h>

/* As libgomp, where nobody says how many. */
#define NR_TEAMS 3

/* Set by the program, else 0 and the environment says. */
static _Atomic(uint32_t) most_teams, most_threads;

unsigned league_teams(void)
{
	unsigned nr = a_load(&most_teams, relaxed);

	return nr ? nr : settings_get()->nr_teams;
}

unsigned league_threads(void)
{
	unsigned nr = a_load(&most_threads, relaxed);

	return nr ? nr : settings_get()->teams_limit;
}

void league_set_teams(int nr)
{
	a_store(&most_teams, nr < 0 ? 0 : (uint32_t)nr, relaxed);
}

void league_set_threads(int nr)
{
	a_store(&most_threads, nr < 0 ? 0 : (uint32_t)nr, relaxed);
}

static void set_limit(unsigned limit)
{
	if (limit)
		gomp_self.env.thread_limit = limit > INT_MAX ? INT_MAX : limit;
}

void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned nr, unsigned limit,
		    unsigned flags)
{
	struct env before, *e = &gomp_self.env;

	(void)flags;
	team_self();
	before = *e;
	if (!nr)
		nr = league_teams();
	if (!nr)
		nr = NR_TEAMS;
	set_limit(limit ? limit : league_threads());
	e->nr_teams = nr;
	for (e->team_num = 0; e->team_num < nr; e->team_num++)
		fn(data);
	*e = before;
}

/* In a target block: as many teams as there are at least. */
bool GOMP_teams4(unsigned least, unsigned most, unsigned limit, bool is_first)
{
	struct env *e = &gomp_self.env;

	(void)most;
	team_self();
	if (!is_first)
		return ++e->team_num < e->nr_teams;
	set_limit(limit);
	e->nr_teams = least ? least : 1;
	e->team_num = 0;
	return true;
}

/* For programs of gcc before 12. */
void GOMP_teams(unsigned nr, unsigned limit)
{
	(void)nr;
	team_self();
	set_limit(limit);
}
