/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Arguments of the calls: sizes, tails, flags, reserved words, the errno of
 * everything that lkdf_kmod.h refuses.
 */
#include "device.h"

#include <sys/time.h>

union any {
	struct lkdf_kmod_info info;
	struct lkdf_kmod_setup setup;
	struct lkdf_kmod_region region;
	struct lkdf_kmod_refresh refresh;
	struct lkdf_kmod_query query;
	unsigned char bytes[512];
};

static const struct {
	unsigned long cmd;
	unsigned size;
	unsigned rsvd; /* offset of a reserved word, 0 none */
} calls[] = {
	{ LKDF_KMOD_INFO, sizeof(struct lkdf_kmod_info), 0 },
	{ LKDF_KMOD_SETUP, sizeof(struct lkdf_kmod_setup),
	  offsetof(struct lkdf_kmod_setup, rsvd) },
	{ LKDF_KMOD_ADD, sizeof(struct lkdf_kmod_region),
	  offsetof(struct lkdf_kmod_region, rsvd) },
	{ LKDF_KMOD_DEL, sizeof(struct lkdf_kmod_region),
	  offsetof(struct lkdf_kmod_region, rsvd) },
	{ LKDF_KMOD_REFRESH, sizeof(struct lkdf_kmod_refresh),
	  offsetof(struct lkdf_kmod_refresh, rsvd) },
	{ LKDF_KMOD_QUERY, sizeof(struct lkdf_kmod_query),
	  offsetof(struct lkdf_kmod_query, rsvd) },
};
#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

static char *memory;

/* Arguments that the call takes; order of calls[]. */
static union any good(unsigned i)
{
	union any req;

	memset(&req, 0, sizeof(req));
	req.info.size = calls[i].size;
	if (calls[i].cmd == LKDF_KMOD_SETUP) {
		req.setup.nr_regions = 2;
		req.setup.nr_blocks = 100;
	} else if (calls[i].cmd == LKDF_KMOD_ADD) {
		req.region.addr = (uintptr_t)memory;
		req.region.len = MIB;
		req.region.block_shift = 16;
	} else if (calls[i].cmd == LKDF_KMOD_QUERY) {
		req.query.addr = (uintptr_t)memory;
		req.query.len = MIB;
	}
	return req;
}

/* A file in which the call i, and those before it, can be made. */
static int prepare(unsigned i)
{
	int fd = open_device();
	union any req;
	unsigned k;

	memory = small_memory(MIB);
	for (k = 1; k < i && k < 3; k++) {
		req = good(k);
		ASSERT_EQ(ioctl(fd, calls[k].cmd, &req), 0);
	}
	return fd;
}

TEST(info_tells_versions_features_and_limits)
{
	struct lkdf_kmod_info info = { .size = sizeof(info) };
	int fd = open_device();

	ASSERT_EQ(ioctl(fd, LKDF_KMOD_INFO, &info), 0);
	EXPECT_EQ(info.size, sizeof(info));
	EXPECT_EQ(info.abi_major, LKDF_KMOD_ABI_MAJOR);
	EXPECT_EQ(info.abi_minor, LKDF_KMOD_ABI_MINOR);
	EXPECT_EQ(info.features,
		  LKDF_KMOD_F_QUERY | LKDF_KMOD_F_REGION | LKDF_KMOD_F_POLL);
	EXPECT_EQ(1 << info.page_shift, sysconf(_SC_PAGESIZE));
	EXPECT(info.nr_nodes >= 1 && info.nr_nodes <= LKDF_BLOCK_NODE + 1);
	EXPECT_EQ(info.max_regions, 256);
	EXPECT(info.max_blocks >= 1 && info.max_pages >= 1);
	EXPECT_EQ(info.min_block_shift, info.page_shift);
	EXPECT_EQ(info.max_block_shift, 30);
}

TEST(every_call_takes_its_own_size)
{
	unsigned i;
	union any req;
	int fd;

	for (i = 0; i < NR_CALLS; i++) {
		fd = prepare(i);
		req = good(i);
		EXPECT_EQ(ioctl(fd, calls[i].cmd, &req), 0);
		close(fd);
	}
}

TEST(longer_structs_are_taken_if_the_tail_is_zero)
{
	unsigned i;
	union any req;
	int fd;

	for (i = 0; i < NR_CALLS; i++) {
		fd = prepare(i);
		req = good(i);
		req.info.size += 8;
		EXPECT_EQ(ioctl(fd, calls[i].cmd, &req), 0);
		EXPECT_EQ(req.info.size, calls[i].size + 8);
		close(fd);
		fd = prepare(i);
		req = good(i);
		req.info.size += 8;
		req.bytes[calls[i].size + 7] = 1;
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, &req), E2BIG);
		req = good(i);
		req.info.size = 4096 + 8;
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, &req), E2BIG);
		close(fd);
	}
}

TEST(shorter_structs_unknown_flags_and_reserved_words_are_refused)
{
	unsigned i;
	union any req;
	int fd;

	for (i = 0; i < NR_CALLS; i++) {
		fd = prepare(i);
		req = good(i);
		req.info.size -= 8;
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, &req), EINVAL);
		req = good(i);
		req.info.size = 0;
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, &req), EINVAL);
		req = good(i);
		req.info.flags = 1U << 31;
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, &req), EINVAL);
		req = good(i);
		if (calls[i].rsvd)
			req.bytes[calls[i].rsvd] = 1;
		if (calls[i].rsvd)
			EXPECT_ERRNO(ioctl(fd, calls[i].cmd, &req), EINVAL);
		close(fd);
	}
}

TEST(bad_pointers_fault)
{
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union any req;
	unsigned i;
	int fd;

	munmap(page + PAGE, PAGE);
	for (i = 0; i < NR_CALLS; i++) {
		fd = prepare(i);
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, NULL), EFAULT);
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, page + PAGE - 2), EFAULT);
		req = good(i);
		memcpy(page + PAGE - 16, &req, 16);
		EXPECT_ERRNO(ioctl(fd, calls[i].cmd, page + PAGE - 16), EFAULT);
		close(fd);
	}
}

TEST(unknown_calls_are_no_calls_of_this_device)
{
	union any req = good(0);
	int fd = open_device();

	EXPECT_ERRNO(ioctl(fd, _IOWR(0xDF, 6, struct lkdf_kmod_info), &req),
		     ENOTTY);
	EXPECT_ERRNO(ioctl(fd, _IOWR(0xDF, 255, struct lkdf_kmod_info), &req),
		     ENOTTY);
	EXPECT_ERRNO(ioctl(fd, _IOWR(0xDE, 0, struct lkdf_kmod_info), &req),
		     ENOTTY);
	EXPECT_ERRNO(ioctl(fd, 0, &req), ENOTTY);
	/* The encoded size does not choose the call. */
	EXPECT_EQ(ioctl(fd, _IOC(3, 0xDF, 0, 8), &req), 0);
}

TEST(read_write_and_seek_do_not_exist)
{
	char c = 0;
	int fd = open_device();

	EXPECT_ERRNO(read(fd, &c, 1), EINVAL);
	EXPECT_ERRNO(write(fd, &c, 1), EINVAL);
	EXPECT_ERRNO(lseek(fd, 0, SEEK_SET), ESPIPE);
	EXPECT_ERRNO(pread(fd, &c, 1, 0), ESPIPE);
}

TEST(calls_before_setup_are_refused_and_setup_is_once)
{
	struct lkdf_kmod_refresh refresh = { .size = sizeof(refresh) };
	int fd = open_device();
	uint64_t bytes = 0;

	memory = small_memory(MIB);
	EXPECT_ERRNO(call_add(fd, memory, MIB, 16), ENXIO);
	EXPECT_ERRNO(call_del(fd, 0), ENXIO);
	EXPECT_ERRNO(ioctl(fd, LKDF_KMOD_REFRESH, &refresh), ENXIO);
	EXPECT(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	EXPECT_EQ(errno, ENXIO);
	EXPECT_EQ(call_setup(fd, 1, 1, &bytes), 0);
	EXPECT_EQ(bytes % PAGE, 0);
	EXPECT_ERRNO(call_setup(fd, 1, 1, NULL), EBUSY);
}

TEST(setup_refuses_numbers_out_of_range)
{
	struct lkdf_kmod_info info = { .size = sizeof(info) };
	int fd = open_device();

	ASSERT_EQ(ioctl(fd, LKDF_KMOD_INFO, &info), 0);
	EXPECT_ERRNO(call_setup(fd, 0, 1, NULL), EINVAL);
	EXPECT_ERRNO(call_setup(fd, 1, 0, NULL), EINVAL);
	EXPECT_ERRNO(call_setup(fd, info.max_regions + 1, 1, NULL), EINVAL);
	EXPECT_ERRNO(call_setup(fd, 1, info.max_blocks + 1, NULL), EINVAL);
	EXPECT_ERRNO(call_setup(fd, 1, UINT32_MAX, NULL), EINVAL);
	EXPECT_EQ(call_setup(fd, info.max_regions, 1000, NULL), 0);
}

TEST(add_refuses_bad_ranges)
{
	struct device d = make_device(2, 64);
	char *m = small_memory(MIB);
	char *top = (char *)(1UL << 62);

	EXPECT_ERRNO(call_add(d.fd, m, 0, 16), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, m + 1, MIB, 16), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, m, MIB - 1, 16), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, m, MIB, 11), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, m, MIB, 31), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, m, MIB, 64), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, m, -PAGE, 30), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, top, PAGE, 16), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, (void *)-PAGE, PAGE, 16), EINVAL);
	EXPECT_ERRNO(call_add(d.fd, m, (1UL << 40) + PAGE, 30), E2BIG);
	EXPECT_ERRNO(call_add(d.fd, m, 65 * PAGE, 12), ENOSPC);
	EXPECT_EQ(call_add(d.fd, m, 16 * PAGE, 12), 0);
	EXPECT_ERRNO(call_add(d.fd, m + 15 * PAGE, 2 * PAGE, 12), EEXIST);
	EXPECT_EQ(call_add(d.fd, m + 16 * PAGE, PAGE, 12), 1);
	EXPECT_ERRNO(call_add(d.fd, m + 20 * PAGE, PAGE, 12), ENOSPC);
	EXPECT_ERRNO(call_del(d.fd, 2), ENOENT);
	EXPECT_ERRNO(call_del(d.fd, UINT32_MAX), ENOENT);
	EXPECT_EQ(call_del(d.fd, 0), 0);
	EXPECT_ERRNO(call_del(d.fd, 0), ENOENT);
}

/* The struct lies in memory that the kernel cannot write. */
static int call_without_answer(int fd, unsigned long call, const void *req,
			       size_t size)
{
	void *p = map_memory(PAGE, PAGE);
	int rc, error;

	memcpy(p, req, size);
	ASSERT_EQ(mprotect(p, PAGE, PROT_READ), 0);
	rc = ioctl(fd, call, p);
	error = errno;
	EXPECT_EQ(memcmp(p, req, size), 0);
	munmap(p, PAGE);
	errno = error;
	return rc;
}

TEST(a_call_without_an_answer_has_done_nothing)
{
	struct lkdf_kmod_setup setup = { .size = sizeof(setup),
					 .nr_regions = 1,
					 .nr_blocks = 100 };
	struct lkdf_kmod_region add = { .size = sizeof(add),
					.len = MIB,
					.block_shift = 16 };
	struct device d = { .fd = open_device() };
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_ERRNO(call_without_answer(d.fd, LKDF_KMOD_SETUP, &setup,
						 sizeof(setup)),
			     EFAULT);
		EXPECT(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, d.fd, 0) ==
		       MAP_FAILED);
		EXPECT_EQ(errno, ENXIO);
	}
	close(d.fd);
	d = make_device(1, 100);
	add.addr = (uintptr_t)small_memory(MIB);
	for (i = 0; i < 3; i++)
		EXPECT_ERRNO(call_without_answer(d.fd, LKDF_KMOD_ADD, &add,
						 sizeof(add)),
			     EFAULT);
	/* The only region, and its range, are free. */
	EXPECT_EQ(call_add(d.fd, (void *)(uintptr_t)add.addr, MIB, 16), 0);
	d.fd = open_device();
	EXPECT_ERRNO(call_without_answer(d.fd, LKDF_KMOD_SETUP, &setup,
					 sizeof(setup)),
		     EFAULT);
	EXPECT_EQ(call_setup(d.fd, 1, 100, NULL), 0);
}

TEST(refresh_and_query_refuse_bad_numbers)
{
	struct device d = make_device(1, 64);
	struct lkdf_kmod_refresh req = { .size = sizeof(req) };
	struct lkdf_kmod_query q;
	uint64_t counts[MAX_NODES];
	char *m = small_memory(MIB);

	EXPECT_ERRNO(ioctl(d.fd, LKDF_KMOD_REFRESH, &req), ENOENT);
	ASSERT_EQ(call_add(d.fd, m, MIB, 16), 0);
	req.resume_block = 17;
	EXPECT_ERRNO(ioctl(d.fd, LKDF_KMOD_REFRESH, &req), EINVAL);
	req.resume_block = 16;
	EXPECT_EQ(ioctl(d.fd, LKDF_KMOD_REFRESH, &req), 0);
	EXPECT_EQ(req.walked, 0);
	EXPECT_ERRNO(call_query(d.fd, m, 0, &q, NULL), EINVAL);
	EXPECT_ERRNO(call_query(d.fd, m + 8, MIB, &q, NULL), EINVAL);
	EXPECT_ERRNO(call_query(d.fd, m, -PAGE, &q, NULL), EINVAL);
	EXPECT_ERRNO(call_query(d.fd, m, 1UL << 41, &q, NULL), E2BIG);
	EXPECT_ERRNO(call_query(d.fd, m, MIB, &q, (void *)8), EFAULT);
	EXPECT_EQ(call_query(d.fd, m, MIB, &q, counts), 0);
	q.nr_counts = 0;
	EXPECT_ERRNO(ioctl(d.fd, LKDF_KMOD_QUERY, &q), EINVAL);
	q.nr_counts = 1;
	if (d.nr_nodes > 1)
		EXPECT_ERRNO(ioctl(d.fd, LKDF_KMOD_QUERY, &q), EINVAL);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Exit status: 0 it ended at a signal once, 1 at none, 2 something is wrong. */
static int add_among_signals(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct device d = make_device(1, 100);
	int rc, nr_signals = 0;

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	rc = call_add(d.fd, memory, MIB, 16);
	while (rc < 0 && errno == EINTR) {
		/* So that it ends. */
		setitimer(ITIMER_REAL, &never, NULL);
		nr_signals++;
		rc = call_add(d.fd, memory, MIB, 16);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return rc != 0 || nr_signals > 2 ? 2 : !nr_signals;
}

TEST(a_signal_ends_the_first_add_of_a_process_with_eintr)
{
	int tries, status = 1;
	size_t i;
	char *m;

	/* Many mappings, so that to lock them all takes time. */
	m = map_memory(4000 * PAGE, PAGE);
	for (i = 0; i < 4000; i += 2)
		ASSERT_EQ(mprotect(m + i * PAGE, PAGE, PROT_READ), 0);
	memory = small_memory(MIB);
	close(open_device());
	for (tries = 0; tries < 100 && status == 1; tries++) {
		fflush(stdout);
		if (fork() == 0)
			_exit(add_among_signals());
		ASSERT(wait(&status) > 0 && WIFEXITED(status));
		status = WEXITSTATUS(status);
		ASSERT(status != 2);
	}
	if (status)
		SKIP("no signal came at the right moment");
}
