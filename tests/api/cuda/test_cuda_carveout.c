/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The preference between shared memory and L1 cache, by kind: the driver for
 * tests has it at each launch, also where kinds share a function and where a
 * CUDA graph runs the kernels. A kind without one says nothing.
 */
#include "tests/api/device/region.h"
#include "tests/cuda/text.h"

#include <dlfcn.h>

static struct lkdf *rt;
static struct lkdf_place *place;
static long (*nr_calls)(const char *call);
static int (*carveout)(void);

/* Not on the driver of a card. */
static bool find_control(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *f;

	f = driver ? dlsym(driver, "fake_cuda_calls") : NULL;
	memcpy(&nr_calls, &f, sizeof(f));
	f = driver ? dlsym(driver, "fake_cuda_carveout") : NULL;
	memcpy(&carveout, &f, sizeof(f));
	return nr_calls && carveout;
}

static int make_kind(const char *name, uint32_t wish, struct lkdf_kind **k)
{
	const struct lkdf_code code = { .device = driver_name(),
					.image = driver_text(device_text),
					.entry = "do_step" };

	return lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = name,
					      .arg_size = sizeof(uint64_t)),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { DEVICE_NR, 1, 1 }, .carveout = wish),
		k);
}

static struct lkdf_kind *kind_of(const char *name, uint32_t wish)
{
	struct lkdf_kind *k = NULL;

	must(make_kind(name, wish, &k));
	return k;
}

static void launches_have_what_their_kind_wants(void)
{
	struct lkdf_kind *blocks = kind_of("blocks", LKDF_CARVEOUT(100)),
			 *cache = kind_of("cache", LKDF_CARVEOUT(0)),
			 *plain = kind_of("plain", 0);
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	long before = nr_calls("cuFuncSetAttribute");
	uint64_t one = 1;

	is(device_call(rt, plain, place, d, &one), 0, "a plain kernel");
	is(carveout(), -1, "it says nothing");
	is(nr_calls("cuFuncSetAttribute") - before, 0, "by no call");
	is(device_call(rt, blocks, place, d, &one), 0, "one for blocks");
	is(carveout(), 100, "it has all of the memory");
	is(device_call(rt, cache, place, d, &one), 0, "one for the cache");
	is(carveout(), 0, "it has none");
	is(device_call(rt, blocks, place, d, &one), 0, "the first again");
	is(carveout(), 100, "it has all again");
	is(nr_calls("cuFuncSetAttribute") - before, 2, "each function once");
	is(device_call(rt, plain, place, d, &one), 0, "the plain one again");
	is(carveout(), -1, "it still says nothing");
	lkdf_data_put(d);
	lkdf_kind_put(plain);
	lkdf_kind_put(cache);
	lkdf_kind_put(blocks);
}

static void graphs_have_it(void)
{
	struct lkdf_kind *half = kind_of("half", LKDF_CARVEOUT(50)),
			 *plain = kind_of("plain", 0);
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	uint64_t before = stat_of(rt, "lkdf.cuda.graphs");
	struct lkdf_graph *g;
	unsigned i;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < 6; i++)
		add_task(g, i < 5 ? plain : half, place, &use, 1, 1);
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 4; i++) {
		is(run(g, NULL), 0, "a run");
		is(carveout(), 50, "its last kernel has half of the memory");
	}
	is(stat_of(rt, "lkdf.cuda.graphs") - before, 3,
	   "three runs were CUDA graphs");
	is(device_first_wrong(d, DEVICE_NR, steps(1, 24)), -1, "all is right");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(plain);
	lkdf_kind_put(half);
}

static void more_than_all_is_refused(void)
{
	struct lkdf_kind *k = NULL;

	is(make_kind("more", LKDF_CARVEOUT(101), &k), -EINVAL, "101 percent");
	has(lkdf_errmsg(), "LKDF_CARVEOUT() of 0 to 100", "the text says so");
}

int main(void)
{
	tap_start(60);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) != 1 ||
	    !find_control()) {
		skip("carveout", "the driver is not that for tests");
		lkdf_close(rt);
		return tap_end();
	}
	device_is_real = true;
	launches_have_what_their_kind_wants();
	graphs_have_it();
	more_than_all_is_refused();
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
