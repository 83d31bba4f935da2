/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The CPUs that the thread of a worker is bound to: one, those of its node, or
 * none. It may leave them, and is bound to them again: mechanism/unpin.
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

#endif
