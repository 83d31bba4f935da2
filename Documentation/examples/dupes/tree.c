/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The directories and files found, see tree.h. A task gathers what it finds on
 * its own and takes the tree's lock once, at its end.
 */
#include "tree.h"
#include "path.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What one task has found in its directory. */
struct find {
	struct dir *dir;
	struct dir *dirs; /* children, spawned */
	struct file *files, **last;
	struct counts counts;
};

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

static void count_error(struct counts *n, int err)
{
	/* Replaced by something else meanwhile: what we saw is gone */
	if (err == ENOENT || err == ELOOP || err == ENOTDIR)
		n->vanished++;
	else
		n->unreadable++;
}

static int compare_dirs(const void *a, const void *b)
{
	const struct dir *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Is this the first time that the directory is met? -ENOMEM if unknown. */
static int is_new(struct dir *d, int fd)
{
	struct dir **found;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	pthread_mutex_lock(&d->tree->lock);
	found = tsearch(d, &d->tree->seen, compare_dirs);
	pthread_mutex_unlock(&d->tree->lock);
	return found ? *found == d : -ENOMEM;
}

/* A symbolic link is followed only where the user has named it. */
static int open_dir(const struct dir *d, DIR **out)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
	char *path;
	int fd;

	path = tree_path(d, NULL);
	if (!path)
		return -ENOMEM;
	fd = path_open(path, d->parent ? flags | O_NOFOLLOW : flags);
	free(path);
	if (fd < 0)
		return fd;
	*out = fdopendir(fd);
	if (!*out) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

static struct dir *new_dir(struct tree *t, struct dir *parent, const char *name)
{
	size_t len = strlen(name);
	struct dir *d;

	d = calloc(1, sizeof(*d) + len + 1);
	if (!d)
		return NULL;
	d->tree = t;
	d->parent = parent;
	memcpy(d->name, name, len);
	return d;
}

static int add_dir(struct lkdf_ctx *c, struct find *f, const char *name)
{
	struct dir *d;

	d = new_dir(f->dir->tree, f->dir, name);
	if (!d)
		return lkdf_fail(c, -ENOMEM, "no memory for a directory");
	d->next = f->dirs;
	f->dirs = d;
	return lkdf_spawn(c, d->tree->kind, d);
}

static int add_file(struct lkdf_ctx *c, struct find *f, const struct stat *st,
		    const char *name)
{
	size_t len = strlen(name);
	struct file *x;

	f->counts.files++;
	f->counts.bytes += st->st_size;
	if (!st->st_size)
		f->counts.empty++;
	else if ((uint64_t)st->st_size < f->dir->tree->min_size)
		f->counts.small++;
	if (!st->st_size || (uint64_t)st->st_size < f->dir->tree->min_size)
		return 0;
	x = calloc(1, sizeof(*x) + len + 1);
	if (!x)
		return lkdf_fail(c, -ENOMEM, "no memory for a file");
	x->dir = f->dir;
	x->dev = st->st_dev;
	x->ino = st->st_ino;
	x->size = st->st_size;
	memcpy(x->name, name, len);
	x->next = f->files;
	f->files = x;
	if (!x->next)
		f->last = &x->next;
	return 0;
}

/* Stat is asked only for what may be a regular file. */
static int add_entry(struct lkdf_ctx *c, struct find *f, int fd,
		     const struct dirent *e)
{
	unsigned type = e->d_type;
	struct stat st;

	if (type == DT_REG || type == DT_UNKNOWN) {
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			count_error(&f->counts, errno);
			return 0;
		}
		type = IFTODT(st.st_mode);
	}
	switch (type) {
	case DT_REG:
		return add_file(c, f, &st, e->d_name);
	case DT_DIR:
		return add_dir(c, f, e->d_name);
	case DT_LNK:
		f->counts.symlinks++;
		return 0;
	default:
		f->counts.special++;
		return 0;
	}
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Every entry, unless the user has lost patience. */
static int read_entries(struct lkdf_ctx *c, struct find *f, DIR *dp)
{
	const struct dirent *e;
	int rc = 0;

	while (!rc && !lkdf_cancelled(c)) {
		errno = 0;
		e = readdir(dp);
		if (!e && errno) {
			f->dir->err = errno;
			count_error(&f->counts, errno);
		}
		if (!e)
			break;
		if (!is_dots(e->d_name))
			rc = add_entry(c, f, dirfd(dp), e);
	}
	return rc;
}

/* What was found goes to the tree; struct counts is nothing but uint64_t. */
static void give_found(struct tree *t, struct find *f)
{
	const uint64_t *from = (const uint64_t *)&f->counts;
	uint64_t *to = (uint64_t *)&t->counts;
	struct dir *d;
	size_t i;

	pthread_mutex_lock(&t->lock);
	for (i = 0; i < sizeof(t->counts) / sizeof(*to); i++)
		to[i] += from[i];
	while (f->dirs) {
		d = f->dirs;
		f->dirs = d->next;
		d->next = t->dirs;
		t->dirs = d;
	}
	if (f->files) {
		*f->last = t->files;
		t->files = f->files;
	}
	pthread_mutex_unlock(&t->lock);
}

/*
 * The body. A directory that cannot be read is a fact to report, not a failed
 * task: only lack of memory ends the whole search.
 */
static int read_dir(struct lkdf_ctx *c, void *arg)
{
	struct find f = { .dir = arg };
	DIR *dp = NULL;
	int rc;

	rc = open_dir(f.dir, &dp);
	if (!rc)
		rc = is_new(f.dir, dirfd(dp));
	if (rc < 0) {
		f.dir->err = -rc;
		count_error(&f.counts, f.dir->parent ? -rc : EIO);
		rc = rc == -ENOMEM ? rc : 0;
	} else if (!rc) {
		f.counts.again++;
	} else {
		f.counts.dirs++;
		rc = read_entries(c, &f, dp);
	}
	if (dp)
		closedir(dp);
	give_found(f.dir->tree, &f);
	return rc;
}

int tree_init(struct tree *t, struct lkdf *rt, uint64_t min_size)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };

	*t = (struct tree){ .min_size = min_size };
	pthread_mutex_init(&t->lock, NULL);
	attr.name = "directory";
	attr.fn = read_dir;
	attr.flags = LKDF_BLOCKING;
	return lkdf_kind_create(rt, &attr, &t->kind);
}

static void keep(void *node)
{
	(void)node;
}

void tree_fini(struct tree *t)
{
	struct file *f;
	struct dir *d;

	tdestroy(t->seen, keep);
	while (t->files) {
		f = t->files;
		t->files = f->next;
		free(f);
	}
	while (t->dirs) {
		d = t->dirs;
		t->dirs = d->next;
		free(d);
	}
	lkdf_kind_put(t->kind);
	pthread_mutex_destroy(&t->lock);
}

int tree_read(struct tree *t, struct lkdf *rt, struct lkdf_scope *s,
	      const char *path)
{
	struct lkdf_task task = { .size = sizeof(task), .kind = t->kind };
	struct find f = { .dir = NULL };

	f.dirs = new_dir(t, NULL, path);
	if (!f.dirs)
		return -ENOMEM;
	task.arg = f.dirs;
	give_found(t, &f);
	return lkdf_submit(rt, s, &task, NULL);
}

struct counts tree_counts(struct tree *t)
{
	struct counts n;

	pthread_mutex_lock(&t->lock);
	n = t->counts;
	pthread_mutex_unlock(&t->lock);
	return n;
}
