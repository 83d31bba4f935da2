/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes of data lie on the node of the task that writes them first, or where
 * the user said; tasks go where most of their bytes are; the plan of a sealed
 * graph spreads blocks over the nodes, and its tasks run beside them. What
 * runs where is asked of the kernel, in bodies; where pages lie too. How much
 * thieves take is chance, as the machine's CPUs share those of the host: where
 * tasks go is asked when all others sleep, or none of them may take it.
 */
#include "tests/vm/mem.h"

#include <lkdf/data.h>

#define BYTES ((uint64_t)1 << 20)
#define NR_BLOCKS 32
#define NR_SWEEPS 8
#define NR_TASKS (NR_BLOCKS * NR_SWEEPS)
#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

static struct lkdf *rt;
static struct lkdf_kind *writes, *looks, *sweeps;

/* Where a body ran. */
static int write_bytes(struct lkdf_ctx *c, void *arg)
{
	int **node = arg;

	memset(lkdf_ptr(c, 0), 1, BYTES);
	return lkdf_where(c, NULL, *node);
}

static int look(struct lkdf_ctx *c, void *arg)
{
	int **node = arg;

	return lkdf_where(c, NULL, *node);
}

static bool is_asleep(int tid)
{
	const char *end;
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	end = strrchr(vm_read(path), ')');
	return end && end[1] && end[2] == 'S';
}

/* Then one is woken for a task, and takes it. */
static void wait_until_all_sleep(void)
{
	struct vm_worker w[VM_MAX_CPUS];
	int nr = vm_workers(w, vm_nr_workers(rt)), i = 0;

	while (i < nr) {
		for (i = 0; i < nr && is_asleep(w[i].tid); i++)
			;
		if (i < nr)
			api_nap_ns(100000);
	}
}

/* Pages of the data that are not on the node. */
static uint64_t pages_off(struct lkdf_data *d, int node)
{
	struct mem_pages pages = { .right = 0 };
	void *at;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &at));
	mem_count(&pages, at, BYTES, 1, node);
	must(lkdf_data_release(d));
	return pages.wrong + pages.absent;
}

static void task_on(struct lkdf_kind *k, struct lkdf_data *d, uint32_t mode,
		    int place, int *node)
{
	struct lkdf_use use = { d, mode, 0 };
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &node, .use = &use,
			      .nr_use = 1, .flags = place < 0 ? 0 : LKDF_PINNED,
			      .place = place < 0 ? NULL
						 : lkdf_place_node(rt, place)),
			 &done));
	must(lkdf_event_wait(done, -1));
}

static void first_writer_decides(int node)
{
	struct lkdf_data *d;
	int ran = -1, i, nr_there = 0;

	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = BYTES), &d));
	task_on(writes, d, LKDF_WRITE, node, &ran);
	is(ran, node, "node %d: the writer ran there", node);
	is(pages_off(d, node), 0, "node %d: so all its pages are", node);
	for (i = 0; i < 10; i++) {
		wait_until_all_sleep();
		task_on(looks, d, LKDF_READ, -1, &ran);
		nr_there += ran == node;
	}
	ok(nr_there >= 8, "node %d: %d of 10 readers ran there", node,
	   nr_there);
	lkdf_data_put(d);
}

static void home_is_kept(int node, int from)
{
	struct lkdf_data *d;
	int ran = -1;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = BYTES,
				   .home = lkdf_place_node(rt, node)),
			      &d));
	task_on(writes, d, LKDF_WRITE, from, &ran);
	is(ran, from, "home %d: the writer ran on %d", node, from);
	is(pages_off(d, node), 0, "home %d: its pages are at home", node);
	lkdf_data_put(d);
}

/* Read and written where the body runs: which share is on its node? */
static atomic_int nr_beside, nr_away, nr_on[VM_MAX_NODES];

static int sweep(struct lkdf_ctx *c, void *arg)
{
	char *at = lkdf_ptr(c, 0);
	int node, status = -1;
	void *page = at + BYTES / 2;

	(void)arg;
	memset(at, 1, BYTES);
	if (lkdf_where(c, NULL, &node) ||
	    move_pages(0, 1, &page, NULL, &status, 0))
		return -EIO;
	/* Of a node without memory all bytes are elsewhere. */
	atomic_fetch_add(
		status == node || !vm.mib_of[node] ? &nr_beside : &nr_away, 1);
	atomic_fetch_add(&nr_on[node], 1);
	return 0;
}

/* Each block is written, then swept by a chain of its own. */
static struct lkdf_graph *build(struct lkdf_data **d)
{
	struct lkdf_graph *g;
	struct lkdf_use use;
	int i, s;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < NR_BLOCKS; i++)
		must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = BYTES),
				      &d[i]));
	for (s = 0; s < NR_SWEEPS; s++) {
		for (i = 0; i < NR_BLOCKS; i++) {
			use = (struct lkdf_use){ d[i], s ? LKDF_RW : LKDF_WRITE,
						 0 };
			must(lkdf_graph_add(g, sweeps, NULL, &use, 1));
		}
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void run_planned(const char *how)
{
	struct lkdf_data *d[NR_BLOCKS];
	struct lkdf_graph *g = build(d);
	struct lkdf_event done;
	int i;

	atomic_store(&nr_beside, 0);
	atomic_store(&nr_away, 0);
	for (i = 0; i < vm.nr_nodes; i++)
		atomic_store(&nr_on[i], 0);
	must(lkdf_graph_run(g, NULL, NULL, &done));
	is(lkdf_event_wait(done, -1), 0, "%s: a planned graph runs", how);
	is(atomic_load(&nr_beside) + atomic_load(&nr_away), NR_TASKS,
	   "%s: each of %d tasks once", how, NR_TASKS);
	for (i = 0; i < vm.nr_nodes; i++)
		printf("# %s: node %d: %d tasks\n", how, i,
		       atomic_load(&nr_on[i]));
	lkdf_graph_put(g);
	for (i = 0; i < NR_BLOCKS; i++)
		lkdf_data_put(d[i]);
}

static void plan_spreads_and_keeps(void)
{
	int i, least = NR_TASKS, nr_nodes = 0;

	run_planned("without thieves");
	is(atomic_load(&nr_beside), NR_TASKS, "all of them beside their bytes");
	for (i = 0; i < vm.nr_nodes; i++) {
		if (!vm.nr_cpus_of[i] || !vm.mib_of[i])
			continue;
		nr_nodes++;
		if (atomic_load(&nr_on[i]) < least)
			least = atomic_load(&nr_on[i]);
	}
	ok(least * nr_nodes * 2 >= NR_TASKS, "each node has its part");
}

static void start(const char *options)
{
	rt = api_open(options);
	writes = api_kind(rt, "writes", write_bytes, sizeof(int *), 0);
	looks = api_kind(rt, "looks", look, sizeof(int *), 0);
	sweeps = api_kind(rt, "sweeps", sweep, 0, 0);
}

static void stop(void)
{
	lkdf_kind_put(writes);
	lkdf_kind_put(looks);
	lkdf_kind_put(sweeps);
	must(lkdf_close(rt));
}

int main(void)
{
	int i, node;

	mem_start(60);
	start("spin_us=0,far_steals=no");
	for (i = 0; i < nr_mem_cpu_nodes; i++) {
		node = mem_cpu_node[i];
		if (!vm.mib_of[node])
			continue;
		first_writer_decides(node);
		home_is_kept(node, mem_cpu_node[(i + 1) % nr_mem_cpu_nodes]);
	}
	plan_spreads_and_keeps();
	stop();
	start("");
	run_planned("with thieves");
	stop();
	return tap_end();
}
