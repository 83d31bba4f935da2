/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of refusals share: a kernel that is wrong in one way, its
 * error, and the next kernel, which runs.
 */
#ifndef TESTS_API_DEVICE_REFUSED_H
#define TESTS_API_DEVICE_REFUSED_H

#include "tests/api/device/device.h"

/* Code for the driver; range 0: as many items as the data has words. */
struct refused {
	const char *image;
	uint64_t bytes;
	const char *entry;
	void *function;
	uint32_t block, shared;
	uint64_t range;
};

/* One RW use and a uint64_t. */
__attribute__((unused)) static struct lkdf_kind *
refused_kind(struct lkdf *rt, const struct refused *t)
{
	const struct lkdf_code code = { .device = driver_name(),
					.image = t->image,
					.bytes = t->bytes,
					.entry = t->entry,
					.function = t->function };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "k",
					      .arg_size = sizeof(uint64_t)),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { t->range ? t->range : DEVICE_NR, 1, 1 },
			    .block = { t->block, 0, 0 },
			    .shared_bytes = t->shared),
		&k));
	return k;
}

/* The task fails so, the text says why, and the next one runs. */
__attribute__((unused)) static void
refused_fails(struct lkdf *rt, struct lkdf_place *p, const struct refused *t,
	      int want, const char *part, const char *what)
{
	struct lkdf_kind *k = refused_kind(rt, t),
			 *good = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	uint64_t one = 1;

	is(device_call(rt, k, p, d, &one), want, "%s: the error", what);
	has(lkdf_errmsg(), part, "%s: \"%s\" is in the text", what, part);
	lkdf_data_put(d);
	d = device_data(rt, DEVICE_NR, 1);
	is(device_call(rt, good, p, d, &one), 0, "%s: the next kernel runs",
	   what);
	is(device_first_wrong(d, DEVICE_NR, 2), -1, "%s: and is right", what);
	lkdf_data_put(d);
	lkdf_kind_put(good);
	lkdf_kind_put(k);
}

#endif
