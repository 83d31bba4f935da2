/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the tests of bytes that are away share: bodies, calls, fetches counted.
 */
#ifndef TESTS_API_DEVICE_AWAY_H
#define TESTS_API_DEVICE_AWAY_H

#include "tests/api/device/device.h"

#define NR DEVICE_NR

/* Data of the test that came home so far. */
__attribute__((unused)) static uint64_t fetched(struct lkdf *rt)
{
	uint64_t nr;

	must(lkdf_stat(rt, "lkdf.device.fetched_bytes", &nr));
	return nr / (NR * sizeof(uint64_t));
}

/* The same, of what went there. */
__attribute__((unused)) static uint64_t uploaded(struct lkdf *rt)
{
	uint64_t nr;

	must(lkdf_stat(rt, "lkdf.device.uploaded_bytes", &nr));
	return nr / (NR * sizeof(uint64_t));
}

/* Does the device have memory of its own? */
__attribute__((unused)) static bool carries(const char *how)
{
	return !strstr(how, "host");
}

/* Use 0 is all of one value, the argument. */
__attribute__((unused)) static int expect_all(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *x = lkdf_ptr(c, 0);
	uint64_t i;

	for (i = 0; i < NR; i++)
		if (x[i] != *(uint64_t *)arg)
			return lkdf_fail(c, -EBADMSG, "[%llu] is %llu",
					 (unsigned long long)i,
					 (unsigned long long)x[i]);
	return 0;
}

__attribute__((unused)) static int add_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0), i;

	for (i = 0; i < NR; i++)
		x[i] += *(uint64_t *)arg;
	return 0;
}

__attribute__((unused)) static int call(struct lkdf *rt, struct lkdf_kind *k,
					struct lkdf_place *p,
					struct lkdf_data *d, uint32_t mode,
					uint64_t arg)
{
	const struct lkdf_use use = { d, mode, 0 };
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &arg, .place = p,
				   .use = &use, .nr_use = 1),
			 &done));
	return lkdf_event_wait(done, -1);
}

#endif
