/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CPUs are taken offline before a runtime opens and while it works. A worker
 * whose CPU has gone is moved by the kernel and goes on elsewhere.
 */
#include "tests/api/probe.h"
#include "tests/vm/load.h"

#include <lkdf/signals.h>

/* CPUs of a node but CPU 0, which stays. Return: how many have changed. */
static int set_node_online(int node, bool is_online)
{
	int cpu, nr = 0;

	for (cpu = 1; cpu < vm.nr_cpus; cpu++) {
		if (vm.node_of[cpu] != node)
			continue;
		vm_set_online(cpu, is_online);
		nr++;
	}
	return nr;
}

static void workers_are_on(const cpu_set_t *online, const char *when)
{
	struct vm_worker w[VM_MAX_CPUS];
	struct lkdf *rt = api_open(NULL);
	int want = CPU_COUNT(online);
	int nr = vm_workers(w, want), i;
	cpu_set_t seen;

	is(nr, want, "%s: a worker for each CPU that is online", when);
	CPU_ZERO(&seen);
	for (i = 0; i < nr; i++)
		CPU_OR(&seen, &seen, &w[i].cpus);
	ok(CPU_EQUAL(&seen, online), "%s: on just these CPUs", when);
	is(lkdf_close(rt), 0, "%s: it closes", when);
}

static void an_offline_cpu_gets_no_worker(void)
{
	int last = vm.nr_cpus - 1;
	cpu_set_t online;

	vm_set_online(last, false);
	online = vm_online_cpus();
	is(CPU_COUNT(&online), vm.nr_cpus - 1, "CPU %d is offline", last);
	workers_are_on(&online, "without a CPU");
	vm_set_online(last, true);
	online = vm_online_cpus();
	workers_are_on(&online, "with it again");
}

static void a_node_may_lose_all_its_cpus(int node)
{
	int nr = set_node_online(node, false);
	cpu_set_t online = vm_online_cpus();
	char when[40];

	is(CPU_COUNT(&online), vm.nr_cpus - nr, "node %d is without CPUs",
	   node);
	snprintf(when, sizeof(when), "without CPUs of node %d", node);
	workers_are_on(&online, when);
	set_node_online(node, true);
}

static void cpus_go_while_it_works(void)
{
	struct lkdf *rt = api_open(NULL);
	struct load load;
	int cpu;

	load_start(&load, rt);
	load_goes_on(&load, 2);
	for (cpu = 1; cpu < vm.nr_cpus; cpu++) {
		vm_set_online(cpu, false);
		load_goes_on(&load, 2);
		vm_set_online(cpu, true);
	}
	load_goes_on(&load, 2);
	load_stop(&load);
	is(lkdf_close(rt), 0, "it closes");
}

static void all_but_one_go_while_it_works(void)
{
	struct lkdf *rt = api_open(NULL);
	struct load load;
	int cpu;

	load_start(&load, rt);
	for (cpu = 1; cpu < vm.nr_cpus; cpu++)
		vm_set_online(cpu, false);
	load_goes_on(&load, 4);
	for (cpu = 1; cpu < vm.nr_cpus; cpu++)
		vm_set_online(cpu, true);
	load_goes_on(&load, 4);
	load_stop(&load);
	is(lkdf_close(rt), 0, "it closes");
}

/* Its workers sleep when their CPUs go, and are woken on others. */
static void cpus_go_while_it_sleeps(void)
{
	struct lkdf *rt = api_open(NULL);
	struct load load;
	int cpu;

	for (cpu = 1; cpu < vm.nr_cpus; cpu++)
		vm_set_online(cpu, false);
	load_start(&load, rt);
	load_goes_on(&load, 2);
	load_stop(&load);
	is(lkdf_close(rt), 0, "it closes while they are away");
	for (cpu = 1; cpu < vm.nr_cpus; cpu++)
		vm_set_online(cpu, true);
}

static struct lkdf_facts facts_of(struct lkdf *rt, int worker)
{
	struct lkdf_facts f = { .size = sizeof(f) };

	must(lkdf_signals(rt, worker, &f));
	return f;
}

static bool status_says(const char *words)
{
	char line[256];

	if (!probe_run("status"))
		return false;
	snprintf(line, sizeof(line), "grep -q '%s' %s/log", words, probe_dir);
	return system(line) == 0;
}

/* Some samples long, by the clock of its thread. */
static int use_cpu(struct lkdf_ctx *c, void *arg)
{
	struct timespec t;

	(void)c;
	(void)arg;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_nsec % 10000000 < 8000000);
	return 0;
}

/*
 * A body for each worker of the node, and for no other: a load may leave
 * workers asleep, which no CPU samples and the kernel moves when it wakes them
 * only.
 */
static void use_node(struct lkdf *rt, struct lkdf_kind *k, int node)
{
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = k,
		.flags = LKDF_PINNED,
		.place = lkdf_place_node(rt, node),
	};
	struct lkdf_scope *s;
	int i;

	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < vm.nr_cpus_of[node]; i++)
		must(lkdf_submit(rt, s, &t, NULL));
	must(lkdf_scope_wait(rt, s, -1));
	lkdf_scope_put(s);
}

/* Each worker's thread is known, and has been on its CPU. */
static void until_seen(struct lkdf *rt, struct lkdf_kind *k)
{
	int i = 0, nr = lkdf_nr_workers(rt);

	while (i < nr)
		if (facts_of(rt, i).samples.value)
			i++;
		else
			use_node(rt, k, vm.node_of[i]);
}

/* All CPUs of its node go, and the kernel moves it to another one. */
static void a_move_to_another_node_is_told(struct lkdf *rt, struct lkdf_kind *k,
					   int last)
{
	uint64_t was = facts_of(rt, last).nr_xnode.value;

	if (vm.node_of[last] == vm.node_of[0]) {
		skip("a move to another node", "there is one node");
		return;
	}
	set_node_online(vm.node_of[last], false);
	do
		use_node(rt, k, vm.node_of[last]);
	while (facts_of(rt, last).nr_xnode.value == was);
	ok(true, "its node went offline: it is on another one, and told");
	set_node_online(vm.node_of[last], true);
}

static void the_probe_tells_what_it_does_not_see(const char *self)
{
	struct lkdf_facts was, f;
	char options[128];
	struct load load;
	struct lkdf_kind *k;
	struct lkdf *rt;
	int last = vm.nr_cpus - 1;

	if (last < 1 || !probe_start(self, "--hz 1000")) {
		skip("the probe", "one CPU, or there is none to be had");
		probe_end();
		return;
	}
	snprintf(options, sizeof(options), "probe=%s/bpf", probe_dir);
	rt = api_open(options);
	k = api_kind(rt, "use", use_cpu, 0, 0);
	load_start(&load, rt);
	until_seen(rt, k);
	ok(!status_says("not sampled"), "all CPUs are sampled");
	was = facts_of(rt, last);
	vm_set_online(last, false);
	do {
		use_node(rt, k, vm.node_of[last]);
		f = facts_of(rt, last);
	} while (f.nr_migrate.value == was.nr_migrate.value);
	ok(true, "a worker's CPU went offline: it was moved, and that is told");
	vm_set_online(last, true);
	load_goes_on(&load, 4);
	ok(lkdf_caps(rt) & LKDF_CAP_PROBE, "the probe is alive");
	ok(status_says("not sampled"), "a CPU that came back is not sampled");
	a_move_to_another_node_is_told(rt, k, last);
	load_stop(&load);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "it closes");
	ok(probe_run("stop") && probe_run("start"), "the probe starts again");
	ok(!status_says("not sampled"), "and samples all CPUs");
	probe_end();
}

int main(int argc, char **argv)
{
	cpu_set_t online;
	int node;

	(void)argc;

	vm_start(120);
	an_offline_cpu_gets_no_worker();
	for (node = 1; node < vm.nr_nodes && node < 4; node++) {
		if (vm.nr_cpus_of[node])
			a_node_may_lose_all_its_cpus(node);
	}
	cpus_go_while_it_works();
	all_but_one_go_while_it_works();
	cpus_go_while_it_sleeps();
	the_probe_tells_what_it_does_not_see(argv[0]);
	online = vm_online_cpus();
	workers_are_on(&online, "in the end");
	return tap_end();
}
