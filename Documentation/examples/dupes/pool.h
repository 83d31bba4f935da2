/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The buffers that files are read into: a fixed number, so that a tree of any
 * size is searched in the same memory. A task may take a buffer only while it
 * holds a token of the limit, and there are as many tokens as buffers: so a
 * buffer is always there.
 */
#ifndef DUPES_POOL_H
#define DUPES_POOL_H

#include <lkdf/lkdf.h>
#include <pthread.h>
#include <xxhash.h>

#define PIECE_SIZE ((size_t)1 << 20)

struct buffer {
	struct buffer *next;
	unsigned char *bytes; /* PIECE_SIZE */
	XXH3_state_t *state;
};

struct pool {
	struct lkdf_limit *limit; /* one token for each buffer */
	pthread_mutex_t lock;
	struct buffer *all, *unused;
	unsigned nr;
};

int pool_init(struct pool *p, struct lkdf *rt, unsigned nr);
void pool_fini(struct pool *p);
struct buffer *pool_take(struct pool *p);
void pool_give(struct pool *p, struct buffer *b);

#endif
