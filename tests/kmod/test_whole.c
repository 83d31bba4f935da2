/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Moves by what governs the whole machine: memory that goes offline, groups
 * whose nodes change, a group whose memory is used up. The name comes last:
 * with memory that goes offline huge pages go, which other tests want.
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

#define SMALL_GROUP "/sys/fs/cgroup/lkdf_kmod_small"

/* Ends by the OOM killer, whose reaper takes its memory before it is gone. */
static void use_too_much(int fd)
{
	size_t size = 256 * MIB;
	char *mine = small_memory(size);
	char text[20];

	snprintf(text, sizeof(text), "%d", getpid());
	write_text(SMALL_GROUP "/cgroup.procs", text);
	if (call_setup(fd, 1, 1 << 16, NULL) ||
	    call_add(fd, mine, size, 12) < 0)
		_exit(1);
	touch(mine, size / 16);
	refresh_id(fd, 0, 0, size / PAGE);
	touch(mine, size);
	_exit(2);
}

TEST_LIMIT(an_owner_that_runs_out_of_memory_leaves_a_dead_map, 60)
{
	const volatile struct lkdf_map_header *header;
	int fd = open_device(), status = 0;
	pid_t child;

	write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(SMALL_GROUP, 0755);
	write_text(SMALL_GROUP "/memory.max", "67108864");
	write_text(SMALL_GROUP "/memory.swap.max", "0");
	if (read_number(SMALL_GROUP "/memory.max") != 64 * (long)MIB)
		SKIP("no memory controller");
	child = fork();
	if (child == 0)
		use_too_much(fd);
	ASSERT_EQ(waitpid(child, &status, 0), child);
	rmdir(SMALL_GROUP);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), SIGKILL);
	header = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT(header != MAP_FAILED);
	EXPECT_EQ(header->state, LKDF_MAP_MM_GONE);
	EXPECT_ERRNO(refresh_id(fd, 0, 0, 65536), ESRCH);
}
