/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that follow their tasks, copies for readers on other nodes, and
 * prefetch: where the pages are then, as the kernel says.
 */
#include "tests/vm/hints.h"
#include "tests/vm/mem.h"

#include <lkdf/data.h>
#include <sys/mman.h>

#define BYTES ((uint64_t)1 << 20)

static struct lkdf *rt;
static struct lkdf_kind *fills, *sums;
static bool in_graphs; /* each task is one of a sealed graph */

/* What a body is told, and finds. */
struct look {
	char value;
	char *at;
	uint64_t bytes, nr_wrong;
};

static int fill(struct lkdf_ctx *c, void *arg)
{
	struct look *l = *(struct look **)arg;

	l->at = lkdf_ptr(c, 0);
	memset(l->at, l->value, l->bytes);
	return 0;
}

/* Counts what is not the value. */
static int sum(struct lkdf_ctx *c, void *arg)
{
	struct look *l = *(struct look **)arg;
	uint64_t i;

	l->at = lkdf_ptr(c, 0);
	for (i = 0; i < l->bytes; i += 64)
		l->nr_wrong += l->at[i] != l->value;
	return 0;
}

/* One task on a node, waited for. */
static void run_on(int node, struct lkdf_kind *k, struct look *arg,
		   struct lkdf_use use)
{
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = k,
		.arg = &arg,
		.use = &use,
		.nr_use = 1,
		.flags = LKDF_PINNED,
		.place = lkdf_place_node(rt, node),
	};
	struct lkdf_graph *g;

	if (in_graphs) {
		must(lkdf_graph_create(rt, NULL, &g));
		must(lkdf_graph_add_task(g, &t));
		must(lkdf_graph_seal(g, NULL));
		must(lkdf_graph_run(g, NULL, NULL, NULL));
		lkdf_graph_put(g);
	} else {
		must(lkdf_submit(rt, NULL, &t, NULL));
	}
	must(lkdf_scope_wait(rt, NULL, -1));
}

static struct look use_on(int node, struct lkdf_kind *k, struct lkdf_data *d,
			  uint32_t mode, char value)
{
	struct look l = { .value = value, .bytes = BYTES };

	run_on(node, k, &l, (struct lkdf_use){ .data = d, .mode = mode });
	return l;
}

static void write_on(int node, struct lkdf_data *d, char value)
{
	use_on(node, fills, d, LKDF_WRITE, value);
}

/* Bytes that the pages of the data have on a node. */
static uint64_t bytes_on(struct lkdf_data *d, int node)
{
	uint64_t on[VM_MAX_NODES] = { 0 };

	must(lkdf_data_where(d, on, VM_MAX_NODES));
	return on[node];
}

static void all_on(struct lkdf_data *d, int node, const char *what)
{
	is(bytes_on(d, node), BYTES, "%s: all bytes are on node %d", what,
	   node);
}

static struct lkdf_data *data_of(uint32_t flags, void *wrap)
{
	struct lkdf_data *d;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = BYTES,
				   .flags = flags, .wrap = wrap),
			      &d));
	return d;
}

static void prefetch(struct lkdf_data *d, int node)
{
	struct lkdf_event done;

	must(lkdf_data_prefetch(d, lkdf_place_node(rt, node), &done));
	must(lkdf_event_wait(done, -1));
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* A graph makes pages that come where they are touched, a task a block. */
static void own_bytes_follow(int home, int other, bool made_by_graph)
{
	struct lkdf_data *d = data_of(LKDF_DATA_MIGRATE, NULL);
	bool then = in_graphs;

	in_graphs = made_by_graph;
	write_on(home, d, 1);
	in_graphs = then;
	all_on(d, home, "a first write");
	write_on(other, d, 2);
	all_on(d, other, "a write from another node");
	use_on(home, fills, d, LKDF_RW, 3);
	all_on(d, other, "one change from elsewhere");
	use_on(home, fills, d, LKDF_RW, 4);
	all_on(d, home, "two changes");
	use_on(other, sums, d, LKDF_READ, 4);
	use_on(other, sums, d, LKDF_READ, 4);
	all_on(d, other, "two readers");
	is(use_on(home, sums, d, LKDF_READ, 4).nr_wrong, 0,
	   "and they hold what was written");
	lkdf_data_put(d);
}

static char *map(uint64_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		vm_die("cannot map", "memory");
	return p;
}

static void wrapped_bytes_follow(int home, int other)
{
	char *bytes = map(BYTES);
	struct lkdf_data *d = data_of(LKDF_DATA_MIGRATE, bytes);

	write_on(home, d, 1);
	all_on(d, home, "wrapped, a first write");
	write_on(other, d, 2);
	all_on(d, other, "wrapped, a write from another node");
	use_on(home, sums, d, LKDF_RW, 2);
	use_on(home, sums, d, LKDF_RW, 2);
	all_on(d, home, "wrapped, two changes");
	use_on(other, sums, d, LKDF_READ, 2);
	use_on(other, sums, d, LKDF_READ, 2);
	all_on(d, other, "wrapped, two readers");
	ok(use_on(other, sums, d, LKDF_READ, 2).at == bytes,
	   "wrapped, they keep their address");
	lkdf_data_put(d);
	munmap(bytes, BYTES);
}

/* The first and the last page are shared with what is beside. */
static void only_whole_pages_move(int home, int other)
{
	char *bytes = map(BYTES + 2 * MEM_PAGE);
	struct lkdf_data *d = data_of(LKDF_DATA_MIGRATE, bytes + 64);

	madvise(bytes, BYTES + 2 * MEM_PAGE, MADV_NOHUGEPAGE);
	write_on(home, d, 1);
	write_on(other, d, 2);
	is(bytes_on(d, home), MEM_PAGE, "pages in part stay");
	is(bytes_on(d, other), BYTES - MEM_PAGE, "the others move");
	lkdf_data_put(d);
	munmap(bytes, BYTES + 2 * MEM_PAGE);
}

static void readers_have_pages_of_their_own(int home, int other)
{
	struct lkdf_data *d = data_of(LKDF_DATA_REPLICATE, NULL);
	struct look l;

	write_on(home, d, 5);
	l = use_on(other, sums, d, LKDF_READ, 5);
	is(mem_where(l.at, BYTES, other).right, BYTES / MEM_PAGE,
	   "a reader's copy is on its node %d", other);
	is(l.nr_wrong, 0, "and holds what was written");
	all_on(d, home, "the original");
	write_on(home, d, 6);
	is(use_on(other, sums, d, LKDF_READ, 6).nr_wrong, 0,
	   "the next version is copied anew");
	lkdf_data_put(d);
}

static void prefetch_brings_them(int home)
{
	struct lkdf_data *d = data_of(0, NULL), *w;
	char *bytes = map(BYTES);
	int i;

	w = data_of(0, bytes);
	write_on(home, d, 7);
	write_on(home, w, 8);
	for (i = 0; i < nr_mem_nodes; i++) {
		prefetch(d, mem_node[i]);
		all_on(d, mem_node[i], "prefetch");
		prefetch(w, mem_node[i]);
		all_on(w, mem_node[i], "prefetch, wrapped");
	}
	is(use_on(home, sums, d, LKDF_READ, 7).nr_wrong, 0, "as they were");
	is(use_on(home, sums, w, LKDF_READ, 8).nr_wrong, 0, "both");
	lkdf_data_put(d);
	lkdf_data_put(w);
	munmap(bytes, BYTES);
}

/* Bytes whose pages come where each part is touched first. */
static void prefetch_brings_parts(int home, int other)
{
	struct lkdf_data *d = data_of(0, NULL);
	struct look l = { .value = 9, .bytes = BYTES / 4 }, *arg = &l;
	struct lkdf_use use = { .data = d, .mode = LKDF_WRITE };
	int i;

	must(lkdf_data_split(d, 4, BYTES / 4));
	for (i = 0; i < 4; i++) {
		use.part = (uint32_t)i + 1;
		must(lkdf_submit(
			rt, NULL,
			ATTR(lkdf_task, .kind = fills, .arg = &arg, .use = &use,
			     .nr_use = 1, .flags = LKDF_PINNED,
			     .place =
				     lkdf_place_node(rt, i % 2 ? home : other)),
			NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
	}
	is(bytes_on(d, home), BYTES / 2, "half of the parts are on each node");
	prefetch(d, other);
	all_on(d, other, "prefetch of parts");
	is(use_on(home, sums, d, LKDF_READ, 9).nr_wrong, 0, "as they were");
	lkdf_data_put(d);
}

/* A use of a part on a node, waited for. */
static void part_on(int node, struct lkdf_data *d, uint32_t part, uint32_t mode)
{
	struct look l = { .value = 1, .bytes = BYTES / 4 };

	run_on(node, mode == LKDF_WRITE ? fills : sums, &l,
	       (struct lkdf_use){ d, mode, part });
}

static void parts_follow(int home, int other, char *wrap, const char *what)
{
	struct lkdf_data *d = data_of(LKDF_DATA_MIGRATE, wrap);
	uint32_t i;

	must(lkdf_data_split(d, 4, BYTES / 4));
	for (i = 1; i <= 4; i++)
		part_on(home, d, i, LKDF_WRITE);
	all_on(d, home, what);
	part_on(other, d, 1, LKDF_WRITE);
	is(bytes_on(d, other), BYTES / 4, "%s: a part follows its writer",
	   what);
	part_on(other, d, 2, LKDF_RW);
	part_on(other, d, 2, LKDF_RW);
	is(bytes_on(d, other), BYTES / 2, "%s: another two changes", what);
	part_on(other, d, 3, LKDF_READ);
	part_on(other, d, 3, LKDF_READ);
	is(bytes_on(d, other), BYTES / 4 * 3, "%s: a third two readers", what);
	part_on(home, d, 1, LKDF_RW);
	is(bytes_on(d, other), BYTES / 4 * 3, "%s: one change is no reason",
	   what);
	is(use_on(home, sums, d, LKDF_READ, 1).nr_wrong, 0,
	   "%s: they hold what was written", what);
	lkdf_data_put(d);
}

static void wrapped_parts_follow(int home, int other)
{
	char *bytes = map(BYTES);

	madvise(bytes, BYTES, MADV_NOHUGEPAGE);
	parts_follow(home, other, bytes, "wrapped parts");
	munmap(bytes, BYTES);
}

static void interleaved_bytes_are_spread(int home)
{
	struct lkdf_data *d;
	void *at;
	int i;

	must(lkdf_alloc(lkdf_place_node(rt, home), LKDF_MEM_INTERLEAVED, BYTES,
			MEM_PAGE, "spread", &at));
	d = data_of(LKDF_DATA_MIGRATE, at);
	write_on(home, d, 1);
	for (i = 0; i < nr_mem_nodes; i++)
		ok(bytes_on(d, mem_node[i]) >= BYTES / VM_MAX_NODES,
		   "node %d has its share of interleaved bytes", mem_node[i]);
	use_on(home, sums, d, LKDF_RW, 1);
	use_on(home, sums, d, LKDF_RW, 1);
	all_on(d, home, "interleaved, two changes");
	lkdf_data_put(d);
	lkdf_free(rt, at);
}

/* A node that has none. */
static void nothing_goes_where_no_memory_is(int home, int bare)
{
	struct lkdf_data *d =
		data_of(LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE, NULL);

	write_on(home, d, 1);
	is(use_on(bare, sums, d, LKDF_READ, 1).nr_wrong, 0,
	   "node %d has no memory: its reader reads the original", bare);
	write_on(bare, d, 2);
	all_on(d, home, "written from there");
	prefetch(d, bare);
	all_on(d, home, "prefetched to there");
	lkdf_data_put(d);
}

/* Linux 6.1 moves no pages that wait for a hint. Half of them are absent. */
static void hinted_pages_move(int home, int other)
{
	int half = (int)(BYTES / MEM_PAGE / 2), hidden = 0, tries = 0;
	char *bytes = map(BYTES);
	struct lkdf_data *d;

	if (!hints_start()) {
		skip("hinted pages move", "a kernel without AutoNUMA");
		return;
	}
	madvise(bytes, BYTES, MADV_NOHUGEPAGE);
	d = data_of(0, bytes);
	write_on(home, d, 1);
	madvise(bytes + BYTES / 2, BYTES / 2, MADV_DONTNEED);
	/* The first ones may be other pages of this process. */
	while (hints_wait(half) && hints_hide() && hidden < half / 2 &&
	       tries++ < 5)
		hidden = hints_hidden(bytes, BYTES / 2);
	printf("# %d of %d pages are hidden\n", hidden, half);
	prefetch(d, other);
	is(bytes_on(d, other), BYTES / 2, "hinted pages move");
	is(hints_hidden(bytes, BYTES), half, "absent pages stay absent");
	lkdf_data_put(d);
	munmap(bytes, BYTES);
}

static void start(const char *options)
{
	rt = api_open(options);
	fills = api_kind(rt, "fills", fill, sizeof(struct look *), 0);
	sums = api_kind(rt, "sums", sum, sizeof(struct look *), 0);
}

static void stop(void)
{
	lkdf_kind_put(fills);
	lkdf_kind_put(sums);
	must(lkdf_close(rt));
}

static void in_graphs_they_do(int home, int other)
{
	in_graphs = true;
	own_bytes_follow(home, other, false);
	own_bytes_follow(home, other, true);
	wrapped_bytes_follow(home, other);
	only_whole_pages_move(home, other);
	readers_have_pages_of_their_own(home, other);
	parts_follow(home, other, NULL, "parts, in graphs");
	wrapped_parts_follow(home, other);
	in_graphs = false;
}

int main(void)
{
	int i, home = -1, other = -1;

	mem_start(60);
	hints_off();
	start("spin_us=0");
	for (i = 0; i < nr_mem_cpu_nodes; i++) {
		if (vm.mib_of[mem_cpu_node[i]]) {
			home = home < 0 ? mem_cpu_node[i] : home;
			other = mem_cpu_node[i];
		}
	}
	own_bytes_follow(home, other, false);
	wrapped_bytes_follow(home, other);
	only_whole_pages_move(home, other);
	readers_have_pages_of_their_own(home, other);
	prefetch_brings_them(home);
	prefetch_brings_parts(home, other);
	parts_follow(home, other, NULL, "parts");
	hinted_pages_move(home, other);
	wrapped_parts_follow(home, other);
	in_graphs_they_do(home, other);
	for (i = 0; i < nr_mem_cpu_nodes; i++)
		if (!vm.mib_of[mem_cpu_node[i]])
			nothing_goes_where_no_memory_is(home, mem_cpu_node[i]);
	stop();
	/* Page by page. */
	start("spin_us=0,memory_huge=never");
	interleaved_bytes_are_spread(home);
	stop();
	return tap_end();
}
