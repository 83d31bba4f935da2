/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The parts of the steal rule that loop: over a task's accesses, over nodes.
 */
#include "policy/deficit.h"

#include "base/util.h"
#include "policy/plan.h"

/* The block that a task writes counts a little more. */
#define OWN_WEIGHT 1.01
/* Nodes with this part of the most bytes are as good a place. */
#define NEARLY_MOST 0.9

double deficit_median(const double *measured, int nr)
{
	int i, j, nr_known = 0, rank;
	double best = 0;

	for (i = 0; i < nr; i++)
		nr_known += measured[i] > 0;
	for (i = 0; i < nr; i++) {
		if (!(measured[i] > 0))
			continue;
		rank = 0;
		for (j = 0; j < nr; j++)
			rank += measured[j] > 0 && measured[j] < measured[i];
		/* The largest with at most so many below it. */
		if (rank <= (nr_known - 1) / 2 && measured[i] > best)
			best = measured[i];
	}
	return best > 0 ? best : 1;
}

double deficit_mean(const struct deficit_node *node, int nr)
{
	double work = 0, nr_workers = 0;
	int n;

	for (n = 0; n < nr; n++) {
		work += node[n].remaining * node[n].rate;
		nr_workers += node[n].nr_workers;
	}
	return nr_workers > 0 ? work / nr_workers : 0;
}

double deficit_extra_at(int distance)
{
	return PLAN_MEMORY_SHARE * (plan_penalty(distance) - 1);
}

double deficit_extra(const struct deficit_use *use, uint32_t nr,
		     const double *extra)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (use[i].node >= 0)
			sum += use[i].bytes * extra[use[i].node];
	return sum;
}

/* Among nodes with about as many bytes, with less to do; else best itself. */
static int less_loaded(const struct deficit_node *node, int nr, int best,
		       const double *weight, double bytes)
{
	double left, time = deficit_time(&node[best]), least = time;
	double gap = DEFICIT_GAP * time +
		     bytes * node[best].rate / node[best].nr_workers;
	int n, other = best;

	for (n = 0; n < nr; n++) {
		if (!node[n].nr_workers ||
		    weight[n] < NEARLY_MOST * weight[best])
			continue;
		left = deficit_time(&node[n]);
		if (time - left > gap && left < least) {
			least = left;
			other = n;
		}
	}
	return other;
}

int deficit_place(const struct deficit_use *use, uint32_t nr_uses,
		  const struct deficit_node *node, int nr, int here,
		  double *weight)
{
	int n, best = node[here].nr_workers ? here : -1;
	double bytes = 0;
	uint32_t i;

	for (n = 0; n < nr; n++)
		weight[n] = 0;
	for (i = 0; i < nr_uses; i++) {
		bytes += use[i].bytes;
		if (use[i].node >= 0)
			weight[use[i].node] +=
				use[i].bytes * (use[i].is_own ? OWN_WEIGHT : 1);
	}
	for (n = 0; n < nr; n++)
		if (node[n].nr_workers &&
		    (best < 0 || weight[n] > weight[best]))
			best = n;
	check(best >= 0);
	return weight[best] > 0 ? less_loaded(node, nr, best, weight, bytes)
				: best;
}
