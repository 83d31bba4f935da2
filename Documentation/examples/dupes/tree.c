/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The directories and files found, see tree.h.
 */
#include "tree.h"
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

void tree_init(struct tree *t, uint64_t min_size)
{
	*t = (struct tree){ .min_size = min_size };
	pthread_mutex_init(&t->lock, NULL);
}

static void keep(void *node)
{
	(void)node;
}

static void free_files(struct file *f)
{
	struct file *next;

	for (; f; f = next) {
		next = f->next;
		free(f);
	}
}

void tree_fini(struct tree *t)
{
	struct dir *d;

	tdestroy(t->seen, keep);
	free_files(t->files);
	free_files(t->failed);
	while (t->dirs) {
		d = t->dirs;
		t->dirs = d->next;
		free(d);
	}
	pthread_mutex_destroy(&t->lock);
}

struct counts tree_counts(struct tree *t)
{
	struct counts n;

	pthread_mutex_lock(&t->lock);
	n = t->counts;
	pthread_mutex_unlock(&t->lock);
	return n;
}

struct dir *dir_create(struct tree *t, struct dir *parent, const char *name)
{
	size_t len = strlen(name);
	struct dir *d = calloc(1, sizeof(*d) + len + 1);

	if (!d)
		return NULL;
	d->tree = t;
	d->parent = parent;
	memcpy(d->name, name, len);
	return d;
}

struct file *file_create(const struct dir *d, const char *name)
{
	size_t len = strlen(name);
	struct file *f = calloc(1, sizeof(*f) + len + 1);

	if (!f)
		return NULL;
	f->dir = d;
	memcpy(f->name, name, len);
	return f;
}

static int compare_dirs(const void *a, const void *b)
{
	const struct dir *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

int tree_is_new(struct dir *d, dev_t dev, ino_t ino)
{
	struct dir **found;

	d->dev = dev;
	d->ino = ino;
	pthread_mutex_lock(&d->tree->lock);
	found = tsearch(d, &d->tree->seen, compare_dirs);
	pthread_mutex_unlock(&d->tree->lock);
	return found ? *found == d : -ENOMEM;
}

/* Writes text so that it ends where p points; what starts it now. */
static char *put_before(char *p, const char *text)
{
	size_t len = strlen(text);

	return memcpy(p - len, text, len);
}

char *tree_path(const struct dir *dir, const char *name)
{
	size_t size = name ? strlen(name) + 1 : 1;
	const struct dir *d;
	char *path, *p;

	for (d = dir; d; d = d->parent)
		size += strlen(d->name) + 1;
	path = malloc(size);
	if (!path)
		return NULL;
	p = path + size;
	*--p = '\0';
	if (name)
		p = put_before(p, name);
	/* An argument may end in a slash of its own */
	for (d = dir; d; d = d->parent) {
		if (*p && !(*d->name && d->name[strlen(d->name) - 1] == '/'))
			*--p = '/';
		p = put_before(p, d->name);
	}
	return memmove(path, p, path + size - p);
}
