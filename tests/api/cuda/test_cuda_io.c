/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies of more than 64 KiB of pageable bytes: a thread of the card makes
 * them, which small copies, pinned bytes and the option serial do without. The
 * bytes are right both ways, an error is told to who waits, and one that loses
 * the card to all. With the driver for tests.
 */
#include "tests/api/device/device.h"
#include "tests/threads.h"

#include <dlfcn.h>
#include <errno.h>

#define LARGE (1 << 20)
#define SMALL 65536
#define NR_DATA 8

static struct lkdf *rt;
static struct lkdf_place *place;
static int (*let_fail)(const char *call, unsigned result, unsigned after);

static bool open_cuda(const char *options)
{
	void *driver, *f;

	rt = api_open(driver_options(options));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) < 1) {
		skip("devices of CUDA", lkdf_errmsg());
		lkdf_close(rt);
		return false;
	}
	device_is_real = true;
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	f = driver ? dlsym(driver, "fake_cuda_fail") : NULL;
	memcpy(&let_fail, &f, sizeof(f));
	return true;
}

/* Threads of this process that copy for a card. */
static int nr_threads(void)
{
	struct found_thread t[8];

	return threads_find("lkdf/cuda.io", t, 8);
}

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 7 + (i >> 12));
}

/* There and back, by way of memory of the card; its error. */
static int carry(unsigned char *from, size_t bytes, void *there,
		 unsigned char *to)
{
	size_t i;
	int rc;

	for (i = 0; i < bytes; i++)
		from[i] = byte_at(i);
	memset(to, 0, bytes);
	rc = lkdf_copy(rt, NULL, there, from, bytes, NULL);
	if (!rc)
		rc = lkdf_copy(rt, NULL, to, there, bytes, NULL);
	for (i = 0; i < bytes && !rc; i++)
		rc = to[i] == byte_at(i) ? 0 : -EBADMSG;
	return rc;
}

static void a_thread_copies_what_is_large(void)
{
	unsigned char *from = malloc(LARGE), *to = malloc(LARGE);
	void *there = NULL, *pinned = NULL;

	must(lkdf_alloc(place, LKDF_MEM_OWN, LARGE, 0, "there", &there));
	must(lkdf_alloc(place, LKDF_MEM_HOST_PINNED, 2 * LARGE, 0, "pinned",
			&pinned));
	is(nr_threads(), 0, "before copies there is no thread for them");
	is(carry(from, SMALL, there, to), 0, "64 KiB are carried");
	is(nr_threads(), 0, "by the launcher");
	is(carry(pinned, LARGE, there, (unsigned char *)pinned + LARGE), 0,
	   "1 MiB of pinned bytes");
	is(nr_threads(), 0, "by the launcher as well");
	is(carry(from, LARGE, there, to), 0, "1 MiB of pageable bytes");
	is(nr_threads(), 1, "by a thread of the card");
	is(carry(from + 1, LARGE - 1, there, to), 0, "once more");
	is(nr_threads(), 1, "it is one");
	lkdf_free(rt, pinned);
	lkdf_free(rt, there);
	free(from);
	free(to);
}

/* Kernels and tasks on CPUs by turns on data that are large. */
static void data_go_there_and_back(void)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_data *d[NR_DATA];
	uint64_t one = 1;
	int i, k;

	for (i = 0; i < NR_DATA; i++)
		d[i] = device_data(rt, LARGE / 8, (uint64_t)i);
	for (k = 0; k < 3; k++)
		for (i = 0; i < NR_DATA; i++)
			lkdf_event_put(
				device_submit(rt, add, place, d[i], &one));
	for (i = 0; i < NR_DATA; i++)
		is(device_first_wrong(d[i], DEVICE_NR, (uint64_t)i + 3), -1,
		   "data %d: three kernels are right", i);
	for (i = 0; i < NR_DATA; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(add);
}

static void an_error_is_told_once(void)
{
	unsigned char *from = malloc(LARGE), *to = malloc(LARGE);
	void *there = NULL;

	if (!let_fail) {
		skip("an error of a copy", "a real driver");
		free(from);
		free(to);
		return;
	}
	must(lkdf_alloc(place, LKDF_MEM_OWN, LARGE, 0, "there", &there));
	must(let_fail("cuMemcpyHtoDAsync", 1, 0));
	is(carry(from, LARGE, there, to), -EINVAL, "a copy that is refused");
	has(lkdf_errmsg(), "cuMemcpyHtoDAsync: CUDA_ERROR_INVALID_VALUE",
	    "with the driver's words");
	is(carry(from, LARGE, there, to), 0, "the next one is right");
	must(let_fail("cuStreamSynchronize", 2, 0));
	is(carry(from, LARGE, there, to), -ENOMEM, "one that fails later");
	has(lkdf_errmsg(), "cuStreamSynchronize: CUDA_ERROR_OUT_OF_MEMORY",
	    "with its words");
	must(let_fail("cuMemcpyDtoHAsync", 1, 0));
	is(carry(from, LARGE, there, to), -EINVAL, "a fetch that is refused");
	is(carry(from, LARGE, there, to), 0, "and the next one is right");
	must(let_fail("cuMemcpyDtoHAsync", 700, 0));
	is(carry(from, LARGE, there, to), -ENODEV, "a copy that finds a fault");
	has(lkdf_errmsg(), "CUDA_ERROR_ILLEGAL_ADDRESS", "with its error");
	is(carry(from, LARGE, there, to), -ENODEV, "the card is lost");
	lkdf_free(rt, there);
	free(from);
	free(to);
}

static void serial_has_no_thread(void)
{
	if (!open_cuda("serial=yes"))
		return;
	data_go_there_and_back();
	is(nr_threads(), 0, "serial: the thread that asks copies");
	is(device_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	serial_has_no_thread();
	if (!open_cuda("workers=2"))
		return tap_end();
	a_thread_copies_what_is_large();
	data_go_there_and_back();
	an_error_is_told_once();
	is(device_close(rt), 0, "the runtime closes");
	is(nr_threads(), 0, "and its thread is gone");
	return tap_end();
}
