/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Machines we don't have: small sysfs trees, read by hwloc through its
 * HWLOC_FSROOT and by our own reader.
 */
#include "base/err.h"
#include "tests/fixtures/topo/tree.h"
#include "tests/tap.h"
#include "topo/topo.h"

#include <errno.h>
#include <link.h>

/* Each machine is read by hwloc and, with a reason, by the reader without. */
static const char *without_hwloc;
static char sys_root[PATH_MAX];
static char why[256];

static struct topo *open_tree(struct tree *tree, const char *name)
{
	struct topo_attr a = {
		.sys_root = sys_root,
		.without_hwloc = without_hwloc,
		.asks_hwloc = true,
	};
	struct topo *t = NULL;

	tree_unpack(tree, name);
	snprintf(sys_root, sizeof(sys_root), "%s", tree_path(tree, "sys"));
	setenv("HWLOC_FSROOT", tree->root, 1);
	is(topo_open(&a, &t), 0, "%s opens", name);
	unsetenv("HWLOC_FSROOT");
	if (!t) {
		printf("Bail out! %s\n", err_text());
		exit(1);
	}
	ok(t->is_synthetic, "%s: another machine is never pinned", name);
	is(topo_check_sysfs(t, sys_root, why, sizeof(why)), 0,
	   "%s: hwloc and sysfs agree%s%s", name, *why ? ": " : "", why);
	return t;
}

static void close_tree(struct tree *tree, struct topo *t)
{
	topo_close(t);
	tree_remove(tree);
}

/* OS numbers of the CPUs in order, as text. */
static const char *order(const struct topo *t, char *buf, size_t size)
{
	size_t used = 0;
	int i;

	buf[0] = '\0';
	for (i = 0; i < t->nr_cpus && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%d",
					 i ? " " : "", t->cpu[i].os_cpu);
	return buf;
}

static void first_threads_of_a_node_come_first(void)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "two");
	char buf[64];

	is(t->nr_nodes, 2, "two nodes");
	is(t->nr_cores, 4, "four cores");
	has(order(t, buf, sizeof(buf)), "0 1 4 5 2 3 6 7",
	    "node, then thread, then core");
	is(t->cpu[2].core, 0, "CPU 4 is a thread of core 0");
	is(t->cpu[2].smt, 1, "the second one");
	is(t->nr_l3, 2, "two caches of level 3");
	is(t->l3[t->cpu[7].l3].bytes, 16 << 20, "each of 16 MiB");
	is(t->l3[t->cpu[7].l3].nr_cpus, 4, "for the four CPUs of a node");
	is(t->node[1].first_cpu, 4, "node 1 begins behind node 0");
	is(t->node[1].nr_cores, 2, "node 1 has two cores");
	is(topo_distance(t, 0, 1), 21, "distance as the firmware says");
	is(topo_default_workers(t, false), 4, "one worker per core");
	close_tree(&tree, t);
}

static void cores_of_a_cache_come_together(void)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "two-caches");
	char buf[64];

	is(t->nr_l3, 2, "two caches of level 3 in a node");
	has(order(t, buf, sizeof(buf)), "0 2 1 3",
	    "cores of one cache, then of the other");
	close_tree(&tree, t);
}

static void the_way_back_may_be_longer(void)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "asymmetric");

	is(t->nr_nodes, 4, "four nodes");
	is(topo_distance(t, 0, 1), 16, "there");
	is(topo_distance(t, 1, 0), 17, "and back");
	is(topo_distance(t, 3, 1), 30, "last row, second column");
	is(topo_distance(t, 1, 3), 32, "second row, last column");
	close_tree(&tree, t);
}

static void a_node_without_memory_has_cpus(void)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "no-memory");

	is(t->nr_nodes, 2, "both nodes are there");
	is(t->node[1].mem_bytes, 0, "node 1 has no memory");
	is(t->node[1].nr_cpus, 2, "node 1 has two CPUs");
	is(t->node[0].mem_bytes, 2ll << 30, "node 0 has all the memory");
	close_tree(&tree, t);
}

static void a_node_without_cpus_has_memory(void)
{
	int where[3];
	struct tree tree;
	struct topo *t = open_tree(&tree, "no-cpu");

	is(t->nr_nodes, 2, "both nodes are there");
	is(t->node[0].nr_cpus, 0, "node 0 has no CPUs");
	is(t->node[0].mem_bytes, 4ll << 30, "node 0 has memory");
	is(t->node[1].nr_cpus, 2, "node 1 has the CPUs");
	is(topo_cpu_nodes(t), 1, "one node can have workers");
	is(topo_place_workers(t, 3, true, NULL, where), TOPO_DEAL_CROWDED,
	   "three workers do not fit two CPUs");
	ok(where[0] == 0 && where[1] == 1 && where[2] == 0,
	   "all workers are on node 1");
	close_tree(&tree, t);
}

static void far_memory_does_not_take_cpus(void)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "far-memory");

	is(t->nr_nodes, 4, "four nodes");
	is(t->node[0].nr_cpus, 0, "node 0 is memory");
	is(t->node[1].nr_cpus, 2, "node 1 has its CPUs");
	is(t->node[2].nr_cpus, 2, "node 2 has its CPUs");
	is(t->node[3].nr_cpus, 0, "node 3 is memory");
	close_tree(&tree, t);
}

static void holes_in_numbers_vanish(void)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "sparse");
	char buf[64];

	is(t->nr_nodes, 3, "three nodes");
	is(t->node[2].os_node, 9, "the third one is number 9");
	has(order(t, buf, sizeof(buf)), "0 1 8 9 20 21", "CPU numbers stay");
	is(t->cpu[5].node, 2, "CPU 21 is on the third node");
	is(t->cpu[5].core, 5, "cores are dense");
	is(topo_distance(t, 0, 2), 80, "distances follow the index");
	close_tree(&tree, t);
}

static void the_check_finds(const char *path, const char *text,
			    const char *part)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "two");

	tree_write(&tree, path, text);
	is(topo_check_sysfs(t, sys_root, why, sizeof(why)), 1,
	   "a change is found: %s", part);
	has(why, part, "the difference is named");
	close_tree(&tree, t);
}

#define NODES "sys/devices/system/node/"

static void the_check_finds_differences(void)
{
	the_check_finds(NODES "node0/distance", "10 22",
			"distance 0 to 1: hwloc says 21, sysfs 22");
	the_check_finds(NODES "node1/distance", "21",
			"node 1: sysfs has 1 distances for 2 nodes");
	the_check_finds(NODES "node1/cpulist", "2-5",
			"CPU 4: hwloc says node 0, sysfs node 1");
	the_check_finds(NODES "node1/cpulist", "2-3",
			"sysfs knows 6 of 8 CPUs");
	the_check_finds(NODES "online", "0", "node 1: hwloc has it, sysfs not");
}

static void the_check_says_when_it_cannot_read(void)
{
	struct tree tree;
	struct topo *t = open_tree(&tree, "two");

	tree_write(&tree, NODES "node1/cpulist", "2-");
	is(topo_check_sysfs(t, sys_root, why, sizeof(why)), -EIO,
	   "a broken list is an error, not a difference");
	has(err_text(), "sysfs: cannot read", "the error says so");
	tree_write(&tree, NODES "node1/cpulist", "2-3,6-7");
	unlink(tree_path(&tree, NODES "node1/distance"));
	is(topo_check_sysfs(t, sys_root, why, sizeof(why)), -EIO,
	   "a missing row is an error");
	unlink(tree_path(&tree, NODES "online"));
	is(topo_check_sysfs(t, sys_root, why, sizeof(why)), 1,
	   "a kernel without nodes differs from two nodes");
	has(why, "hwloc has 2 nodes, sysfs none", "the difference is named");
	close_tree(&tree, t);
}

static void a_list_cuts_nodes_and_cores(void)
{
	struct topo_attr a = { .cpus = "5,2", .asks_hwloc = true };
	struct topo *t = NULL;
	struct tree tree;

	tree_unpack(&tree, "two");
	setenv("HWLOC_FSROOT", tree.root, 1);
	is(topo_open(&a, &t), 0, "two CPUs of eight");
	is(t->nr_cpus, 2, "two are left");
	is(t->nr_cores, 2, "of two cores");
	is(t->cpu[0].os_cpu, 5, "a second thread alone");
	is(t->cpu[0].smt, 0, "is the first allowed one of its core");
	topo_close(t);
	t = NULL;
	a.cpus = "0-3,8";
	is(topo_open(&a, &t), -EINVAL, "CPU 8 is not there");
	has(err_text(), "topo: cpus=8: this process may use 0-7",
	    "the message names it and what there is");
	ok(!t, "out is untouched");
	unsetenv("HWLOC_FSROOT");
	tree_remove(&tree);
}

static void the_reader_cuts_memory(void)
{
	char proc_root[PATH_MAX];
	struct topo_attr a = { .without_hwloc = "a test" };
	struct topo *t = NULL;
	struct tree tree;

	tree_unpack(&tree, "two");
	tree_write(&tree, "proc/self/status",
		   "Name:\tx\nMems_allowed_list:\t1\nThreads:\t1");
	snprintf(proc_root, sizeof(proc_root), "%s", tree_path(&tree, "proc"));
	snprintf(sys_root, sizeof(sys_root), "%s", tree_path(&tree, "sys"));
	a.sys_root = sys_root;
	a.proc_root = proc_root;
	is(topo_open(&a, &t), 0, "a cpuset without memory of node 0 opens");
	is(t->node[0].mem_bytes, 0, "node 0 has no memory for us");
	is(t->node[1].mem_bytes, 2ll << 30, "node 1 has");
	is(t->node[0].nr_cpus, 4, "the CPUs stay");
	topo_close(t);
	t = NULL;
	unlink(tree_path(&tree, NODES "node1/cpulist"));
	is(topo_open(&a, &t), 0, "a node that does not tell its CPUs");
	is(t->nr_nodes, 1, "makes all one node");
	is(t->node[0].nr_cpus, 8, "of all CPUs");
	ok(t->node[0].mem_bytes, "with memory");
	topo_close(t);
	t = NULL;
	a.synthetic = "numa:2 core:2";
	is(topo_open(&a, &t), -EPERM, "a made-up machine needs hwloc");
	has(err_text(), "needs hwloc, which this process may not use: a test",
	    "the message says so");
	tree_remove(&tree);
}

static void both_readers_agree_here(void)
{
	struct topo_attr a = { .without_hwloc = NULL };
	struct topo *t[2] = { NULL, NULL };
	int i;

	a.asks_hwloc = true;
	is(topo_open(&a, &t[0]), 0, "this machine opens");
	has(t[0]->source, "hwloc 2.", "by hwloc");
	a.without_hwloc = "a test";
	is(topo_open(&a, &t[1]), 0, "without hwloc, too");
	is(t[1]->nr_nodes, t[0]->nr_nodes, "nodes are as many");
	is(t[1]->nr_cores, t[0]->nr_cores, "so are cores");
	ok(!t[1]->is_synthetic, "workers may be pinned");
	if (!is(t[1]->nr_cpus, t[0]->nr_cpus, "and CPUs"))
		exit(1);
	for (i = 0; i < t[0]->nr_cpus; i++)
		if (t[0]->cpu[i].os_cpu != t[1]->cpu[i].os_cpu ||
		    t[0]->cpu[i].node != t[1]->cpu[i].node)
			break;
	is(i, t[0]->nr_cpus, "in one order, on one node each");
	topo_close(t[0]);
	topo_close(t[1]);
}

static int see_loads(struct dl_phdr_info *info, size_t size, void *u)
{
	(void)size;
	*(unsigned long long *)u = info->dlpi_adds;
	return 1;
}

/* Libraries that were loaded so far, those that are gone included. */
static unsigned long long nr_loads(void)
{
	unsigned long long nr = 0;

	dl_iterate_phdr(see_loads, &nr);
	return nr;
}

/* The first one in the process. */
static void this_machine_needs_no_plugins(void)
{
	struct topo_attr a = { .without_hwloc = NULL };
	unsigned long long nr = nr_loads();
	struct topo *t = NULL;

	is(topo_open(&a, &t), 0, "this machine opens");
	is(strcmp(t->source, "sysfs"), 0, "from /sys: %s", t->source);
	topo_close(t);
	ok(nr_loads() == nr, "no plug-in of hwloc is loaded");
}

static void machines_are_read(const char *without)
{
	without_hwloc = without;
	first_threads_of_a_node_come_first();
	cores_of_a_cache_come_together();
	the_way_back_may_be_longer();
	a_node_without_memory_has_cpus();
	a_node_without_cpus_has_memory();
	far_memory_does_not_take_cpus();
	holes_in_numbers_vanish();
	without_hwloc = NULL;
}

int main(void)
{
	tap_start(60);
	this_machine_needs_no_plugins();
	machines_are_read(NULL);
	machines_are_read("a test");
	the_reader_cuts_memory();
	both_readers_agree_here();
	the_check_finds_differences();
	the_check_says_when_it_cannot_read();
	a_list_cuts_nodes_and_cores();
	return tap_end();
}
