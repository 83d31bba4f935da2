/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/bind.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
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

	lock_take(&v->node->team_lock);
	has_gone =
		!v->is_leader && !sched_setaffinity(tid, sizeof(*home), home);
	lock_give(&v->node->team_lock);
	return has_gone;
}

void bind_restore(const struct worker *v, int tid, const cpu_set_t *own)
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
		log_text(s->quota.log, LKDF_LOG_INFO,
			 "quota: worker %d is back on CPU %d", v->id, v->cpu);
	else
		log_text(s->quota.log, LKDF_LOG_INFO,
			 "quota: worker %d is back on the CPUs of node %d",
			 v->id, v->executor->node);
}

/* ---- away from a CPU that others have ------------------------------------ */

static bool may_leave(const struct worker *w)
{
	const struct sched *s = w->sched;

	return a_load(&w->bind, relaxed) == BIND_CPU &&
	       s->options->pin == PIN_AUTO && !w->team_depth &&
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
	log_text(w->sched->quota.log, LKDF_LOG_INFO,
		 "sched: worker %d has waited %d of %d ms for CPU %d and "
		 "leaves it for those of its node",
		 w->id, (int)(waited_ns / 1000000), (int)(ns / 1000000),
		 w->cpu);
}

void bind_look(struct worker *w, uint64_t waited_ns, int64_t at_ns)
{
	uint64_t waited = waited_ns - w->waited_ns;
	int64_t ns = at_ns - w->waited_at_ns;
	bool is_first = !w->waited_at_ns;

	if (!is_first && ns < LEAVE_NS)
		return;
	w->waited_ns = waited_ns;
	w->waited_at_ns = at_ns;
	if (!is_first && waited >= (uint64_t)ns / LEAVE_PART && may_leave(w))
		leave_cpu(w, waited, ns);
}
