/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels that are bodies of loops: parameters by their types, ranges that
 * begin anywhere, in blocks and without, one thread for all items, a compiler's
 * message with the line of the body; what is refused, by name.
 */
#include "tests/api/device/device.h"

#define NR DEVICE_NR

static struct lkdf *rt;

static const char *const saxpy_types[] = { "float", "GLOBAL const float *",
					   "GLOBAL float *" };

/* y += a x for items of the argument's range; a is behind it. */
struct saxpy_arg {
	uint64_t range[3];
	float a;
};

static const struct lkdf_param saxpy_params[] = {
	{ .from = LKDF_PARAM_TASK,
	  .first = offsetof(struct saxpy_arg, a),
	  .bytes = sizeof(float) },
	{ .from = LKDF_PARAM_USE, .first = 0, .nr = 2 },
};

static struct lkdf_kernel_attr saxpy_attr(const struct lkdf_kind_attr *kind,
					  const struct lkdf_code *code)
{
	return (struct lkdf_kernel_attr){
		.size = sizeof(struct lkdf_kernel_attr),
		.flags = LKDF_KERNEL_LOOP,
		.kind = kind,
		.code = code,
		.nr_code = 1,
		.param = saxpy_params,
		.nr_param = 2,
		.range_from = LKDF_RANGE_TASK,
		.type = saxpy_types,
		.nr_type = 3,
	};
}

static struct lkdf_code saxpy_code = {
	.device = "opencl",
	.image = "if (p1[i] < 0)\n\treturn;\np2[i] += p0 * p1[i];",
};

static struct lkdf_data *floats(uint64_t nr, float step)
{
	float *init = malloc(nr * sizeof(*init));
	struct lkdf_data *d = NULL;
	uint64_t i;

	for (i = 0; i < nr; i++)
		init[i] = i % 7 == 3 ? -1 : step * (float)i;
	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = nr * sizeof(*init),
				   .init = init),
			      &d));
	free(init);
	return d;
}

/* How many of y are not y + a x. */
static uint64_t count_wrong(struct lkdf_data *y, uint64_t nr, uint64_t from,
			    float a)
{
	uint64_t i, wrong = 0;
	float *v, want;
	void *bytes;

	must(lkdf_data_acquire(y, LKDF_READ, -1, &bytes));
	for (i = 0, v = bytes; i < nr; i++) {
		want = i % 7 == 3 ? -1 : 2 * (float)i;
		if (i >= from && i % 7 != 3)
			want += a * (float)i;
		wrong += v[i] > want || v[i] < want;
	}
	lkdf_data_release(y);
	return wrong;
}

static void saxpy_is_right(struct lkdf_place *p, uint32_t flags, uint32_t block,
			   uint64_t begin, const char *what)
{
	enum {
		N = 1000
	};
	const struct lkdf_kind_attr kind = { .size = sizeof(kind),
					     .name = "saxpy",
					     .arg_size =
						     sizeof(struct saxpy_arg) };
	struct lkdf_kernel_attr a = saxpy_attr(&kind, &saxpy_code);
	struct saxpy_arg arg = { { N - begin, 1, 1 }, 0.5f };
	struct lkdf_data *x = floats(N, 1), *y = floats(N, 2);
	const struct lkdf_use use[] = { { x, LKDF_READ, 0 },
					{ y, LKDF_RW, 0 } };
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;

	a.flags |= flags;
	a.block[0] = block;
	a.begin[0] = begin;
	must(lkdf_kind_create_kernel(rt, &a, &k));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &arg, .place = p,
				   .use = use, .nr_use = 2),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "%s: it runs", what);
	is(count_wrong(y, N, begin, 0.5f), 0, "%s: each item once", what);
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_kind_put(k);
}

/* The sum of all before it: only one thread, in order, gets that right. */
static void one_thread_takes_all_in_order(void)
{
	static const char *const types[] = { "GLOBAL ulong *" };
	const struct lkdf_code code = {
		.device = driver_name(),
		.image = "ulong at = i + 8 * j;\n"
			 "p0[at] = at ? p0[at - 1] + at : 0;",
	};
	const struct lkdf_param param = { .from = LKDF_PARAM_USE };
	struct lkdf_data *d = device_data(rt, NR, 5);
	struct lkdf_kind *k = NULL;
	uint64_t i, *x, wrong = 0;
	void *bytes;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "sum"), .code = &code,
			    .nr_code = 1,
			    .flags = LKDF_KERNEL_LOOP | LKDF_KERNEL_SERIAL,
			    .param = &param, .nr_param = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { 8, 8, 1 }, .block = { 4, 4, 1 },
			    .type = types, .nr_type = 1),
		&k));
	is(device_call(rt, k, NULL, d, NULL), 0,
	   "one thread, two dimensions, no place");
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, x = bytes; i < NR; i++)
		wrong += x[i] != i * (i + 1) / 2;
	is(wrong, 0, "it takes all items in their order");
	lkdf_data_release(d);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void errors_name_lines_of_the_body(void)
{
	const struct lkdf_code code = { .device = driver_name(),
					.image = "float x = p0;\nx = oops;",
					.entry = "broken" };
	const struct lkdf_kind_attr kind = { .size = sizeof(kind),
					     .name = "saxpy",
					     .arg_size =
						     sizeof(struct saxpy_arg) };
	struct lkdf_kernel_attr a = saxpy_attr(&kind, &code);
	struct saxpy_arg arg = { { 10, 1, 1 }, 0.5f };
	struct lkdf_data *x = floats(10, 1), *y = floats(10, 2);
	const struct lkdf_use use[] = { { x, LKDF_READ, 0 },
					{ y, LKDF_RW, 0 } };
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;

	must(lkdf_kind_create_kernel(rt, &a, &k));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &arg, .use = use,
				   .nr_use = 2),
			 &done));
	is(lkdf_event_wait(done, -1), -ENOEXEC, "a body that is no C");
	has(lkdf_errmsg(), "broken:2", "the text names its line");
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_kind_put(k);
}

static void refused(struct lkdf_kernel_attr a, int want, const char *part)
{
	struct lkdf_kind *k = NULL;

	is(lkdf_kind_create_kernel(rt, &a, &k), want, "refused: %s", part);
	has(lkdf_errmsg(), part, "by name");
}

static void bad_fields_are_named(void)
{
	static const char *const odd[] = { "float", "GLOBAL const float *",
					   "float[3]" };
	const struct lkdf_code emu = { .device = "emu", .image = ";" };
	const struct lkdf_code made = { .device = "opencl", .function = &rt };
	const struct lkdf_code name = { .device = "opencl",
					.image = ";",
					.entry = "1st" };
	const struct lkdf_kind_attr kind = { .size = sizeof(kind),
					     .name = "saxpy",
					     .arg_size =
						     sizeof(struct saxpy_arg) };
	struct lkdf_kernel_attr a = saxpy_attr(&kind, &saxpy_code);

	a.nr_type = 2;
	refused(a, -EINVAL, "2 types for 3 parameters");
	a = saxpy_attr(&kind, &saxpy_code);
	a.type = odd;
	refused(a, -EINVAL, "float[3]");
	a = saxpy_attr(&kind, &saxpy_code);
	a.type = NULL;
	refused(a, -EINVAL, "type is NULL");
	a = saxpy_attr(&kind, &saxpy_code);
	a.range_from = LKDF_RANGE_NONE;
	refused(a, -EINVAL, "a range is needed");
	refused(saxpy_attr(&kind, &emu), -EINVAL, "expected opencl or cuda");
	refused(saxpy_attr(&kind, &made), -EINVAL, "not a function");
	refused(saxpy_attr(&kind, &name), -EINVAL, "1st");
	a = saxpy_attr(&kind, &saxpy_code);
	a.flags = 0;
	refused(a, -EINVAL, "for LKDF_KERNEL_LOOP");
	a = saxpy_attr(&kind, &saxpy_code);
	a.carveout = LKDF_CARVEOUT(101);
	refused(a, -EINVAL, "carveout");
}

int main(void)
{
	struct lkdf_place *p;

	tap_start(120);
	driver_env("pthread");
	saxpy_code.device = driver_name();
	rt = api_open(driver_options("workers=2"));
	bad_fields_are_named();
	if (!driver_places(rt, &p, 1)) {
		skip("loops run on OpenCL's devices", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	saxpy_is_right(p, 0, 0, 0, "the driver's blocks");
	saxpy_is_right(p, 0, 64, 0, "blocks of 64");
	saxpy_is_right(p, 0, 64, 123, "items from 123 on");
	saxpy_is_right(NULL, LKDF_KERNEL_SERIAL, 64, 0, "one thread");
	one_thread_takes_all_in_order();
	errors_name_lines_of_the_body();
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
