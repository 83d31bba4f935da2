/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/unpin/unpin.h"

#include "base/log.h"
#include "base/options.h"
#include "mechanism/team/team.h"
#include "sched/bind.h"
#include "trace/counters.h"
#include "trace/trace.h"

#include <lkdf/runtime.h>

/* Between two comparisons of what a worker has waited, at least. */
#define LEAVE_NS 1000000000

/* A worker leaves that has waited for a quarter of the time. */
#define LEAVE_PART 4

/* ---- back to its CPUs ---------------------------------------------------- */

/* False: it has the CPUs of a team, which under the lock it does not begin. */
static bool go_there(const struct worker *v, int tid, const cpu_set_t *home)
{
	bool has_gone;

	lock_take(&team_at(v->node)->lock);
	has_gone = !team_of(v)->is_leader &&
		   !sched_setaffinity(tid, sizeof(*home), home);
	lock_give(&team_at(v->node)->lock);
	return has_gone;
}

void unpin_restore(const struct worker *v, int tid, const cpu_set_t *own)
{
	const struct sched *s = v->sched;
	cpu_set_t home, both;

	CPU_ZERO(&home);
	if (!bind_add(v, &home))
		return;
	CPU_AND(&both, &home, own);
	if (!CPU_COUNT(&both) || CPU_EQUAL(&both, own))
		return;
	/* Numbers of threads that have ended are given on. */
	if (!tid || a_load(&s->is_stopping, relaxed))
		return;
	if (!go_there(v, tid, &both))
		return;
	if (a_load(&v->bind, relaxed) == BIND_CPU)
		log_text(s->log, LKDF_LOG_INFO,
			 "quota: worker %d is back on CPU %d", v->id, v->cpu);
	else
		log_text(s->log, LKDF_LOG_INFO,
			 "quota: worker %d is back on the CPUs of node %d",
			 v->id, v->executor->node);
}

/* ---- away from a CPU that others have ------------------------------------ */

static bool may_leave(const struct worker *w)
{
	const struct sched *s = w->sched;

	return a_load(&w->bind, relaxed) == BIND_CPU &&
	       s->options->pin == PIN_AUTO && !team_of(w)->depth &&
	       s->topo->node[w->executor->node].nr_cpus > 1;
}

static void leave_cpu(struct worker *w, uint64_t waited_ns, int64_t ns)
{
	cpu_set_t set;

	a_store(&w->bind, BIND_NODE, relaxed);
	CPU_ZERO(&set);
	bind_add_node(w, &set);
	sched_setaffinity(0, sizeof(set), &set);
	trace_unbind(w->executor->ring);
	counter_add(w->executor->counters, COUNTER_UNPINNED, 1);
	log_text(w->sched->log, LKDF_LOG_INFO,
		 "sched: worker %d has waited %d of %d ms for CPU %d and "
		 "leaves it for those of its node",
		 w->id, (int)(waited_ns / 1000000), (int)(ns / 1000000),
		 w->cpu);
}

void unpin_look(struct worker *w, uint64_t waited_ns, int64_t at_ns)
{
	struct unpin *u = unpin_of(w);
	uint64_t waited = waited_ns - u->waited_ns;
	int64_t ns = at_ns - u->at_ns;
	bool is_first = !u->at_ns;

	if (!is_first && ns < LEAVE_NS)
		return;
	u->waited_ns = waited_ns;
	u->at_ns = at_ns;
	if (!is_first && waited >= (uint64_t)ns / LEAVE_PART && may_leave(w))
		leave_cpu(w, waited, ns);
}

const struct mechanism unpin_mechanism = {
	.name = "unpin",
	.uses = "team",
	.of_worker = MECHANISM_DATA(struct unpin),
};
