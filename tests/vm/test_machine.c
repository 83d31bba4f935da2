/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The topology that the library and "lkdf topo" tell, against the machine that
 * was asked for and against the kernel's files.
 */
#include "tests/vm/vm.h"
#include "topo/topo.h"

static void the_kernel_has_what_was_asked_for(void)
{
	cpu_set_t online = vm_online_cpus(), cpus;
	int node, cpu, nr_right;

	is(CPU_COUNT(&online), vm.nr_cpus, "all CPUs are there");
	for (node = 0; node < vm.nr_nodes; node++) {
		cpus = vm_node_cpus(node);
		nr_right = 0;
		for (cpu = 0; cpu < vm.nr_cpus; cpu++)
			nr_right += CPU_ISSET(cpu, &cpus) ==
				    (vm.node_of[cpu] == node);
		is(nr_right, vm.nr_cpus, "node %d has its CPUs", node);
	}
}

static void one_node_is_right(const struct topo *t, int n)
{
	const struct topo_node *node = &t->node[n];
	int i, nr_right = 0;

	is(node->os_node, n, "node %d is there", n);
	is(node->nr_cpus, vm.nr_cpus_of[n], "node %d: its CPUs", n);
	is(node->nr_cores, vm.nr_cpus_of[n], "node %d: each is a core", n);
	is(node->mem_bytes > 0, vm.mib_of[n] > 0, "node %d: has %s", n,
	   vm.mib_of[n] ? "memory" : "no memory");
	ok(node->mem_bytes <= (uint64_t)vm.mib_of[n] << 20,
	   "node %d: not more than it was given", n);
	for (i = node->first_cpu; i < node->first_cpu + node->nr_cpus; i++)
		nr_right += vm.node_of[t->cpu[i].os_cpu] == n;
	is(nr_right, node->nr_cpus, "node %d: the right ones", n);
}

static void distances_are_right(const struct topo *t)
{
	int i, j, nr_wrong = 0;

	for (i = 0; i < vm.nr_nodes; i++) {
		for (j = 0; j < vm.nr_nodes; j++) {
			if (topo_distance(t, i, j) == vm.distance[i][j])
				continue;
			nr_wrong++;
			printf("# %d to %d: %d, expected %d\n", i, j,
			       topo_distance(t, i, j), vm.distance[i][j]);
		}
	}
	is(nr_wrong, 0, "all distances are right, both ways");
}

static void hwloc_and_sysfs_agree(const struct topo *t)
{
	char why[200];

	if (!is(topo_check_sysfs(t, NULL, why, sizeof(why)), 0,
		"hwloc and the kernel's files agree"))
		printf("# %s\n", why);
}

static void the_whole_machine_is_right(void)
{
	struct topo_attr a = { .cpus = NULL };
	struct topo *t = NULL;
	int n;

	must(topo_open(&a, &t));
	ok(!t->is_synthetic, "it is this machine");
	is(t->nr_cpus, vm.nr_cpus, "all CPUs are told");
	if (is(t->nr_nodes, vm.nr_nodes, "all nodes are told")) {
		for (n = 0; n < t->nr_nodes; n++)
			one_node_is_right(t, n);
		distances_are_right(t);
	}
	is(topo_cpu_nodes(t), vm.nr_cpu_nodes, "nodes that can have workers");
	hwloc_and_sysfs_agree(t);
	topo_close(t);
}

/* Each node's CPUs alone: the other nodes are memory then, or nothing. */
static void parts_are_right(void)
{
	int n, i, nr_left;
	struct topo *t;
	char list[32];

	for (n = 0; n < vm.nr_nodes; n++) {
		if (!vm.nr_cpus_of[n])
			continue;
		snprintf(list, sizeof(list), "%d-%d", vm.first_cpu_of[n],
			 vm.first_cpu_of[n] + vm.nr_cpus_of[n] - 1);
		must(topo_open(&(struct topo_attr){ .cpus = list }, &t));
		is(t->nr_cpus, vm.nr_cpus_of[n], "cpus=%s: these", list);
		for (i = nr_left = 0; i < vm.nr_nodes; i++)
			nr_left += i == n || vm.mib_of[i];
		is(t->nr_nodes, nr_left, "cpus=%s: the node and all memory",
		   list);
		is(topo_cpu_nodes(t), 1, "cpus=%s: one node has CPUs", list);
		hwloc_and_sysfs_agree(t);
		topo_close(t);
	}
}

static char *read_command(const char *command)
{
	static char text[1 << 16];
	FILE *p = popen(command, "r");
	size_t n;

	if (!p)
		vm_die("cannot run", command);
	n = fread(text, 1, sizeof(text) - 1, p);
	text[n] = '\0';
	is(pclose(p), 0, "%s ends well", command);
	return text;
}

/* The kernel's file with commas for blanks. */
static void with_commas(const char *path, char *to, size_t size)
{
	const char *from = vm_read(path);
	size_t n = 0;

	for (; *from && n + 1 < size; from++)
		to[n++] = *from == ' ' ? ',' : *from;
	to[n] = '\0';
}

/* Text of node n in lkdf topo --json, from the kernel's files alone. */
static void expect_node(int n, char *to, size_t size)
{
	char path[80], distances[200];
	cpu_set_t cpus = vm_node_cpus(n);
	int cpu, at;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance",
		 n);
	with_commas(path, distances, sizeof(distances));
	at = snprintf(to, size, "\"cores\":%d,\"cpus\":[", CPU_COUNT(&cpus));
	for (cpu = 0; cpu < VM_MAX_CPUS; cpu++) {
		if (CPU_ISSET(cpu, &cpus))
			at += snprintf(to + at, size - (size_t)at, "%s%d",
				       to[at - 1] == '[' ? "" : ",", cpu);
	}
	snprintf(to + at, size - (size_t)at, "],\"distances\":[%s]}",
		 distances);
}

static void the_tool_is_right(void)
{
	char want[512], name[32], *text, *line;
	int n;

	text = read_command("./lkdf topo --json");
	for (n = 0; n < vm.nr_nodes; n++) {
		snprintf(name, sizeof(name), "{\"node\":%d,", n);
		line = strstr(text, name);
		expect_node(n, want, sizeof(want));
		has(line ? line : text, want, "lkdf topo tells node %d", n);
	}
}

int main(void)
{
	vm_start(60);
	the_kernel_has_what_was_asked_for();
	the_whole_machine_is_right();
	parts_are_right();
	the_tool_is_right();
	return tap_end();
}
