/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Control groups give this process some CPUs and nodes: a runtime that opens
 * uses just these, and one that works outlives every change of them.
 */
#include "tests/vm/load.h"

#include <sys/mman.h>
#include <sys/stat.h>

#define ROOT "/sys/fs/cgroup/"
#define GROUP ROOT "lkdf"

static char everything[32], all_mems[64];

static void set_group(const char *group, const char *cpus, const char *mems)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/cpuset.mems", group);
	vm_write(path, mems);
	snprintf(path, sizeof(path), "%s/cpuset.cpus", group);
	vm_write(path, cpus);
}

static void join_group(const char *group)
{
	char path[80], pid[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	snprintf(pid, sizeof(pid), "%d", getpid());
	vm_write(path, pid);
}

static void cpus_of(int node, char *to, size_t size)
{
	snprintf(to, size, "%d-%d", vm.first_cpu_of[node],
		 vm.first_cpu_of[node] + vm.nr_cpus_of[node] - 1);
}

/* Memory of the node itself if it has any. */
static void mems_of(int node, char *to, size_t size)
{
	snprintf(to, size, "%d", vm.mib_of[node] ? node : 0);
}

static void set_to_node(int node)
{
	char cpus[32], mems[16];

	cpus_of(node, cpus, sizeof(cpus));
	mems_of(node, mems, sizeof(mems));
	set_group(GROUP, cpus, mems);
}

static void workers_are_inside(int want, const cpu_set_t *inside,
			       const char *where)
{
	struct vm_worker w[VM_MAX_CPUS];
	struct lkdf *rt = api_open(NULL);
	int nr = vm_workers(w, want), i;
	cpu_set_t seen;

	is(nr, want, "%s: a worker for each CPU of the group", where);
	CPU_ZERO(&seen);
	for (i = 0; i < nr; i++)
		CPU_OR(&seen, &seen, &w[i].cpus);
	ok(CPU_EQUAL(&seen, inside), "%s: on just these CPUs", where);
	is(lkdf_close(rt), 0, "%s: it closes", where);
}

static char *describe(struct lkdf *rt)
{
	static char text[1 << 16];
	int fd = memfd_create("topo", MFD_CLOEXEC);
	ssize_t n;

	must(lkdf_describe(rt, "topo", "json", fd));
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return text;
}

/* A node counts that has CPUs of the group or memory of it. */
static void nodes_are_inside(int node)
{
	struct lkdf *rt = api_open(NULL);
	char *text = describe(rt), name[32];
	int n, want;

	for (n = 0; n < vm.nr_nodes; n++) {
		snprintf(name, sizeof(name), "{\"node\":%d,", n);
		want = n == node || (!vm.mib_of[node] && n == 0);
		is(strstr(text, name) != NULL, want,
		   "in the group of node %d: node %d is %s", node, n,
		   want ? "there" : "not there");
	}
	is(lkdf_close(rt), 0, "it closes");
}

static void it_uses_the_group_only(int node)
{
	cpu_set_t cpus = vm_node_cpus(node);
	char where[32];

	set_to_node(node);
	join_group(GROUP);
	snprintf(where, sizeof(where), "group of node %d", node);
	workers_are_inside(vm.nr_cpus_of[node], &cpus, where);
	nodes_are_inside(node);
	join_group(ROOT);
}

static void one_cpu_is_enough(void)
{
	cpu_set_t cpus = vm_list("0");

	set_group(GROUP, "0", "0");
	join_group(GROUP);
	workers_are_inside(1, &cpus, "one CPU");
	join_group(ROOT);
}

static void all_may_run_on(int nr, const cpu_set_t *cpus, const char *when)
{
	struct vm_worker w[VM_MAX_CPUS];
	int found = vm_workers(w, nr), i, nr_inside = 0;
	cpu_set_t both;

	for (i = 0; i < nr; i++) {
		CPU_AND(&both, cpus, &w[i].cpus);
		nr_inside +=
			CPU_COUNT(&both) > 0 && CPU_EQUAL(&both, &w[i].cpus);
	}
	is(found, nr, "%s: all workers live", when);
	is(nr_inside, nr, "%s: the kernel has put them into the group", when);
}

/* The group is moved from node to node under the workers. */
static void the_group_moves_while_it_works(void)
{
	cpu_set_t cpus;
	struct load load;
	struct lkdf *rt;
	int node, nr;

	set_group(GROUP, everything, all_mems);
	join_group(GROUP);
	rt = api_open(NULL);
	nr = vm_nr_workers(rt);
	load_start(&load, rt);
	for (node = 0; node < vm.nr_nodes; node++) {
		if (!vm.nr_cpus_of[node])
			continue;
		load_goes_on(&load, 2);
		set_to_node(node);
		load_goes_on(&load, 2);
		cpus = vm_node_cpus(node);
		all_may_run_on(nr, &cpus, "another node");
	}
	set_group(GROUP, "0", "0");
	load_goes_on(&load, 2);
	cpus = vm_list("0");
	all_may_run_on(nr, &cpus, "one CPU");
	set_group(GROUP, everything, all_mems);
	load_goes_on(&load, 2);
	load_stop(&load);
	is(lkdf_close(rt), 0, "it closes");
	join_group(ROOT);
}

/* The process is moved, the groups stay. */
static void the_process_moves_while_it_works(void)
{
	struct load load;
	struct lkdf *rt;
	int i;

	set_group(GROUP, "0", "0");
	rt = api_open(NULL);
	load_start(&load, rt);
	for (i = 0; i < 10; i++) {
		join_group(i % 2 ? ROOT : GROUP);
		load_goes_on(&load, 1);
	}
	join_group(GROUP);
	load_goes_on(&load, 1);
	load_stop(&load);
	is(lkdf_close(rt), 0, "it closes in a smaller group");
	join_group(ROOT);
}

static void a_quota_makes_fewer_workers(void)
{
	struct lkdf *rt;

	set_group(GROUP, everything, all_mems);
	vm_write(GROUP "/cpu.max", "100000 100000");
	join_group(GROUP);
	rt = api_open(NULL);
	is(vm_nr_workers(rt), 1, "a quota of one CPU makes one worker");
	is(lkdf_close(rt), 0, "it closes");
	join_group(ROOT);
	vm_write(GROUP "/cpu.max", "max 100000");
}

/* True: the description of the machine has these words. */
static bool describes(struct lkdf *rt, const char *words)
{
	static char text[1 << 16];
	int fd = memfd_create("topo", MFD_CLOEXEC);
	ssize_t n;

	must(lkdf_describe(rt, "topo", "text", fd));
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return strstr(text, words) != NULL;
}

/* So many workers go on until CPUs are taken or given; one stays on a node. */
static void run_until_some_work(struct load *l, struct lkdf *rt, int nr)
{
	char words[40];

	snprintf(words, sizeof(words), "%d of %d workers run", nr,
		 lkdf_nr_workers(rt));
	if (nr == lkdf_nr_workers(rt))
		while (describes(rt, "workers run"))
			load_goes_on(l, 1);
	else
		while (!describes(rt, words))
			load_goes_on(l, 1);
	ok(true, "%d of %d workers run", nr, lkdf_nr_workers(rt));
}

/* Opened below a quota of one CPU, with workers for all. */
static void workers_in_reserve_come(void)
{
	struct load load;
	struct lkdf *rt;
	int round;

	set_group(GROUP, everything, all_mems);
	vm_write(GROUP "/cpu.max", "100000 100000");
	join_group(GROUP);
	rt = api_open("reserve_workers=yes");
	is(lkdf_nr_workers(rt), vm.nr_cpus, "a worker for each CPU");
	load_start(&load, rt);
	run_until_some_work(&load, rt, vm.nr_cpu_nodes);
	for (round = 0; round < 2; round++) {
		vm_write(GROUP "/cpu.max", "max 100000");
		run_until_some_work(&load, rt, vm.nr_cpus);
		vm_write(GROUP "/cpu.max", "100000 100000");
		run_until_some_work(&load, rt, vm.nr_cpu_nodes);
	}
	load_stop(&load);
	is(lkdf_close(rt), 0, "it closes");
	join_group(ROOT);
	vm_write(GROUP "/cpu.max", "max 100000");
}

static int count_at_home(const cpu_set_t *home, int nr)
{
	struct vm_worker w[VM_MAX_CPUS];
	int found = vm_workers(w, nr), i, at_home = 0;

	for (i = 0; i < found; i++)
		at_home += CPU_EQUAL(&w[i].cpus, &home[i]);
	return at_home;
}

/* CPUs that a cpuset gives again are used by their workers, and by no other. */
static void workers_come_back_to_their_cpus(void)
{
	struct vm_worker w[VM_MAX_CPUS];
	cpu_set_t home[VM_MAX_CPUS];
	struct load load;
	struct lkdf *rt;
	int nr, i, round;

	set_group(GROUP, everything, all_mems);
	join_group(GROUP);
	rt = api_open(NULL);
	nr = vm_workers(w, vm_nr_workers(rt));
	for (i = 0; i < nr; i++)
		home[i] = w[i].cpus;
	load_start(&load, rt);
	for (round = 0; round < 2; round++) {
		set_group(GROUP, "0", all_mems);
		run_until_some_work(&load, rt, vm.nr_cpu_nodes);
		set_group(GROUP, everything, all_mems);
		run_until_some_work(&load, rt, nr);
		while (count_at_home(home, nr) < nr)
			load_goes_on(&load, 1);
		ok(true, "each worker is on its CPU again");
	}
	load_stop(&load);
	is(lkdf_close(rt), 0, "it closes");
	join_group(ROOT);
}

static void make_group(void)
{
	int n;

	snprintf(everything, sizeof(everything), "0-%d", vm.nr_cpus - 1);
	for (n = 0; n < vm.nr_nodes; n++) {
		if (vm.mib_of[n])
			sprintf(all_mems + strlen(all_mems), "%s%d",
				all_mems[0] ? "," : "", n);
	}
	vm_write(ROOT "cgroup.subtree_control", "+cpuset +cpu");
	if (mkdir(GROUP, 0755))
		vm_die("cannot make", GROUP);
}

/* Threads that were joined are in it for a moment more. */
static void the_group_is_left(void)
{
	int i, rc = rmdir(GROUP);

	for (i = 0; i < 5000 && rc && errno == EBUSY; i++) {
		api_nap_ns(1000000);
		rc = rmdir(GROUP);
	}
	is(rc, 0, "the group is empty in the end");
}

int main(void)
{
	int node;

	vm_start(120);
	make_group();
	for (node = 0; node < vm.nr_nodes; node++) {
		if (vm.nr_cpus_of[node])
			it_uses_the_group_only(node);
	}
	one_cpu_is_enough();
	a_quota_makes_fewer_workers();
	workers_in_reserve_come();
	workers_come_back_to_their_cpus();
	the_group_moves_while_it_works();
	the_process_moves_while_it_works();
	the_group_is_left();
	return tap_end();
}
