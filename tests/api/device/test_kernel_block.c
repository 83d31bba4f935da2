/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The block of a loop whose user gives none: from what the compiled function
 * takes and the device has, within the bounds of the user; a grid larger than
 * the device's is cut, for the loop covers it.
 */
#include "tests/api/device/device.h"

/* What the kernel was launched with. */
static uint32_t block[3];
static uint64_t range[3];

static void note(struct emu *e, const struct lkdf_launch *l)
{
	(void)e;
	memcpy(block, l->block, sizeof(block));
	memcpy(range, l->range, sizeof(range));
}

static const struct emu_kernel kernels[] = {
	{ "note", note },
	{ NULL, NULL },
};

struct wish {
	uint64_t range[3];
	uint32_t block, max_block, min_blocks;
	int rc;
};

static int launch(struct lkdf *rt, struct lkdf_place *p, const struct wish *w)
{
	const struct lkdf_code code = { .device = "opencl",
					.image = ";",
					.entry = "note" };
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	int rc;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "note"), .code = &code,
			    .nr_code = 1, .flags = LKDF_KERNEL_LOOP,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { w->range[0], w->range[1], w->range[2] },
			    .block = { w->block }, .max_block = w->max_block,
			    .min_blocks = w->min_blocks),
		&k));
	memset(block, 0, sizeof(block));
	memset(range, 0, sizeof(range));
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), &done));
	rc = lkdf_event_wait(done, -1);
	lkdf_kind_put(k);
	return rc;
}

/* A multiprocessor with room for 2048 threads in 8 blocks. */
static struct lkdf_device_info unit = {
	.units = 4,
	.warp = 32,
	.max_block = 1024,
	.max_unit_threads = 2048,
	.max_unit_blocks = 8,
	.unit_registers = 65536,
	.register_grain = 256,
	.unit_shared = 65536,
	.block_shared = 49152,
	.max_grid = { 4, 4, 4 },
};

static void is_launched(uint32_t registers, uint32_t shared, struct wish w,
			const uint32_t want[3], const uint64_t items[3],
			const char *what)
{
	struct lkdf_place *p;
	struct lkdf *rt = api_open("workers=1");
	struct emu e;

	emu_init(&e, EMU_OWN, kernels);
	e.name = "opencl";
	e.info = unit;
	e.needs = (struct lkdf_kernel_needs){ .size = sizeof(e.needs),
					      .registers = registers,
					      .shared = shared };
	p = emu_register(rt, &e);
	is(launch(rt, p, &w), w.rc, "%s: it ends as it should", what);
	ok(!memcmp(block, want, sizeof(block)),
	   "%s: a block of %u x %u x %u, it is %u x %u x %u", what, want[0],
	   want[1], want[2], block[0], block[1], block[2]);
	ok(!memcmp(range, items, sizeof(range)),
	   "%s: %llu x %llu x %llu items, they are %llu x %llu x %llu", what,
	   (unsigned long long)items[0], (unsigned long long)items[1],
	   (unsigned long long)items[2], (unsigned long long)range[0],
	   (unsigned long long)range[1], (unsigned long long)range[2]);
	if (w.rc)
		has(lkdf_errmsg(), "no block fits", "%s: by name", what);
	is(atomic_load(&e.nr[EMU_NEEDS]), w.block ? 0 : 1,
	   "%s: the device is asked where no block is given", what);
	is(device_close(rt), 0, "%s: close", what);
	emu_check(&e, what);
}

#define V(...)              \
	(const uint32_t[3]) \
	{                   \
		__VA_ARGS__ \
	}
#define N(...)              \
	(const uint64_t[3]) \
	{                   \
		__VA_ARGS__ \
	}

static void blocks_are_chosen(void)
{
	is_launched(16, 0, (struct wish){ .range = { 1000, 1, 1 } },
		    V(256, 1, 1), N(1000, 1, 1), "8 blocks fill it");
	is_launched(64, 0, (struct wish){ .range = { 400, 1, 1 } },
		    V(128, 1, 1), N(400, 1, 1), "registers for 1024 threads");
	is_launched(48, 0, (struct wish){ .range = { 500, 1, 1 } },
		    V(192, 1, 1), N(500, 1, 1), "registers for 42 warps");
	is_launched(16, 32768, (struct wish){ .range = { 5000, 1, 1 } },
		    V(1024, 1, 1), N(4096, 1, 1), "memory for two blocks");
	is_launched(16, 0,
		    (struct wish){ .range = { 300, 1, 1 }, .max_block = 96 },
		    V(96, 1, 1), N(300, 1, 1), "96 threads at most");
	is_launched(16, 0,
		    (struct wish){ .range = { 9, 1, 1 },
				   .min_blocks = 9,
				   .rc = -EINVAL },
		    V(0, 0, 0), N(0, 0, 0), "9 blocks, where 8 have room");
}

/* Each limit changes the block of one of those above. */
static void each_limit_counts(void)
{
	const struct lkdf_device_info all = unit;

	unit.block_registers = 4096;
	is_launched(64, 0, (struct wish){ .range = { 400, 1, 1 } }, V(64, 1, 1),
		    N(256, 1, 1), "4096 registers of a block");
	unit = all;
	unit.unit_parts = 4;
	is_launched(48, 0, (struct wish){ .range = { 500, 1, 1 } },
		    V(160, 1, 1), N(500, 1, 1),
		    "registers for 10 warps of each of four parts");
	unit = all;
	unit.shared_reserved = 1024;
	is_launched(16, 8000, (struct wish){ .range = { 1000, 1, 1 } },
		    V(512, 1, 1), N(1000, 1, 1),
		    "memory for 7 blocks beside what is reserved");
	unit = all;
}

static void grids_fit(void)
{
	is_launched(16, 0, (struct wish){ .range = { 1u << 30, 1, 1 } },
		    V(256, 1, 1), N(1024, 1, 1), "a grid of 4 blocks");
	is_launched(16, 0, (struct wish){ .range = { 8, 9, 1 } }, V(8, 9, 1),
		    N(8, 9, 1), "two small dimensions");
	is_launched(16, 0, (struct wish){ .range = { 8, 4, 100 } }, V(8, 4, 8),
		    N(8, 4, 32), "three dimensions");
	is_launched(16, 0,
		    (struct wish){ .range = { 1000, 1, 1 }, .block = 64 },
		    V(64, 1, 1), N(256, 1, 1), "a block that is given");
}

static void opencl_chooses(void)
{
	static const char *const types[] = { "GLOBAL ulong *" };
	const struct lkdf_code code = { .device = "opencl",
					.image = "p0[i] = get_local_size(0);" };
	struct lkdf *rt = api_open("workers=1,devices=opencl");
	struct lkdf_kind *k = NULL;
	struct lkdf_place *p;
	struct lkdf_data *d;
	uint32_t bound;

	if (lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) < 1) {
		skip("OpenCL's kernels have blocks", lkdf_errmsg());
		lkdf_close(rt);
		return;
	}
	for (bound = 0; bound < 64; bound += 32) {
		must(lkdf_kind_create_kernel(
			rt,
			LKDF_KERNEL(.kind = LKDF_KIND(.name = "size"),
				    .code = &code, .nr_code = 1,
				    .flags = LKDF_KERNEL_LOOP,
				    .max_block = bound,
				    .range_from = LKDF_RANGE_VALUE,
				    .range = { 1000, 1, 1 }, .type = types,
				    .nr_type = 1),
			&k));
		d = device_data(rt, 1000, 0);
		is(device_call(rt, k, p, d, NULL), 0, "opencl: it runs");
		is(device_first_wrong(d, 1000, bound ? bound : 128), -1,
		   "opencl: in blocks of %u", bound ? bound : 128);
		lkdf_data_put(d);
		lkdf_kind_put(k);
	}
	is(device_close(rt), 0, "opencl: close");
}

static void bounds_without_a_loop_are_refused(void)
{
	const struct lkdf_code code = { .device = "emu", .image = "note" };
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = NULL;

	is(lkdf_kind_create_kernel(rt,
				   LKDF_KERNEL(.kind = LKDF_KIND(.name = "k"),
					       .code = &code, .nr_code = 1,
					       .max_block = 64),
				   &k),
	   -EINVAL, "max_block without a loop");
	has(lkdf_errmsg(), "max_block", "by name");
	lkdf_close(rt);
}

int main(void)
{
	tap_start(120);
	opencl_env("pthread");
	bounds_without_a_loop_are_refused();
	blocks_are_chosen();
	each_limit_counts();
	grids_fit();
	opencl_chooses();
	return tap_end();
}
