/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks at page tables and counts pages by node. Nothing is faulted in and no
 * reference to a page is taken.
 */
#ifndef LKDF_PLACE_H
#define LKDF_PLACE_H

#include <linux/mmu_notifier.h>
#include <linux/types.h>

/* Pages that one look covers: bounds the time under a spinlock. */
#define PLACE_PAGES 1024

/* Counts, in the order of struct lkdf_map_desc; nodes follow. */
enum place_count {
	PLACE_PRESENT,
	PLACE_ABSENT,
	PLACE_RSVD,
	PLACE_ZERO,
	PLACE_ERROR,
	PLACE_HUGE,
	PLACE_NODES,
};

/* A look at [start, end), or at the hole that it starts with. */
struct place_look {
	struct mmu_interval_notifier *mni;
	unsigned long *pfns; /* PLACE_PAGES of them, the caller's */
	unsigned long start;
	unsigned long end; /* in: wanted; out: reached */
	unsigned long seq; /* for mmu_interval_read_retry() */
	bool is_hole;
};

uint place_width(void);
bool place_wants(enum mmu_notifier_event event);
int place_look(struct place_look *look);
void place_count(const struct place_look *look, unsigned long start,
		 unsigned long end, u32 *counts);

#endif
