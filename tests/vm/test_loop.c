/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops where nodes are real: an iteration for each page of an array. Parts of
 * a static loop run on CPUs of their node, so their pages come to lie there; a
 * loop that balances touches all, and tells how much at home.
 */
#include "tests/vm/mem.h"

#include <lkdf/lkdf.h>
#include <sys/mman.h>

#define NR_PAGES 6000
#define BALANCING "/proc/sys/kernel/numa_balancing"

static struct lkdf *rt;
static int nr_workers_of[VM_MAX_NODES], nr_workers;

struct pages {
	char *at;
	int ran_on[NR_PAGES];
	atomic_int failed;
};

static struct pages pages;

static int touch(uint64_t begin, uint64_t end, void *u)
{
	struct pages *p = u;
	unsigned cpu, node;

	if (getcpu(&cpu, &node))
		atomic_fetch_add(&p->failed, 1);
	for (; begin < end; begin++) {
		/* To read it first would map the page of zeroes. */
		p->at[begin * MEM_PAGE] = 1;
		p->ran_on[begin] = (int)node;
	}
	return 0;
}

static void map_fresh(void)
{
	uint64_t bytes = NR_PAGES * MEM_PAGE;

	pages.at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages.at == MAP_FAILED)
		vm_die("cannot map", "an array");
	/* A huge page across two parts has one node. */
	madvise(pages.at, bytes, MADV_NOHUGEPAGE);
}

static void loop(uint32_t schedule, uint64_t grain)
{
	memset(pages.ran_on, 0xff, sizeof(pages.ran_on));
	must(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = touch, .u = &pages,
				    .range = { 0, NR_PAGES, grain },
				    .schedule = schedule)));
}

/* The pages of a node's part. */
static void part_of(int node, uint64_t *begin, uint64_t *end)
{
	uint64_t below = 0;
	int i;

	for (i = 0; i < node; i++)
		below += (uint64_t)nr_workers_of[i];
	*begin = NR_PAGES * below / (uint64_t)nr_workers;
	below += (uint64_t)nr_workers_of[node];
	*end = NR_PAGES * below / (uint64_t)nr_workers;
}

static uint64_t nr_ran_on(int node, uint64_t begin, uint64_t end)
{
	uint64_t nr = 0;

	for (; begin < end; begin++)
		nr += pages.ran_on[begin] == node;
	return nr;
}

static void static_parts_are_on_their_node(uint64_t grain)
{
	uint64_t begin, end, on[VM_MAX_NODES];
	int node, round;

	map_fresh();
	for (round = 0; round < 2; round++) {
		loop(LKDF_SCHEDULE_STATIC, grain);
		for (node = 0; node < vm.nr_nodes; node++) {
			part_of(node, &begin, &end);
			is(nr_ran_on(node, begin, end), end - begin,
			   "static, grain %llu: all of node %d's part ran there",
			   (unsigned long long)grain, node);
		}
	}
	for (node = 0; node < vm.nr_nodes; node++) {
		part_of(node, &begin, &end);
		if (!vm.mib_of[node] || begin == end)
			continue;
		memset(on, 0, sizeof(on));
		must(lkdf_pages(rt, 0, pages.at + begin * MEM_PAGE,
				(end - begin) * MEM_PAGE, on, VM_MAX_NODES));
		is(on[node], (end - begin) * MEM_PAGE,
		   "and lkdf_pages() finds all its pages there");
		is(mem_where(pages.at + begin * MEM_PAGE,
			     (end - begin) * MEM_PAGE, node)
			   .right,
		   end - begin, "and so does the kernel");
	}
	munmap(pages.at, NR_PAGES * MEM_PAGE);
}

/* Thieves help as they can: how much stays at home is told, not tested. */
static void each_page_is_touched(uint64_t grain)
{
	uint64_t begin, end, home = 0, all = 0;
	int node;

	map_fresh();
	loop(LKDF_SCHEDULE_NODES, grain);
	for (node = 0; node < vm.nr_nodes; node++) {
		part_of(node, &begin, &end);
		home += nr_ran_on(node, begin, end);
		all += nr_ran_on(node, 0, NR_PAGES);
	}
	printf("# grain %llu: %llu of %d pages were touched at home\n",
	       (unsigned long long)grain, (unsigned long long)home, NR_PAGES);
	is(all, NR_PAGES, "grain %llu: nodes touch all pages",
	   (unsigned long long)grain);
	munmap(pages.at, NR_PAGES * MEM_PAGE);
}

static void count_workers(void)
{
	struct vm_worker w[VM_MAX_CPUS];
	int i, cpu;

	nr_workers = vm_workers(w, vm_nr_workers(rt));
	/* By the CPU that the kernel lets it run on, not by its name. */
	for (i = 0; i < nr_workers; i++)
		for (cpu = 0; cpu < vm.nr_cpus; cpu++)
			if (CPU_ISSET(cpu, &w[i].cpus) &&
			    CPU_COUNT(&w[i].cpus) == 1)
				nr_workers_of[vm.node_of[cpu]]++;
}

int main(void)
{
	char balancing[16];

	mem_start(60);
	/* Arrays that nobody bound may be moved by the kernel. */
	snprintf(balancing, sizeof(balancing), "%s", vm_read(BALANCING));
	vm_write(BALANCING, "0");
	rt = api_open("");
	count_workers();
	static_parts_are_on_their_node(0);
	static_parts_are_on_their_node(10);
	each_page_is_touched(0);
	each_page_is_touched(20);
	is(atomic_load(&pages.failed), 0, "the kernel told the node each time");
	must(lkdf_close(rt));
	vm_write(BALANCING, balancing);
	return tap_end();
}
