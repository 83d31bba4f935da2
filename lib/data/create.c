/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data come to be: one, in memory of its own, or many that are alike, which
 * share slabs.
 */
#include "data/data.h"

#include "base/err.h"
#include "check/notes.h"
#include "core/runtime.h"
#include "data/facts.h"
#include "data/place.h"
#include "data/replica.h"
#include "mem/heap.h"
#include "topo/topo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that the user gave at create. */
static int set_bytes(struct lkdf_data *d, const struct lkdf_data_attr *a)
{
	int32_t node = -1;
	void *p;

	if (!a->wrap && !a->init)
		return 0;
	d->domain.whole.is_written = d->domain.whole.has_value = true;
	a_store(&d->domain.version, 1, relaxed);
	if (a->wrap) {
		d->is_wrapped = true;
		notes_bytes(d->rt->notes, a->name, a->wrap, a->bytes);
		a_store(&d->domain.at, a->wrap, relaxed);
		facts_watch(d, a->wrap, true);
		return 0;
	}
	/* The first user is not known: spread over the nodes. */
	if (d->home < 0)
		node = (int32_t)(a_add(&d->rt->next_spread, 1, relaxed) %
				 (uint32_t)d->rt->topo->nr_nodes);
	p = data_bytes(d, node);
	if (!p)
		return -ENOMEM;
	memcpy(p, a->init, d->bytes);
	return 0;
}

/* No memory but the cell is needed until the bytes are. */
static void init_data(struct lkdf_data *d, struct lkdf *rt,
		      const struct lkdf_data_attr *a, struct data_slab *slab)
{
	memset(d, 0, DATA_CELL);
	domain_init(&d->domain, rt, d, NULL);
	d->rt = rt;
	d->slab = slab;
	d->bytes = a->bytes;
	d->align = max_u64(a->align, HEAP_ALIGN);
	d->flags = a->flags;
	if (rt->topo->nr_nodes == 1)
		d->flags &= ~(uint32_t)DATA_MOVES;
	d->home = a->home ? a->home->node : -1;
	d->drop = a->drop;
	d->reduce = a->reduce;
	d->neutral = a->neutral;
	if (a->name)
		memcpy(d->name, a->name, strlen(a->name) + 1);
	a_store(&d->domain.whole.is_plain,
		!(d->flags & ~(uint32_t)LKDF_DATA_HUGE) && !d->reduce, relaxed);
	a_store(&d->node, -1, relaxed);
	a_store(&d->nr_refs, 1, relaxed);
}

/* Memory besides the cell. */
static int fill_data(struct lkdf_data *d, const struct lkdf_data_attr *a)
{
	int rc = replicas_create(d);

	return rc ? err(rc, "data: no memory") : set_bytes(d, a);
}

int data_create(struct lkdf *rt, const struct lkdf_data_attr *a,
		struct lkdf_data **out)
{
	struct lkdf_data *d = aligned_alloc(CACHE_LINE, DATA_CELL);
	int rc;

	if (!d)
		return err(-ENOMEM, "data: no memory");
	init_data(d, rt, a, NULL);
	rc = fill_data(d, a);
	if (!rc)
		rc = data_publish(d);
	if (rc) {
		d->drop = NULL;
		data_destroy(d);
		return rc;
	}
	*out = d;
	return 0;
}

/* A data that lives keeps a slab of 16 KiB at most. */
#define SLAB_DATA 32u

static int create_slab(struct lkdf *rt, const struct lkdf_data_attr *a,
		       uint32_t nr, struct lkdf_data **out)
{
	struct data_slab *slab =
		aligned_alloc(CACHE_LINE, sizeof(*slab) + nr * DATA_CELL);
	char *at = (char *)(slab + 1);
	uint32_t i;
	int rc = 0;

	if (!slab)
		return err(-ENOMEM, "data: no memory");
	a_store(&slab->nr_left, nr, relaxed);
	for (i = 0; i < nr; i++, at += DATA_CELL) {
		out[i] = (struct lkdf_data *)at;
		init_data(out[i], rt, a, slab);
	}
	for (i = 0; i < nr && !rc; i++)
		rc = fill_data(out[i], a);
	if (!rc) {
		data_publish_many(rt, out, nr);
		return 0;
	}
	for (i = 0; i < nr; i++) {
		out[i]->drop = NULL;
		data_destroy(out[i]);
	}
	return rc;
}

int data_create_many(struct lkdf *rt, const struct lkdf_data_attr *a,
		     uint32_t nr, struct lkdf_data **out)
{
	uint32_t at, i, n;
	int rc = 0;

	check(!a->name && !a->wrap);
	for (at = 0; at < nr && !rc; at += n) {
		n = (uint32_t)min_u64(nr - at, SLAB_DATA);
		rc = create_slab(rt, a, n, out + at);
		if (rc)
			break;
	}
	if (!rc)
		return 0;
	for (i = 0; i < at; i++)
		data_put(out[i]);
	memset(out, 0, nr * sizeof(*out));
	return rc;
}
