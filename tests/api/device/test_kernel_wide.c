/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values of loops and folds that are more than a launch takes: the text that
 * the library makes has their addresses, nobody asks for that. Values that fit
 * stay values. The structures are wider than what the device says it takes.
 */
#include "tests/api/device/device.h"

#include <lkdf/kernel.h>

#define ITEMS 300

static struct lkdf *rt;
static struct lkdf_place *place;
static uint32_t nr_wide; /* numbers of the structure */
static char top[128];
static const char *const types[] = { "GLOBAL unsigned long *", "struct wide",
				     "unsigned long", "struct wide" };

/* Range, a number, then nr_wide numbers. */
static uint64_t *make_arg(uint64_t factor)
{
	uint64_t *a = malloc((4 + nr_wide) * sizeof(*a));
	uint32_t i;

	a[0] = ITEMS;
	a[1] = a[2] = 1;
	a[3] = factor;
	for (i = 0; i < nr_wide; i++)
		a[4 + i] = factor * i;
	return a;
}

static uint64_t *make_constant(void)
{
	uint64_t *v = malloc(nr_wide * sizeof(*v));
	uint32_t i;

	for (i = 0; i < nr_wide; i++)
		v[i] = 1000000 * (uint64_t)i;
	return v;
}

static uint64_t count_wrong(struct lkdf_data *d, uint64_t (*want)(uint64_t))
{
	uint64_t i, wrong = 0, *v;
	void *bytes;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, v = bytes; i < ITEMS; i++)
		wrong += v[i] != want(i);
	must(lkdf_data_release(d));
	return wrong;
}

static int call(struct lkdf_kind *k, struct lkdf_data *d, const void *arg)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = arg, .place = place,
				   .use = &use, .nr_use = 1),
			 &done));
	return lkdf_event_wait(done, -1);
}

/* Of a constant, the argument's number and its structure. */
static uint64_t all_three(uint64_t i)
{
	return 1000000 * (i % nr_wide) + 5 + 5 * (i % nr_wide);
}

static void loops_take_wide_values(void)
{
	uint64_t *constant = make_constant(), *arg = make_arg(5);
	uint32_t wide = nr_wide * (uint32_t)sizeof(*arg);
	const struct lkdf_code code = {
		.device = driver_name(),
		.image = "p0[i] = p1.v[i % NR] + p2 + p3.v[i % NR];",
	};
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_USE },
		{ .from = LKDF_PARAM_VALUE, .value = constant, .bytes = wide },
		{ .from = LKDF_PARAM_TASK, .first = 24, .bytes = 8 },
		{ .from = LKDF_PARAM_TASK, .first = 32, .bytes = wide },
	};
	struct lkdf_data *d = device_data(rt, ITEMS, 1);
	struct lkdf_kind *k = NULL;
	int i, rc = 0;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "wide",
					      .arg_size = 32 + wide),
			    .code = &code, .nr_code = 1,
			    .flags = LKDF_KERNEL_LOOP, .param = param,
			    .nr_param = 4, .range_from = LKDF_RANGE_TASK,
			    .type = types, .nr_type = 4, .top = top),
		&k));
	for (i = 0; i < 3; i++)
		rc |= call(k, d, arg);
	is(rc, 0, "a loop with two values of %u bytes runs: %s", wide,
	   rc ? lkdf_errmsg() : "no error");
	is(count_wrong(d, all_three), 0, "each item is right");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	free(constant);
	free(arg);
}

static uint64_t of_argument(uint64_t i)
{
	return 7 * (i % nr_wide);
}

/* Without param the argument is the last one. */
static void a_wide_argument(void)
{
	static const char *const words[] = { "GLOBAL unsigned long *",
					     "struct wide" };
	uint64_t *arg = make_arg(7);
	const struct lkdf_code code = { .device = driver_name(),
					.image = "p0[i] = p1.v[i % NR];" };
	struct lkdf_data *d = device_data(rt, ITEMS, 1);
	struct lkdf_kind *k = NULL;
	int rc;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "argument",
					      .arg_size = nr_wide * 8),
			    .code = &code, .nr_code = 1,
			    .flags = LKDF_KERNEL_LOOP,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { ITEMS, 1, 1 }, .type = words,
			    .nr_type = 2, .top = top),
		&k));
	rc = call(k, d, arg + 4);
	is(rc, 0, "so does one without parameters: %s",
	   rc ? lkdf_errmsg() : "no error");
	is(count_wrong(d, of_argument), 0, "each item is right");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	free(arg);
}

static uint64_t sum_to(uint64_t i)
{
	uint64_t at, sum = 0;

	for (at = 0; at <= i; at++)
		sum += 1000000 * (at % nr_wide) + 3 * (at % nr_wide) + at;
	return sum;
}

static uint64_t sum_of_all(uint64_t i)
{
	return i ? 1 : sum_to(ITEMS - 1);
}

/* Both levels over all items have the values. */
static void folds_take_wide_values(uint32_t sort, uint64_t (*want)(uint64_t),
				   const char *what)
{
	static const char *const words[] = { "struct wide", "struct wide" };
	uint64_t *constant = make_constant(), *arg = make_arg(3);
	uint32_t wide = nr_wide * (uint32_t)sizeof(*arg);
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_VALUE, .value = constant, .bytes = wide },
		{ .from = LKDF_PARAM_TASK, .first = 32, .bytes = wide },
	};
	struct lkdf_data *d = device_data(rt, ITEMS, 1);
	struct lkdf_kind *k = NULL;
	int rc;

	must(lkdf_kind_create_fold(
		rt,
		LKDF_FOLD(.sort = sort,
			  .kernel = LKDF_KERNEL(.kind = LKDF_KIND(.name = what,
								  .arg_size =
									  32 +
									  wide),
						.param = param, .nr_param = 2,
						.range_from = LKDF_RANGE_TASK,
						.block = { 32 }, .type = words,
						.nr_type = 2, .top = top),
			  .value = "unsigned long", .value_size = 8,
			  .init = "p0.v[i % NR] + p1.v[i % NR] + i",
			  .join = "a + b", .neutral = "0"),
		&k));
	rc = call(k, d, arg);
	is(rc, 0, "a %s does: %s", what, rc ? lkdf_errmsg() : "no error");
	is(count_wrong(d, want), 0, "its result is right");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	free(constant);
	free(arg);
}

int main(void)
{
	struct lkdf_device_info info = { .size = sizeof(info) };

	tap_start(120);
	driver_env("pthread");
	rt = api_open(driver_options("workers=2"));
	if (!driver_places(rt, &place, 1)) {
		skip("loops run on the driver's devices", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	must(lkdf_place_info(place, &info));
	nr_wide = info.max_value_bytes / 8 + 8;
	snprintf(top, sizeof(top),
		 "#define NR %u\nstruct wide { unsigned long v[NR]; };\n",
		 nr_wide);
	loops_take_wide_values();
	a_wide_argument();
	folds_take_wide_values(LKDF_FOLD_SCAN, sum_to, "scan");
	folds_take_wide_values(LKDF_FOLD_REDUCE, sum_of_all, "reduction");
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
