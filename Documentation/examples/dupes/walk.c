/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The walk, see walk.h.
 *
 *   visit -> (open) -> opened -> (list) -> look -> (look up to 64) --.
 *                                           ^ |                      |
 *                                           | '-> finish -> (close)  |
 *                                           '------------------------'
 *
 * The boxes in brackets are children; lkdf_then() goes on behind them. A task
 * gathers what it finds on its own and takes the tree's lock at its end.
 */
#include "walk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define LIST_SIZE ((size_t)32 << 10)
#define MAX_LOOKS 64 /* operations at a time */
#define MAX_HERE 1024 /* names without any */

/* A name about which the system is being asked. */
struct look {
	struct statx st; /* first: it is how on_look() finds the rest */
	struct file *file;
	int err; /* 0 or an errno */
};

/* Memory that stays allocated while the directory is open. */
struct room {
	struct look look[MAX_LOOKS];
	char names[LIST_SIZE];
};

/* The task's argument, copied into it. */
struct visit {
	struct walk *walk;
	struct dir *dir;
	struct opening opening;
	struct room *room;
	unsigned nr_looks;
	struct file *todo; /* to be asked about */
	struct dir *dirs; /* found, as the rest */
	struct file *files, **last;
	struct file *failed;
	struct counts counts;
};

static int then(struct lkdf_ctx *c, lkdf_fn fn)
{
	struct lkdf_event children = { 0 };

	return lkdf_then(c, fn, children);
}

static void count_error(struct counts *n, int err)
{
	/* Replaced by something else meanwhile: what we saw is gone */
	if (err == ENOENT || err == ELOOP || err == ENOTDIR)
		n->vanished++;
	else
		n->unreadable++;
}

/* ---- what a directory holds --------------------------------------------- */

static int add_dir(struct lkdf_ctx *c, struct visit *v, const char *name)
{
	struct dir *d = dir_create(v->dir->tree, v->dir, name);

	if (!d)
		return lkdf_fail(c, -ENOMEM, "no memory for a directory");
	d->next = v->dirs;
	v->dirs = d;
	return 0;
}

static int add_todo(struct lkdf_ctx *c, struct visit *v, const char *name)
{
	struct file *f = file_create(v->dir, name);

	if (!f)
		return lkdf_fail(c, -ENOMEM, "no memory for a file");
	f->next = v->todo;
	v->todo = f;
	return 0;
}

/* The system is asked only about what may be a regular file. */
static int add_entry(struct lkdf_ctx *c, struct visit *v, const char *name,
		     unsigned type)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	switch (type) {
	case DT_REG:
	case DT_UNKNOWN:
		return add_todo(c, v, name);
	case DT_DIR:
		return add_dir(c, v, name);
	case DT_LNK:
		v->counts.symlinks++;
		return 0;
	default:
		v->counts.special++;
		return 0;
	}
}

static int add_entries(struct lkdf_ctx *c, struct visit *v, size_t size)
{
	const struct dirent64 *e;
	size_t at;
	int rc = 0;

	for (at = 0; at < size && !rc; at += e->d_reclen) {
		e = (const struct dirent64 *)(const void *)(v->room->names +
							    at);
		rc = add_entry(c, v, e->d_name, e->d_type);
	}
	return rc;
}

/* A regular file of interest is kept; of others the number is. */
static bool keep_file(struct visit *v, struct file *f, const struct statx *st)
{
	v->counts.files++;
	v->counts.bytes += st->stx_size;
	if (!st->stx_size)
		v->counts.empty++;
	else if (st->stx_size < v->dir->tree->min_size)
		v->counts.small++;
	if (!st->stx_size || st->stx_size < v->dir->tree->min_size)
		return false;
	f->dev = makedev(st->stx_dev_major, st->stx_dev_minor);
	f->ino = st->stx_ino;
	f->size = (off_t)st->stx_size;
	if (!v->files)
		v->last = &f->next;
	f->next = v->files;
	v->files = f;
	return true;
}

/* The system's answer for one name. */
static int sort_look(struct lkdf_ctx *c, struct visit *v, struct look *l)
{
	struct file *f = l->file;
	int rc = 0;

	l->file = NULL;
	if (l->err) {
		if (l->err != ECANCELED)
			count_error(&v->counts, l->err);
		f->err = l->err;
		f->next = v->failed;
		v->failed = f;
		return 0;
	}
	if (S_ISREG(l->st.stx_mode)) {
		if (!keep_file(v, f, &l->st))
			free(f);
		return 0;
	}
	rc = add_entry(c, v, f->name, IFTODT(l->st.stx_mode));
	free(f);
	return rc;
}

static void set_error(struct visit *v, int err)
{
	v->dir->err = err;
	count_error(&v->counts, v->dir->parent ? err : EIO);
}

/* Is it met for the first time, so that it is to be read? */
static int is_wanted(struct lkdf_ctx *c, struct visit *v)
{
	struct stat st;
	int rc;

	if (fstat(v->opening.fd, &st) < 0) {
		set_error(v, errno);
		return 0;
	}
	rc = tree_is_new(v->dir, st.st_dev, st.st_ino);
	if (rc < 0)
		return lkdf_fail(c, rc, "no memory for a directory");
	if (rc)
		v->counts.dirs++;
	else
		v->counts.again++;
	return rc;
}

/* How the system is asked: no link is followed. */
static struct lkdf_io question(struct visit *v, struct look *l)
{
	struct lkdf_io io = { .size = sizeof(io), .op = LKDF_IO_STATX };

	io.dirfd = v->opening.fd;
	io.path = l->file->name;
	io.how = AT_SYMLINK_NOFOLLOW | LOOK_HOW;
	io.len = STATX_TYPE | STATX_INO | STATX_SIZE;
	io.buf = &l->st;
	return io;
}

/*
 * A thread that may block is at hand: it asks about the first names itself,
 * which costs less than operations. In most directories that is all of them.
 */
static int look_here(struct lkdf_ctx *c, struct visit *v)
{
	struct look *l = &v->room->look[0];
	struct lkdf_io io;
	unsigned i;
	int rc = 0;

	for (i = 0; v->todo && i < MAX_HERE && !rc; i++) {
		if (lkdf_cancelled(c))
			break;
		l->file = v->todo;
		v->todo = l->file->next;
		io = question(v, l);
		rc = statx(io.dirfd, io.path, (int)io.how, io.len, io.buf);
		l->err = rc ? errno : 0;
		rc = sort_look(c, v, l);
	}
	return rc;
}

/* The body that may block: every entry, unless the user has lost patience. */
static int list(struct lkdf_ctx *c, void *arg)
{
	struct visit *v = arg;
	int rc = is_wanted(c, v);
	ssize_t size;

	if (rc <= 0)
		return rc;
	do {
		size = getdents64(v->opening.fd, v->room->names, LIST_SIZE);
		if (size < 0)
			set_error(v, errno);
		rc = size > 0 ? add_entries(c, v, (size_t)size) : 0;
	} while (size > 0 && !rc && !lkdf_cancelled(c));
	return rc ? rc : look_here(c, v);
}

/* ---- asking about more names -------------------------------------------- */

static int on_look(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_io *io = arg;
	struct look *l = io->buf;

	l->err = -(int)lkdf_io_result(c);
	return 0;
}

static int spawn_look(struct lkdf_ctx *c, struct visit *v, struct look *l)
{
	struct lkdf_io io = question(v, l);

	l->err = ECANCELED;
	return lkdf_spawn(c, v->walk->look, &io);
}

/* The next ones of those still to be asked about. */
static int spawn_looks(struct lkdf_ctx *c, struct visit *v)
{
	struct look *l;
	int rc = 0;

	for (v->nr_looks = 0; v->todo && v->nr_looks < MAX_LOOKS && !rc;) {
		l = &v->room->look[v->nr_looks++];
		l->file = v->todo;
		v->todo = l->file->next;
		rc = spawn_look(c, v, l);
	}
	return rc;
}

/* ---- the task ----------------------------------------------------------- */

/* The findings go to the tree; struct counts is nothing but uint64_t. */
static void give_found(struct visit *v)
{
	const uint64_t *from = (const uint64_t *)&v->counts;
	struct tree *t = v->dir->tree;
	uint64_t *to = (uint64_t *)&t->counts;
	struct file *f;
	size_t i;

	pthread_mutex_lock(&t->lock);
	for (i = 0; i < sizeof(t->counts) / sizeof(*to); i++)
		to[i] += from[i];
	if (v->files) {
		*v->last = t->files;
		t->files = v->files;
		v->files = NULL;
	}
	while (v->failed) {
		f = v->failed;
		v->failed = f->next;
		f->next = t->failed;
		t->failed = f;
	}
	pthread_mutex_unlock(&t->lock);
	v->counts = (struct counts){ 0 };
}

static int submit(struct walk *w, struct dir *d)
{
	struct lkdf_task task = { .size = sizeof(task), .kind = w->dir };
	struct visit v = { .walk = w, .dir = d };

	pthread_mutex_lock(&w->tree->lock);
	d->next = w->tree->dirs;
	w->tree->dirs = d;
	pthread_mutex_unlock(&w->tree->lock);
	opening_init(&v.opening, NULL, 0);
	task.arg = &v;
	return lkdf_submit(w->rt, w->scope, &task, NULL);
}

static int finish(struct lkdf_ctx *c, struct visit *v)
{
	struct dir *d;
	int rc = 0;

	give_found(v);
	while (v->dirs && !rc) {
		d = v->dirs;
		v->dirs = d->next;
		rc = submit(v->walk, d);
	}
	if (rc)
		return rc;
	return opening_close(c, v->walk->close, &v->opening);
}

static int look(struct lkdf_ctx *c, void *arg)
{
	struct visit *v = arg;
	unsigned i;
	int rc = lkdf_input_error(c, 0);

	/* Cancelled ones say so themselves */
	rc = rc == -ECANCELED ? 0 : rc;
	for (i = 0; i < v->nr_looks && !rc; i++)
		rc = sort_look(c, v, &v->room->look[i]);
	if (!rc)
		rc = spawn_looks(c, v);
	if (rc)
		return rc;
	return v->nr_looks ? then(c, look) : finish(c, v);
}

static int opened(struct lkdf_ctx *c, void *arg)
{
	struct visit *v = arg;
	int rc;

	if (lkdf_cancelled(c))
		return lkdf_cancelled(c);
	if (v->opening.fd < 0) {
		/* Without it the rest of the tree is found all the same */
		set_error(v, -v->opening.fd);
		return finish(c, v);
	}
	rc = lkdf_spawn(c, v->walk->list, v);
	return rc ? rc : then(c, look);
}

/* A symbolic link is followed only where the user has named it. */
static int visit(struct lkdf_ctx *c, void *arg)
{
	struct visit *v = arg;
	int flags = O_RDONLY | O_DIRECTORY, rc;

	v->room = malloc(sizeof(*v->room));
	opening_init(&v->opening, tree_path(v->dir, NULL),
		     v->dir->parent ? flags | O_NOFOLLOW : flags);
	if (!v->room || !v->opening.path)
		return lkdf_fail(c, -ENOMEM, "no memory for a directory");
	rc = opening_start(c, v->walk->open, &v->opening);
	return rc ? rc : then(c, opened);
}

static int on_open(struct lkdf_ctx *c, void *arg)
{
	struct open_op *op = arg;
	struct visit *v = (struct visit *)((char *)op->opening -
					   offsetof(struct visit, opening));
	int rc = opening_came(c, v->walk->open, op);

	return rc < 0 ? rc : 0;
}

/* After the last use, run to the end or not. */
static void drop(void *arg)
{
	struct visit *v = arg;
	struct file *f;
	struct dir *d;
	unsigned i;

	for (i = 0; i < v->nr_looks; i++)
		free(v->room->look[i].file);
	while ((f = v->todo)) {
		v->todo = f->next;
		free(f);
	}
	while ((d = v->dirs)) {
		v->dirs = d->next;
		free(d);
	}
	give_found(v);
	opening_fini(&v->opening);
	free(v->room);
}

/* ---- all of them -------------------------------------------------------- */

static int make_look(struct walk *w)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };

	attr.name = "look";
	attr.fn = on_look;
	return lkdf_kind_create_io(w->rt, &attr, &w->look);
}

static int make_dir(struct walk *w, struct pool *p)
{
	struct lkdf_limit_use token = { p->files, 1 };
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };

	attr.name = "directory";
	attr.fn = visit;
	attr.arg_size = sizeof(struct visit);
	attr.limit = &token;
	attr.nr_limit = 1;
	attr.drop = drop;
	return lkdf_kind_create(w->rt, &attr, &w->dir);
}

static int make_list(struct walk *w)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };

	attr.name = "list";
	attr.fn = list;
	attr.flags = LKDF_BLOCKING;
	return lkdf_kind_create(w->rt, &attr, &w->list);
}

int walk_init(struct walk *w, struct lkdf *rt, struct lkdf_scope *s,
	      struct tree *t, struct pool *p)
{
	int rc;

	*w = (struct walk){ .rt = rt, .scope = s, .tree = t };
	rc = make_dir(w, p);
	if (!rc)
		rc = make_list(w);
	if (!rc)
		rc = opening_kind(rt, on_open, &w->open);
	if (!rc)
		rc = make_look(w);
	return rc ? rc : opening_close_kind(rt, &w->close);
}

void walk_fini(struct walk *w)
{
	lkdf_kind_put(w->close);
	lkdf_kind_put(w->look);
	lkdf_kind_put(w->open);
	lkdf_kind_put(w->list);
	lkdf_kind_put(w->dir);
}

int walk_start(struct walk *w, const char *path)
{
	struct dir *d = dir_create(w->tree, NULL, path);

	return d ? submit(w, d) : -ENOMEM;
}
