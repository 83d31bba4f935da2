/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is wrong for CUDA is refused by name: files that are no driver, images,
 * entries, parameters, blocks. Each error leaves the runtime whole: the next
 * kernel runs. On the driver for tests (tests/cuda/fake), or on that which
 * LKDF_TEST_CUDA names.
 */
#include "tests/api/device/device.h"

#define NR DEVICE_NR

static struct lkdf *rt;
static struct lkdf_place *place;

/* No device: the text has the reason. */
static void no_driver(const char *file, const char *part)
{
	char options[2 * PATH_MAX];
	struct lkdf_place *p;
	struct lkdf *own;

	snprintf(options, sizeof(options),
		 "workers=2,devices=cuda,cuda_library=%s", file);
	own = api_open(options);
	ok(lkdf_places(own, LKDF_PLACE_GPU, &p, 1) < 1, "%s: no device", file);
	has(lkdf_errmsg(), part, "%s: \"%s\" is in the text", file, part);
	is(lkdf_close(own), 0, "%s: the runtime closes", file);
}

static void files_that_are_no_driver(void)
{
	char folder[PATH_MAX], file[PATH_MAX + 32];

	driver_folder(folder, sizeof(folder));
	no_driver("/no/such/file", "/no/such/file");
	no_driver("tests/cuda/golden.txt", "golden.txt");
	snprintf(file, sizeof(file), "%s/libcuda_old.so", folder);
	no_driver(file, "a driver of CUDA 11.4");
	snprintf(file, sizeof(file), "%s/libcuda_stub.so", folder);
	no_driver(file, "STUB");
}

static struct lkdf_kind *kind_of(const void *image, size_t size,
				 const char *entry, uint32_t block,
				 uint64_t range)
{
	const struct lkdf_code code = {
		.device = "cuda", .image = image, .bytes = size, .entry = entry
	};
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "k",
					      .arg_size = sizeof(uint64_t)),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { range, 1, 1 }, .block = { block, 0, 0 }),
		&k));
	return k;
}

/* The task fails so, the text says why, and the next one runs. */
static void fails(struct lkdf_kind *k, int want, const char *part,
		  const char *what)
{
	struct lkdf_kind *good = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t one = 1;

	is(device_call(rt, k, place, d, &one), want, "%s: the error", what);
	has(lkdf_errmsg(), part, "%s: \"%s\" is in the text", what, part);
	lkdf_data_put(d);
	d = device_data(rt, NR, 1);
	is(device_call(rt, good, place, d, &one), 0, "%s: the next kernel runs",
	   what);
	is(device_first_wrong(d, NR, 2), -1, "%s: and is right", what);
	lkdf_data_put(d);
	lkdf_kind_put(good);
	lkdf_kind_put(k);
}

static struct lkdf_kind *kind_of_text(const char *text, const char *entry,
				      uint32_t block)
{
	return kind_of(text, 0, entry, block, NR);
}

#define F "extern \"C\" __global__ void f"

static void images_that_are_none(void)
{
	static const char new_ptx[] = ".version 99.0\n.target sm_75\n"
				      ".address_size 64\n"
				      ".visible .entry f() { ret; }\n";
	static const char bad_ptx[] = ".version 7.0\n.target sm_75\n"
				      ".address_size 64\n"
				      ".visible .entry f() { oops; }\n";
	static char elf[4096] = "\177ELF\2\1\1";

	fails(kind_of_text(new_ptx, "f", 0), -ENOEXEC,
	      "UNSUPPORTED_PTX_VERSION", "PTX of version 99");
	fails(kind_of_text(bad_ptx, "f", 0), -ENOEXEC, "line 4",
	      "PTX with a word that is none");
	elf[18] = 62; /* x86-64 */
	fails(kind_of(elf, sizeof(elf), "f", 0, NR), -EINVAL, "machine 62",
	      "an x86 ELF");
	fails(kind_of_text(F "(unsigned long *x, unsigned long y)\n"
			     "{\n oops; }",
			   "f", 0),
	      -ENOEXEC, "f:3", "a text that is no C");
}

static void entries_that_are_none(void)
{
	static const char two[] =
		F "(unsigned long *x, unsigned long y) { *x = y; }\n"
		  "extern \"C\" __global__ void g() { }\n";

	fails(kind_of_text(two, "no_such", 0), -ENOEXEC, "no_such",
	      "an entry that is missing");
	fails(kind_of_text(two, NULL, 0), -EINVAL, "entry is NULL",
	      "no entry for two kernels");
}

static void what_does_not_fit(void)
{
	fails(kind_of_text(F "(unsigned long *x) { }", "f", 0), -EINVAL,
	      "parameter", "a parameter too many");
	fails(kind_of_text(F "(unsigned long *x, unsigned y) { }", "f", 0),
	      -EINVAL, "bytes", "a parameter of another size");
	fails(kind_of_text(F "(unsigned long *x, unsigned long y, int z) { }",
			   "f", 0),
	      -EINVAL, "parameter", "a parameter too few");
	fails(kind_of_text(F "(unsigned long *x, unsigned long y) { }", "f",
			   1025),
	      -EINVAL, "1025", "a block of 1025");
	fails(kind_of(F "(unsigned long *x, unsigned long y) { }", 0, "f", 1,
		      1ull << 31),
	      -EINVAL, "2147483647", "a grid above the limit");
}

int main(void)
{
	tap_start(60);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	files_that_are_no_driver();
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) == 1) {
		device_is_real = true; /* its ranges are values */
		images_that_are_none();
		entries_that_are_none();
		what_does_not_fit();
	} else {
		skip("images and launches", lkdf_errmsg());
	}
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
