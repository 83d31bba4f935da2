// SPDX-License-Identifier: GPL-2.0-only
/*
 * hmm_range_fault() without any request flag writes down what the page tables
 * say and changes nothing. Its result is valid while the interval notifier's
 * sequence number stays the same, which the caller checks under the lock that
 * its invalidate callback takes: as long as it holds that lock, no page of the
 * look can go away, so that frame numbers may be turned into nodes.
 */
#include "place.h"

#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/string.h>

#ifndef CONFIG_HMM_MIRROR
#error "lkdf needs CONFIG_HMM_MIRROR; the kernel has it when a driver that \
selects it is on, such as INFINIBAND_ON_DEMAND_PAGING, NOUVEAU_SVM or TEST_HMM"
#endif

#ifndef CONFIG_64BIT
#error "lkdf needs a 64-bit kernel"
#endif

/* Counters that a look may touch. */
uint place_width(void)
{
	return PLACE_NODES + nr_node_ids;
}

/*
 * Events after which a page may be elsewhere. Changes of access rights are
 * left out: AutoNUMA makes them all the time to see who uses a page, fork and
 * mprotect move nothing.
 */
bool place_wants(enum mmu_notifier_event event)
{
	return event != MMU_NOTIFY_PROTECTION_VMA &&
	       event != MMU_NOTIFY_PROTECTION_PAGE &&
	       event != MMU_NOTIFY_SOFT_DIRTY;
}

/*
 * Fills the look. The caller holds a reference to the users of the notifier's
 * mm and no lock that the invalidate callback takes.
 * Return: 0; -EBUSY pages moved, look again; -EINTR killed.
 */
int place_look(struct place_look *look)
{
	struct mm_struct *mm = look->mni->mm;
	struct hmm_range range = {
		.notifier = look->mni,
		.start = look->start,
		.hmm_pfns = look->pfns,
	};
	struct vm_area_struct *vma;
	unsigned long nr;
	int err = 0;

	look->seq = mmu_interval_read_begin(look->mni);
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	vma = find_vma(mm, look->start);
	look->is_hole = !vma || vma->vm_start > look->start;
	if (look->is_hole) {
		if (vma)
			look->end = min(look->end, vma->vm_start);
	} else {
		look->end =
			min(look->end, look->start + PLACE_PAGES * PAGE_SIZE);
		range.end = look->end;
		range.notifier_seq = look->seq;
		nr = (look->end - look->start) >> PAGE_SHIFT;
		memset(look->pfns, 0, nr * sizeof(*look->pfns));
		err = hmm_range_fault(&range);
	}
	mmap_read_unlock(mm);
	return err;
}

/* The huge zero page has no exported name: only it has no mapping. */
static bool is_zero(struct page *page, uint order)
{
	if (is_zero_pfn(page_to_pfn(page)))
		return true;
	return order && !page_folio(page)->mapping;
}

/*
 * The frame number of an entry that is not VALID means nothing: AutoNUMA's
 * entries without access rights are absent as those are that are swapped or in
 * migration. A fault would tell, and might move the page to the node of whoever
 * looks.
 */
static void count_page(unsigned long entry, u32 *counts)
{
	struct page *page;
	uint order;

	if (entry & HMM_PFN_ERROR) {
		counts[PLACE_ERROR]++;
		return;
	}
	if (!(entry & HMM_PFN_VALID)) {
		counts[PLACE_ABSENT]++;
		return;
	}
	order = hmm_pfn_to_map_order(entry);
	page = hmm_pfn_to_page(entry);
	if (is_zero(page, order)) {
		counts[PLACE_ZERO]++;
		return;
	}
	counts[PLACE_PRESENT]++;
	counts[PLACE_HUGE] += order > 0;
	counts[PLACE_NODES + page_to_nid(page)]++;
}

/*
 * Adds the pages of [start, end), a part of the look. The caller holds the
 * lock of the invalidate callback and has found the look to be valid.
 */
void place_count(const struct place_look *look, unsigned long start,
		 unsigned long end, u32 *counts)
{
	unsigned long i = (start - look->start) >> PAGE_SHIFT;
	unsigned long nr = (end - look->start) >> PAGE_SHIFT;

	if (look->is_hole) {
		counts[PLACE_ERROR] += nr - i;
		return;
	}
	for (; i < nr; i++)
		count_page(look->pfns[i], counts);
}
