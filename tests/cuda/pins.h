/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of registered pages share: two cards of the driver for tests,
 * which counts its calls and ends a program that gives registered pages away,
 * and data that go to a card and come home.
 */
#ifndef TESTS_CUDA_PINS_H
#define TESTS_CUDA_PINS_H

#include "tests/cuda/cache.h"
#include "tests/cuda/child.h"
#include "tests/cuda/gone.h"
#include "tests/cuda/load.h"
#include "tests/cuda/text.h"

#define WORDS 16384 /* of a data: 128 KiB */
#define BYTES (WORDS * sizeof(uint64_t))
#define CARDS 2

static struct lkdf *rt;
static struct lkdf_place *place[CARDS];
static struct lkdf_kind *add;

/* ---- the driver for tests ----------------------------------------------- */

static long (*fake_calls)(const char *call);
static long (*fake_waits)(void);
static long (*fake_bytes)(int host);
static int (*await_bytes)(int host, long bytes, long long patience_ns);
static int (*let_fail)(const char *call, unsigned result, unsigned after);

/* Without it the rest has no sense. */
__attribute__((unused)) static void needs(bool is)
{
	must(is ? 0 : -EPROTO);
}

static void find_call(const char *name, void *to)
{
	void *f = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), name);

	memcpy(to, &f, sizeof(f));
}

/* False: a real driver, or none. Cards are not looked for yet. */
__attribute__((unused)) static bool find_driver(void)
{
	return dlopen(cuda_driver(), RTLD_NOW | RTLD_NODELETE) && gone_watch();
}

__attribute__((unused)) static void open_cards(const char *options)
{
	rt = api_open(driver_options(options));
	needs(lkdf_places(rt, LKDF_PLACE_GPU, place, CARDS) == CARDS);
	device_is_real = true;
	find_call("fake_cuda_calls", &fake_calls);
	find_call("fake_cuda_waits", &fake_waits);
	find_call("fake_cuda_bytes", &fake_bytes);
	find_call("fake_cuda_await_bytes", &await_bytes);
	find_call("fake_cuda_fail", &let_fail);
	add = device_kind(rt, "add");
}

__attribute__((unused)) static int close_cards(void)
{
	lkdf_kind_put(add);
	return device_close(rt);
}

__attribute__((unused)) static long registered(void)
{
	return fake_calls("cuMemHostRegister");
}

__attribute__((unused)) static long forgotten(void)
{
	return fake_calls("cuMemHostUnregister");
}

/* ---- data --------------------------------------------------------------- */

__attribute__((unused)) static struct lkdf_data *make_data(void)
{
	return device_data(rt, WORDS, 0);
}

/* The first and the last word. */
__attribute__((unused)) static int set_words(struct lkdf_data *d,
					     uint64_t value)
{
	void *at = NULL;
	int rc = lkdf_data_acquire(d, LKDF_WRITE, -1, &at);

	if (rc)
		return rc;
	((uint64_t *)at)[0] = ((uint64_t *)at)[WORDS - 1] = value;
	lkdf_data_release(d);
	return 0;
}

/* Written by the host, there, home: -EBADMSG if words are wrong. */
__attribute__((unused)) static int go_round(struct lkdf_data *d, int card,
					    uint64_t value)
{
	uint64_t one = 1, *x;
	void *at = NULL;
	int rc = set_words(d, value);

	if (!rc)
		rc = device_call(rt, add, place[card], d, &one);
	if (!rc)
		rc = lkdf_data_acquire(d, LKDF_READ, -1, &at);
	if (rc)
		return rc;
	x = at;
	rc = x[0] == value + 1 && x[WORDS - 1] == value ? 0 : -EBADMSG;
	lkdf_data_release(d);
	return rc;
}

__attribute__((unused)) static int go_rounds(struct lkdf_data *d, int card,
					     int nr)
{
	int rc = 0, i;

	for (i = 0; i < nr && !rc; i++)
		rc = go_round(d, card, (uint64_t)(i + 7) << 20);
	return rc;
}

/* The context of the first card is current in this thread. */
__attribute__((unused)) static bool load_driver(struct cu *cu)
{
	cu_ctx context = NULL;
	char why[256];

	if (cu_load(cuda_driver(), cu, why, sizeof(why))) {
		printf("# %s\n", why);
		return false;
	}
	return !cu->cuInit(0) && !cu->cuDevicePrimaryCtxRetain(&context, 0) &&
	       !cu->cuCtxSetCurrent(context);
}

#endif
