/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A node that is full: refused where memory is strict, the nearest other node
 * where it is not, and never the OOM killer. Nodes without memory and without
 * CPUs.
 */
#include "tests/vm/mem.h"

#define BLOCK (8 * MEM_MIB)
#define MAX_BLOCKS 64

static void *block[MAX_BLOCKS];
static int nr_blocks;

/* Blocks of the node until it refuses. Return: the refusal. */
static int fill_node(struct lkdf *rt, int node)
{
	struct lkdf_place *p = lkdf_place_node(rt, node);
	int rc = 0;

	for (nr_blocks = 0; nr_blocks < MAX_BLOCKS; nr_blocks++) {
		rc = lkdf_alloc(p, LKDF_MEM_OWN, BLOCK, 0, "fill",
				&block[nr_blocks]);
		if (rc)
			break;
	}
	return rc;
}

static void free_blocks(struct lkdf *rt)
{
	int i;

	for (i = 0; i < nr_blocks; i++)
		lkdf_free(rt, block[i]);
	nr_blocks = 0;
}

/* Of all blocks, written now. */
static struct mem_pages count_blocks(int node)
{
	struct mem_pages s = { .right = 0 };
	int i;

	for (i = 0; i < nr_blocks; i++) {
		mem_touch(block[i], BLOCK, 1);
		mem_count(&s, block[i], BLOCK, 1, node);
	}
	return s;
}

/* Small blocks, too: their segments are claimed in the same way. */
static int refusal_of_small(struct lkdf *rt, int node)
{
	struct lkdf_place *p = lkdf_place_node(rt, node);
	void *small;
	int rc = 0, i;

	for (i = 0; i < 1000 && !rc; i++)
		rc = lkdf_alloc(p, LKDF_MEM_OWN, 60000, 0, "small", &small);
	return rc;
}

static void strict_node_refuses_when_full(int node)
{
	struct lkdf *rt = api_open("workers=1,memory_strict=yes");
	int64_t before = mem_free_mib(node), at_end;
	struct mem_pages s;
	char text[32];
	void *p;
	int rc;

	snprintf(text, sizeof(text), "on node %d", node);
	rc = fill_node(rt, node);
	printf("# node %d: %lld MiB free, %d blocks of 8 MiB\n", node,
	       (long long)before, nr_blocks);
	is(rc, -ENOMEM, "node %d refuses when it is full", node);
	has(lkdf_errmsg(), text, "node %d: it says where", node);
	has(lkdf_errmsg(), "memory_strict=yes", "node %d: and why", node);
	ok(nr_blocks * 8 > before / 2 && nr_blocks < MAX_BLOCKS,
	   "node %d: after most of what was free", node);
	at_end = mem_free_mib(node);
	ok(at_end >= 4, "node %d: %lld MiB are left to others", node,
	   (long long)at_end);
	s = count_blocks(node);
	is(s.right, (uint64_t)nr_blocks * BLOCK / MEM_PAGE,
	   "node %d: all pages are on it", node);
	is(s.wrong + s.absent, 0, "node %d: none is elsewhere", node);
	is(refusal_of_small(rt, node), -ENOMEM,
	   "node %d: small blocks are refused, too", node);
	free_blocks(rt);
	is(lkdf_alloc(lkdf_place_node(rt, node), LKDF_MEM_OWN, BLOCK, 0, NULL,
		      &p),
	   0, "node %d gives again after that", node);
	is(mem_where(p, BLOCK, node).right, BLOCK / MEM_PAGE,
	   "node %d: its own pages", node);
	lkdf_free(rt, p);
	must(lkdf_close(rt));
}

/* The nearest other one that has memory; several may be as near. */
static int distance_to_nearest(int node)
{
	int i, best = INT32_MAX, d;

	for (i = 0; i < nr_mem_nodes; i++) {
		d = vm.distance[node][mem_node[i]];
		if (mem_node[i] != node && d < best)
			best = d;
	}
	return best;
}

/* The kernel does that, page by page: no counter of the library tells it. */
static void full_node_is_replaced_by_the_nearest(int node)
{
	uint64_t pages, near = 0, far = 0;
	int64_t mib = mem_free_mib(node) + 32;
	struct lkdf *rt = api_open("workers=1");
	struct mem_pages s;
	int i;

	for (nr_blocks = 0; nr_blocks * 8 < mib; nr_blocks++)
		block[nr_blocks] = mem_alloc(rt, node, BLOCK);
	s = count_blocks(node);
	pages = (uint64_t)nr_blocks * BLOCK / MEM_PAGE;
	for (i = 0; i < nr_mem_nodes; i++) {
		if (mem_node[i] == node)
			continue;
		if (vm.distance[node][mem_node[i]] == distance_to_nearest(node))
			near += s.on[mem_node[i]];
		else
			far += s.on[mem_node[i]];
	}
	printf("# node %d: %llu pages on it, %llu on the nearest, %llu far\n",
	       node, (unsigned long long)s.right, (unsigned long long)near,
	       (unsigned long long)far);
	is(s.absent, 0, "node %d: all pages are there", node);
	ok(near >= 4 * MEM_MIB / MEM_PAGE, "node %d: the nearest served", node);
	is(far, 0, "node %d: none that is farther did", node);
	ok(s.right > pages / 2, "node %d: most are on it", node);
	free_blocks(rt);
	must(lkdf_close(rt));
}

/* A limit is the library's own: its counters tell the node that served. */
static void limited_node_is_replaced_by_the_nearest(int node)
{
	struct lkdf *rt = api_open("workers=1,memory_limit=20");
	uint64_t on[VM_MAX_NODES] = { 0 };
	int i, served = -1;

	for (nr_blocks = 0; nr_blocks < 3; nr_blocks++)
		block[nr_blocks] = mem_alloc(rt, node, BLOCK);
	for (i = 0; i < nr_mem_nodes; i++) {
		on[i] = mem_stat(rt, mem_node[i], "memory.used");
		if (mem_node[i] != node && on[i])
			served = mem_node[i];
	}
	is(mem_stat(rt, node, "memory.used"), 2 * BLOCK,
	   "node %d: its counter has two blocks", node);
	ok(served >= 0 &&
		   vm.distance[node][served] == distance_to_nearest(node),
	   "node %d: the third is in the counter of a nearest, %d", node,
	   served);
	if (served >= 0)
		is(mem_stat(rt, served, "memory.used"), BLOCK,
		   "node %d: which is one block", node);
	mem_touch(block[2], BLOCK, 1);
	is(mem_where(block[2], BLOCK, served).right, BLOCK / MEM_PAGE,
	   "node %d: and has its pages", node);
	free_blocks(rt);
	must(lkdf_close(rt));
}

static void node_without_memory_names_the_nearest(int node)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_place *p = lkdf_place_node(rt, node);
	char text[64];
	void *small;
	int i;

	for (i = 0; i < nr_mem_nodes; i++)
		if (vm.distance[node][mem_node[i]] == distance_to_nearest(node))
			break;
	snprintf(text, sizeof(text), "nearest that has is node %d",
		 mem_node[i]);
	is(lkdf_alloc(p, LKDF_MEM_OWN, 64, 0, NULL, &small), -ENOMEM,
	   "node %d has no memory", node);
	has(lkdf_errmsg(), text, "and names the nearest");
	is(lkdf_alloc(p, LKDF_MEM_OWN, BLOCK, 0, NULL, &small), -ENOMEM,
	   "for large blocks, too");
	has(lkdf_errmsg(), text, "and names the nearest");
	is(lkdf_alloc(p, LKDF_MEM_INTERLEAVED, BLOCK, 0, NULL, &small), 0,
	   "interleaved memory is of the others");
	lkdf_free(rt, small);
	must(lkdf_close(rt));
}

static void node_without_cpus_has_memory_only(int node)
{
	struct lkdf *rt = api_open("");
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_task task = {
		.size = sizeof(task),
		.kind = k,
		.place = lkdf_place_node(rt, node),
		.flags = LKDF_PINNED,
	};
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done;
	void *p = mem_alloc(rt, node, BLOCK);
	int rc;

	mem_touch(p, BLOCK, 1);
	is(mem_where(p, BLOCK, node).right, BLOCK / MEM_PAGE,
	   "node %d has no CPUs, but memory", node);
	lkdf_free(rt, p);
	rc = lkdf_submit(rt, NULL, &task, &done);
	ok(rc < 0, "a pinned task there is refused: %s", strerror(-rc));
	has(lkdf_errmsg(), "node", "with the reason: %s", lkdf_errmsg());
	ok(lkdf_graph_add_task(g, &task) < 0, "in a graph, too");
	task.flags = 0;
	must(lkdf_submit(rt, NULL, &task, &done));
	is(lkdf_event_wait(done, -1), 0, "one that is not pinned runs");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	int64_t killed;
	int i, full;

	mem_start(90);
	killed = mem_vmstat("oom_kill");
	full = nr_mem_nodes > 3 ? 2 : nr_mem_nodes;
	for (i = 0; i < full; i++) {
		strict_node_refuses_when_full(mem_node[i]);
		full_node_is_replaced_by_the_nearest(mem_node[i]);
		limited_node_is_replaced_by_the_nearest(mem_node[i]);
	}
	for (i = 0; i < vm.nr_nodes; i++) {
		if (!vm.mib_of[i])
			node_without_memory_names_the_nearest(i);
		if (!vm.nr_cpus_of[i])
			node_without_cpus_has_memory_only(i);
	}
	ok(killed >= 0 && mem_vmstat("oom_kill") == killed,
	   "the kernel has ended no process for memory");
	return tap_end();
}
