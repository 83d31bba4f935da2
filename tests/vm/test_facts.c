/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks follow pages that somebody else moves: in the middle of a run all
 * pages of all blocks go to another node. Counted is the share of bytes that
 * a body finds on another node than its own. Idle workers do not take planned
 * work here, so that the share is that of the placement.
 */
#include "tests/api/probe.h"
#include "tests/vm/mem.h"

#include <lkdf/data.h>
#include <lkdf/graph.h>
#include <lkdf/pages.h>
#include <lkdf/signals.h>
#include <sys/mman.h>

#define NR_BLOCKS 16
#define NR_SWEEPS 3
#define BYTES ((uint64_t)128 << 10)
#define NR_PAGES (BYTES / MEM_PAGE)

#define OPTIONS "final,far_steals=no,memory_huge=never,signal_kib=128"

/* Runs that they may take; and a body asks for so many pages of its block. */
#define NR_RUNS 2
#define NR_LOOKS 2
/* Runs until half of the bytes are known, at most. */
#define NR_RUNS_TO_KNOW 20

/* Per cent of remote bytes after that, with facts and without. */
#define FOLLOW_BAR 10
#define STAY_BAR 50

static struct lkdf *rt;
static struct lkdf_graph *graph;
static struct lkdf_data *data[NR_BLOCKS];
static char *_Atomic bytes[NR_BLOCKS];
static _Atomic(unsigned) nr_here, nr_there, nr_bodies;
/* Which body moves everything; 0: none. */
static _Atomic(unsigned) mover;
static bool has_module_now;

/* ---- pages --------------------------------------------------------------- */

/* Nodes with memory and CPUs, in a circle. */
static int next_node(int node)
{
	int i, k, at = 0;

	for (i = 0; i < nr_mem_cpu_nodes; i++)
		if (mem_cpu_node[i] == node)
			at = i;
	for (k = 1; k <= nr_mem_cpu_nodes; k++) {
		i = (at + k) % nr_mem_cpu_nodes;
		if (vm.mib_of[mem_cpu_node[i]])
			break;
	}
	return mem_cpu_node[i];
}

static int node_of_page(char *at)
{
	void *page = (void *)((uintptr_t)at / MEM_PAGE * MEM_PAGE);
	int status = -1;

	if (move_pages(0, 1, &page, NULL, &status, 0))
		vm_die("cannot ask", "move_pages");
	return status;
}

/* All pages of a block. */
static void move_block(char *at, int to)
{
	int node[NR_PAGES], status[NR_PAGES];
	uintptr_t first = ((uintptr_t)at + MEM_PAGE - 1) / MEM_PAGE;
	uintptr_t end = ((uintptr_t)at + BYTES) / MEM_PAGE, i;
	void *page[NR_PAGES];
	unsigned nr = 0;

	for (i = first; i < end; i++) {
		page[nr] = (void *)(i * MEM_PAGE);
		node[nr++] = to;
	}
	if (move_pages(0, nr, page, node, status, MPOL_MF_MOVE) < 0)
		vm_die("cannot move", "pages");
}

/* To the node after that of a block's first page. */
static void move_all(void)
{
	char *at;
	int i;

	for (i = 0; i < NR_BLOCKS; i++) {
		at = atomic_load(&bytes[i]);
		move_block(at, next_node(node_of_page(at)));
	}
}

/* ---- runs ---------------------------------------------------------------- */

static int sweep(struct lkdf_ctx *c, void *arg)
{
	int here = (int)vm.node_of[sched_getcpu()], i;
	int block = *(int *)arg;
	char *at = lkdf_ptr(c, 0);

	atomic_store(&bytes[block], at);
	for (i = 0; i < (int)BYTES; i += MEM_PAGE)
		at[i]++;
	for (i = 0; i < NR_LOOKS; i++)
		if (node_of_page(at + BYTES / NR_LOOKS * i) == here)
			atomic_fetch_add(&nr_here, 1);
		else
			atomic_fetch_add(&nr_there, 1);
	if (atomic_fetch_add(&nr_bodies, 1) + 1 == atomic_load(&mover))
		move_all();
	return 0;
}

/* Per cent. Long enough after the last one that facts may be asked again. */
static unsigned run(unsigned moves_at)
{
	unsigned all;

	api_nap_ns(100000000);
	atomic_store(&nr_here, 0);
	atomic_store(&nr_there, 0);
	atomic_store(&nr_bodies, 0);
	atomic_store(&mover, moves_at);
	is(api_run(graph, NULL, NULL), 0, "a run");
	all = atomic_load(&nr_here) + atomic_load(&nr_there);
	return atomic_load(&nr_there) * 100 / all;
}

/* Each block is changed by one task of each sweep. */
static void build(struct lkdf_kind *k)
{
	struct lkdf_use use = { .mode = LKDF_RW };
	struct lkdf_task t = {
		.size = sizeof(t), .kind = k, .use = &use, .nr_use = 1
	};
	int i, block;

	graph = api_graph(rt, 1);
	for (i = 0; i < NR_SWEEPS * NR_BLOCKS; i++) {
		block = i % NR_BLOCKS;
		t.arg = &block;
		use.data = data[block];
		use.mode = i < NR_BLOCKS ? LKDF_WRITE : LKDF_RW;
		must(lkdf_graph_add_task(graph, &t));
	}
	must(lkdf_graph_seal(graph, NULL));
}

static void start(const char *options, char *wrap)
{
	struct lkdf_kind *k;
	int i;

	rt = api_open(options);
	k = api_kind(rt, "sweep", sweep, sizeof(int), 0);
	for (i = 0; i < NR_BLOCKS; i++)
		must(lkdf_data_create(
			rt,
			ATTR(lkdf_data_attr, .bytes = BYTES,
			     .wrap = wrap ? wrap + (uint64_t)i * BYTES : NULL),
			&data[i]));
	build(k);
	lkdf_kind_put(k);
}

static void stop(void)
{
	int i;

	lkdf_graph_put(graph);
	for (i = 0; i < NR_BLOCKS; i++)
		lkdf_data_put(data[i]);
	must(lkdf_close(rt));
}

/* ---- what is to be seen -------------------------------------------------- */

static struct lkdf_facts facts_of(int worker)
{
	struct lkdf_facts f = { .size = sizeof(f) };

	must(lkdf_signals(rt, worker, &f));
	return f;
}

/* The library looks at a part of the blocks in each run, as time allows. */
static uint64_t known_bytes(void)
{
	uint64_t known = facts_of(-1).node_bytes.value;
	int i;

	for (i = 0; i < NR_RUNS_TO_KNOW && known < NR_BLOCKS * BYTES / 2; i++) {
		run(0);
		known = facts_of(-1).node_bytes.value;
	}
	return known;
}

/*
 * Workers of a node see what is there: one of each node, together, all, unless
 * some is on a node without workers.
 */
static void bytes_are_told(uint32_t source, const char *what)
{
	struct vm_worker w[VM_MAX_CPUS];
	int nr = vm_workers(w, vm_nr_workers(rt)), nr_nodes = 0, i;
	uint64_t sum = 0, known = known_bytes();

	for (i = 0; i < nr; i++) {
		if (i && w[i].node == w[i - 1].node)
			continue;
		nr_nodes++;
		sum += facts_of(i).node_bytes.value;
	}
	if (lkdf_places(rt, LKDF_PLACE_NODE, NULL, 0) > nr_nodes)
		ok(sum && sum <= known, "%s: nodes' bytes are among all", what);
	else
		is((long long)sum, (long long)known,
		   "%s: nodes' bytes are those of all", what);
	ok(known >= NR_BLOCKS * BYTES / 2 && known <= NR_BLOCKS * 2 * BYTES,
	   "%s: %llu KiB of %llu are known", what,
	   (unsigned long long)known >> 10,
	   (unsigned long long)(NR_BLOCKS * BYTES) >> 10);
	is(facts_of(-1).node_bytes.source, source, "%s: by whom", what);
}

/* Who asked before the pages were moved is told that they did. */
static void moves_are_told(const struct lkdf_facts *was, bool by_probe)
{
	struct lkdf_facts f = facts_of(-1);

	ok(f.nr_moves.value > was->nr_moves.value,
	   "looks that found another node: %llu",
	   (unsigned long long)f.nr_moves.value);
	if (!by_probe)
		return;
	is(f.moved_pages.source, LKDF_SIGNAL_BPF, "the probe counts pages");
	ok(f.moved_pages.value - was->moved_pages.value >=
		   NR_BLOCKS * NR_PAGES / 2,
	   "%llu pages were moved",
	   (unsigned long long)(f.moved_pages.value - was->moved_pages.value));
}

static void tasks_follow(bool follows, unsigned before, const char *what)
{
	unsigned after = 100, i;

	run(NR_SWEEPS * NR_BLOCKS / 2);
	for (i = 0; i < NR_RUNS; i++)
		after = run(0);
	printf("# %s: %u %% remote, %u %% after all pages were moved\n", what,
	       before, after);
	if (follows)
		ok(after < FOLLOW_BAR,
		   "%s: tasks follow their pages, remote below %d %%", what,
		   FOLLOW_BAR);
	else
		ok(after > STAY_BAR, "%s: they do not, remote above %d %%",
		   what, STAY_BAR);
}

static char *map(void)
{
	char *p = mmap(NULL, NR_BLOCKS * BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		vm_die("cannot map", "memory");
	madvise(p, NR_BLOCKS * BYTES, MADV_NOHUGEPAGE);
	return p;
}

/* Block by block in turn: no plan that does not know it hits that. */
static void deal(char *wrap)
{
	int i, node = -1;

	memset(wrap, 1, NR_BLOCKS * BYTES);
	for (i = 0; i < NR_BLOCKS; i++) {
		node = next_node(node);
		move_block(wrap + (uint64_t)i * BYTES, node);
	}
}

static void wrapped_bytes_are_known(const char *options, bool follows)
{
	char *wrap = map();
	unsigned share;

	deal(wrap);
	start(options, wrap);
	share = run(0);
	printf("# %s, wrapped: %u %% remote\n", options, share);
	if (follows) {
		ok(share <= 10, "%s, wrapped: tasks are where bytes are",
		   options);
		tasks_follow(true, share, "wrapped");
	} else {
		ok(share > 10, "%s, wrapped: nobody knows", options);
	}
	stop();
	munmap(wrap, NR_BLOCKS * BYTES);
}

/* The first run makes them. */
static void own_bytes_are_known(const char *options, bool follows)
{
	struct lkdf_facts was;

	start(options, NULL);
	run(0);
	was = facts_of(-1);
	if (follows)
		bytes_are_told(lkdf_caps(rt) & LKDF_CAP_KMOD ? LKDF_SIGNAL_KMOD
							     : LKDF_SIGNAL_PROC,
			       options);
	tasks_follow(follows, run(0), options);
	if (follows)
		moves_are_told(&was, false);
	else
		is(facts_of(-1).node_bytes.source, LKDF_SIGNAL_NONE,
		   "nobody knows where bytes are");
	stop();
}

/* The probe tells of pages that move, and tasks follow them. */
static void the_probe_tells(const char *self)
{
	struct lkdf_facts was;
	char options[192];

	if (!probe_start(self, "")) {
		probe_absent("the probe tells");
		probe_end();
		return;
	}
	snprintf(options, sizeof(options), OPTIONS ",probe=%s/bpf", probe_dir);
	start(options, NULL);
	run(0);
	bytes_are_told(LKDF_SIGNAL_PROC, "with the probe");
	was = facts_of(-1);
	tasks_follow(true, run(0), "with the probe");
	moves_are_told(&was, true);
	probe_end();
	is(facts_of(-1).moved_pages.source, LKDF_SIGNAL_NONE,
	   "stopped, it tells nothing");
	tasks_follow(true, run(0), "the probe is stopped");
	stop();
}

/* ---- decisions ----------------------------------------------------------- */

static uint64_t stat_of(const char *name)
{
	uint64_t value = 0;

	must(lkdf_stat(rt, name, &value));
	return value;
}

/* Events of a recording that tell such a decision; -1: it cannot be read. */
static int count_told(const char *file, unsigned source)
{
	char line[3 * PATH_MAX];
	int nr = -1;
	FILE *f;

	snprintf(line, sizeof(line),
		 "'%s' trace convert --to csv %s | "
		 "grep -c '^event,.*,signal_home,.*,%u,[0-9]*,'",
		 probe_tool, file, source);
	f = popen(line, "r");
	if (!f || fscanf(f, "%d", &nr) != 1)
		nr = -1;
	if (f)
		pclose(f);
	return nr;
}

static void submit_by_data(struct lkdf_kind *k, int block)
{
	struct lkdf_use use = { .data = data[block], .mode = LKDF_RW };

	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &block, .use = &use,
			      .nr_use = 1),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* Blocks that follow and tasks that are sent: counted, told, by whom. */
static void decisions_are_told(const char *options, bool follows)
{
	char file[] = "/tmp/lkdf-facts.trace", more[192];
	unsigned source = has_module_now ? LKDF_SIGNAL_KMOD : LKDF_SIGNAL_PROC;
	struct lkdf_kind *k;
	int i, nr;

	snprintf(more, sizeof(more), "%s,trace=%s", options, file);
	unlink(file);
	start(more, NULL);
	k = api_kind(rt, "sent", sweep, sizeof(int), 0);
	run(0);
	run(NR_SWEEPS * NR_BLOCKS / 2);
	run(0);
	for (i = 0; i < NR_BLOCKS; i++)
		submit_by_data(k, i);
	lkdf_kind_put(k);
	ok(!stat_of("lkdf.data.followed") == !follows &&
		   !stat_of("lkdf.data.placed") == !follows,
	   "%s: %llu blocks follow, %llu tasks are sent", options,
	   (unsigned long long)stat_of("lkdf.data.followed"),
	   (unsigned long long)stat_of("lkdf.data.placed"));
	stop();
	if (access(probe_tool, X_OK)) {
		skip("events tell it", "there is no tool");
		return;
	}
	nr = count_told(file,
			strstr(options, "proc") ? LKDF_SIGNAL_PROC : source);
	ok(follows ? nr > 0 : !nr, "%d events tell it, with the source", nr);
	unlink(file);
}

static bool has_module(void)
{
	bool has;

	rt = api_open("");
	has = lkdf_caps(rt) & LKDF_CAP_KMOD;
	must(lkdf_close(rt));
	return has;
}

static int add_sources(void *u, const struct lkdf_mapping *m)
{
	*(uint32_t *)u |= m->sources;
	return 0;
}

/* A part of a mapping that is larger than what is asked page by page. */
static void large_ranges_are_counted(void)
{
	const uint64_t size = (uint64_t)512 << 20, nr = 5;
	uint64_t on[VM_MAX_NODES] = { 0 }, sum = 0, i;
	uint32_t sources = 0;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	madvise(p, size, MADV_NOHUGEPAGE);
	for (i = 0; i < nr; i++)
		p[size / nr * i + 7 * MEM_PAGE] = 1;
	rt = api_open("final");
	must(lkdf_pages(rt, 0, p + 7 * MEM_PAGE + 100, size - 8 * MEM_PAGE, on,
			VM_MAX_NODES));
	must(lkdf_pages_walk(rt, 0, p + 7 * MEM_PAGE, MEM_PAGE, add_sources,
			     &sources));
	must(lkdf_close(rt));
	for (i = 0; i < VM_MAX_NODES; i++)
		sum += on[i];
	is(sum, nr * MEM_PAGE - 100, "the module counts each page");
	is(sources, LKDF_PAGES_KMOD, "and is named");
	munmap(p, size);
}

int main(int argc, char **argv)
{
	(void)argc;
	mem_start(120);
	/* AutoNUMA would bring pages to the tasks. */
	vm_try_write("/proc/sys/kernel/numa_balancing", "0");
	has_module_now = has_module();
	probe_find(argv[0]);
	decisions_are_told(OPTIONS, true);
	own_bytes_are_known(OPTIONS, true);
	wrapped_bytes_are_known(OPTIONS, true);
	/* Else that was it. */
	if (has_module_now) {
		large_ranges_are_counted();
		own_bytes_are_known(OPTIONS ",signal=proc", true);
		wrapped_bytes_are_known(OPTIONS ",signal=proc", true);
	} else {
		the_probe_tells(argv[0]);
	}
	decisions_are_told(OPTIONS ",signal=off", false);
	own_bytes_are_known(OPTIONS ",signal=off", false);
	wrapped_bytes_are_known(OPTIONS ",signal=off", false);
	return tap_end();
}
