/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file being read, piece by piece, into one buffer. Each step is an operation
 * of lkdf, a child of the task that reads: open, look whether it is the file,
 * read, close. While the system works on it the worker does something else; the
 * function of one operation starts the next, and when a piece is there the task
 * goes on with lkdf_then().
 *
 * A file that is not what the walk has seen any more (another inode, another
 * size, no regular file) ends with ESTALE.
 */
#ifndef DUPES_READER_H
#define DUPES_READER_H

#include "open.h"
#include "pool.h"
#include "tree.h"
#include <stdatomic.h>

/* State that all readers share. */
struct reading {
	struct lkdf_kind *open, *look, *read, *close;
	struct pool *pool;
	atomic_ullong bytes; /* read so far */
	atomic_llong left; /* at most still to be read */
};

/* Lives in the argument of the task that reads. */
struct reader {
	struct reading *reading;
	const struct file *file;
	struct buffer *buffer;
	struct opening opening; /* fd: the open file */
	off_t pos, end; /* next byte to read, first not to read */
	size_t want; /* bytes of this piece */
	size_t got; /* of them in the buffer */
	bool is_long; /* which buffer */
	int err; /* 0 or a positive errno */
};

int reading_init(struct reading *r, struct lkdf *rt, struct pool *p);
void reading_fini(struct reading *r);

/* For the bytes from .. to of f; nothing is taken yet. */
void reader_init(struct reader *r, struct reading *all, const struct file *f,
		 off_t from, off_t to, bool is_long);

/*
 * Spawns the children that open the file and read the first piece. The task
 * holds tokens: for a file, and if is_long for a piece.
 */
int reader_start(struct lkdf_ctx *c, struct reader *r);

/* Spawns the child that reads the next piece. */
int reader_next(struct lkdf_ctx *c, struct reader *r);

/* When the children are complete: is the piece there? 0 or the reader's err. */
int reader_check(struct lkdf_ctx *c, struct reader *r);
bool reader_is_at_end(const struct reader *r);

/* Gives the buffer back and spawns the child that closes the file. */
int reader_stop(struct lkdf_ctx *c, struct reader *r);

/* After the last use: closes and frees what reader_stop() has not. */
void reader_fini(struct reader *r);

#endif
