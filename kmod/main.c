// SPDX-License-Identifier: GPL-2.0-only
/* Brings the device up and takes it down. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/nodemask.h>

#include "dev.h"
#include "uapi/lkdf_kmod.h"

static struct lkdf_dev lkdf = {
	.misc = {
		.minor = MISC_DYNAMIC_MINOR,
		.name = "lkdf",
		.fops = &lkdf_fops,
		.mode = 0600,
	},
	.limits = {
		.max_files = 256,
		.max_user_regions = 8192,
		.max_blocks = 1 << 20,
		.max_region_bytes = 1UL << 40,
		.max_pages = 1UL << 20,
	},
};

module_param_named(max_files, lkdf.limits.max_files, uint, 0444);
MODULE_PARM_DESC(max_files, "open files of one user");
module_param_named(max_user_regions, lkdf.limits.max_user_regions, uint, 0444);
MODULE_PARM_DESC(max_user_regions, "watched regions of one user");
module_param_named(max_blocks, lkdf.limits.max_blocks, uint, 0444);
MODULE_PARM_DESC(max_blocks, "blocks of one file");
module_param_named(max_region_bytes, lkdf.limits.max_region_bytes, ulong, 0444);
MODULE_PARM_DESC(max_region_bytes, "bytes of one region or query");
module_param_named(max_pages, lkdf.limits.max_pages, ulong, 0444);
MODULE_PARM_DESC(max_pages, "pages that one call looks at, about");

static int __init lkdf_init(void)
{
	BUILD_BUG_ON(LKDF_BLOCK_NODE < (MAX_NUMNODES - 1));
	limits_init(&lkdf.limits);
	return misc_register(&lkdf.misc);
}

static void __exit lkdf_exit(void)
{
	misc_deregister(&lkdf.misc);
}

module_init(lkdf_init);
module_exit(lkdf_exit);
MODULE_DESCRIPTION("NUMA placement of a process's pages, kept current");
MODULE_AUTHOR("lkdf developers");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
