/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenCL's devices: what they are, code that does not compile, parameters and
 * blocks that do not fit, tasks above the device's memory, ranges and memory of
 * a block, bodies on the launcher. Each error says why and leaves the runtime
 * whole: the next kernel runs.
 */
#include "tests/api/device/refused.h"

#define NR DEVICE_NR

static struct lkdf *rt;
static struct lkdf_place *place;
static bool is_limited; /* to 1 GiB, as POCL was told */

static struct lkdf_kind *kind_of(const char *text, const char *entry,
				 uint32_t block)
{
	return refused_kind(rt, &(struct refused){ .image = text,
						   .entry = entry,
						   .block = block });
}

static void fails(const char *text, const char *entry, uint32_t block, int want,
		  const char *part, const char *what)
{
	refused_fails(rt, place,
		      &(struct refused){
			      .image = text, .entry = entry, .block = block },
		      want, part, what);
}

static void a_device_tells_what_it_is(void)
{
	struct lkdf_device_info i = { .size = sizeof(i) };

	is(lkdf_place_info(place, &i), 0, "a device has an info");
	ok(i.name[0], "its name: %s", i.name);
	ok(i.memory && i.units && i.max_block && i.block_shared,
	   "memory, units, block and shared memory are known");
	is_limited = i.memory == 1ull << 30;
	ok(i.max_value_bytes >= 256, "values of a launch: %u bytes",
	   i.max_value_bytes);
}

static void code_that_is_wrong_is_explained(void)
{
	fails("kernel void f(global ulong *x, ulong y)\n{\n oops; }", "f", 0,
	      -ENOEXEC, "f:3", "a text that is no C");
	fails(device_text, "no_such", 0, -ENOEXEC, "no_such",
	      "an entry that is missing");
	fails(device_text, NULL, 0, -EINVAL, "entry is NULL",
	      "no entry for three kernels");
}

static void the_only_kernel_needs_no_entry(void)
{
	struct lkdf_kind *k =
		kind_of("kernel void f(global ulong *x, ulong y)\n"
			"{\n\tx[get_global_id(0)] = y;\n}\n",
			NULL, 16);
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t arg = 9;

	is(device_call(rt, k, place, d, &arg), 0, "a text with one kernel");
	is(device_first_wrong(d, NR, 9), -1, "it ran in blocks of 16");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void what_does_not_fit_is_refused(void)
{
	fails("kernel void f(global ulong *x) { }", "f", 0, -EINVAL,
	      "no parameter 1", "a parameter too many");
	fails("kernel void f(global ulong *x, uint y) { }", "f", 0, -EINVAL,
	      "not of 8 bytes", "a parameter of another size");
	fails("kernel void f(global ulong *x, ulong y, int z) { }", "f", 0,
	      -EINVAL, "INVALID_KERNEL_ARGS", "a parameter too few");
	fails(device_text, "do_add", 1 << 20, -EINVAL, "block",
	      "a block too large");
}

static void a_task_above_the_memory_fails(void)
{
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = NULL;
	struct lkdf_use use = { NULL, LKDF_WRITE, 0 };
	struct lkdf_event done;
	uint64_t arg = 1;

	if (!is_limited) {
		skip("1.5 GiB do not fit into 1 GiB", "another driver");
		lkdf_kind_put(k);
		return;
	}
	/* Nobody touches its bytes. */
	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 3ull << 29),
			      &d));
	use.data = d;
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &arg, .place = place,
				   .use = &use, .nr_use = 1),
			 &done));
	is(lkdf_event_wait(done, -1), -ENOMEM, "1.5 GiB do not fit into 1 GiB");
	has(lkdf_errmsg(), "1610612736", "the text has the number");
	lkdf_data_put(d);
	d = device_data(rt, NR, 1);
	is(device_call(rt, k, place, d, &arg), 0, "the next kernel runs");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* Three dimensions, memory of a block, parts of the argument. */
static void all_parameters_arrive(void)
{
	static const char text[] =
		"kernel void f(ushort a, global uint *x, local uint *l, uint b)\n"
		"{\n"
		"\tuint t = get_local_id(0);\n"
		"\tl[t] = get_global_id(0) + 4 * get_global_id(1) +\n"
		"\t       8 * get_global_id(2);\n"
		"\tbarrier(CLK_LOCAL_MEM_FENCE);\n"
		"\tx[l[t]] = a + b + l[t ^ 1];\n"
		"}\n";
	static const uint16_t a = 1000;
	const struct lkdf_code code = { .device = "opencl", .image = text };
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_VALUE, .bytes = 2, .value = &a },
		{ .from = LKDF_PARAM_USE },
		{ .from = LKDF_PARAM_LOCAL, .bytes = 2 * sizeof(uint32_t) },
		{ .from = LKDF_PARAM_TASK, .first = 4, .bytes = 4 },
	};
	const uint32_t arg[] = { 77, 100 };
	struct lkdf_kind *k = NULL;
	struct lkdf_data *d = device_data(rt, NR, 0);
	uint32_t i, *x, wrong = 0;
	void *bytes;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "f",
					      .arg_size = sizeof(arg)),
			    .code = &code, .nr_code = 1, .param = param,
			    .nr_param = 4, .range_from = LKDF_RANGE_VALUE,
			    .range = { 4, 2, 3 }, .block = { 2, 1, 1 }),
		&k));
	is(device_call(rt, k, place, d, arg), 0,
	   "values, uses, memory of a block and three dimensions");
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, x = bytes; i < 24; i++)
		wrong += x[i] != 1100 + (i ^ 1);
	is(wrong, 0, "each of 24 items has them");
	lkdf_data_release(d);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static int say_queue(struct lkdf_ctx *c, void *arg, void *queue)
{
	(void)c;
	*(void **)arg = queue;
	return 0;
}

static void a_body_gets_the_queue(void)
{
	struct lkdf_data *d = device_data(rt, NR, 3);
	struct lkdf_kind *k = NULL;
	void *queue = NULL;

	must(lkdf_kind_create_kernel(rt,
				     LKDF_KERNEL(.kind = LKDF_KIND(.name = "q"),
						 .enqueue = say_queue),
				     &k));
	is(device_call(rt, k, place, d, &queue), 0, "a body on the launcher");
	ok(queue, "has a queue");
	is(device_first_wrong(d, NR, 3), -1, "bytes went there and back");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static int touch_nothing(struct lkdf_ctx *c, void *arg, void *queue)
{
	(void)c;
	(void)arg;
	(void)queue;
	return 0;
}

/* Uses the whole and the second part, which begins at byte at. */
static int call_with_part(struct lkdf_kind *k, struct lkdf_data *d, uint64_t at)
{
	const struct lkdf_use use[] = { { d, LKDF_RW, 0 }, { d, LKDF_RW, 2 } };
	struct lkdf_event done;
	uint64_t by = 5;

	must(lkdf_data_split(d, (uint32_t)(NR * sizeof(uint64_t) / at), at));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &by, .place = place,
				   .use = use, .nr_use = 2),
			 &done));
	return lkdf_event_wait(done, -1);
}

static void a_part_of_a_whole_has_no_address(void)
{
	static const char text[] =
		"kernel void f(global ulong *x, global ulong *y, ulong by)\n"
		"{\n\tuint i = get_global_id(0) / 2;\n"
		"\tx[i] = y[i] = by;\n}\n";
	struct lkdf_data *d[3];
	struct lkdf_kind *k = kind_of(text, "f", 0), *q = NULL;
	unsigned i;

	for (i = 0; i < 3; i++)
		d[i] = device_data(rt, NR, i);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "q",
					      .arg_size = sizeof(uint64_t)),
			    .enqueue = touch_nothing),
		&q));
	is(call_with_part(q, d[0], NR * 4), -EOPNOTSUPP,
	   "a part beside its whole is nothing to give to enqueue()");
	has(lkdf_errmsg(), "use 1 is a part of use 0", "the text names both");
	is(call_with_part(k, d[1], 8), -EINVAL,
	   "a part that is not aligned for the device");
	has(lkdf_errmsg(), "parameter 1 is a part at byte 8",
	    "the text names the parameter");
	is(call_with_part(k, d[2], NR * 4), 0, "one that is aligned");
	is(device_first_wrong(d[2], NR, 5), -1, "the kernel has both");
	for (i = 0; i < 3; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(k);
	lkdf_kind_put(q);
}

static void why_there_are_none(void)
{
	struct lkdf *none = api_open("workers=1");
	struct lkdf_place *p;

	is(lkdf_places(none, LKDF_PLACE_GPU, &p, 1), 0,
	   "no device where nobody asked");
	has(lkdf_errmsg(), "devices", "the text names the option");
	lkdf_close(none);
	none = api_open("workers=1,devices=opencl,"
			"opencl_library=libno-such.so.1");
	is(lkdf_places(none, LKDF_PLACE_GPU, &p, 1), 0,
	   "none without the library");
	has(lkdf_errmsg(), "libno-such.so.1", "the text names the library");
	lkdf_close(none);
}

int main(void)
{
	struct lkdf_place *v[2];

	tap_start(120);
	setenv("POCL_MEMORY_LIMIT", "1", 1);
	opencl_env("pthread");
	why_there_are_none();
	rt = api_open("workers=2,devices=opencl");
	if (lkdf_places(rt, LKDF_PLACE_GPU, v, 2) < 1) {
		skip("kernels run on OpenCL's devices", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	place = v[0];
	device_is_real = true;
	a_device_tells_what_it_is();
	code_that_is_wrong_is_explained();
	the_only_kernel_needs_no_entry();
	what_does_not_fit_is_refused();
	a_task_above_the_memory_fails();
	all_parameters_arrive();
	a_body_gets_the_queue();
	a_part_of_a_whole_has_no_address();
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
