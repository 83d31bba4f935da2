/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reductions and scans that are described wrongly are refused by name. */
#include "tests/api/device/device.h"

#include <lkdf/kernel.h>

static struct lkdf_kernel_attr plain(const struct lkdf_kind_attr *kind)
{
	return (struct lkdf_kernel_attr){ .size = sizeof(
						  struct lkdf_kernel_attr),
					  .kind = kind,
					  .range_from = LKDF_RANGE_VALUE,
					  .range = { 8, 1, 1 } };
}

static void refused(struct lkdf *rt, struct lkdf_kernel_attr k,
		    struct lkdf_fold_attr f, int want, const char *part)
{
	struct lkdf_kind *made = NULL;

	f.kernel = &k;
	is(lkdf_kind_create_fold(rt, &f, &made), want, "refused: %s", part);
	has(lkdf_errmsg(), part, "by name");
}

static void bad_fields_are_named(struct lkdf *rt)
{
	const struct lkdf_kind_attr kind = { .size = sizeof(kind),
					     .name = "bad" };
	const struct lkdf_code code = { .device = "opencl", .image = ";" };
	const struct lkdf_fold_attr good = { .size = sizeof(good),
					     .value = "int",
					     .value_size = 4,
					     .init = "1",
					     .join = "a + b",
					     .neutral = "0" };
	struct lkdf_kernel_attr k = plain(&kind);
	struct lkdf_fold_attr f = good;

	f.sort = 3;
	refused(rt, k, f, -EINVAL, "sort 3");
	f = good;
	f.join = NULL;
	refused(rt, k, f, -EINVAL, "join");
	f = good;
	f.value_size = 0;
	refused(rt, k, f, -EINVAL, "value_size 0");
	f = good;
	f.value = "int[2]";
	refused(rt, k, f, -EINVAL, "int[2]");
	k.block[0] = 48;
	refused(rt, k, good, -EINVAL, "power of two");
	k = plain(&kind);
	k.code = &code;
	k.nr_code = 1;
	refused(rt, k, good, -EINVAL, "code");
	k = plain(&kind);
	k.range[1] = 2;
	refused(rt, k, good, -EINVAL, "one dimension");
	k = plain(&kind);
	k.min_blocks = 2;
	refused(rt, k, good, -EINVAL, "min_blocks");
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	rt = api_open("workers=1");
	bad_fields_are_named(rt);
	lkdf_close(rt);
	return tap_end();
}
