/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Memory of the host that is registered, and words that streams write. */
#include "tests/cuda/conformance/check.h"

#include <sys/mman.h>
#include <unistd.h>

static void reg_unaligned(void)
{
	say(cu.cuMemHostRegister(pages(4) + 100, 5000, 0), NULL);
}

static void reg_twice(void)
{
	char *p = pages(4);

	if (failed(cu.cuMemHostRegister(p, 16384, 0)))
		return;
	say(cu.cuMemHostRegister(p, 16384, 0), NULL);
}

static void reg_overlap(void)
{
	char *p = pages(4);

	if (failed(cu.cuMemHostRegister(p, 8192, 0)))
		return;
	say(cu.cuMemHostRegister(p + 4096, 12288, 0), NULL);
}

static void reg_same_page(void)
{
	char *p = pages(2);

	if (failed(cu.cuMemHostRegister(p, 2048, 0)))
		return;
	say(cu.cuMemHostRegister(p + 2048, 2048, 0), "two halves of a page");
}

static void reg_unregister_twice(void)
{
	char *p = pages(4);

	if (failed(cu.cuMemHostRegister(p, 16384, 0)))
		return;
	if (failed(cu.cuMemHostUnregister(p)))
		return;
	say(cu.cuMemHostUnregister(p), NULL);
}

static void reg_unregister_interior(void)
{
	char *p = pages(4);

	if (failed(cu.cuMemHostRegister(p, 16384, 0)))
		return;
	say(cu.cuMemHostUnregister(p + 4096), NULL);
}

static void reg_unmapped(void)
{
	char *p = pages(4);

	munmap(p, 16384);
	say(cu.cuMemHostRegister(p, 16384, 0), NULL);
}

static void reg_zero(void)
{
	say(cu.cuMemHostRegister(pages(1), 0, 0), NULL);
}

static void reg_read_only(void)
{
	char *p = pages(4);

	mprotect(p, 16384, PROT_READ);
	say(cu.cuMemHostRegister(p, 16384, 0), "pages that may only be read");
}

static void reg_file(void)
{
	int fd = memfd_create("x", 0);
	void *p;

	if (ftruncate(fd, 16384))
		return;
	p = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	say(cu.cuMemHostRegister(p, 16384, 0), "a shared memfd");
}

static void reg_address(void)
{
	char *p = pages(4);
	cu_ptr at = 0;
	cu_result r;

	if (failed(cu.cuMemHostRegister(p, 16384, 2)))
		return;
	r = cu.cuMemHostGetDevicePointer(&at, p, 0);
	say(r, "the device's address is %s",
	    at == (cu_ptr)(uintptr_t)p ? "the host's" : "another");
}

static void reg_store(void)
{
	char *p = pages(4);
	cu_result r;

	if (failed(cu.cuMemHostRegister(p, 16384, 0)))
		return;
	if (failed(store(s1, (cu_ptr)(uintptr_t)p)))
		return;
	r = cu.cuStreamSynchronize(s1);
	say(r, "a kernel stores to it: %d (card)", p[0]);
}

static void reg_munmap(void)
{
	char *p = pages(4);

	if (failed(cu.cuMemHostRegister(p, 16384, 0)))
		return;
	munmap(p, 16384);
	say(cu.cuMemHostUnregister(p), "after munmap");
}

static void reg_free_busy(void)
{
	char *p = pages(256);
	cu_result r;
	bool waited;

	if (failed(cu.cuMemHostRegister(p, 1 << 20, 0)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuMemcpyHtoDAsync(mem, p, 1 << 20, s1)))
		return;
	r = cu.cuMemHostUnregister(p);
	waited = gate_is_done();
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "with a copy of it under way: %s",
	    waited ? "waits for it" : "at once");
}

static void value_write(void)
{
	set_flag(0);
	if (failed(cu.cuStreamWriteValue32(s1, flag_there, 5, 0)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(0, "%u", get_flag());
}

static void value_misaligned(void)
{
	say(cu.cuStreamWriteValue32(s1, flag_there + 2, 5, 0), NULL);
}

static void value_pageable(void)
{
	say(cu.cuStreamWriteValue32(s1, (cu_ptr)(uintptr_t)bogus(), 5, 0),
	    "to pageable memory (card)");
}

static void value_registered(void)
{
	char *p = pages(1);
	cu_result r;

	if (failed(cu.cuMemHostRegister(p, 4096, 0)))
		return;
	r = cu.cuStreamWriteValue32(s1, (cu_ptr)(uintptr_t)p, 5, 0);
	cu.cuStreamSynchronize(s1);
	say(r, "to registered memory: %d", p[0]);
}

static void value_wait(void)
{
	cu_result r, q;

	set_flag(0);
	r = cu.cuStreamWaitValue32(s1, flag_there, 1, 0);
	if (failed(launch(f_empty, s1, NULL)))
		return;
	nap_ms(20);
	q = cu.cuStreamQuery(s1);
	open_gate();
	say(r, "before %u, after %u", q, settle(s1));
}

const struct check pinned_checks[] = {
	{ "reg_unaligned", reg_unaligned, 0 },
	{ "reg_twice", reg_twice, 0 },
	{ "reg_overlap", reg_overlap, 0 },
	{ "reg_same_page", reg_same_page, 0 },
	{ "reg_unregister_twice", reg_unregister_twice, 0 },
	{ "reg_unregister_interior", reg_unregister_interior, 0 },
	{ "reg_unmapped", reg_unmapped, 0 },
	{ "reg_zero", reg_zero, 0 },
	{ "reg_read_only", reg_read_only, 0 },
	{ "reg_file", reg_file, 0 },
	{ "reg_address", reg_address, 0 },
	{ "reg_store", reg_store, OWN },
	{ "reg_munmap", reg_munmap, OWN },
	{ "reg_free_busy", reg_free_busy, OWN | BRIEF },
	{ "value_write", value_write, 0 },
	{ "value_misaligned", value_misaligned, 0 },
	{ "value_pageable", value_pageable, OWN },
	{ "value_registered", value_registered, 0 },
	{ "value_wait", value_wait, 0 },
	{ NULL, NULL, 0 },
};
