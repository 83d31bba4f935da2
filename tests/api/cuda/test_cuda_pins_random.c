/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random lives of data on two cards of the driver for tests: kernels, writes
 * and looks of the host, wishes, puts with kernels that have not run yet, pages
 * that other data get next. All words are right, and no page leaves the process
 * while the driver knows it. LKDF_TEST_SEED repeats one program.
 */
#include "tests/api/device/device.h"
#include "tests/cuda/cache.h"
#include "tests/cuda/gone.h"
#include "tests/cuda/load.h"

#include <errno.h>

#define SLOTS 10
#define STEPS 200
#define PROGRAMS 3
#define CARDS 2

/* A data, and what its first and its last word are when all is done. */
struct slot {
	struct lkdf_data *data;
	uint64_t nr, first, last;
};

static struct lkdf *rt;
static struct lkdf_place *place[CARDS + 2];
static struct lkdf_kind *add;
static struct slot slots[SLOTS];
static uint64_t seed;

/* Numbers below nr. */
static uint64_t pick(uint64_t nr)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % nr;
}

/* Large pages go back to the system as soon as the data is gone. */
static void make_data(struct slot *s)
{
	static uint64_t init[2100 * 128];
	static const uint64_t kib[] = { 4, 64, 68, 100, 256, 2100 };

	s->nr = kib[pick(6)] * 1024 / sizeof(uint64_t);
	s->first = init[0] = pick(1000);
	s->last = init[s->nr - 1] = pick(1000);
	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .init = init,
				   .bytes = s->nr * sizeof(*init),
				   .flags = LKDF_DATA_HUGE),
			      &s->data));
}

static void run_kernel(struct slot *s)
{
	uint64_t by = pick(1000);

	s->first += by;
	lkdf_event_put(
		device_submit(rt, add, place[pick(CARDS)], s->data, &by));
}

static bool is_right(struct slot *s)
{
	bool is = false;
	uint64_t *x;
	void *at;

	if (lkdf_data_acquire(s->data, LKDF_READ, -1, &at))
		return false;
	x = at;
	is = x[0] == s->first && x[s->nr - 1] == s->last;
	lkdf_data_release(s->data);
	return is;
}

static void write_words(struct slot *s)
{
	uint64_t *x;
	void *at;

	must(lkdf_data_acquire(s->data, LKDF_RW, -1, &at));
	x = at;
	x[0] = s->first = pick(1000);
	x[s->nr - 1] = s->last = pick(1000);
	lkdf_data_release(s->data);
}

/* False: a word is wrong. */
static bool take_step(struct slot *s)
{
	bool is = true;

	if (!s->data) {
		make_data(s);
		return true;
	}
	switch (pick(10)) {
	case 0:
		is = is_right(s);
		/* fall through */
	case 1:
		lkdf_data_put(s->data);
		s->data = NULL;
		break;
	case 2:
		must(lkdf_data_prefetch(s->data, place[pick(CARDS + 2)], NULL));
		break;
	case 3:
	case 4:
		is = is_right(s);
		break;
	case 5:
	case 6:
		write_words(s);
		break;
	default:
		run_kernel(s);
	}
	return is;
}

static int run_program(void)
{
	int wrong = 0, i;

	for (i = 0; i < STEPS; i++)
		wrong += !take_step(&slots[pick(SLOTS)]);
	for (i = 0; i < SLOTS; i++) {
		wrong += slots[i].data && !is_right(&slots[i]);
		lkdf_data_put(slots[i].data);
		slots[i].data = NULL;
	}
	return wrong;
}

/* On nodes that are made up data move by copies. */
static const char *const options[] = {
	"workers=2",
	"topology=\"numa:2 core:2\",workers=2",
	"workers=1,device_pin=1",
};

static long bytes_registered(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD),
	     *f = dlsym(driver, "fake_cuda_bytes");
	long (*bytes)(int host);

	memcpy(&bytes, &f, sizeof(f));
	return bytes(1);
}

static void run_seed(uint64_t number, const char *how)
{
	seed = number;
	rt = api_open(driver_options(how));
	must(lkdf_places(rt, LKDF_PLACE_GPU, place, CARDS) == CARDS ? 0
								    : -EPROTO);
	place[CARDS] = lkdf_place_node(rt, 0);
	place[CARDS + 1] = lkdf_place_node(rt, 1);
	if (!place[CARDS + 1])
		place[CARDS + 1] = place[CARDS];
	device_is_real = true;
	add = device_kind(rt, "add");
	is(run_program(), 0, "program %llu, %s: all words are right",
	   (unsigned long long)number, how);
	lkdf_kind_put(add);
	is(device_close(rt), 0, "the runtime closes");
	is(bytes_registered(), 0, "and the driver has no pages");
}

int main(void)
{
	const char *one = getenv("LKDF_TEST_SEED");
	uint64_t i;

	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	setenv("FAKE_CUDA_CARDS", "2", 1);
	if (!dlopen(cuda_driver(), RTLD_NOW | RTLD_NODELETE) || !gone_watch()) {
		skip("random data", "the driver is not that for tests");
		return tap_end();
	}
	cache_begin();
	for (i = 0; i < PROGRAMS && !one; i++)
		run_seed(i + 1, options[i % 3]);
	for (i = 0; i < 3 && one; i++)
		run_seed(strtoull(one, NULL, 10), options[i]);
	cache_end();
	return tap_end();
}
