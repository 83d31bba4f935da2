/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Children: their arguments are copied at once, drop runs once for each, a
 * graph's task ends with all its descendants, bursts after a silence find
 * workers awake.
 */
#include "tests/api/api.h"

static const int worker_counts[] = { 1, 2, 8 };
static const uint32_t sizes[] = { 1, 8, 63, 64, 65, 4096 };

static struct lkdf_kind *sized_kind[6];
static atomic_int nr_good, nr_dropped;

static bool is_filled(const unsigned char *p, uint32_t size)
{
	uint32_t i;

	for (i = 1; i < size; i++) {
		if (p[i] != (unsigned char)(p[0] + i))
			return false;
	}
	return true;
}

static void fill(unsigned char *p, uint32_t size, int seed)
{
	uint32_t i;

	for (i = 0; i < size; i++)
		p[i] = (unsigned char)((uint32_t)seed + i);
}

#define CHECK(n)                                                         \
	static int check_##n(struct lkdf_ctx *c, void *arg)              \
	{                                                                \
		(void)c;                                                 \
		atomic_fetch_add(&nr_good, is_filled(arg, sizes[n]));    \
		return 0;                                                \
	}                                                                \
	static void drop_##n(void *arg)                                  \
	{                                                                \
		atomic_fetch_add(&nr_dropped, is_filled(arg, sizes[n])); \
	}

CHECK(0)
CHECK(1)
CHECK(2)
CHECK(3)
CHECK(4)
CHECK(5)

static const lkdf_fn check_fn[] = { check_0, check_1, check_2,
				    check_3, check_4, check_5 };
static void (*const drop_fn[])(void *) = { drop_0, drop_1, drop_2,
					   drop_3, drop_4, drop_5 };

#define ROUNDS 50

static int spawn_sizes(struct lkdf_ctx *c, void *arg)
{
	unsigned char buf[4096];
	int i, s;

	(void)arg;
	for (i = 0; i < ROUNDS * 6; i++) {
		s = i % 6;
		fill(buf, sizes[s], i);
		if (i % 2)
			must(lkdf_spawn(c, sized_kind[s], buf));
		else
			must(lkdf_spawn_task(c,
					     ATTR(lkdf_task,
						  .kind = sized_kind[s],
						  .arg = buf, .prio = i % 5),
					     NULL));
		memset(buf, 0xee, sizeof(buf));
	}
	return 0;
}

static void make_sized(struct lkdf *rt, uint32_t flags)
{
	int i;

	for (i = 0; i < 6; i++)
		must(lkdf_kind_create(rt,
				      ATTR(lkdf_kind_attr, .name = "sized",
					   .fn = check_fn[i],
					   .arg_size = sizes[i],
					   .drop = drop_fn[i], .flags = flags),
				      &sized_kind[i]));
}

static void put_sized(void)
{
	int i;

	for (i = 0; i < 6; i++)
		lkdf_kind_put(sized_kind[i]);
}

static void arguments_are_copied(struct lkdf *rt, uint32_t parent,
				 uint32_t child)
{
	struct lkdf_kind *k = api_kind(rt, "spawns", spawn_sizes, 0, parent);
	unsigned char buf[4096];
	int i;

	make_sized(rt, child);
	nr_good = nr_dropped = 0;
	is(api_call(rt, k, NULL), 0, "children of all sizes end well");
	is(nr_good, ROUNDS * 6, "each has the copy that it was given");
	is(nr_dropped, ROUNDS * 6, "and drops it once");
	for (i = 0; i < ROUNDS * 6; i++) {
		fill(buf, sizes[i % 6], i);
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = sized_kind[i % 6],
				      .arg = buf),
				 NULL));
		memset(buf, 0xee, sizeof(buf));
	}
	lkdf_scope_wait(rt, NULL, -1);
	is(nr_good, 2 * ROUNDS * 6, "submitted ones too");
	is(nr_dropped, 2 * ROUNDS * 6, "are dropped once");
	lkdf_kind_put(k);
	put_sized();
}

static void what_never_ran_is_dropped_too(struct lkdf *rt)
{
	struct gate gate = { 0 };
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	struct lkdf_graph *g = api_graph(rt, 2);
	unsigned char buf[4096];
	struct lkdf_scope *s;
	int i;

	make_sized(rt, 0);
	nr_good = nr_dropped = 0;
	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_graph_add(g, k, &gate, NULL, 0));
	for (i = 0; i < 60; i++) {
		fill(buf, sizes[i % 6], i);
		must(lkdf_graph_add(g, sized_kind[i % 6], buf, NULL, 0));
		must(lkdf_graph_order(g, i, i + 1));
	}
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, s, NULL, NULL));
	api_until(&gate.entered);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "a run is cancelled");
	is(nr_dropped, 0, "a graph keeps its arguments");
	is(api_run(g, s, ATTR(lkdf_run, .times = 3)), 0, "for the next runs");
	fill(buf, sizes[1], 9);
	must(lkdf_graph_set(g, 2, buf));
	is(nr_dropped, 1, "the one that is set anew is dropped");
	is(api_run(g, s, NULL), 0, "and its successor used");
	lkdf_graph_put(g);
	is(nr_good, 240, "every argument was whole in every run");
	is(nr_dropped, 61, "the graph drops each once");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	put_sized();
}

struct descend {
	int depth;
	atomic_int *nr;
};

static struct lkdf_kind *descend_kind;

static int descend(struct lkdf_ctx *c, void *arg)
{
	struct descend d = *(struct descend *)arg;
	int i;

	atomic_fetch_add(d.nr, 1);
	if (d.depth == 4)
		api_nap_ns(20000);
	for (i = 0; i < 4 && d.depth; i++)
		must(lkdf_spawn(c, descend_kind,
				&(struct descend){ d.depth - 1, d.nr }));
	return 0;
}

static int check_all(struct lkdf_ctx *c, void *arg)
{
	int nr = atomic_load((atomic_int *)arg);

	return nr == 341 * ((int)lkdf_seq(c) + 1) ? 0 : -EPROTO;
}

static void successors_wait_for_descendants(struct lkdf *rt, uint32_t flags)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int nr = 0;
	struct lkdf_kind *k, *root;

	descend_kind =
		api_kind(rt, "descend", descend, sizeof(struct descend), 0);
	root = api_kind(rt, "root", descend, sizeof(struct descend), flags);
	k = api_kind(rt, "check", check_all, 0, 0);
	must(lkdf_graph_add(g, root, &(struct descend){ 4, &nr }, NULL, 0));
	must(lkdf_graph_add(g, k, &nr, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 100)), 0,
	   "successors come after all descendants");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(root);
	lkdf_kind_put(descend_kind);
}

/* The course template's early stop: workers end after a few empty looks. */
static void workers_outlive_a_silence(struct lkdf *rt)
{
	atomic_int nr = 0;
	int i, want = 0;

	descend_kind =
		api_kind(rt, "descend", descend, sizeof(struct descend), 0);
	for (i = 0; i < 30; i++) {
		api_nap_ns(i % 6 == 5 ? 20000000 : i * 10000);
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = descend_kind,
				      .arg = &(struct descend){ i % 4, &nr }),
				 NULL));
		want += ((1 << 2 * (i % 4 + 1)) - 1) / 3;
		if (i % 3 == 0)
			lkdf_scope_wait(rt, NULL, -1);
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "bursts after silence end");
	is(nr, want, "with all their tasks");
	lkdf_kind_put(descend_kind);
}

static int spawn_with_event(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = *(struct lkdf_kind **)arg;
	static atomic_int nr;
	struct lkdf_event e;
	int i;

	atomic_store(&nr, 0);
	for (i = 0; i < 100; i++) {
		must(lkdf_spawn_task(c, ATTR(lkdf_task, .kind = k, .arg = &nr),
				     &e));
		if (i == 50)
			must(lkdf_join(c));
		lkdf_event_put(e);
	}
	must(lkdf_join(c));
	return atomic_load(&nr) == 100 ? 0 : -EPROTO;
}

static void children_may_have_events(struct lkdf *rt)
{
	struct lkdf_kind *k, *spawns;

	k = api_kind(rt, "child", api_count, 0, 0);
	spawns = api_kind(rt, "spawns", spawn_with_event, 0, 0);
	is(api_call(rt, spawns, &k), 0, "children with events are joined");
	lkdf_kind_put(k);
	lkdf_kind_put(spawns);
}

static void all_of_it(struct lkdf *rt)
{
	arguments_are_copied(rt, 0, 0);
	arguments_are_copied(rt, LKDF_BLOCKING, 0);
	arguments_are_copied(rt, 0, LKDF_BLOCKING);
	what_never_ran_is_dropped_too(rt);
	successors_wait_for_descendants(rt, 0);
	successors_wait_for_descendants(rt, LKDF_BLOCKING);
	workers_outlive_a_silence(rt);
	children_may_have_events(rt);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		all_of_it(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
