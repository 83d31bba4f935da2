/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The mapping is read-only by every way that there is, it is not inherited and
 * not larger than the map, and it keeps what it shows alive.
 */
#include "device.h"

#include <sys/uio.h>

static struct device d;

static void expect_no_map(size_t len, int prot, int flags, off_t off, int code)
{
	void *p = mmap(NULL, len, prot, flags, d.fd, off);

	EXPECT(p == MAP_FAILED);
	EXPECT_EQ(errno, code);
}

TEST(only_reading_shared_from_the_start_is_mapped)
{
	size_t len;

	d = make_device(1, 100);
	len = d.map_bytes;
	expect_no_map(len, PROT_READ | PROT_WRITE, MAP_SHARED, 0, EPERM);
	expect_no_map(len, PROT_WRITE, MAP_SHARED, 0, EPERM);
	expect_no_map(len, PROT_READ | PROT_EXEC, MAP_SHARED, 0, EPERM);
	expect_no_map(len, PROT_READ, MAP_PRIVATE, 0, EINVAL);
	expect_no_map(len, PROT_READ, MAP_SHARED, PAGE, EINVAL);
	expect_no_map(len + PAGE, PROT_READ, MAP_SHARED, 0, EINVAL);
	EXPECT(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, d.fd, 0) != MAP_FAILED);
}

TEST(the_mapping_cannot_be_made_writable_or_grow)
{
	d = make_device(1, 100);
	EXPECT_ERRNO(mprotect(d.map, PAGE, PROT_READ | PROT_WRITE), EACCES);
	EXPECT_ERRNO(mprotect(d.map, PAGE, PROT_READ | PROT_EXEC), EACCES);
	EXPECT_EQ(mprotect(d.map, PAGE, PROT_NONE), 0);
	EXPECT_EQ(mprotect(d.map, PAGE, PROT_READ), 0);
	EXPECT(mremap(d.map, d.map_bytes, d.map_bytes + PAGE, MREMAP_MAYMOVE) ==
	       MAP_FAILED);
}

TEST(the_kernel_does_not_write_it_for_others_either)
{
	int mem = open("/proc/self/mem", O_RDWR);
	uint64_t magic = 0;
	struct iovec to, from = { .iov_base = &magic, .iov_len = 8 };
	int null = open("/dev/zero", O_RDONLY);

	d = make_device(1, 100);
	to.iov_base = d.map;
	to.iov_len = 8;
	ASSERT(mem >= 0 && null >= 0);
	EXPECT(pwrite(mem, &magic, 8, (uintptr_t)d.map) < 0);
	EXPECT(process_vm_writev(getpid(), &from, 1, &to, 1, 0) < 0);
	EXPECT_ERRNO(read(null, d.map, 8), EFAULT);
	EXPECT_EQ(((struct lkdf_map_header *)d.map)->magic, LKDF_MAP_MAGIC);
}

TEST(a_child_has_no_mapping)
{
	int status = 0;
	pid_t child;

	d = make_device(1, 100);
	child = fork();
	if (child == 0)
		_exit(*(volatile char *)d.map);
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

TEST(a_child_has_none_either_if_it_is_asked_for)
{
	int status = 0;
	pid_t child;

	d = make_device(1, 100);
	EXPECT_ERRNO(madvise(d.map, d.map_bytes, MADV_DOFORK), EINVAL);
	child = fork();
	if (child == 0)
		_exit(*(volatile char *)d.map);
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

TEST(pages_that_are_dropped_come_back)
{
	struct reader r;
	unsigned node[2];
	char *m = small_memory(MIB);

	two_nodes(node);
	d = make_device(1, 100);
	touch_on(m, MIB, node[0]);
	r = watch(&d, m, MIB, 16);
	refresh(&d, &r, 0);
	EXPECT_EQ(madvise(d.map, d.map_bytes, MADV_DONTNEED), 0);
	EXPECT_EQ(((volatile struct lkdf_map_header *)d.map)->magic,
		  LKDF_MAP_MAGIC);
	EXPECT_EQ(node_of(&r, m), node[0]);
	/* They are the kernel's: events are seen. */
	ASSERT_EQ(move_memory(m, 16 * PAGE, PAGE, node[1]), 16);
	EXPECT_EQ(reader_settled(&r, m), -1);
	/* A part of the map that begins in its middle. */
	EXPECT_EQ(munmap(d.map + PAGE, PAGE), 0);
	EXPECT_EQ(madvise(d.map, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(((volatile struct lkdf_map_header *)d.map)->magic,
		  LKDF_MAP_MAGIC);
	if (d.map_bytes > 2 * PAGE) {
		EXPECT_EQ(madvise(d.map + 2 * PAGE, d.map_bytes - 2 * PAGE,
				  MADV_DONTNEED),
			  0);
		EXPECT_EQ(((volatile char *)d.map)[d.map_bytes - 1], 0);
	}
}

TEST(the_mapping_lives_longer_than_the_file)
{
	struct reader r;
	unsigned node[2];
	char *m = small_memory(MIB);

	two_nodes(node);
	d = make_device(1, 100);
	touch_on(m, MIB, node[0]);
	r = watch(&d, m, MIB, 16);
	refresh(&d, &r, 0);
	close(d.fd);
	EXPECT_EQ(node_of(&r, m), node[0]);
	/* Events still come. */
	ASSERT_EQ(move_memory(m, 16 * PAGE, PAGE, node[1]), 16);
	EXPECT_EQ(reader_settled(&r, m), -1);
	EXPECT_EQ(reader_settled(&r, m + 16 * PAGE), node[0]);
	EXPECT_EQ(munmap(d.map, d.map_bytes), 0);
}

TEST(it_is_not_in_core_dumps)
{
	char line[512], *flags = NULL;
	FILE *file = fopen("/proc/self/smaps", "r");
	int is_ours = 0;
	unsigned long start;

	d = make_device(1, 100);
	ASSERT(file);
	while (!flags && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-", &start) == 1 && strchr(line, '-') &&
		    strstr(line, " "))
			is_ours = start == (uintptr_t)d.map;
		if (is_ours && strncmp(line, "VmFlags:", 8) == 0)
			flags = line;
	}
	ASSERT(flags);
	EXPECT(strstr(flags, " dd"));
	EXPECT(strstr(flags, " dc"));
	EXPECT(strstr(flags, " de"));
	EXPECT(!strstr(flags, " wr") && !strstr(flags, " mw"));
	EXPECT(!strstr(flags, " me"));
	fclose(file);
}
