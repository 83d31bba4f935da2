/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The result, see report.h: gathered and sorted here, printed in text and JSON
 * by print.c.
 */
#include "report.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_copies(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;

	return strcmp(x->path[0], y->path[0]);
}

/* Most waste first; the first path decides between equals. */
static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->waste != y->waste)
		return x->waste > y->waste ? -1 : 1;
	return compare_copies(x->copy, y->copy);
}

static int fill_copy(struct copy *c, const struct file *first)
{
	const struct file *f;
	size_t nr = 0;

	for (f = first; f; f = f->link)
		nr++;
	c->path = calloc(nr, sizeof(*c->path));
	if (!c->path)
		return -ENOMEM;
	for (f = first; f; f = f->link) {
		c->path[c->nr] = tree_path(f->dir, f->name);
		if (!c->path[c->nr++])
			return -ENOMEM;
	}
	qsort(c->path, nr, sizeof(*c->path), compare_paths);
	return 0;
}

static int fill_group(struct group *g, const struct set *set)
{
	size_t i;
	int rc = 0;

	g->size = set->size;
	g->waste = (set->nr - 1) * (uint64_t)set->size;
	g->copy = calloc(set->nr, sizeof(*g->copy));
	if (!g->copy)
		return -ENOMEM;
	for (i = 0; i < set->nr && !rc; i++) {
		g->nr++;
		rc = fill_copy(&g->copy[i], set->file[i]);
	}
	if (!rc)
		qsort(g->copy, g->nr, sizeof(*g->copy), compare_copies);
	return rc;
}

/* Counts that reading the files has added to the walk's errors. */
static void count_errors(struct report *r, const struct tree *t)
{
	const struct file *f;

	for (f = t->files; f; f = f->next) {
		switch (f->err) {
		case 0:
		case ECANCELED:
			break;
		case ENOENT:
		case ENOTDIR:
			r->counts.vanished++;
			break;
		case ESTALE:
			r->changed++;
			break;
		default:
			r->counts.unreadable++;
		}
	}
}

int report_init(struct report *r, struct tree *t, const struct classes *cs,
		struct search *s)
{
	const struct set *set;
	int rc = 0;

	*r = (struct report){ .counts = tree_counts(t) };
	r->bytes_read = atomic_load(&s->reading.bytes);
	r->alone = cs->nr_alone;
	r->links = cs->nr_links;
	r->group = calloc(s->nr_sets + 1, sizeof(*r->group));
	if (!r->group)
		return -ENOMEM;
	for (set = s->sets; set && !rc; set = set->next) {
		rc = fill_group(&r->group[r->nr], set);
		r->waste += r->group[r->nr++].waste;
	}
	count_errors(r, t);
	if (!rc)
		rc = troubles_init(&r->troubles, t);
	if (!rc)
		qsort(r->group, r->nr, sizeof(*r->group), compare_groups);
	return rc;
}

static void copy_fini(struct copy *c)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		free(c->path[i]);
	free(c->path);
}

void report_fini(struct report *r)
{
	size_t i, j;

	for (i = 0; i < r->nr; i++) {
		for (j = 0; j < r->group[i].nr; j++)
			copy_fini(&r->group[i].copy[j]);
		free(r->group[i].copy);
	}
	free(r->group);
	troubles_fini(&r->troubles);
}
