/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The buffers that files are read into, see pool.h. Memory that no file was
 * long enough to fill is never touched.
 */
#include "pool.h"
#include <errno.h>
#include <stdlib.h>

int pool_init(struct pool *p, struct lkdf *rt, unsigned nr)
{
	struct buffer *b;
	unsigned i;

	*p = (struct pool){ .nr = nr };
	pthread_mutex_init(&p->lock, NULL);
	p->all = calloc(nr, sizeof(*p->all));
	if (!p->all)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		b = &p->all[i];
		b->bytes = aligned_alloc(4096, PIECE_SIZE);
		b->state = XXH3_createState();
		if (!b->bytes || !b->state)
			return -ENOMEM;
		pool_give(p, b);
	}
	return lkdf_limit_create(rt, nr, &p->limit);
}

void pool_fini(struct pool *p)
{
	unsigned i;

	for (i = 0; p->all && i < p->nr; i++) {
		free(p->all[i].bytes);
		XXH3_freeState(p->all[i].state);
	}
	free(p->all);
	lkdf_limit_put(p->limit);
	pthread_mutex_destroy(&p->lock);
}

struct buffer *pool_take(struct pool *p)
{
	struct buffer *b;

	pthread_mutex_lock(&p->lock);
	b = p->unused;
	if (b)
		p->unused = b->next;
	pthread_mutex_unlock(&p->lock);
	return b;
}

void pool_give(struct pool *p, struct buffer *b)
{
	pthread_mutex_lock(&p->lock);
	b->next = p->unused;
	p->unused = b;
	pthread_mutex_unlock(&p->lock);
}
