/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A path being opened, see open.h.
 */
#include "open.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void opening_init(struct opening *o, char *path, int flags)
{
	o->path = path;
	o->rest = path;
	o->at = AT_FDCWD;
	/* O_NONBLOCK: whatever has taken the file's place, nobody waits */
	o->flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOATIME;
	o->fd = path ? -ECANCELED : -ENOMEM;
}

/* Nothing that was written, so a plain close(2) has nothing to wait for. */
static void close_at(struct opening *o)
{
	if (o->at >= 0)
		close(o->at);
	o->at = AT_FDCWD;
}

void opening_fini(struct opening *o)
{
	close_at(o);
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -EBADF;
	free(o->path);
	o->path = NULL;
}

/* If the rest is too long, its first part that is not; else all of it. */
static char *end_of_part(char *rest)
{
	char *slash;

	if (strnlen(rest, PATH_MAX) < PATH_MAX)
		return NULL;
	slash = memrchr(rest + 1, '/', PATH_MAX - 2);
	return slash;
}

static int ask(struct lkdf_ctx *c, struct lkdf_kind *k, struct opening *o)
{
	struct open_op op = { .io.size = sizeof(op.io), .opening = o };
	char *end = end_of_part(o->rest);

	op.io.op = LKDF_IO_OPENAT;
	op.io.dirfd = o->at;
	op.io.path = o->rest;
	op.io.how = (uint32_t)o->flags;
	if (end) {
		/* No right is needed on these but that of search */
		op.io.how = O_PATH | O_DIRECTORY | O_CLOEXEC;
		*end++ = '\0';
		o->rest = end + strspn(end, "/");
	}
	return lkdf_spawn(c, k, &op);
}

int opening_start(struct lkdf_ctx *c, struct lkdf_kind *k, struct opening *o)
{
	return ask(c, k, o);
}

int opening_came(struct lkdf_ctx *c, struct lkdf_kind *k, struct open_op *op)
{
	int fd = (int)lkdf_io_result(c), rc;
	struct opening *o = op->opening;

	if (fd == -EPERM && op->io.how & O_NOATIME) {
		/* Not ours: then our reading counts as an access */
		o->flags &= ~O_NOATIME;
		rc = ask(c, k, o);
	} else if (fd >= 0 && op->io.how & O_PATH) {
		close_at(o);
		o->at = fd;
		rc = ask(c, k, o);
	} else {
		o->fd = fd;
		close_at(o);
		return 0;
	}
	return rc ? rc : 1;
}

int opening_kind(struct lkdf *rt, lkdf_fn fn, struct lkdf_kind **out)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };

	attr.name = "open";
	attr.fn = fn;
	attr.arg_size = sizeof(struct open_op);
	return lkdf_kind_create_io(rt, &attr, out);
}
