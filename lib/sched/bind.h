/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The CPUs that the thread of a worker is bound to: one, those of its node, or
 * none. The kernel widens the set by itself, when a CPU goes away or a cpuset
 * changes: whoever looks at the quota binds the thread again (bind_restore()).
 * A worker that is bound to one CPU and waits for it for a quarter of a second
 * in a second, because other threads have it, leaves it for those of its node
 * (bind_look()), unless the user has said pin=yes.
 */
#ifndef SCHED_BIND_H
#define SCHED_BIND_H

#include "sched/sched.h"
#include "topo/topo.h"

#include <sched.h>

/* The CPUs of a worker: its own, those of its node, or any. */
enum bind {
	BIND_NONE,
	BIND_CPU,
	BIND_NODE
};

static inline void bind_add_node(const struct worker *v, cpu_set_t *set)
{
	const struct topo *t = v->sched->topo;
	const struct topo_node *node = &t->node[v->executor->node];
	int i, cpu;

	for (i = node->first_cpu; i < node->first_cpu + node->nr_cpus; i++) {
		cpu = t->cpu[i].os_cpu;
		if (cpu < CPU_SETSIZE)
			CPU_SET(cpu, set);
	}
}

/* Any thread: adds the CPUs that it is bound to. False: it is to none. */
static inline bool bind_add(const struct worker *v, cpu_set_t *set)
{
	switch ((enum bind)a_load(&v->bind, relaxed)) {
	case BIND_CPU:
		if (v->cpu >= CPU_SETSIZE)
			return false;
		CPU_SET(v->cpu, set);
		return true;
	case BIND_NODE:
		bind_add_node(v, set);
		return true;
	case BIND_NONE:
		break;
	}
	return false;
}

/* Any thread: it may run on CPUs of own, which may be more than it should. */
void bind_restore(const struct worker *v, int tid, const cpu_set_t *own);

/*
 * This worker only: so long has its thread waited for a CPU until at_ns, since
 * it began.
 */
void bind_look(struct worker *w, uint64_t waited_ns, int64_t at_ns);

#endif
