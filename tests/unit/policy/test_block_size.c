/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The size of a block: the most threads on a unit, of equals the smallest of at
 * least 128, 0 where the kernel cannot be launched; limits that nobody knows
 * limit nothing.
 */
#include "policy/block_size.h"

#include "tests/tap.h"

/* A large GPU of 2022, and a CPU that an OpenCL driver shows as a device. */
static const struct block_device gpu = {
	.warp = 32,
	.max_block = 1024,
	.unit_threads = 2048,
	.unit_blocks = 32,
	.unit_registers = 65536,
	.block_registers = 65536,
	.thread_registers = 256,
	.register_grain = 256,
	.unit_parts = 4,
	.unit_shared = 233472,
	.block_shared = 232448,
	.shared_grain = 128,
	.shared_reserved = 1024,
};
static const struct block_device cpu = { .max_block = 4096 };

struct sized {
	const char *what;
	const struct block_device *device;
	struct block_needs needs;
	uint32_t size, resident;
};

static const struct sized sizes[] = {
	{ "few registers: the smallest of the full ones",
	  &gpu,
	  { .registers = 16 },
	  128,
	  16 },
	{ "no registers at all", &gpu, { .registers = 0 }, 128, 16 },
	/* 40 warps fit: 1280 threads as 10 * 128, 8 * 160, 5 * 256 ... */
	{ "48 registers: 10 blocks of 128 are as many as 2 of 640",
	  &gpu,
	  { .registers = 48 },
	  128,
	  10 },
	/* 8192 a warp: 8 warps. */
	{ "255 registers: 2 blocks of 128",
	  &gpu,
	  { .registers = 255 },
	  128,
	  2 },
	{ "257 registers: more than a thread can have",
	  &gpu,
	  { .registers = 257 },
	  0,
	  0 },
	/* Six of 32768 + 1024 fit: 6 * 320 are less than 4 * 512. */
	{ "32 KiB a block: four of 512 fill the unit",
	  &gpu,
	  { .registers = 32, .shared = 32768 },
	  512,
	  4 },
	{ "100 KiB a block: two blocks of 1024",
	  &gpu,
	  { .registers = 32, .shared = 102400 },
	  1024,
	  2 },
	{ "all of the shared memory: one block",
	  &gpu,
	  { .registers = 32, .shared = 232448 },
	  1024,
	  1 },
	{ "a byte more: none",
	  &gpu,
	  { .registers = 32, .shared = 232449 },
	  0,
	  0 },
	/* 15 * 128 are less than 4 * 512: each block has 1024 of its own. */
	{ "shared memory of each thread: the size decides",
	  &gpu,
	  { .registers = 16, .shared_thread = 112 },
	  512,
	  4 },
	{ "8 KiB a thread: not even 32 threads",
	  &gpu,
	  { .registers = 16, .shared_thread = 8192 },
	  0,
	  0 },
	{ "8 KiB a thread: 28 threads, if nobody wants more",
	  &gpu,
	  { .registers = 16, .shared_thread = 8192, .bound = 28 },
	  28,
	  1 },
	{ "the compiler allows 96: 32 of 64 are more than 21 of 96",
	  &gpu,
	  { .registers = 16, .max_block = 96 },
	  64,
	  32 },
	{ "a bound of 100 is no multiple of 32",
	  &gpu,
	  { .registers = 16, .bound = 100 },
	  100,
	  16 },
	{ "a bound of 64", &gpu, { .registers = 16, .bound = 64 }, 64, 32 },
	{ "a bound of 1", &gpu, { .registers = 16, .bound = 1 }, 1, 32 },
	{ "a bound above the device's own is none",
	  &gpu,
	  { .registers = 16, .bound = 4096 },
	  128,
	  16 },
	{ "at least 16 blocks of 48 registers: 64 threads",
	  &gpu,
	  { .registers = 48, .min_blocks = 16 },
	  64,
	  20 },
	{ "at least 33 blocks: none",
	  &gpu,
	  { .registers = 48, .min_blocks = 33 },
	  0,
	  0 },
	{ "at least 2 blocks of 160 KiB: none",
	  &gpu,
	  { .shared = 163840, .min_blocks = 2 },
	  0,
	  0 },
	{ "a CPU with its largest block known",
	  &cpu,
	  { .registers = 0 },
	  128,
	  32 },
	/* 1000, 968 ... 8: the only one that fills 4096. */
	{ "a CPU with a bound of 1000", &cpu, { .bound = 1000 }, 8, 512 },
};

static void the_table_is_kept(void)
{
	const struct sized *s = sizes;
	uint32_t size;

	for (; s < sizes + sizeof(sizes) / sizeof(*sizes); s++) {
		size = block_size(s->device, &s->needs);
		is(size, s->size, "%s: block of %u", s->what, s->size);
		is(block_resident(s->device, &s->needs, size), s->resident,
		   "%s: %u at a time", s->what, s->resident);
	}
}

static void a_device_without_limits_has_no_blocks(void)
{
	static const struct block_device none;
	static const struct block_needs k;

	is(block_size(&none, &k), 0, "no largest block: no block");
	is(block_resident(&none, &k, 32), 0, "nor any that is resident");
}

static void extremes_do_not_overflow(void)
{
	static const struct block_device vast = {
		.warp = UINT32_MAX,
		.max_block = 1 << 20,
		.unit_threads = UINT32_MAX,
		.unit_registers = UINT32_MAX,
		.register_grain = UINT32_MAX,
		.unit_parts = UINT32_MAX,
		.unit_shared = UINT32_MAX,
		.shared_grain = UINT32_MAX,
		.shared_reserved = UINT32_MAX,
	};
	struct block_needs k = { .registers = 1, .shared_thread = UINT32_MAX };

	is(block_size(&vast, &k), 0, "a grain above all: nothing fits");
	k = (struct block_needs){ .shared = UINT32_MAX };
	is(block_size(&gpu, &k), 0, "4 GiB of shared memory: nothing fits");
	k = (struct block_needs){ .registers = UINT32_MAX };
	is(block_size(&gpu, &k), 0, "2^32 - 1 registers: nothing fits");
}

int main(void)
{
	tap_start(60);
	the_table_is_kept();
	a_device_without_limits_has_no_blocks();
	extremes_do_not_overflow();
	return tap_end();
}
