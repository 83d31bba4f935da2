/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of a card beside the program's own: the default pool is as the program
 * has set it, blocks of lkdf_alloc() can be given to other processes, what the
 * library's pool keeps serves when the card has nothing else, and after close
 * the card has all of it. With the driver for tests.
 */
#include "tests/api/device/device.h"
#include "tests/cuda/load.h"

#define HALF (2600ull << 20) /* two of them are more than the card has */

static struct lkdf *rt;
static struct lkdf_place *place;
static struct cu cu;

static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			   ".visible .entry f(.param .u64 at)\n{\n ret;\n}\n";

static size_t available(void)
{
	size_t n = 0, all = 0;

	must((int)cu.cuMemGetInfo(&n, &all));
	return n;
}

static uint64_t threshold(void)
{
	uint64_t bytes = 0;
	cu_pool pool = NULL;

	must((int)cu.cuDeviceGetDefaultMemPool(&pool, 0));
	must((int)cu.cuMemPoolGetAttribute(pool, CU_POOL_THRESHOLD, &bytes));
	return bytes;
}

static bool open_runtime(void)
{
	rt = api_open(driver_options("workers=2"));
	return lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) == 1;
}

/* A kernel with so much memory of its own while it runs. */
static int use_scratch(uint32_t bytes)
{
	const struct lkdf_code code = { .device = "cuda", .image = text };
	const struct lkdf_param param = { .from = LKDF_PARAM_SCRATCH,
					  .bytes = bytes };
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	int rc;

	must(lkdf_kind_create_kernel(rt,
				     LKDF_KERNEL(.kind = LKDF_KIND(.name = "f"),
						 .code = &code, .nr_code = 1,
						 .param = &param, .nr_param = 1,
						 .range_from = LKDF_RANGE_VALUE,
						 .range = { 1, 1, 1 }),
				     &k));
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = place),
			 &done));
	rc = lkdf_event_wait(done, -1);
	lkdf_kind_put(k);
	return rc;
}

static void the_default_pool_is_the_programs(void)
{
	uint64_t keeps = 12345;
	cu_pool pool = NULL;

	must((int)cu.cuDeviceGetDefaultMemPool(&pool, 0));
	must((int)cu.cuMemPoolSetAttribute(pool, CU_POOL_THRESHOLD, &keeps));
	is(use_scratch(1 << 20), 0, "a kernel with scratch");
	is(threshold(), keeps, "the default pool has the program's threshold");
}

static void blocks_can_be_exported(void)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	bool is_exported = false;
	void *own = NULL;

	must(lkdf_alloc(place, LKDF_MEM_OWN, 1 << 20, 0, "own", &own));
	must(lkdf_block(rt, own, &b));
	is(cu.cuPointerGetAttribute(&is_exported, CU_POINTER_IS_EXPORTED,
				    (cu_ptr)(uintptr_t)b.device_ptr),
	   0, "the driver knows a block");
	ok(is_exported, "other processes may be given it");
	lkdf_free(rt, own);
}

static void the_pool_gives_what_it_keeps(void)
{
	void *own = NULL;

	is(use_scratch((uint32_t)HALF), 0, "a kernel with much scratch");
	is(lkdf_alloc(place, LKDF_MEM_OWN, HALF, 0, "half", &own), 0,
	   "a block that needs what the pool keeps: %s", lkdf_errmsg());
	lkdf_free(rt, own);
	is(lkdf_alloc(place, LKDF_MEM_MANAGED, HALF, 0, "half", &own), 0,
	   "a managed one: %s", lkdf_errmsg());
	lkdf_free(rt, own);
	is(use_scratch((uint32_t)HALF), 0, "and scratch once more");
}

int main(void)
{
	cu_ctx context = NULL;
	char why[256] = "";
	size_t before;

	tap_start(60);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	if (cu_load(cuda_driver(), &cu, why, sizeof(why)) || cu.cuInit(0) ||
	    !dlsym(cu.library, "fake_cuda_calls")) {
		skip("pools of CUDA", "the driver is not that for tests");
		return tap_end();
	}
	must((int)cu.cuDevicePrimaryCtxRetain(&context, 0));
	must((int)cu.cuCtxSetCurrent(context));
	before = available();
	must(open_runtime() ? 0 : -ENODEV);
	the_default_pool_is_the_programs();
	blocks_can_be_exported();
	the_pool_gives_what_it_keeps();
	is(device_close(rt), 0, "the runtime closes");
	is(available(), before, "and the card has all of its memory");
	return tap_end();
}
