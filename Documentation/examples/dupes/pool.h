/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The search's share of the machine at a time, as two limits of lkdf: open
 * files, and long buffers. A task starts only when it has its tokens, however
 * many wait, so a tree of any size is searched in the same memory.
 *
 * A short buffer, for the head of a file, goes with each token of an open file;
 * a long one, for the pieces behind, with a token of its own.
 */
#ifndef DUPES_POOL_H
#define DUPES_POOL_H

#include <lkdf/lkdf.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Most files of one size differ early: one small read settles those. */
#define HEAD_SIZE ((size_t)16 << 10)
#define PIECE_SIZE ((size_t)256 << 10)

/* Behind the piece is room to see that the file goes on. */
#define ROOM_BEHIND 4096

struct buffer {
	struct buffer *next;
	size_t size; /* HEAD_SIZE or PIECE_SIZE */
	unsigned char *bytes; /* and ROOM_BEHIND */
	XXH3_state_t *state;
	struct statx st; /* of the file */
};

struct pool {
	struct lkdf_limit *files; /* open files, short buffers */
	struct lkdf_limit *pieces; /* long buffers */
	pthread_mutex_t lock;
	struct buffer *unused[2]; /* short, long */
};

int pool_init(struct pool *p, struct lkdf *rt, uint64_t nr_files,
	      uint64_t nr_pieces);
void pool_fini(struct pool *p);

/* NULL: no memory. For this the task holds a token. */
struct buffer *pool_take(struct pool *p, bool is_long);
void pool_give(struct pool *p, struct buffer *b);

#endif
