/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the tests of a device's memory share: blocks, bytes, a kernel. */
#ifndef TESTS_API_DEVICE_MEMORY_H
#define TESTS_API_DEVICE_MEMORY_H

#include "tests/api/device/device.h"

#define BLOCK_NR 4096
#define BLOCK_BYTES (BLOCK_NR * sizeof(uint64_t))

/* x[i] += value, where x is an address that the program gives. */
__attribute__((unused)) static void memory_add(struct emu *e,
					       const struct lkdf_launch *l)
{
	uint64_t *x = emu_value_at(e, l, 0), i;

	for (i = 0; i < BLOCK_NR; i++)
		x[i] += 5;
}

static const struct emu_kernel memory_kernels[] = {
	{ "add", device_add },	 { "step", device_step },
	{ "copy", device_copy }, { "add_five", memory_add },
	{ NULL, NULL },
};

static const char memory_text[] =
	"kernel void add_five(global ulong *x) { x[get_global_id(0)] += 5; }";

__attribute__((unused)) static void *
memory_alloc(struct lkdf_place *p, enum lkdf_mem_kind m, uint64_t bytes)
{
	void *at = NULL;

	must(lkdf_alloc(p, m, bytes, 0, "block", &at));
	return at;
}

__attribute__((unused)) static void memory_fill(uint64_t *x, uint64_t from)
{
	uint64_t i;

	for (i = 0; i < BLOCK_NR; i++)
		x[i] = from + i;
}

/* The first that is not from + i; -1: all are. */
__attribute__((unused)) static long
memory_first_wrong(const uint64_t *x, uint64_t nr, uint64_t from)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		if (x[i] != from + i)
			return (long)i;
	return -1;
}

/* A kernel that gets the block as a value. */
__attribute__((unused)) static int
memory_add_five(struct lkdf *rt, struct lkdf_place *p, const void *block)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	const struct lkdf_code code[] = {
		{ .device = "emu", .image = "add_five" },
		{ .device = driver_name(),
		  .image = driver_text(memory_text),
		  .entry = "add_five" },
	};
	const struct lkdf_param param = { .from = LKDF_PARAM_VALUE,
					  .bytes = sizeof(b.device_ptr),
					  .value = &b.device_ptr };
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	int rc;

	must(lkdf_block(rt, block, &b));
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "add five"), .code = code,
			    .nr_code = 2, .nr_param = 1, .param = &param,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { BLOCK_NR, 1, 1 }),
		&k));
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), &done));
	rc = lkdf_event_wait(done, -1);
	lkdf_kind_put(k);
	return rc;
}

#endif
