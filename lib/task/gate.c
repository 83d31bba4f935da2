/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/gate.h"

#include "base/options.h"
#include "core/runtime.h"

#include <stdlib.h>
#include <string.h>

/* With narrow=force: several kinds share a gate, and there are several. */
#define NR_FORCED 3

/* ---- gates of a runtime -------------------------------------------------- */

static struct lkdf *runtime_of(const struct gate *g)
{
	return container_of(g->sched, struct lkdf, sched);
}

struct gate *gate_create(struct lkdf *rt)
{
	struct gate *g = aligned_alloc(CACHE_LINE, sizeof(*g));

	if (!g)
		return NULL;
	memset((void *)g, 0, sizeof(*g));
	if (!gate_init(g, &rt->sched)) {
		free(g);
		return NULL;
	}
	gate_enlist(g);
	return g;
}

/* ---- kinds --------------------------------------------------------------- */

static bool is_narrow(const struct gate *g)
{
	return gate_cap(a_load(&g->state, relaxed)) <
	       (uint32_t)runtime_of(g)->nr_workers;
}

static void follow_gate(struct lkdf_kind *k, void *gate)
{
	if (is_narrow(gate))
		a_or(&k->slow, SLOW_GATED, relaxed);
	else
		a_and(&k->slow, ~SLOW_GATED, relaxed);
}

static void add_copy(struct lkdf_kind *k, void *gate)
{
	/* [gate.add] what it is; pairs with [gate.find]. */
	a_store(&k->gate, gate, release);
	follow_gate(k, gate);
}

static bool may_have(const struct lkdf_kind *k)
{
	return !k->may_block && !(k->flags & LKDF_TEAM) && !k->is_ours &&
	       !k->is_member && !a_load(&k->gate, relaxed);
}

bool gate_add_locked(struct gate *g, struct lkdf_kind *k)
{
	mutex_assert_held(&k->rt->lock);
	if (!may_have(k))
		return false;
	kind_each_copy(k, add_copy, g);
	return true;
}

bool gate_add(struct gate *g, struct lkdf_kind *k)
{
	bool is_added;

	pthread_mutex_lock(&k->rt->lock);
	is_added = gate_add_locked(g, k);
	pthread_mutex_unlock(&k->rt->lock);
	return is_added;
}

static uint32_t cap_in(const struct lkdf *rt, uint32_t cap)
{
	uint32_t most = (uint32_t)rt->nr_workers;

	return cap < most ? cap : most;
}

/* The first kind makes all of them. NULL: no memory. */
static struct gate *forced_gate(struct lkdf *rt, uint32_t number)
{
	struct gate *g = a_load(&gate_in(&rt->sched)->gates, relaxed);
	uint32_t i;

	mutex_assert_held(&rt->lock);
	for (i = 0; !g && i < NR_FORCED; i++) {
		if (!gate_create(rt))
			return NULL;
		gate_limit(a_load(&gate_in(&rt->sched)->gates, relaxed),
			   cap_in(rt, (uint32_t)rt->options->narrow_cap));
	}
	g = a_load(&gate_in(&rt->sched)->gates, relaxed);
	for (i = number % NR_FORCED; i && g->next; i--)
		g = g->next;
	return g;
}

void gate_force(struct lkdf_kind *k)
{
	struct lkdf *rt = k->rt;
	struct gate *g;

	if (rt->options->narrow != NARROW_WISH_FORCE || rt->nr_workers == 1)
		return;
	pthread_mutex_lock(&rt->lock);
	g = forced_gate(rt, k->trace_name);
	if (g)
		gate_add_locked(g, k);
	pthread_mutex_unlock(&rt->lock);
}

static void drop_copy(struct lkdf_kind *k, void *none)
{
	(void)none;
	a_and(&k->slow, ~SLOW_GATED, relaxed);
	a_store(&k->gate, NULL, relaxed);
}

void gate_drop(struct gate *g)
{
	struct lkdf *rt = runtime_of(g);
	struct lkdf_kind *k;
	struct list *l;

	gate_set_cap(g, (uint32_t)rt->nr_workers);
	pthread_mutex_lock(&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next) {
		k = container_of(l, struct lkdf_kind, all);
		if (a_load(&k->gate, relaxed) == g)
			kind_each_copy(k, drop_copy, NULL);
	}
	pthread_mutex_unlock(&rt->lock);
}

void gate_set_cap(struct gate *g, uint32_t cap)
{
	struct lkdf *rt = runtime_of(g);
	struct lkdf_kind *k;
	struct list *l;

	pthread_mutex_lock(&rt->lock);
	gate_limit(g, cap_in(rt, cap));
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next) {
		k = container_of(l, struct lkdf_kind, all);
		if (a_load(&k->gate, relaxed) == g)
			kind_each_copy(k, follow_gate, g);
	}
	pthread_mutex_unlock(&rt->lock);
}

/* ---- bodies -------------------------------------------------------------- */

bool gate_before(struct worker *w, struct lkdf_kind *k, uint32_t slow,
		 struct gate_item i)
{
	struct gate *g;

	if (slow & SLOW_GATED) {
		/* [gate.find] pairs with [gate.add]. */
		g = a_load(&k->gate, acquire);
		return !g || gate_enter(g, w, i);
	}
	if (slow & ~SLOW_BUT_SHORT)
		gate_release(w);
	return true;
}
