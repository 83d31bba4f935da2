/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Every way in which the kernel takes a page away or moves it, see watch.h;
 * ways that few programs use are in test_ways.c.
 */
#include "watch.h"

#include <sys/swap.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

TEST(unmapped_memory_is_marked_and_becomes_an_error)
{
	char *gone;

	/* Whole huge pages: a cut through one marks all of it, to split it. */
	prepare(6 * MIB, 16);
	gone = m + 2 * MIB;
	munmap(gone, 2 * MIB);
	EXPECT_EQ(check_marks(), 512);
	EXPECT_EQ(word(2 * MIB), node[0] | STALE);
	EXPECT_EQ(word(0), node[0]);
	EXPECT_EQ(word(4 * MIB), node[0]);
	refresh_stale();
	EXPECT_EQ(word(2 * MIB), LKDF_BLOCK_EMPTY);
	EXPECT_EQ(r.desc->error, 512);
	/* Something else comes into the hole. */
	ASSERT(mmap(gone, 2 * MIB, PROT_READ | PROT_WRITE,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == gone);
	madvise(gone, 2 * MIB, MADV_NOHUGEPAGE);
	touch_on(gone, 2 * MIB, node[1]);
	refresh_stale();
	EXPECT_EQ(word(2 * MIB), node[1]);
}

TEST(memory_that_mremap_takes_away_is_marked)
{
	char *to = small_memory(MIB);

	prepare(4 * MIB, 16);
	ASSERT(mremap(m, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
	EXPECT_EQ(check_marks(), 256);
	refresh_stale();
	EXPECT_EQ(word(0), LKDF_BLOCK_EMPTY);
	/* And back again: what comes is found by the next look. */
	ASSERT(mremap(to, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, m) == m);
	EXPECT_EQ(reader_settled(&r, m), -1);
	refresh_stale();
	EXPECT_EQ(word(0), node[0]);
}

TEST(mremap_onto_watched_memory_marks_it)
{
	char *from = small_memory(MIB);

	prepare(4 * MIB, 16);
	touch_on(from, MIB, node[1]);
	ASSERT(mremap(from, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, m) == m);
	EXPECT_EQ(check_marks(), 256);
	refresh_stale();
	EXPECT_EQ(word(0), node[1]);
}

TEST(a_write_after_fork_gives_the_parent_a_marked_new_page)
{
	int pipe_fd[2];
	pid_t child;
	char c;

	prepare(MIB, 16);
	ASSERT_EQ(pipe(pipe_fd), 0);
	child = fork();
	if (child == 0) {
		close(pipe_fd[1]);
		/* Keeps the old pages until the parent is done. */
		_exit(read(pipe_fd[0], &c, 1) != 0);
	}
	close(pipe_fd[0]);
	bind_memory(m, MIB, node[1]);
	touch(m, MIB / 2);
	EXPECT_EQ(check_marks(), 128);
	EXPECT_EQ(word(MIB / 2), node[0]);
	refresh_stale();
	EXPECT_EQ(word(0), node[1]);
	close(pipe_fd[1]);
	waitpid(child, NULL, 0);
}

TEST(a_page_of_zeroes_that_is_written_is_found)
{
	size_t i;
	int sum = 0;

	two_nodes(node);
	len = MIB;
	m = small_memory(len);
	for (i = 0; i < len; i += PAGE)
		sum += *(volatile char *)(m + i);
	watch_now(16);
	EXPECT_EQ(word(0), LKDF_BLOCK_EMPTY + sum);
	EXPECT_EQ(r.desc->zero, 256);
	touch_on(m, len, node[1]);
	EXPECT_EQ(check_marks(), 256);
	refresh_stale();
	EXPECT_EQ(word(0), node[1]);
}

TEST(collapsing_to_a_huge_page_marks)
{
	prepare(2 * HUGE_SIZE, HUGE_SHIFT);
	madvise(m, HUGE_SIZE, MADV_HUGEPAGE);
	if (madvise(m, HUGE_SIZE, MADV_COLLAPSE))
		SKIP("no MADV_COLLAPSE: errno %d", errno);
	EXPECT(check_marks() > 0);
	refresh_stale();
	EXPECT(word(0) & LKDF_BLOCK_HUGE);
	EXPECT_EQ(word(HUGE_SIZE), node[0]);
}

#define KHUGEPAGED "/sys/kernel/mm/transparent_hugepage/khugepaged/"

TEST_LIMIT(khugepaged_marks, 60)
{
	long pause_ms, pages;
	int i;

	prepare(2 * HUGE_SIZE, HUGE_SHIFT);
	pause_ms = set_number(KHUGEPAGED, "scan_sleep_millisecs", 10);
	pages = set_number(KHUGEPAGED, "pages_to_scan", 100000);
	madvise(m, len, MADV_HUGEPAGE);
	for (i = 0; i < 200 && !(word(0) & STALE); i++)
		usleep(100000);
	check_marks();
	usleep(100000);
	set_number(KHUGEPAGED, "scan_sleep_millisecs", pause_ms);
	set_number(KHUGEPAGED, "pages_to_scan", pages);
	if (!(word(0) & STALE))
		SKIP("khugepaged did nothing");
	refresh_stale();
	EXPECT_EQ(word(0), node[0] | LKDF_BLOCK_HUGE);
}

TEST(a_piece_taken_out_of_a_huge_page_marks)
{
	two_nodes(node);
	len = 2 * HUGE_SIZE;
	m = map_memory(len, HUGE_SIZE);
	madvise(m, len, MADV_HUGEPAGE);
	touch_on(m, len, node[0]);
	watch_now(HUGE_SHIFT);
	if (word(0) != (node[0] | LKDF_BLOCK_HUGE))
		SKIP("no huge page");
	ASSERT_EQ(madvise(m + 5 * PAGE, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(check_marks(), 1);
	EXPECT(word(0) & STALE);
	refresh_stale();
	EXPECT_EQ(word(0), node[0] | LKDF_BLOCK_PARTIAL);
	EXPECT_EQ(word(HUGE_SIZE), node[0] | LKDF_BLOCK_HUGE);
}

TEST(hugetlb_pages_that_move_are_marked)
{
	two_nodes(node);
	write_text("/proc/sys/vm/nr_hugepages", "8");
	len = 2 * HUGE_SIZE;
	m = mmap(NULL, len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << 26, -1, 0);
	if (m == MAP_FAILED)
		SKIP("no hugetlb pages");
	bind_memory(m, len, node[0]);
	touch(m, len);
	watch_now(HUGE_SHIFT);
	EXPECT_EQ(word(0), node[0] | LKDF_BLOCK_HUGE);
	if (move_memory(m, HUGE_SIZE, HUGE_SIZE, node[1]) != 1)
		SKIP("the kernel did not move it");
	EXPECT_EQ(check_marks(), 512);
	EXPECT_EQ(word(HUGE_SIZE), node[0] | LKDF_BLOCK_HUGE);
	refresh_stale();
	EXPECT_EQ(word(0), node[1] | LKDF_BLOCK_HUGE);
	munmap(m, len);
	write_text("/proc/sys/vm/nr_hugepages", "0");
}

TEST(truncated_files_are_marked)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	two_nodes(node);
	len = 2 * MIB;
	ASSERT_EQ(ftruncate(fd, len), 0);
	m = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT(m != MAP_FAILED);
	touch_on(m, len, node[0]);
	watch_now(16);
	ASSERT_EQ(ftruncate(fd, MIB), 0);
	EXPECT_EQ(check_marks(), 256);
	EXPECT_EQ(word(0), node[0]);
	refresh_stale();
	EXPECT_EQ(word(MIB), LKDF_BLOCK_EMPTY);
}

/* A swap area by hand: what mkswap writes. */
static int swap_on(const char *disk)
{
	static uint32_t page[1024];
	int fd;

	write_text("/sys/block/zram0/disksize", "67108864");
	fd = open(disk, O_RDWR);
	if (fd < 0)
		return -1;
	page[256] = 1;
	page[257] = 67108864 / PAGE - 1;
	memcpy((char *)page + PAGE - 10, "SWAPSPACE2", 10);
	if (write(fd, page, PAGE) != (ssize_t)PAGE)
		return -1;
	close(fd);
	return swapon(disk, 0);
}

TEST(pages_that_are_swapped_out_are_marked)
{
	prepare(4 * MIB, 16);
	if (swap_on("/dev/zram0"))
		SKIP("no swap");
	madvise(m, MIB, MADV_PAGEOUT);
	if (check_marks() == 0)
		SKIP("the kernel kept the pages");
	EXPECT(word(0) & STALE);
	EXPECT_EQ(word(2 * MIB), node[0]);
	refresh_stale();
	EXPECT(word(0) & (LKDF_BLOCK_EMPTY | LKDF_BLOCK_PARTIAL));
	EXPECT(r.desc->absent > 0);
	touch(m, MIB);
	refresh_stale();
	EXPECT_EQ(r.desc->absent, 0);
	EXPECT(reader_settled(&r, m) >= 0);
	EXPECT_EQ(swapoff("/dev/zram0"), 0);
}

TEST_LIMIT(compaction_marks_what_it_moves, 60)
{
	unsigned moved;
	char *other;
	size_t i;

	two_nodes(node);
	/* Every other page between ours goes: something to compact. */
	len = 16 * MIB;
	m = small_memory(len);
	other = small_memory(len);
	bind_memory(m, len, node[0]);
	bind_memory(other, len, node[0]);
	for (i = 0; i < len; i += PAGE)
		m[i] = other[i] = 1;
	munmap(other, len);
	watch_now(16);
	write_text("/proc/sys/vm/compact_memory", "1");
	moved = check_marks();
	if (!moved)
		SKIP("it moved nothing of ours");
	printf("# compaction moved %u pages\n", moved);
	refresh_stale();
	EXPECT_EQ(r.desc->absent, 0);
	EXPECT_EQ(word(0), node[0]);
}

TEST_LIMIT(autonuma_is_seen_and_marked, 100)
{
	long before = read_number("/proc/sys/kernel/numa_balancing");
	unsigned long hinted = 0;
	struct lkdf_kmod_query q;
	unsigned moved = 0;
	time_t end;

	if (before < 0)
		SKIP("no NUMA balancing");
	two_nodes(node);
	len = 8 * MIB;
	m = small_memory(len);
	touch_on(m, len, node[0]);
	ASSERT_EQ(syscall(SYS_mbind, m, len, 0, NULL, 0, 0), 0);
	if (pin_to_node(node[1]))
		SKIP("node %u has no CPUs", node[1]);
	watch_now(16);
	hurry_autonuma();
	for (end = time(NULL) + 60; time(NULL) < end && (!moved || !hinted);) {
		ASSERT_EQ(call_query(d.fd, m, len, &q, NULL), 0);
		EXPECT_EQ(q.present + q.absent, 2048);
		/* All were touched: hinted, or about to move. */
		hinted = q.absent > hinted ? q.absent : hinted;
		touch(m, len);
		moved = check_marks();
		usleep(2000);
	}
	calm_autonuma(before);
	printf("# hinted at once %lu, moved %u of 2048\n", hinted, moved);
	if (!moved || !hinted)
		SKIP("it moved %u pages and hinted %lu", moved, hinted);
	refresh_stale();
	EXPECT_EQ(r.desc->present + r.desc->absent, 2048);
}
