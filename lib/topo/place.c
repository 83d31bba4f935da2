/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Dealing workers to CPUs. A total is dealt in proportion to weights by
 * rounding the running sum: everybody gets his exact share rounded down or up,
 * nothing is lost, and a few workers come to lie far apart. Cores are dealt
 * first, second threads only when all cores are taken, and whole rounds over
 * all CPUs when there are more workers than CPUs.
 */
#include "topo/topo.h"

int topo_cpu_nodes(const struct topo *t)
{
	int i, n = 0;

	for (i = 0; i < t->nr_nodes; i++)
		n += t->node[i].nr_cpus > 0;
	return n;
}

int topo_default_workers(const struct topo *t, bool reserves)
{
	int n = t->nr_cores;

	if (!reserves && t->quota > 0 && t->quota < n)
		n = t->quota;
	if (n > TOPO_MAX_WORKERS)
		n = TOPO_MAX_WORKERS;
	return n > 0 ? n : 1;
}

/* The share that falls to the weights before .. before + own - 1 of sum. */
static int share_of(int total, int before, int own, int sum)
{
	int64_t end = (int64_t)total * (before + own) + sum - 1;
	int64_t start = (int64_t)total * before + sum - 1;

	return sum ? (int)(end / sum - start / sum) : 0;
}

/* Workers of node n when they are dealt in proportion. */
static int proportional_shares(const struct topo *t, int n, int nr_workers)
{
	int left = nr_workers % t->nr_cpus, cores = 0, cpus = 0, i;
	const struct topo_node *node = &t->node[n];
	int whole = nr_workers / t->nr_cpus * node->nr_cpus;

	for (i = 0; i < n; i++) {
		cores += t->node[i].nr_cores;
		cpus += t->node[i].nr_cpus;
	}
	if (left <= t->nr_cores)
		return whole +
		       share_of(left, cores, node->nr_cores, t->nr_cores);
	return whole + node->nr_cores +
	       share_of(left - t->nr_cores, cpus - cores,
			node->nr_cpus - node->nr_cores,
			t->nr_cpus - t->nr_cores);
}

/* Workers of node n when every node with CPUs gets the same number. */
static int equal_shares(const struct topo *t, int n, int nr_workers)
{
	int before = 0, i;

	for (i = 0; i < n; i++)
		before += t->node[i].nr_cpus > 0;
	return share_of(nr_workers, before, t->node[n].nr_cpus > 0,
			topo_cpu_nodes(t));
}

bool topo_place_workers(const struct topo *t, int nr_workers, bool is_per_node,
			int *cpu_index)
{
	const struct topo_node *node;
	bool is_own = true;
	int n, i, nr, w = 0;

	for (n = 0; n < t->nr_nodes; n++) {
		node = &t->node[n];
		nr = is_per_node ? equal_shares(t, n, nr_workers)
				 : proportional_shares(t, n, nr_workers);
		for (i = 0; i < nr; i++)
			cpu_index[w++] = node->first_cpu + i % node->nr_cpus;
		is_own = is_own && nr <= node->nr_cpus;
	}
	return is_own;
}
