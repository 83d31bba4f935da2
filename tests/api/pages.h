/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of lkdf_pages() share: mappings that do not merge with their
 * neighbours, all fields of an answer added up, children in which the kernel
 * refuses move_pages(2).
 */
#ifndef TESTS_API_PAGES_H
#define TESTS_API_PAGES_H

#include "tests/api/api.h"
#include "tests/forbid.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE 4096ull
#define MIB (1ull << 20)
#define MAX_NODES 1024

/* A mapping of its own: nobody's neighbour. Aligned to 2 MiB. */
__attribute__((unused)) static char *pages_map(uint64_t bytes)
{
	size_t room = bytes + 6 * MIB;
	char *p = mmap(NULL, room, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	p = (char *)(((uintptr_t)p + 4 * MIB - 1) & ~(uintptr_t)(2 * MIB - 1));
	mprotect(p, bytes, PROT_READ | PROT_WRITE);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

__attribute__((unused)) static void pages_unmap(char *p, uint64_t bytes)
{
	munmap(p, bytes);
}

__attribute__((unused)) static void pages_touch(char *p, uint64_t bytes)
{
	uint64_t i;

	for (i = 0; i < bytes; i += PAGE)
		((volatile char *)p)[i] = 1;
}

/* A whole walk added up. */
struct pages_sum {
	uint64_t on[MAX_NODES], present, bytes, absent, unknown;
	uint32_t flags, sources;
	int nr_mappings, rc;
};

__attribute__((unused)) static int pages_add(void *u,
					     const struct lkdf_mapping *m)
{
	struct pages_sum *s = u;
	uint32_t i;

	for (i = 0; i < m->nr_nodes; i++) {
		s->on[i] += m->bytes_on_node[i];
		s->present += m->bytes_on_node[i];
	}
	s->bytes += m->bytes;
	s->absent += m->absent;
	s->unknown += m->unknown;
	s->flags |= m->flags;
	s->sources |= m->sources;
	s->nr_mappings++;
	return 0;
}

__attribute__((unused)) static struct pages_sum
pages_walk(struct lkdf *rt, int pid, const void *addr, uint64_t bytes)
{
	struct pages_sum s;

	memset(&s, 0, sizeof(s));
	s.rc = lkdf_pages_walk(rt, pid, addr, bytes, pages_add, &s);
	return s;
}

/* Bytes on all nodes together, or the error. */
__attribute__((unused)) static int64_t
pages_count(struct lkdf *rt, int pid, const void *addr, uint64_t bytes)
{
	static uint64_t on[MAX_NODES];
	int rc = lkdf_pages(rt, pid, addr, bytes, on, MAX_NODES), i;
	int64_t sum = 0;

	for (i = 0; i < rc; i++)
		sum += (int64_t)on[i];
	return rc < 0 ? rc : sum;
}

/* From here on move_pages(2) fails with err in this process. */
__attribute__((unused)) static int pages_refuse(int err)
{
	return forbid_call(SYS_move_pages, (unsigned)err);
}

/*
 * Runs fn in a child whose tests count as ours: it returns the number of
 * tests by its exit status, and 200 more if one failed.
 */
__attribute__((unused)) static void pages_in_child(void (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int before = tap_nr;

		watchdog_set(30);
		tap_failed = 0;
		fn();
		_exit(tap_nr - before + (tap_failed ? 200 : 0));
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status)) {
		ok(false, "the child ends");
		return;
	}
	status = WEXITSTATUS(status);
	tap_failed += status >= 200;
	tap_nr += status % 200;
}

#endif
