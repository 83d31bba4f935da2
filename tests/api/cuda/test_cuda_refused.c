/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is wrong for CUDA is refused by name: files that are no driver, images,
 * entries, parameters, blocks. Each error leaves the runtime whole: the next
 * kernel runs. On the driver for tests (tests/cuda/fake), or on that which
 * LKDF_TEST_CUDA names.
 */
#include "tests/api/device/refused.h"
#include "tests/cuda/load.h"

#include <sys/mman.h>

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
	no_driver("libm.so.6", "cuGetProcAddress_v2");
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

/* A stream of another context is a place of its own, with its context's memory
 * and functions. */
static void uses_stream(cu_stream stream)
{
	static const char text[] =
		".version 7.0\n.target sm_75\n.address_size 64\n"
		".visible .entry g(.param .u64 at, .param .u64 value)\n"
		"{\n .reg .u64 %a, %v;\n ld.param.u64 %a, [at];\n"
		" ld.param.u64 %v, [value];\n st.global.u64 [%a], %v;\n"
		" ret;\n}\n";
	struct refused t = { .image = text, .entry = "g" };
	struct lkdf_kind *k = refused_kind(rt, &t);
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	struct lkdf_place *p = NULL;
	uint64_t value = 7;

	is(lkdf_place_from_queue(place, stream, &p), 0,
	   "a stream of another context is a place");
	is(device_call(rt, k, p, d, &value), 0, "a kernel runs there");
	is(device_first_wrong(d, 1, 7), -1, "with its bytes");
	is(device_call(rt, k, place, d, &value), 0,
	   "and on the card as before");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* The memory of another context is none for it, and the other way round. */
static void what_is_of_another_context(void)
{
	static const char text[] =
		".version 7.0\n.target sm_75\n.address_size 64\n"
		".visible .entry f(.param .u64 at, .param .u64 value)\n"
		"{ ret; }\n";
	cu_ctx before = NULL, other = NULL;
	cu_stream stream = NULL;
	cu_func f = NULL;
	cu_mod m = NULL;
	void *create = NULL;

	must((int)cu.cuCtxGetCurrent(&before));
	must((int)cu.get("cuCtxCreate", &create, 3020, 0, NULL));
	must(((cu_result(*)(cu_ctx *, unsigned, cu_dev))create)(&other, 0, 0));
	must((int)cu.cuModuleLoadData(&m, text));
	must((int)cu.cuModuleGetFunction(&f, m, "f"));
	must((int)cu.cuStreamCreateWithPriority(&stream, CU_NON_BLOCKING, 0));
	cu.cuCtxSetCurrent(before);
	fails(&(struct refused){ .function = f }, -EINVAL, "INVALID_HANDLE",
	      "a function of another context");
	/* It stays: functions of the program's are known until the close. */
	uses_stream(stream);
}

/* Pages that the program has made known to the driver, and unmapped: copies of
 * what lies there next are right, with the driver's old pages behind it. */
static void registered_pages_that_are_unmapped(void)
{
	const size_t bytes = 1 << 20;
	unsigned char *at, *next, *to = malloc(bytes);
	cu_ctx context = NULL;
	void *own = NULL;

	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(-(at == MAP_FAILED));
	must((int)cu.cuDevicePrimaryCtxRetain(&context, 0));
	must((int)cu.cuCtxSetCurrent(context));
	must((int)cu.cuMemHostRegister(at, bytes, CU_HOST_PORTABLE));
	must(lkdf_alloc(place, LKDF_MEM_OWN, bytes, 0, "own", &own));
	memset(at, 1, bytes);
	is(lkdf_copy(rt, NULL, own, at, bytes, NULL), 0,
	   "registered pages are copied");
	is(munmap(at, bytes), 0, "and unmapped");
	is(lkdf_copy(rt, NULL, to, own, bytes, NULL), 0, "the bytes come back");
	is(to[bytes - 1], 1, "and are right");
	is(cu.cuMemHostUnregister(at), 0, "the driver lets them go");
	next = mmap(at, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (next == MAP_FAILED)
		next = to;
	memset(next, 3, bytes);
	is(lkdf_copy(rt, NULL, own, next, bytes, NULL), 0,
	   "new pages, at the same address, are copied");
	memset(next, 0, bytes);
	is(lkdf_copy(rt, NULL, next, own, bytes, NULL), 0, "and back");
	is(next[bytes - 1], 3, "their bytes are right");
	if (next != to)
		munmap(next, bytes);
	lkdf_free(rt, own);
	free(to);
	cu.cuCtxSetCurrent(NULL);
	must((int)cu.cuDevicePrimaryCtxRelease(0));
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
		registered_pages_that_are_unmapped();
	} else {
		skip("images and launches", lkdf_errmsg());
	}
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
