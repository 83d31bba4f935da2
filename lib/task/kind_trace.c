/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recordings that begin and end while tasks run: all kinds follow. */
#include "task/kind.h"

#include "core/runtime.h"
#include "topo/topo.h"

/* The short ways are for those that nobody traces. */
void kind_set_paths(struct lkdf_kind *k, uint32_t slow)
{
	bool is_traced = slow & SLOW_TRACED;

	a_store(&k->is_plain, k->is_child && !is_traced, relaxed);
	a_store(&k->starts_slowly, k->may_block || is_traced, relaxed);
}

/*
 * Recorded or not, as all others. Its copies are made under the lock, so they
 * are as it is.
 */
static void trace_kind_and_copies(struct lkdf_kind *k, bool is_traced)
{
	struct lkdf_kind *p;
	uint32_t slow;
	int i;

	if (!k)
		return;
	if (is_traced)
		slow = a_or(&k->slow, SLOW_TRACED, relaxed) | SLOW_TRACED;
	else
		slow = a_and(&k->slow, ~SLOW_TRACED, relaxed) & ~SLOW_TRACED;
	kind_set_paths(k, slow);
	for (i = 0; k->copies && i < k->rt->topo->nr_nodes; i++)
		trace_kind_and_copies(k->copies[i], is_traced);
	for (i = 0; i < NR_STEPS; i++)
		trace_kind_and_copies(k->around[i], is_traced);
	for (p = k->on_parts; p; p = p->next_on_part)
		trace_kind_and_copies(p, is_traced);
}

void kind_trace_all(struct lkdf *rt, bool is_traced)
{
	struct list *l;

	pthread_mutex_lock(&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next)
		trace_kind_and_copies(container_of(l, struct lkdf_kind, all),
				      is_traced);
	pthread_mutex_unlock(&rt->lock);
}

/* Under the lock: of a kind and its copies; UINT64_MAX: none was timed. */
static uint64_t least_of(const struct lkdf_kind *k)
{
	uint64_t ticks = k ? a_load(&k->least_ticks, relaxed) : 0;
	const struct lkdf_kind *p;
	int i;

	ticks = ticks ? ticks : UINT64_MAX;
	if (!k)
		return ticks;
	for (i = 0; k->copies && i < k->rt->topo->nr_nodes; i++)
		ticks = min_u64(ticks, least_of(k->copies[i]));
	for (i = 0; i < NR_STEPS; i++)
		ticks = min_u64(ticks, least_of(k->around[i]));
	for (p = k->on_parts; p; p = p->next_on_part)
		ticks = min_u64(ticks, least_of(p));
	return ticks;
}

uint64_t kind_alone_ticks(struct lkdf *rt, uint32_t trace_name)
{
	const struct lkdf_kind *k;
	uint64_t ticks = UINT64_MAX;
	const struct list *l;

	pthread_mutex_lock(&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next) {
		k = container_of(l, const struct lkdf_kind, all);
		if (k->trace_name == trace_name)
			ticks = min_u64(ticks, least_of(k));
	}
	pthread_mutex_unlock(&rt->lock);
	return ticks == UINT64_MAX ? 0 : ticks;
}

/* Under the lock it is as whoever starts or ends a recording wants all. */
void kind_enlist(struct lkdf_kind *k)
{
	struct lkdf *rt = k->rt;

	pthread_mutex_lock(&rt->lock);
	list_append(&rt->kinds, &k->all);
	if (trace_is_recording(&rt->trace))
		trace_kind_and_copies(k, true);
	pthread_mutex_unlock(&rt->lock);
}
