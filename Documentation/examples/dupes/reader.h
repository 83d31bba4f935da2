/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One file being read, piece by piece, into one buffer. Every piece is read by
 * a child of a BLOCKING kind, so that a slow disk never holds up a worker; the
 * task that asked goes on with lkdf_then() when the piece is there.
 *
 * A file that is not what the walk has seen any more (another inode, another
 * size, no regular file) ends with ESTALE.
 */
#ifndef DUPES_READER_H
#define DUPES_READER_H

#include "pool.h"
#include "tree.h"
#include <stdatomic.h>

/* What all readers share. */
struct reading {
	struct lkdf_kind *kind;
	struct pool pool;
	atomic_ullong bytes; /* read so far */
	atomic_llong left; /* at most still to be read */
};

/* Lives in the argument of the task that reads. */
struct reader {
	struct reading *reading;
	const struct file *file;
	struct buffer *buffer;
	off_t pos, end; /* next byte to read, first not to read */
	size_t got; /* bytes in the buffer */
	int fd; /* -1: not open yet */
	int err; /* 0 or a positive errno */
};

int reading_init(struct reading *r, struct lkdf *rt, unsigned nr_buffers);
void reading_fini(struct reading *r);

/* Takes a buffer: the task must hold a token of the pool's limit for it. */
int reader_start(struct lkdf_ctx *c, struct reader *r);

/* Spawns the child that reads the next piece. */
int reader_next(struct lkdf_ctx *c, struct reader *r);

/* When that child is complete: is the piece there? 0 or the reader's err. */
int reader_check(struct lkdf_ctx *c, struct reader *r);
bool reader_is_at_end(const struct reader *r);

/* Closes the file and gives the buffer back; harmless when repeated. */
void reader_stop(struct reader *r);

#endif
