/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sizes from 1 to 2^22 around every border of a class and every power of two:
 * blocks lie apart, where they were asked for, on the alignment asked for,
 * and keep what was written when they grow and shrink.
 */
#include "tests/unit/heap.h"

#define NEAR 16
#define SIZE_MAX_TESTED (4 * MIB)
#define PER_BORDER (2 * NEAR + 1)

struct block {
	char *at;
	size_t size, room;
};

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int nr_overlaps(struct block *b, int nr)
{
	int i, bad = 0;

	qsort(b, (size_t)nr, sizeof(*b), by_address);
	for (i = 0; i + 1 < nr; i++)
		bad += b[i].at + b[i].room > b[i + 1].at;
	return bad;
}

/* Counted over all borders, one ok() each at the end. */
static struct {
	int none, small, overlap, misaligned, elsewhere, changed, not_freed;
	int nr;
} count;

static void take_block(struct heap *h, struct cache *c, unsigned memory,
		       struct block *b, size_t size)
{
	b->size = size;
	b->at = take(h, c, memory, size);
	count.nr++;
	count.none += !b->at;
	if (!b->at)
		return;
	b->room = heap_size(h, b->at);
	count.small += b->room < size;
	count.misaligned += (uintptr_t)b->at % 16 != 0;
	count.elsewhere += heap_memory_of(h, b->at) != (int)memory;
	fill(b->at, b->room, (unsigned)size);
}

static void check_and_free(struct heap *h, struct cache *c, struct block *b)
{
	if (!b->at)
		return;
	count.changed +=
		!is_filled(b->at, b->at, b->room, b->room, (unsigned)b->size);
	count.not_freed += heap_free(h, c, b->at) != 0;
}

/* All sizes near the border at once. */
static void around(struct heap *h, struct cache *c, size_t border)
{
	static struct block b[PER_BORDER];
	size_t size;
	int nr = 0, i;

	for (size = border > NEAR ? border - NEAR : 1;
	     size <= border + NEAR && size <= SIZE_MAX_TESTED; size++)
		take_block(h, c, (unsigned)(nr % NR_NODES), &b[nr], size), nr++;
	count.overlap += nr_overlaps(b, nr);
	for (i = 0; i < nr; i++)
		check_and_free(h, c, &b[i]);
}

static void say_counts(const char *of)
{
	is(count.none, 0, "%s: %d blocks, none refused", of, count.nr);
	is(count.small, 0, "%s: none is too small", of);
	is(count.overlap, 0, "%s: none overlaps", of);
	is(count.misaligned, 0, "%s: all are aligned", of);
	is(count.elsewhere, 0, "%s: all know their memory", of);
	is(count.changed, 0, "%s: all keep their bytes", of);
	is(count.not_freed, 0, "%s: all can be freed", of);
	memset(&count, 0, sizeof(count));
}

static void sizes_around_classes(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	unsigned i;

	for (i = 0; i < NR_SIZES; i++)
		around(h, c, h->class[i].size);
	say_counts("classes");
	is(h->class[NR_SIZES - 1].size, CLASS_MAX_SIZE,
	   "the last class is the largest");
	heap_cache_destroy(c);
	is(used_in_all(h), 0, "nothing is used at the end");
	heap_destroy(h);
}

static void sizes_around_powers(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	size_t i;

	for (i = 1; i <= SIZE_MAX_TESTED; i *= 2)
		around(h, c, i);
	say_counts("powers");
	heap_cache_destroy(c);
	is(used_in_all(h), 0, "nothing is used at the end");
	heap_destroy(h);
}

static void every_small_size(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	size_t size;

	for (size = NEAR + 1; size <= 10000; size += PER_BORDER)
		around(h, c, size);
	say_counts("1 to 10000");
	heap_cache_destroy(c);
	heap_destroy(h);
}

static void class_is_the_smallest(void)
{
	struct heap *h = plain_heap();
	int bad = 0, bad64 = 0;
	size_t size;
	unsigned i;

	for (size = 1; size <= CLASS_MAX_SIZE; size++) {
		i = class_of(size);
		bad += h->class[i].size < size ||
		       (i && h->class[i - 1].size >= size);
	}
	is(bad, 0, "each size has the smallest class that fits");
	for (size = 64; size <= CLASS_MAX_SIZE; size += 64)
		bad64 += h->class[class_of(size)].size % 64 != 0;
	is(bad64, 0, "multiples of 64 have classes that are one");
	heap_destroy(h);
}

static void aligned_as_asked(void)
{
	static const size_t size[] = { 1,     24,    100,     4096,
				       70000, 80001, 3 * MIB, 5 };
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	struct block b[ARRAY_SIZE(size) * 23];
	struct heap_want w = { .memory = 1 };
	int bad = 0, small = 0, nr = 0, error, i;
	bool is_zero;
	size_t s;

	for (w.align = 1; w.align <= 4 * MIB; w.align *= 2)
		for (s = 0; s < ARRAY_SIZE(size); s++, nr++) {
			w.size = size[s];
			b[nr].at = heap_alloc_slow(h, c, &w, &is_zero, &error);
			b[nr].room = heap_size(h, b[nr].at);
			bad += !b[nr].at || (uintptr_t)b[nr].at % w.align;
			small += b[nr].room < w.size;
		}
	is(bad, 0, "every power of two to 4 MiB is an alignment");
	is(small, 0, "aligned blocks are large enough");
	is(nr_overlaps(b, nr), 0, "aligned blocks lie apart");
	for (i = 0, bad = 0; i < nr; i++)
		bad += heap_free(h, c, b[i].at) != 0;
	is(bad, 0, "aligned blocks can be freed");
	heap_cache_destroy(c);
	heap_destroy(h);
}

static void resized_blocks_keep_bytes(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	int lost = 0, elsewhere = 0, failed = 0, small = 0, error, i;
	uint64_t seed = 42;
	size_t size = 1, new;
	char *p = take(h, c, 2, size), *q;

	fill(p, size, 9);
	for (i = 0; i < 400; i++) {
		new = 1 + random_next(&seed) % ((size_t)1 << (i % 24));
		q = heap_resize(h, c, p, new, &error);
		failed += !q;
		if (!q)
			break;
		lost += !is_filled(q, p, new, size, 9);
		elsewhere += heap_memory_of(h, q) != 2;
		small += heap_size(h, q) < new;
		p = q;
		size = new;
		fill(p, size, 9);
	}
	is(failed, 0, "400 resizes, sizes to 8 MiB");
	is(lost, 0, "none loses bytes");
	is(elsewhere, 0, "none leaves its memory");
	is(small, 0, "none is too small");
	heap_free(h, c, p);
	heap_cache_destroy(c);
	is(used_in_all(h), 0, "nothing is used at the end");
	heap_destroy(h);
}

/* Moving pages is what a large block does; bytes are not copied. */
static void large_blocks_move_pages(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	size_t size = 3 * MIB;
	uint64_t *p = take(h, c, 0, size), *old;
	struct span *span = entry_span(index_entry(&h->index, p));
	int moved = 0, error, bad = 0, nr = 0;

	for (; p && size < 200 * MIB; size += size / 2, nr++) {
		p[size / 8 - 1] = size;
		old = p;
		p = heap_resize(h, c, p, size + size / 2, &error);
		moved += p && entry_span(index_entry(&h->index, p)) == span;
		bad += !p || p[size / 8 - 1] != size;
		bad += p != old && heap_memory_of(h, old) == 0;
	}
	is(moved, nr, "each time it grows it is the same mapping");
	is(bad, 0, "and has its bytes");
	is(stat_of(h, 0).used, heap_size(h, p), "used is its size");
	p[0] = 77;
	p = heap_resize(h, c, p, 3 * MIB, &error);
	is(p ? p[0] : 0, 77, "it shrinks");
	is(stat_of(h, 0).used, heap_size(h, p), "used shrinks with it");
	is(heap_free(h, c, p), 0, "it can be freed");
	is(stat_of(h, 0).used, 0, "nothing is used");
	heap_cache_destroy(c);
	heap_destroy(h);
}

static void fresh_large_blocks_are_zero(void)
{
	struct heap *h = plain_heap();
	struct heap_want w = { .size = 3 * MIB, .align = 16 };
	bool is_zero = false;
	int error, bad = 0;
	size_t i;
	char *p;

	p = heap_alloc_slow(h, NULL, &w, &is_zero, &error);
	ok(is_zero, "a new mapping is known to be zero");
	for (i = 0; i < w.size; i += 64)
		bad += p[i] != 0;
	is(bad, 0, "it is");
	memset(p, 1, w.size);
	heap_free(h, NULL, p);
	is_zero = true;
	p = heap_alloc_slow(h, NULL, &w, &is_zero, &error);
	ok(p && (!is_zero || !p[5]), "a used one is not said to be zero");
	heap_free(h, NULL, p);
	heap_destroy(h);
}

/* Above 1 GiB cached blocks stay mapped without their pages. */
#define NR_BIG 80

static void many_large_blocks_are_kept(void)
{
	struct heap *h = plain_heap();
	struct heap_want w = { .size = 16 * MIB, .align = 16 };
	int i, error, bad = 0, nr_zero = 0;
	char *p[NR_BIG];
	uint64_t mapped;
	bool is_zero;

	for (i = 0; i < NR_BIG; i++) {
		p[i] = heap_alloc_slow(h, NULL, &w, &is_zero, &error);
		memset(p[i], 7, 100000);
	}
	mapped = stat_of(h, 0).mapped;
	for (i = 0; i < NR_BIG; i++)
		bad += heap_free(h, NULL, p[i]) != 0;
	for (i = 0; i < NR_BIG; i++)
		bad += heap_free(h, NULL, p[i]) != -EALREADY;
	is(bad, 0, "80 blocks of 16 MiB are freed, once");
	is(stat_of(h, 0).mapped, mapped, "all stay mapped");
	is(stat_of(h, 0).cached, 1024 * MIB, "1 GiB of them with pages");
	for (i = 0; i < NR_BIG; i++) {
		p[i] = heap_alloc_slow(h, NULL, &w, &is_zero, &error);
		nr_zero += is_zero;
		bad += is_zero && (p[i][0] || p[i][99999]);
	}
	is(nr_zero, NR_BIG - 64, "the others are known to be zero");
	is(bad, 0, "and are");
	is(stat_of(h, 0).mapped, mapped, "nothing new is mapped");
	for (i = 0; i < NR_BIG; i++)
		heap_free(h, NULL, p[i]);
	heap_trim(h, true);
	is(mapped_in_all(h), 0, "a trim gives all back");
	heap_destroy(h);
}

static void odd_sizes(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	struct heap_want w = { .size = HEAP_SIZE_MAX,
			       .align = (size_t)1 << 46 };
	bool is_zero;
	int error = 0;
	void *p = take(h, c, 0, 0), *q = take(h, c, 0, 0);

	ok(p && q && p != q, "blocks of size 0 are there, and different");
	is(heap_free(h, c, p) | heap_free(h, c, q), 0, "and can be freed");
	is(take_error(h, c, 0, SIZE_MAX), ENOMEM, "the largest size");
	is(take_error(h, c, 0, HEAP_SIZE_MAX + 1), ENOMEM, "above the maximum");
	is(take_error(h, c, 0, HEAP_SIZE_MAX) & ~ENOMEM, 0, "the maximum");
	ok(!heap_alloc_slow(h, c, &w, &is_zero, &error) && error == ENOMEM,
	   "as much on such a multiple");
	p = take(h, c, 0, 100);
	ok(!heap_resize(h, c, p, SIZE_MAX, &error) && error == ENOMEM,
	   "resize to the largest size fails");
	is(heap_size(h, p), 112, "and leaves the block");
	heap_free(h, c, p);
	is(mapped_in_all(h) <= 2 * SEGMENT_SIZE, 1, "failures map nothing");
	heap_cache_destroy(c);
	heap_destroy(h);
}

int main(void)
{
	tap_start(120);
	class_is_the_smallest();
	sizes_around_classes();
	sizes_around_powers();
	every_small_size();
	aligned_as_asked();
	resized_blocks_keep_bytes();
	large_blocks_move_pages();
	fresh_large_blocks_are_zero();
	many_large_blocks_are_kept();
	odd_sizes();
	return tap_end();
}
