/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/homes.h"

#include "base/options.h"
#include "core/home.h"
#include "core/runtime.h"
#include "core/seen.h"
#include "data/data.h"
#include "data/facts.h"
#include "task/task.h"
#include "topo/topo.h"

static int node_of_use(const struct use *u)
{
	const struct lkdf_data *d = u->domain->data;

	if (!d->is_mapped)
		return a_load(&d->node, relaxed);
	return a_load(&domain_var((struct domain *)&d->domain, u->part)->node,
		      relaxed);
}

static __attribute__((noinline)) void find_home(struct executor *ex,
						struct task *t)
{
	const struct lkdf *rt = t->kind->rt;
	struct seen s = { .nr = 0 };
	struct lkdf_data *by = NULL;
	const struct use *u;
	unsigned best;
	int node;

	for (u = t->claim->first; u; u = u->after) {
		if (u->flags & (USE_WEAK | USE_HIDDEN))
			continue;
		if (facts_see(&s, u->domain->data, u->part)) {
			by = u->domain->data;
			continue;
		}
		node = node_of_use(u);
		if (node >= 0 && node < rt->topo->nr_nodes)
			seen_add(&s, node, data_size(u->domain->data, u->part));
	}
	best = s.nr ? seen_most(&s) : 0;
	if (!s.nr || s.bytes[best] < HOME_MIN_BYTES ||
	    !sched_has_worker(&rt->sched, s.node[best]))
		return;
	t->home = home_make(s.node[best], false);
	t->link.flags |= TASK_PLACED;
	if (by)
		facts_placed(ex, by, s.node[best]);
}

void homes_find(struct executor *ex, struct task *t)
{
	const struct lkdf *rt = t->kind->rt;

	if (rt->sched.nr_worker_nodes > 1 && rt->options->placement &&
	    !(t->link.flags & TASK_PLACED || t->kind->flags & LKDF_BLOCKING))
		find_home(ex, t);
}
