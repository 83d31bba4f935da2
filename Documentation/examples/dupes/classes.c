/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All files by size, see class.h. A single sort brings together files of the
 * same size and, within, names of the same inode.
 */
#include "class.h"
#include <errno.h>
#include <stdlib.h>

static int compare_inodes(const void *a, const void *b)
{
	const struct file *x = *(struct file *const *)a;
	const struct file *y = *(struct file *const *)b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static int fill_array(struct classes *cs, struct tree *t)
{
	struct file *f;
	size_t nr = 0;

	for (f = t->files; f; f = f->next)
		nr++;
	cs->file = calloc(nr + 1, sizeof(struct file *));
	if (!cs->file)
		return -ENOMEM;
	for (f = t->files; f; f = f->next)
		cs->file[cs->nr_files++] = f;
	qsort(cs->file, nr, sizeof(struct file *), compare_inodes);
	return 0;
}

/* Leaves one entry for each inode; its other names hang on its link. */
static void merge_links(struct classes *cs)
{
	size_t i, nr = 0;
	struct file *f;

	for (i = 0; i < cs->nr_files; i++) {
		f = cs->file[i];
		if (nr && !compare_inodes(&cs->file[nr - 1], &f)) {
			f->link = cs->file[nr - 1]->link;
			cs->file[nr - 1]->link = f;
			cs->nr_links++;
		} else {
			cs->file[nr++] = f;
		}
	}
	cs->nr_files = nr;
}

/* Number of files from i on that have the same size. */
static size_t run_of_size(const struct classes *cs, size_t i)
{
	size_t end = i;

	while (end < cs->nr_files && cs->file[end]->size == cs->file[i]->size)
		end++;
	return end - i;
}

static int fill_classes(struct classes *cs, struct search *s)
{
	struct class *c;
	size_t i, n;

	/* At most one class for two files */
	cs->class = calloc(cs->nr_files / 2 + 1, sizeof(*cs->class));
	if (!cs->class)
		return -ENOMEM;
	for (i = 0; i < cs->nr_files; i += n) {
		n = run_of_size(cs, i);
		if (n == 1) {
			cs->nr_alone++;
			continue;
		}
		c = &cs->class[cs->nr_classes++];
		c->search = s;
		c->file = cs->file + i;
		c->nr = n;
	}
	return 0;
}

int classes_init(struct classes *cs, struct search *s, struct tree *t)
{
	int rc;

	*cs = (struct classes){ .file = NULL };
	rc = fill_array(cs, t);
	if (rc)
		return rc;
	merge_links(cs);
	return fill_classes(cs, s);
}

void classes_fini(struct classes *cs)
{
	free(cs->class);
	free(cs->file);
}

/* The largest first: what takes long should not start last. */
int classes_submit(struct classes *cs, struct search *s, struct lkdf *rt,
		   struct lkdf_scope *scope)
{
	struct lkdf_task task = { .size = sizeof(task) };
	struct class *c;
	size_t i;
	int rc = 0;

	for (i = 0; i < cs->nr_classes; i++) {
		/* Hashed once, and each but the first compared with it */
		c = &cs->class[i];
		c->left = (uint64_t)c->file[0]->size * (3 * c->nr - 2);
		atomic_fetch_add(&s->reading.left, c->left);
	}
	task.kind = s->class_kind;
	for (i = cs->nr_classes; i-- && !rc;) {
		task.arg = &cs->class[i];
		rc = lkdf_submit(rt, scope, &task, NULL);
	}
	return rc;
}
