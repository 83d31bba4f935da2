/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The walk through the directories: one task for each. It opens its directory,
 * asks for the size of what may be a regular file, many at a time, and closes
 * it, all as operations of lkdf. Only for reading the names the system has no
 * operation: that is a child of a BLOCKING kind, which may wait for a disk
 * without holding up a worker.
 *
 * A task holds a token of the limit of open files while its directory is open;
 * so directories below are no children of it, which it would have to wait for,
 * but submitted to the scope. Symbolic links are counted and not followed.
 */
#ifndef DUPES_WALK_H
#define DUPES_WALK_H

#include "open.h"
#include "pool.h"
#include "tree.h"

struct walk {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct tree *tree;
	struct lkdf_kind *dir, *open, *list, *look, *close;
};

int walk_init(struct walk *w, struct lkdf *rt, struct lkdf_scope *s,
	      struct tree *t, struct pool *p);
void walk_fini(struct walk *w);

/* Starts reading below a directory; its end is the scope's end. */
int walk_start(struct walk *w, const char *path);

#endif
