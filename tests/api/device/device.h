/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of devices share: kernels of the emulated device, data of
 * uint64_t, and one run of a test for each sort of device.
 */
#ifndef TESTS_API_DEVICE_DEVICE_H
#define TESTS_API_DEVICE_DEVICE_H

#include "tests/driver.h"
#include "tests/emu/emu.h"

#define DEVICE_NR 64 /* uint64_t of a data that kernels of OpenCL use */

/* x[i] += value, for all items of the range. */
__attribute__((unused)) static void device_add(struct emu *e,
					       const struct lkdf_launch *l)
{
	uint64_t *x = emu_at(e, l, 0), by, i;

	memcpy(&by, l->arg[1].value, sizeof(by));
	for (i = 0; i < l->arg[0].bytes / sizeof(*x); i++)
		x[i] += by;
}

/* x[i] = 3 * x[i] + value: the order of two of them tells. */
__attribute__((unused)) static void device_step(struct emu *e,
						const struct lkdf_launch *l)
{
	uint64_t *x = emu_at(e, l, 0), by, i;

	memcpy(&by, l->arg[1].value, sizeof(by));
	for (i = 0; i < l->arg[0].bytes / sizeof(*x); i++)
		x[i] = 3 * x[i] + by;
}

/* to[i] = from[i] + value; to is written only. */
__attribute__((unused)) static void device_copy(struct emu *e,
						const struct lkdf_launch *l)
{
	uint64_t *from = emu_at(e, l, 0), *to = emu_at(e, l, 1), by, i;

	memcpy(&by, l->arg[2].value, sizeof(by));
	for (i = 0; i < l->arg[1].bytes / sizeof(*to); i++)
		to[i] = from[i] + by;
}

static const struct emu_kernel device_kernels[] = {
	{ "add", device_add },
	{ "step", device_step },
	{ "copy", device_copy },
	{ NULL, NULL },
};

/* The same kernels for the driver, in OpenCL C. */
static const char device_text[] =
	"kernel void do_add(global ulong *x, ulong by)\n"
	"{\n\tx[get_global_id(0)] += by;\n}\n"
	"kernel void do_step(global ulong *x, ulong by)\n"
	"{\n\tx[get_global_id(0)] = 3 * x[get_global_id(0)] + by;\n}\n"
	"kernel void do_copy(global const ulong *from, global ulong *to, ulong by)\n"
	"{\n\tto[get_global_id(0)] = from[get_global_id(0)] + by;\n}\n";

/* Of the test that runs: its device is one of the driver. */
static bool device_is_real;

/* All uses, then a uint64_t. */
__attribute__((unused)) static struct lkdf_kind *
device_kind_with(struct lkdf *rt, const char *name, lkdf_fn fn)
{
	char entry[16];
	const struct lkdf_code code[] = {
		{ .device = "emu", .image = name },
		{ .device = driver_name(),
		  .image = driver_text(device_text),
		  .entry = entry },
	};
	struct lkdf_kind *k = NULL;

	/* step() is a function of OpenCL C. */
	snprintf(entry, sizeof(entry), "do_%s", name);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = name, .fn = fn,
					      .arg_size = sizeof(uint64_t)),
			    .code = code, .nr_code = 2,
			    .range_from = device_is_real ? LKDF_RANGE_VALUE
							 : LKDF_RANGE_NONE,
			    .range = { DEVICE_NR, 1, 1 }),
		&k));
	return k;
}

__attribute__((unused)) static struct lkdf_kind *device_kind(struct lkdf *rt,
							     const char *name)
{
	return device_kind_with(rt, name, NULL);
}

/* nr uint64_t of one value. */
__attribute__((unused)) static struct lkdf_data *
device_data(struct lkdf *rt, uint64_t nr, uint64_t value)
{
	uint64_t *init = malloc(nr * sizeof(*init)), i;
	struct lkdf_data *d = NULL;

	for (i = 0; i < nr; i++)
		init[i] = value;
	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = nr * sizeof(*init),
				   .init = init),
			      &d));
	free(init);
	return d;
}

/* The index of the first that is not so; -1: all are. */
__attribute__((unused)) static long
device_first_wrong(struct lkdf_data *d, uint64_t nr, uint64_t value)
{
	uint64_t *x, i;
	long at = -1;
	void *bytes;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, x = bytes; i < nr && at < 0; i++)
		if (x[i] != value) {
			printf("# [%llu] is %llu\n", (unsigned long long)i,
			       (unsigned long long)x[i]);
			at = (long)i;
		}
	lkdf_data_release(d);
	return at;
}

__attribute__((unused)) static struct lkdf_event
device_submit(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p,
	      struct lkdf_data *d, const void *arg)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = arg, .place = p,
				   .use = &use, .nr_use = 1),
			 &done));
	return done;
}

/* One RW use of d, and waits; the error. */
__attribute__((unused)) static int
device_call(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p,
	    struct lkdf_data *d, const void *arg)
{
	return lkdf_event_wait(device_submit(rt, k, p, d, arg), -1);
}

/* A task may still be ending when its data is there. */
__attribute__((unused)) static int device_close(struct lkdf *rt)
{
	lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt);
}

struct device_sort {
	const char *name;
	unsigned flags;
	const char *options;
};

static const struct device_sort device_sorts[] = {
	{ "host", 0, "workers=2" },
	{ "own", EMU_OWN, "workers=2" },
	{ "own wild", EMU_OWN | EMU_WILD | EMU_BUILDS, "workers=2" },
	{ "host wild", EMU_WILD, "workers=2" },
	{ "own polls", EMU_OWN | EMU_POLLS, "workers=2" },
	{ "own arms", EMU_OWN | EMU_POLLS | EMU_ARMS | EMU_WILD, "workers=1" },
	{ "serial own", EMU_OWN | EMU_WILD, "serial=yes" },
	{ "serial polls", EMU_OWN | EMU_POLLS, "serial=yes" },
	{ "own ordered", EMU_OWN | EMU_ORDERED | EMU_WILD, "workers=2" },
	{ "own ordered quiet", EMU_OWN | EMU_ORDERED | EMU_WILD | EMU_QUIET,
	  "workers=2" },
	{ "own ordered together", EMU_OWN | EMU_ORDERED | EMU_TOGETHER,
	  "workers=2" },
	{ "own ordered wild together",
	  EMU_OWN | EMU_ORDERED | EMU_WILD | EMU_QUIET | EMU_TOGETHER |
		  EMU_POLLS,
	  "workers=2" },
	{ "host ordered", EMU_ORDERED | EMU_WILD, "workers=2" },
	{ "serial ordered", EMU_OWN | EMU_ORDERED | EMU_WILD, "serial=yes" },
	{ "serial host ordered quiet",
	  EMU_ORDERED | EMU_WILD | EMU_QUIET | EMU_POLLS, "serial=yes" },
};

/* On one of three devices of the driver. */
__attribute__((unused)) static void device_driver(
	void (*test)(struct lkdf *rt, struct lkdf_place *p, const char *how),
	const char *options, unsigned at)
{
	struct lkdf_place *p[3];
	char how[64];
	struct lkdf *rt;

	driver_env("pthread basic basic");
	rt = api_open(driver_options(options));
	snprintf(how, sizeof(how), "%s %u, %s", driver_name(), at, options);
	if (driver_places(rt, p, 3)) {
		device_is_real = true;
		test(rt, p[at], how);
		device_is_real = false;
	} else {
		skip(how, lkdf_errmsg());
	}
	is(device_close(rt), 0, "%s: close", how);
}

/* LKDF_TEST_EMULATED=no: another program has run those of the emulated device.
 */
static size_t device_nr_emulated(void)
{
	const char *all = getenv("LKDF_TEST_EMULATED");

	if (all && !strcmp(all, "no"))
		return 0;
	return sizeof(device_sorts) / sizeof(device_sorts[0]);
}

/* On each sort of device and with each sort of threads. */
__attribute__((unused)) static void device_each(
	void (*test)(struct lkdf *rt, struct lkdf_place *p, const char *how))
{
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;
	size_t i;

	for (i = 0; i < device_nr_emulated(); i++) {
		emu_init(&e, device_sorts[i].flags, device_kernels);
		rt = api_open(device_sorts[i].options);
		p = emu_register(rt, &e);
		test(rt, p, device_sorts[i].name);
		is(device_close(rt), 0, "%s: close", device_sorts[i].name);
		emu_check(&e, device_sorts[i].name);
	}
	device_driver(test, "workers=2", 0);
	device_driver(test, "workers=2", 2);
	device_driver(test, "serial=yes", 1);
}

#endif
