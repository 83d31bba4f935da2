/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * QUERY: pages by node, and what is told apart from pages on a node. The same
 * placements as kernel.md's first test list: small, huge, hugetlb, zero,
 * shared, unreadable, foreign memory.
 */
#include "device.h"

static uint64_t counts[MAX_NODES];
static struct lkdf_kmod_query q;

static void query(const void *addr, size_t len)
{
	static int fd = -1;

	if (fd < 0)
		fd = open_device();
	memset(counts, 0, sizeof(counts));
	ASSERT_EQ(call_query(fd, addr, len, &q, counts), 0);
	EXPECT_EQ(q.done, len);
	EXPECT_EQ(q.present + q.absent + q.zero + q.error, len / PAGE);
}

/* Page tables as /proc shows them: present or swapped. */
static long mapped_pages(const char *addr, size_t len)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;
	long nr = 0;
	size_t i;

	ASSERT(fd >= 0);
	for (i = 0; i < len; i += PAGE) {
		ASSERT_EQ(pread(fd, &entry, 8,
				((uintptr_t)addr + i) / PAGE * 8),
			  8);
		nr += entry >> 62 != 0;
	}
	close(fd);
	return nr;
}

TEST(pages_are_counted_by_node)
{
	unsigned node[2];
	char *m = small_memory(8 * MIB);
	unsigned i;

	two_nodes(node);
	touch_on(m, 4 * MIB, node[0]);
	touch_on(m + 4 * MIB, 2 * MIB, node[1]);
	query(m, 8 * MIB);
	EXPECT_EQ(counts[node[0]], 1024);
	EXPECT_EQ(counts[node[1]], 512);
	EXPECT_EQ(q.present, 1536);
	EXPECT_EQ(q.absent, 512);
	EXPECT_EQ(q.huge, 0);
	for (i = 0; i < MAX_NODES; i++) {
		if (i != node[0] && i != node[1])
			EXPECT_EQ(counts[i], 0);
	}
}

TEST(nothing_is_faulted_in)
{
	char *m = small_memory(16 * MIB);

	m[0] = 1;
	query(m, 16 * MIB);
	EXPECT_EQ(q.present, 1);
	EXPECT_EQ(q.absent, 4095);
	EXPECT_EQ(mapped_pages(m, 16 * MIB), 1);
}

TEST(pages_of_zeroes_are_told_apart)
{
	char *m = small_memory(8 * MIB);
	size_t i;
	int sum = 0;

	touch(m, 6 * MIB);
	for (i = 6 * MIB; i < 8 * MIB; i += PAGE)
		sum += *(volatile char *)(m + i);
	query(m, 8 * MIB);
	EXPECT_EQ(sum, 0);
	EXPECT_EQ(q.zero, 512);
	EXPECT_EQ(q.present, 1536);
}

static char *huge_memory(size_t len)
{
	char *m = map_memory(len, HUGE_SIZE);

	if (madvise(m, len, MADV_HUGEPAGE))
		SKIP("no transparent huge pages");
	return m;
}

TEST(huge_pages_count_as_their_base_pages)
{
	unsigned node[2];
	char *m = huge_memory(4 * HUGE_SIZE);

	two_nodes(node);
	touch_on(m, 2 * HUGE_SIZE, node[0]);
	touch_on(m + 2 * HUGE_SIZE, 2 * HUGE_SIZE, node[1]);
	query(m, 4 * HUGE_SIZE);
	if (q.huge != 4 * 512)
		SKIP("the kernel gave %llu huge base pages", q.huge);
	EXPECT_EQ(counts[node[0]], 1024);
	EXPECT_EQ(counts[node[1]], 1024);
	query(m + 3 * PAGE, 7 * PAGE);
	EXPECT_EQ(q.present, 7);
	EXPECT_EQ(q.huge, 7);
}

TEST(the_huge_page_of_zeroes_is_on_no_node)
{
	char *m = huge_memory(2 * HUGE_SIZE);
	int c = *(volatile char *)m + *(volatile char *)(m + HUGE_SIZE);

	query(m, 2 * HUGE_SIZE);
	EXPECT_EQ(c, 0);
	EXPECT_EQ(q.zero, q.zero == 2 ? 2 : 1024);
	EXPECT_EQ(q.present, 0);
}

static void check_hugetlb(unsigned shift)
{
	size_t size = 1UL << shift;
	char pool[100], text[20];
	long before;
	char *m;

	snprintf(pool, sizeof(pool),
		 "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages",
		 size / 1024);
	close(open_device());
	before = read_number(pool);
	if (before < 0)
		SKIP("no pages of that size");
	/* Large ones are there from the boot on, or not at all. */
	snprintf(text, sizeof(text), "%ld", before + 1);
	if (before == 0)
		write_text(pool, text);
	if (read_number(pool) < 1)
		SKIP("no memory for a page of that size");
	m = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | shift << 26, -1,
		 0);
	ASSERT(m != MAP_FAILED);
	query(m, size);
	EXPECT_EQ(q.absent, size / PAGE);
	m[0] = 1;
	query(m, size);
	EXPECT_EQ(q.present, size / PAGE);
	EXPECT_EQ(q.huge, size / PAGE);
	/* A part of the page, in its middle. */
	query(m + size / 2 + PAGE, 5 * PAGE);
	EXPECT_EQ(q.huge, 5);
	munmap(m, size);
	if (before == 0)
		write_text(pool, "0");
}

TEST(hugetlb_pages_of_2_MiB_are_counted)
{
	check_hugetlb(21);
}

TEST(hugetlb_pages_of_1_GiB_are_counted)
{
	check_hugetlb(30);
}

TEST(shared_memory_is_counted)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	char *m;

	ASSERT_EQ(ftruncate(fd, MIB), 0);
	m = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT(m != MAP_FAILED);
	touch(m, MIB / 2);
	query(m, MIB);
	EXPECT_EQ(q.present, 128);
	EXPECT_EQ(q.absent, 128);
}

TEST(holes_and_unreadable_memory_are_errors)
{
	char *m = small_memory(4 * MIB);
	char *none = small_memory(2 * MIB);

	touch(m, 4 * MIB);
	munmap(m + MIB, 2 * MIB);
	query(m, 4 * MIB);
	EXPECT_EQ(q.error, 512);
	EXPECT_EQ(q.present, 512);
	touch(none, 2 * MIB);
	mprotect(none, MIB, PROT_NONE);
	query(none, 2 * MIB);
	EXPECT_EQ(q.error, 256);
	EXPECT_EQ(q.present, 256);
	munmap(m, MIB);
	munmap(m + 3 * MIB, MIB);
	query(m, 4 * MIB);
	EXPECT_EQ(q.error, 1024);
}

/* Every process has some: the kernel's clocks. */
TEST(memory_of_devices_is_an_error)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start = 0, end = 0;
	char line[300];
	int is_found = 0;

	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = sscanf(line, "%lx-%lx", &start, &end) == 2 &&
			   strstr(line, "[vvar]");
	if (!is_found)
		SKIP("no such mapping");
	query((void *)start, end - start);
	EXPECT_EQ(q.error, (end - start) / PAGE);
	fclose(file);
}

TEST(the_map_itself_is_no_memory_of_the_process)
{
	struct device d = make_device(1, 64);

	query(d.map, d.map_bytes);
	EXPECT_EQ(q.present + q.error, d.map_bytes / PAGE);
}

TEST(a_terabyte_of_holes_is_quick_and_a_call_is_bounded)
{
	struct lkdf_kmod_info info = { .size = sizeof(info) };
	int fd = open_device();
	char *m = mmap(NULL, 1UL << 40, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ASSERT(m != MAP_FAILED);
	munmap(m, 1UL << 40);
	query(m, 1UL << 40);
	EXPECT_EQ(q.error, 1UL << 28);
	m = mmap(m, 1UL << 36, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_EQ(ioctl(fd, LKDF_KMOD_INFO, &info), 0);
	ASSERT_EQ(call_query(fd, m, 1UL << 36, &q, NULL), 0);
	EXPECT(q.done / PAGE >= info.max_pages);
	EXPECT(q.done / PAGE <= info.max_pages + 1024);
	EXPECT_EQ(q.absent, q.done / PAGE);
}

TEST(a_query_agrees_with_move_pages)
{
	unsigned node[2];
	char *m = small_memory(4 * MIB);
	void *pages[1024];
	int status[1024];
	unsigned on[MAX_NODES] = { 0 };
	int i;

	two_nodes(node);
	touch_on(m, 4 * MIB, node[0]);
	move_memory(m, 4 * MIB, 3 * PAGE, node[1]);
	for (i = 0; i < 1024; i++)
		pages[i] = m + i * PAGE;
	ASSERT_EQ(syscall(SYS_move_pages, 0, 1024L, pages, NULL, status, 0), 0);
	for (i = 0; i < 1024; i++) {
		if (status[i] >= 0)
			on[status[i]]++;
	}
	query(m, 4 * MIB);
	EXPECT(on[node[1]] > 300);
	EXPECT_EQ(counts[node[0]], on[node[0]]);
	EXPECT_EQ(counts[node[1]], on[node[1]]);
}
