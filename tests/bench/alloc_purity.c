/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Prints how many of NR blocks were not of the node that their thread asked
 * for, in a heap of two made-up nodes: a thread of each node allocates and
 * frees what the other one allocated.
 */
#include "mem/heap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_PLACES 512

static struct heap *heap;
static _Atomic(void *) place[NR_PLACES];
static uint64_t nr_each;

struct side {
	int node;
	uint64_t nr_foreign;
};

static void *take(struct cache *c, unsigned memory, size_t size)
{
	struct heap_want w = { .memory = memory, .size = size, .align = 16 };
	void *p = heap_alloc_class(c, memory, class_of(size));
	bool is_zero;
	int error;

	return p ? p : heap_alloc_slow(heap, c, &w, &is_zero, &error);
}

static void *play(void *arg)
{
	struct side *s = arg;
	struct cache *c = heap_cache_create(heap, s->node);
	uint64_t i, random = 42 + (uint64_t)s->node;
	void *p;

	for (i = 0; i < nr_each; i++) {
		p = take(c, (unsigned)s->node, 16 + i % 497);
		s->nr_foreign += heap_memory_of(heap, p) != s->node;
		/* [purity] the block; pairs with itself. */
		p = a_xchg(&place[random_next(&random) % NR_PLACES], p,
			   acq_rel);
		if (p && heap_free(heap, c, p))
			exit(1);
	}
	heap_cache_destroy(c);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct heap_node node[] = { { 0, true }, { 1, true } };
	struct heap_attr a = { .node = node, .nr_nodes = 2 };
	struct side side[2] = { { .node = 0 }, { .node = 1 } };
	pthread_t t[2];
	int i;

	nr_each = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000) / 2;
	if (heap_create(&a, &heap))
		return 1;
	for (i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, play, &side[i]))
			return 1;
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%llu\n",
	       (unsigned long long)(side[0].nr_foreign + side[1].nr_foreign));
	return 0;
}
