/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that go from one memory of a device to another stay there, where the
 * device can copy: lkdf_copy() and lkdf_realloc() carry nothing to the host.
 * Bytes that are carried are counted.
 */
#include "tests/api/device/memory.h"

static uint64_t host[BLOCK_NR], back[BLOCK_NR];

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t nr;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

static uint64_t carried(struct lkdf *rt)
{
	return stat_of(rt, "lkdf.device.uploaded_bytes") +
	       stat_of(rt, "lkdf.device.fetched_bytes");
}

/* Bytes that were carried while they went from block to block. */
static uint64_t copy_blocks(struct lkdf *rt, struct lkdf_place *p,
			    const char *how)
{
	uint64_t *a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	uint64_t *b = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES), nr;

	memory_fill(host, 7);
	memset(back, 0, sizeof(back));
	must(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES, NULL));
	nr = carried(rt);
	is(lkdf_copy(rt, NULL, b, a, BLOCK_BYTES, NULL), 0,
	   "%s: to another block", how);
	is(lkdf_copy(rt, NULL, b + 100, b + 300, 800, NULL), 0,
	   "%s: within a block, from its middle to its middle", how);
	nr = carried(rt) - nr;
	must(lkdf_copy(rt, NULL, back, b, BLOCK_BYTES, NULL));
	is(memory_first_wrong(back, 100, 7), -1, "%s: before it", how);
	is(memory_first_wrong(back + 100, 100, 307), -1, "%s: there", how);
	is(memory_first_wrong(back + 200, BLOCK_NR - 200, 207), -1,
	   "%s: and behind it right", how);
	lkdf_free(rt, a);
	lkdf_free(rt, b);
	return nr;
}

/* The same of a block that grows and shrinks. */
static uint64_t resize_block(struct lkdf *rt, struct lkdf_place *p,
			     const char *how)
{
	void *a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES / 2);
	uint64_t nr;

	memory_fill(host, 3);
	memset(back, 0, sizeof(back));
	must(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES / 2, NULL));
	nr = carried(rt);
	is(lkdf_realloc(rt, a, BLOCK_BYTES, &a), 0, "%s: it grows", how);
	is(lkdf_realloc(rt, a, BLOCK_BYTES / 4, &a), 0, "%s: it shrinks", how);
	nr = carried(rt) - nr;
	must(lkdf_copy(rt, NULL, back, a, BLOCK_BYTES / 4, NULL));
	is(memory_first_wrong(back, BLOCK_NR / 4, 3), -1, "%s: with its bytes",
	   how);
	lkdf_free(rt, a);
	return nr;
}

static void nothing_is_carried(struct lkdf *rt, struct lkdf_place *p,
			       const char *how)
{
	is(copy_blocks(rt, p, how), 0, "%s: blocks: nothing was carried", how);
	is(resize_block(rt, p, how), 0, "%s: realloc: nothing was carried",
	   how);
}

static const struct device_sort sorts[] = {
	{ "copies", EMU_OWN | EMU_COPIES, "workers=2" },
	{ "copies wild", EMU_OWN | EMU_COPIES | EMU_WILD, "workers=1" },
	{ "copies polls", EMU_OWN | EMU_COPIES | EMU_POLLS | EMU_ARMS,
	  "workers=2" },
	{ "copies serial", EMU_OWN | EMU_COPIES | EMU_WILD, "serial=yes" },
};

static void devices_that_copy(void)
{
	const struct device_sort *s = sorts;
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;
	size_t i;

	for (i = 0; i < sizeof(sorts) / sizeof(*sorts); i++, s++) {
		emu_init(&e, s->flags, memory_kernels);
		rt = api_open(s->options);
		p = emu_register(rt, &e);
		nothing_is_carried(rt, p, s->name);
		is(atomic_load(&e.nr[EMU_COPY]), 4, "%s: four copies", s->name);
		is((long long)atomic_load(&e.bytes_within),
		   BLOCK_BYTES + 800 + BLOCK_BYTES / 2 + BLOCK_BYTES / 4,
		   "%s: with their bytes", s->name);
		is(device_close(rt), 0, "%s: close", s->name);
		emu_check(&e, s->name);
	}
	device_opencl(nothing_is_carried, "workers=2,devices=opencl", 0);
	device_opencl(nothing_is_carried, "workers=2,devices=opencl", 2);
	device_opencl(nothing_is_carried, "serial=yes,devices=opencl", 1);
}

static void one_that_does_not_goes_by_the_host(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_place *p;
	struct emu e;

	emu_init(&e, EMU_OWN | EMU_WILD, memory_kernels);
	p = emu_register(rt, &e);
	is(copy_blocks(rt, p, "without"), 2 * (BLOCK_BYTES + 800),
	   "without: there and back");
	is(device_close(rt), 0, "without: close");
	emu_check(&e, "without");
}

static void two_devices_do(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_place *p[2];
	struct emu e[2];
	uint64_t *x[2];
	int i;

	memory_fill(host, 5);
	memset(back, 0, sizeof(back));
	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN | EMU_COPIES, memory_kernels);
		p[i] = emu_register(rt, &e[i]);
		x[i] = memory_alloc(p[i], LKDF_MEM_OWN, BLOCK_BYTES);
	}
	must(lkdf_copy(rt, NULL, x[0], host, BLOCK_BYTES, NULL));
	is(lkdf_copy(rt, NULL, x[1], x[0], BLOCK_BYTES, NULL), 0,
	   "from one device to another");
	must(lkdf_copy(rt, NULL, back, x[1], BLOCK_BYTES, NULL));
	is(memory_first_wrong(back, BLOCK_NR, 5), -1, "right");
	is(carried(rt), 4 * BLOCK_BYTES, "by way of the host");
	for (i = 0; i < 2; i++)
		lkdf_free(rt, x[i]);
	is(device_close(rt), 0, "two: close");
	emu_check(&e[0], "first of two");
	emu_check(&e[1], "second of two");
}

/* Refused, failed, or the device is gone. */
static void a_copy_that_fails_says_so(int error, bool is_late)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_place *p;
	struct emu e;
	void *a, *b;
	char how[48];

	snprintf(how, sizeof(how), "%s, %s", is_late ? "late" : "refused",
		 strerror(-error));
	emu_init(&e, EMU_OWN | EMU_COPIES, memory_kernels);
	e.fails_late = is_late;
	e.fail_error[EMU_COPY] = error;
	atomic_store(&e.fail_at[EMU_COPY], 1);
	p = emu_register(rt, &e);
	a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	b = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	must(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES, NULL));
	is(lkdf_copy(rt, NULL, b, a, BLOCK_BYTES, NULL), error,
	   "%s: the error of the copy", how);
	is(lkdf_copy(rt, NULL, b, a, BLOCK_BYTES, NULL),
	   error == -ENODEV ? -ENODEV : 0, "%s: the next one", how);
	e.is_lost = error == -ENODEV;
	lkdf_free(rt, a);
	lkdf_free(rt, b);
	lkdf_scope_error(rt, NULL, LKDF_ATTR(lkdf_error, .err = 0));
	is(device_close(rt), 0, "%s: close", how);
	emu_check(&e, how);
}

int main(void)
{
	tap_start(120);
	devices_that_copy();
	one_that_does_not_goes_by_the_host();
	two_devices_do();
	a_copy_that_fails_says_so(-EIO, false);
	a_copy_that_fails_says_so(-EIO, true);
	a_copy_that_fails_says_so(-ENODEV, false);
	a_copy_that_fails_says_so(-ENODEV, true);
	return tap_end();
}
