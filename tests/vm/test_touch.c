/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_first_touch() where nodes are real: each node with workers has one
 * contiguous part, in proportion to them; and pinned tasks run on CPUs of
 * their node, submitted, spawned and in graphs. A node that has CPUs but no
 * memory gets its part nearby.
 */
#include "tests/vm/mem.h"

#include <sys/mman.h>

#define BALANCING "/proc/sys/kernel/numa_balancing"

static struct lkdf *rt;
static int nr_workers_of[VM_MAX_NODES];

static char *map_fresh(uint64_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		vm_die("cannot map", "an array");
	/* A huge page across two parts has one node. */
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

/* What a body has written, and where it ran when it did. */
struct written {
	char *array;
	uint64_t grain;
	atomic_int misplaced; /* pieces that begin inside an element */
	atomic_uint_least64_t bytes;
};

static int write_piece(void *at, uint64_t bytes, void *u)
{
	struct written *w = u;
	uint64_t offset = (uint64_t)((char *)at - w->array);

	if (offset % w->grain)
		atomic_fetch_add(&w->misplaced, 1);
	atomic_fetch_add(&w->bytes, bytes);
	memset(at, 1, bytes);
	return 0;
}

/*
 * By the node of each page, in order: at node i's part all are on i. Pages
 * that an element shares with the next part may be either's.
 */
static void parts_are_on_their_nodes(const char *p, uint64_t bytes,
				     uint64_t grain)
{
	uint64_t page = bytes / MEM_PAGE, slack = grain / MEM_PAGE + 2;
	uint64_t all = 0, below = 0, first, end;
	struct mem_pages s;
	int i, node;

	for (i = 0; i < vm.nr_nodes; i++)
		all += (unsigned)nr_workers_of[i];
	for (node = 0; node < vm.nr_nodes; node++) {
		first = page * below / all + slack;
		below += (unsigned)nr_workers_of[node];
		end = page * below / all - slack;
		if (!nr_workers_of[node] || !vm.mib_of[node])
			continue;
		s = mem_where(p + first * MEM_PAGE, (end - first) * MEM_PAGE,
			      node);
		is(s.right, end - first,
		   "grain %llu: node %d has its part, %llu pages",
		   (unsigned long long)grain, node,
		   (unsigned long long)(end - first));
	}
}

static void each_node_gets_its_part(uint64_t grain)
{
	uint64_t bytes = (24 * MEM_MIB + 5 * MEM_PAGE) / grain * grain;
	struct written w = { .grain = grain };

	w.array = map_fresh(bytes);
	must(lkdf_first_touch(rt, w.array, bytes, grain, write_piece, &w));
	is(atomic_load(&w.misplaced), 0, "grain %llu: no piece begins inside",
	   (unsigned long long)grain);
	is(atomic_load(&w.bytes), bytes, "grain %llu: all bytes, once each",
	   (unsigned long long)grain);
	parts_are_on_their_nodes(w.array, bytes, grain);
	munmap(w.array, bytes);
}

static void zeroes_are_spread_too(void)
{
	uint64_t bytes = 16 * MEM_MIB, on[VM_MAX_NODES] = { 0 }, sum = 0;
	char *p = map_fresh(bytes);
	int i;

	must(lkdf_first_touch(rt, p, bytes, 0, NULL, NULL));
	parts_are_on_their_nodes(p, bytes, 1);
	must(lkdf_pages(rt, 0, p, bytes, on, VM_MAX_NODES));
	for (i = 0; i < vm.nr_nodes; i++)
		sum += on[i];
	is(sum, bytes, "lkdf_pages() finds all of them");
	munmap(p, bytes);
}

/* Pinned tasks: where each ran, as the kernel says it in the body. */
struct seen {
	int want;
	atomic_int nr, wrong_node, wrong_cpu, failed;
};

static void look(struct lkdf_ctx *c, struct seen *s)
{
	int cpu = -1, node = -1;

	if (lkdf_where(c, &cpu, &node))
		atomic_fetch_add(&s->failed, 1);
	if (node != s->want)
		atomic_fetch_add(&s->wrong_node, 1);
	if (cpu < 0 || cpu >= VM_MAX_CPUS || vm.node_of[cpu] != s->want)
		atomic_fetch_add(&s->wrong_cpu, 1);
	atomic_fetch_add(&s->nr, 1);
}

static int look_body(struct lkdf_ctx *c, void *arg)
{
	volatile unsigned x = 0;
	unsigned i;

	/* Long enough for others to want it. */
	for (i = 0; i < 2000; i++)
		x += i;
	(void)x;
	look(c, arg);
	return 0;
}

#define NR_EACH 300

static struct seen seen[VM_MAX_NODES];
static struct lkdf_kind *kind;

static struct lkdf_task task_on(int node)
{
	return (struct lkdf_task){
		.size = sizeof(struct lkdf_task),
		.kind = kind,
		.arg = &seen[node],
		.place = lkdf_place_node(rt, node),
		.flags = LKDF_PINNED,
	};
}

static void start_seen(void)
{
	int i;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < vm.nr_nodes; i++)
		seen[i].want = i;
}

static void tell_seen(const char *how)
{
	int i, node;

	for (i = 0; i < nr_mem_cpu_nodes; i++) {
		node = mem_cpu_node[i];
		is(atomic_load(&seen[node].nr), NR_EACH,
		   "%s: node %d: all tasks ran", how, node);
		is(atomic_load(&seen[node].wrong_node), 0,
		   "%s: node %d: on the node, as lkdf_where() says", how, node);
		is(atomic_load(&seen[node].wrong_cpu), 0,
		   "%s: node %d: on CPUs that are the node's", how, node);
	}
}

static void submitted_pinned_tasks_stay_on_their_node(void)
{
	struct lkdf_scope *s;
	struct lkdf_task t;
	int i, j;

	start_seen();
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "pinned"),
			       &s));
	for (i = 0; i < NR_EACH; i++) {
		for (j = 0; j < nr_mem_cpu_nodes; j++) {
			t = task_on(mem_cpu_node[j]);
			must(lkdf_submit(rt, s, &t, NULL));
		}
	}
	is(lkdf_scope_wait(rt, s, -1), 0, "submit: all end");
	lkdf_scope_put(s);
	tell_seen("submit");
}

static int spawn_body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_task t;
	int i, j, rc = 0;

	(void)arg;
	for (i = 0; i < NR_EACH && !rc; i++) {
		for (j = 0; j < nr_mem_cpu_nodes && !rc; j++) {
			t = task_on(mem_cpu_node[j]);
			rc = lkdf_spawn_task(c, &t, NULL);
		}
	}
	return rc;
}

static void spawned_pinned_tasks_stay_on_their_node(void)
{
	struct lkdf_kind *k = api_kind(rt, "spawn", spawn_body, 0, 0);

	start_seen();
	is(api_call(rt, k, NULL), 0, "spawn: all end");
	lkdf_kind_put(k);
	tell_seen("spawn");
}

/* Each task waits for one of another node. */
static void pinned_tasks_of_graphs_stay_on_their_node(void)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	int i, j, id, before = -1;
	struct lkdf_task t;

	start_seen();
	for (i = 0; i < NR_EACH; i++) {
		for (j = 0; j < nr_mem_cpu_nodes; j++) {
			t = task_on(mem_cpu_node[j]);
			id = must(lkdf_graph_add_task(g, &t));
			if (before >= 0 && i % 4)
				must(lkdf_graph_order(g, before, id));
			before = id;
		}
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "graph: it runs");
	lkdf_graph_put(g);
	tell_seen("graph");
}

static void open_with_workers(const char *options)
{
	struct vm_worker w[VM_MAX_CPUS];
	int i, nr, cpu;

	rt = api_open(options);
	memset(nr_workers_of, 0, sizeof(nr_workers_of));
	nr = vm_workers(w, vm_nr_workers(rt));
	/* By the CPU that the kernel lets it run on, not by its name. */
	for (i = 0; i < nr; i++)
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
	open_with_workers("");
	kind = api_kind(rt, "look", look_body, 0, LKDF_SHARED);
	each_node_gets_its_part(1);
	each_node_gets_its_part(24);
	each_node_gets_its_part(3 * MEM_PAGE + 16);
	zeroes_are_spread_too();
	submitted_pinned_tasks_stay_on_their_node();
	spawned_pinned_tasks_stay_on_their_node();
	pinned_tasks_of_graphs_stay_on_their_node();
	lkdf_kind_put(kind);
	must(lkdf_close(rt));
	vm_write(BALANCING, balancing);
	return tap_end();
}
