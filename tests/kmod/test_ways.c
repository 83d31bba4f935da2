/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * More ways in which pages move or go, see watch.h, and what moves none and
 * therefore marks nothing.
 */
#include "watch.h"

#include <pthread.h>

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#define BIND 2 /* of mbind: MPOL_BIND, MPOL_MF_MOVE */
#define MOVE 2

TEST(mbind_that_moves_marks)
{
	unsigned long mask;

	/* Whole huge pages: a cut through one marks all of it, to split it. */
	prepare(6 * MIB, 16);
	mask = 1UL << node[1];
	ASSERT_EQ(syscall(SYS_mbind, m, 2 * MIB, BIND, &mask, MAX_NODES, MOVE),
		  0);
	EXPECT(check_marks() > 0);
	EXPECT_EQ(word(0), node[0] | STALE);
	EXPECT_EQ(word(2 * MIB), node[0]);
	refresh_stale();
	EXPECT_EQ(node_of(&r, m), node[1]);
	EXPECT_EQ(word(2 * MIB), node[0]);
}

TEST(migrate_pages_marks)
{
	unsigned long from, to;

	prepare(4 * MIB, 16);
	from = 1UL << node[0];
	to = 1UL << node[1];
	ASSERT(syscall(SYS_migrate_pages, 0, MAX_NODES, &from, &to) >= 0);
	EXPECT(check_marks() > 0);
	refresh_stale();
	EXPECT(r.desc->absent == 0);
	EXPECT_EQ(word(2 * MIB) & LKDF_BLOCK_NODE, node[1]);
}

TEST(a_page_that_is_taken_out_of_use_is_marked)
{
	prepare(MIB, 16);
	if (madvise(m, PAGE, MADV_SOFT_OFFLINE))
		SKIP("no MADV_SOFT_OFFLINE: errno %d", errno);
	EXPECT_EQ(check_marks(), 1);
	EXPECT_EQ(word(0), node[0] | STALE);
	EXPECT_EQ(word(MIB / 2), node[0]);
	refresh_stale();
	EXPECT_EQ(r.desc->present, 256);
}

#define KSM "/sys/kernel/mm/ksm/"

TEST_LIMIT(pages_that_become_one_are_marked, 60)
{
	long run, pages, pause_ms;
	unsigned moved = 0;
	int i;

	prepare(MIB, 16);
	if (madvise(m, len, MADV_MERGEABLE))
		SKIP("no KSM: errno %d", errno);
	pages = set_number(KSM, "pages_to_scan", 10000);
	pause_ms = set_number(KSM, "sleep_millisecs", 10);
	run = set_number(KSM, "run", 1);
	for (i = 0; i < 200 && !moved; i++) {
		usleep(50000);
		moved = check_marks();
	}
	/* Every page on its own again: moves once more. */
	set_number(KSM, "run", 2);
	set_number(KSM, "run", run);
	set_number(KSM, "pages_to_scan", pages);
	set_number(KSM, "sleep_millisecs", pause_ms);
	if (!moved)
		SKIP("it merged nothing");
	refresh_stale();
	EXPECT_EQ(r.desc->present, 256);
	touch(m, len);
	refresh_stale();
	EXPECT_EQ(r.desc->present, 256);
}

TEST(a_hole_in_a_file_is_marked)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	two_nodes(node);
	len = 2 * MIB;
	ASSERT_EQ(ftruncate(fd, len), 0);
	m = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT(m != MAP_FAILED);
	touch_on(m, len, node[0]);
	watch_now(16);
	/* FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE */
	ASSERT_EQ(fallocate(fd, 3, MIB, MIB / 2), 0);
	EXPECT_EQ(check_marks(), 128);
	EXPECT_EQ(word(MIB), node[0] | STALE);
	EXPECT_EQ(word(0), node[0]);
	EXPECT_EQ(word(3 * MIB / 2), node[0]);
	refresh_stale();
	EXPECT_EQ(word(MIB), LKDF_BLOCK_EMPTY);
	close(fd);
}

TEST(pages_given_up_are_marked_when_they_go)
{
	prepare(2 * MIB, 16);
	ASSERT_EQ(madvise(m, MIB, MADV_FREE), 0);
	EXPECT_EQ(check_marks(), 0);
	madvise(m, MIB, MADV_PAGEOUT);
	if (check_marks() == 0)
		SKIP("the kernel kept the pages");
	refresh_stale();
	EXPECT(r.desc->absent > 0);
	EXPECT_EQ(word(MIB), node[0]);
}

TEST(a_huge_page_that_mremap_takes_away_is_marked)
{
	char *to = map_memory(HUGE_SIZE, HUGE_SIZE);

	two_nodes(node);
	len = 2 * HUGE_SIZE;
	m = map_memory(len, HUGE_SIZE);
	madvise(m, len, MADV_HUGEPAGE);
	touch_on(m, len, node[0]);
	watch_now(HUGE_SHIFT);
	if (word(0) != (node[0] | LKDF_BLOCK_HUGE))
		SKIP("no huge page");
	ASSERT(mremap(m, HUGE_SIZE, HUGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		      to) == to);
	EXPECT_EQ(check_marks(), 512);
	EXPECT_EQ(word(0), node[0] | LKDF_BLOCK_HUGE | STALE);
	EXPECT_EQ(word(HUGE_SIZE), node[0] | LKDF_BLOCK_HUGE);
	refresh_stale();
	EXPECT_EQ(word(0), LKDF_BLOCK_EMPTY);
}

TEST(a_page_of_1_GiB_is_watched_in_pieces)
{
	size_t gib = 1UL << 30, i, nr = 0;
	char *page;

	page = mmap(NULL, gib, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 30 << 26, -1,
		    0);
	if (page == MAP_FAILED)
		SKIP("no page of that size");
	page[0] = 1;
	d = make_device(1, 512);
	r = watch(&d, page, gib, HUGE_SHIFT);
	ASSERT_EQ(refresh(&d, &r, 0), 512);
	EXPECT_EQ(r.desc->huge, gib / PAGE);
	for (i = 0; i < gib; i += HUGE_SIZE)
		nr += reader_settled(&r, page + i) == (int)node_of(&r, page);
	EXPECT_EQ(nr, 512);
	munmap(page, gib);
	for (nr = i = 0; i < gib; i += HUGE_SIZE)
		nr += reader_settled(&r, page + i) < 0;
	EXPECT_EQ(nr, 512);
	refresh_stale();
	EXPECT_EQ(r.desc->error, gib / PAGE);
}

TEST(looking_for_written_pages_marks_nothing)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	uint64_t gen;

	prepare(MIB, 16);
	gen = reader_gen(&r);
	/* 4: forgets which pages were written, see proc(5). */
	if (fd < 0 || write(fd, "4", 1) != 1)
		SKIP("no clear_refs: errno %d", errno);
	touch(m, len);
	EXPECT_EQ(check_marks(), 0);
	EXPECT_EQ(reader_gen(&r), gen);
	EXPECT_EQ(word(0), node[0]);
	close(fd);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* Without the filter of events every scan would mark everything. */
TEST_LIMIT(autonuma_that_only_looks_marks_nothing, 100)
{
	long before = read_number("/proc/sys/kernel/numa_balancing");
	struct lkdf_kmod_query q = { .absent = 0 };
	pthread_t thread;
	uint64_t gen;
	time_t end;

	if (before < 0)
		SKIP("no NUMA balancing");
	two_nodes(node);
	len = 8 * MIB;
	m = small_memory(len);
	touch_on(m, len, node[0]);
	ASSERT_EQ(syscall(SYS_mbind, m, len, 0, NULL, 0, 0), 0);
	if (pin_to_node(node[0]))
		SKIP("node %u has no CPUs", node[0]);
	/* It does not look at the near pages of a process with one thread. */
	ASSERT_EQ(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	watch_now(16);
	gen = reader_gen(&r);
	hurry_autonuma();
	for (end = time(NULL) + 30; time(NULL) < end && !q.absent;) {
		ASSERT_EQ(call_query(d.fd, m, len, &q, NULL), 0);
		touch(m, len);
		usleep(2000);
	}
	calm_autonuma(before);
	/* All were touched: absent are those that it has hinted, or moves. */
	if (!q.absent || check_marks())
		SKIP("it hinted %llu pages, or moved some", q.absent);
	EXPECT_EQ(reader_gen(&r), gen);
	EXPECT_EQ(word(0), node[0]);
}
