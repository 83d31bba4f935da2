/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The block of a loop whose user gives none, from what the compiled function
 * takes (policy/block_size.h). A loop covers its range with any grid, so one
 * that is larger than the device's largest is cut.
 */
#include "offload/kernel.h"

#include "policy/block_size.h"

#include <errno.h>

static uint32_t local_bytes(const struct device_req *r)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < r->launch.nr_arg; i++)
		if (r->arg[i].sort == LKDF_ARG_LOCAL)
			bytes += r->arg[i].bytes;
	return (uint32_t)bytes;
}

/* 0, with the request's error: the function fits no unit. */
static uint32_t find_block(const struct kernel *k, struct device_req *r)
{
	const struct lkdf_device_info *i = &r->device->info;
	struct lkdf_kernel_needs n = { .size = sizeof(n) };
	const struct block_device d = {
		.warp = i->warp,
		.max_block = i->max_block,
		.unit_threads = i->max_unit_threads,
		.unit_blocks = i->max_unit_blocks,
		.unit_registers = i->unit_registers,
		.register_grain = i->register_grain,
		.unit_shared = i->unit_shared,
		.block_shared = i->block_shared,
		.shared_grain = i->shared_grain,
		.shared_reserved = i->shared_reserved,
		.unit_parts = i->unit_parts,
		.block_registers = i->block_registers,
	};
	struct block_needs needs = { .bound = k->attr.max_block,
				     .min_blocks = k->attr.min_blocks };
	uint32_t block;
	int rc = r->device->ops.needs(r->device->dev, r->launch.function, &n);

	if (rc < 0) {
		request_fail_call(r, "needs", rc);
		return 0;
	}
	needs.max_block = n.max_block;
	needs.registers = n.registers;
	needs.shared = n.shared + r->launch.shared_bytes + local_bytes(r);
	block = block_size(&d, &needs);
	if (!block)
		request_fail(r, -EINVAL,
			     "kernel %s: no block fits device %s: %u registers "
			     "of a thread, %u bytes of a block, min_blocks %u",
			     k->name, r->device->name, needs.registers,
			     needs.shared, needs.min_blocks);
	return block;
}

/* So many threads over the dimensions, the first one first. */
static void spread_block(uint64_t threads, struct lkdf_launch *l)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		l->block[i] = (uint32_t)threads;
		if (i < 2 && l->range[i] < threads)
			l->block[i] = (uint32_t)l->range[i];
		if (i && threads > l->range[i])
			l->block[i] = (uint32_t)l->range[i];
		threads /= l->block[i];
	}
}

static void cut_range(const struct device *d, struct lkdf_launch *l)
{
	uint64_t most;
	unsigned i;

	for (i = 0; i < 3; i++) {
		most = (uint64_t)d->info.max_grid[i] * l->block[i];
		if (most && l->range[i] > most)
			l->range[i] = most;
	}
}

void kernel_shape(struct device_req *req)
{
	struct kernel_req *r = container_of(req, struct kernel_req, req);
	const struct kernel *k = r->kernel;
	struct device *d = req->device;
	uint32_t *block = &req->code->on[d->attr.index].block;

	if (!(k->attr.flags & LKDF_KERNEL_LOOP) || k->fold.block ||
	    k->attr.flags & LKDF_KERNEL_SERIAL)
		return;
	if (!k->attr.block[0]) {
		if (!d->ops.needs || !d->info.max_block)
			return;
		if (!*block)
			*block = find_block(k, req);
		if (!*block)
			return;
		spread_block(*block, &req->launch);
	}
	cut_range(d, &req->launch);
}
