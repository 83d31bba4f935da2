/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/kindstat.h"

#include "core/runtime.h"
#include "task/kind.h"
#include "trace/kind_row.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A look at the runtime finds this beside the rows of executors. */
struct view {
	struct lkdf *rt;
	struct window window; /* the last one */
};

struct field {
	const char *name;
	size_t offset; /* of fields of rows */
	/* Gives *out; false: that is not known. */
	bool (*get)(const struct view *v, uint32_t name, const struct field *f,
		    uint64_t *out);
};

static bool counts_kinds(const struct lkdf *rt)
{
	return rt->trace.rings[0].kinds != NULL;
}

/* Over workers and other executors that have started: rows of those that have
 * not take no memory. */
static bool sum_rows(const struct view *v, uint32_t name, const struct field *f,
		     uint64_t *out)
{
	const struct lkdf *rt = v->rt;
	const struct kind_row *rows;
	uint64_t sum = 0;
	int i;

	if (!counts_kinds(rt))
		return false;
	for (i = 0; i < rt->nr_executors; i++) {
		if (i >= rt->nr_workers &&
		    !a_load(&rt->trace.rings[i].start_seq, relaxed))
			continue;
		rows = rt->trace.rings[i].kinds;
		sum += a_load(
			(const _Atomic(uint64_t)
				 *)(const void *)((const char *)&rows[name]
							  .told +
						  f->offset),
			relaxed);
	}
	*out = sum;
	return true;
}

static uint64_t ns_of(const struct lkdf *rt, uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1024 / rt->trace.ticks_per_1024ns);
}

static bool sum_ns(const struct view *v, uint32_t name, const struct field *f,
		   uint64_t *out)
{
	if (!sum_rows(v, name, f, out))
		return false;
	*out = ns_of(v->rt, *out);
	return true;
}

static bool get_alone(const struct view *v, uint32_t name,
		      const struct field *f, uint64_t *out)
{
	uint64_t ticks = kind_alone_ticks(v->rt, name);

	(void)f;
	*out = ns_of(v->rt, ticks);
	return ticks != 0;
}

static const struct window_kind *window_of(const struct view *v, uint32_t name)
{
	const struct window *w = &v->window;
	uint32_t i;

	for (i = 0; name && i < w->nr_kinds; i++)
		if (w->kind[i].name == name)
			return &w->kind[i];
	return NULL;
}

static bool get_share(const struct view *v, uint32_t name,
		      const struct field *f, uint64_t *out)
{
	const struct window_kind *k = window_of(v, name);

	(void)f;
	*out = k ? (uint64_t)k->permille * 1000 : 0;
	return k != NULL;
}

static bool get_word(const struct view *v, uint32_t name, const struct field *f,
		     uint64_t *out)
{
	const struct window_kind *k = window_of(v, name);

	(void)f;
	*out = k ? k->word : 0;
	return k != NULL;
}

static const struct field fields[] = {
	{ "bodies", offsetof(struct lkdf_stats_kind, bodies), sum_rows },
	{ "ns", offsetof(struct lkdf_stats_kind, ticks), sum_ns },
	{ "timed", offsetof(struct lkdf_stats_kind, timed), sum_rows },
	{ "alone_ns", 0, get_alone },
	{ "futex_ppm", 0, get_share },
	{ "word", 0, get_word },
};

/* Is text the name of a kind, a dot and the name of a field? */
static const struct field *field_of(const char *text, const char *name)
{
	size_t size = strlen(name), i;

	if (strncmp(text, name, size) || text[size] != '.')
		return NULL;
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(text + size + 1, fields[i].name))
			return &fields[i];
	return NULL;
}

static void look_at(struct lkdf *rt, struct view *v)
{
	v->rt = rt;
	windows_read(&rt->windows, &v->window);
}

int kindstat_find(struct lkdf *rt, const char *name, uint64_t *out)
{
	/* [trace.names] their texts; pairs with [trace.name]. */
	uint32_t nr = a_load(&rt->trace.nr_names, acquire), i;
	const struct field *f;
	struct view v;

	if (strncmp(name, "kind.", 5))
		return -ENOENT;
	look_at(rt, &v);
	for (i = 0; i < nr; i++) {
		f = field_of(name + 5, rt->trace.names[i]);
		if (f)
			return f->get(&v, i, f, out) ? 0 : -ENOENT;
	}
	return -ENOENT;
}

/* Has a body of it begun, as far as anybody has counted or timed one? */
static bool has_begun(const struct view *v, uint32_t name)
{
	uint64_t nr;

	return (sum_rows(v, name, &fields[0], &nr) && nr) ||
	       (!counts_kinds(v->rt) && kind_alone_ticks(v->rt, name));
}

void kindstat_each(struct lkdf *rt,
		   void (*fn)(void *u, const char *name, uint64_t v), void *u)
{
	/* [trace.names] their texts; pairs with [trace.name]. */
	uint32_t nr = a_load(&rt->trace.nr_names, acquire), i;
	char name[TRACE_NAME_SIZE + 24];
	struct view v;
	uint64_t value;
	size_t k;

	look_at(rt, &v);
	for (i = 0; i < nr; i++) {
		if (!has_begun(&v, i))
			continue;
		for (k = 0; k < ARRAY_SIZE(fields); k++) {
			if (!fields[k].get(&v, i, &fields[k], &value))
				continue;
			snprintf(name, sizeof(name), "lkdf.kind.%s.%s",
				 rt->trace.names[i], fields[k].name);
			fn(u, name, value);
		}
	}
}
