// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts files and regions of each user. The user is the one who opened the
 * file, whoever holds it later.
 */
#include "limits.h"

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

void limits_init(struct limits *limits)
{
	spin_lock_init(&limits->lock);
	hash_init(limits->users);
	limits->max_blocks = clamp_t(uint, limits->max_blocks, 1, LIMIT_BLOCKS);
	limits->max_pages = clamp_t(ulong, limits->max_pages, 1, 1UL << 26);
	limits->max_region_bytes = clamp_t(ulong, limits->max_region_bytes,
					   PAGE_SIZE, LIMIT_BYTES);
}

/* Under limits->lock. */
static struct holder *find(struct limits *limits, kuid_t uid)
{
	struct holder *user;

	lockdep_assert_held(&limits->lock);
	hash_for_each_possible(limits->users, user, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/* An open file more of uid; ERR_PTR(-EDQUOT) if that is too many. */
struct holder *limits_get_file(struct limits *limits, kuid_t uid)
{
	struct holder *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	struct holder *user;

	if (!fresh)
		return ERR_PTR(-ENOMEM);
	spin_lock(&limits->lock);
	user = find(limits, uid);
	if (!user && limits->max_files) {
		user = fresh;
		fresh = NULL;
		user->uid = uid;
		hash_add(limits->users, &user->node, __kuid_val(uid));
	}
	if (user && user->nr_files < limits->max_files)
		user->nr_files++;
	else
		user = ERR_PTR(-EDQUOT);
	spin_unlock(&limits->lock);
	kfree(fresh);
	return user;
}

void limits_put_file(struct limits *limits, struct holder *user)
{
	bool is_last;

	spin_lock(&limits->lock);
	is_last = --user->nr_files == 0;
	if (is_last)
		hash_del(&user->node);
	spin_unlock(&limits->lock);
	if (is_last)
		kfree(user);
}

/* The caller has a file of the user open. */
int limits_get_region(struct limits *limits, struct holder *user)
{
	int err = -EDQUOT;

	spin_lock(&limits->lock);
	if (user->nr_regions < limits->max_user_regions) {
		user->nr_regions++;
		err = 0;
	}
	spin_unlock(&limits->lock);
	return err;
}

void limits_put_region(struct limits *limits, struct holder *user)
{
	spin_lock(&limits->lock);
	user->nr_regions--;
	spin_unlock(&limits->lock);
}
