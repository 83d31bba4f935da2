/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_alloc() where nodes are real: what threads of one node free goes home,
 * large blocks and their reuse, interleaved, pinned and huge memory, and the
 * count of remote frees. Pages are asked for by move_pages(2).
 */
#include "tests/vm/mem.h"

#define BATCH 512
#define NR_BLOCKS 1000000ull
#define THP "/sys/kernel/mm/transparent_hugepage/enabled"

static struct lkdf *rt;

static struct lkdf_place *place(int i)
{
	return lkdf_place_node(rt, mem_node[i]);
}

/*
 * One thread on each node with CPUs; a round: each takes blocks of random
 * sizes of random nodes, then each frees what its neighbour took.
 */
struct mixer {
	pthread_t thread;
	int cpu_node, nr;
	void *block[BATCH];
	uint64_t nr_taken, nr_refused, rng;
	struct mem_pages pages;
};

static struct mixer mixer[VM_MAX_NODES];
static pthread_barrier_t barrier;

static uint32_t random_of(struct mixer *m)
{
	m->rng = m->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(m->rng >> 33);
}

static uint64_t random_size(struct mixer *m)
{
	uint64_t max = random_of(m) % 64 ? 1024 : 65536;

	return 1 + random_of(m) % max;
}

static void take_round(struct mixer *m)
{
	int i, j, of[BATCH], nr;
	void *page[BATCH];

	for (i = 0; i < BATCH; i++) {
		of[i] = (int)(random_of(m) % (unsigned)nr_mem_nodes);
		m->nr_taken++;
		if (lkdf_alloc(place(of[i]), LKDF_MEM_OWN, random_size(m), 0,
			       NULL, &m->block[i])) {
			m->block[i] = NULL;
			m->nr_refused++;
			continue;
		}
		*(volatile char *)m->block[i] = (char)i;
	}
	for (j = 0; j < nr_mem_nodes; j++) {
		for (i = nr = 0; i < BATCH; i++)
			if (of[i] == j && m->block[i])
				page[nr++] = m->block[i];
		mem_ask(&m->pages, page, nr, mem_node[j]);
	}
}

static void *mix(void *arg)
{
	uint64_t rounds = NR_BLOCKS / BATCH / (unsigned)nr_mem_cpu_nodes + 1;
	struct mixer *m = arg, *next;
	uint64_t r;
	int i;

	mem_run_on(m->cpu_node);
	next = &mixer[(m->nr + 1) % nr_mem_cpu_nodes];
	for (r = 0; r < rounds; r++) {
		take_round(m);
		pthread_barrier_wait(&barrier);
		for (i = 0; i < BATCH; i++)
			lkdf_free(rt, next->block[i]);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void blocks_freed_elsewhere_never_change_their_node(void)
{
	struct mem_pages all = { .right = 0 };
	uint64_t taken = 0, refused = 0;
	int i, nr = nr_mem_cpu_nodes;

	pthread_barrier_init(&barrier, NULL, (unsigned)nr);
	for (i = 0; i < nr; i++) {
		mixer[i].nr = i;
		mixer[i].cpu_node = mem_cpu_node[i];
		mixer[i].rng = (uint64_t)i + 1;
		if (pthread_create(&mixer[i].thread, NULL, mix, &mixer[i]))
			vm_die("cannot create", "a thread");
	}
	for (i = 0; i < nr; i++) {
		pthread_join(mixer[i].thread, NULL);
		taken += mixer[i].nr_taken;
		refused += mixer[i].nr_refused;
		all.right += mixer[i].pages.right;
		all.wrong += mixer[i].pages.wrong;
		all.absent += mixer[i].pages.absent;
	}
	pthread_barrier_destroy(&barrier);
	ok(taken >= NR_BLOCKS, "%llu blocks go from node to node",
	   (unsigned long long)taken);
	is(refused, 0, "none is refused");
	is(all.wrong, 0, "none is on another node than asked");
	is(all.right, taken, "each is on its node");
	for (i = 0; i < nr_mem_nodes; i++) {
		is(mem_stat(rt, mem_node[i], "memory.used"), 0,
		   "node %d has all its blocks back", mem_node[i]);
		ok(mem_stat(rt, mem_node[i], "memory.remote_frees") > 0,
		   "node %d has counted remote frees", mem_node[i]);
	}
}

/* Blocks of one node, freed by one thread, which then ends. */
struct freed {
	void *block[1000];
	uint64_t bytes;
};

static void free_all(void *u)
{
	struct freed *f = u;
	int i;

	for (i = 0; i < 1000; i++)
		lkdf_free(rt, f->block[i]);
}

static uint64_t remote_frees_of(int node, int from, uint64_t bytes)
{
	uint64_t before = mem_stat(rt, node, "memory.remote_frees");
	static struct freed f;
	int i;

	for (i = 0; i < 1000; i++)
		f.block[i] = mem_alloc(rt, node, bytes);
	mem_on_node(from, free_all, &f);
	return mem_stat(rt, node, "memory.remote_frees") - before;
}

static void remote_frees_are_counted(void)
{
	int i, j, node, from;

	for (i = 0; i < nr_mem_nodes; i++) {
		for (j = 0; j < nr_mem_cpu_nodes; j++) {
			node = mem_node[i];
			from = mem_cpu_node[j];
			is(remote_frees_of(node, from, 100 + 50 * (unsigned)j),
			   node == from ? 0 : 1000,
			   "node %d: frees by a thread of node %d", node, from);
		}
	}
}

static void free_one(void *u)
{
	lkdf_free(rt, u);
}

static uint64_t touch_and_count(void *p, uint64_t bytes, int node)
{
	mem_touch(p, bytes, 1);
	return mem_where(p, bytes, node).right;
}

static void large_block_is_on_its_node(int node, uint64_t bytes)
{
	uint64_t pages = bytes / MEM_PAGE, remote;
	int from = mem_cpu_node[node == mem_cpu_node[0]];
	void *p, *again;

	remote = mem_stat(rt, node, "memory.remote_frees");
	p = mem_alloc(rt, node, bytes);
	is(touch_and_count(p, bytes, node), pages,
	   "node %d: all pages of %llu MiB", node,
	   (unsigned long long)(bytes / MEM_MIB));
	mem_on_node(from, free_one, p);
	is(mem_stat(rt, node, "memory.remote_frees") - remote, 1,
	   "node %d: freed by a thread of node %d", node, from);
	again = mem_alloc(rt, node, bytes);
	is(touch_and_count(again, bytes, node), pages,
	   "node %d: and once more after that", node);
	lkdf_free(rt, again);
}

/*
 * A full node hands over to the next one, test_exhaust is about that: here each
 * must have room, and above it what the kernel holds back, and its lists of
 * each CPU.
 */
static void large_blocks_are_on_their_nodes(void *u)
{
	uint64_t bytes = *(const uint64_t *)u;
	int64_t want = (int64_t)(bytes / MEM_MIB) + 24;
	int i, node;

	for (i = 0; i < nr_mem_nodes; i++) {
		node = mem_node[i];
		ok(mem_free_mib(node) >= want,
		   "node %d has room: %lld MiB, %lld wanted", node,
		   (long long)mem_free_mib(node), (long long)want);
		large_block_is_on_its_node(node, bytes);
	}
}

/* Where it may run when it opens tells a runtime its nodes: not one of them. */
static void large_blocks_of_all_sizes(void)
{
	static uint64_t bytes[] = { 4 * MEM_MIB, 9 * MEM_MIB, 24 * MEM_MIB,
				    64 * MEM_MIB };
	unsigned s;

	/* What was freed stays with a runtime, and takes up its node. */
	for (s = 0; s < sizeof(bytes) / sizeof(*bytes); s++) {
		rt = api_open("workers=1");
		mem_on_node(mem_cpu_node[0], large_blocks_are_on_their_nodes,
			    &bytes[s]);
		must(lkdf_close(rt));
	}
}

/* Most and least pages of a node; no node without memory has any. */
static uint64_t spread_of(const struct mem_pages *s)
{
	uint64_t min = UINT64_MAX, max = 0;
	int i;

	for (i = 0; i < nr_mem_nodes; i++) {
		min = s->on[mem_node[i]] < min ? s->on[mem_node[i]] : min;
		max = s->on[mem_node[i]] > max ? s->on[mem_node[i]] : max;
	}
	return max - min;
}

static void interleaved_memory_is_dealt(const char *options, uint64_t block)
{
	uint64_t bytes = 4 * MEM_MIB * (unsigned)nr_mem_nodes;
	struct lkdf *r = api_open(options);
	struct mem_pages s;
	void *p;

	must(lkdf_alloc(lkdf_place_node(r, mem_node[0]), LKDF_MEM_INTERLEAVED,
			bytes, 0, NULL, &p));
	mem_touch(p, bytes, 1);
	s = mem_where(p, bytes, -1);
	is(s.wrong, bytes / MEM_PAGE, "%s: all pages are there", options);
	ok(spread_of(&s) <= block,
	   "%s: nodes differ by %llu pages, at most %llu", options,
	   (unsigned long long)spread_of(&s), (unsigned long long)block);
	lkdf_free(r, p);
	must(lkdf_close(r));
}

static int64_t locked_kib(void)
{
	return mem_field("/proc/self/status", "VmLck");
}

/* Before anybody has touched it. */
static void pinned_memory_is_there(void)
{
	int64_t before = locked_kib();
	uint64_t bytes = 6 * MEM_MIB;
	struct mem_pages s;
	void *p;
	int i;

	for (i = 0; i < nr_mem_nodes; i++) {
		must(lkdf_alloc(place(i), LKDF_MEM_HOST_PINNED, bytes, 0, NULL,
				&p));
		ok(locked_kib() - before >= (int64_t)(bytes >> 10),
		   "node %d: VmLck has grown by %lld KiB", mem_node[i],
		   (long long)(locked_kib() - before));
		s = mem_where(p, bytes, mem_node[i]);
		is(s.right, bytes / MEM_PAGE,
		   "node %d: all pages are there, untouched", mem_node[i]);
		lkdf_free(rt, p);
		is(locked_kib(), before, "node %d: and nothing is left",
		   mem_node[i]);
	}
}

/* As the kernel says it of the mapping: huge pages, and what it was told. */
static int64_t huge_kib(const void *p, bool *is_told, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long first, end;
	bool is_it = false;
	long long kib = -1;
	char text[512];

	*is_told = false;
	while (f && fgets(text, sizeof(text), f)) {
		if (sscanf(text, "%lx-%lx ", &first, &end) == 2)
			is_it = first <= (uintptr_t)p && (uintptr_t)p < end;
		if (is_it)
			sscanf(text, "AnonHugePages: %lld", &kib);
		if (is_it && !strncmp(text, "VmFlags:", 8))
			*is_told = strstr(text, flag) != NULL;
	}
	if (f)
		fclose(f);
	return kib;
}

static void huge_pages_are_by_option(const char *options, bool is_huge)
{
	struct lkdf *r = api_open(options);
	uint64_t bytes = 8 * MEM_MIB;
	int node = mem_node[1];
	bool is_told;
	int64_t kib;
	void *p;

	vm_write("/proc/sys/vm/compact_memory", "1");
	p = mem_alloc(r, node, bytes);
	is(touch_and_count(p, bytes, node), bytes / MEM_PAGE,
	   "%s: all pages are on node %d", options, node);
	kib = huge_kib(p, &is_told, is_huge ? " hg" : " nh");
	ok(is_told, "%s: the kernel is told", options);
	/* How many of them it finds in one piece is up to the kernel. */
	is(kib > 0, is_huge, "%s: %lld KiB in huge pages", options,
	   (long long)kib);
	lkdf_free(r, p);
	must(lkdf_close(r));
}

/* Below 512 MiB the kernel begins with "never". */
static void huge_pages_are_as_asked_for(void)
{
	bool is_never = strstr(vm_read(THP), "[never]") != NULL;

	if (is_never)
		vm_write(THP, "madvise");
	interleaved_memory_is_dealt("workers=1,memory_huge=never", 1);
	interleaved_memory_is_dealt("workers=1,memory_huge=always", 512);
	huge_pages_are_by_option("workers=1,memory_huge=always", true);
	huge_pages_are_by_option("workers=1,memory_huge=never", false);
	if (is_never)
		vm_write(THP, "never");
}

int main(void)
{
	mem_start(90);
	large_blocks_of_all_sizes();
	rt = api_open("workers=1");
	mem_run_on(mem_cpu_node[0]);
	pinned_memory_is_there();
	remote_frees_are_counted();
	blocks_freed_elsewhere_never_change_their_node();
	must(lkdf_close(rt));
	huge_pages_are_as_asked_for();
	return tap_end();
}
