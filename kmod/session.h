/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An open file of /dev/lkdf: the address space that it describes, its map and
 * its regions. Arguments are checked by dev.c before they come here.
 */
#ifndef LKDF_SESSION_H
#define LKDF_SESSION_H

#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/types.h>

#include "limits.h"
#include "region.h"
#include "uapi/lkdf_kmod.h"

struct session {
	/* Set by session_open(), constant afterwards. */
	struct limits *limits;
	struct holder *user;

	struct bell bell;

	/*
	 * Held by one call at a time; taken before mmap_lock, never under it.
	 */
	struct mutex lock;

	/* Under lock, set once by session_setup(). */
	struct mm_struct *mm; /* mmgrab(): its users may be gone */
	struct mmu_notifier end; /* of the mm: sleepers in poll() are woken */
	struct map *map; /* [session.map] mmap() reads it without lock */
	unsigned long nr_charged; /* pages, to the mm */
	unsigned long *pfns;

	/* Under lock; of a SETUP whose caller has no answer yet. */
	struct map *new_map;

	/* Under lock; map->nr_regions of them, NULL if free. */
	struct region **regions;
	u64 nr_adds; /* so far */
};

struct session *session_open(struct limits *limits);
void session_close(struct session *s);
int session_setup(struct session *s, struct lkdf_kmod_setup *req);
void session_end_setup(struct session *s, bool is_told);
int session_add(struct session *s, struct lkdf_kmod_region *req, u64 *nr);
void session_undo_add(struct session *s, u32 id, u64 nr);
int session_del(struct session *s, struct lkdf_kmod_region *req);
int session_refresh(struct session *s, struct lkdf_kmod_refresh *req);
int session_mmap(struct session *s, struct vm_area_struct *vma);
__poll_t session_poll(struct session *s, struct file *file, poll_table *wait);

#endif
