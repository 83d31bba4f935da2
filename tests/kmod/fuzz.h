/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Of fuzz_ioctl.c what is not about calls: the processes and their threads,
 * choices, what of the module was reached (KCOV), and threads that churn the
 * address space under the calls.
 */
#ifndef LKDF_TESTS_KMOD_FUZZ_H
#define LKDF_TESTS_KMOD_FUZZ_H

#include "device.h"

#define NR_FUZZERS 2
#define NR_FILES 6
#define NR_COMMON 2 /* of these, shared by all processes */
#define NR_AREAS 4
#define AREA (8 * MIB)
#define NR_CALLS 6

/* A process changes its memory once in so many calls. */
#define CHURN_CALLS 64

/* Most ranges are short, so that there are many. */
#define NR_PAGES (AREA / PAGE)
#define SHORT_PAGES 32

#define COVER (4 << 10)
#define NR_SEEN (8 << 10)

/* One of so many is looked at for what it has reached. */
#define COVER_EVERY 32

#define KCOV_INIT _IOR('c', 1, unsigned long)
#define KCOV_ENABLE _IO('c', 100)

/* Shared by all processes; anyone adds. */
struct shared {
	unsigned long ok[NR_CALLS], failed[NR_CALLS], others, killed;
	unsigned long seen[NR_SEEN]; /* code addresses reached, hashed */
	int has_kcov;
};

/* One process; its threads share it without any order, that is the idea. */
struct process {
	struct shared *shared;
	int fds[NR_FILES];
	char *areas[NR_AREAS];
	char *maps[NR_FILES];
	unsigned long nr_calls;
};

struct fuzzer {
	struct process *p;
	unsigned seed;
	int kcov; /* only root can open it */
	unsigned long *cover;
};

static unsigned below(struct fuzzer *f, unsigned n)
{
	return rand_r(&f->seed) % n;
}

static uint64_t odd_number(struct fuzzer *f)
{
	static const uint64_t odd[] = { 0,	     1,
					7,	     4095,
					4096,	     1ULL << 21,
					1ULL << 40,  (1ULL << 40) + 4096,
					1ULL << 47,  1ULL << 56,
					1ULL << 63,  UINT32_MAX,
					UINT64_MAX,  UINT64_MAX - 4095,
					0xdeadbeef00 };

	return odd[below(f, sizeof(odd) / sizeof(odd[0]))];
}

static char *area(struct fuzzer *f)
{
	return f->p->areas[below(f, NR_AREAS)];
}

/* Of so many, and at least one. */
static unsigned some_pages(struct fuzzer *f, unsigned max)
{
	if (max > SHORT_PAGES && below(f, 32))
		max = SHORT_PAGES;
	return 1 + below(f, max);
}

static void add(unsigned long *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

static void note_cover(struct fuzzer *f)
{
	unsigned long nr, i, at;

	if (!f->cover || below(f, COVER_EVERY))
		return;
	nr = __atomic_load_n(&f->cover[0], __ATOMIC_RELAXED);
	for (i = 1; i <= nr && i < COVER; i++) {
		at = f->cover[i] * 0x9e3779b97f4a7c15ULL >> 51;
		__atomic_store_n(&f->p->shared->seen[at % NR_SEEN], f->cover[i],
				 __ATOMIC_RELAXED);
	}
}

static void forget_cover(struct fuzzer *f)
{
	if (f->cover)
		__atomic_store_n(&f->cover[0], 0, __ATOMIC_RELAXED);
}

static void start_cover(struct fuzzer *f)
{
	void *mem;

	f->cover = NULL;
	if (f->kcov < 0 || ioctl(f->kcov, KCOV_INIT, COVER))
		return;
	mem = mmap(NULL, COVER * 8, PROT_READ | PROT_WRITE, MAP_SHARED, f->kcov,
		   0);
	if (mem == MAP_FAILED || ioctl(f->kcov, KCOV_ENABLE, 0))
		return;
	f->cover = mem;
	f->p->shared->has_kcov = 1;
}

static void churn_once(struct fuzzer *f)
{
	unsigned page = below(f, NR_PAGES);
	size_t off = page * PAGE, len = some_pages(f, NR_PAGES - page) * PAGE;
	char *a = area(f);

	switch (below(f, 9)) {
	case 0:
		mmap(a + off, len, PROT_READ | PROT_WRITE,
		     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case 1:
		munmap(a + off, len);
		break;
	case 2:
		madvise(a + off, len, MADV_DONTNEED);
		break;
	case 3:
		/* A page of 2 MiB takes long to clear and to copy. */
		madvise(a, AREA, below(f, 8) ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
		break;
	case 4:
		move_memory(a + off, len, PAGE, below(f, 4));
		break;
	case 5:
		mprotect(a + off, len, 1 << below(f, 2));
		break;
	case 6:
		mremap(a + off, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
		       area(f));
		break;
	case 7:
		if (fork() == 0)
			_exit(0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		break;
	case 8:
		/* Fails where nothing is mapped; faults in where something is.
		 */
		madvise(a + off, len, 23); /* MADV_POPULATE_WRITE */
		break;
	}
}

static unsigned long calls_of(const struct process *p)
{
	return __atomic_load_n(&p->nr_calls, __ATOMIC_RELAXED);
}

/* Not for ever: calls may wait for what churning does. */
static void wait_for_calls(const struct process *p)
{
	unsigned long start = calls_of(p);
	int i;

	for (i = 0; i < 5000 && calls_of(p) - start < CHURN_CALLS; i++)
		usleep(1000);
}

static void *churn(void *arg)
{
	struct fuzzer *f = arg;

	for (;;) {
		churn_once(f);
		wait_for_calls(f->p);
	}
	return NULL;
}

#endif
