/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A path being opened by operations of lkdf (LKDF_IO_OPENAT), and closed. A
 * single operation opens it, unless it is longer than PATH_MAX, as paths of
 * deep trees are: then each opens as many directories of it as fit, and its
 * function starts the next one, relative to where the last one has come.
 */
#ifndef DUPES_OPEN_H
#define DUPES_OPEN_H

#include <fcntl.h>
#include <lkdf/lkdf.h>

/*
 * How the walk and the readers ask for size and inode (LKDF_IO_STATX): what the
 * kernel knows without asking a server or mounting something. Then lkdf answers
 * at once where it can.
 */
#define LOOK_HOW (AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT)

/* Lives in the argument of the task that wants the file. */
struct opening {
	char *path; /* allocated */
	char *rest; /* of path: still to be opened, from at */
	int at; /* directory reached, or AT_FDCWD */
	int flags; /* of open(2) */
	int fd; /* what comes of it: a descriptor, or -errno */
};

/* The argument of the kinds that open and close. */
struct open_op {
	struct lkdf_io io; /* first, as lkdf wants it */
	struct opening *opening;
};

/* path: taken over, NULL: no memory. flags: of open(2) */
void opening_init(struct opening *o, char *path, int flags);

/* Closes what is open and frees the path; harmless when repeated. */
void opening_fini(struct opening *o);

/* Spawns the operation that closes fd, if it is open. */
int opening_close(struct lkdf_ctx *c, struct lkdf_kind *k, struct opening *o);

/* Spawns the first operation, of a kind made by opening_kind(). */
int opening_start(struct lkdf_ctx *c, struct lkdf_kind *k, struct opening *o);

/*
 * To be called first by the kind's function. 1: a further operation is under
 * way; 0: fd is set; < 0: the task is to fail with that.
 */
int opening_came(struct lkdf_ctx *c, struct lkdf_kind *k, struct open_op *op);

int opening_kind(struct lkdf *rt, lkdf_fn fn, struct lkdf_kind **out);
int opening_close_kind(struct lkdf *rt, struct lkdf_kind **out);

#endif
