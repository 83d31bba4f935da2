/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map that user space reads: a header, descriptors of regions, words of
 * blocks. The kernel writes it and takes nothing back from it but the words,
 * which user space has no way to write. Layout and barriers: lkdf_kmod.h.
 */
#ifndef LKDF_MAP_H
#define LKDF_MAP_H

#include <linux/mm_types.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "uapi/lkdf_kmod.h"

struct map {
	/* Set by map_create(), constant afterwards. */
	void *mem; /* all of it, whole pages */
	unsigned long bytes;
	struct lkdf_map_header *header;
	u16 *words;
	u32 nr_regions;
	u32 nr_blocks;
	u32 width; /* counters of a block */

	/* Blocks taken by regions; one caller at a time. */
	unsigned long *taken;

	/* Counters of each block; under lock of the block's region. */
	u32 *counts;

	/* Events of all regions; taken under the lock of one of them. */
	spinlock_t epoch_lock;
	u64 epoch;
};

/* The blocks of one region. */
struct map_part {
	/* Set by map_part_init(), constant afterwards. */
	struct map *map;
	struct lkdf_map_desc *desc;
	u16 *words;
	u32 *counts;
	u32 first;
	u32 nr_blocks;

	/* Taken by the invalidate callback: nothing sleeps under it. */
	spinlock_t lock;

	/* Under lock. */
	u64 gen;
	u32 nr_stale; /* blocks whose word says STALE */
	bool all_stale;
	u32 open_block; /* half counted, or MAP_NO_BLOCK */
	bool is_open_dirty; /* an event touched it since */
	u64 *sums; /* counters of the region */
};

#define MAP_NO_BLOCK U32_MAX

struct map *map_create(u32 nr_regions, u32 nr_blocks, u32 width);
void map_destroy(struct map *map);
unsigned long map_pages(u32 nr_regions, u32 nr_blocks, u32 width);
struct page *map_page(const struct map *map, unsigned long nr);
int map_insert(const struct map *map, struct vm_area_struct *vma);

int map_part_init(struct map_part *part, struct map *map, u32 id,
		  u32 nr_blocks);
void map_part_fini(struct map_part *part);
void map_part_live(struct map_part *part,
		   const struct lkdf_kmod_region *region);
void map_part_dead(struct map_part *part);
void map_dead(struct map *map);

void map_mark(struct map_part *part, u32 first, u32 last);
void map_spread(struct map_part *part);
bool map_wants(const struct map_part *part, u32 block);
void map_write(struct map_part *part, u32 block, const u32 *counts);
void map_publish(struct map_part *part);

/* No block is stale; under lock. */
static inline bool map_is_fresh(const struct map_part *part)
{
	return !part->nr_stale && !part->all_stale;
}

#endif
