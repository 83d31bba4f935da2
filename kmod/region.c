// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two sides meet under part.lock. Events: the callback of the interval
 * notifier marks blocks before their pages go. Refreshes: a look at the page
 * tables, then, under the lock, the question whether an event came since; only
 * if not is the result written. So a word without STALE was true when it was
 * written, and every event since would have marked it.
 */
#include "region.h"

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "place.h"

/* Looks at one group of blocks that may be thrown away; they get shorter. */
#define MAX_TRIES 32
#define TRIES_TO_HALVE 4

static bool invalidate(struct mmu_interval_notifier *mni,
		       const struct mmu_notifier_range *range,
		       unsigned long cur_seq)
{
	struct region *r = container_of(mni, struct region, mni);
	unsigned long end = r->start + r->len;
	bool is_wake = false;
	u32 first, last;

	first = (max(range->start, r->start) - r->start) >> r->shift;
	last = (min(range->end, end) - 1 - r->start) >> r->shift;

	spin_lock(&r->part.lock);
	mmu_interval_set_seq(mni, cur_seq);
	if (place_wants(range->event)) {
		map_mark(&r->part, first, last);
		if (!r->is_stale) {
			r->is_stale = true;
			atomic_inc(&r->bell->nr_stale);
			is_wake = true;
		}
	}
	if (range->event == MMU_NOTIFY_RELEASE)
		map_part_dead(&r->part);
	spin_unlock(&r->part.lock);

	if (is_wake)
		wake_up_interruptible_all(&r->bell->queue);
	return true;
}

static const struct mmu_interval_notifier_ops ops = {
	.invalidate = invalidate,
};

/* The request is checked; mm is the caller's own. */
int region_create(struct map *map, struct bell *bell, struct mm_struct *mm,
		  const struct lkdf_kmod_region *req, struct region **out)
{
	struct region *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	unsigned long last = (req->len - 1) >> req->block_shift;
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->bell = bell;
	r->start = req->addr;
	r->len = req->len;
	r->shift = req->block_shift;
	r->acc = kcalloc(map->width, sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (!r->acc)
		goto free;
	err = -ENOSPC;
	if (last >= map->nr_blocks)
		goto free_acc;
	err = map_part_init(&r->part, map, req->id, last + 1);
	if (err)
		goto free_acc;
	r->is_stale = true;
	/* From here on events come. A new region is a stale one. */
	atomic_inc(&bell->nr_stale);
	err = mmu_interval_notifier_insert(&r->mni, mm, r->start, r->len, &ops);
	if (err)
		goto fini_part;
	map_part_live(&r->part, req);
	wake_up_interruptible_all(&bell->queue);
	*out = r;
	return 0;

fini_part:
	atomic_dec(&bell->nr_stale);
	map_part_fini(&r->part);
free_acc:
	kfree(r->acc);
free:
	kfree(r);
	return err;
}

/* Waits for events under way; the caller holds no lock that they may need. */
void region_destroy(struct region *r)
{
	mmu_interval_notifier_remove(&r->mni);
	if (r->is_stale)
		atomic_dec(&r->bell->nr_stale);
	map_part_fini(&r->part);
	kfree(r->acc);
	kfree(r);
}

static unsigned long block_start(const struct region *r, u32 block)
{
	return r->start + ((unsigned long)block << r->shift);
}

static unsigned long block_end(const struct region *r, u32 block)
{
	return min(block_start(r, block + 1), r->start + r->len);
}

/*
 * Counts the pages of a valid look and writes the blocks that end in it;
 * under part.lock. A block that goes on stays open, so that an event on its
 * counted part is noticed.
 */
static void absorb(struct region *r, const struct place_look *look)
{
	struct map_part *part = &r->part;
	unsigned long addr, end;
	u32 block;

	lockdep_assert_held(&part->lock);
	for (addr = look->start; addr < look->end; addr = end) {
		block = (addr - r->start) >> r->shift;
		end = min(block_end(r, block), look->end);
		if (addr == block_start(r, block)) {
			memset(r->acc, 0, part->map->width * sizeof(*r->acc));
			part->open_block = block;
			part->is_open_dirty = false;
		}
		place_count(look, addr, end, r->acc);
		if (end == block_end(r, block)) {
			map_write(part, block, r->acc);
			part->open_block = MAP_NO_BLOCK;
		}
	}
	map_publish(part);
	if (r->is_stale && map_is_fresh(part)) {
		r->is_stale = false;
		atomic_dec(&r->bell->nr_stale);
	}
}

/*
 * A look and its result. Return: where to go on; the start of a block again if
 * pages moved.
 */
static unsigned long step(struct region *r, struct place_look *look, int *err)
{
	struct map_part *part = &r->part;
	unsigned long next = look->start;

	*err = place_look(look);
	if (*err && *err != -EBUSY)
		return next;
	spin_lock(&part->lock);
	if (*err || mmu_interval_read_retry(&r->mni, look->seq)) {
		*err = -EBUSY;
	} else if (part->open_block != MAP_NO_BLOCK && part->is_open_dirty) {
		next = block_start(r, part->open_block);
		*err = -EBUSY;
	} else {
		absorb(r, look);
		next = look->end;
	}
	spin_unlock(&part->lock);
	return next;
}

/* Looks at blocks first to last, all of which get a new word, or an error. */
static int walk(struct region *r, unsigned long *pfns, u32 first, u32 last,
		u32 *retries)
{
	struct place_look look = { .mni = &r->mni, .pfns = pfns };
	unsigned long end = block_end(r, last);
	int tries = 0;
	int err = 0;

	spin_lock(&r->part.lock);
	r->part.open_block = MAP_NO_BLOCK;
	spin_unlock(&r->part.lock);
	look.start = block_start(r, first);
	while (look.start < end && !err) {
		if (fatal_signal_pending(current))
			return -EINTR;
		look.end = min(end, look.start + (PLACE_PAGES * PAGE_SIZE >>
						  tries / TRIES_TO_HALVE));
		look.start = step(r, &look, &err);
		if (err == -EBUSY) {
			++*retries;
			err = ++tries < MAX_TRIES ? 0 : -EAGAIN;
		}
		cond_resched();
	}
	return err;
}

/* The next group of blocks to look at: [*first, *first + return), or none. */
static u32 next_group(const struct region *r, u32 *first, u32 max, bool all)
{
	const struct map_part *part = &r->part;
	u32 most = clamp_t(unsigned long,
			   PLACE_PAGES >> (r->shift - PAGE_SHIFT), 1, max);
	u32 i = *first;
	u32 nr = 0;

	while (i < part->nr_blocks && !all && !map_wants(part, i)) {
		if (++i % LKDF_MAP_MARK_MAX == 0)
			cond_resched();
	}
	*first = i;
	while (nr < most && i + nr < part->nr_blocks &&
	       (all || map_wants(part, i + nr)))
		nr++;
	return nr;
}

/*
 * The caller holds a reference to the users of the mm and sees to it that
 * there is one refresh at a time. pfns has room for PLACE_PAGES.
 */
int region_refresh(struct region *r, struct lkdf_kmod_refresh *req,
		   unsigned long *pfns, unsigned long max_pages)
{
	bool all = !(req->flags & LKDF_KMOD_STALE_ONLY);
	u32 left = req->max_blocks ? req->max_blocks : U32_MAX;
	u32 block, nr;
	int err = 0;

	if (req->resume_block > r->part.nr_blocks)
		return -EINVAL;
	left = min_t(u64, left, max(1UL, max_pages >> (r->shift - PAGE_SHIFT)));
	block = req->resume_block;
	req->walked = 0;
	req->retries = 0;
	map_spread(&r->part);
	while (left && (nr = next_group(r, &block, left, all))) {
		err = walk(r, pfns, block, block + nr - 1, &req->retries);
		if (err)
			break;
		block += nr;
		left -= nr;
		req->walked += nr;
	}
	/* Words that were written are good; the rest is for another call. */
	if (err == -EAGAIN && req->walked)
		err = 0;
	req->gen = READ_ONCE(r->part.desc->gen);
	req->resume_block = block;
	return err;
}
