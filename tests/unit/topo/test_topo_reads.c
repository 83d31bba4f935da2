/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which files are opened to read a machine: each one once, and those that CPUs
 * have in common once for all of these. The machine is made up, so the counts
 * are the same everywhere. open() is replaced in this program.
 */
#include "tests/fixtures/topo/tree.h"
#include "tests/tap.h"
#include "topo/topo.h"

#include <fcntl.h>
#include <sys/syscall.h>

#define MOST 512

static char opened[MOST][PATH_MAX];
static int nr_opened;

int open(const char *path, int flags, ...)
{
	if (nr_opened < MOST)
		snprintf(opened[nr_opened++], PATH_MAX, "%s", path);
	/* The library creates no file here, so there is no mode. */
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

static int nr_with(const char *text)
{
	int i, nr = 0;

	for (i = 0; i < nr_opened; i++)
		nr += strstr(opened[i], text) != NULL;
	return nr;
}

/* Two slashes in a path are one. */
static bool same_file(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++) {
		while (a[0] == '/' && a[1] == '/')
			a++;
		while (b[0] == '/' && b[1] == '/')
			b++;
	}
	return *a == *b;
}

static void each_is_opened_once(const char *what)
{
	int i, k, nr = 0;

	for (i = 0; i < nr_opened; i++)
		for (k = 0; k < i; k++) {
			if (!same_file(opened[i], opened[k]))
				continue;
			printf("# %s is opened again\n", opened[i]);
			nr++;
		}
	is(nr, 0, "%s: each of %d files is opened once", what, nr_opened);
}

/* Two nodes, each with two cores of two threads and one cache. */
static void a_machine_of_eight_cpus(void)
{
	struct topo_attr a = { .without_hwloc = "it is not asked" };
	char root[PATH_MAX];
	struct tree tree;
	struct topo *t;

	tree_unpack(&tree, "two");
	snprintf(root, sizeof(root), "%s", tree_path(&tree, "sys"));
	a.sys_root = root;
	nr_opened = 0;
	if (topo_open(&a, &t)) {
		printf("Bail out! the machine cannot be read\n");
		exit(1);
	}
	each_is_opened_once("a machine");
	is(nr_with("thread_siblings_list"), 4, "one CPU of each core is asked");
	is(nr_with("shared_cpu_list"), 2, "and one of each cache");
	is(nr_with("meminfo"), 2, "and each node");
	is(t->nr_cores, 4, "it has four cores");
	is(t->nr_l3, 2, "and two caches");
	topo_close(t);
	tree_remove(&tree);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		printf("Bail out! %s cannot be written\n", path);
		exit(1);
	}
}

/* In the root of a hierarchy of version 1, and of version 2. */
static void a_group_without_quota(void)
{
	char dir[] = "/tmp/lkdf-reads-XXXXXX", path[PATH_MAX];

	if (!mkdtemp(dir)) {
		printf("Bail out! no folder\n");
		exit(1);
	}
	snprintf(path, sizeof(path), "%s/self", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/self/cgroup", dir);
	write_file(path, "2:cpu:/\n1:cpuset:/\n0::/\n");
	snprintf(path, sizeof(path), "%s/cpu", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/cpu/cpu.cfs_quota_us", dir);
	write_file(path, "-1\n");
	snprintf(path, sizeof(path), "%s/cpu/cpu.cfs_period_us", dir);
	write_file(path, "100000\n");
	nr_opened = 0;
	is(topo_read_quota_milli(dir, dir), 0, "there is no quota");
	each_is_opened_once("quota");
	is(nr_with("cpu.cfs_period_us"), 0, "without quota no period is read");
	is(nr_with("cpu.max"), 2, "both mounts of version 2 are tried");
	write_file(path, "100000\n");
	snprintf(path, sizeof(path), "%s/cpu/cpu.cfs_quota_us", dir);
	write_file(path, "150000\n");
	nr_opened = 0;
	is(topo_read_quota_milli(dir, dir), 1500, "one and a half CPUs");
	each_is_opened_once("with a quota");
	unlink(path);
	snprintf(path, sizeof(path), "%s/cpu/cpu.cfs_period_us", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/cpu", dir);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/self/cgroup", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/self", dir);
	rmdir(path);
	rmdir(dir);
}

int main(void)
{
	tap_start(60);
	a_machine_of_eight_cpus();
	a_group_without_quota();
	return tap_end();
}
