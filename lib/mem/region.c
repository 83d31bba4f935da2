/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/region.h"

#include "base/util.h"
#include "mem/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* From here on pages come from mmap; below, a page would be too much. */
#define MMAP_FROM 65536
#define PAGE REGION_PAGE
#define POPULATE_UP_TO (16u << 20)

static bool is_mapped(size_t size)
{
	return size >= MMAP_FROM;
}

static size_t mapped_size(size_t size)
{
	return round_up(size, PAGE);
}

/*
 * The pages of a grown part at once: a fault for each costs several times as
 * much. Large parts are left to faults, for they may stay untouched.
 */
static void populate_region(char *from, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	if (size <= POPULATE_UP_TO)
		madvise(from, size, MADV_POPULATE_WRITE);
#else
	(void)from;
	(void)size;
#endif
}

void *region_map(size_t size)
{
	void *p = mmap(NULL, mapped_size(size), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *region_reserve(size_t size)
{
	void *p = mmap(NULL, mapped_size(size), PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void region_unmap(void *region, size_t size)
{
	if (region)
		munmap(region, mapped_size(size));
}

void region_prefer(void *at, size_t size, int os_node)
{
	struct os_policy p = { .is_bound = true };

	if (os_node < 0 || os_node >= OS_MAX_NODES)
		return;
	p.nodes[os_node / 64] = 1ul << os_node % 64;
	os_bind(at, mapped_size(size), &p);
}

void *region_alloc(size_t size)
{
	void *p;

	if (!size)
		return NULL;
	if (is_mapped(size))
		return region_map(size);
	p = aligned_alloc(CACHE_LINE, round_up(size, CACHE_LINE));
	if (p)
		memset(p, 0, round_up(size, CACHE_LINE));
	return p;
}

static void *resize_by_copy(void *region, size_t old_size, size_t size)
{
	void *p = region_alloc(size);

	if (!p)
		return NULL;
	memcpy(p, region, old_size < size ? old_size : size);
	region_free(region, old_size);
	return p;
}

void *region_resize(void *region, size_t old_size, size_t size)
{
	void *p;

	if (!region)
		return region_alloc(size);
	if (!is_mapped(old_size) || !is_mapped(size))
		return resize_by_copy(region, old_size, size);
	p = mremap(region, mapped_size(old_size), mapped_size(size),
		   MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return NULL;
	if (size > old_size)
		populate_region((char *)p + mapped_size(old_size),
				mapped_size(size) - mapped_size(old_size));
	return p;
}

void region_free(void *region, size_t size)
{
	if (!region)
		return;
	if (is_mapped(size))
		munmap(region, mapped_size(size));
	else
		free(region);
}
