/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/own_kind.h"

#include "offload/devices.h"
#include "task/kind.h"

struct lkdf_kind *own_kind_get(struct lkdf *rt, enum own_kind which,
			       own_kind_fn make)
{
	_Atomic(struct lkdf_kind *) *at = &rt->devices->own_kind[which];
	/* [own_kind.get] pairs with [own_kind.made]. */
	struct lkdf_kind *k = a_load(at, acquire), *mine;

	if (k || make(rt, &mine))
		return k;
	/* [own_kind.made] all of it; pairs with [own_kind.get]. */
	if (a_cas(at, &k, mine, acq_rel, acquire))
		return mine;
	kind_put(mine);
	return k;
}

void own_kinds_close(struct lkdf *rt)
{
	_Atomic(struct lkdf_kind *) *at = rt->devices->own_kind;
	unsigned i;

	for (i = 0; i < NR_OWN_KINDS; i++) {
		kind_put(a_load(&at[i], relaxed));
		a_store(&at[i], NULL, relaxed);
	}
}

void own_kinds_abandon(struct lkdf *rt)
{
	struct lkdf_kind *k;
	unsigned i;

	for (i = 0; i < NR_OWN_KINDS; i++) {
		k = a_load(&rt->devices->own_kind[i], relaxed);
		if (!k)
			continue;
		k->next_dead = rt->dead_kinds;
		rt->dead_kinds = k;
	}
}
