/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Whether a device can launch a kernel: refused by name before it is asked. */
#include "offload/kernel.h"

#include "base/err.h"

#include <errno.h>

uint32_t kernel_count_params(const struct kernel *k, uint32_t nr_use)
{
	const struct lkdf_param *p = k->attr.param;
	uint32_t nr = 0, i;

	if (!p)
		return nr_use + (k->arg_size > 0);
	for (i = 0; i < k->attr.nr_param; i++)
		nr += kernel_nr_params(&p[i]);
	return nr;
}

int kernel_check_args(const struct kernel *k, uint32_t nr_use)
{
	uint32_t nr = kernel_count_params(k, nr_use);

	if (k->attr.enqueue)
		return 0;
	if (k->fold.block)
		nr += KERNEL_FOLD_ARGS;
	else if (k->attr.flags & LKDF_KERNEL_LOOP)
		nr += 2 * kernel_loop_dims(k);
	if (nr > LKDF_MAX_PARAMS)
		return err(-E2BIG,
			   "kernel %s: a launch of %u arguments, at most %d",
			   k->name, nr, LKDF_MAX_PARAMS);
	return 0;
}

int kernel_check_bytes(const struct kernel *k, const struct device *d,
		       uint64_t value_bytes, uint64_t local_bytes)
{
	const struct lkdf_device_info *info = &d->info;
	uint64_t shared = local_bytes + k->attr.shared_bytes;

	if (info->max_value_bytes && value_bytes > info->max_value_bytes)
		return err(-E2BIG,
			   "kernel %s: parameters of %llu bytes, device %s "
			   "takes %u: LKDF_PARAM_TASK_MEMORY and "
			   "LKDF_PARAM_MEMORY are for more, where the code has "
			   "a pointer",
			   k->name, (unsigned long long)value_bytes, d->name,
			   info->max_value_bytes);
	if (info->block_shared && shared > info->block_shared)
		return err(-EINVAL,
			   "kernel %s: a block has %llu bytes of memory of its "
			   "own, on device %s at most %u",
			   k->name, (unsigned long long)shared, d->name,
			   info->block_shared);
	return 0;
}

int kernel_check_block(const struct kernel *k, const struct device *d,
		       const uint64_t range[3])
{
	const struct lkdf_device_info *info = &d->info;
	const uint32_t *block = k->attr.block;
	uint64_t threads = block[0], blocks;
	unsigned i;

	for (i = 1; i < 3 && info->max_block && threads <= info->max_block; i++)
		threads *= block[i];
	if (info->max_block && threads > info->max_block)
		return err(-EINVAL,
			   "kernel %s: a block of %u x %u x %u threads, device "
			   "%s has at most %u",
			   k->name, block[0], block[1], block[2], d->name,
			   info->max_block);
	/* A loop covers its range with any grid. */
	if (k->attr.flags & LKDF_KERNEL_LOOP)
		return 0;
	for (i = 0; i < 3 && block[0] && info->max_grid[i]; i++) {
		blocks = range[i] / block[i] + (range[i] % block[i] != 0);
		if (blocks > info->max_grid[i])
			return err(-EINVAL,
				   "kernel %s: %llu blocks, device %s has at "
				   "most %u",
				   k->name, (unsigned long long)blocks, d->name,
				   info->max_grid[i]);
	}
	return 0;
}
