// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every struct is copied once and the copy is checked: size, flags, reserved
 * words, ranges. Values that get past here are true inside. Results are copied
 * back after all locks are dropped; a call whose result cannot be copied has
 * done nothing.
 */
#include "dev.h"

#include <linux/compat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "query.h"
#include "session.h"

/* All structs begin like this. */
struct head {
	u32 size;
	u32 flags;
};

struct request {
	union {
		struct head head;
		struct lkdf_kmod_info info;
		struct lkdf_kmod_setup setup;
		struct lkdf_kmod_region region;
		struct lkdf_kmod_refresh refresh;
		struct lkdf_kmod_query query;
	};
	u64 nr_add; /* the number of an ADD */
};

struct call {
	u32 size; /* of version 1, and of today */
	u32 flags; /* known ones */
	int (*fn)(struct session *s, struct request *req);
	/* The caller has the result of fn(), or not. May be NULL. */
	void (*end)(struct session *s, const struct request *req, bool is_told);
};

static int do_info(struct session *s, struct request *req)
{
	const struct limits *limits = s->limits;

	req->info = (struct lkdf_kmod_info){
		.size = req->head.size,
		.abi_major = LKDF_KMOD_ABI_MAJOR,
		.abi_minor = LKDF_KMOD_ABI_MINOR,
		.nr_nodes = nr_node_ids,
		.features = LKDF_KMOD_F_QUERY | LKDF_KMOD_F_REGION |
			    LKDF_KMOD_F_POLL,
		.page_shift = PAGE_SHIFT,
		.max_regions = LIMIT_REGIONS,
		.max_region_bytes = limits->max_region_bytes,
		.max_blocks = limits->max_blocks,
		.max_pages = limits->max_pages,
		.min_block_shift = PAGE_SHIFT,
		.max_block_shift = LIMIT_BLOCK_SHIFT,
	};
	return 0;
}

static int do_setup(struct session *s, struct request *req)
{
	if (req->setup.rsvd || !current->mm)
		return -EINVAL;
	return session_setup(s, &req->setup);
}

static void end_setup(struct session *s, const struct request *req,
		      bool is_told)
{
	session_end_setup(s, is_told);
}

/* Whole pages of the caller's half of the addresses, and not too many. */
static int check_range(const struct limits *limits, u64 addr, u64 len)
{
	if (!len || !PAGE_ALIGNED(addr) || !PAGE_ALIGNED(len))
		return -EINVAL;
	if (addr > TASK_SIZE || len > TASK_SIZE - addr)
		return -EINVAL;
	return len > limits->max_region_bytes ? -E2BIG : 0;
}

static int do_add(struct session *s, struct request *req)
{
	const struct lkdf_kmod_region *region = &req->region;

	if (region->rsvd || region->block_shift < PAGE_SHIFT ||
	    region->block_shift > LIMIT_BLOCK_SHIFT)
		return -EINVAL;
	return check_range(s->limits, region->addr, region->len)
		       ?: session_add(s, &req->region, &req->nr_add);
}

static void end_add(struct session *s, const struct request *req, bool is_told)
{
	if (!is_told)
		session_undo_add(s, req->region.id, req->nr_add);
}

static int do_del(struct session *s, struct request *req)
{
	if (req->region.rsvd)
		return -EINVAL;
	return session_del(s, &req->region);
}

static int do_refresh(struct session *s, struct request *req)
{
	if (req->refresh.rsvd)
		return -EINVAL;
	return session_refresh(s, &req->refresh);
}

static int do_query(struct session *s, struct request *req)
{
	const struct lkdf_kmod_query *q = &req->query;

	if (q->rsvd || !current->mm)
		return -EINVAL;
	if (!q->nr_counts != !q->counts_ptr)
		return -EINVAL;
	if (q->nr_counts && q->nr_counts < nr_node_ids)
		return -EINVAL;
	return check_range(s->limits, q->addr, q->len)
		       ?: query(s->limits, &req->query);
}

static const struct call calls[] = {
	[_IOC_NR(LKDF_KMOD_INFO)] = {
		.size = sizeof(struct lkdf_kmod_info),
		.fn = do_info,
	},
	[_IOC_NR(LKDF_KMOD_SETUP)] = {
		.size = sizeof(struct lkdf_kmod_setup),
		.fn = do_setup,
		.end = end_setup,
	},
	[_IOC_NR(LKDF_KMOD_ADD)] = {
		.size = sizeof(struct lkdf_kmod_region),
		.fn = do_add,
		.end = end_add,
	},
	[_IOC_NR(LKDF_KMOD_DEL)] = {
		.size = sizeof(struct lkdf_kmod_region),
		.fn = do_del,
	},
	[_IOC_NR(LKDF_KMOD_REFRESH)] = {
		.size = sizeof(struct lkdf_kmod_refresh),
		.flags = LKDF_KMOD_STALE_ONLY,
		.fn = do_refresh,
	},
	[_IOC_NR(LKDF_KMOD_QUERY)] = {
		.size = sizeof(struct lkdf_kmod_query),
		.fn = do_query,
	},
};

/* Dispatch is on the number: sizes may grow, the encoded size is not used. */
static const struct call *find_call(uint cmd)
{
	uint nr = _IOC_NR(cmd);

	if (_IOC_TYPE(cmd) != LKDF_KMOD_IOC || nr >= ARRAY_SIZE(calls))
		return NULL;
	return &calls[array_index_nospec(nr, ARRAY_SIZE(calls))];
}

static long dev_ioctl(struct file *file, uint cmd, ulong arg)
{
	const struct call *call = find_call(cmd);
	void __user *user = (void __user *)arg;
	struct request req = {};
	u32 size;
	int err;

	if (!call)
		return -ENOTTY;
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < call->size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&req, call->size, user, size);
	if (err)
		return err;
	if (req.head.size != size || req.head.flags & ~call->flags)
		return -EINVAL;
	err = call->fn(file->private_data, &req);
	if (err)
		return err;
	if (copy_to_user(user, &req, call->size))
		err = -EFAULT;
	if (call->end)
		call->end(file->private_data, &req, !err);
	return err;
}

static int dev_open(struct inode *inode, struct file *file)
{
	struct miscdevice *misc = file->private_data;
	struct lkdf_dev *dev = container_of(misc, struct lkdf_dev, misc);
	struct session *s = session_open(&dev->limits);

	if (IS_ERR(s))
		return PTR_ERR(s);
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int dev_release(struct inode *inode, struct file *file)
{
	session_close(file->private_data);
	return 0;
}

static int dev_mmap(struct file *file, struct vm_area_struct *vma)
{
	return session_mmap(file->private_data, vma);
}

static __poll_t dev_poll(struct file *file, poll_table *wait)
{
	return session_poll(file->private_data, file, wait);
}

const struct file_operations lkdf_fops = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.release = dev_release,
	.unlocked_ioctl = dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = dev_mmap,
	.poll = dev_poll,
};
