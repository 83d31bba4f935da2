// SPDX-License-Identifier: GPL-2.0-only
/*
 * QUERY watches its range only while it looks, with an interval notifier that
 * notes that something happened and nothing else. Each look is true for one
 * moment; looks of one call are true for different moments.
 */
#include "query.h"

#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "place.h"

/* Looks at the same pages that may be thrown away. */
#define MAX_TRIES 16

struct watch {
	struct mmu_interval_notifier mni;
	spinlock_t lock; /* a look is valid under it */
	unsigned long pfns[PLACE_PAGES];
	u32 counts[];
};

static bool invalidate(struct mmu_interval_notifier *mni,
		       const struct mmu_notifier_range *range,
		       unsigned long cur_seq)
{
	struct watch *watch = container_of(mni, struct watch, mni);

	spin_lock(&watch->lock);
	mmu_interval_set_seq(mni, cur_seq);
	spin_unlock(&watch->lock);
	return true;
}

static const struct mmu_interval_notifier_ops ops = {
	.invalidate = invalidate,
};

/* A look; look->start moves on if it was valid. */
static int step(struct watch *watch, struct place_look *look)
{
	int err = place_look(look);

	if (err)
		return err;
	spin_lock(&watch->lock);
	if (mmu_interval_read_retry(&watch->mni, look->seq)) {
		err = -EBUSY;
	} else {
		place_count(look, look->start, look->end, watch->counts);
		look->start = look->end;
	}
	spin_unlock(&watch->lock);
	return err;
}

/* Sets done and retries. */
static int walk(struct watch *watch, struct lkdf_kmod_query *req, ulong left)
{
	struct place_look look = { .mni = &watch->mni, .pfns = watch->pfns };
	unsigned long end = req->addr + req->len;
	unsigned long cost;
	int tries = 0;
	int err = 0;

	req->retries = 0;
	look.start = req->addr;
	while (look.start < end && left && !err) {
		if (fatal_signal_pending(current))
			return -EINTR;
		look.end = end;
		err = step(watch, &look);
		if (err == -EBUSY) {
			req->retries++;
			err = ++tries < MAX_TRIES ? 0 : -EAGAIN;
		} else {
			tries = 0;
		}
		cost = look.is_hole ? 1 : PLACE_PAGES;
		left -= min(left, cost);
		cond_resched();
	}
	req->done = look.start - req->addr;
	/* Counts so far are good; the rest is for another call. */
	return err == -EAGAIN && req->done ? 0 : err;
}

static int put_counts(const struct watch *watch, struct lkdf_kmod_query *req)
{
	u64 __user *to = u64_to_user_ptr(req->counts_ptr);
	uint i;

	req->present = watch->counts[PLACE_PRESENT];
	req->absent = watch->counts[PLACE_ABSENT];
	req->rsvd2 = 0;
	req->zero = watch->counts[PLACE_ZERO];
	req->error = watch->counts[PLACE_ERROR];
	req->huge = watch->counts[PLACE_HUGE];
	req->nr_nodes = req->nr_counts ? nr_node_ids : 0;
	for (i = 0; i < req->nr_nodes; i++) {
		if (put_user((u64)watch->counts[PLACE_NODES + i], to + i))
			return -EFAULT;
	}
	return 0;
}

/* The range is checked. */
int query(const struct limits *limits, struct lkdf_kmod_query *req)
{
	struct watch *watch;
	int err;

	watch = kvzalloc(struct_size(watch, counts, place_width()),
			 GFP_KERNEL_ACCOUNT);
	if (!watch)
		return -ENOMEM;
	spin_lock_init(&watch->lock);
	err = mmu_interval_notifier_insert(&watch->mni, current->mm, req->addr,
					   req->len, &ops);
	if (err)
		goto free;
	err = walk(watch, req, limits->max_pages);
	mmu_interval_notifier_remove(&watch->mni);
	if (!err)
		err = put_counts(watch, req);
free:
	kvfree(watch);
	return err;
}
