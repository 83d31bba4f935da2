/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A range of the owner's addresses that is watched: events mark its blocks,
 * refreshes look at them again.
 */
#ifndef LKDF_REGION_H
#define LKDF_REGION_H

#include <linux/mmu_notifier.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "map.h"
#include "uapi/lkdf_kmod.h"

/* The receivers of news about stale regions; part of a session. */
struct bell {
	atomic_t nr_stale; /* regions that have stale blocks */
	wait_queue_head_t queue;
};

struct region {
	/* Set by region_create(), constant afterwards. */
	struct mmu_interval_notifier mni;
	struct bell *bell;
	unsigned long start;
	unsigned long len;
	u32 shift;

	/* Set by session_add(), constant afterwards. */
	u64 nr_add;

	/* Fields say for themselves. */
	struct map_part part;

	/* Under part.lock: counted in bell->nr_stale. */
	bool is_stale;

	/* For the one refresh at a time: counters of the block being
	 * counted. */
	u32 *acc;
};

int region_create(struct map *map, struct bell *bell, struct mm_struct *mm,
		  const struct lkdf_kmod_region *req, struct region **out);
void region_destroy(struct region *r);
int region_refresh(struct region *r, struct lkdf_kmod_refresh *req,
		   unsigned long *pfns, unsigned long max_pages);

#endif
