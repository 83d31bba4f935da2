/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/seats.h"

#include "base/err.h"
#include "base/options.h"
#include "core/runtime.h"
#include "core/stock.h"
#include "sched/bind.h"
#include "topo/topo.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdlib.h>

int seats_count(const struct lkdf *rt)
{
	const struct options *o = rt->options;
	int64_t nr = o->workers;

	if (o->serial)
		return 1;
	if (!nr)
		return topo_default_workers(rt->topo, o->reserve_workers != 0);
	if (o->workers_per_node)
		nr *= topo_cpu_nodes(rt->topo);
	return nr <= TOPO_MAX_WORKERS
		       ? (int)nr
		       : err(-EINVAL,
			     "open: %d workers on all nodes, at most %d",
			     (int)nr, TOPO_MAX_WORKERS);
}

int seats_count_all(const struct lkdf *rt, int nr_regular)
{
	int nr = rt->options->serial ? 0 : (int)rt->options->substitutes;

	if (nr_regular < 0)
		return nr_regular;
	if (nr <= TOPO_MAX_WORKERS - nr_regular)
		return nr_regular + nr;
	return err(-EINVAL, "open: %d workers and %d substitutes, at most %d",
		   nr_regular, nr, TOPO_MAX_WORKERS);
}

/* Under stocks_lock(): marks what workers of another runtime are bound to. */
static void mark_taken(const struct lkdf *rt, const struct lkdf *other,
		       bool *is_taken)
{
	const struct topo *t = rt->topo;
	int i, cpu;

	/* In a forked child the parent's runtimes have no threads. */
	if (other == rt || !a_load(other->is_alive, relaxed))
		return;
	for (i = 0; i < t->nr_cpus; i++) {
		cpu = t->cpu[i].os_cpu;
		if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &other->cpus))
			is_taken[i] = true;
	}
}

static bool may_bind(const struct lkdf *rt)
{
	const struct options *o = rt->options;

	return o->pin != PIN_NO && !o->serial && !rt->topo->is_synthetic;
}

static enum bind choose_bind(const struct lkdf *rt, enum topo_deal deal)
{
	const struct options *o = rt->options;

	if (!may_bind(rt) || deal == TOPO_DEAL_CROWDED)
		return BIND_NONE;
	if (o->pin == PIN_YES)
		return BIND_CPU;
	if (deal == TOPO_DEAL_SHARED)
		return BIND_NODE;
	return !o->cpus[0] && rt->nr_regular < rt->topo->nr_cpus ? BIND_NODE
								 : BIND_CPU;
}

/* Under stocks_lock(). */
static void note_cpus(struct lkdf *rt, const struct sched_setup *a)
{
	int i, cpu;

	CPU_ZERO(&rt->cpus);
	for (i = 0; a->bind == BIND_CPU && i < rt->nr_regular; i++) {
		cpu = rt->topo->cpu[a->cpu_index[i]].os_cpu;
		if (cpu < CPU_SETSIZE)
			CPU_SET(cpu, &rt->cpus);
	}
}

/* Substitutes, after all others: they are dealt to the nodes as those are. */
static void deal_substitutes(const struct lkdf *rt, int *cpu_index)
{
	int nr = rt->nr_workers - rt->nr_regular, i;

	for (i = 0; i < nr; i++)
		cpu_index[rt->nr_regular + i] =
			cpu_index[(int64_t)i * rt->nr_regular / nr];
}

static enum topo_deal deal_cpus(struct lkdf *rt, struct sched_setup *a,
				int *cpu_index, bool *is_taken)
{
	struct list *all = stocks_lock(), *l;
	enum topo_deal deal;

	for (l = all->next; may_bind(rt) && l != all; l = l->next)
		mark_taken(rt, container_of(l, struct lkdf, stocks.all),
			   is_taken);
	deal = topo_place_workers(rt->topo, rt->nr_regular,
				  rt->options->workers_per_node != 0, is_taken,
				  cpu_index);
	deal_substitutes(rt, cpu_index);
	a->bind = choose_bind(rt, deal);
	a->cpu_index = cpu_index;
	note_cpus(rt, a);
	stocks_unlock();
	return deal;
}

int seats_take(struct lkdf *rt, struct sched_setup *a)
{
	int *cpu_index = calloc((size_t)rt->nr_workers, sizeof(*cpu_index));
	bool *is_taken = calloc((size_t)rt->topo->nr_cpus, sizeof(*is_taken));
	enum topo_deal deal;

	if (!cpu_index || !is_taken) {
		free(cpu_index);
		free(is_taken);
		return err(-ENOMEM, "runtime: no memory for %d workers",
			   rt->nr_workers);
	}
	deal = deal_cpus(rt, a, cpu_index, is_taken);
	free(is_taken);
	a->is_crowded = deal == TOPO_DEAL_CROWDED;
	check(!a->is_crowded || a->bind == BIND_NONE);
	if (a->is_crowded)
		log_text(
			&rt->log, LKDF_LOG_INFO,
			"sched: %d workers on %d CPUs: not pinned, no spinning",
			rt->nr_regular, rt->topo->nr_cpus);
	if (deal == TOPO_DEAL_SHARED)
		log_text(&rt->log, LKDF_LOG_INFO,
			 "sched: another runtime of this process has CPUs that "
			 "%d workers need: workers are bound to %s",
			 rt->nr_regular,
			 a->bind == BIND_CPU ? "the same ones"
					     : "their nodes only");
	return 0;
}

void seats_give(struct lkdf *rt)
{
	stocks_lock();
	CPU_ZERO(&rt->cpus);
	stocks_unlock();
}
