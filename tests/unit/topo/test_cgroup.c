/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/fixtures/topo/tree.h"
#include "tests/tap.h"
#include "topo/topo.h"

static int milli(struct tree *t)
{
	char proc[PATH_MAX], group[PATH_MAX];

	snprintf(proc, sizeof(proc), "%s", tree_path(t, "proc"));
	snprintf(group, sizeof(group), "%s", tree_path(t, "cg"));
	return topo_read_quota_milli(proc, group);
}

static int cpus(struct tree *t)
{
	char proc[PATH_MAX], group[PATH_MAX];

	snprintf(proc, sizeof(proc), "%s", tree_path(t, "proc"));
	snprintf(group, sizeof(group), "%s", tree_path(t, "cg"));
	return topo_read_quota(proc, group);
}

static void version_2_takes_the_least_ancestor(void)
{
	struct tree t;

	tree_init(&t);
	is(milli(&t), 0, "no files at all mean no quota");
	tree_write(&t, "proc/self/cgroup", "0::/a/b/c");
	is(milli(&t), 0, "groups without files mean no quota");
	tree_write(&t, "cg/a/b/c/cpu.max", "max 100000");
	is(milli(&t), 0, "max means no quota");
	tree_write(&t, "cg/a/b/c/cpu.max", "800000 100000");
	is(milli(&t), 8000, "the group's own quota counts");
	tree_write(&t, "cg/a/cpu.max", "150000 100000");
	is(milli(&t), 1500, "an ancestor's smaller quota wins");
	is(cpus(&t), 2, "one and a half CPUs round up to two");
	tree_write(&t, "cg/a/b/cpu.max", "max 100000");
	is(milli(&t), 1500, "max in between does not lift it");
	tree_write(&t, "cg/a/b/c/cpu.max", "1000 100000");
	is(cpus(&t), 1, "a hundredth of a CPU rounds up to one");
	tree_write(&t, "cg/a/b/c/cpu.max", "200000 100000");
	tree_write(&t, "cg/a/cpu.max", "300001 100000");
	is(milli(&t), 2000, "the quota is read anew each time");
	tree_remove(&t);
}

static void a_container_sees_its_own_root(void)
{
	struct tree t;

	tree_init(&t);
	tree_write(&t, "proc/self/cgroup", "0::/docker/0123");
	tree_write(&t, "cg/cpu.max", "250000 100000");
	is(cpus(&t), 3, "the root counts where the path does not exist");
	tree_write(&t, "proc/self/cgroup", "0::/../other");
	tree_write(&t, "other/cpu.max", "100000 100000");
	is(cpus(&t), 3, "a path out of the namespace is not followed");
	tree_write(&t, "proc/self/cgroup", "0::/");
	is(cpus(&t), 3, "the root group is the root");
	tree_remove(&t);
}

static void version_1_is_read_too(void)
{
	struct tree t;

	tree_init(&t);
	tree_write(&t, "proc/self/cgroup",
		   "9:name=systemd:/x\n4:cpuset:/x\n2:cpu,cpuacct:/a/b\n0::/");
	tree_write(&t, "cg/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1");
	tree_write(&t, "cg/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000");
	is(milli(&t), 0, "-1 means no quota");
	tree_write(&t, "cg/cpu,cpuacct/a/cpu.cfs_quota_us", "50000");
	is(milli(&t), 0, "a quota without its period does not limit");
	tree_write(&t, "cg/cpu,cpuacct/a/cpu.cfs_period_us", "20000");
	is(milli(&t), 2500, "quota over period of an ancestor");
	tree_write(&t, "cg/cpuset/x/cpu.cfs_quota_us", "1");
	tree_write(&t, "cg/cpuset/x/cpu.cfs_period_us", "1");
	is(milli(&t), 2500, "other controllers are not asked");
	tree_write(&t, "cg/unified/cpu.max", "100000 100000");
	is(milli(&t), 1000, "in a hybrid setup the least of both counts");
	tree_write(&t, "proc/self/cgroup", "1:cpuacct,cpu:/a");
	is(milli(&t), 0, "a hierarchy that is not mounted does not limit");
	tree_write(&t, "cg/cpu/a/cpu.cfs_quota_us", "70000");
	tree_write(&t, "cg/cpu/a/cpu.cfs_period_us", "100000");
	is(milli(&t), 700, "the mount may be called cpu alone");
	tree_remove(&t);
}

static void nonsense_does_not_limit(void)
{
	static const char *const text[] = {
		"",	"garbage",   "100000",
		"0 0",	"100000 0",  "-5 100000",
		"1 -1", "abc 10000", "9223372036854775807 1",
	};
	struct tree t;
	size_t i;

	tree_init(&t);
	tree_write(&t, "proc/self/cgroup", "0::/\n:\nx\n\n1:cpu");
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		tree_write(&t, "cg/cpu.max", text[i]);
		is(milli(&t), 0, "\"%s\" does not limit", text[i]);
	}
	tree_write(&t, "cg/cpu.max", "900000000000000 1");
	ok(milli(&t) > 0, "a quota beyond all machines stays positive");
	tree_remove(&t);
}

int main(void)
{
	tap_start(20);
	version_2_takes_the_least_ancestor();
	a_container_sees_its_own_root();
	version_1_is_read_too();
	nonsense_does_not_limit();
	return tap_end();
}
