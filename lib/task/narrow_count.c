/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Bodies by kind while a set tries: the progress of the whole program. */
#include "task/narrow_sets.h"

#include "base/clock.h"
#include "base/options.h"
#include "mem/region.h"
#include "signal/windows.h"
#include "trace/kind_row.h"

#include <errno.h>

/* Bodies alone whose mean is believed. */
#define ALONE_BODIES 32

static size_t rows_size(const struct lkdf *rt)
{
	return (size_t)rt->nr_executors * MAX_NAMES * sizeof(struct kind_row);
}

int count_open(struct narrowing *n)
{
	if (!n->rt->options->kinds)
		n->rows = region_map(rows_size(n->rt));
	return n->rt->options->kinds || n->rows ? 0 : -ENOMEM;
}

void count_free(struct narrowing *n)
{
	if (n->rows)
		region_unmap(n->rows, rows_size(n->rt));
}

/* Those of option kinds are there, and count, anyway. */
static struct kind_row *rows_of(const struct narrowing *n, int executor)
{
	struct kind_row *rows = n->rt->trace.rings[executor].kinds;

	if (rows || !n->rows)
		return rows;
	return n->rows + (size_t)executor * MAX_NAMES;
}

static struct lkdf_stats_kind sum_rows(const struct narrowing *n, uint32_t name)
{
	struct lkdf_stats_kind sum = { .bodies = 0 }, *told;
	struct kind_row *rows;
	int i;

	for (i = 0; i < n->rt->nr_executors; i++) {
		rows = rows_of(n, i);
		if (!rows)
			continue;
		told = &rows[name].told;
		sum.bodies += a_load(trace_word(&told->bodies), relaxed);
		sum.ticks += a_load(trace_word(&told->ticks), relaxed);
	}
	return sum;
}

static void set_rows(struct narrowing *n, bool counts)
{
	struct lkdf *rt = n->rt;
	int i;

	for (i = 0; i < rt->nr_executors; i++)
		a_store(&rt->executors[i].kinds,
			counts ? rows_of(n, i) : rt->trace.rings[i].kinds,
			relaxed);
	kind_note_all(rt, counts);
	n->counts = counts;
}

void count_begin(struct narrowing *n)
{
	uint32_t nr = a_load(&n->rt->trace.nr_names, relaxed), i;
	struct lkdf_stats_kind sum;

	for (i = 0; i < nr; i++) {
		sum = sum_rows(n, i);
		n->tally[i] = (struct kind_tally){ .bodies = sum.bodies,
						   .ticks = sum.ticks };
	}
	set_rows(n, true);
}

void count_end(struct narrowing *n)
{
	set_rows(n, false);
}

static uint64_t window_ticks(const struct window *win)
{
	return win->ns / 1024 * clock_ticks_per_1024ns();
}

void count_bodies(struct narrowing *n, struct narrow_view *v,
		  struct narrow_set *s, const struct lkdf_kind *k,
		  uint64_t least_ticks)
{
	struct kind_tally *t = &n->tally[k->trace_name];
	uint64_t alone = a_load(&k->alone_ticks, relaxed), bodies, ticks;
	struct lkdf_stats_kind sum;

	if (t->turn == n->turn)
		return;
	t->turn = n->turn;
	if (!t->weight)
		t->weight = alone ? alone : least_ticks;
	sum = sum_rows(n, k->trace_name);
	bodies = sum.bodies - t->bodies;
	ticks = sum.ticks - t->ticks;
	t->bodies = sum.bodies;
	t->ticks = sum.ticks;
	v->progress += bodies * t->weight;
	if (!s)
		return;
	s->nr_bodies += (uint32_t)min_u64(bodies, UINT32_MAX / 2);
	if (s == n->trial && s->cap == 1 && v->is_whole) {
		t->nr_alone += bodies;
		/* A body that has lost its CPU stands for 64, as others do. */
		t->alone_ticks += min_u64(ticks, window_ticks(v->win));
	}
}

static void store_alone(struct lkdf_kind *k, void *ticks)
{
	a_store(&k->alone_ticks, *(uint32_t *)ticks, relaxed);
}

void count_learn(struct narrowing *n, struct lkdf_kind *k)
{
	struct kind_tally *t = &n->tally[k->trace_name];
	uint32_t ticks;

	if (t->nr_alone >= ALONE_BODIES) {
		ticks = (uint32_t)min_u64(t->alone_ticks / t->nr_alone,
					  UINT32_MAX);
		kind_each_copy(k, store_alone, &ticks);
	}
	t->nr_alone = t->alone_ticks = 0;
}
