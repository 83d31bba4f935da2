/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files that could not be read, see trouble.h.
 */
#include "trouble.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Interrupted is not in trouble. */
static bool is_trouble(int err)
{
	return err && err != ECANCELED;
}

static size_t count(const struct tree *t)
{
	const struct file *f;
	const struct dir *d;
	size_t nr = 0;

	for (d = t->dirs; d; d = d->next)
		nr += is_trouble(d->err);
	for (f = t->failed; f; f = f->next)
		nr += is_trouble(f->err);
	for (f = t->files; f; f = f->next)
		nr += is_trouble(f->err);
	return nr;
}

static int add(struct troubles *ts, const struct dir *d, const char *name,
	       int err)
{
	struct trouble *x = &ts->trouble[ts->nr];

	if (!is_trouble(err))
		return 0;
	x->path = tree_path(d, name);
	x->err = err;
	x->is_argument = !name && !d->parent;
	ts->nr_arguments += x->is_argument;
	ts->nr++;
	return x->path ? 0 : -ENOMEM;
}

static int add_files(struct troubles *ts, const struct file *f)
{
	int rc = 0;

	for (; f && !rc; f = f->next)
		rc = add(ts, f->dir, f->name, f->err);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct trouble *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int troubles_init(struct troubles *ts, const struct tree *t)
{
	const struct dir *d;
	int rc = 0;

	*ts = (struct troubles){ .nr = 0 };
	ts->trouble = calloc(count(t) + 1, sizeof(*ts->trouble));
	if (!ts->trouble)
		return -ENOMEM;
	for (d = t->dirs; d && !rc; d = d->next)
		rc = add(ts, d, NULL, d->err);
	if (!rc)
		rc = add_files(ts, t->failed);
	if (!rc)
		rc = add_files(ts, t->files);
	if (!rc)
		qsort(ts->trouble, ts->nr, sizeof(*ts->trouble), compare);
	return rc;
}

void troubles_fini(struct troubles *ts)
{
	size_t i;

	for (i = 0; i < ts->nr; i++)
		free(ts->trouble[i].path);
	free(ts->trouble);
}

static const char *reason(const struct trouble *x)
{
	return x->err == ESTALE ? "changed while being read" : strerror(x->err);
}

void troubles_text(const struct troubles *ts, bool all, FILE *f)
{
	const struct trouble *x;

	for (x = ts->trouble; x < ts->trouble + ts->nr; x++) {
		if (!x->path || !(all || x->is_argument))
			continue;
		fputs("dupes: ", f);
		text_name(f, x->path);
		fprintf(f, ": %s\n", reason(x));
	}
}

void troubles_json(const struct troubles *ts, FILE *f)
{
	const struct trouble *x;

	fputs("[", f);
	for (x = ts->trouble; x < ts->trouble + ts->nr; x++) {
		fputs(x == ts->trouble ? "\n  {\"path\": " : ",\n  {\"path\": ",
		      f);
		text_json(f, x->path ? x->path : "");
		fputs(", \"error\": ", f);
		text_json(f, reason(x));
		fputs("}", f);
	}
	fputs("]", f);
}
