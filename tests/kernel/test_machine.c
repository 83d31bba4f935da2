/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Moves by what governs the machine: memory that goes offline, groups whose
 * nodes change.
 */
#include "device.h"

#include <dirent.h>
#include <sys/stat.h>

static unsigned node[2];
static struct device d;
static struct reader r;
static char *m;
static size_t len = 4 * MIB;

static void prepare(unsigned on)
{
	/* While AutoNUMA takes access away, 6.1's move_pages tells nonsense. */
	write_text("/proc/sys/kernel/numa_balancing", "0");
	m = small_memory(len);
	touch_on(m, len, on);
	/* Without a policy of its own, so that the pages may go. */
	ASSERT_EQ(syscall(SYS_mbind, m, len, 0, NULL, 0, 0), 0);
	d = make_device(1, 16384);
	r = watch(&d, m, len, 16);
	ASSERT(refresh(&d, &r, 0) > 0);
}

/* Pages of settled blocks on one node that are not where move_pages says. */
static unsigned wrong_blocks(void)
{
	unsigned wrong = 0;
	int status, at;
	void *page;
	size_t i;

	for (i = 0; i < len; i += PAGE) {
		page = m + i;
		status = -1;
		at = reader_settled(&r, page);
		if (reader_word(&r, page) & LKDF_BLOCK_MIXED)
			continue;
		syscall(SYS_move_pages, 0, 1L, &page, NULL, &status, 0);
		wrong += at >= 0 && status != at;
	}
	return wrong;
}

/* Return: how many of the node's memory blocks did what was asked. */
static unsigned set_memory(unsigned n, const char *state)
{
	char path[400], dir_path[60];
	struct dirent *entry;
	unsigned nr = 0;
	DIR *dir;
	int fd;

	snprintf(dir_path, sizeof(dir_path), "/sys/devices/system/node/node%u",
		 n);
	dir = opendir(dir_path);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "memory", 6) ||
		    strcmp(entry->d_name, "memory_failure") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s/state", dir_path,
			 entry->d_name);
		fd = open(path, O_WRONLY);
		if (fd < 0)
			continue;
		nr += write(fd, state, strlen(state)) > 0;
		close(fd);
	}
	if (dir)
		closedir(dir);
	return nr;
}

TEST_LIMIT(memory_that_goes_offline_is_marked, 60)
{
	unsigned gone;

	two_nodes(node);
	prepare(node[1]);
	EXPECT_EQ(wrong_blocks(), 0);
	gone = set_memory(node[1], "offline");
	printf("# %u blocks of memory went offline\n", gone);
	EXPECT_EQ(wrong_blocks(), 0);
	if (gone) {
		ASSERT(refresh(&d, &r, LKDF_KMOD_STALE_ONLY) >= 0);
		EXPECT_EQ(wrong_blocks(), 0);
		EXPECT_EQ(r.desc->present, len / PAGE);
	}
	set_memory(node[1], "online_movable");
	if (!gone)
		SKIP("no memory of node %u can go", node[1]);
}

#define GROUP "/sys/fs/cgroup/lkdf_kmod"

TEST_LIMIT(a_group_whose_nodes_change_takes_its_pages_along, 60)
{
	char text[20];

	two_nodes(node);
	write_text("/sys/fs/cgroup/cgroup.subtree_control", "+cpuset");
	mkdir(GROUP, 0755);
	snprintf(text, sizeof(text), "%u", node[0]);
	write_text(GROUP "/cpuset.mems", text);
	if (read_number(GROUP "/cpuset.mems") != node[0])
		SKIP("no cpuset controller");
	snprintf(text, sizeof(text), "%d", getpid());
	write_text(GROUP "/cgroup.procs", text);
	prepare(node[0]);
	EXPECT_EQ(node_of(&r, m), node[0]);
	snprintf(text, sizeof(text), "%u", node[1]);
	write_text(GROUP "/cpuset.mems", text);
	EXPECT_EQ(wrong_blocks(), 0);
	usleep(500000);
	EXPECT_EQ(wrong_blocks(), 0);
	EXPECT_EQ(reader_settled(&r, m), -1);
	ASSERT(refresh(&d, &r, LKDF_KMOD_STALE_ONLY) >= 0);
	EXPECT_EQ(node_of(&r, m), node[1]);
	EXPECT_EQ(wrong_blocks(), 0);
	snprintf(text, sizeof(text), "%d", getpid());
	write_text("/sys/fs/cgroup/cgroup.procs", text);
	rmdir(GROUP);
}
