// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of an open file. open: nothing but a place in the user's count.
 * SETUP: the caller's mm, memory charged to it, the map, which others see when
 * the caller knows its size. ADD, DEL: regions.
 * close: it comes when the file and all mappings of it are gone, maybe long
 * after the owner; regions first, so that no event comes any more, then the
 * map, then what was charged, then the mm, then the user.
 */
#include "session.h"

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "place.h"

struct session *session_open(struct limits *limits)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	struct holder *user;

	if (!s)
		return ERR_PTR(-ENOMEM);
	user = limits_get_file(limits, current_uid());
	if (IS_ERR(user)) {
		kfree(s);
		return ERR_CAST(user);
	}
	s->limits = limits;
	s->user = user;
	mutex_init(&s->lock);
	init_waitqueue_head(&s->bell.queue);
	return s;
}

static void destroy_region(struct session *s, u32 id)
{
	region_destroy(s->regions[id]);
	s->regions[id] = NULL;
	limits_put_region(s->limits, s->user);
}

/* Nobody else has the session any more. */
void session_close(struct session *s)
{
	u32 i;

	for (i = 0; s->map && i < s->map->nr_regions; i++) {
		if (s->regions[i])
			destroy_region(s, i);
	}
	if (s->mm)
		mmu_notifier_unregister(&s->end, s->mm);
	map_destroy(s->map);
	kfree(s->regions);
	kfree(s->pfns);
	if (s->mm) {
		account_locked_vm(s->mm, s->nr_charged, false);
		mmdrop(s->mm);
	}
	limits_put_file(s->limits, s->user);
	mutex_destroy(&s->lock);
	kfree(s);
}

/* The last user of the owner's mm is gone: whoever sleeps in poll() sees it. */
static void end_mm(struct mmu_notifier *end, struct mm_struct *mm)
{
	struct session *s = container_of(end, struct session, end);

	/* NULL: SETUP is undone, whose notifier is taken back. */
	if (s->map)
		map_dead(s->map);
	wake_up_interruptible_all(&s->bell.queue);
}

static const struct mmu_notifier_ops end_ops = {
	.release = end_mm,
};

/* Memory for the numbers of the request, that nobody sees yet; under lock. */
static int make_map(struct session *s, const struct lkdf_kmod_setup *req)
{
	u32 nr_blocks = ALIGN(req->nr_blocks, LKDF_MAP_BLOCK_ALIGN);
	u32 width = place_width();
	unsigned long nr_pages;
	struct map *map;
	int err;

	nr_pages = map_pages(req->nr_regions, nr_blocks, width);
	err = account_locked_vm(current->mm, nr_pages, true);
	if (err)
		return err;
	s->regions = kcalloc(req->nr_regions, sizeof(*s->regions),
			     GFP_KERNEL_ACCOUNT);
	s->pfns = kcalloc(PLACE_PAGES, sizeof(*s->pfns), GFP_KERNEL_ACCOUNT);
	map = map_create(req->nr_regions, nr_blocks, width);
	err = -ENOMEM;
	if (!s->regions || !s->pfns || !map)
		goto undo;
	/* Stops the process for a moment, if it is its first notifier. */
	s->end.ops = &end_ops;
	err = mmu_notifier_register(&s->end, current->mm);
	if (err)
		goto undo;
	s->nr_charged = nr_pages;
	mmgrab(current->mm);
	s->mm = current->mm;
	s->new_map = map;
	return 0;

undo:
	map_destroy(map);
	kfree(s->pfns);
	kfree(s->regions);
	s->pfns = NULL;
	s->regions = NULL;
	account_locked_vm(current->mm, nr_pages, false);
	return err;
}

int session_setup(struct session *s, struct lkdf_kmod_setup *req)
{
	int err = -EBUSY;

	if (!req->nr_regions || req->nr_regions > LIMIT_REGIONS)
		return -EINVAL;
	if (!req->nr_blocks || req->nr_blocks > s->limits->max_blocks)
		return -EINVAL;
	if (mutex_lock_killable(&s->lock))
		return -EINTR;
	if (!s->map && !s->new_map)
		err = make_map(s, req);
	if (!err)
		req->map_bytes = s->new_map->bytes;
	mutex_unlock(&s->lock);
	return err;
}

/* All that make_map() has done; under lock, by the thread that did it. */
static void undo_map(struct session *s)
{
	mmu_notifier_unregister(&s->end, s->mm);
	map_destroy(s->new_map);
	kfree(s->regions);
	kfree(s->pfns);
	s->regions = NULL;
	s->pfns = NULL;
	account_locked_vm(s->mm, s->nr_charged, false);
	s->nr_charged = 0;
	mmdrop(s->mm);
	s->mm = NULL;
}

/* After session_setup(), once: the caller knows the size of the map, or not. */
void session_end_setup(struct session *s, bool is_told)
{
	mutex_lock(&s->lock);
	if (is_told)
		/* [session.map] pairs with session_mmap() */
		smp_store_release(&s->map, s->new_map);
	else
		undo_map(s);
	s->new_map = NULL;
	mutex_unlock(&s->lock);
}

/* For calls of the owner: takes the lock, or says why not. */
static int lock_owned(struct session *s)
{
	int err = 0;

	if (mutex_lock_killable(&s->lock))
		return -EINTR;
	if (!s->map)
		err = -ENXIO;
	else if (s->mm != current->mm)
		err = -EPERM;
	if (err)
		mutex_unlock(&s->lock);
	return err;
}

/* A free id for the range, or an errno; under lock. */
static int find_id(struct session *s, u64 addr, u64 len)
{
	int id = -ENOSPC;
	struct region *r;
	u32 i;

	for (i = 0; i < s->map->nr_regions; i++) {
		r = s->regions[i];
		if (!r && id < 0)
			id = i;
		if (r && addr < r->start + r->len && r->start < addr + len)
			return -EEXIST;
	}
	return id;
}

/* *nr tells it from all others of the session, also with the same id. */
int session_add(struct session *s, struct lkdf_kmod_region *req, u64 *nr)
{
	int err = lock_owned(s);
	int id;

	if (err)
		return err;
	id = find_id(s, req->addr, req->len);
	err = id;
	if (id < 0)
		goto unlock;
	err = limits_get_region(s->limits, s->user);
	if (err)
		goto unlock;
	req->id = id;
	err = region_create(s->map, &s->bell, s->mm, req, &s->regions[id]);
	if (err) {
		limits_put_region(s->limits, s->user);
		goto unlock;
	}
	*nr = ++s->nr_adds;
	s->regions[id]->nr_add = *nr;
unlock:
	mutex_unlock(&s->lock);
	return err;
}

/*
 * The caller does not know the id. Another thread may have guessed it, deleted
 * the region and added one of its own.
 */
void session_undo_add(struct session *s, u32 id, u64 nr)
{
	mutex_lock(&s->lock);
	if (s->regions[id] && s->regions[id]->nr_add == nr)
		destroy_region(s, id);
	mutex_unlock(&s->lock);
}

/* The region of an id from user space, or NULL; under lock. */
static struct region *region_of(struct session *s, u32 id)
{
	if (id >= s->map->nr_regions)
		return NULL;
	return s->regions[array_index_nospec(id, s->map->nr_regions)];
}

int session_del(struct session *s, struct lkdf_kmod_region *req)
{
	int err = lock_owned(s);

	if (err)
		return err;
	err = -ENOENT;
	if (region_of(s, req->id)) {
		destroy_region(s, req->id);
		err = 0;
	}
	mutex_unlock(&s->lock);
	return err;
}

int session_refresh(struct session *s, struct lkdf_kmod_refresh *req)
{
	struct mm_struct *mm = NULL;
	struct region *r;
	int err = -ENXIO;

	if (mutex_lock_killable(&s->lock))
		return -EINTR;
	if (!s->map)
		goto unlock;
	r = region_of(s, req->id);
	err = -ENOENT;
	if (!r)
		goto unlock;
	err = -ESRCH;
	if (!mmget_not_zero(s->mm))
		goto unlock;
	mm = s->mm;
	err = region_refresh(r, req, s->pfns, s->limits->max_pages);
unlock:
	mutex_unlock(&s->lock);
	/* It may be the last user, and then does much work. */
	if (mm)
		mmput(mm);
	return err;
}

/* MADV_DONTNEED drops entries of the page table: the pages are here. */
static vm_fault_t fault(struct vm_fault *vmf)
{
	const struct session *s = vmf->vma->vm_file->private_data;

	vmf->page = map_page(s->map, vmf->pgoff);
	return vmf->page ? 0 : VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct vm_ops = {
	.fault = fault,
};

/*
 * Called under mmap_lock: it takes no lock of ours. With VM_IO the kernel
 * refuses MADV_DOFORK, and whatever else would take the pages by their mapping.
 */
int session_mmap(struct session *s, struct vm_area_struct *vma)
{
	const unsigned long off = VM_MAYWRITE | VM_MAYEXEC;
	const unsigned long on =
		VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP | VM_IO;
	/* [session.map] pairs with session_end_setup() */
	struct map *map = smp_load_acquire(&s->map);

	if (!map)
		return -ENXIO;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff)
		return -EINVAL;
	if (vma->vm_end - vma->vm_start > map->bytes)
		return -EINVAL;
	vm_flags_set(vma, on);
	vm_flags_clear(vma, off);
	vma->vm_ops = &vm_ops;
	return map_insert(map, vma);
}

__poll_t session_poll(struct session *s, struct file *file, poll_table *wait)
{
	/* [session.map] pairs with session_end_setup() */
	struct map *map = smp_load_acquire(&s->map);
	__poll_t mask = 0;

	poll_wait(file, &s->bell.queue, wait);
	if (atomic_read(&s->bell.nr_stale))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (map && !atomic_read(&s->mm->mm_users))
		mask |= EPOLLHUP;
	return mask;
}
