/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Limits, as a user for whom they hold: RLIMIT_MEMLOCK, files and regions of
 * one user, the group that may open the device. What is taken is given back.
 */
#include "device.h"

#include <grp.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define USER 65534

static long locked_kib(void)
{
	char line[200];
	FILE *file = fopen("/proc/self/status", "r");
	long kib = -1;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmLck: %ld", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kib;
}

/* The test goes on as uid; the device is open to it for now. */
static void become(unsigned uid)
{
	if (geteuid() != 0)
		SKIP("needs root to become another user");
	close(open_device());
	ASSERT_EQ(chmod(LKDF_KMOD_DEVICE, 0666), 0);
	ASSERT_EQ(setgroups(0, NULL), 0);
	ASSERT_EQ(setresgid(uid, uid, uid), 0);
	ASSERT_EQ(setresuid(uid, uid, uid), 0);
}

static void limit_memlock(size_t bytes)
{
	struct rlimit limit = { bytes, bytes };

	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

TEST(the_device_is_for_root_only_unless_somebody_says_otherwise)
{
	struct stat st;

	close(open_device());
	ASSERT_EQ(chmod(LKDF_KMOD_DEVICE, 0600), 0);
	ASSERT_EQ(stat(LKDF_KMOD_DEVICE, &st), 0);
	EXPECT(S_ISCHR(st.st_mode));
	if (geteuid() != 0)
		SKIP("needs root to become another user");
	ASSERT_EQ(setresuid(USER, USER, USER), 0);
	EXPECT_ERRNO(open(LKDF_KMOD_DEVICE, O_RDWR), EACCES);
}

TEST(a_user_without_privileges_sees_its_own_pages)
{
	struct device d;
	struct reader r;
	char *m;

	become(USER);
	d = make_device(1, 100);
	m = small_memory(MIB);
	touch(m, MIB);
	r = watch(&d, m, MIB, 16);
	EXPECT_EQ(refresh(&d, &r, 0), 16);
	EXPECT(reader_settled(&r, m) >= 0);
}

TEST(memory_is_charged_to_memlock_and_given_back)
{
	long before, with_map;
	struct device d;

	become(USER);
	limit_memlock(8 * MIB);
	before = locked_kib();
	d = make_device(16, 100000);
	with_map = locked_kib();
	EXPECT(with_map - before >= (long)d.map_bytes / 1024);
	/* Words and counters of all blocks, at least. */
	EXPECT(with_map - before >= 100000L * (2 + 4 * 7) / 1024);
	close(d.fd);
	EXPECT_EQ(locked_kib(), with_map);
	munmap(d.map, d.map_bytes);
	EXPECT_EQ(locked_kib(), before);
}

TEST(memlock_refuses_what_is_too_much)
{
	int fd;

	become(USER);
	limit_memlock(64 * 1024);
	fd = open_device();
	EXPECT_ERRNO(call_setup(fd, 1, 100000, NULL), ENOMEM);
	EXPECT_EQ(locked_kib(), 0);
	EXPECT_EQ(call_setup(fd, 1, 100, NULL), 0);
	EXPECT(locked_kib() > 0);
	limit_memlock(0);
	EXPECT_ERRNO(call_setup(open_device(), 1, 1, NULL), ENOMEM);
}

TEST(a_user_has_so_many_files_and_no_more)
{
	long max = read_number("/sys/module/lkdf/parameters/max_files");
	struct rlimit files = { 4096, 4096 };
	long i;
	int fd = -1;

	become(USER);
	setrlimit(RLIMIT_NOFILE, &files);
	if (max < 1 || max > 4000)
		SKIP("max_files is %ld", max);
	for (i = 0; i < max; i++) {
		fd = open(LKDF_KMOD_DEVICE, O_RDWR);
		if (!EXPECT(fd >= 0))
			break;
	}
	EXPECT_ERRNO(open(LKDF_KMOD_DEVICE, O_RDWR), EDQUOT);
	close(fd);
	EXPECT(open(LKDF_KMOD_DEVICE, O_RDWR) >= 0);
	EXPECT_ERRNO(open(LKDF_KMOD_DEVICE, O_RDWR), EDQUOT);
}

TEST(another_user_has_a_limit_of_its_own)
{
	become(USER - 1);
	EXPECT(open(LKDF_KMOD_DEVICE, O_RDWR) >= 0);
}

/* Bytes that are charged to the group; this process is in it. */
static long charged(const char *group)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/memory.current", group);
	return read_number(path);
}

TEST(all_of_a_map_is_charged_to_the_memory_cgroup)
{
	const unsigned nr_blocks = 1 << 20;
	char root[] = "/tmp/lkdf-cgroup-XXXXXX", group[60], path[80];
	uint64_t map_bytes = 0, counts_bytes;
	struct lkdf_kmod_info info = { .size = sizeof(info) };
	long before, after;
	int fd = open_device();

	ASSERT_EQ(ioctl(fd, LKDF_KMOD_INFO, &info), 0);
	/* Kept beside the map: six counters of a block, and one a node. */
	counts_bytes = nr_blocks * (6 + info.nr_nodes) * 4ULL;
	if (!mkdtemp(root) || mount("none", root, "cgroup2", 0, NULL))
		SKIP("no cgroup2");
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", root);
	write_text(path, "+memory");
	snprintf(group, sizeof(group), "%s/lkdf", root);
	mkdir(group, 0755);
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	write_text(path, "0");
	before = charged(group);
	if (before >= 0)
		EXPECT_EQ(call_setup(fd, 256, nr_blocks, &map_bytes), 0);
	after = charged(group);
	snprintf(path, sizeof(path), "%s/cgroup.procs", root);
	write_text(path, "0");
	rmdir(group);
	umount(root);
	rmdir(root);
	if (before < 0)
		SKIP("no memory controller in cgroup2");
	printf("# %llu bytes of map and %llu beside it, %ld were charged\n",
	       (unsigned long long)map_bytes, (unsigned long long)counts_bytes,
	       after - before);
	/* The kernel charges ahead, by some pages a CPU. */
	EXPECT(map_bytes > 4 * (MIB / 4));
	EXPECT(after - before >= (long)(counts_bytes + map_bytes / 2));
}

TEST(a_user_has_so_many_regions_and_no_more)
{
	long max = read_number("/sys/module/lkdf/parameters/max_user_regions");
	struct device d = { .fd = -1 };
	char *m;
	long i;

	close(open_device());
	limit_memlock(256 * MIB);
	become(USER);
	if (max < 1 || max > 20000)
		SKIP("max_user_regions is %ld", max);
	m = small_memory((max + 1) * PAGE);
	for (i = 0; i < max; i++) {
		if (i % 256 == 0)
			d = make_device(256, 256 * 32);
		ASSERT(call_add(d.fd, m + i * PAGE, PAGE, 12) >= 0);
	}
	if (max % 256 == 0)
		d = make_device(256, 256 * 32);
	EXPECT_ERRNO(call_add(d.fd, m + max * PAGE, PAGE, 12), EDQUOT);
	/* A place that was given back can be taken again. */
	if (max % 256) {
		EXPECT_EQ(call_del(d.fd, 0), 0);
		EXPECT(call_add(d.fd, m + max * PAGE, PAGE, 12) >= 0);
	}
}
