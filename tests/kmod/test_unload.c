/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Unloading: refused while a file or only a mapping is there, clean after, and
 * in a race with opening. LKDF_KO names the module's file.
 */
#include "device.h"

static const char *module_path(void)
{
	const char *path = getenv("LKDF_KO");

	if (!path)
		path = "lkdf.ko";
	if (access(path, R_OK))
		SKIP("no %s to load again", path);
	if (geteuid() != 0)
		SKIP("needs root");
	return path;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "lkdf", O_NONBLOCK);
}

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = syscall(SYS_finit_module, fd, "", 0);

	close(fd);
	return rc;
}

TEST(a_file_or_a_mapping_keeps_the_module)
{
	const char *path = module_path();
	struct device d = make_device(1, 100);
	char *m = small_memory(MIB);

	touch(m, MIB);
	watch(&d, m, MIB, 16);
	EXPECT_ERRNO(unload(), EWOULDBLOCK);
	close(d.fd);
	EXPECT_ERRNO(unload(), EWOULDBLOCK);
	EXPECT_EQ(((struct lkdf_map_header *)d.map)->magic, LKDF_MAP_MAGIC);
	munmap(d.map, d.map_bytes);
	ASSERT_EQ(unload(), 0);
	EXPECT(access(LKDF_KMOD_DEVICE, F_OK) < 0);
	/* Memory that was watched goes its way. */
	munmap(m, MIB);
	EXPECT_EQ(load(path), 0);
	EXPECT_EQ(access(LKDF_KMOD_DEVICE, F_OK), 0);
}

/* Opens, sets up, watches, moves on; what is not there is tried again. */
static void use(void)
{
	char *m = small_memory(MIB);
	struct lkdf_kmod_query q;
	int fd;

	touch(m, MIB);
	for (;;) {
		fd = open(LKDF_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		call_setup(fd, 1, 100, NULL);
		call_add(fd, m, MIB, 16);
		refresh_id(fd, 0, 0, 16);
		call_query(fd, m, MIB, &q, NULL);
		madvise(m, MIB / 2, MADV_DONTNEED);
		close(fd);
	}
}

TEST_LIMIT(unloading_races_with_opening_and_wins_or_is_refused, 60)
{
	const char *path = module_path();
	int i, unloaded = 0, refused = 0, rc;
	pid_t child[2];

	for (i = 0; i < 2; i++) {
		child[i] = fork();
		if (child[i] == 0)
			use();
	}
	for (i = 0; i < 3000 && unloaded < 20; i++) {
		rc = unload();
		if (rc == 0) {
			unloaded++;
			ASSERT_EQ(load(path), 0);
		} else {
			EXPECT_EQ(errno, EWOULDBLOCK);
			refused++;
			usleep(1000);
		}
	}
	for (i = 0; i < 2; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	printf("# unloaded %d times, refused %d times\n", unloaded, refused);
	EXPECT(unloaded + refused > 0);
	/* The last file may still be on its way out. */
	for (i = 0; i < 1000 && unload(); i++)
		usleep(1000);
	EXPECT(i < 1000);
	EXPECT_EQ(load(path), 0);
}
