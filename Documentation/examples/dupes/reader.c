/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One file being read, see reader.h.
 */
#include "reader.h"
#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Still the file that the walk has seen? 0 or an errno. */
static int check_same(const struct reader *r)
{
	struct stat st;

	if (fstat(r->fd, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode) || st.st_dev != r->file->dev ||
	    st.st_ino != r->file->ino || st.st_size != r->file->size)
		return ESTALE;
	return 0;
}

/* Nothing but a regular file does harm: no link is followed, no FIFO waits. */
static int open_file(struct reader *r)
{
	char *path;

	path = tree_path(r->file->dir, r->file->name);
	if (!path)
		return ENOMEM;
	r->fd = path_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	free(path);
	if (r->fd == -ELOOP || r->fd == -ENXIO)
		return ESTALE;
	return r->fd < 0 ? -r->fd : check_same(r);
}

static int read_piece(struct reader *r)
{
	size_t want = PIECE_SIZE;
	ssize_t n;

	if ((off_t)want > r->end - r->pos)
		want = r->end - r->pos;
	for (r->got = 0; r->got < want; r->got += n) {
		n = pread(r->fd, r->buffer->bytes + r->got, want - r->got,
			  r->pos + r->got);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? errno : ESTALE;
	}
	r->pos += r->got;
	atomic_fetch_add(&r->reading->bytes, r->got);
	atomic_fetch_sub(&r->reading->left, r->got);
	/* It may have grown behind our back */
	return r->pos == r->file->size ? check_same(r) : 0;
}

/* The body of the child; errors are the file's, not the task's. */
static int fill(struct lkdf_ctx *c, void *arg)
{
	struct reader *r = arg;

	r->err = -lkdf_cancelled(c);
	if (!r->err && r->fd < 0)
		r->err = open_file(r);
	if (!r->err)
		r->err = read_piece(r);
	return 0;
}

int reading_init(struct reading *r, struct lkdf *rt, unsigned nr_buffers)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };
	int rc;

	*r = (struct reading){ .kind = NULL };
	rc = pool_init(&r->pool, rt, nr_buffers);
	if (rc)
		return rc;
	attr.name = "read";
	attr.fn = fill;
	attr.flags = LKDF_BLOCKING;
	return lkdf_kind_create(rt, &attr, &r->kind);
}

void reading_fini(struct reading *r)
{
	lkdf_kind_put(r->kind);
	pool_fini(&r->pool);
}

int reader_start(struct lkdf_ctx *c, struct reader *r)
{
	r->fd = -1;
	r->buffer = pool_take(&r->reading->pool);
	if (!r->buffer)
		return lkdf_fail(c, -ENOBUFS, "a token, but no buffer");
	return 0;
}

int reader_next(struct lkdf_ctx *c, struct reader *r)
{
	return lkdf_spawn(c, r->reading->kind, r);
}

int reader_check(struct lkdf_ctx *c, struct reader *r)
{
	/* A child that was cancelled has not run */
	if (!r->err)
		r->err = -lkdf_input_error(c, 0);
	return r->err;
}

bool reader_is_at_end(const struct reader *r)
{
	return r->pos == r->end;
}

void reader_stop(struct reader *r)
{
	if (r->buffer) {
		atomic_fetch_sub(&r->reading->left, r->end - r->pos);
		pool_give(&r->reading->pool, r->buffer);
	}
	r->buffer = NULL;
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}
