/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_pages() where memory is on several nodes: bound, moved, in huge pages,
 * interleaved, and while AutoNUMA has put hints on the pages, which Linux 6.1
 * hides from move_pages(2). Skipped where less than two nodes have memory.
 */
#include "tests/api/pages.h"
#include "tests/vm/hints.h"

#include <numaif.h>
#include <sys/utsname.h>

static struct lkdf *rt;

/* It counts each page, and sees the hidden ones. */
static bool has_module(void)
{
	return lkdf_caps(rt) & LKDF_CAP_KMOD;
}
static int node[MAX_NODES], nr_nodes; /* those with memory */
static bool is_ours; /* the machine is made for tests: see vm.sh */

static void read_nodes(void)
{
	FILE *f = fopen("/sys/devices/system/node/has_memory", "re");
	int first, last;
	char next = ',';

	while (f && next == ',' && fscanf(f, "%d", &first) == 1) {
		last = first;
		if (fscanf(f, "-%d", &last) < 0)
			last = first;
		for (; first <= last && nr_nodes < MAX_NODES; first++)
			node[nr_nodes++] = first;
		if (fscanf(f, "%c", &next) != 1)
			break;
	}
	if (f)
		fclose(f);
}

static void bind_to(char *p, uint64_t bytes, int mode, int first, int last)
{
	unsigned long mask[MAX_NODES / 64] = { 0 };
	int i;

	for (i = first; i <= last; i++)
		mask[node[i] / 64] |= 1ul << node[i] % 64;
	if (mbind(p, bytes, mode, mask, MAX_NODES, 0))
		printf("# mbind: %s\n", strerror(errno));
}

/* Moves pages and tells how many are on the node then. */
static int move_to(char *p, uint64_t bytes, int to)
{
	static void *page[4096];
	static int nodes[4096], status[4096];
	int nr = (int)(bytes / PAGE), i, moved = 0;

	for (i = 0; i < nr; i++) {
		page[i] = p + i * PAGE;
		nodes[i] = to;
	}
	if (move_pages(0, (unsigned long)nr, page, nodes, status, MPOL_MF_MOVE))
		printf("# move_pages: %s\n", strerror(errno));
	for (i = 0; i < nr; i++)
		moved += status[i] == to;
	return moved;
}

static void each_bound_part_is_on_its_node(void)
{
	uint64_t part = 700 * PAGE, size = part * (uint64_t)nr_nodes;
	uint64_t on[MAX_NODES], sum = 0;
	char *p = pages_map(size);
	int i, nr;

	for (i = 0; i < nr_nodes; i++) {
		bind_to(p + (uint64_t)i * part, part, MPOL_BIND, i, i);
		pages_touch(p + (uint64_t)i * part, part - 100 * PAGE);
	}
	nr = lkdf_pages(rt, 0, p, size, on, MAX_NODES);
	ok(nr > node[nr_nodes - 1], "%d entries hold all nodes", nr);
	for (i = 0; i < nr_nodes; i++)
		is(on[node[i]], 600 * PAGE, "node %d has its part", node[i]);
	for (i = 0; i < MAX_NODES; i++)
		sum += on[i];
	is(sum, 600 * PAGE * (uint64_t)nr_nodes, "no other node has any");
	lkdf_pages(rt, 0, p + PAGE / 2, part, on, MAX_NODES);
	is(on[node[0]], 600 * PAGE - PAGE / 2, "an unaligned part");
	is(on[node[1]], PAGE / 2, "ends on the next node");
	pages_unmap(p, size);
}

static void moved_pages_are_seen_at_once(void)
{
	uint64_t size = 1024 * PAGE, on[MAX_NODES];
	char *p = pages_map(size);

	bind_to(p, size, MPOL_BIND, 0, 0);
	pages_touch(p, size);
	is(move_to(p + size / 4, size / 2, node[1]), 512, "half is moved");
	lkdf_pages(rt, 0, p, size, on, MAX_NODES);
	is(on[node[0]], size / 2, "the other half stays");
	is(on[node[1]], size / 2, "the moved half is on its node");
	pages_unmap(p, size);
}

static void interleaved_pages_are_dealt(void)
{
	uint64_t size = 600 * PAGE * (uint64_t)nr_nodes, on[MAX_NODES];
	char *p = pages_map(size);
	int i;

	bind_to(p, size, MPOL_INTERLEAVE, 0, nr_nodes - 1);
	pages_touch(p, size);
	lkdf_pages(rt, 0, p, size, on, MAX_NODES);
	for (i = 0; i < nr_nodes; i++)
		is(on[node[i]], 600 * PAGE, "node %d has its share", node[i]);
	pages_unmap(p, size);
}

static void huge_pages_are_on_their_nodes(void)
{
	uint64_t size = 16 * MIB, on[MAX_NODES];
	char *p = pages_map(size);

	madvise(p, size, MADV_HUGEPAGE);
	bind_to(p, size / 2, MPOL_BIND, 0, 0);
	bind_to(p + size / 2, size / 2, MPOL_BIND, 1, 1);
	pages_touch(p, size);
	lkdf_pages(rt, 0, p, size, on, MAX_NODES);
	is(on[node[0]], size / 2, "the first half");
	is(on[node[1]], size / 2, "the second half");
	lkdf_pages(rt, 0, p + size / 2 - MIB, 2 * MIB + 5 * PAGE, on,
		   MAX_NODES);
	is(on[node[0]], MIB, "a part that begins inside a huge page");
	is(on[node[1]], MIB + 5 * PAGE, "and ends inside one");
	pages_unmap(p, size);
}

static void set_pool(int of, const char *pages)
{
	char path[128];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/node/node%d/hugepages/"
		 "hugepages-2048kB/nr_hugepages",
		 of);
	hints_write(path, pages);
}

static void hugetlb_pages_are_on_their_nodes(void)
{
	uint64_t size = 8 * MIB;
	struct pages_sum s;
	char *p;

	if (is_ours) {
		set_pool(node[0], "2");
		set_pool(node[1], "2");
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p == MAP_FAILED) {
		skip("hugetlb pages are on their nodes",
		     "the pools have no huge pages");
		return;
	}
	bind_to(p, size / 2, MPOL_BIND, 0, 0);
	bind_to(p + size / 2, size / 2, MPOL_BIND, 1, 1);
	pages_touch(p + 2 * MIB, 6 * MIB);
	s = pages_walk(rt, 0, p, size);
	is(s.on[node[0]], 2 * MIB, "one page on one node");
	is(s.on[node[1]], 4 * MIB, "two on another");
	is(s.absent, 2 * MIB, "one is absent");
	is(s.flags, LKDF_MAPPING_HUGETLB, "it is hugetlb");
	is(pages_count(rt, 0, p + MIB, 4 * MIB), 3 * MIB,
	   "page by page it is the same");
	munmap(p, size);
	if (is_ours) {
		set_pool(node[0], "0");
		set_pool(node[1], "0");
	}
}

/* Each fourth block present, half of those on each node; one is mixed. */
static void samples_are_right_where_blocks_are_uniform(void)
{
	uint64_t size = 256 * MIB, i;
	char *p = pages_map(size);
	struct pages_sum s;

	for (i = 0; i < size; i += 8 * MIB) {
		pages_touch(p + i, 2 * MIB);
		move_to(p + i, 2 * MIB, node[i >= size / 2]);
	}
	move_to(p, MIB, node[1]);
	s = pages_walk(rt, 0, p, size);
	is(s.flags, 0, "a whole mapping is exact");
	is(s.on[node[0]], 31 * MIB, "on one node");
	is(s.on[node[1]], 33 * MIB, "on the other");
	s = pages_walk(rt, 0, p + PAGE, size - PAGE);
	is(s.flags, has_module() ? 0 : LKDF_MAPPING_SAMPLED,
	   "a part of it is sampled, but by the module");
	is(s.on[node[0]], 31 * MIB, "the first node");
	is(s.on[node[1]], 33 * MIB - PAGE, "the second node");
	pages_unmap(p, size);
}

/* In a child: its address space is small, so that it is scanned soon. */
static void hinted_pages_are_counted(void)
{
	uint64_t size = 4096 * PAGE, on[MAX_NODES];
	char *p = pages_map(size);
	struct utsname u;
	struct pages_sum s;
	int hidden;

	rt = api_open("workers=1,pin=no");
	pages_touch(p, size);
	is(move_to(p, size / 2, node[0]), 2048, "half on one node");
	is(move_to(p + size / 2, size / 2, node[1]), 2048, "half on another");
	if (!hints_wait(4096)) {
		skip("hinted pages are counted",
		     "this kernel has put no hints on pages in 20 s");
		return;
	}
	uname(&u);
	hidden = hints_hidden(p, size);
	printf("# Linux %s hides %d of 4096 pages\n", u.release, hidden);
	if (hints_hide())
		ok(hidden > 2048, "this kernel hides hinted pages");
	lkdf_pages(rt, 0, p, size, on, MAX_NODES);
	is(on[node[0]], size / 2, "the half on one node is counted");
	is(on[node[1]], size / 2, "the half on the other is counted");
	lkdf_pages(rt, 0, p + PAGE, size - 2 * PAGE, on, MAX_NODES);
	is(on[node[0]] + on[node[1]], size - 2 * PAGE,
	   "a part of the mapping is counted");
	s = pages_walk(rt, 0, p, size);
	is(s.flags, 0, "the whole is exact");
	s = pages_walk(rt, 0, p + PAGE, size / 2);
	is(s.present, size / 2, "half of it is all present");
	is(!!(s.flags & LKDF_MAPPING_ESTIMATED), hidden > 0,
	   "its nodes are an estimate if pages are hidden");
	ok(hints_hidden(p, size) >= hidden, "counting touched none of them");
}

/* All pages on one node, and zero pages beside them: a part is exact too. */
static void hinted_pages_of_one_node_are_exact(void)
{
	uint64_t size = 4096 * PAGE, i;
	char *p = pages_map(size), sum = 0;
	struct pages_sum s;

	rt = api_open("workers=1,pin=no");
	pages_touch(p, size / 2);
	for (i = size / 2; i < size / 4 * 3; i += PAGE)
		sum |= ((volatile char *)p)[i];
	is(sum, 0, "a quarter has been read only");
	is(move_to(p, size / 2, node[1]), 2048, "all others on one node");
	if (!hints_wait(2048)) {
		skip("hinted pages of one node are exact",
		     "this kernel has put no hints on pages in 20 s");
		return;
	}
	s = pages_walk(rt, 0, p + 7 * PAGE, size - 7 * PAGE);
	is(s.on[node[1]], size / 2 - 7 * PAGE, "a part is on its node");
	is(s.absent, size / 2, "without the zero pages");
	is(s.flags, 0, "exactly");
	s = pages_walk(rt, 0, p + size / 2 - 9 * PAGE, 20 * PAGE);
	is(s.on[node[1]], 9 * PAGE, "a smaller part");
	is(s.flags, 0, "exactly");
}

static void pages_under_autonuma_are_counted(void)
{
	if (!is_ours || !hints_start()) {
		skip("pages under AutoNUMA are counted",
		     "not our machine, or a kernel without AutoNUMA");
		return;
	}
	pages_in_child(hinted_pages_are_counted);
	pages_in_child(hinted_pages_of_one_node_are_exact);
}

int main(void)
{
	tap_start(120);
	read_nodes();
	if (nr_nodes < 2) {
		printf("1..0 # SKIP %d node with memory\n", nr_nodes);
		return 0;
	}
	is_ours = getenv("LKDF_VM_NODES") != NULL;
	/* Linux 6.1 does not even move the pages that it hides. */
	if (is_ours)
		hints_off();
	rt = api_open("workers=1");
	each_bound_part_is_on_its_node();
	moved_pages_are_seen_at_once();
	interleaved_pages_are_dealt();
	huge_pages_are_on_their_nodes();
	hugetlb_pages_are_on_their_nodes();
	samples_are_right_where_blocks_are_uniform();
	pages_under_autonuma_are_counted();
	must(lkdf_close(rt));
	return tap_end();
}
