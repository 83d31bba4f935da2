/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A unit holds as many blocks as its threads, registers and shared memory have
 * room for; registers go to warps, and each part of the unit has its own.
 */
#include "policy/block_size.h"

#include "base/util.h"

#include <stdbool.h>

static uint64_t at_least_1(uint64_t n)
{
	return n ? n : 1;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t round_to(uint64_t n, uint64_t grain)
{
	grain = at_least_1(grain);
	return (n + grain - 1) / grain * grain;
}

/* A limit of 0 is none. */
static bool is_above(uint64_t n, uint64_t limit)
{
	return limit && n > limit;
}

static uint64_t warps_of(const struct block_device *d, uint64_t threads)
{
	uint64_t warp = at_least_1(d->warp);

	return (threads + warp - 1) / warp;
}

static uint64_t by_threads(const struct block_device *d, uint32_t threads)
{
	uint64_t all = d->unit_threads ? d->unit_threads : d->max_block;

	return all / at_least_1(d->warp) / warps_of(d, threads);
}

/*
 * A block is admitted as if each part had to hold an equal share of its warps;
 * then its warps go wherever a part has registers for one.
 */
static uint64_t by_registers(const struct block_device *d,
			     const struct block_needs *k, uint32_t threads)
{
	uint64_t parts = at_least_1(d->unit_parts),
		 warps = warps_of(d, threads);
	uint64_t of_warp =
		round_to((uint64_t)k->registers * at_least_1(d->warp),
			 d->register_grain);

	if (is_above(k->registers, d->thread_registers) ||
	    is_above(of_warp * round_to(warps, parts), d->block_registers))
		return 0;
	if (!of_warp || !d->unit_registers)
		return UINT32_MAX;
	return d->unit_registers / parts / of_warp * parts / warps;
}

static uint64_t by_shared(const struct block_device *d,
			  const struct block_needs *k, uint32_t threads)
{
	uint64_t asked = k->shared + (uint64_t)k->shared_thread * threads;
	uint64_t taken = round_to(asked + d->shared_reserved, d->shared_grain);

	if (d->block_shared &&
	    taken > (uint64_t)d->block_shared + d->shared_reserved)
		return 0;
	if (!taken || !d->unit_shared)
		return UINT32_MAX;
	return d->unit_shared / taken;
}

uint32_t block_resident(const struct block_device *d,
			const struct block_needs *k, uint32_t threads)
{
	uint64_t nr = d->unit_blocks ? d->unit_blocks : UINT32_MAX;

	if (!threads || threads > d->max_block ||
	    is_above(threads, k->max_block))
		return 0;
	nr = least_of(nr, by_threads(d, threads));
	nr = least_of(nr, by_registers(d, k, threads));
	return (uint32_t)least_of(nr, by_shared(d, k, threads));
}

uint32_t block_size(const struct block_device *d, const struct block_needs *k)
{
	uint64_t all = d->unit_threads ? d->unit_threads : d->max_block;
	uint64_t most = 0, nr, size = d->max_block;
	uint32_t best = 0;

	if (k->bound)
		size = least_of(size, k->bound);
	if (k->max_block)
		size = least_of(size, k->max_block);
	while (size) {
		nr = block_resident(d, k, (uint32_t)size);
		nr = least_of(nr, all / size);
		if (nr >= at_least_1(k->min_blocks) &&
		    (nr * size > most ||
		     (size >= BLOCK_SIZE_SMALL && nr * size == most))) {
			best = (uint32_t)size;
			most = nr * size;
		}
		size -= least_of(size, BLOCK_SIZE_STEP);
	}
	check(!best || block_resident(d, k, best));
	return best;
}
