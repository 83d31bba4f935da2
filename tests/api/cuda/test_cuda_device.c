/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CUDA's devices: what they are, code that cannot be loaded, parameters and
 * blocks that do not fit, memory, and what a fault leaves. Each error says why
 * and leaves the runtime whole: the next kernel runs. Kernels are PTX.
 */
#include "tests/api/device/device.h"
#include "tests/api/hooks.h"

#define NR 64

static struct lkdf *rt;
static struct lkdf_place *place;

/* x[0] = 2 * x[0] + value: the order of two of them tells. */
static const char step_text[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry step(.param .u64 at, .param .u32 value)\n{\n"
	" .reg .u64 %a;\n .reg .u32 %v, %w;\n"
	" ld.param.u64 %a, [at];\n ld.param.u32 %v, [value];\n"
	" ld.global.u32 %w, [%a];\n add.u32 %w, %w, %w;\n"
	" add.u32 %w, %w, %v;\n st.global.u32 [%a], %w;\n ret;\n}\n";

/* The word at an address that is a value. */
static const char two_texts[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry store(.param .u64 at, .param .u32 value)\n{\n"
	" .reg .u64 %a;\n .reg .u32 %v;\n ld.param.u64 %a, [at];\n"
	" ld.param.u32 %v, [value];\n st.global.u32 [%a], %v;\n ret;\n}\n"
	".visible .entry empty()\n{\n ret;\n}\n";

struct
try {
	const char *image;
	uint64_t bytes;
	const char *entry;
	const char *options;
	uint32_t arg_size, block[3], shared;
	uint64_t range[3];
};

static struct lkdf_kind *make_kind(const struct try *t)
{
	const struct lkdf_code code = { .device = "cuda",
					.image = t->image,
					.bytes = t->bytes,
					.entry = t->entry,
					.options = t->options };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "k",
					      .arg_size = t->arg_size),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { t->range[0] ? t->range[0] : 1,
				       t->range[1] ? t->range[1] : 1, 1 },
			    .block = { t->block[0], t->block[1], t->block[2] },
			    .shared_bytes = t->shared),
		&k));
	return k;
}

static const struct try step = { .image = step_text,
				 .entry = "step",
				 .arg_size = 4 };

static void next_one_runs(const char *what)
{
	struct lkdf_kind *k = make_kind(&step);
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint32_t by = 5;

	is(device_call(rt, k, place, d, &by), 0, "%s: the next kernel runs",
	   what);
	is(device_first_wrong(d, 1, 7), -1, "%s: and is right", what);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void fails(const struct try *t, int want, const char *part,
		  const char *what)
{
	struct lkdf_kind *k = make_kind(t);
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t arg = 1;

	is(device_call(rt, k, place, d, &arg), want, "%s: the error", what);
	has(lkdf_errmsg(), part, "%s: \"%s\" is in the text", what, part);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	next_one_runs(what);
}

static void a_device_tells_what_it_is(void)
{
	struct lkdf_device_info i = { .size = sizeof(i) };

	is(lkdf_place_info(place, &i), 0, "a device has an info");
	ok(i.name[0] && i.memory && i.units && i.warp == 32, "with facts");
	is(i.max_block, 1024, "blocks have 1024 threads at most");
	ok(i.max_grid[0] > i.max_grid[1], "the first dimension is the longest");
	ok(i.block_registers && i.unit_parts, "and all that blocks depend on");
}

static void kernels_run_in_their_order(void)
{
	struct lkdf_kind *k = make_kind(&step);
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint32_t x = 1, i;

	for (i = 0; i < 200; i++) {
		x = 2 * x + i;
		lkdf_event_put(device_submit(rt, k, place, d, &i));
	}
	is(device_first_wrong(d, 1, x), -1, "200 kernels are in their order");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void code_that_cannot_be_loaded_says_why(void)
{
	static const char elf[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, [18] = 62 };
	struct try t = step;

	t.entry = "no_such";
	fails(&t, -ENOEXEC, "no kernel no_such", "an entry that is missing");
	t.image = two_texts;
	t.entry = NULL;
	fails(&t, -EINVAL, "there are 2", "no entry, two kernels");
	t.entry = "step";
	t.image = ".version 7.0\n.target sm_75\n.address_size 64\n"
		  ".visible .entry step()\n{\n nonsense;\n ret;\n}\n";
	fails(&t, -ENOEXEC, "CUDA_ERROR_INVALID_PTX", "PTX that is broken");
	t.image = ".version 99.0\n.target sm_75\n.address_size 64\n";
	fails(&t, -ENOEXEC, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	      "PTX of a later version");
	t.image = " /* nothing */ ";
	fails(&t, -EINVAL, "empty", "an empty image");
	t.image = elf;
	t.bytes = sizeof(elf);
	fails(&t, -EINVAL, "machine 62", "an ELF file of this machine");
}

static void one_kernel_needs_no_entry(void)
{
	struct try t = step;
	struct lkdf_kind *k;
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint32_t by = 1;

	t.entry = NULL;
	k = make_kind(&t);
	is(device_call(rt, k, place, d, &by), 0, "no entry, one kernel: runs");
	is(device_first_wrong(d, 1, 3), -1, "and is right");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void what_does_not_fit_is_named(void)
{
	struct try t = step;

	t.arg_size = 8;
	fails(&t, -EINVAL, "parameter 1 is of 4 bytes, 8 are given",
	      "a value that is too long");
	t.arg_size = 0;
	fails(&t, -EINVAL, "has 2 parameters, 1 are given",
	      "a parameter too few");
	t = step;
	t.image = two_texts;
	t.entry = "empty";
	fails(&t, -EINVAL, "has 0 parameters, 2 are given",
	      "parameters too many");
	t = step;
	t.block[0] = 1025;
	t.range[0] = 2000;
	fails(&t, -EINVAL, "1024", "a block of 1025 threads");
	t = step;
	t.block[0] = 1;
	t.block[1] = 1;
	t.block[2] = 1;
	t.range[1] = 70000;
	fails(&t, -EINVAL, "70000 blocks", "a grid of 70000 blocks in y");
	t = step;
	t.shared = 228 << 10;
	fails(&t, -EINVAL, "memory of its own", "228 KiB of a block");
}

static void memory_is_of_each_sort(void)
{
	void *own = NULL, *pinned = NULL, *managed = NULL;
	uint32_t x = 17;

	must(lkdf_alloc(place, LKDF_MEM_OWN, 4096, 4096, "own", &own));
	must(lkdf_alloc(place, LKDF_MEM_HOST_PINNED, 4096, 0, "pinned",
			&pinned));
	must(lkdf_alloc(place, LKDF_MEM_MANAGED, 4096, 4096, "managed",
			&managed));
	memcpy(pinned, &x, sizeof(x));
	is(lkdf_copy(rt, NULL, own, pinned, 4096, NULL), 0, "pinned to own");
	is(lkdf_copy(rt, NULL, managed, own, 4096, NULL), 0, "own to managed");
	is(*(uint32_t *)managed, 17, "the host sees it there");
	x = 0;
	is(lkdf_copy(rt, NULL, &x, own, 4, NULL), 0, "own to any");
	is(x, 17, "the bytes are right");
	lkdf_free(rt, own);
	lkdf_free(rt, pinned);
	lkdf_free(rt, managed);
}

/* Each kernel and each copy, by a library of a tool. */
static void tools_are_told(void)
{
	struct lkdf_kind *k;
	struct lkdf_data *d;
	FILE *f = tmpfile();
	char options[700];
	uint32_t by = 5;
	int old, i;

	snprintf(options, sizeof(options), "%s,hooks=%s",
		 driver_options("workers=2"), hooks_library());
	rt = api_open(options);
	must(lkdf_places(rt, LKDF_PLACE_GPU, &place, 1));
	k = make_kind(&step);
	d = device_data(rt, NR, 1);
	old = redirect(f);
	for (i = 0; i < 3; i++)
		must(device_call(rt, k, place, d, &by));
	is(device_first_wrong(d, 1, 43), -1, "three kernels have run");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "beside a tool the runtime closes");
	take_stderr(f, old);
	is(hooks_nr("kernel", "k on device 0"), 3, "each is told to it");
	is(hooks_nr("copy", NULL), 2, "and bytes that go there and back");
	is(hooks_nr_odd(), 0, "each id begins and ends once");
	has(said, "kernels, 0 not ended", "no kernel is left");
}

int main(void)
{
	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) < 1) {
		skip("devices of CUDA", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	a_device_tells_what_it_is();
	kernels_run_in_their_order();
	code_that_cannot_be_loaded_says_why();
	one_kernel_needs_no_entry();
	what_does_not_fit_is_named();
	memory_is_of_each_sort();
	is(device_close(rt), 0, "the runtime closes");
	tools_are_told();
	return tap_end();
}
