/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Workers are bound to the CPUs of their nodes, and bodies run there. */
#include "tests/vm/vm.h"

/* The kernel's view of each thread against the machine that was asked for. */
static void all_are_bound(const struct vm_worker *w, int nr)
{
	cpu_set_t seen;
	int i, cpu, nr_alone = 0, nr_on_node = 0;

	CPU_ZERO(&seen);
	for (i = 0; i < nr; i++) {
		nr_alone += CPU_COUNT(&w[i].cpus) == 1;
		for (cpu = 0; cpu < vm.nr_cpus; cpu++) {
			if (CPU_ISSET(cpu, &w[i].cpus))
				nr_on_node += vm.node_of[cpu] == w[i].node;
		}
		CPU_OR(&seen, &seen, &w[i].cpus);
	}
	is(nr_alone, nr, "each has one CPU");
	is(nr_on_node, nr, "which is of the node that its name says");
	is(CPU_COUNT(&seen), nr, "no two have the same");
}

/* Fewer than CPUs, by default: each may run on the CPUs of its node. */
static void all_are_on_their_nodes(const struct vm_worker *w, int nr)
{
	int i, nr_right = 0;
	cpu_set_t node;

	for (i = 0; i < nr; i++) {
		node = vm_node_cpus(w[i].node);
		nr_right += CPU_EQUAL(&node, &w[i].cpus);
	}
	is(nr_right, nr, "each has the CPUs of its node");
}

static int nr_of_node(const struct vm_worker *w, int nr, int node)
{
	int i, n = 0;

	for (i = 0; i < nr; i++)
		n += w[i].node == node;
	return n;
}

static void each_core_has_a_worker(void)
{
	struct vm_worker w[VM_MAX_CPUS];
	struct lkdf *rt = api_open(NULL);
	int nr = vm_workers(w, vm.nr_cpus), node, i, nr_told = 0;
	uint64_t caps = lkdf_caps(rt);

	is(nr, vm.nr_cpus, "there is a worker for each core");
	ok(caps & LKDF_CAP_PINNED, "they are bound");
	is(!!(caps & LKDF_CAP_NODES), vm.nr_nodes > 1,
	   "and know if there are nodes");
	all_are_bound(w, nr);
	for (node = 0; node < vm.nr_nodes; node++)
		is(nr_of_node(w, nr, node), vm.nr_cpus_of[node],
		   "node %d has a worker for each of its CPUs", node);
	for (i = 0; i < nr; i++)
		nr_told += CPU_ISSET(vm_stat(rt, i, "cpu"), &w[i].cpus);
	is(nr_told, nr, "lkdf_stat tells the CPU that the kernel has");
	is(lkdf_close(rt), 0, "it closes");
}

static void few_workers_are_spread(const char *pin)
{
	struct vm_worker w[VM_MAX_CPUS];
	char options[64];
	struct lkdf *rt;
	int nr, node;

	snprintf(options, sizeof(options), "workers=%d,pin=%s", vm.nr_cpu_nodes,
		 pin);
	rt = api_open(options);
	nr = vm_workers(w, vm.nr_cpu_nodes);
	is(nr, vm.nr_cpu_nodes, "as many workers as nodes with CPUs");
	if (!strcmp(pin, "yes") || vm.nr_cpu_nodes == vm.nr_cpus)
		all_are_bound(w, nr);
	else
		all_are_on_their_nodes(w, nr);
	for (node = 0; node < vm.nr_nodes; node++)
		is(nr_of_node(w, nr, node), vm.nr_cpus_of[node] > 0,
		   "node %d has %d", node, vm.nr_cpus_of[node] > 0);
	is(lkdf_close(rt), 0, "it closes");
}

static void one_for_each_node(void)
{
	struct vm_worker w[VM_MAX_CPUS];
	struct lkdf *rt = api_open("workers=1,workers_per_node=yes,pin=yes");
	int nr = vm_workers(w, vm.nr_cpu_nodes), node;

	is(nr, vm.nr_cpu_nodes, "one worker per node is one where CPUs are");
	all_are_bound(w, nr);
	for (node = 0; node < vm.nr_nodes; node++)
		is(nr_of_node(w, nr, node), vm.nr_cpus_of[node] > 0,
		   "node %d has %d", node, vm.nr_cpus_of[node] > 0);
	is(lkdf_close(rt), 0, "it closes");
}

static void more_than_cpus_are_not_bound(void)
{
	struct lkdf *rt = api_open_workers(vm.nr_cpus + 1);
	struct vm_worker w[VM_MAX_CPUS];
	int nr = vm_workers(w, vm.nr_cpus + 1), i, nr_free = 0;

	is(nr, vm.nr_cpus + 1, "one worker more than CPUs");
	for (i = 0; i < nr; i++)
		nr_free += CPU_COUNT(&w[i].cpus) == vm.nr_cpus;
	is(nr_free, nr, "each may run everywhere");
	ok(!(lkdf_caps(rt) & LKDF_CAP_PINNED), "and says so");
	is(lkdf_close(rt), 0, "it closes");
}

static void a_list_keeps_to_one_node(int node)
{
	struct vm_worker w[VM_MAX_CPUS];
	int nr_cpus = vm.nr_cpus_of[node], nr, i, nr_inside = 0;
	cpu_set_t cpus = vm_node_cpus(node), both;
	char options[64];
	struct lkdf *rt;

	snprintf(options, sizeof(options), "cpus=%d-%d", vm.first_cpu_of[node],
		 vm.first_cpu_of[node] + nr_cpus - 1);
	rt = api_open(options);
	nr = vm_workers(w, nr_cpus);
	is(nr, nr_cpus, "with the CPUs of node %d there are its workers", node);
	for (i = 0; i < nr; i++) {
		CPU_AND(&both, &cpus, &w[i].cpus);
		nr_inside += CPU_EQUAL(&both, &w[i].cpus);
	}
	is(nr_inside, nr, "all bound inside it");
	is(lkdf_close(rt), 0, "it closes");
}

static struct lkdf_kind *look_kind;
static atomic_int nr_bodies, nr_wrong;

/* A tree of bodies, each on the CPU and the node of its worker. */
static int look(struct lkdf_ctx *c, void *arg)
{
	int depth = *(int *)arg - 1, cpu = -1, node = -1, want, i;

	want = (int)vm_stat(lkdf_runtime(c), lkdf_worker(c), "cpu");
	lkdf_where(c, &cpu, &node);
	if (cpu != want || sched_getcpu() != want || node != vm.node_of[want])
		atomic_fetch_add(&nr_wrong, 1);
	atomic_fetch_add(&nr_bodies, 1);
	for (i = 0; i < 2 && depth > 0; i++)
		must(lkdf_spawn(c, look_kind, &depth));
	return 0;
}

static void bodies_run_on_their_workers_cpu(void)
{
	struct lkdf *rt = api_open(NULL);
	int depth = 10;

	look_kind = api_kind(rt, "look", look, sizeof(int), 0);
	is(api_call(rt, look_kind, &depth), 0, "a tree of bodies runs");
	is(nr_bodies, 1023, "all of it");
	is(nr_wrong, 0, "each on the CPU and the node of its worker");
	lkdf_kind_put(look_kind);
	is(lkdf_close(rt), 0, "it closes");
}

int main(void)
{
	int node;

	vm_start(60);
	each_core_has_a_worker();
	few_workers_are_spread("yes");
	few_workers_are_spread("auto");
	one_for_each_node();
	more_than_cpus_are_not_bound();
	for (node = 0; node < vm.nr_nodes; node++) {
		if (vm.nr_cpus_of[node])
			a_list_keeps_to_one_node(node);
	}
	bodies_run_on_their_workers_cpu();
	return tap_end();
}
