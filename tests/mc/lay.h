/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The data of mechanisms for programs that make workers by hand. The programs
 * set its fields, as those of workers: memory of a search is not zeroed.
 */
#ifndef MC_LAY_H
#define MC_LAY_H

#include "mc.h"
#include "mechanism/crew/crew.h"
#include "mechanism/due/due.h"
#include "mechanism/far/far.h"
#include "mechanism/gate/gate.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/lend/lend.h"
#include "mechanism/part/part.h"
#include "mechanism/publish/publish.h"
#include "mechanism/quota/quota.h"
#include "mechanism/team/team.h"

#define LAY_WORKERS 4

static struct {
	struct due_worker due;
	struct far far;
	struct gate_holder gate;
	struct holdoff holdoff;
	struct lend_worker lend;
	struct publish_worker publish;
	struct quota_worker quota;
	struct team_worker team;
} lay_workers[LAY_WORKERS];

static struct {
	struct crew_node crew;
	struct part_node part;
	struct team_node team;
} lay_nodes[LAY_WORKERS];

static struct {
	struct gate_sched gate;
	struct part_sched part;
	struct publish_sched publish;
	struct quota quota;
} lay_sched;

static void lay_worker(struct worker *w, int i)
{
	mc_assert(i < LAY_WORKERS);
	w->data[SLOT_DUE] = &lay_workers[i].due;
	w->data[SLOT_FAR] = &lay_workers[i].far;
	w->data[SLOT_GATE] = &lay_workers[i].gate;
	w->data[SLOT_HOLDOFF] = &lay_workers[i].holdoff;
	w->data[SLOT_LEND] = &lay_workers[i].lend;
	w->data[SLOT_PUBLISH] = &lay_workers[i].publish;
	w->data[SLOT_QUOTA] = &lay_workers[i].quota;
	w->data[SLOT_TEAM] = &lay_workers[i].team;
	a_store(&due_of(w)->is_due, 0, relaxed);
	a_store(&gate_of(w)->gate, NULL, relaxed);
	a_store(&gate_of(w)->over, NULL, relaxed);
	a_store(&gate_of(w)->nr_gated, 0, relaxed);
	a_store(&holdoff_of(w)->until, 0, relaxed);
	a_store(&lend_of(w)->has_lent, 0, relaxed);
	a_store(&quota_of(w)->is_exempt, 0, relaxed);
	a_store(&team_of(w)->lent_to, 0, relaxed);
	a_store(&team_of(w)->is_away, 0, relaxed);
	gate_of(w)->seen = gate_of(w)->since = 0;
	gate_of(w)->nap_ns = holdoff_of(w)->nap_ns = publish_of(w)->nap_ns = 0;
	publish_of(w)->is_watching = publish_of(w)->hidden.is_set = false;
	publish_of(w)->hidden.victim = 0;
	quota_of(w)->rank = 0;
	quota_of(w)->seen_at = 0;
	team_of(w)->depth = team_of(w)->size = 0;
	team_of(w)->is_leader = false;
}

static void lay_node(struct sched_node *node, int i)
{
	mc_assert(i < LAY_WORKERS);
	node->data[SLOT_CREW] = &lay_nodes[i].crew;
	node->data[SLOT_PART] = &lay_nodes[i].part;
	node->data[SLOT_TEAM] = &lay_nodes[i].team;
	a_store(&crew_at(node)->crew, NULL, relaxed);
	a_store(&part_at(node)->parts, NULL, relaxed);
	a_store(&team_at(node)->lock.word, 0, relaxed);
	a_store(&team_at(node)->word, 0, relaxed);
}

/* And all its nodes and workers. */
static void lay_data(struct sched *s)
{
	int i;

	s->data[SLOT_GATE] = &lay_sched.gate;
	s->data[SLOT_PART] = &lay_sched.part;
	s->data[SLOT_PUBLISH] = &lay_sched.publish;
	s->data[SLOT_QUOTA] = &lay_sched.quota;
	a_store(&gate_in(s)->gates, NULL, relaxed);
	a_store(&publish_in(s)->nr_watching, 0, relaxed);
	publish_in(s)->is_on = false;
	part_in(s)->parts = NULL;
	part_in(s)->nr_parts = 0;
	a_store(&quota_in(s)->look_at, UINT64_MAX, relaxed);
	a_store(&quota_in(s)->word, 0, relaxed);
	a_store(&quota_in(s)->nr_lent, 0, relaxed);
	a_store(&quota_in(s)->nr_running, 0, relaxed);
	a_store(&quota_in(s)->nr_standby, 0, relaxed);
	a_store(&quota_in(s)->is_deep, 0, relaxed);
	for (i = 0; i < s->nr_nodes; i++)
		lay_node(&s->nodes[i], i);
	for (i = 0; i < s->nr_workers; i++)
		lay_worker(&s->workers[i], i);
}

#endif
