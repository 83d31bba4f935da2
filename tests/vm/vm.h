/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests in a machine of vm.sh share: the machine as it was asked for, as
 * the kernel tells it, and the workers as the kernel sees them. Such tests
 * take CPUs away and change cgroups: outside of such a machine vm_start()
 * skips the program.
 */
#ifndef TESTS_VM_VM_H
#define TESTS_VM_VM_H

#include "tests/api/api.h"
#include "tests/threads.h"

#include <fcntl.h>
#include <sched.h>

#define VM_MAX_NODES 16
#define VM_MAX_CPUS 64
#define VM_MAX_THREADS 256 /* of the library */

struct vm {
	int nr_nodes, nr_cpus, nr_cpu_nodes;
	int node_of[VM_MAX_CPUS]; /* of a CPU */
	int nr_cpus_of[VM_MAX_NODES], first_cpu_of[VM_MAX_NODES];
	int mib_of[VM_MAX_NODES];
	/* 10 and 20 unless they were given. */
	int distance[VM_MAX_NODES][VM_MAX_NODES];
};

static struct vm vm;

/* One worker's thread: what the kernel says of it. */
struct vm_worker {
	int node, nr, tid; /* node and number by its name, lkdf/node.nr */
	cpu_set_t cpus;
};

__attribute__((unused)) static void vm_die(const char *what, const char *path)
{
	printf("Bail out! %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

/* The first line without its end; "" if there is none. */
__attribute__((unused)) static const char *vm_read(const char *path)
{
	static char text[4096];
	FILE *f = fopen(path, "re");

	if (!f)
		vm_die("cannot read", path);
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(f);
	return text;
}

/* Return: 0 or -errno. */
__attribute__((unused)) static int vm_try_write(const char *path,
						const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

__attribute__((unused)) static void vm_write(const char *path, const char *text)
{
	errno = -vm_try_write(path, text);
	if (errno)
		vm_die("cannot write", path);
}

/* A kernel's list such as "0-3,8". */
__attribute__((unused)) static cpu_set_t vm_list(const char *text)
{
	int first, last, n;
	cpu_set_t set;

	CPU_ZERO(&set);
	while (sscanf(text, "%d%n", &first, &n) == 1) {
		text += n;
		last = first;
		if (sscanf(text, "-%d%n", &last, &n) == 1)
			text += n;
		for (; first <= last; first++)
			CPU_SET(first, &set);
		text += *text == ',';
	}
	return set;
}

/* The CPUs of a node that are online, as the kernel has them now. */
__attribute__((unused)) static cpu_set_t vm_node_cpus(int node)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist",
		 node);
	return vm_list(vm_read(path));
}

__attribute__((unused)) static cpu_set_t vm_online_cpus(void)
{
	return vm_list(vm_read("/sys/devices/system/cpu/online"));
}

/* CPU 0 cannot be taken away. */
__attribute__((unused)) static void vm_set_online(int cpu, bool is_online)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	vm_write(path, is_online ? "1" : "0");
}

/*
 * Threads whose name is a worker's, of all runtimes of this process, by
 * number. Return: their number.
 */
__attribute__((unused)) static int vm_find_workers(struct vm_worker *w)
{
	struct found_thread t[VM_MAX_THREADS];
	int nr_threads = threads_find("lkdf/", t, VM_MAX_THREADS);
	int nr = 0, node, id, i;

	memset(w, 0, VM_MAX_CPUS * sizeof(*w));
	for (i = 0; i < nr_threads; i++) {
		if (sscanf(t[i].name, "lkdf/%d.%d", &node, &id) != 2 ||
		    id >= VM_MAX_CPUS)
			continue;
		w[id].node = node;
		w[id].nr = id;
		w[id].tid = t[i].tid;
		sched_getaffinity(w[id].tid, sizeof(w[id].cpus), &w[id].cpus);
		nr++;
	}
	return nr;
}

/* Threads name themselves: waits until there are as many as wanted. */
__attribute__((unused)) static int vm_workers(struct vm_worker *w, int want)
{
	int nr = vm_find_workers(w), i;

	for (i = 0; i < 5000 && nr != want; i++) {
		api_nap_ns(1000000);
		nr = vm_find_workers(w);
	}
	return nr;
}

__attribute__((unused)) static uint64_t vm_stat(struct lkdf *rt, int worker,
						const char *name)
{
	uint64_t v = UINT64_MAX;
	char text[64];

	snprintf(text, sizeof(text), "lkdf.worker.%d.%s", worker, name);
	must(lkdf_stat(rt, text, &v));
	return v;
}

/* Without the blocking pool. */
__attribute__((unused)) static int vm_nr_workers(struct lkdf *rt)
{
	uint64_t v = 0;

	must(lkdf_stat(rt, "lkdf.workers", &v));
	return (int)v;
}

static void vm_read_nodes(const char *text)
{
	int cpus, mib, n, i;

	while (sscanf(text, "%d/%d%n", &cpus, &mib, &n) == 2) {
		text += n + (text[n] == ',');
		vm.nr_cpus_of[vm.nr_nodes] = cpus;
		vm.first_cpu_of[vm.nr_nodes] = vm.nr_cpus;
		vm.mib_of[vm.nr_nodes] = mib;
		vm.nr_cpu_nodes += cpus > 0;
		for (i = 0; i < cpus; i++)
			vm.node_of[vm.nr_cpus++] = vm.nr_nodes;
		vm.nr_nodes++;
	}
}

static void vm_read_distances(const char *text)
{
	int i, j, n;

	for (i = 0; i < vm.nr_nodes; i++) {
		for (j = 0; j < vm.nr_nodes; j++) {
			vm.distance[i][j] = i == j ? 10 : 20;
			if (sscanf(text, "%d%n", &vm.distance[i][j], &n) == 1)
				text += n + (text[n] != '\0');
		}
	}
}

/* First line of main. */
__attribute__((unused)) static void vm_start(unsigned watchdog_s)
{
	const char *nodes = getenv("LKDF_VM_NODES");
	const char *distances = getenv("LKDF_VM_DISTANCES");

	tap_start(watchdog_s);
	if (!nodes) {
		printf("1..0 # SKIP only in a machine of tests/vm/vm.sh\n");
		exit(0);
	}
	vm_read_nodes(nodes);
	vm_read_distances(distances ? distances : "");
}

#endif
