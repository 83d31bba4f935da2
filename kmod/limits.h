/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits of a user: numbers from the module's parameters, and who has how much
 * of what is counted for each user. Memory is not counted here, it is charged
 * to RLIMIT_MEMLOCK and to the memory cgroup.
 */
#ifndef LKDF_LIMITS_H
#define LKDF_LIMITS_H

#include <linux/bits.h>
#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/* Bounds that no parameter lifts. */
#define LIMIT_REGIONS 256 /* of one file */
#define LIMIT_BLOCKS BIT(22) /* of one file */
#define LIMIT_BLOCK_SHIFT 30
#define LIMIT_BYTES BIT_ULL(43) /* of one call: counts pages in 32 bits */

struct limits {
	/* Set when the module is loaded, constant afterwards. */
	uint max_files; /* of one user */
	uint max_user_regions; /* of one user */
	uint max_blocks; /* of one file */
	ulong max_region_bytes;
	ulong max_pages; /* of one call */

	/* Users with open files; under lock. */
	spinlock_t lock;
	DECLARE_HASHTABLE(users, 6);
};

/* A user; lives while it has files open. All fields under limits.lock. */
struct holder {
	struct hlist_node node;
	kuid_t uid;
	uint nr_files;
	uint nr_regions;
};

void limits_init(struct limits *limits);
struct holder *limits_get_file(struct limits *limits, kuid_t uid);
void limits_put_file(struct limits *limits, struct holder *user);
int limits_get_region(struct limits *limits, struct holder *user);
void limits_put_region(struct limits *limits, struct holder *user);

#endif
