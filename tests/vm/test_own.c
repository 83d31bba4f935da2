/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime's own memory: a worker's stack, deques, records and scratch lie
 * on its node, and so do the records of a graph's tasks and the copies of
 * their kinds. On a node without memory there is nothing to lie on: its
 * workers are left out.
 */
#include "tests/vm/mem.h"

#include "core/home.h"
#include "core/runtime.h"
#include "run/frame.h"
#include "topo/topo.h"

#define PER_NODE 20000
#define FRAMES 2
#define SCRATCH_SIZE (256 << 10)

static struct lkdf *rt;
static void *scratch_of[VM_MAX_CPUS]; /* by worker; NULL: ran no body yet */

/* Touched pages, over all workers. */
enum piece {
	STACK,
	DEQUES,
	WORKER,
	EXECUTOR,
	SCRATCH,
	NR_PARTS
};

static const char *const piece_name[NR_PARTS] = { "stacks", "deques", "workers",
						  "executors", "scratch" };
static struct mem_pages piece[NR_PARTS];

static int os_node_of(const struct worker *w)
{
	return rt->topo->node[w->executor->node].os_node;
}

static void count_worker(struct worker *w)
{
	int node = os_node_of(w), i;
	struct deque *d;

	mem_count(&piece[STACK], stack_base(&w->stack), stack_size(&w->stack),
		  1, node);
	for (i = 0; i < NR_DEQUES; i++) {
		d = &w->deque[i];
		mem_count(&piece[DEQUES], (void *)(uintptr_t)d->slot,
			  ((uint64_t)d->mask + 1) * sizeof(d->slot[0]), 1,
			  node);
	}
	mem_count(&piece[WORKER], w, sizeof(*w), 1, node);
	mem_count(&piece[EXECUTOR], w->executor, sizeof(*w->executor), 1, node);
	if (scratch_of[w->id])
		mem_count(&piece[SCRATCH], scratch_of[w->id], SCRATCH_SIZE, 1,
			  node);
}

/* Binary tree: deques, stacks and scratch of all workers are used. */
#define DEEP 10

static struct lkdf_kind *tree;

static int tree_body(struct lkdf_ctx *c, void *arg)
{
	int deep = *(int *)arg - 1;
	char *scratch = lkdf_scratch(c);

	memset(scratch, deep, SCRATCH_SIZE);
	scratch_of[lkdf_worker(c)] = scratch;
	if (deep == 0)
		return 0;
	lkdf_spawn(c, tree, &deep);
	lkdf_spawn(c, tree, &deep);
	return lkdf_join(c);
}

/* Nothing runs now. */
static int nr_with_scratch(void)
{
	int nr = 0, i;

	for (i = 0; i < rt->sched.nr_workers; i++)
		nr += scratch_of[i] != NULL;
	return nr;
}

/*
 * Which worker runs what is chance, above all where the host gives its CPUs to
 * others: again, until each has run a body.
 */
static void use_all_workers(void)
{
	int want = vm_nr_workers(rt), deep = DEEP, rc = 0, i;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "tree",
				   .fn = tree_body, .arg_size = sizeof(int),
				   .scratch_size = SCRATCH_SIZE),
			      &tree));
	for (i = 0; i < 10000 && !rc && nr_with_scratch() < want; i++)
		rc = api_call(rt, tree, &deep);
	is(rc, 0, "%d trees of tasks run", i);
	is(nr_with_scratch(), want, "each worker has run a body");
	lkdf_kind_put(tree);
}

static void tell_share(const struct mem_pages *s, const char *what)
{
	uint64_t all = s->right + s->wrong;

	printf("# %s: %llu of %llu touched pages on their node\n", what,
	       (unsigned long long)s->right, (unsigned long long)all);
	ok(all > 0 && s->right * 100 >= all * 95,
	   "%s: 95 %% and more are on their node", what);
}

static void what_workers_own_is_on_their_node(void)
{
	int i, nr = 0;

	use_all_workers();
	for (i = 0; i < rt->sched.nr_workers; i++) {
		if (!vm.mib_of[os_node_of(&rt->sched.workers[i])])
			continue;
		count_worker(&rt->sched.workers[i]);
		nr++;
	}
	ok(nr > 1, "%d workers are on nodes with memory", nr);
	for (i = 0; i < NR_PARTS; i++)
		tell_share(&piece[i], piece_name[i]);
	ok(piece[SCRATCH].right >= (uint64_t)nr * (SCRATCH_SIZE / MEM_PAGE),
	   "each of them has scratch");
}

/* Tasks in turn on the nodes, each after the one before. */
static struct lkdf_graph *build(struct lkdf_kind *k, uint32_t flags)
{
	struct lkdf_graph *g = api_graph(rt, FRAMES);
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .flags = flags };
	int i, id;

	for (i = 0; i < PER_NODE * nr_mem_cpu_nodes; i++) {
		t.place =
			lkdf_place_node(rt, mem_cpu_node[i % nr_mem_cpu_nodes]);
		id = must(lkdf_graph_add_task(g, &t));
		if (i % 16)
			must(lkdf_graph_order(g, id - 1, id));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* Each 50th task: a page has the records of 128. */
static void records_are_on_their_nodes(uint32_t flags, const char *how)
{
	struct lkdf_kind *k =
		api_kind(rt, "nothing", api_nothing, 0, LKDF_SHARED);
	struct lkdf_graph *g = build(k, flags);
	struct mem_pages recs = { .right = 0 }, kinds = { .right = 0 };
	int i, f, node;
	struct rec *r;
	void *page;

	for (i = 0; i < 4; i++)
		is(api_run(g, NULL, NULL), 0, "%s: the graph runs", how);
	for (i = 0; i < PER_NODE * nr_mem_cpu_nodes; i += 50) {
		node = mem_cpu_node[i % nr_mem_cpu_nodes];
		for (f = 0; f < FRAMES && vm.mib_of[node]; f++) {
			r = &g->frames[f].recs[g->indices[i]];
			page = r;
			mem_ask(&recs, &page, 1, node);
			page = r->kind;
			mem_ask(&kinds, &page, 1, node);
		}
	}
	tell_share(&recs, how);
	tell_share(&kinds, "copies of their kind");
	is(recs.absent, 0, "%s: no record is absent", how);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

int main(void)
{
	mem_start(60);
	rt = api_open("");
	what_workers_own_is_on_their_node();
	records_are_on_their_nodes(LKDF_PINNED, "records of pinned tasks");
	records_are_on_their_nodes(0, "records of placed tasks");
	must(lkdf_close(rt));
	return tap_end();
}
