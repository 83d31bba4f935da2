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

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The kernel often gives the next range below the last: try without slack. */
static void *map_aligned(size_t size, size_t align)
{
	char *p = map(size), *at;

	if (!p || (uintptr_t)p % align == 0)
		return p;
	munmap(p, size);
	if (size + align < size)
		return NULL;
	p = map(size + align);
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

static void advise(void *at, size_t size, enum os_huge huge)
{
	if (huge == OS_HUGE_ALWAYS)
		madvise(at, size, MADV_HUGEPAGE);
	else if (huge == OS_HUGE_NEVER)
		madvise(at, size, MADV_NOHUGEPAGE);
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
	advise(at, size, p->huge);
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
