/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How much CPU time the cgroup allows. /proc/self/cgroup names the group in
 * each hierarchy; the quota is the least over the group and its ancestors.
 * Inside a container the named path often does not exist below the mount,
 * whose root then is the container's own group: levels that are not there are
 * passed over and the root is always asked.
 *
 *   version 2   <root>[/unified]/<path>/cpu.max         "150000 100000"
 *   version 1   <root>/<controllers>/<path>/cpu.cfs_quota_us, -1: none
 *               and .../cpu.cfs_period_us
 */
#include "topo/topo.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct level {
	char path[PATH_MAX]; /* directory of the group */
	size_t root_len; /* where the hierarchy's root ends in path */
};

/*
 * The first size - 1 bytes of dir/name; false if there are none. A worker reads
 * this while runs are under way, and those never call malloc(): no stdio.
 */
static bool read_file(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t nr;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	nr = read(fd, buf, size - 1);
	close(fd);
	buf[nr > 0 ? nr : 0] = '\0';
	return nr > 0;
}

/* Thousandths of a CPU, rounded up; 0 where the numbers say no limit. */
static int to_milli(int64_t quota, int64_t period)
{
	int64_t milli;

	if (quota <= 0 || period <= 0 || quota > INT64_MAX / 2000)
		return 0;
	milli = (quota * 1000 + period - 1) / period;
	return milli > INT_MAX ? INT_MAX : (int)milli;
}

static int read_v2(const char *dir)
{
	int64_t quota, period;
	char line[64];

	if (!read_file(dir, "cpu.max", line, sizeof(line)))
		return 0;
	if (sscanf(line, "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
		return 0;
	return to_milli(quota, period);
}

static int read_v1(const char *dir)
{
	char quota[64], period[64];

	/* Most groups have -1: no quota. */
	if (!read_file(dir, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
	    strtoll(quota, NULL, 10) <= 0 ||
	    !read_file(dir, "cpu.cfs_period_us", period, sizeof(period)))
		return 0;
	return to_milli(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

static int least_quota(int a, int b)
{
	if (!a || !b)
		return a + b;
	return a < b ? a : b;
}

/* Sets the level; false if the hierarchy is not mounted there. */
static bool level_init(struct level *l, const char *root, const char *sub,
		       const char *group)
{
	int len;

	len = snprintf(l->path, sizeof(l->path), "%s%s%s", root,
		       *sub ? "/" : "", sub);
	if (len < 0 || len >= (int)sizeof(l->path))
		return false;
	l->root_len = (size_t)len;
	/* ".." leads out of our namespace: only the root is ours to see. */
	if (!strstr(group, "/..") && strcmp(group, "/") != 0)
		snprintf(l->path + len, sizeof(l->path) - (size_t)len, "%s",
			 group);
	return true;
}

/* To the parent; false at the root. */
static bool level_up(struct level *l)
{
	char *slash = strrchr(l->path + l->root_len, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static int walk_groups(const char *root, const char *sub, const char *group,
		       int (*read_dir)(const char *dir))
{
	struct level l;
	int milli = 0;

	if (!level_init(&l, root, sub, group))
		return 0;
	do
		milli = least_quota(milli, read_dir(l.path));
	while (level_up(&l));
	return milli;
}

/* Is "cpu" one of "cpu,cpuacct"? */
static bool has_cpu(const char *controllers)
{
	const char *s = controllers;
	size_t len;

	while (*s) {
		len = strcspn(s, ",");
		if (len == 3 && !memcmp(s, "cpu", 3))
			return true;
		s += len + (s[len] == ',');
	}
	return false;
}

/* A line "id:controllers:path" of /proc/self/cgroup. */
static int read_hierarchy(char *line, const char *root)
{
	char *controllers, *group;
	int milli;

	controllers = strchr(line, ':');
	group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group)
		return 0;
	controllers++;
	*group++ = '\0';
	if (!*controllers) {
		milli = walk_groups(root, "", group, read_v2);
		return least_quota(milli, walk_groups(root, "unified", group,
						      read_v2));
	}
	if (!has_cpu(controllers))
		return 0;
	milli = walk_groups(root, controllers, group, read_v1);
	return milli || !strcmp(controllers, "cpu")
		       ? milli
		       : walk_groups(root, "cpu", group, read_v1);
}

int topo_read_quota_milli(const char *proc_root, const char *cgroup_root)
{
	char groups[2 * PATH_MAX], *line, *rest = groups;
	int milli = 0;

	if (!cgroup_root)
		cgroup_root = "/sys/fs/cgroup";
	if (!read_file(proc_root ? proc_root : "/proc", "self/cgroup", groups,
		       sizeof(groups)))
		return 0;
	while ((line = strsep(&rest, "\n")))
		milli = least_quota(milli, read_hierarchy(line, cgroup_root));
	return milli;
}

int topo_read_quota(const char *proc_root, const char *cgroup_root)
{
	int milli = topo_read_quota_milli(proc_root, cgroup_root);

	return milli / 1000 + (milli % 1000 != 0);
}
