// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map: who takes which blocks, marks by events, results of looks. Events
 * come from any context that moves pages, the OOM reaper included: they take
 * a spinlock, store at most LKDF_MAP_MARK_MAX words and allocate nothing.
 */
#include "map.h"

#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "place.h"

static u32 stride_of(u32 width)
{
	return ALIGN(LKDF_MAP_PAGES_OFF + (width - PLACE_NODES) * sizeof(u64),
		     64);
}

static u64 blocks_off_of(u32 nr_regions, u32 width)
{
	return sizeof(struct lkdf_map_header) +
	       (u64)nr_regions * stride_of(width);
}

static u64 bytes_of(u32 nr_regions, u32 nr_blocks, u32 width)
{
	return PAGE_ALIGN(blocks_off_of(nr_regions, width) +
			  (u64)nr_blocks * sizeof(u16));
}

static u64 counts_bytes(u32 nr_blocks, u32 width)
{
	return (u64)nr_blocks * width * sizeof(u32);
}

/* Pages that a map takes, all kinds of memory together. */
unsigned long map_pages(u32 nr_regions, u32 nr_blocks, u32 width)
{
	return PFN_UP(bytes_of(nr_regions, nr_blocks, width)) +
	       PFN_UP(counts_bytes(nr_blocks, width)) +
	       PFN_UP(nr_blocks / BITS_PER_BYTE);
}

static void fill_header(struct map *map)
{
	struct lkdf_map_header *header = map->mem;
	u64 blocks_off = blocks_off_of(map->nr_regions, map->width);

	header->magic = LKDF_MAP_MAGIC;
	header->abi_major = LKDF_KMOD_ABI_MAJOR;
	header->abi_minor = LKDF_KMOD_ABI_MINOR;
	header->header_size = sizeof(*header);
	header->desc_stride = stride_of(map->width);
	header->nr_nodes = map->width - PLACE_NODES;
	header->nr_regions = map->nr_regions;
	header->desc_off = sizeof(*header);
	header->blocks_off = blocks_off;
	header->bytes = map->bytes;
	header->nr_blocks = map->nr_blocks;
	map->header = header;
	map->words = map->mem + blocks_off;
}

/* nr_blocks is a multiple of LKDF_MAP_BLOCK_ALIGN. */
struct map *map_create(u32 nr_regions, u32 nr_blocks, u32 width)
{
	struct map *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	u64 bytes = counts_bytes(nr_blocks, width);

	if (!map)
		return NULL;
	spin_lock_init(&map->epoch_lock);
	map->nr_regions = nr_regions;
	map->nr_blocks = nr_blocks;
	map->width = width;
	map->bytes = bytes_of(nr_regions, nr_blocks, width);
	map->taken = kvcalloc(BITS_TO_LONGS(nr_blocks), sizeof(long),
			      GFP_KERNEL_ACCOUNT);
	/* More would be a warning of the allocator, not only a failure. */
	if (bytes < INT_MAX)
		map->counts = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
	/* vmalloc_user() would charge nobody. */
	map->mem = __vmalloc(map->bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!map->taken || !map->counts || !map->mem) {
		map_destroy(map);
		return NULL;
	}
	fill_header(map);
	return map;
}

/* Each page of the vma; it is not longer than the map. */
int map_insert(const struct map *map, struct vm_area_struct *vma)
{
	unsigned long addr = vma->vm_start;
	void *mem = map->mem;
	int err = 0;

	for (; addr < vma->vm_end && !err; addr += PAGE_SIZE) {
		err = vm_insert_page(vma, addr, vmalloc_to_page(mem));
		mem += PAGE_SIZE;
	}
	return err;
}

/* With a reference; NULL: beyond the end. */
struct page *map_page(const struct map *map, unsigned long nr)
{
	struct page *page;

	if (nr >= PFN_DOWN(map->bytes))
		return NULL;
	page = vmalloc_to_page(map->mem + (nr << PAGE_SHIFT));
	get_page(page);
	return page;
}

void map_destroy(struct map *map)
{
	if (!map)
		return;
	vfree(map->mem);
	kvfree(map->counts);
	kvfree(map->taken);
	kfree(map);
}

static u32 blocks_taken(u32 nr_blocks)
{
	return ALIGN(nr_blocks, LKDF_MAP_BLOCK_ALIGN);
}

/* Takes blocks; every one is stale and empty. The descriptor stays free. */
int map_part_init(struct map_part *part, struct map *map, u32 id, u32 nr_blocks)
{
	struct lkdf_map_header *header = map->header;
	unsigned long first;
	u32 i;

	first = bitmap_find_next_zero_area(map->taken, map->nr_blocks, 0,
					   blocks_taken(nr_blocks),
					   LKDF_MAP_BLOCK_ALIGN - 1);
	if (first >= map->nr_blocks)
		return -ENOSPC;
	part->sums = kcalloc(map->width, sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!part->sums)
		return -ENOMEM;
	bitmap_set(map->taken, first, blocks_taken(nr_blocks));
	spin_lock_init(&part->lock);
	part->map = map;
	part->desc = map->mem + header->desc_off + id * header->desc_stride;
	part->words = map->words + first;
	part->counts = map->counts + first * map->width;
	part->first = first;
	part->nr_blocks = nr_blocks;
	part->gen = 1;
	part->nr_stale = nr_blocks;
	part->open_block = MAP_NO_BLOCK;
	for (i = 0; i < nr_blocks; i++)
		WRITE_ONCE(part->words[i], LKDF_BLOCK_STALE | LKDF_BLOCK_EMPTY);
	memset(part->counts, 0, counts_bytes(nr_blocks, map->width));
	return 0;
}

/* No event comes any more. */
void map_part_fini(struct map_part *part)
{
	WRITE_ONCE(part->desc->state, LKDF_MAP_FREE);
	bitmap_clear(part->map->taken, part->first,
		     blocks_taken(part->nr_blocks));
	kfree(part->sums);
}

/* Counts and snap_gen for readers; under lock. */
static void write_sums(struct map_part *part, u64 snap_gen)
{
	struct lkdf_map_desc *desc = part->desc;
	u64 *out = &desc->present;
	u32 seq = desc->seq + 1;
	u32 i;

	BUILD_BUG_ON(offsetof(struct lkdf_map_desc, huge) !=
		     offsetof(struct lkdf_map_desc, present) +
			     PLACE_HUGE * sizeof(u64));
	BUILD_BUG_ON(sizeof(*desc) != offsetof(struct lkdf_map_desc, present) +
					      PLACE_NODES * sizeof(u64));
	WRITE_ONCE(desc->seq, seq);
	/* [map.seq] odd before the counts; pairs with the reader's acquire */
	smp_wmb();
	WRITE_ONCE(desc->snap_gen, snap_gen);
	for (i = 0; i < part->map->width; i++)
		WRITE_ONCE(out[i], part->sums[i]);
	/* [map.seq] the counts before even; pairs with the reader's acquire */
	smp_wmb();
	WRITE_ONCE(desc->seq, seq + 1);
}

/* Under lock. */
static void write_stale(struct map_part *part)
{
	WRITE_ONCE(part->desc->nr_stale,
		   part->all_stale ? part->nr_blocks : part->nr_stale);
}

/* Shows the region to readers. */
void map_part_live(struct map_part *part, const struct lkdf_kmod_region *region)
{
	struct lkdf_map_desc *desc = part->desc;

	spin_lock(&part->lock);
	WRITE_ONCE(desc->start, region->addr);
	WRITE_ONCE(desc->len, region->len);
	WRITE_ONCE(desc->cookie, region->cookie);
	WRITE_ONCE(desc->block_shift, region->block_shift);
	WRITE_ONCE(desc->nr_blocks, part->nr_blocks);
	WRITE_ONCE(desc->blocks_off, (void *)part->words - part->map->mem);
	WRITE_ONCE(desc->gen, part->gen);
	WRITE_ONCE(desc->all_stale, part->all_stale);
	write_stale(part);
	write_sums(part, 0);
	/* [map.live] pairs with the reader's acquire of state */
	smp_store_release(&desc->state, LKDF_MAP_LIVE);
	spin_unlock(&part->lock);
}

/* The address space is gone; under lock. */
void map_part_dead(struct map_part *part)
{
	lockdep_assert_held(&part->lock);
	WRITE_ONCE(part->desc->state, LKDF_MAP_DEAD);
}

/* The map says that the address space is gone. */
void map_dead(struct map *map)
{
	WRITE_ONCE(map->header->state, LKDF_MAP_MM_GONE);
}

/* An event of any region, under that one's lock. */
static void next_epoch(struct map *map)
{
	spin_lock(&map->epoch_lock);
	/* [map.epoch] pairs with the reader's acquire of epoch */
	smp_store_release(&map->header->epoch, ++map->epoch);
	spin_unlock(&map->epoch_lock);
}

/* Pages of blocks first to last are about to go; under lock. */
void map_mark(struct map_part *part, u32 first, u32 last)
{
	u32 i;
	u16 word;

	lockdep_assert_held(&part->lock);
	if (part->open_block >= first && part->open_block <= last)
		part->is_open_dirty = true;
	if (last - first >= LKDF_MAP_MARK_MAX) {
		WRITE_ONCE(part->all_stale, true);
		WRITE_ONCE(part->desc->all_stale, 1);
	} else {
		for (i = first; i <= last; i++) {
			word = part->words[i];
			if (word & LKDF_BLOCK_STALE)
				continue;
			WRITE_ONCE(part->words[i], word | LKDF_BLOCK_STALE);
			part->nr_stale++;
		}
	}
	write_stale(part);
	part->gen++;
	/* [map.gen] pairs with the reader's acquire of gen */
	smp_store_release(&part->desc->gen, part->gen);
	next_epoch(part->map);
}

/*
 * Turns all_stale into marks, a piece at a time. An event meanwhile finds
 * all_stale set, and the blocks it would mark are marked in the end. There is
 * one caller at a time: nobody else may clear marks.
 */
void map_spread(struct map_part *part)
{
	u32 i, end;
	u16 word;

	if (!READ_ONCE(part->all_stale))
		return;
	for (i = 0; i < part->nr_blocks; cond_resched()) {
		end = min(part->nr_blocks, i + LKDF_MAP_MARK_MAX);
		spin_lock(&part->lock);
		for (; i < end; i++) {
			word = part->words[i];
			if (word & LKDF_BLOCK_STALE)
				continue;
			WRITE_ONCE(part->words[i], word | LKDF_BLOCK_STALE);
			part->nr_stale++;
		}
		spin_unlock(&part->lock);
	}
	spin_lock(&part->lock);
	WRITE_ONCE(part->all_stale, false);
	/* [map.all] pairs with the reader's acquire of all_stale */
	smp_store_release(&part->desc->all_stale, 0);
	write_stale(part);
	spin_unlock(&part->lock);
}

/* May the word be something else by now than what a look would write? */
bool map_wants(const struct map_part *part, u32 block)
{
	return READ_ONCE(part->words[block]) & LKDF_BLOCK_UNSETTLED;
}

static u16 word_of(const struct map_part *part, const u32 *counts)
{
	u32 rest =
		counts[PLACE_ABSENT] + counts[PLACE_ZERO] + counts[PLACE_ERROR];
	u32 present = counts[PLACE_PRESENT];
	u32 best = PLACE_NODES;
	u32 i;
	u16 word;

	if (!present)
		return LKDF_BLOCK_EMPTY;
	for (i = PLACE_NODES; i < part->map->width; i++) {
		if (counts[i] > counts[best])
			best = i;
	}
	word = best - PLACE_NODES;
	if (counts[best] != present)
		word |= LKDF_BLOCK_MIXED;
	if (rest)
		word |= LKDF_BLOCK_PARTIAL;
	if (counts[PLACE_HUGE] == present)
		word |= LKDF_BLOCK_HUGE;
	return word;
}

/* The result of a valid look at a whole block; under lock. */
void map_write(struct map_part *part, u32 block, const u32 *counts)
{
	u32 width = part->map->width;
	u32 *old = part->counts + (size_t)block * width;
	u32 i;

	lockdep_assert_held(&part->lock);
	for (i = 0; i < width; i++) {
		part->sums[i] += counts[i];
		part->sums[i] -= old[i];
		old[i] = counts[i];
	}
	if (part->words[block] & LKDF_BLOCK_STALE)
		part->nr_stale--;
	WRITE_ONCE(part->words[block], word_of(part, counts));
}

/* After map_write() of some blocks; under lock. */
void map_publish(struct map_part *part)
{
	lockdep_assert_held(&part->lock);
	write_stale(part);
	write_sums(part, map_is_fresh(part) ? part->gen : part->desc->snap_gen);
}
