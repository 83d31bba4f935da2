/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Memory of the card and copies. */
#include "tests/cuda/conformance/check.h"

#include <stdlib.h>
#include <sys/mman.h>

static void mem_zero(void)
{
	cu_ptr at = 1;

	say(cu.cuMemAlloc(&at, 0), NULL);
}

static void mem_huge(void)
{
	cu_ptr at;

	say(cu.cuMemAlloc(&at, 1ull << 40), NULL);
}

static void mem_enormous(void)
{
	cu_ptr at;

	say(cu.cuMemAlloc(&at, SIZE_MAX - 4095), NULL);
}

static void mem_exhausted(void)
{
	enum {
		N = 400
	};
	static cu_ptr v[N];
	size_t free_bytes = 0, all = 0, again = 0;
	cu_result r = 0;
	int i, n = 0;

	if (failed(cu.cuMemGetInfo(&free_bytes, &all)))
		return;
	while (n < N && !(r = cu.cuMemAlloc(&v[n], 1ull << 30)))
		n++;
	for (i = 0; i < n; i++)
		cu.cuMemFree(v[i]);
	cu.cuMemGetInfo(&again, &all);
	say(r, "within 2 GiB of what cuMemGetInfo says: %s; all back: %s",
	    (size_t)n + 2 >= free_bytes >> 30 ? "yes" : "no",
	    again + (64 << 20) >= free_bytes ? "yes" : "no");
}

static void mem_free_null(void)
{
	say(cu.cuMemFree(0), NULL);
}

static void mem_free_twice(void)
{
	cu_ptr at;

	if (failed(cu.cuMemAlloc(&at, 4096)))
		return;
	if (failed(cu.cuMemFree(at)))
		return;
	say(cu.cuMemFree(at), NULL);
}

static void mem_free_interior(void)
{
	say(cu.cuMemFree(mem + 256), NULL);
}

static void mem_free_host(void)
{
	void *p = malloc(4096);

	say(cu.cuMemFree((cu_ptr)(uintptr_t)p), NULL);
}

static void mem_free_busy(void)
{
	cu_ptr at;
	cu_result r;
	bool waited;

	if (failed(cu.cuMemAlloc(&at, 4096)))
		return;
	if (failed(gate(s1)))
		return;
	r = cu.cuMemFree(at);
	waited = gate_is_done();
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "beside a running kernel: %s",
	    waited ? "waits for it" : "at once");
}

static void mem_alloc_busy(void)
{
	cu_ptr at;
	cu_result r;
	bool waited;

	if (failed(gate(s1)))
		return;
	r = cu.cuMemAlloc(&at, 64 << 20);
	waited = gate_is_done();
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "beside a running kernel: %s",
	    waited ? "waits for it" : "at once");
}

static void mem_register_busy(void)
{
	void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool registered, unregistered;
	cu_result r;

	if (failed(gate(s1)))
		return;
	r = cu.cuMemHostRegister(p, 1 << 20, 0);
	registered = gate_is_done();
	cu.cuMemHostUnregister(p);
	unregistered = gate_is_done();
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "beside a running kernel: register %s, unregister %s",
	    registered ? "waits for it" : "at once",
	    unregistered ? "waits for it" : "at once");
}

static void mem_aligned(void)
{
	cu_ptr at[8];
	cu_ptr all = 0;
	cu_result r = 0;
	int i;

	for (i = 0; i < 8 && !r; i++) {
		r = cu.cuMemAlloc(&at[i], 1);
		all |= at[i];
	}
	say(r, "8 of 1 byte: aligned for %llu", all & -all);
}

static void mem_attribute_host(void)
{
	void *p = malloc(64);
	unsigned type = 9;

	say(cu.cuPointerGetAttribute(&type, 2, (cu_ptr)(uintptr_t)p), NULL);
}

static void mem_attribute(void)
{
	unsigned type = 9, host = 9;
	cu_result r = cu.cuPointerGetAttribute(&type, 2, mem + 100);

	cu.cuPointerGetAttribute(&host, 2, (cu_ptr)(uintptr_t)flag);
	say(r, "type of device memory %u, of pinned %u", type, host);
}

static void mem_range(void)
{
	cu_ptr base = 0;
	size_t size = 0;
	cu_result r = cu.cuMemGetAddressRange(&base, &size, mem + 1000);

	say(r, "base %s, size %s", base == mem ? "right" : "wrong",
	    size == 1 << 20 ? "right" : "rounded");
}

static void mem_range_foreign(void)
{
	cu_ptr base = 0;
	size_t size = 0;

	say(cu.cuMemGetAddressRange(&base, &size, (cu_ptr)(uintptr_t)bogus()),
	    NULL);
}

static void mem_beyond(void)
{
	static char host[8192];
	cu_ptr at;

	if (failed(cu.cuMemAlloc(&at, 4096)))
		return;
	say(cu.cuMemcpyHtoD(at, host, 8192), "8192 bytes into 4096");
}

static void mem_beyond_big(void)
{
	cu_ptr at;
	char *host = calloc(1, 16 << 20);

	if (failed(cu.cuMemAlloc(&at, 4 << 20)))
		return;
	say(cu.cuMemcpyHtoD(at, host, 16 << 20), "16 MiB into 4");
}

static void mem_wild(void)
{
	static char host[64];

	say(cu.cuMemcpyHtoD(0x1000, host, 64), NULL);
}

static void mem_wild_async(void)
{
	static char host[64];

	say(cu.cuMemcpyHtoDAsync(0x1000, host, 64, s1), NULL);
}

static void mem_freed(void)
{
	static char host[64];
	cu_ptr at;

	if (failed(cu.cuMemAlloc(&at, 16 << 20)))
		return;
	if (failed(cu.cuMemFree(at)))
		return;
	say(cu.cuMemcpyHtoD(at, host, 64), NULL);
}

static void mem_unmapped_host(void)
{
	char *p =
		mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	say(cu.cuMemcpyDtoH(p, mem, 64), NULL);
}

static void mem_unmapped_async(void)
{
	char *p =
		mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cu_result r = cu.cuMemcpyDtoHAsync(p, mem, 64, s1);
	cu_result q = cu.cuStreamSynchronize(s1);

	say(r, "then %u", q);
}

static void mem_none(void)
{
	say(cu.cuMemcpyHtoD(mem, bogus(), 0), NULL);
}

static void mem_overlap(void)
{
	say(cu.cuMemcpyDtoDAsync(mem, mem + 16, 4096, s1), NULL);
}

static void mem_host_as_device(void)
{
	static char a[64], b[64] = "told";
	cu_result r = cu.cuMemcpyDtoDAsync((cu_ptr)(uintptr_t)a,
					   (cu_ptr)(uintptr_t)b, 64, s1);
	cu_result q = cu.cuStreamSynchronize(s1);

	say(r, "pageable host as device: then %u, %s", q, a);
}

static void mem_small_pageable(void)
{
	static char host[32768];
	cu_result r;

	if (failed(gate(s1)))
		return;
	host[0] = 1;
	r = cu.cuMemcpyHtoDAsync(mem, host, sizeof(host), s1);
	host[0] = 2;
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "32 KiB pageable, changed after the call: device has %u",
	    word(mem) & 255);
}

static void mem_large_pageable(void)
{
	char *host = calloc(1, 1 << 20);
	cu_result r;
	bool waited;

	if (failed(gate(s1)))
		return;
	host[0] = 1;
	r = cu.cuMemcpyHtoDAsync(mem, host, 1 << 20, s1);
	waited = gate_is_done();
	host[0] = 2;
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r,
	    "1 MiB pageable behind a running kernel: call %s; changed after "
	    "it: device has %u",
	    waited ? "waits" : "returns at once", word(mem) & 255);
}

static void mem_pageable_back(void)
{
	char *host = calloc(1, 1 << 20);
	cu_result r;
	bool waited;

	if (failed(gate(s1)))
		return;
	r = cu.cuMemcpyDtoHAsync(host, mem, 4096, s1);
	waited = gate_is_done();
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "4 KiB to pageable behind a running kernel: call %s",
	    waited ? "waits" : "returns at once");
}

static void mem_pinned_back(void)
{
	cu_result r;
	bool waited;

	if (failed(gate(s1)))
		return;
	r = cu.cuMemcpyDtoHAsync(flag + 16, mem, 64, s1);
	waited = gate_is_done();
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "to pinned behind a running kernel: call %s",
	    waited ? "waits" : "returns at once");
}

static void mem_managed_flags(void)
{
	cu_ptr at;

	say(cu.cuMemAllocManaged(&at, 4096, 0), NULL);
}

static void mem_managed(void)
{
	cu_ptr at = 0;
	uint32_t *host;
	cu_result r;

	if (failed(cu.cuMemAllocManaged(&at, 1 << 20, CU_MANAGED_GLOBAL)))
		return;
	host = (uint32_t *)(uintptr_t)at;
	host[0] = 5;
	if (failed(step(s1, at, 1)))
		return;
	r = cu.cuStreamSynchronize(s1);
	say(r, "one address for both: %u", host[0]);
	cu.cuMemFree(at);
}

static void mem_managed_busy(void)
{
	cu_ptr at = 0;

	if (failed(cu.cuMemAllocManaged(&at, 1 << 20, CU_MANAGED_GLOBAL)))
		return;
	if (failed(gate(s1)))
		return;
	((uint32_t *)(uintptr_t)at)[0] = 5;
	open_gate();
	say(cu.cuStreamSynchronize(s1),
	    "the host writes while a kernel runs (card)");
}

static void mem_async(void)
{
	cu_ptr at = 0;
	cu_result r = cu.cuMemAllocAsync(&at, 4096, s1), q, f;

	q = cu.cuMemFreeAsync(at, s1);
	f = cu.cuMemFreeAsync(at, s1);
	say(r, "free %u, again %u", q, f);
}

static void mem_async_mixed(void)
{
	cu_ptr at = 0;

	if (failed(cu.cuMemAllocAsync(&at, 4096, s1)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(cu.cuMemFree(at), "cuMemFree of cuMemAllocAsync's");
}

const struct check memory_checks[] = {
	{ "mem_zero", mem_zero, 0 },
	{ "mem_huge", mem_huge, 0 },
	{ "mem_enormous", mem_enormous, 0 },
	{ "mem_exhausted", mem_exhausted, OWN },
	{ "mem_free_null", mem_free_null, 0 },
	{ "mem_free_twice", mem_free_twice, 0 },
	{ "mem_free_interior", mem_free_interior, 0 },
	{ "mem_free_host", mem_free_host, 0 },
	{ "mem_free_busy", mem_free_busy, BRIEF },
	{ "mem_alloc_busy", mem_alloc_busy, 0 },
	{ "mem_register_busy", mem_register_busy, BRIEF },
	{ "mem_aligned", mem_aligned, 0 },
	{ "mem_attribute_host", mem_attribute_host, 0 },
	{ "mem_attribute", mem_attribute, 0 },
	{ "mem_range", mem_range, 0 },
	{ "mem_range_foreign", mem_range_foreign, 0 },
	{ "mem_beyond", mem_beyond, OWN },
	{ "mem_beyond_big", mem_beyond_big, OWN },
	{ "mem_wild", mem_wild, OWN },
	{ "mem_wild_async", mem_wild_async, OWN },
	{ "mem_freed", mem_freed, OWN },
	{ "mem_unmapped_host", mem_unmapped_host, OWN },
	{ "mem_unmapped_async", mem_unmapped_async, OWN },
	{ "mem_none", mem_none, 0 },
	{ "mem_overlap", mem_overlap, OWN },
	{ "mem_host_as_device", mem_host_as_device, OWN },
	{ "mem_small_pageable", mem_small_pageable, 0 },
	{ "mem_large_pageable", mem_large_pageable, 0 },
	{ "mem_pageable_back", mem_pageable_back, BRIEF },
	{ "mem_pinned_back", mem_pinned_back, 0 },
	{ "mem_managed_flags", mem_managed_flags, 0 },
	{ "mem_managed", mem_managed, 0 },
	{ "mem_managed_busy", mem_managed_busy, OWN },
	{ "mem_async", mem_async, OWN },
	{ "mem_async_mixed", mem_async_mixed, OWN },
	{ NULL, NULL, 0 },
};
