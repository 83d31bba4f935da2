/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a launch is given: parameters of each sort in their order, the range
 * from wherever it comes, blocks; and what is refused, by name, before the
 * device hears of it.
 */
#include "tests/api/device/device.h"

#define NR 16

/* What the last launch was given. */
static struct {
	struct lkdf_launch launch;
	struct lkdf_arg arg[8];
	uint64_t value[8];
} seen;

static void see(struct emu *e, const struct lkdf_launch *l)
{
	unsigned i;

	(void)e;
	memset(&seen, 0, sizeof(seen));
	seen.launch = *l;
	for (i = 0; i < l->nr_arg && i < 8; i++) {
		seen.arg[i] = l->arg[i];
		if (l->arg[i].sort == LKDF_ARG_BYTES && l->arg[i].bytes <= 8)
			memcpy(&seen.value[i], l->arg[i].value,
			       l->arg[i].bytes);
	}
}

static const struct emu_kernel kernels[] = { { "see", see }, { NULL, NULL } };

static const struct lkdf_code code = { .device = "emu", .image = "see" };

static int create(struct lkdf *rt, struct lkdf_kernel_attr a, uint32_t arg_size,
		  struct lkdf_kind **out)
{
	a.size = sizeof(a);
	a.kind = LKDF_KIND(.name = "see", .arg_size = arg_size);
	if (!a.enqueue) {
		a.code = &code;
		a.nr_code = 1;
	}
	return lkdf_kind_create_kernel(rt, &a, out);
}

static struct lkdf_kind *make(struct lkdf *rt, struct lkdf_kernel_attr a,
			      uint32_t arg_size)
{
	struct lkdf_kind *k = NULL;

	must(create(rt, a, arg_size, &k));
	return k;
}

static int call(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p,
		const void *arg, const struct lkdf_use *use, uint32_t nr)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = arg, .place = p,
				   .use = use, .nr_use = nr),
			 &done));
	return lkdf_event_wait(done, -1);
}

/* Why the task's failure says so: of a scope. */
static void fails(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p,
		  const void *arg, int want, const char *part)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s = NULL;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, LKDF_TASK(.kind = k, .arg = arg, .place = p),
			 NULL));
	is(lkdf_scope_wait(rt, s, -1), want, "it fails: %s", part);
	must(lkdf_scope_error(rt, s, &e));
	has(e.why, part, "and says so");
	lkdf_scope_put(s);
}

static void parameters_come_in_order(struct lkdf *rt, struct lkdf_place *p)
{
	static const uint32_t konst = 42;
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_USE, .first = 1, .nr = 2 },
		{ .from = LKDF_PARAM_VALUE, .bytes = 4, .value = &konst },
		{ .from = LKDF_PARAM_TASK, .first = 8, .bytes = 4 },
		{ .from = LKDF_PARAM_LOCAL, .bytes = 100 },
		{ .from = LKDF_PARAM_TASK, .first = 12 },
	};
	struct lkdf_data *d[3] = { device_data(rt, NR, 0),
				   device_data(rt, NR, 0),
				   device_data(rt, 2 * NR, 0) };
	const struct lkdf_use use[] = { { d[0], LKDF_RW, 0 },
					{ d[1], LKDF_READ, 0 },
					{ d[2], LKDF_WRITE, 0 } };
	const uint32_t arg[] = { 1, 2, 3, 4 };
	struct lkdf_kind *k =
		make(rt,
		     (struct lkdf_kernel_attr){ .param = param,
						.nr_param = 5,
						.block = { 4 },
						.shared_bytes = 28 },
		     sizeof(arg));
	int i;

	is(call(rt, k, p, arg, use, 3), 0, "a kernel with parameters ends");
	is(seen.launch.nr_arg, 6, "each use is one");
	is(seen.arg[0].sort, LKDF_ARG_MEMORY, "a use is memory");
	is(seen.arg[0].mode, LKDF_READ, "with its mode");
	is(seen.arg[1].mode, LKDF_WRITE, "another one");
	is(seen.arg[1].bytes, 2 * NR * 8, "with its bytes");
	is(seen.value[2], 42, "a value");
	is(seen.value[3], 3, "bytes of the argument");
	is(seen.arg[4].sort, LKDF_ARG_LOCAL, "memory of a block");
	is(seen.arg[4].bytes, 100, "so much");
	is(seen.value[5], 4, "the rest of the argument");
	is(seen.launch.block[0], 4, "the block");
	is(seen.launch.block[1], 1, "with the dimensions that were left out");
	is(seen.launch.shared_bytes, 28, "and its shared memory");
	is(seen.launch.range[0], 0, "there is no range");
	for (i = 0; i < 3; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(k);
}

static void one_data_twice_is_one_operand(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_data *d = device_data(rt, NR, 0);
	const struct lkdf_use use[] = { { d, LKDF_READ, 0 },
					{ d, LKDF_RW, 0 } };
	struct lkdf_kind *k = make(rt, (struct lkdf_kernel_attr){ 0 }, 0);

	is(call(rt, k, p, NULL, use, 2), 0, "a data is used twice");
	ok(seen.arg[0].value == seen.arg[1].value, "it is there once");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void ranges_come_from_everywhere(struct lkdf *rt, struct lkdf_place *p)
{
	struct {
		uint64_t other, range[3];
	} arg = { 9, { 5, 6, 7 } };
	struct lkdf_data *d = device_data(rt, 3, 8);
	const struct lkdf_use use = { d, LKDF_READ, 0 };
	const struct lkdf_param none[1] = { { 0 } };
	struct lkdf_kind *k[4] = {
		make(rt,
		     (struct lkdf_kernel_attr){ .range_from = LKDF_RANGE_VALUE,
						.range = { 2, 3, 4 } },
		     0),
		make(rt,
		     (struct lkdf_kernel_attr){ .range_from = LKDF_RANGE_TASK,
						.range_at = 8 },
		     sizeof(arg)),
		make(rt,
		     (struct lkdf_kernel_attr){ .range_from = LKDF_RANGE_USE,
						.param = none },
		     0),
		make(rt,
		     (struct lkdf_kernel_attr){ .range_from = LKDF_RANGE_VALUE,
						.range = { 2, 0, 4 } },
		     0),
	};
	int i;

	is(call(rt, k[0], p, NULL, NULL, 0), 0, "a range by value");
	ok(seen.launch.range[0] == 2 && seen.launch.range[2] == 4, "arrives");
	is(call(rt, k[1], p, &arg, NULL, 0), 0, "a range of the argument");
	ok(seen.launch.range[0] == 5 && seen.launch.range[2] == 7, "arrives");
	is(call(rt, k[2], p, NULL, &use, 1), 0, "a range of a data");
	ok(seen.launch.range[0] == 8 && seen.launch.range[2] == 8, "arrives");
	is(seen.launch.nr_arg, 0, "a use that no parameter names is not given");
	seen.launch.range[0] = 99;
	is(call(rt, k[3], p, NULL, NULL, 0), 0, "a range of nothing");
	is(seen.launch.range[0], 99, "is not launched");
	for (i = 0; i < 4; i++)
		lkdf_kind_put(k[i]);
	lkdf_data_put(d);
}

static void limits_of_the_device_are_kept(struct lkdf *rt, struct lkdf_place *p)
{
	const struct lkdf_param local = { .from = LKDF_PARAM_LOCAL,
					  .bytes = 600 };
	const struct lkdf_param use = { .from = LKDF_PARAM_USE, .first = 3 };
	struct lkdf_kind *k;
	char bytes[300] = "";

	k = make(rt, (struct lkdf_kernel_attr){ .block = { 8, 8, 8 } }, 0);
	fails(rt, k, p, NULL, -EINVAL,
	      "a block of 8 x 8 x 8 threads, device emu has at most 256");
	lkdf_kind_put(k);
	k = make(rt,
		 (struct lkdf_kernel_attr){
			 .param = &local, .nr_param = 1, .shared_bytes = 500 },
		 0);
	fails(rt, k, p, NULL, -EINVAL,
	      "a block has 1100 bytes of memory of its own, on device emu at "
	      "most 1024");
	lkdf_kind_put(k);
	k = make(rt, (struct lkdf_kernel_attr){ 0 }, sizeof(bytes));
	fails(rt, k, p, bytes, -E2BIG,
	      "parameters of 300 bytes, device emu takes 256: "
	      "LKDF_PARAM_TASK_MEMORY and LKDF_PARAM_MEMORY are for more");
	lkdf_kind_put(k);
	k = make(rt,
		 (struct lkdf_kernel_attr){ .range_from = LKDF_RANGE_VALUE,
					    .range = { 1001, 1, 1 },
					    .block = { 10 } },
		 0);
	fails(rt, k, p, NULL, -EINVAL,
	      "101 blocks, device emu has at most 100");
	lkdf_kind_put(k);
	k = make(rt, (struct lkdf_kernel_attr){ .param = &use, .nr_param = 1 },
		 0);
	fails(rt, k, p, NULL, -EINVAL, "parameter 0 is use 3, the task has 0");
	lkdf_kind_put(k);
}

static int submit(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p,
		  const void *arg, const struct lkdf_use *use, uint32_t nr)
{
	return lkdf_submit(rt, NULL,
			   LKDF_TASK(.kind = k, .arg = arg, .place = p,
				     .use = use, .nr_use = nr),
			   NULL);
}

/* Each use is an argument, and so is the argument of the task. */
static void a_launch_has_few_arguments(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k[2] = {
		make(rt, (struct lkdf_kernel_attr){ 0 }, 0),
		make(rt, (struct lkdf_kernel_attr){ 0 }, 8),
	};
	struct lkdf_data *d = device_data(rt, 3, 8);
	struct lkdf_use use[LKDF_MAX_PARAMS + 1];
	struct lkdf_graph *g = NULL;
	char arg[8] = "";
	unsigned i;

	for (i = 0; i <= LKDF_MAX_PARAMS; i++)
		use[i] = (struct lkdf_use){ d, LKDF_READ, 0 };
	must(lkdf_graph_create(rt, NULL, &g));
	is(call(rt, k[0], p, NULL, use, LKDF_MAX_PARAMS), 0, "64 uses");
	is(seen.launch.nr_arg, LKDF_MAX_PARAMS, "are 64 arguments");
	is(submit(rt, k[0], p, NULL, use, LKDF_MAX_PARAMS + 1), -E2BIG,
	   "65 uses are refused");
	has(lkdf_errmsg(), "a launch of 65 arguments, at most 64", "by name");
	is(submit(rt, k[1], p, arg, use, LKDF_MAX_PARAMS), -E2BIG,
	   "and so are 64 beside an argument");
	is(lkdf_graph_add(g, k[0], NULL, use, LKDF_MAX_PARAMS + 1), -E2BIG,
	   "a graph refuses the task as well");
	lkdf_graph_put(g);
	for (i = 0; i < 2; i++)
		lkdf_kind_put(k[i]);
	lkdf_data_put(d);
}

static int nothing(struct lkdf_ctx *c, void *arg, void *queue)
{
	(void)c;
	(void)arg;
	(void)queue;
	return 0;
}

static void refused(struct lkdf *rt, struct lkdf_kernel_attr a, int want,
		    const char *part)
{
	struct lkdf_kind *k = NULL;

	is(create(rt, a, 16, &k), want, "refused: %s", part);
	has(lkdf_errmsg(), part, "by name");
	if (k)
		lkdf_kind_put(k);
}

static void bad_kinds_are_refused(struct lkdf *rt)
{
	const struct lkdf_param task = { .from = LKDF_PARAM_TASK,
					 .first = 9,
					 .bytes = 8 };
	const struct lkdf_param port = { .from = LKDF_PARAM_PORT };
	const struct lkdf_param value = { .from = LKDF_PARAM_VALUE };
	const struct lkdf_param odd = { .from = 77 };
	const struct lkdf_param many = { .nr = LKDF_MAX_PARAMS + 1,
					 .from = LKDF_PARAM_USE };
	const struct lkdf_code two[] = { code, code };
	const struct lkdf_code both = { .device = "emu",
					.image = "x",
					.function = (void *)1 };
	struct lkdf_kernel_attr a = { .size = sizeof(a) };
	struct lkdf_kind *k = NULL;

	refused(rt, (struct lkdf_kernel_attr){ .param = &task, .nr_param = 1 },
		-EINVAL, "bytes 9 to 17 of an argument with arg_size 16");
	refused(rt, (struct lkdf_kernel_attr){ .param = &port, .nr_param = 1 },
		-EINVAL, "parameter 0 is in port 0, the kind has 0");
	refused(rt, (struct lkdf_kernel_attr){ .param = &value, .nr_param = 1 },
		-EINVAL, "VALUE and MEMORY have value and bytes");
	refused(rt, (struct lkdf_kernel_attr){ .param = &odd, .nr_param = 1 },
		-EINVAL, "from 77 is unknown");
	refused(rt, (struct lkdf_kernel_attr){ .nr_param = 1 }, -EINVAL,
		"param is NULL");
	refused(rt, (struct lkdf_kernel_attr){ .nr_param = 65 }, -E2BIG,
		"65 parameters, at most 64");
	refused(rt, (struct lkdf_kernel_attr){ .param = &many, .nr_param = 1 },
		-E2BIG, "a launch of 65 arguments, at most 64");
	refused(rt, (struct lkdf_kernel_attr){ .flags = LKDF_KERNEL_SERIAL },
		-EOPNOTSUPP, "LKDF_KERNEL_SERIAL without a loop");
	refused(rt, (struct lkdf_kernel_attr){ .min_blocks = 2 }, -EOPNOTSUPP,
		"min_blocks without a loop");
	refused(rt, (struct lkdf_kernel_attr){ .flags = 64 }, -EINVAL,
		"unknown flags 0x40");
	refused(rt, (struct lkdf_kernel_attr){ .block = { 0, 2 } }, -EINVAL,
		"block is 0, 2, 0");
	refused(rt, (struct lkdf_kernel_attr){ .range_from = LKDF_RANGE_TASK },
		-EINVAL, "a range at byte 0 of an argument with arg_size 16");
	is(lkdf_kind_create_kernel(rt, &a, &k), -EINVAL, "a kind is missing");
	a.kind = LKDF_KIND(.name = "x");
	is(lkdf_kind_create_kernel(rt, &a, &k), -EINVAL, "code is missing");
	has(lkdf_errmsg(), "either code or enqueue", "by name");
	a.code = two;
	a.nr_code = 2;
	is(lkdf_kind_create_kernel(rt, &a, &k), -EINVAL, "code twice");
	has(lkdf_errmsg(), "codes 0 and 1 are both for emu", "by name");
	a.enqueue = nothing;
	is(lkdf_kind_create_kernel(rt, &a, &k), -EINVAL, "code and enqueue");
	a.enqueue = NULL;
	a.code = &both;
	a.nr_code = 1;
	is(lkdf_kind_create_kernel(rt, &a, &k), -EINVAL, "image and function");
	a.code = &code;
	a.kind = LKDF_KIND(.name = "x", .flags = LKDF_BLOCKING);
	is(lkdf_kind_create_kernel(rt, &a, &k), -EINVAL, "BLOCKING");
}

static void uses_that_kernels_cannot_have(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k = make(rt, (struct lkdf_kernel_attr){ 0 }, 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_use use = { d, LKDF_RW | LKDF_MAYBE, 0 };
	struct lkdf_graph *g = api_graph(rt, 1);

	is(lkdf_submit(rt, NULL,
		       LKDF_TASK(.kind = k, .place = p, .use = &use,
				 .nr_use = 1),
		       NULL),
	   -EOPNOTSUPP, "a use with MAYBE is refused");
	has(lkdf_errmsg(), "LKDF_MAYBE is not built yet", "by name");
	use.mode = LKDF_READ | LKDF_WEAK;
	is(lkdf_graph_add(g, k, NULL, &use, 1), -EOPNOTSUPP,
	   "one with WEAK as well, in a graph");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void a_range_needs_a_device_with_ranges(struct lkdf *rt)
{
	struct lkdf_kind *k =
		make(rt,
		     (struct lkdf_kernel_attr){ .range_from = LKDF_RANGE_VALUE,
						.range = { 1, 1, 1 } },
		     0);
	struct lkdf_device_ops ops;
	struct lkdf_place *p = NULL;
	static struct emu e;

	emu_init(&e, 0, kernels);
	ops = emu_ops(&e);
	ops.flags &= ~(uint32_t)LKDF_DEVICE_RANGES;
	must(lkdf_place_register(rt, &ops, &e, &p));
	is(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), NULL),
	   -EINVAL, "a range on a device without ranges is refused");
	has(lkdf_errmsg(), "kernel see has a range, device emu has not",
	    "by name");
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;

	tap_start(60);
	emu_init(&e, EMU_OWN, kernels);
	e.info.max_block = 256;
	e.info.block_shared = 1024;
	e.info.max_value_bytes = 256;
	e.info.max_grid[0] = 100;
	rt = api_open_workers(2);
	p = emu_register(rt, &e);
	parameters_come_in_order(rt, p);
	one_data_twice_is_one_operand(rt, p);
	ranges_come_from_everywhere(rt, p);
	limits_of_the_device_are_kept(rt, p);
	a_launch_has_few_arguments(rt, p);
	bad_kinds_are_refused(rt);
	uses_that_kernels_cannot_have(rt, p);
	a_range_needs_a_device_with_ranges(rt);
	is(device_close(rt), 0, "close");
	emu_check(&e, "own");
	return tap_end();
}
