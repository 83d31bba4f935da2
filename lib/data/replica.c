/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/replica.h"

#include "core/runtime.h"
#include "topo/topo.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Instead of the address of a copy. */
#define COPIED ((void *)1)
#define REFUSED ((void *)2)

static bool is_copy(const void *p)
{
	return (uintptr_t)p > (uintptr_t)REFUSED;
}

int replicas_create(struct lkdf_data *d)
{
	int nr = d->rt->topo->nr_nodes;
	struct replicas *r;
	size_t size;

	if (!(d->flags & LKDF_DATA_REPLICATE) || nr < 2 ||
	    d->bytes < REPLICA_MIN)
		return 0;
	size = sizeof(*r) + (size_t)nr * sizeof(r->node[0]);
	r = aligned_alloc(CACHE_LINE, round_up(size, CACHE_LINE));
	if (!r)
		return -ENOMEM;
	memset(r, 0, size);
	r->nr = nr;
	d->replicas = r;
	return 0;
}

void replicas_destroy(struct lkdf_data *d)
{
	if (!d->replicas)
		return;
	replicas_drop(d);
	free(d->replicas);
}

void replicas_drop(struct lkdf_data *d)
{
	struct replicas *r = d->replicas;
	void *p;
	int i;

	if (!a_load(&r->has_any, relaxed))
		return;
	/* Writers of parts may do so together: each takes what is there. */
	a_store(&r->has_any, false, relaxed);
	for (i = 0; i < r->nr; i++) {
		p = a_xchg(&r->node[i].at, NULL, relaxed);
		if (is_copy(p))
			data_free_block(d, p);
	}
}

/* It is ours to make. */
static bool copy_bytes(struct executor *ex, struct lkdf_data *d, int node)
{
	_Atomic(void *) *at = &d->replicas->node[node].at;
	void *p = data_block(d, node);
	uint64_t id;

	if (!p) {
		a_store(at, REFUSED, relaxed);
		return false;
	}
	id = hooks_copy_begin(&d->rt->hooks, "copy", node, d->bytes);
	memcpy(p, a_load(&d->domain.at, relaxed), d->bytes);
	hooks_copy_end(&d->rt->hooks, id);
	counter_add(ex->counters, COUNTER_REPLICATED, d->bytes);
	/* [replica.made] the bytes; pairs with [replica.look]. */
	a_store(at, p, release);
	return true;
}

bool replica_make(struct executor *ex, struct lkdf_data *d, int node)
{
	_Atomic(void *) *at = &d->replicas->node[node].at;
	/* [replica.look] pairs with [replica.made]. */
	void *p = a_load(at, acquire);

	if (p)
		return is_copy(p);
	a_store(&d->replicas->has_any, true, relaxed);
	if (!a_cas(at, &p, COPIED, relaxed, relaxed))
		return false;
	return copy_bytes(ex, d, node);
}

void *replica_at(const struct lkdf_data *d, int node)
{
	return a_load(&d->replicas->node[node].at, relaxed);
}
