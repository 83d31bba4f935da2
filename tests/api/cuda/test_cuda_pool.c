/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of a card beside the program's own: the default pool is as the program
 * has set it, blocks of lkdf_alloc() can be given to other processes, what the
 * library's pool keeps serves when the card has nothing else, and after close
 * the card has all of it. A stream of the program's that is at work holds up
 * nobody. With the driver for tests.
 */
#include "tests/api/device/device.h"
#include "tests/cuda/load.h"

#define HALF (2600ull << 20) /* two of them are more than the card has */

static struct lkdf *rt;
static struct lkdf_place *place;
static struct cu cu;

static const char text[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry f(.param .u64 at)\n{\n ret;\n}\n"
	/* until the word at the address is not 0 */
	".visible .entry stay(.param .u64 flag)\n{\n"
	" .reg .u64 %f;\n .reg .u32 %v;\n .reg .pred %p;\n"
	" ld.param.u64 %f, [flag];\nagain:\n"
	" ld.volatile.global.u32 %v, [%f];\n setp.eq.u32 %p, %v, 0;\n"
	" @%p bra again;\n ret;\n}\n";

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

static bool open_runtime(const char *options)
{
	rt = api_open(driver_options(options));
	return lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) == 1;
}

/* A kernel with so much memory of its own while it runs. */
static struct lkdf_kind *scratch_kind(uint32_t bytes)
{
	const struct lkdf_code code = { .device = "cuda",
					.image = text,
					.entry = "f" };
	const struct lkdf_param param = { .from = LKDF_PARAM_SCRATCH,
					  .bytes = bytes };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(rt,
				     LKDF_KERNEL(.kind = LKDF_KIND(.name = "f"),
						 .code = &code, .nr_code = 1,
						 .param = &param, .nr_param = 1,
						 .range_from = LKDF_RANGE_VALUE,
						 .range = { 1, 1, 1 }),
				     &k));
	return k;
}

static int run_kind(struct lkdf_kind *k)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = place),
			 &done));
	return lkdf_event_wait(done, -1);
}

static int use_scratch(uint32_t bytes)
{
	struct lkdf_kind *k = scratch_kind(bytes);
	int rc = run_kind(k);

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

/* ---- beside a stream of the program's ----------------------------------- */

struct own {
	cu_stream stream;
	cu_ptr flag;
	uint32_t *word;
};

/* A kernel of the program's, until end_own(). */
static void begin_own(struct own *o)
{
	void *params[] = { &o->flag };
	cu_func f = NULL;
	cu_mod m = NULL;

	must((int)cu.cuMemHostAlloc((void **)&o->word, sizeof(*o->word), 3));
	*o->word = 0;
	must((int)cu.cuMemHostGetDevicePointer(&o->flag, o->word, 0));
	must((int)cu.cuModuleLoadData(&m, text));
	must((int)cu.cuModuleGetFunction(&f, m, "stay"));
	must((int)cu.cuStreamCreate(&o->stream, CU_NON_BLOCKING));
	must((int)cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, o->stream, params,
				    NULL));
}

static void end_own(struct own *o)
{
	__atomic_store_n(o->word, 1, __ATOMIC_RELEASE);
	must((int)cu.cuStreamSynchronize(o->stream));
	must((int)cu.cuStreamDestroy(o->stream));
	must((int)cu.cuMemFreeHost(o->word));
}

static long nr_waits(void)
{
	void *f = dlsym(cu.library, "fake_cuda_waits");
	long (*waits)(void);

	memcpy(&waits, &f, sizeof(f));
	return waits();
}

/* Blocks and scratch come and go; their sizes differ, so none is kept. */
static void change_memory(struct lkdf_kind **k, unsigned nr)
{
	void *own = NULL;
	unsigned i;

	for (i = 0; i < nr; i++) {
		is(run_kind(k[i]), 0, "a kernel with scratch");
		must(lkdf_alloc(place, LKDF_MEM_OWN, (i + 1) << 16, 0, "own",
				&own));
		lkdf_free(rt, own);
	}
}

static void a_stream_of_the_program_holds_nobody_up(void)
{
	struct lkdf_kind *k[4];
	struct own own;
	unsigned i;
	long before;

	/* While a module is loaded the driver waits for all kernels. */
	for (i = 0; i < 4; i++) {
		k[i] = scratch_kind((i + 1) << 20);
		is(run_kind(k[i]), 0, "its code is there");
	}
	begin_own(&own);
	before = nr_waits();
	/* Its code goes later. */
	lkdf_kind_put(k[3]);
	change_memory(k, 3);
	is(nr_waits(), before, "no call waits for the program's kernel");
	is((int)cu.cuStreamQuery(own.stream), 600, "which runs all the time");
	end_own(&own);
	for (i = 0; i < 3; i++)
		lkdf_kind_put(k[i]);
}

static void pooled_blocks_are_not_exported(void)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	bool is_exported = true;
	void *own = NULL;

	must(lkdf_alloc(place, LKDF_MEM_OWN, 1 << 20, 0, "own", &own));
	must(lkdf_block(rt, own, &b));
	is(cu.cuPointerGetAttribute(&is_exported, CU_POINTER_IS_EXPORTED,
				    (cu_ptr)(uintptr_t)b.device_ptr),
	   0, "the driver knows a block of the pool");
	ok(!is_exported, "no other process may be given it");
	lkdf_free(rt, own);
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
	must(open_runtime("workers=2") ? 0 : -ENODEV);
	the_default_pool_is_the_programs();
	blocks_can_be_exported();
	the_pool_gives_what_it_keeps();
	is(device_close(rt), 0, "the runtime closes");
	is(available(), before, "and the card has all of its memory");
	must(open_runtime("workers=2,device_pool=yes") ? 0 : -ENODEV);
	pooled_blocks_are_not_exported();
	a_stream_of_the_program_holds_nobody_up();
	the_pool_gives_what_it_keeps();
	is(device_close(rt), 0, "the runtime with device_pool closes");
	is(available(), before, "and has given all back");
	return tap_end();
}
