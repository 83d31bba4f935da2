/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is wrong for CUDA is refused by name: files that are no driver, images,
 * entries, parameters, blocks. Each error leaves the runtime whole: the next
 * kernel runs. On the driver for tests (tests/cuda/fake), or on that which
 * LKDF_TEST_CUDA names.
 */
#include "tests/api/device/refused.h"
#include "tests/cuda/load.h"

static struct lkdf *rt;
static struct lkdf_place *place;
static struct cu cu;

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

static void fails(const struct refused *t, int want, const char *part,
		  const char *what)
{
	refused_fails(rt, place, t, want, part, what);
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
	static const char bad_text[] = F "(unsigned long *x, unsigned long y)\n"
					 "{\n oops; }";
	static char elf[4096] = "\177ELF\2\1\1";

	fails(&(struct refused){ .image = new_ptx, .entry = "f" }, -ENOEXEC,
	      "UNSUPPORTED_PTX_VERSION", "PTX of version 99");
	fails(&(struct refused){ .image = bad_ptx, .entry = "f" }, -ENOEXEC,
	      "line 4", "PTX with a word that is none");
	elf[18] = 62; /* x86-64 */
	fails(&(struct refused){ .image = elf,
				 .bytes = sizeof(elf),
				 .entry = "f" },
	      -EINVAL, "machine 62", "an x86 ELF");
	fails(&(struct refused){ .image = bad_text, .entry = "f" }, -ENOEXEC,
	      "f:3", "a text that is no C");
	fails(&(struct refused){ .image = "", .entry = "f" }, -EINVAL, "empty",
	      "an empty image");
}

static void entries_that_are_none(void)
{
	static const char two[] =
		F "(unsigned long *x, unsigned long y) { *x = y; }\n"
		  "extern \"C\" __global__ void g() { }\n";

	fails(&(struct refused){ .image = two, .entry = "no_such" }, -ENOEXEC,
	      "no_such", "an entry that is missing");
	fails(&(struct refused){ .image = two }, -EINVAL, "entry is NULL",
	      "no entry for two kernels");
}

static void what_does_not_fit(void)
{
	static const char good[] = F "(unsigned long *x, unsigned long y) { }";

	fails(&(struct refused){ .image = F "(unsigned long *x) { }",
				 .entry = "f" },
	      -EINVAL, "parameter", "a parameter too many");
	fails(&(struct refused){ .image =
					 F "(unsigned long *x, unsigned y) { }",
				 .entry = "f" },
	      -EINVAL, "bytes", "a parameter of another size");
	fails(&(struct refused){ .image = F "(unsigned long *x, "
					    "unsigned long y, int z) { }",
				 .entry = "f" },
	      -EINVAL, "parameter", "a parameter too few");
	fails(&(struct refused){ .image = good, .entry = "f", .block = 1025 },
	      -EINVAL, "1025", "a block of 1025");
	fails(&(struct refused){ .image = good,
				 .entry = "f",
				 .block = 1,
				 .range = 1ull << 31 },
	      -EINVAL, "2147483647", "a grid above the limit");
	fails(&(struct refused){ .image = good,
				 .entry = "f",
				 .shared = 228 << 10 },
	      -EINVAL, "memory of its own", "228 KiB of a block");
}

/* The memory of another context is none for it, and the other way round. */
static void what_is_of_another_context(void)
{
	static const char text[] =
		".version 7.0\n.target sm_75\n.address_size 64\n"
		".visible .entry f(.param .u64 at, .param .u64 value)\n"
		"{ ret; }\n";
	cu_ctx before = NULL, other = NULL;
	cu_func f = NULL;
	cu_mod m = NULL;
	void *create = NULL;

	must((int)cu.cuCtxGetCurrent(&before));
	must((int)cu.get("cuCtxCreate", &create, 3020, 0, NULL));
	must(((cu_result(*)(cu_ctx *, unsigned, cu_dev))create)(&other, 0, 0));
	must((int)cu.cuModuleLoadData(&m, text));
	must((int)cu.cuModuleGetFunction(&f, m, "f"));
	cu.cuCtxSetCurrent(before);
	fails(&(struct refused){ .function = f }, -EINVAL, "INVALID_HANDLE",
	      "a function of another context");
	/* It stays: functions of the program's are known until the close. */
}

int main(void)
{
	char why[200] = "";

	tap_start(90);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	files_that_are_no_driver();
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) == 1) {
		device_is_real = true; /* its ranges are values */
		images_that_are_none();
		entries_that_are_none();
		what_does_not_fit();
		must(cu_load(cuda_driver(), &cu, why, sizeof(why)));
		what_is_of_another_context();
	} else {
		skip("images and launches", lkdf_errmsg());
	}
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
