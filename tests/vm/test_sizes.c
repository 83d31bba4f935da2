/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sizes of blocks, 1 .. 2^22, around each border of a size class, on
 * nodes that have memory: apart, aligned, and their pages on the node that was
 * asked, whichever node the asking thread runs on.
 */
#include "tests/vm/mem.h"

#include "core/runtime.h"
#include "data/place.h"
#include "mem/heap.h"

#define NEAR 16
#define PER_BORDER (2 * NEAR + 1)
#define LARGEST ((size_t)4 << 20)
#define SOME ((size_t)60 << 10) /* from here on not all pages are touched */
#define ALIGNMENTS 2
#define MOST_NODES 4
/* Of blocks at a time: the least node of a machine has 192 MiB. */
#define AT_ONCE ((size_t)48 << 20)

struct block {
	char *at;
	size_t size, room;
};

static struct lkdf *rt;

/* Over all borders; the pages over all blocks. */
static struct {
	uint64_t nr, none, small, overlap, misaligned, changed;
	struct mem_pages pages;
} count;

/* Of the library's users: 64 bytes; of malloc's: 16. */
static void *take(int node, size_t size, size_t align)
{
	struct lkdf_place *p = lkdf_place_node(rt, node);
	struct heap_want w = { .memory = p->memory,
			       .size = size,
			       .align = align };
	void *block = NULL;
	bool is_zero;
	int error;

	if (align == 64)
		must(lkdf_alloc(p, LKDF_MEM_OWN, size, 0, NULL, &block));
	else
		block = heap_alloc_slow(rt->heap, heap_thread_cache(rt->heap),
					&w, &is_zero, &error);
	return block;
}

/* Some pages of what is large: a machine without KVM is slow. */
static uint64_t step_of(size_t size)
{
	return size > 256 << 10 ? 64 : size >= SOME ? 8 : 1;
}

static void take_block(struct block *b, int node, size_t size, size_t align)
{
	b->size = size;
	b->at = take(node, size, align);
	count.nr++;
	count.none += !b->at;
	if (!b->at)
		return;
	b->room = heap_size(rt->heap, b->at);
	count.small += b->room < size;
	count.misaligned += (uintptr_t)b->at % align != 0;
	mem_touch(b->at, b->room, step_of(size));
	b->at[0] = (char)size;
	b->at[b->room - 1] = (char)size;
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void look_at(struct block *b, int nr, int node)
{
	int i;

	qsort(b, (size_t)nr, sizeof(*b), by_address);
	for (i = 0; i < nr; i++) {
		if (!b[i].at)
			continue;
		if (i + 1 < nr)
			count.overlap += b[i].at + b[i].room > b[i + 1].at;
		count.changed += b[i].at[0] != (char)b[i].size ||
				 b[i].at[b[i].room - 1] != (char)b[i].size;
		mem_count(&count.pages, b[i].at, b[i].room, step_of(b[i].size),
			  node);
	}
}

/* Looks at the blocks taken so far, and gives them back to the kernel. */
static void give_back(struct block *b, int nr, int node)
{
	bool is_kept = nr > 0 && b[0].size + NEAR < SOME;
	int i;

	look_at(b, nr, node);
	for (i = 0; i < nr; i++)
		lkdf_free(rt, b[i].at);
	if (is_kept)
		return;
	cache_flush(heap_thread_cache(rt->heap));
	heap_trim(rt->heap, true);
}

/* All sizes near the border, each as often as there are alignments. */
static void around(int node, size_t border)
{
	static struct block b[ALIGNMENTS * PER_BORDER];
	size_t size = border > NEAR ? border - NEAR : 1;
	size_t last = border + NEAR < LARGEST ? border + NEAR : LARGEST;
	int nr = 0;

	for (; size <= last; size++) {
		take_block(&b[nr++], node, size, 64);
		take_block(&b[nr++], node, size, 16);
		if ((size_t)nr * size >= AT_ONCE) {
			give_back(b, nr, node);
			nr = 0;
		}
	}
	give_back(b, nr, node);
}

static void all_borders(void *u)
{
	const struct heap *h = rt->heap;
	int node = *(const int *)u;
	unsigned i;

	for (i = 0; i < NR_SIZES; i++)
		around(node, h->class[i].size);
	around(node, LARGEST / 4 * 3);
	around(node, LARGEST);
}

static void blocks_of_all_sizes_are_on_their_node(int node, int from)
{
	uint64_t all;

	memset(&count, 0, sizeof(count));
	mem_on_node(from, all_borders, &node);
	printf("# node %d, asked from node %d: %llu blocks, %llu pages on it, "
	       "%llu not, %llu absent\n",
	       node, from, (unsigned long long)count.nr,
	       (unsigned long long)count.pages.right,
	       (unsigned long long)count.pages.wrong,
	       (unsigned long long)count.pages.absent);
	is(count.none, 0, "node %d: %llu blocks, none is refused", node,
	   (unsigned long long)count.nr);
	is(count.small, 0, "node %d: none is too small", node);
	is(count.overlap, 0, "node %d: none overlaps another", node);
	is(count.misaligned, 0, "node %d: all are aligned", node);
	is(count.changed, 0, "node %d: all keep their ends", node);
	is(count.pages.absent, 0, "node %d: all touched pages are there", node);
	all = count.pages.right + count.pages.wrong;
	ok(all > 10000 && count.pages.wrong * 1000 <= all,
	   "node %d: 99.9 %% of %llu pages and more are on it", node,
	   (unsigned long long)all);
}

int main(void)
{
	int i;

	mem_start(60);
	rt = api_open("workers=1");
	/* Each node takes seconds; a few are enough of a large machine. */
	for (i = 0; i < nr_mem_nodes && i < MOST_NODES; i++)
		blocks_of_all_sizes_are_on_their_node(
			mem_node[i], mem_cpu_node[(i + 1) % nr_mem_cpu_nodes]);
	must(lkdf_close(rt));
	return tap_end();
}
