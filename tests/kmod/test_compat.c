/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The calls of a 32-bit program are those of a 64-bit one: made here by the
 * instruction that 32-bit programs enter the kernel with, so that no second
 * compiler is needed. Structs must then lie below 4 GiB.
 */
#include "device.h"

#if defined(__x86_64__)
#define IOCTL_32 54

static long ioctl32(int fd, unsigned long cmd, void *arg)
{
	long rc;

	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(IOCTL_32), "b"(fd), "c"((unsigned)cmd),
			   "d"((unsigned)(uintptr_t)arg)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)rc;
}

static void *low_memory(void)
{
	void *mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	ASSERT(mem != MAP_FAILED);
	return mem;
}

/* A kernel without the entry kills who uses it. */
static void need_entry(int fd)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(ioctl32(fd, 0, low_memory()) != -ENOTTY);
	waitpid(child, &status, 0);
	if (status != 0)
		SKIP("this kernel runs no 32-bit programs");
}
#endif

TEST(a_32_bit_program_makes_the_same_calls)
{
#if defined(__x86_64__)
	union {
		struct lkdf_kmod_info info;
		struct lkdf_kmod_setup setup;
		struct lkdf_kmod_region region;
		struct lkdf_kmod_refresh refresh;
		struct lkdf_kmod_query query;
	} *req = low_memory();
	struct lkdf_kmod_info info = { .size = sizeof(info) };
	char *m = small_memory(MIB);
	int fd = open_device();

	need_entry(fd);
	touch(m, MIB);
	ASSERT_EQ(ioctl(fd, LKDF_KMOD_INFO, &info), 0);
	req->info.size = sizeof(req->info);
	ASSERT_EQ(ioctl32(fd, LKDF_KMOD_INFO, req), 0);
	EXPECT_EQ(memcmp(&info, req, sizeof(info)), 0);
	EXPECT_EQ(ioctl32(fd, LKDF_KMOD_INFO, NULL), -EFAULT);
	/* A longer struct with something in its tail. */
	EXPECT_EQ(ioctl32(fd, LKDF_KMOD_SETUP, req), -E2BIG);
	req->setup = (struct lkdf_kmod_setup){ .size = sizeof(req->setup),
					       .nr_regions = 1,
					       .nr_blocks = 100 };
	EXPECT_EQ(ioctl32(fd, LKDF_KMOD_SETUP, req), 0);
	/* Addresses are 64 bits wide for every program. */
	req->region = (struct lkdf_kmod_region){ .size = sizeof(req->region),
						 .addr = (uintptr_t)m,
						 .len = MIB,
						 .block_shift = 16 };
	EXPECT_EQ(ioctl32(fd, LKDF_KMOD_ADD, req), 0);
	req->refresh =
		(struct lkdf_kmod_refresh){ .size = sizeof(req->refresh) };
	EXPECT_EQ(ioctl32(fd, LKDF_KMOD_REFRESH, req), 0);
	EXPECT_EQ(req->refresh.walked, 16);
	req->query = (struct lkdf_kmod_query){ .size = sizeof(req->query),
					       .addr = (uintptr_t)m,
					       .len = MIB };
	EXPECT_EQ(ioctl32(fd, LKDF_KMOD_QUERY, req), 0);
	EXPECT_EQ(req->query.present, 256);
	EXPECT_EQ(call_del(fd, 0), 0);
#else
	SKIP("knows the instructions of x86_64 only");
#endif
}
