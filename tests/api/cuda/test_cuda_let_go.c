/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A card is lost while bytes of the host are on their way: the task ends only
 * when the driver touches them no more, so the program may unmap them at once.
 * The driver for tests keeps the copy back until the card is lost. Each case is
 * a process of its own.
 */
#include "tests/cuda/child.h"
#include "tests/cuda/load.h"

#include <sys/mman.h>

#define BYTES (1 << 20)
#define HELD_NS 700000000ll

enum sort {
	PINNED, /* a stream copies them */
	PAGEABLE, /* the thread of the card does */
};

static struct {
	struct lkdf *rt;
	struct lkdf_place *place;
	int (*let_fail)(const char *call, unsigned result, unsigned after);
	void (*hold_copies)(long long ns);
	long (*nr_held)(void);
} at;

static void find_control(const char *name, void *to)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *f = driver ? dlsym(driver, name) : NULL;

	memcpy(to, &f, sizeof(f));
}

static int open_card(void)
{
	at.rt = api_open(driver_options("workers=2"));
	if (lkdf_places(at.rt, LKDF_PLACE_GPU, &at.place, 1) != 1)
		return 2;
	find_control("fake_cuda_fail", &at.let_fail);
	find_control("fake_cuda_hold_copies", &at.hold_copies);
	find_control("fake_cuda_held", &at.nr_held);
	return at.let_fail && at.hold_copies && at.nr_held ? 0 : 2;
}

static char *take_bytes(enum sort sort)
{
	void *p = NULL;

	if (sort == PINNED)
		must(lkdf_alloc(at.place, LKDF_MEM_HOST_PINNED, BYTES, 0,
				"bytes", &p));
	else
		p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p, 1, BYTES);
	return p;
}

/* The pages have left the process when we return. */
static void give_bytes(enum sort sort, char *p)
{
	unsigned char there;

	if (sort == PAGEABLE) {
		munmap(p, BYTES);
		return;
	}
	lkdf_free(at.rt, p);
	while (!mincore(p, 4096, &there))
		api_nap_ns(50000);
}

/* 0; 4: the copy does not fail; 9: the runtime does not close. */
static int lose_copy(enum sort sort, bool is_up, unsigned result)
{
	struct lkdf_event done;
	void *there = NULL;
	int rc = open_card();
	char *p;

	if (rc)
		return rc;
	must(lkdf_alloc(at.place, LKDF_MEM_OWN, BYTES, 0, "there", &there));
	p = take_bytes(sort);
	must(lkdf_copy(at.rt, NULL, there, p, BYTES, NULL));
	at.hold_copies(HELD_NS);
	must(lkdf_copy(at.rt, NULL, is_up ? there : p, is_up ? p : there, BYTES,
		       &done));
	while (!at.nr_held())
		api_nap_ns(50000);
	must(at.let_fail("cuStreamQuery", result, 0));
	rc = lkdf_event_wait(done, -1);
	printf("# %d: %s\n", rc, lkdf_errmsg());
	give_bytes(sort, p);
	while (at.nr_held())
		api_nap_ns(50000);
	/* The copy would touch its bytes now. */
	api_nap_ns(20000000);
	lkdf_free(at.rt, there);
	if (device_close(at.rt))
		return 9;
	return rc == -ENODEV ? 0 : 4;
}

static int pinned_up_fault(void)
{
	return lose_copy(PINNED, true, 700);
}

static int pinned_down_fault(void)
{
	return lose_copy(PINNED, false, 700);
}

static int pageable_up_fault(void)
{
	return lose_copy(PAGEABLE, true, 700);
}

static int pageable_down_fault(void)
{
	return lose_copy(PAGEABLE, false, 700);
}

/* No fault of the card, so its streams go on. */
static int pinned_up_error(void)
{
	return lose_copy(PINNED, true, 400);
}

static int pinned_down_error(void)
{
	return lose_copy(PINNED, false, 400);
}

static int pageable_up_error(void)
{
	return lose_copy(PAGEABLE, true, 400);
}

/* ---- who waits for an event of the program's ----------------------------- */

/* It is behind a gate that nobody opens. */
static cu_event make_event(const struct cu *cu)
{
	uint32_t *word = NULL;
	cu_event e = NULL;
	cu_stream s = NULL;
	cu_ptr there = 0;
	cu_ctx ctx;

	must((int)cu->cuDevicePrimaryCtxRetain(&ctx, 0));
	must((int)cu->cuCtxSetCurrent(ctx));
	must((int)cu->cuMemHostAlloc((void **)&word, 64,
				     CU_HOST_PORTABLE | CU_HOST_MAPPED));
	*word = 0;
	must((int)cu->cuMemHostGetDevicePointer(&there, word, 0));
	must((int)cu->cuStreamCreateWithPriority(&s, CU_NON_BLOCKING, 0));
	must((int)cu->cuStreamWaitValue32(s, there, 1, 0));
	must((int)cu->cuEventCreate(&e, CU_EVENT_NO_TIMING));
	must((int)cu->cuEventRecord(e, s));
	return e;
}

/* A copy loses the card, and not the question whether all is well. */
static int lose_watch(void)
{
	static char bytes[64];
	struct lkdf_event e, late;
	void *there = NULL;
	cu_event event;
	char why[256];
	struct cu cu;
	int rc, rc_late;

	if (open_card() || cu_load(cuda_driver(), &cu, why, sizeof(why)))
		return 2;
	must(lkdf_alloc(at.place, LKDF_MEM_OWN, 64, 0, "there", &there));
	event = make_event(&cu);
	must(lkdf_event_from_device(at.place, event, &e));
	must(at.let_fail("cuMemcpyHtoDAsync", 700, 0));
	rc = lkdf_copy(at.rt, NULL, there, bytes, 64, NULL);
	printf("# copy %d: %s\n", rc, lkdf_errmsg());
	rc = lkdf_event_wait(e, 10000000000);
	rc_late = lkdf_event_from_device(at.place, event, &late);
	printf("# event %d, a late one %d: %s\n", rc, rc_late, lkdf_errmsg());
	lkdf_free(at.rt, there);
	if (device_close(at.rt))
		return 9;
	return rc == -ENODEV && rc_late == -ENODEV ? 0 : 4;
}

/* ---- all ----------------------------------------------------------------- */

static const struct {
	int (*fn)(void);
	const char *what;
} cases[] = {
	{ pinned_up_fault, "a fault while a stream reads pinned bytes" },
	{ pinned_down_fault, "a fault while a stream writes pinned bytes" },
	{ pageable_up_fault, "a fault while the thread reads pageable bytes" },
	{ pageable_down_fault, "a fault while it writes them" },
	{ pinned_up_error, "an error while a stream reads pinned bytes" },
	{ pinned_down_error, "an error while a stream writes pinned bytes" },
	{ pageable_up_error, "an error while the thread reads pageable bytes" },
	{ lose_watch, "an event of the program's, and a copy that faults" },
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

int main(void)
{
	static struct child c[NR_CASES];
	size_t i;
	int rc;

	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	for (i = 0; i < NR_CASES; i++) {
		snprintf(c[i].fail, sizeof(c[i].fail), "cuInit=0");
		start_child(&c[i], cases[i].fn);
	}
	for (i = 0; i < NR_CASES; i++) {
		rc = end_child(&c[i]);
		if (rc == 2)
			skip(cases[i].what, "not the driver for tests");
		else
			is(rc, 0, "%s", cases[i].what);
		printf("%s", c[i].said);
	}
	return tap_end();
}
