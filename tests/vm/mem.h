/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of memory in a machine of vm.sh share: the nodes that have
 * memory, threads on a node, and where pages lie by move_pages(2), which the
 * library is not asked for: it is what is tested.
 */
#ifndef TESTS_VM_MEM_H
#define TESTS_VM_MEM_H

#include "tests/vm/vm.h"

#include <lkdf/place.h>
#include <numaif.h>
#include <pthread.h>

#define MEM_PAGE ((uint64_t)4096)
#define MEM_MIB ((uint64_t)1 << 20)

static int mem_node[VM_MAX_NODES], nr_mem_nodes;
static int mem_cpu_node[VM_MAX_NODES], nr_mem_cpu_nodes; /* that have CPUs */

/* First line of main. Skipped where less than two nodes have memory. */
__attribute__((unused)) static void mem_start(unsigned watchdog_s)
{
	int i;

	vm_start(watchdog_s);
	for (i = 0; i < vm.nr_nodes; i++) {
		if (vm.mib_of[i])
			mem_node[nr_mem_nodes++] = i;
		if (vm.nr_cpus_of[i])
			mem_cpu_node[nr_mem_cpu_nodes++] = i;
	}
	if (nr_mem_nodes >= 2)
		return;
	printf("1..0 # SKIP %d node with memory\n", nr_mem_nodes);
	exit(0);
}

/* This thread runs there from now on; a node without CPUs: where it is. */
__attribute__((unused)) static void mem_run_on(int node)
{
	cpu_set_t set = vm_node_cpus(node);

	if (CPU_COUNT(&set) && sched_setaffinity(0, sizeof(set), &set))
		vm_die("cannot run on the CPUs of", "a node");
}

/* Runs fn to its end in a thread of its own on that node. */
struct mem_job {
	int node;
	void (*fn)(void *u);
	void *u;
};

static void *mem_job_main(void *arg)
{
	struct mem_job *j = arg;

	mem_run_on(j->node);
	j->fn(j->u);
	return NULL;
}

__attribute__((unused)) static void mem_on_node(int node, void (*fn)(void *u),
						void *u)
{
	struct mem_job j = { node, fn, u };
	pthread_t t;

	if (pthread_create(&t, NULL, mem_job_main, &j))
		vm_die("cannot create", "a thread");
	pthread_join(t, NULL);
}

/* Pages by where they are. */
struct mem_pages {
	uint64_t right, wrong, absent;
	uint64_t on[VM_MAX_NODES];
};

#define MEM_BATCH 1024
#define MEM_TRIES 20

/*
 * A page that the kernel moves, as it does to make room, is absent on its way:
 * who reads it waits until it has arrived. One that was never written, or is
 * lost, stays absent, for it reads as the zero page. True: none was absent.
 */
static bool mem_await(void **page, int nr, const int *status)
{
	bool are_there = true;
	int i;

	for (i = 0; i < nr; i++) {
		if (status[i] >= 0)
			continue;
		(void)*(const volatile char *)page[i];
		are_there = false;
	}
	return are_there;
}

/* The pages are mapped, but need not have been written. */
static void mem_ask(struct mem_pages *s, void **page, int nr, int node)
{
	int status[MEM_BATCH], tries = MEM_TRIES, i;

	do {
		if (nr &&
		    move_pages(0, (unsigned long)nr, page, NULL, status, 0))
			vm_die("cannot ask", "move_pages");
	} while (!mem_await(page, nr, status) && --tries);
	for (i = 0; i < nr; i++) {
		if (status[i] < 0 || status[i] >= VM_MAX_NODES) {
			s->absent++;
			continue;
		}
		s->on[status[i]]++;
		if (status[i] == node)
			s->right++;
		else
			s->wrong++;
	}
}

/* Adds every step-th page of a range and its last one. */
__attribute__((unused)) static void mem_count(struct mem_pages *s,
					      const void *p, uint64_t bytes,
					      uint64_t step, int node)
{
	uintptr_t at = (uintptr_t)p / MEM_PAGE * MEM_PAGE;
	uintptr_t last = ((uintptr_t)p + bytes - 1) / MEM_PAGE * MEM_PAGE;
	void *page[MEM_BATCH];
	int nr = 0;

	for (; at < last; at += step * MEM_PAGE) {
		page[nr++] = (void *)at;
		if (nr == MEM_BATCH) {
			mem_ask(s, page, nr, node);
			nr = 0;
		}
	}
	page[nr++] = (void *)last;
	mem_ask(s, page, nr, node);
}

/* Writes a byte into each of those pages. */
__attribute__((unused)) static void mem_touch(void *p, uint64_t bytes,
					      uint64_t step)
{
	uint64_t i;

	for (i = 0; i < bytes; i += step * MEM_PAGE)
		((volatile char *)p)[i] = 1;
	((volatile char *)p)[bytes - 1] = 1;
}

/* All pages of a range. */
__attribute__((unused)) static struct mem_pages
mem_where(const void *p, uint64_t bytes, int node)
{
	struct mem_pages s = { .right = 0 };

	mem_count(&s, p, bytes, 1, node);
	return s;
}

/* A line of a file such as "Node 1 MemFree: 2 kB", "VmLck: 3 kB"; -1: none. */
__attribute__((unused)) static int64_t mem_field(const char *path,
						 const char *name)
{
	FILE *f = fopen(path, "re");
	long long v = -1;
	char text[256], *at;

	while (f && fgets(text, sizeof(text), f)) {
		at = strstr(text, name);
		if (at && sscanf(at + strlen(name), "%*[: \t]%lld", &v) == 1)
			break;
	}
	if (f)
		fclose(f);
	return v;
}

__attribute__((unused)) static int64_t mem_free_mib(int node)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo",
		 node);
	return mem_field(path, "MemFree") >> 10;
}

__attribute__((unused)) static int64_t mem_vmstat(const char *name)
{
	return mem_field("/proc/vmstat", name);
}

/* "lkdf.node.N.WHAT". */
__attribute__((unused)) static uint64_t mem_stat(struct lkdf *rt, int node,
						 const char *what)
{
	uint64_t v = UINT64_MAX;
	char name[80];

	snprintf(name, sizeof(name), "lkdf.node.%d.%s", node, what);
	must(lkdf_stat(rt, name, &v));
	return v;
}

__attribute__((unused)) static void *mem_alloc(struct lkdf *rt, int node,
					       uint64_t bytes)
{
	void *p = NULL;

	must(lkdf_alloc(lkdf_place_node(rt, node), LKDF_MEM_OWN, bytes, 0,
			"test", &p));
	return p;
}

#endif
