/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The buffers that files are read into, see pool.h. They are made when they are
 * first needed and kept; there are never more than tokens.
 */
#include "pool.h"
#include <stdlib.h>

int pool_init(struct pool *p, struct lkdf *rt, uint64_t nr_files,
	      uint64_t nr_pieces)
{
	int rc;

	*p = (struct pool){ .files = NULL };
	pthread_mutex_init(&p->lock, NULL);
	rc = lkdf_limit_create(rt, nr_files, &p->files);
	return rc ? rc : lkdf_limit_create(rt, nr_pieces, &p->pieces);
}

static void free_buffer(struct buffer *b)
{
	if (!b)
		return;
	XXH3_freeState(b->state);
	free(b->bytes);
	free(b);
}

void pool_fini(struct pool *p)
{
	struct buffer *b;
	int i;

	for (i = 0; i < 2; i++) {
		while (p->unused[i]) {
			b = p->unused[i];
			p->unused[i] = b->next;
			free_buffer(b);
		}
	}
	lkdf_limit_put(p->pieces);
	lkdf_limit_put(p->files);
	pthread_mutex_destroy(&p->lock);
}

static struct buffer *new_buffer(size_t size)
{
	struct buffer *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->size = size;
	b->bytes = aligned_alloc(4096, size + ROOM_BEHIND);
	b->state = XXH3_createState();
	if (b->bytes && b->state)
		return b;
	free_buffer(b);
	return NULL;
}

struct buffer *pool_take(struct pool *p, bool is_long)
{
	struct buffer *b;

	pthread_mutex_lock(&p->lock);
	b = p->unused[is_long];
	if (b)
		p->unused[is_long] = b->next;
	pthread_mutex_unlock(&p->lock);
	return b ? b : new_buffer(is_long ? PIECE_SIZE : HEAD_SIZE);
}

void pool_give(struct pool *p, struct buffer *b)
{
	bool is_long = b->size == PIECE_SIZE;

	pthread_mutex_lock(&p->lock);
	b->next = p->unused[is_long];
	p->unused[is_long] = b;
	pthread_mutex_unlock(&p->lock);
}
