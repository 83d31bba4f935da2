/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/kindstat.h"

#include "core/runtime.h"
#include "trace/kind_row.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
	{ "bodies", offsetof(struct lkdf_stats_kind, bodies) },
	{ "ns", offsetof(struct lkdf_stats_kind, ticks) },
	{ "timed", offsetof(struct lkdf_stats_kind, timed) },
};

/* Over workers and other executors that have started: rows of those that have
 * not take no memory. */
static uint64_t sum_field(const struct lkdf *rt, uint32_t name,
			  const struct field *f)
{
	const struct kind_row *rows;
	uint64_t sum = 0;
	int i;

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
	if (f->offset == offsetof(struct lkdf_stats_kind, ticks))
		return (uint64_t)((double)sum * 1024 /
				  rt->trace.ticks_per_1024ns);
	return sum;
}

static bool counts_kinds(const struct lkdf *rt)
{
	return rt->trace.rings[0].kinds != NULL;
}

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

int kindstat_find(const struct lkdf *rt, const char *name, uint64_t *out)
{
	/* [trace.names] their texts; pairs with [trace.name]. */
	uint32_t nr = a_load(&rt->trace.nr_names, acquire), i;
	const struct field *f;

	if (!counts_kinds(rt) || strncmp(name, "kind.", 5))
		return -ENOENT;
	for (i = 0; i < nr; i++) {
		f = field_of(name + 5, rt->trace.names[i]);
		if (!f)
			continue;
		*out = sum_field(rt, i, f);
		return 0;
	}
	return -ENOENT;
}

void kindstat_each(const struct lkdf *rt,
		   void (*fn)(void *u, const char *name, uint64_t v), void *u)
{
	/* [trace.names] their texts; pairs with [trace.name]. */
	uint32_t nr = a_load(&rt->trace.nr_names, acquire), i;
	char name[TRACE_NAME_SIZE + 24];
	size_t k;

	for (i = 0; counts_kinds(rt) && i < nr; i++) {
		if (!sum_field(rt, i, &fields[0]))
			continue;
		for (k = 0; k < ARRAY_SIZE(fields); k++) {
			snprintf(name, sizeof(name), "lkdf.kind.%s.%s",
				 rt->trace.names[i], fields[k].name);
			fn(u, name, sum_field(rt, i, &fields[k]));
		}
	}
}
