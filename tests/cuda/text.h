/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Kernels in CUDA C, of one thread each, and a kind of such a text. */
#ifndef TESTS_CUDA_TEXT_H
#define TESTS_CUDA_TEXT_H

#include "tests/api/device/device.h"

/* Stays until the word at that address is not 0, and writes what it is. */
__attribute__((unused)) static const char stay_text[] =
	"extern \"C\" __global__ void stay(unsigned long *x, unsigned long at)\n"
	"{\n"
	"	volatile unsigned long *flag = (unsigned long *)at;\n"
	"	for (int i = 0; i < 60000 && !*flag; i++)\n"
	"		__nanosleep(1000000);\n"
	"	if (!threadIdx.x)\n"
	"		x[0] = *flag;\n"
	"}\n";

__attribute__((unused)) static struct lkdf_kind *
text_kind(struct lkdf *rt, const char *entry, const char *text)
{
	const struct lkdf_code code = { .device = "cuda",
					.image = text,
					.entry = entry };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = entry,
					      .arg_size = sizeof(uint64_t)),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { 1, 1, 1 }),
		&k));
	return k;
}

/* A kernel of device.h whose value is where the task's argument points to. */
__attribute__((unused)) static struct lkdf_kind *
borrowing_kind(struct lkdf *rt, const char *name)
{
	static const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_USE },
		{ .from = LKDF_PARAM_TASK, .bytes = sizeof(uint64_t) },
	};
	char entry[16];
	const struct lkdf_code code = { .device = driver_name(),
					.image = driver_text(device_text),
					.entry = entry };
	struct lkdf_kind *k = NULL;

	snprintf(entry, sizeof(entry), "do_%s", name);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = name), .code = &code,
			    .nr_code = 1, .param = param, .nr_param = 2,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { DEVICE_NR, 1, 1 }),
		&k));
	return k;
}

#endif
