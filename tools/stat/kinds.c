/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/kinds.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A table for each name lies within the block. */
static bool counts_kinds(const struct stats *s)
{
	const struct lkdf_stats_header *h = &s->h;

	return h->kinds_offset && h->kinds_offset % 8 == 0 &&
	       h->kind_size >= sizeof(struct lkdf_stats_kind) &&
	       h->kind_size % 8 == 0 && h->name_cap <= LKDF_MAX_NAMES &&
	       h->kinds_offset <= h->block_size &&
	       (uint64_t)h->name_cap * h->kind_size <=
		       h->block_size - h->kinds_offset;
}

static uint64_t load(const uint64_t *word)
{
	return atomic_load_explicit(
		(const _Atomic(uint64_t) *)(const void *)word,
		memory_order_relaxed);
}

/* Names so far. */
static uint32_t nr_names(const struct stats *s)
{
	const struct lkdf_stats_header *live = (const void *)s->base;
	uint32_t nr = atomic_load_explicit(
		(const _Atomic(uint32_t) *)(const void *)&live->nr_names,
		memory_order_acquire);

	return nr < s->h.name_cap ? nr : s->h.name_cap;
}

/*
 * Over all executors that have started, rows of others take no memory; the
 * first one has none to start where the runtime is serial.
 */
static struct stats_kind sum_of(const struct stats *s, uint32_t name)
{
	struct stats_kind sum = { .bodies = 0 };
	const struct lkdf_stats_kind *row;
	uint64_t ticks = 0;
	uint32_t e;

	for (e = 0; e < s->h.nr_executors; e++) {
		if (e && !stats_block(s, e)->start_seq)
			continue;
		row = (const void *)((const uint8_t *)stats_block(s, e) +
				     s->h.kinds_offset +
				     (uint64_t)name * s->h.kind_size);
		sum.bodies += load(&row->bodies);
		sum.timed += load(&row->timed);
		ticks += load(&row->ticks);
	}
	sum.ns = (double)ticks * 1024 / s->h.ticks_per_1024ns;
	return sum;
}

static struct stats_kind *find_mine(const struct stats_kinds *k,
				    const char *name)
{
	uint32_t i;

	for (i = 0; i < k->nr; i++)
		if (!strcmp(k->kind[i].name, name))
			return &k->kind[i];
	return NULL;
}

const struct stats_kind *stats_kind_find(const struct stats_kinds *k,
					 const char *name)
{
	return find_mine(k, name);
}

static void add_kind(struct stats_kinds *to, const struct stats_kind *sum)
{
	struct stats_kind *k = find_mine(to, sum->name);

	if (k) {
		k->bodies += sum->bodies;
		k->timed += sum->timed;
		k->ns += sum->ns;
	} else if (to->nr < STATS_KINDS) {
		to->kind[to->nr++] = *sum;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct stats_kind *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void add_kinds(struct stats_kinds *to, const struct stats *s)
{
	struct stats_kind sum;
	uint32_t i, nr = nr_names(s);

	for (i = 0; i < nr; i++) {
		sum = sum_of(s, i);
		if (!sum.bodies)
			continue;
		stats_name(s, i, sum.name, sizeof(sum.name));
		add_kind(to, &sum);
	}
}

void stats_kinds(const struct stats *s, unsigned nr, struct stats_kinds *to)
{
	unsigned r;

	to->nr = 0;
	to->are_counted = false;
	to->kind = calloc(STATS_KINDS, sizeof(*to->kind));
	if (!to->kind)
		return;
	for (r = 0; r < nr; r++) {
		if (!counts_kinds(&s[r]))
			continue;
		to->are_counted = true;
		add_kinds(to, &s[r]);
	}
	qsort(to->kind, to->nr, sizeof(to->kind[0]), by_time);
}

void stats_kinds_free(struct stats_kinds *k)
{
	free(k->kind);
	k->kind = NULL;
	k->nr = 0;
}
