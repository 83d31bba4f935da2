/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How much of a sealed graph runs as CUDA graphs, from its third run on: of a
 * chain and of columns beside each other. The results are right; the figures
 * are printed, for the kit asks a card for them.
 */
#include "tests/api/device/region.h"
#include "tests/cuda/child.h"

#include <dlfcn.h>

#define RUNS 7
#define FIRST 2 /* of the runs that count */
#define LONG_CHAIN 1000
#define NR_COLUMNS 16
#define DEEP 60

static struct lkdf *rt;
static struct lkdf_place *place;
static struct lkdf_kind *step;

/* -1: the driver of a card does not tell. */
static long nr_launches(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *f = driver ? dlsym(driver, "fake_cuda_calls") : NULL;
	long (*nr_calls)(const char *call);

	memcpy(&nr_calls, &f, sizeof(f));
	return f ? nr_calls("cuLaunchKernel") : -1;
}

struct counted {
	uint64_t graphs, updates;
	long launches;
};

static struct counted count_now(void)
{
	return (struct counted){
		stat_of(rt, "lkdf.cuda.graphs"),
		stat_of(rt, "lkdf.cuda.updates"),
		nr_launches(),
	};
}

static void tell(const char *what, unsigned nr, const struct counted *from)
{
	struct counted to = count_now();

	printf("# replay: %s, %d runs of %u kernels: %llu CUDA graphs, %llu of "
	       "them updated",
	       what, RUNS - FIRST, nr,
	       (unsigned long long)(to.graphs - from->graphs),
	       (unsigned long long)(to.updates - from->updates));
	if (to.launches >= 0)
		printf(", %ld kernels launched or captured anew",
		       to.launches - from->launches);
	printf("\n");
}

static void replay(const char *what, unsigned columns, unsigned deep)
{
	struct lkdf_data *d[NR_COLUMNS];
	struct counted from = { 0, 0, 0 };
	struct lkdf_graph *g;
	struct lkdf_use use;
	uint64_t x = 1;
	unsigned i, k;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < columns; i++) {
		d[i] = device_data(rt, NR, x);
		use = (struct lkdf_use){ d[i], LKDF_RW, 0 };
		for (k = 0; k < deep; k++)
			add_task(g, step, place, &use, 1, 1);
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < RUNS; i++) {
		if (i == FIRST)
			from = count_now();
		is(run(g, NULL), 0, "%s: run %u", what, i);
		for (k = 0; k < deep; k++)
			x = 3 * x + 1;
	}
	tell(what, columns * deep, &from);
	for (i = 0; i < columns; i++) {
		is(device_first_wrong(d[i], NR, x), -1, "%s: %u is right", what,
		   i);
		lkdf_data_put(d[i]);
	}
	lkdf_graph_put(g);
}

int main(void)
{
	tap_start(200);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) != 1) {
		skip("CUDA graphs", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	device_is_real = true;
	step = device_kind(rt, "step");
	replay("a chain", 1, LONG_CHAIN);
	replay("columns", NR_COLUMNS, DEEP);
	lkdf_kind_put(step);
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
