/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the pages of a range are, on the machine at hand: counts are those of
 * the pages we touched, nothing is brought in by asking, and what the kernel
 * refuses is answered by another source or by an error that names it. Pages on
 * several nodes are for tests/vm/test_pages.c.
 */
#include "tests/api/pages.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct lkdf *rt;

static uint64_t resident(char *p, uint64_t bytes)
{
	static unsigned char vec[1 << 17];
	uint64_t i, nr = 0;

	mincore(p, bytes, vec);
	for (i = 0; i < bytes / PAGE; i++)
		nr += vec[i] & 1;
	return nr;
}

static void touched_pages_are_counted_and_no_other(void)
{
	uint64_t size = 1000 * PAGE, i;
	struct pages_sum s;
	char *p = pages_map(size);

	is(pages_count(rt, 0, p, size), 0, "nothing is present at first");
	is(resident(p, size), 0, "asking brings nothing in");
	for (i = 0; i < size; i += 3 * PAGE)
		p[i] = 1;
	is(pages_count(rt, 0, p, size), 334 * PAGE, "each third page");
	is(resident(p, size), 334, "asking brings nothing more in");
	is(pages_count(rt, getpid(), p, size), 334 * PAGE,
	   "by its number the process sees the same");
	s = pages_walk(rt, 0, p, size);
	is(s.rc, 0, "the walk ends well");
	is(s.nr_mappings, 1, "one mapping");
	is(s.present, 334 * PAGE, "the walk counts the same");
	is(s.absent, 666 * PAGE, "the others are absent");
	is(s.unknown, 0, "none is unknown");
	is(s.flags, 0, "it is exact");
	s = pages_walk(rt, 0, p + PAGE, size - PAGE);
	is(s.present, 333 * PAGE, "a part is counted page by page");
	is(s.sources, LKDF_PAGES_MOVE, "by move_pages");
	is(s.flags, 0, "exactly");
	pages_unmap(p, size);
}

static void edges_count_by_the_byte(void)
{
	char *p = pages_map(4 * PAGE);
	struct pages_sum s;

	pages_touch(p, 2 * PAGE);
	is(pages_count(rt, 0, p + 100, 50), 50, "inside one page");
	is(pages_count(rt, 0, p + 100, PAGE), PAGE, "across two");
	is(pages_count(rt, 0, p + PAGE + 96, 2 * PAGE), PAGE - 96,
	   "begins in a present page, ends in an absent one");
	s = pages_walk(rt, 0, p + PAGE + 96, 2 * PAGE);
	is(s.absent, PAGE + 96, "the rest is absent");
	is(s.bytes, 2 * PAGE, "they add up");
	pages_unmap(p, 4 * PAGE);
}

static void holes_are_left_out(void)
{
	char *p = pages_map(30 * PAGE);
	struct pages_sum s;

	pages_touch(p, 30 * PAGE);
	munmap(p + 10 * PAGE, 10 * PAGE);
	s = pages_walk(rt, 0, p, 30 * PAGE);
	is(s.nr_mappings, 2, "two mappings");
	is(s.bytes, 20 * PAGE, "the hole is in neither");
	is(s.present, 20 * PAGE, "all of both is present");
	is(pages_count(rt, 0, p + 5 * PAGE, 20 * PAGE), 10 * PAGE,
	   "a range across the hole");
	is(pages_count(rt, 0, p + 10 * PAGE, 10 * PAGE), -EFAULT,
	   "nothing but hole");
	has(lkdf_errmsg(), "nothing is mapped", "it says so");
	pages_unmap(p, 30 * PAGE);
}

static void the_zero_page_is_on_no_node(void)
{
	uint64_t size = 64 * PAGE, i;
	char *p = pages_map(size), sum = 0;
	struct pages_sum s;

	pages_touch(p, size / 4);
	for (i = size / 2; i < size; i += PAGE)
		sum |= ((volatile char *)p)[i];
	is(sum, 0, "half of it has been read only");
	is(resident(p, size), 48, "the kernel calls those pages resident");
	is(pages_count(rt, 0, p, size), size / 4, "they are on no node");
	s = pages_walk(rt, 0, p + PAGE, size - PAGE);
	is(s.present, size / 4 - PAGE, "nor in a part of the mapping");
	is(s.unknown, 0, "they are not unknown either");
	is(s.flags, 0, "all of this is exact");
	pages_unmap(p, size);
}

static void pages_behind_prot_none_are_counted(void)
{
	char *p = pages_map(64 * PAGE);

	pages_touch(p, 32 * PAGE);
	mprotect(p, 64 * PAGE, PROT_NONE);
	munmap(p + 64 * PAGE, MIB);
	munmap(p - MIB, MIB);
	is(pages_count(rt, 0, p, 64 * PAGE), 32 * PAGE, "in the whole");
	is(pages_count(rt, 0, p + 16 * PAGE, 32 * PAGE), 16 * PAGE, "in part");
	pages_unmap(p, 64 * PAGE);
}

static void transparent_huge_pages_count_their_bytes(void)
{
	uint64_t size = 8 * MIB;
	char *p = pages_map(size);
	struct pages_sum s;

	madvise(p, size, MADV_HUGEPAGE);
	pages_touch(p, 1);
	pages_touch(p + 2 * MIB, 2 * MIB);
	s = pages_walk(rt, 0, p, size);
	is(s.present, (int64_t)(resident(p, size) * PAGE),
	   "as many bytes as are resident (%llu KiB)",
	   (unsigned long long)s.present / 1024);
	is(s.present + s.absent, size, "the rest is absent");
	ok(!(s.flags & LKDF_MAPPING_HUGETLB), "and it is no hugetlb");
	is(pages_count(rt, 0, p + 3 * MIB, 100 * PAGE), 100 * PAGE,
	   "inside a huge page");
	pages_unmap(p, size);
}

static void hugetlb_pages_count_their_bytes(void)
{
	uint64_t size = 4 * MIB;
	struct pages_sum s;
	char *p;

	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p == MAP_FAILED) {
		skip("hugetlb pages count their bytes",
		     "the pool has no huge pages");
		return;
	}
	p[0] = 1;
	s = pages_walk(rt, 0, p, size);
	is(s.present, 2 * MIB, "one huge page");
	is(s.absent, 2 * MIB, "the other is absent");
	is(s.flags, LKDF_MAPPING_HUGETLB, "it is hugetlb");
	is(pages_count(rt, 0, p + MIB, 2 * MIB), MIB, "half of each");
	munmap(p, size);
}

static void files_and_shared_memory_count_what_is_mapped(void)
{
	int fd = memfd_create("pages", MFD_CLOEXEC);
	struct pages_sum s;
	char *p, *q;

	if (ftruncate(fd, 16 * PAGE))
		ok(false, "the file grows");
	p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	q = mmap(NULL, 16 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	pages_touch(p, 8 * PAGE);
	is(pages_count(rt, 0, p, 16 * PAGE), 8 * PAGE, "pages of a memfd");
	s = pages_walk(rt, 0, q, 16 * PAGE);
	is(s.present, 0, "not where they are not mapped");
	is(s.absent, 16 * PAGE, "there they are absent");
	munmap(p, 16 * PAGE);
	munmap(q, 16 * PAGE);
	close(fd);
}

/* Blocks of 2 MiB, present or not: four pages of each tell it exactly. */
static void large_ranges_are_sampled(void)
{
	uint64_t size = 320 * MIB, i;
	char *p = pages_map(size);
	struct pages_sum s;

	for (i = 0; i < size; i += 10 * MIB)
		pages_touch(p + i, 4 * MIB);
	s = pages_walk(rt, 0, p, size);
	is(s.present, 128 * MIB, "the whole mapping");
	is(s.flags, 0, "is exact");
	is(s.sources, LKDF_PAGES_NUMA_MAPS, "by numa_maps");
	s = pages_walk(rt, 0, p + PAGE, size - PAGE);
	is(s.present, 128 * MIB - PAGE, "a part of it");
	is(s.flags, LKDF_MAPPING_SAMPLED, "is sampled");
	is(s.bytes, size - PAGE, "nothing is lost");
	pages_touch(p + 16 * MIB, 300 * PAGE);
	pages_touch(p + 27 * MIB, 200 * PAGE);
	s = pages_walk(rt, 0, p + PAGE, size - PAGE);
	is(s.present, 128 * MIB + 499 * PAGE,
	   "mixed blocks are asked page by page");
	pages_unmap(p, size);
}

static void bad_arguments_are_refused(void)
{
	uint64_t on[2] = { 7, 7 };
	char *p = pages_map(PAGE);
	int nr;

	is(lkdf_pages(NULL, 0, p, 1, on, 2), -EINVAL, "no runtime");
	is(lkdf_pages(rt, -1, p, 1, on, 2), -EINVAL, "a negative process");
	is(lkdf_pages(rt, 0, p, 0, on, 2), -EINVAL, "no bytes");
	is(lkdf_pages(rt, 0, p, UINT64_MAX, on, 2), -EINVAL, "wraps around");
	is(lkdf_pages(rt, 0, p, 1, NULL, 1), -EINVAL, "no array");
	is(lkdf_pages_walk(rt, 0, p, 1, NULL, NULL), -EINVAL, "no function");
	is(lkdf_pages(rt, 0, NULL, PAGE, on, 2), -EFAULT, "the zero address");
	nr = lkdf_pages(rt, 0, p, PAGE, NULL, 0);
	ok(nr >= 1, "without an array it tells the entries needed: %d", nr);
	*p = 1;
	on[0] = on[1] = 7;
	ok(lkdf_pages(rt, 0, p, PAGE, on, 2) >= 1, "two entries");
	ok(on[0] != 7 && on[1] != 7, "all of the array is written");
	pages_unmap(p, PAGE);
}

static int stop_at_two(void *u, const struct lkdf_mapping *m)
{
	(void)m;
	return ++*(int *)u == 2 ? 77 : 0;
}

static void the_whole_process_can_be_walked(void)
{
	struct pages_sum s = pages_walk(rt, 0, NULL, UINT64_MAX);
	int calls = 0;

	is(s.rc, 0, "it is walked");
	ok(s.nr_mappings > 10, "%d mappings", s.nr_mappings);
	ok(s.present > MIB && s.present < s.bytes, "%llu KiB present",
	   (unsigned long long)s.present / 1024);
	is(s.present + s.absent + s.unknown, s.bytes, "all adds up");
	is(lkdf_pages_walk(rt, 0, NULL, UINT64_MAX, stop_at_two, &calls), 77,
	   "the function ends it");
	is(calls, 2, "at once");
}

static void another_process_can_be_asked(void)
{
	char *p = pages_map(16 * PAGE);
	pid_t pid;

	pages_touch(p, 4 * PAGE);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	munmap(p, 16 * PAGE);
	is(pages_count(rt, pid, p, 16 * PAGE), 4 * PAGE, "a child's pages");
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	ok(pages_count(rt, pid, p, 16 * PAGE) < 0, "a zombie has none: %s",
	   lkdf_errmsg());
	waitpid(pid, NULL, 0);
	is(pages_count(rt, pid, p, 16 * PAGE), -ESRCH, "it is gone");
	has(lkdf_errmsg(), "no process", "it says so");
}

/* In a child: the runtime of the parent is not ours. */
static void with_move_pages_refused(int err)
{
	uint64_t size = 100 * PAGE, i;
	char *p = pages_map(size);
	struct pages_sum s;

	rt = api_open("workers=1");
	for (i = 0; i < size; i += 2 * PAGE)
		p[i] = 1;
	is(pages_refuse(err), 0, "move_pages is refused");
	is(pages_count(rt, 0, p, size), size / 2, "numa_maps counts the same");
	s = pages_walk(rt, 0, p, size);
	is(s.sources, LKDF_PAGES_NUMA_MAPS, "and is named");
	is(s.flags, 0, "exactly");
	s = pages_walk(rt, 0, p + PAGE, size / 2);
	is(s.present, size / 4, "a part of the mapping");
	s = pages_walk(rt, 0, p, 300 * MIB);
	is(s.rc, 0, "a range that ends somewhere");
}

static void eperm(void)
{
	with_move_pages_refused(EPERM);
}

static void enosys(void)
{
	with_move_pages_refused(ENOSYS);
}

/* It does not let a forked child start threads. */
#ifdef __SANITIZE_THREAD__
#define HAS_TSAN true
#else
#define HAS_TSAN false
#endif

static void refused_calls_fall_back_to_numa_maps(void)
{
	pages_in_child(eperm);
	pages_in_child(enosys);
}

/* In a child, as root, in a mount namespace of its own. */
static void without_proc(void)
{
	char *p = pages_map(100 * PAGE);
	struct pages_sum s;

	rt = api_open("workers=1");
	pages_touch(p, 40 * PAGE);
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL)) {
		skip("without /proc move_pages answers",
		     "no right to hide /proc");
		return;
	}
	is(pages_count(rt, 0, p, 100 * PAGE), 40 * PAGE,
	   "without /proc move_pages answers");
	s = pages_walk(rt, 0, p, 100 * PAGE);
	is(s.absent, 60 * PAGE, "the others are called absent");
	is(s.flags, LKDF_MAPPING_UNCHECKED, "but that is unchecked");
	is(pages_walk(rt, 0, NULL, UINT64_MAX).rc, -EPERM,
	   "a whole process needs its maps");
	has(lkdf_errmsg(), "maps", "it says so");
	is(pages_refuse(EPERM), 0, "move_pages is refused too");
	is(pages_count(rt, 0, p, 100 * PAGE), -EPERM, "now nobody answers");
	has(lkdf_errmsg(), "move_pages(2)", "it names the call");
	has(lkdf_errmsg(), "numa_maps", "and the file");
}

/* In a child: without rights over its parent. */
static void as_nobody(void)
{
	char *p = pages_map(10 * PAGE);
	pid_t root = getppid();

	if (geteuid() || setgid(65534) || setuid(65534)) {
		skip("processes of others are refused",
		     "the tests are not run as root");
		return;
	}
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	rt = api_open("workers=1");
	pages_touch(p, 5 * PAGE);
	is(pages_count(rt, 0, p, 10 * PAGE), 5 * PAGE,
	   "without rights one's own pages are seen");
	is(pages_count(rt, root, p, 10 * PAGE), -EPERM,
	   "pages of root's process are not");
	has(lkdf_errmsg(), "not permitted", "it says why");
	is(pages_walk(rt, root, NULL, UINT64_MAX).rc, -EPERM,
	   "nor is the whole process");
}

static void a_forked_child_needs_a_runtime_of_its_own(void)
{
	uint64_t on = 0;

	is(lkdf_pages(rt, 0, &on, 1, &on, 1), -EOWNERDEAD, "it is told so");
}

int main(void)
{
	tap_start(120);
	rt = api_open("workers=1");
	touched_pages_are_counted_and_no_other();
	edges_count_by_the_byte();
	holes_are_left_out();
	the_zero_page_is_on_no_node();
	pages_behind_prot_none_are_counted();
	transparent_huge_pages_count_their_bytes();
	hugetlb_pages_count_their_bytes();
	files_and_shared_memory_count_what_is_mapped();
	large_ranges_are_sampled();
	bad_arguments_are_refused();
	the_whole_process_can_be_walked();
	another_process_can_be_asked();
	if (HAS_TSAN) {
		skip("forked children open a runtime", "not with TSan");
	} else {
		refused_calls_fall_back_to_numa_maps();
		pages_in_child(without_proc);
		pages_in_child(as_nobody);
	}
	pages_in_child(a_forked_child_needs_a_runtime_of_its_own);
	must(lkdf_close(rt));
	return tap_end();
}
