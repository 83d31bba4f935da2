/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "policy/policy.h"

/* Smaller is tried earlier: distance, then cache, then number after self. */
static int64_t rank_of(const struct policy_peer *peer, int nr, int self, int i)
{
	int after = (i - self + nr) % nr;

	return ((int64_t)peer[i].distance * 2 + !peer[i].shares_cache) * nr +
	       after;
}

int policy_steal_order(const struct policy_peer *peer, int nr, int self,
		       int *order)
{
	int nr_near = 0, n = 0, i, j;

	for (i = 0; i < nr; i++) {
		if (i == self)
			continue;
		for (j = n++; j > 0 && rank_of(peer, nr, self, order[j - 1]) >
					       rank_of(peer, nr, self, i);
		     j--)
			order[j] = order[j - 1];
		order[j] = i;
		nr_near += peer[i].distance <= 10;
	}
	return nr_near;
}
