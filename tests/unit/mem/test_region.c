/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions: zeroed and aligned whatever the size, and a resize keeps what was
 * there and zeroes the rest, on either side of the size at which pages come
 * straight from the kernel.
 */
#include "mem/region.h"
#include "tests/tap.h"

#include <stdint.h>

#define EDGE ((size_t)65536)

/* Bytes from .. to that are not the value. */
static size_t nr_other(const unsigned char *p, size_t from, size_t to, int v)
{
	size_t i, nr = 0;

	for (i = from; i < to; i++)
		nr += p[i] != v;
	return nr;
}

static void new_regions_are_zero(void)
{
	static const size_t size[] = { 1,	 63,   64,	 4096,
				       EDGE - 1, EDGE, EDGE + 1, 3 * EDGE };
	unsigned char *p;
	size_t i;

	ok(region_alloc(0) == NULL, "no bytes are no region");
	for (i = 0; i < sizeof(size) / sizeof(*size); i++) {
		p = region_alloc(size[i]);
		if (!ok(p != NULL, "%zu bytes", size[i]))
			continue;
		is((uintptr_t)p % 64, 0, "%zu bytes start a cache line",
		   size[i]);
		is(nr_other(p, 0, size[i], 0), 0, "%zu bytes are zero",
		   size[i]);
		memset(p, 0xa5, size[i]);
		region_free(p, size[i]);
	}
	region_free(NULL, 64);
}

/* Memory of the heap that was used before has to be cleared too. */
static void used_memory_comes_back_zero(void)
{
	unsigned char *p;
	size_t nr_bad = 0;
	int i;

	for (i = 0; i < 8; i++) {
		p = region_alloc(1024);
		if (!p)
			break;
		nr_bad += nr_other(p, 0, 1024, 0);
		memset(p, 0xff, 1024);
		region_free(p, 1024);
	}
	is(i, 8, "eight regions one after another");
	is(nr_bad, 0, "each is zero though the last was not");
}

static void resize_one(size_t from, size_t to)
{
	size_t kept = from < to ? from : to;
	unsigned char *p = region_alloc(from), *q;

	if (!ok(p != NULL, "%zu bytes", from))
		return;
	memset(p, 0x5a, from);
	q = region_resize(p, from, to);
	if (!ok(q != NULL, "%zu to %zu bytes", from, to)) {
		region_free(p, from);
		return;
	}
	is(nr_other(q, 0, kept, 0x5a), 0, "%zu to %zu: contents are kept", from,
	   to);
	is((uintptr_t)q % 64, 0, "%zu to %zu: aligned", from, to);
	is(nr_other(q, kept, to, 0), 0, "%zu to %zu: the rest is zero", from,
	   to);
	region_free(q, to);
}

static void resize_keeps_and_zeroes(void)
{
	unsigned char *p = region_resize(NULL, 0, 128);

	ok(p && !nr_other(p, 0, 128, 0), "a resize of nothing is an alloc");
	region_free(p, 128);
	resize_one(64, 128);
	resize_one(4096, EDGE - 64);
	resize_one(EDGE - 64, EDGE);
	resize_one(EDGE / 2, 4 * EDGE);
	resize_one(EDGE, 2 * EDGE);
	resize_one(2 * EDGE, 32 * EDGE);
	resize_one(2 * EDGE, EDGE);
	resize_one(EDGE, EDGE - 64);
	resize_one(2 * EDGE, 64);
}

int main(void)
{
	tap_start(60);
	new_regions_are_zero();
	used_memory_comes_back_zero();
	resize_keeps_and_zeroes();
	return tap_end();
}
