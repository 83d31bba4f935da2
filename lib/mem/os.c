/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/os.h"

#include "base/util.h"

#include <errno.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define HUGE_PAGE ((size_t)2 << 20)

static void *map_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The kernel often gives the next range below the last: try without slack. */
static void *map_aligned(size_t size, size_t align)
{
	char *p = map_pages(size), *at;

	if (!p || (uintptr_t)p % align == 0)
		return p;
	munmap(p, size);
	if (size + align < size)
		return NULL;
	p = map_pages(size + align);
	if (!p)
		return NULL;
	at = (char *)round_up((uintptr_t)p, align);
	if (at > p)
		munmap(p, (size_t)(at - p));
	if (at < p + align)
		munmap(at + size, (size_t)(p + align - at));
	return at;
}

int os_bind(void *at, size_t size, const struct os_policy *p)
{
	int mode = p->is_interleaved ? MPOL_INTERLEAVE : MPOL_PREFERRED;

	if (!p->is_bound)
		return 0;
	/* Not through libnuma: its constructor allocates. */
	if (syscall(SYS_mbind, at, size, mode, p->nodes, OS_MAX_NODES, 0))
		return -errno;
	return 0;
}

static void advise_range(void *at, size_t size, enum os_huge huge)
{
	if (huge == OS_HUGE_ALWAYS)
		madvise(at, size, MADV_HUGEPAGE);
	else if (huge == OS_HUGE_NEVER)
		madvise(at, size, MADV_NOHUGEPAGE);
}

void os_huge(void *at, size_t size, enum os_huge policy)
{
	if (policy != OS_HUGE_NEVER && size > HUGE_PAGE)
		advise_range(at, round_up(size, PAGE), OS_HUGE_ALWAYS);
}

void *os_map(size_t size, size_t align, const struct os_policy *p, int *error,
	     int *bind_error)
{
	void *at = map_aligned(size, align);
	int rc;

	if (!at) {
		*error = errno;
		return NULL;
	}
	rc = os_bind(at, size, p);
	if (rc)
		*bind_error = -rc;
	advise_range(at, size, p->huge);
	if (p->is_locked && mlock(at, size)) {
		*error = errno;
		munmap(at, size);
		return NULL;
	}
	return at;
}

void os_unmap(void *at, size_t size)
{
	munmap(at, size);
}

void os_decommit(void *at, size_t size)
{
	madvise(at, size, MADV_DONTNEED);
}

bool os_populate(void *at, size_t size)
{
	size_t i;

#ifdef MADV_POPULATE_WRITE
	if (!madvise(at, size, MADV_POPULATE_WRITE))
		return true;
	if (errno != EINVAL)
		return false;
#endif
	for (i = 0; i < size; i += 4096)
		((volatile char *)at)[i] = 0;
	return true;
}

bool os_where(void *const *page, unsigned nr, int *node)
{
	return syscall(SYS_move_pages, 0, nr, page, NULL, node, 0) == 0;
}

#define MOVE_BATCH 128

/* The pages that are not on the node go to the front. Returns their number. */
static unsigned pages_off(void **page, unsigned nr, const int *status,
			  int os_node)
{
	unsigned i, n = 0;

	for (i = 0; i < nr; i++)
		if (status[i] >= 0 && status[i] != os_node)
			page[n++] = page[i];
	return n;
}

/*
 * Linux 6.1 neither locates nor moves pages that wait for an AutoNUMA hint. A
 * look at them gives it, which touches nothing behind PROT_NONE; absent pages
 * stay absent. True: some may have a node now. The pages are in a row.
 */
static bool reveal_range(void *const *page, unsigned nr, const int *status)
{
	bool is_any = false;
#ifdef MADV_POPULATE_READ
	unsigned char is_present[MOVE_BATCH];
	unsigned i;

	for (i = 0; i < nr && status[i] >= 0; i++)
		;
	if (i == nr || mincore(page[0], (size_t)nr * PAGE, is_present))
		return false;
	for (; i < nr; i++)
		if (status[i] < 0 && is_present[i] & 1)
			is_any |= !madvise(page[i], PAGE, MADV_POPULATE_READ);
#else
	(void)page, (void)nr, (void)status;
#endif
	return is_any;
}

/* Pages in a row: how many moved, or -errno. */
static int64_t move_batch(void **page, unsigned nr, int os_node)
{
	int node[MOVE_BATCH], status[MOVE_BATCH];
	unsigned i, nr_off;

	if (!os_where(page, nr, status) ||
	    (reveal_range(page, nr, status) && !os_where(page, nr, status)))
		return 0;
	nr_off = pages_off(page, nr, status, os_node);
	for (i = 0; i < nr_off; i++)
		node[i] = os_node;
	if (!nr_off)
		return 0;
	if (syscall(SYS_move_pages, 0, nr_off, page, node, status,
		    MPOL_MF_MOVE) < 0)
		return -errno;
	/* Asked again: the status of a part of a huge page says little. */
	if (!os_where(page, nr_off, status))
		return 0;
	return nr_off - pages_off(page, nr_off, status, os_node);
}

int64_t os_move(void *at, size_t size, int os_node)
{
	char *p = (char *)round_up((uintptr_t)at, PAGE);
	char *end = (char *)(((uintptr_t)at + size) / PAGE * PAGE);
	void *page[MOVE_BATCH];
	int64_t moved = 0, n = 0;
	unsigned nr;

	while (p < end && n >= 0) {
		for (nr = 0; nr < MOVE_BATCH && p < end; p += PAGE)
			page[nr++] = p;
		n = move_batch(page, nr, os_node);
		moved += n * PAGE;
	}
	return n < 0 ? n : moved;
}

/* Pages that are asked about a range. */
#define NR_ASKED 16

int os_node_of(void *at, size_t size, bool *is_all)
{
	uintptr_t first = round_up((uintptr_t)at, PAGE) / PAGE;
	uintptr_t end = ((uintptr_t)at + size) / PAGE;
	int status[NR_ASKED], node = -1;
	void *page[NR_ASKED];
	uint32_t at_2_32;
	unsigned i;

	/* Spread, but at no equal distances: interleaved pages are at such. */
	for (i = 0; i < NR_ASKED && first < end; i++) {
		at_2_32 = i * 0x9e3779b9u;
		page[i] = (void *)((first + ((end - first) * at_2_32 >> 32)) *
				   PAGE);
	}
	*is_all = first < end && os_where(page, NR_ASKED, status);
	if (!*is_all)
		return -1;
	for (i = 0; i < NR_ASKED; i++) {
		*is_all &= status[i] >= 0;
		if (status[i] < 0)
			continue;
		if (node >= 0 && node != status[i])
			return OS_SPREAD;
		node = status[i];
	}
	return node;
}

int64_t os_coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int os_current_node(void)
{
	unsigned node;

	return getcpu(NULL, &node) ? 0 : (int)node;
}
