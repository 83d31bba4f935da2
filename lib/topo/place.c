/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Dealing workers to CPUs. A total is dealt in proportion to weights by
 * rounding the running sum: everybody gets his exact share rounded down or up,
 * nothing is lost, and a few workers come to lie far apart. Cores are dealt
 * first, second threads only when all cores are taken, and whole rounds over
 * all CPUs when there are more workers than CPUs.
 */
#include "topo/topo.h"

#include "base/util.h"

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

/* CPUs that may be dealt. */
struct supply {
	int cores, cpus; /* cores: first threads of them */
};

static struct supply supply_of(const struct topo *t, int n,
			       const bool *is_taken)
{
	const struct topo_node *node = &t->node[n];
	struct supply own = { 0, 0 };
	int i;

	for (i = node->first_cpu; i < node->first_cpu + node->nr_cpus; i++) {
		if (is_taken && is_taken[i])
			continue;
		own.cpus++;
		own.cores += !t->cpu[i].smt;
	}
	return own;
}

/* It counts the nodes below n. */
static struct supply supply_below(const struct topo *t, int n,
				  const bool *is_taken)
{
	struct supply sum = { 0, 0 }, own;
	int i;

	for (i = 0; i < n; i++) {
		own = supply_of(t, i, is_taken);
		sum.cpus += own.cpus;
		sum.cores += own.cores;
	}
	return sum;
}

/* Workers of node n when they are dealt in proportion. */
static int proportional_shares(const struct topo *t, int n, int nr_workers,
			       const bool *is_taken)
{
	struct supply all = supply_below(t, t->nr_nodes, is_taken);
	struct supply below = supply_below(t, n, is_taken);
	struct supply own = supply_of(t, n, is_taken);
	int left = nr_workers % all.cpus;
	int whole = nr_workers / all.cpus * own.cpus;

	if (left <= all.cores)
		return whole +
		       share_of(left, below.cores, own.cores, all.cores);
	return whole + own.cores +
	       share_of(left - all.cores, below.cpus - below.cores,
			own.cpus - own.cores, all.cpus - all.cores);
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

/* A number of workers, and the CPUs that may be dealt to them. */
struct deal {
	const struct topo *t;
	int nr_workers;
	bool is_per_node;
	const bool *is_taken;
};

/* To the CPUs of node n, in rounds; false: some have more than one worker. */
static bool deal_node(const struct deal *d, int n, int *cpu_index, int *at)
{
	const struct topo_node *node = &d->t->node[n];
	int nr = d->is_per_node ? equal_shares(d->t, n, d->nr_workers)
				: proportional_shares(d->t, n, d->nr_workers,
						      d->is_taken);
	int free = supply_of(d->t, n, d->is_taken).cpus, left = nr, i;

	for (i = 0; left && free; i = (i + 1) % node->nr_cpus) {
		if (d->is_taken && d->is_taken[node->first_cpu + i])
			continue;
		cpu_index[(*at)++] = node->first_cpu + i;
		left--;
	}
	check(*at <= d->nr_workers);
	return nr <= free;
}

static bool deal_all(const struct deal *d, int *cpu_index)
{
	bool is_own = true;
	int n, at = 0;

	for (n = 0; n < d->t->nr_nodes; n++)
		is_own &= deal_node(d, n, cpu_index, &at);
	check(!is_own || at == d->nr_workers);
	return is_own;
}

enum topo_deal topo_place_workers(const struct topo *t, int nr_workers,
				  bool is_per_node, const bool *is_taken,
				  int *cpu_index)
{
	int nr_free = supply_below(t, t->nr_nodes, is_taken).cpus;
	struct deal d = { t, nr_workers, is_per_node, is_taken };

	if (nr_workers <= nr_free && deal_all(&d, cpu_index))
		return TOPO_DEAL_OWN;
	d.is_taken = NULL;
	if (!deal_all(&d, cpu_index))
		return TOPO_DEAL_CROWDED;
	return nr_free == t->nr_cpus ? TOPO_DEAL_OWN : TOPO_DEAL_SHARED;
}
