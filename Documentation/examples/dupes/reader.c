/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file being read, see reader.h.
 *
 *   start -> open -> look -> read -> (the task's own function)
 *                             ^          |
 *                   next -----'          '--> stop -> close
 *
 * An operation that fails is the file's misfortune, not the task's: its
 * function notes the error and starts nothing more.
 */
#include "reader.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

/* The argument of the kinds that look and read. */
struct reader_op {
	struct lkdf_io io; /* first, as lkdf wants it */
	struct reader *reader;
};

/* An operation on the open file; what it needs more is set by the caller. */
static struct reader_op op_of(struct reader *r, uint32_t op)
{
	struct reader_op x = { .io.size = sizeof(x.io), .reader = r };

	x.io.op = op;
	x.io.fd = r->opening.fd;
	return x;
}

static int look(struct lkdf_ctx *c, struct reader *r)
{
	struct reader_op op = op_of(r, LKDF_IO_STATX);

	op.io.dirfd = r->opening.fd;
	op.io.path = "";
	op.io.how = AT_EMPTY_PATH | LOOK_HOW;
	op.io.len = STATX_TYPE | STATX_INO | STATX_SIZE;
	op.io.buf = &r->buffer->st;
	return lkdf_spawn(c, r->reading->look, &op);
}

/*
 * The first bytes are enough for lkdf (SOME), because on_read() knows better
 * what is missing. Where the file should end one byte more is asked for: then
 * we see if it goes on.
 */
static int read_on(struct lkdf_ctx *c, struct reader *r)
{
	struct reader_op op = op_of(r, LKDF_IO_READ);

	op.io.flags = LKDF_IO_SOME;
	op.io.off = r->pos + (off_t)r->got;
	op.io.buf = r->buffer->bytes + r->got;
	op.io.len = (uint32_t)(r->want - r->got);
	op.io.len += r->pos + (off_t)r->want == r->file->size;
	return lkdf_spawn(c, r->reading->read, &op);
}

/* ---- what the operations go on with ------------------------------------- */

/* Nothing but a regular file does harm: no link is followed, no FIFO waits. */
static int on_open(struct lkdf_ctx *c, void *arg)
{
	struct open_op *op = arg;
	struct reader *r = (struct reader *)((char *)op->opening -
					     offsetof(struct reader, opening));
	int rc = opening_came(c, r->reading->open, op);

	if (rc)
		return rc < 0 ? rc : 0;
	if (r->opening.fd >= 0)
		return look(c, r);
	r->err = -r->opening.fd;
	if (r->err == ELOOP || r->err == ENXIO)
		r->err = ESTALE;
	return 0;
}

static bool is_same(const struct file *f, const struct statx *st)
{
	return S_ISREG(st->stx_mode) && st->stx_ino == f->ino &&
	       makedev(st->stx_dev_major, st->stx_dev_minor) == f->dev &&
	       (off_t)st->stx_size == f->size;
}

/* Still the file that the walk has seen? */
static int on_look(struct lkdf_ctx *c, void *arg)
{
	struct reader *r = ((struct reader_op *)arg)->reader;
	int rc = (int)lkdf_io_result(c);

	if (!rc && is_same(r->file, &r->buffer->st))
		return read_on(c, r);
	r->err = rc ? -rc : ESTALE;
	return 0;
}

/* A part, the whole piece, or the end of a file that was longer. */
static int on_read(struct lkdf_ctx *c, void *arg)
{
	struct reader *r = ((struct reader_op *)arg)->reader;
	int64_t nr = lkdf_io_result(c);

	if (nr <= 0) {
		r->err = nr ? (int)-nr : ESTALE;
		return 0;
	}
	r->got += (size_t)nr;
	if (r->got < r->want)
		return read_on(c, r);
	if (r->got > r->want)
		r->err = ESTALE;
	r->pos += (off_t)r->want;
	atomic_fetch_add(&r->reading->bytes, r->want);
	atomic_fetch_sub(&r->reading->left, (int64_t)r->want);
	return 0;
}

/* ---- one reader --------------------------------------------------------- */

void reader_init(struct reader *r, struct reading *all, const struct file *f,
		 off_t from, off_t to, bool is_long)
{
	*r = (struct reader){ .reading = all, .file = f };
	r->opening.at = AT_FDCWD;
	r->opening.fd = -EBADF;
	r->pos = from;
	r->end = to;
	r->is_long = is_long;
}

/* A file's first piece is its head, even where there is room for more. */
static void plan_piece(struct reader *r)
{
	off_t end = r->pos ? r->pos + (off_t)r->buffer->size : (off_t)HEAD_SIZE;

	r->want = (size_t)((end < r->end ? end : r->end) - r->pos);
	r->got = 0;
}

int reader_start(struct lkdf_ctx *c, struct reader *r)
{
	r->buffer = pool_take(r->reading->pool, r->is_long);
	opening_init(&r->opening, tree_path(r->file->dir, r->file->name),
		     O_RDONLY | O_NOFOLLOW);
	if (!r->buffer || !r->opening.path)
		return lkdf_fail(c, -ENOMEM, "no memory to read a file");
	plan_piece(r);
	return opening_start(c, r->reading->open, &r->opening);
}

int reader_next(struct lkdf_ctx *c, struct reader *r)
{
	plan_piece(r);
	return read_on(c, r);
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

static void give_buffer(struct reader *r)
{
	if (!r->buffer)
		return;
	atomic_fetch_sub(&r->reading->left, r->end - r->pos);
	pool_give(r->reading->pool, r->buffer);
	r->buffer = NULL;
}

int reader_stop(struct lkdf_ctx *c, struct reader *r)
{
	give_buffer(r);
	return opening_close(c, r->reading->close, &r->opening);
}

void reader_fini(struct reader *r)
{
	give_buffer(r);
	opening_fini(&r->opening);
}

/* ---- all of them -------------------------------------------------------- */

static int make(struct lkdf *rt, const char *name, lkdf_fn fn,
		struct lkdf_kind **out)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr), .name = name };

	attr.fn = fn;
	attr.arg_size = sizeof(struct reader_op);
	return lkdf_kind_create_io(rt, &attr, out);
}

int reading_init(struct reading *r, struct lkdf *rt, struct pool *p)
{
	int rc;

	*r = (struct reading){ .pool = p };
	rc = opening_kind(rt, on_open, &r->open);
	if (!rc)
		rc = make(rt, "look", on_look, &r->look);
	if (!rc)
		rc = make(rt, "read", on_read, &r->read);
	return rc ? rc : opening_close_kind(rt, &r->close);
}

void reading_fini(struct reading *r)
{
	lkdf_kind_put(r->close);
	lkdf_kind_put(r->read);
	lkdf_kind_put(r->look);
	lkdf_kind_put(r->open);
}
