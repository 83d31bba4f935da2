/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A leader and a worker that lends it its CPU: team.c as it is shipped, with
 * the sleep of park.c. While the leader is in its body no other worker is in
 * one; the leader is not kept waiting for ever, nor is who has lent.
 */
#include "lay.h"
#include "mc.h"
#include "sched/sched.h"

#define NR_WORKERS 2

static struct sched sched;
static struct sched_node node;
static struct worker workers[NR_WORKERS];
static _Atomic(uint32_t) nr_bodies; /* in which some worker is */
static _Atomic(uint32_t) has_ended;

/* ---- what team.c calls -------------------------------------------------- */

void worker_share_all(struct worker *w)
{
	(void)w;
}

void holdoff_stop(struct worker *w)
{
	(void)w;
	mc_fail("%s", __func__);
}

void foreign_threads(const struct foreign *f, int nr)
{
	(void)f;
	(void)nr;
}

/* Whoever is on standby looks at the node's word here. */
void quota_stir(struct quota *q)
{
	(void)q;
}

/* ---- workers ------------------------------------------------------------ */

static void init(void)
{
	int i;

	sched.workers = workers;
	sched.nr_workers = sched.nr_regular = node.nr_workers = NR_WORKERS;
	park_init(&node.park);
	sched.nodes = &node;
	sched.nr_nodes = 1;
	lay_data(&sched);
	a_store(&nr_bodies, 0, relaxed);
	a_store(&has_ended, 0, relaxed);
	for (i = 0; i < NR_WORKERS; i++) {
		workers[i].sched = &sched;
		workers[i].node = &node;
		workers[i].id = i;
		workers[i].cpu = -1;
		a_store(&workers[i].is_parking, 0, relaxed);
		mc_name(&team_of(&workers[i])->lent_to,
			i ? "lent_to 1" : "lent_to 0");
		mc_name(&team_of(&workers[i])->is_away,
			i ? "is_away 1" : "is_away 0");
		mc_name(&workers[i].is_parking, i ? "drowsy 1" : "drowsy 0");
	}
	mc_name(&team_at(&node)->word, "team_word");
}

static void enter_body(void)
{
	mc_assert(!a_add(&nr_bodies, 1, relaxed));
}

static void leave_body(void)
{
	a_sub(&nr_bodies, 1, relaxed);
}

static void lead(struct worker *w)
{
	mc_assert(team_begin(w, NR_WORKERS) == NR_WORKERS);
	enter_body();
	leave_body();
	team_end(w);
}

/* Until it is to begin a body: as quota_must_leave() and quota_stand_by() have
 * it.
 */
static void lend(struct worker *w)
{
	if (!team_has(w))
		return;
	mc_see("lends");
	team_rest(w);
}

static void run_body(struct worker *w)
{
	lend(w);
	/* Between the look and the body others may not begin a team's. */
	enter_body();
	leave_body();
}

/* As sleep_once(), of a worker that nobody wakes but who wants its CPU. */
static void sleep_once(struct worker *w)
{
	worker_nap(w);
	park_announce(&node.park);
	if (team_has(w) || a_load(&has_ended, seq_cst)) {
		park_retract(&node.park);
	} else {
		mc_see("sleeps");
		park_sleep_uncalled(&node.park, -1, &w->is_parking,
				    park_bits(w->cpu));
	}
	worker_rise(w);
}

/* ---- scenarios ---------------------------------------------------------- */

/* Another team follows at once: who comes back from the first looks. */
static void two_teams_in_turn(int id)
{
	struct worker *w = &workers[id];

	if (id == 0) {
		lead(w);
		lead(w);
		return;
	}
	run_body(w);
	run_body(w);
	/* From here on it has nothing to run. */
	team_away(w);
}

static void both_lead(int id)
{
	lead(&workers[id]);
	team_away(&workers[id]);
}

static void it_sleeps(int id)
{
	struct worker *w = &workers[id];

	if (id == 0) {
		lead(w);
		a_store(&has_ended, 1, seq_cst);
		park_wake_all(&node.park);
		return;
	}
	park_spin(&node.park);
	while (!a_load(&has_ended, seq_cst)) {
		lend(w);
		sleep_once(w);
	}
	park_found(&node.park);
}

static void is_free(void)
{
	int i;

	for (i = 0; i < NR_WORKERS; i++)
		mc_assert(!a_load(&team_of(&workers[i])->lent_to, relaxed));
	mc_assert(!a_load(&nr_bodies, relaxed));
}

static const struct mc_scenario table[] = {
	{ .name = "a worker lends its CPU to one team, then to the next",
	  .nr_threads = 2,
	  .bound = 2,
	  .timeouts = 0,
	  .init = init,
	  .thread = two_teams_in_turn,
	  .final = is_free,
	  .must_see = { "lends" } },
	{ .name = "two want each other's CPU",
	  .nr_threads = 2,
	  .bound = 2,
	  .timeouts = 0,
	  .init = init,
	  .thread = both_lead,
	  .final = is_free },
	{ .name = "a sleeper is called to lend its CPU",
	  .nr_threads = 2,
	  .bound = 2,
	  .timeouts = 0,
	  .init = init,
	  .thread = it_sleeps,
	  .final = is_free,
	  .must_see = { "lends", "sleeps" } },
};

MC_MAIN(table)
