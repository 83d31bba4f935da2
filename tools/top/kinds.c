/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf top: kinds of bodies, from the newest slices of each executor. However
 * many there are, a look goes through so many only; what is passed over is
 * counted and taken to be like the rest.
 */
#include "top/top.h"

#include <stdlib.h>
#include <string.h>

#define ALL_SLICES 16384u
#define LEAST_SLICES 32u
#define MAX_KEYS 256u

/* Which kind a number of a runtime's name table stands for. */
struct key {
	uint32_t runtime, name, kind;
};

struct keys {
	uint32_t nr;
	struct key key[MAX_KEYS];
};

static uint32_t find_kind(struct top *t, const char *name)
{
	uint32_t i;

	for (i = 0; i < t->nr_kinds; i++)
		if (!strcmp(t->kind[i].name, name))
			return i;
	if (i == TOP_KINDS)
		return i - 1;
	memset(&t->kind[i], 0, offsetof(struct top_kind, us));
	snprintf(t->kind[i].name, sizeof(t->kind[i].name), "%s", name);
	return t->nr_kinds++;
}

static struct top_kind *kind_of(struct top *t, struct keys *keys,
				uint32_t runtime, uint32_t name)
{
	struct key *k = keys->key;
	char text[64];
	uint32_t kind;

	for (; k < keys->key + keys->nr; k++)
		if (k->name == name && k->runtime == runtime)
			return &t->kind[k->kind];
	stats_name(&t->stats[runtime], name, text, sizeof(text));
	kind = find_kind(t, text);
	if (keys->nr < MAX_KEYS) {
		*k = (struct key){ runtime, name, kind };
		keys->nr++;
	}
	return &t->kind[kind];
}

/* Adds one slice of so many that are like it. */
static void add_slice(const struct top *t, struct top_kind *k,
		      const struct stats *s, const struct lkdf_stats_slice *b,
		      double many)
{
	double us = 0;

	if (b->end > b->begin)
		us = (double)(b->end - b->begin) * 1.024 /
		     s->h.ticks_per_1024ns;
	k->us[k->nr_seen % TOP_DURATIONS] =
		us * 16 < UINT32_MAX ? (uint32_t)(us * 16) : UINT32_MAX;
	k->nr_seen++;
	k->mean_us += (us - k->mean_us) / k->nr_seen;
	k->rate += many / t->seconds;
	k->share += many * us / 1e6 / t->seconds;
	k->local += (uint32_t)b->value * 64ull;
	k->remote += b->value >> 32 << 6;
}

static void look_at_slices(struct top *t, struct keys *keys,
			   struct top_row *row, uint64_t most)
{
	const struct stats *s = &t->stats[row->runtime];
	uint64_t head = stats_slice_head(s, row->executor), i;
	uint64_t came = head - row->slice_head, nr = came;
	struct lkdf_stats_slice b;

	row->slice_head = head;
	if (nr >= stats_slice_records(s))
		nr = stats_slice_records(s) - 1;
	if (nr > most)
		nr = most;
	for (i = 1; i <= nr && stats_slice(s, row->executor, head - i, &b);
	     i++) {
		if (b.number >> 48)
			continue;
		add_slice(t, kind_of(t, keys, row->runtime, b.name), s, &b,
			  (double)came / (double)nr);
	}
}

static int by_duration(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int by_share(const void *a, const void *b)
{
	const struct top_kind *x = a, *y = b;

	return x->share < y->share ? 1 : x->share > y->share ? -1 : 0;
}

static void finish(struct top *t)
{
	struct top_kind *k;
	uint32_t i, workers = 0;

	for (i = 0; i < t->nr_rows; i++)
		workers += t->row[i].is_started &&
			   t->row[i].kind == LKDF_EXECUTOR_WORKER;
	for (k = t->kind; k < t->kind + t->nr_kinds; k++) {
		k->share /= workers ? workers : 1;
		k->nr_us =
			k->nr_seen < TOP_DURATIONS ? k->nr_seen : TOP_DURATIONS;
		qsort(k->us, k->nr_us, sizeof(k->us[0]), by_duration);
	}
	qsort(t->kind, t->nr_kinds, sizeof(*t->kind), by_share);
}

static void find_rings(struct top *t)
{
	struct stats *s;

	t->is_recorded = t->is_hidden = false;
	for (s = t->stats; s < t->stats + t->nr_stats; s++) {
		stats_find_late(t->pid, s);
		if (!stats_is_recording(s))
			continue;
		t->is_recorded |= stats_has_slices(s);
		t->is_hidden |= !stats_has_slices(s);
	}
}

/* A kind: its bodies and time since the look before. */
static void add_counted(struct top *t, const struct stats_kind *now,
			const struct stats_kind *before)
{
	double bodies = (double)(now->bodies - (before ? before->bodies : 0));
	double ns = now->ns - (before ? before->ns : 0);
	struct top_kind *k;

	if (bodies <= 0 || ns < 0)
		return;
	k = &t->kind[find_kind(t, now->name)];
	k->rate += bodies / t->seconds;
	k->share += ns / 1e9 / t->seconds;
	k->mean_us = now->ns / 1e3 / (double)now->bodies;
}

/* While a recording tells more they are counted only. */
static void count_kinds(struct top *t)
{
	struct stats_kinds now;
	uint32_t i;

	stats_kinds(t->stats, t->nr_stats, &now);
	t->is_counted = now.are_counted && !t->is_recorded;
	for (i = 0; t->is_counted && i < now.nr; i++)
		add_counted(t, &now.kind[i],
			    stats_kind_find(&t->counted, now.kind[i].name));
	stats_kinds_free(&t->counted);
	t->counted = now;
	if (t->is_counted)
		finish(t);
}

void top_kinds(struct top *t)
{
	uint64_t most = ALL_SLICES / (t->nr_rows ? t->nr_rows : 1);
	struct keys keys = { .nr = 0 };
	uint32_t i;

	t->nr_kinds = 0;
	find_rings(t);
	count_kinds(t);
	if (!t->is_recorded)
		return;
	if (most < LEAST_SLICES)
		most = LEAST_SLICES;
	for (i = 0; i < t->nr_rows; i++)
		if (stats_has_slices(&t->stats[t->row[i].runtime]))
			look_at_slices(t, &keys, &t->row[i], most);
	finish(t);
}
