/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that live from their producer to their last reader: with no, one and
 * more readers than a use counts, in tasks with more uses than a context has
 * pointers, beside children, and produced on one node and read on another. Each
 * is dropped once, after its last reader, and nothing of it is left.
 */
#include "tests/api/heard.h"
#include "tests/api/using.h"

#define POISON 0xdeadull

static atomic_int nr_dropped;

/* Who reads after this has a wrong number. */
static void drop(void *bytes)
{
	*(uint64_t *)bytes = POISON;
	atomic_fetch_add(&nr_dropped, 1);
}

/* Numbers of tasks that ran and of values that were not the run's. */
struct seen {
	uint32_t nr_uses;
	atomic_int nr, nr_wrong;
};

static int produce(struct lkdf_ctx *c, void *arg)
{
	struct seen *s = *(struct seen **)arg;
	uint32_t i;

	for (i = 0; i < s->nr_uses; i++)
		*(uint64_t *)lkdf_ptr(c, i) = lkdf_seq(c) * 100 + i;
	return 0;
}

static int consume(struct lkdf_ctx *c, void *arg)
{
	struct seen *s = *(struct seen **)arg;
	uint32_t i;

	for (i = 0; i < s->nr_uses; i++)
		if (*(uint64_t *)lkdf_ptr(c, i) != lkdf_seq(c) * 100 + i)
			atomic_fetch_add(&s->nr_wrong, 1);
	atomic_fetch_add(&s->nr, 1);
	return 0;
}

struct program {
	struct lkdf *rt;
	struct lkdf_kind *puts, *gets;
	struct lkdf_graph *graph;
	struct lkdf_data *data[24];
	struct lkdf_use use[24];
	struct seen seen, *arg;
};

static void program_init(struct program *p, struct lkdf *rt, uint32_t nr_uses,
			 uint32_t inflight, void (*at_end)(void *))
{
	uint32_t i;

	*p = (struct program){ .rt = rt, .seen.nr_uses = nr_uses };
	p->arg = &p->seen;
	p->puts = api_kind(rt, "produces", produce, sizeof(p->arg), 0);
	p->gets = api_kind(rt, "consumes", consume, sizeof(p->arg), 0);
	p->graph = api_graph(rt, inflight);
	for (i = 0; i < nr_uses; i++)
		p->data[i] = DATA(rt, .bytes = sizeof(uint64_t),
				  .flags = LKDF_DATA_ONCE, .drop = at_end);
}

static void program_add(struct program *p, struct lkdf_kind *k, uint32_t mode)
{
	uint32_t i;

	for (i = 0; i < p->seen.nr_uses; i++)
		p->use[i] = ON(p->data[i], mode);
	must(lkdf_graph_add(p->graph, k, &p->arg, p->use, p->seen.nr_uses));
}

static void program_fini(struct program *p)
{
	uint32_t i;

	lkdf_graph_put(p->graph);
	for (i = 0; i < p->seen.nr_uses; i++)
		lkdf_data_put(p->data[i]);
	lkdf_kind_put(p->puts);
	lkdf_kind_put(p->gets);
}

static void readers_count(struct lkdf *rt, int readers, bool drops)
{
	struct program p;
	int i, runs = readers > 1000 ? 3 : 50;

	program_init(&p, rt, 1, 2, drops ? drop : NULL);
	nr_dropped = 0;
	for (i = 0; i < readers / 2; i++)
		program_add(&p, p.gets, LKDF_READ);
	program_add(&p, p.puts, LKDF_WRITE);
	for (; i < readers; i++)
		program_add(&p, p.gets, LKDF_READ);
	must(lkdf_graph_seal(p.graph, NULL));
	for (i = 0; i < runs; i++)
		must(lkdf_graph_run(p.graph, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%d readers: %d runs", readers,
	   runs);
	is(p.seen.nr, runs * readers, "%d readers: each ran", readers);
	is(p.seen.nr_wrong, 0, "%d readers: none after the drop", readers);
	is(nr_dropped, drops ? runs : 0, "%d readers: dropped once a run",
	   readers);
	program_fini(&p);
}

static void uses_count(struct lkdf *rt, uint32_t nr_uses, bool drops)
{
	struct program p;
	int i;

	program_init(&p, rt, nr_uses, 2, drops ? drop : NULL);
	nr_dropped = 0;
	program_add(&p, p.gets, LKDF_READ);
	program_add(&p, p.puts, LKDF_WRITE);
	program_add(&p, p.gets, LKDF_READ);
	must(lkdf_graph_seal(p.graph, NULL));
	for (i = 0; i < 40; i++)
		must(lkdf_graph_run(p.graph, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%u uses: 40 runs", nr_uses);
	is(p.seen.nr, 80, "%u uses: each task ran", nr_uses);
	is(p.seen.nr_wrong, 0, "%u uses: with its bytes, in order", nr_uses);
	is(nr_dropped, drops ? 40 * (int)nr_uses : 0, "%u uses: all dropped",
	   nr_uses);
	program_fini(&p);
}

/* ---- a body that is left and comes back --------------------------------- */

struct parent {
	struct lkdf_kind *child, *task;
	atomic_int nr_children, nr_wrong;
};

/* It has other pointers in the meantime. */
static int child_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

static int spawning_body(struct lkdf_ctx *c, void *arg)
{
	struct parent *p = *(struct parent **)arg;
	uint64_t *before[3];
	int i, round;

	for (i = 0; i < 3; i++) {
		before[i] = lkdf_ptr(c, (uint32_t)i);
		*before[i] = (uint64_t)i;
	}
	for (round = 0; round < 5; round++) {
		must(lkdf_spawn(c, p->child, &p->nr_children));
		must(lkdf_spawn(c, p->child, &p->nr_children));
		must(lkdf_join(c));
		for (i = 0; i < 3; i++)
			if (lkdf_ptr(c, (uint32_t)i) != before[i] ||
			    *before[i] != (uint64_t)i)
				atomic_fetch_add(&p->nr_wrong, 1);
	}
	return 0;
}

static int three_body(struct lkdf_ctx *c, void *arg)
{
	struct parent *p = *(struct parent **)arg;
	uint64_t i;

	for (i = 0; i < 3; i++)
		if (*(uint64_t *)lkdf_ptr(c, (uint32_t)i) != i)
			atomic_fetch_add(&p->nr_wrong, 1);
	return 0;
}

static void pointers_outlast_a_join(struct lkdf *rt)
{
	struct parent p = { 0 }, *arg = &p;
	struct lkdf_kind *spawns, *reads;
	struct lkdf_graph *g = api_graph(rt, 4);
	struct lkdf_data *d[3];
	struct lkdf_use use[3];
	int i, j;

	p.child = api_kind(rt, "child", child_body, 0, 0);
	spawns = api_kind(rt, "spawns", spawning_body, sizeof(arg), 0);
	reads = api_kind(rt, "reads", three_body, sizeof(arg), 0);
	for (i = 0; i < 8; i++) {
		for (j = 0; j < 3; j++) {
			d[j] = DATA(rt, .bytes = 8, .flags = LKDF_DATA_ONCE);
			use[j] = ON(d[j], LKDF_WRITE);
		}
		must(lkdf_graph_add(g, spawns, &arg, use, 3));
		for (j = 0; j < 3; j++)
			use[j] = ON(d[j], LKDF_READ);
		must(lkdf_graph_add(g, reads, &arg, use, 3));
		for (j = 0; j < 3; j++)
			lkdf_data_put(d[j]);
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 20)), 0,
	   "bodies with bytes that spawn and join");
	is(p.nr_children, 20 * 8 * 10, "all children ran");
	is(p.nr_wrong, 0, "pointers and bytes are the same after a join");
	lkdf_graph_put(g);
	lkdf_kind_put(spawns);
	lkdf_kind_put(reads);
	lkdf_kind_put(p.child);
}

/* ---- tasks without such bytes ------------------------------------------- */

static int put_byte(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(char *)lkdf_ptr(c, 0) = 1;
	return 0;
}

/* Counts who has a pointer. */
static int counts_pointer(struct lkdf_ctx *c, void *arg)
{
	if (lkdf_ptr(c, 0))
		atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

/* Tasks that follow one another on a worker: each has its own bytes. */
static void others_have_their_own(struct lkdf *rt)
{
	struct lkdf_data *brief = DATA(rt, .bytes = 1, .flags = LKDF_DATA_ONCE);
	struct lkdf_data *x = number(rt, "x", &(uint64_t){ 0 });
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *puts, *adds, *counts;
	atomic_int nr_with = 0, *with = &nr_with;
	int32_t a, b;
	int i;

	puts = api_kind(rt, "puts", put_byte, 0, 0);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	counts = api_kind(rt, "counts", counts_pointer, sizeof(with), 0);
	a = must(add_on(g, puts, NULL, ON(brief, LKDF_WRITE)));
	for (i = 0; i < 50; i++) {
		b = must(lkdf_graph_add(g, counts, &with, NULL, 0));
		must(lkdf_graph_order(g, a, b));
		a = must(add_on(g, adds, NULL, ON(x, LKDF_RW)));
		must(lkdf_graph_order(g, b, a));
		b = must(lkdf_graph_add(g, counts, &with, NULL, 0));
		must(lkdf_graph_order(g, a, b));
		b = must(add_on(g, counts, &with, ON(brief, LKDF_READ)));
		must(lkdf_graph_order(g, a, b));
		a = b;
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 20)), 0,
	   "tasks with brief bytes, with others and without");
	is(value_of(x), 1000, "the other data is that of its tasks");
	is(nr_with, 50 * 20, "who has no use has no pointer");
	lkdf_graph_put(g);
	lkdf_data_put(brief);
	lkdf_data_put(x);
	lkdf_kind_put(puts);
	lkdf_kind_put(adds);
	lkdf_kind_put(counts);
}

/* ---- memory ------------------------------------------------------------- */

static uint64_t used_of(struct lkdf *rt, int nodes)
{
	char name[64];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < nodes; i++) {
		snprintf(name, sizeof(name), "lkdf.node.%d.memory.used", i);
		sum += stat_of(rt, name);
	}
	return sum;
}

/* Bytes of one node, freed by a worker of another. */
static void nothing_is_left(const char *options, int nodes, uint64_t bytes)
{
	struct lkdf *rt = api_open(options);
	uint64_t before = used_of(rt, nodes);
	struct program p;
	int i, j;

	program_init(&p, rt, 0, 4, NULL);
	p.seen.nr_uses = 1;
	for (i = 0; i < 16; i++) {
		p.data[0] = DATA(rt, .bytes = bytes, .flags = LKDF_DATA_ONCE);
		must(lkdf_graph_add_task(
			p.graph,
			ATTR(lkdf_task, .kind = p.puts, .arg = &p.arg,
			     .use = &ON(p.data[0], LKDF_WRITE), .nr_use = 1,
			     .flags = LKDF_PINNED,
			     .place = lkdf_place_node(rt, i % nodes))));
		for (j = 0; j < 3; j++)
			must(lkdf_graph_add_task(
				p.graph,
				ATTR(lkdf_task, .kind = p.gets, .arg = &p.arg,
				     .use = &ON(p.data[0], LKDF_READ),
				     .nr_use = 1, .flags = LKDF_PINNED,
				     .place = lkdf_place_node(
					     rt, (i + j) % nodes))));
		lkdf_data_put(p.data[0]);
	}
	p.seen.nr_uses = 1;
	must(lkdf_graph_seal(p.graph, NULL));
	is(api_run(p.graph, NULL, ATTR(lkdf_run, .times = 200)), 0,
	   "%s: %llu bytes back and forth", options, (unsigned long long)bytes);
	is(p.seen.nr, 200 * 16 * 3, "%s: all ran", options);
	is(p.seen.nr_wrong, 0, "%s: with their bytes", options);
	p.seen.nr_uses = 0;
	program_fini(&p);
	is(used_of(rt, nodes), before, "%s: no byte is left", options);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

struct memory {
	struct lkdf *rt;
	uint64_t used;
};

static int look_at_memory(struct lkdf_ctx *c, void *arg)
{
	struct memory *m = arg;

	(void)c;
	m->used = used_of(m->rt, 1);
	return 0;
}

/* One after another, so that a run never needs more than a few of them. */
static void bytes_go_with_their_readers(struct lkdf *rt, int readers)
{
	enum {
		NR = 200,
		BYTES = 16 << 10
	};
	struct lkdf_kind *looks = api_kind(rt, "looks", look_at_memory, 0, 0);
	struct memory m = { .rt = rt };
	uint64_t before = used_of(rt, 1);
	struct lkdf_data *d;
	int i, j, first = 0, task;
	struct program p;

	program_init(&p, rt, 0, 1, NULL);
	p.seen.nr_uses = 1;
	for (i = 0; i <= NR; i++) {
		d = DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_ONCE);
		if (i < NR)
			task = add_on(p.graph, p.puts, &p.arg,
				      ON(d, LKDF_WRITE));
		else
			task = lkdf_graph_add(p.graph, looks, &m, NULL, 0);
		for (j = first; j < must(task); j++)
			must(lkdf_graph_order(p.graph, j, task));
		first = task;
		for (j = 0; i < NR && j < readers; j++)
			must(add_on(p.graph, p.gets, &p.arg, ON(d, LKDF_READ)));
		lkdf_data_put(d);
	}
	must(lkdf_graph_seal(p.graph, NULL));
	is(api_run(p.graph, NULL, ATTR(lkdf_run, .times = 20)), 0,
	   "%d readers, %d values of %d KiB", readers, NR, BYTES >> 10);
	ok(m.used < before + NR / 2 * (uint64_t)BYTES,
	   "%d readers: gone with the last", readers);
	is(p.seen.nr_wrong, 0, "%d readers: none was without", readers);
	p.seen.nr_uses = 0;
	program_fini(&p);
	lkdf_kind_put(looks);
}

int main(void)
{
	static const int readers[] = { 0, 1, 2, 3, 16, 70000 };
	static const uint32_t uses[] = { 2, 16, 17, 20 };
	struct lkdf *rt;
	int workers;
	size_t i;

	tap_start(120);
	for (workers = 1; workers <= 4; workers += 3) {
		rt = api_open_workers(workers);
		for (i = 0; i < LENGTH(readers); i++) {
			readers_count(rt, readers[i], true);
			readers_count(rt, readers[i], false);
		}
		for (i = 0; i < LENGTH(uses); i++) {
			uses_count(rt, uses[i], true);
			uses_count(rt, uses[i], false);
		}
		for (i = 0; i < 4; i++)
			bytes_go_with_their_readers(rt, (int)i);
		pointers_outlast_a_join(rt);
		others_have_their_own(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	nothing_is_left("workers=1", 1, 8);
	nothing_is_left("topology=numa:2 core:2", 2, 8);
	nothing_is_left("topology=numa:2 core:2", 2, 5000);
	nothing_is_left("topology=numa:2 core:2", 2, 3 << 20);
	return tap_end();
}
