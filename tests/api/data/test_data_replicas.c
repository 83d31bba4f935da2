/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies for readers on other nodes: one for each node and version, dropped by
 * every kind of writer, and nobody sees anything but the values.
 */
#include "tests/api/data/moving.h"

static void readers_get_a_copy_each(void)
{
	struct lkdf_data *d = DATA(rt, .bytes = BYTES, .name = "copied",
				   .flags = LKDF_DATA_REPLICATE);
	uint64_t before = replicated();
	char *home = writes(0, d, 3).at;
	struct look l[4];
	int node, i, nr_same = 0, nr_odd = 0, nr_wrong = 0;

	for (node = 0; node < 4; node++) {
		l[node] = reads(node, d);
		nr_odd += (uintptr_t)l[node].at % 64 != 0;
		nr_wrong += l[node].value != 3 || l[node].is_mixed;
		for (i = 0; i < node; i++)
			nr_same += l[node].at == l[i].at;
	}
	ok(l[0].at == home, "a reader beside the bytes reads them");
	is(nr_same, 0, "each other node has a copy of its own");
	is(nr_odd, 0, "64-byte aligned");
	is(nr_wrong, 0, "of what was written");
	is(replicated() - before, 3 * BYTES, "three copies are counted");
	ok(reads(2, d).at == l[2].at, "the next reader there finds it");
	is(replicated() - before, 3 * BYTES, "which is no further copy");
	is(lkdf_data_version(d), 1, "nor a version");
	lkdf_data_put(d);
}

static struct lkdf_data *copied(uint64_t bytes)
{
	struct lkdf_data *d = DATA(rt, .bytes = bytes, .reduce = add_words,
				   .home = lkdf_place_node(rt, 0),
				   .flags = LKDF_DATA_REPLICATE);

	must(lkdf_data_acquire(d, LKDF_WRITE, -1, NULL));
	must(lkdf_data_release(d));
	return d;
}

static int set_all(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	fill_words(lkdf_ptr(c, 0), WORDS, 9);
	return 0;
}

static void run_on(struct lkdf_kind *k, struct lkdf_use use)
{
	must(submit_on(rt, k, NULL, use, NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* Whether the next reader on node 1 sees what was just written. */
static void is_seen(struct lkdf_data *d, uint64_t value, const char *by)
{
	struct look l = reads(1, d);

	is(l.value, value, "a copy is dropped by %s", by);
	ok(!l.is_mixed, "%s: all of it", by);
}

static void every_writer_drops_them(void)
{
	struct lkdf_kind *sets = api_kind(rt, "sets", set_all, 0, 0);
	struct lkdf_data *d = copied(BYTES);
	struct lkdf_graph *g;
	uint64_t *bytes;

	writes(2, d, 1);
	is_seen(d, 1, "WRITE");
	changes(0, d);
	is_seen(d, 2, "RW");
	on(3, bumps, d, LKDF_COMMUTE, 0);
	is_seen(d, 3, "COMMUTE");
	run_on(sets, ON(d, LKDF_REDUCE));
	is_seen(d, 12, "REDUCE");
	must(lkdf_data_acquire(d, LKDF_RW, -1, (void **)&bytes));
	fill_words(bytes, WORDS, 20);
	must(lkdf_data_release(d));
	is_seen(d, 20, "a thread");
	g = api_graph(rt, 1);
	must(add_on(g, sets, NULL, ON(d, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a graph runs");
	is_seen(d, 9, "a graph");
	lkdf_graph_put(g);
	lkdf_kind_put(sets);
	lkdf_data_put(d);
}

/* One word: the part's first. */
static int set_one(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) = (uintptr_t)arg;
	return 0;
}

static int first_of_last(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *v = lkdf_ptr(c, 0);

	*(uint64_t *)arg = v[WORDS / 4 * 3];
	return 0;
}

static void a_write_of_a_part_drops_them(void)
{
	struct lkdf_kind *one = api_kind(rt, "one", set_one, 0, 0);
	struct lkdf_kind *last = api_kind(rt, "last", first_of_last, 0, 0);
	struct lkdf_data *d = copied(BYTES);
	uint64_t before = replicated(), got = 0, i;
	struct lkdf_use use = ON(d, LKDF_READ);

	must(lkdf_data_split(d, 4, BYTES / 4));
	writes(0, d, 1);
	for (i = 5; i < 8; i++) {
		must(submit_on(rt, one, (void *)(uintptr_t)i,
			       ON_PART(d, LKDF_WRITE, 4), NULL));
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = last, .arg = &got,
				      .use = &use, .nr_use = 1,
				      .flags = LKDF_PINNED,
				      .place = lkdf_place_node(rt, 1)),
				 NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
		is(got, i, "a write of a part is seen by readers of all");
	}
	is(replicated() - before, 3 * BYTES, "who have a new copy each time");
	lkdf_data_put(d);
	lkdf_kind_put(one);
	lkdf_kind_put(last);
}

/* Reads, and says which bytes. */
static int note_at(struct lkdf_ctx *c, void *arg)
{
	*(void **)arg = lkdf_ptr(c, 0);
	return 0;
}

/* A parent that changes the bytes, and children that read them elsewhere. */
struct family {
	struct lkdf_data *d;
	struct look child[2];
	char *at;
};

static int parent(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_use use = ON(f->d, LKDF_READ);
	bool is_writer = f->child[0].value != 0;
	int i;

	f->at = lkdf_ptr(c, 0);
	for (i = 0; i < 2; i++) {
		if (is_writer)
			fill_words(lkdf_ptr(c, 0), WORDS, 30 + (uint64_t)i);
		must(lkdf_spawn_task(c,
				     ATTR(lkdf_task, .kind = checks,
					  .arg = &f->child[i], .use = &use,
					  .nr_use = 1, .flags = LKDF_PINNED,
					  .place = lkdf_place_node(rt, 1)),
				     NULL));
		must(lkdf_join(c));
	}
	return 0;
}

static void children_see_what_their_parent_does(void)
{
	struct lkdf_kind *k = api_kind(rt, "parent", parent, 0, 0);
	struct family f = { .d = copied(BYTES) };
	uint64_t before = replicated();

	writes(0, f.d, 1);
	f.child[0].value = 1;
	must(submit_on(rt, k, &f, ON(f.d, LKDF_RW), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(f.child[0].value, 30, "a child reads what its parent has written");
	is(f.child[1].value, 31, "and the next one what it has written then");
	is(replicated() - before, 0, "without copies");
	memset(f.child, 0, sizeof(f.child));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &f,
			      .use = &ON(f.d, LKDF_READ), .nr_use = 1,
			      .flags = LKDF_PINNED,
			      .place = lkdf_place_node(rt, 0)),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(f.child[0].at != f.at, "below one that only reads they have a copy");
	is(f.child[1].value, 31, "of the same");
	is(replicated() - before, BYTES, "one");
	lkdf_data_put(f.d);
	lkdf_kind_put(k);
}

/* A graph whose tasks have children that read, before and after a write. */
static void children_in_a_graph_see_its_writes(void)
{
	struct lkdf_kind *k = api_kind(rt, "parent", parent, 0, 0);
	struct lkdf_kind *sets = api_kind(rt, "sets", set_all, 0, 0);
	struct family f[2] = { { .d = copied(BYTES) } };
	struct lkdf_graph *g = api_graph(rt, 1);

	f[1].d = f[0].d;
	writes(0, f[0].d, 1);
	must(add_on(g, k, &f[0], ON(f[0].d, LKDF_READ)));
	must(add_on(g, sets, NULL, ON(f[0].d, LKDF_WRITE)));
	must(add_on(g, k, &f[1], ON(f[0].d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a graph runs");
	is(f[0].child[1].value, 1, "children before its writer see the old");
	is(f[1].child[1].value, 9, "children behind it the new");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(sets);
	lkdf_data_put(f[0].d);
}

static void small_ones_are_not_copied(void)
{
	struct lkdf_kind *notes = api_kind(rt, "notes", note_at, 0, 0);
	struct lkdf_data *d = copied(4095), *e = copied(4096);
	void *at[2] = { NULL, NULL }, *bytes;
	struct lkdf_data *both[2] = { d, e };
	uint64_t before = replicated();
	int i;

	for (i = 0; i < 2; i++) {
		struct lkdf_use use = ON(both[i], LKDF_READ);

		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = notes, .arg = &at[i],
				      .use = &use, .nr_use = 1,
				      .flags = LKDF_PINNED,
				      .place = lkdf_place_node(rt, 1)),
				 NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
		must(lkdf_data_acquire(both[i], LKDF_READ, -1, &bytes));
		ok((at[i] == bytes) == !i, "%d bytes are%s copied", 4095 + i,
		   i ? "" : " not");
		must(lkdf_data_release(both[i]));
	}
	is(replicated() - before, 4096, "which is counted");
	lkdf_data_put(d);
	lkdf_data_put(e);
	lkdf_kind_put(notes);
}

static uint64_t used(void)
{
	char name[64];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "lkdf.node.%d.memory.used", i);
		sum += stat_of(name);
	}
	return sum;
}

static void nothing_is_left(void)
{
	const uint64_t bytes = 4 << 20;
	uint64_t before = used();
	struct lkdf_data *d = copied(bytes);
	int i;

	for (i = 0; i < 4; i++)
		reads(i, d);
	ok(used() - before >= 4 * bytes, "four nodes hold the bytes");
	changes(0, d);
	ok(used() - before < 2 * bytes, "one after a write");
	for (i = 0; i < 4; i++)
		reads(i, d);
	lkdf_data_put(d);
	ok(used() - before < bytes, "none after the last put");
}

static void without_memory_they_read_the_original(void)
{
	const uint64_t bytes = 48 << 20;
	struct lkdf_data *d, *filler;
	char *home;
	struct look l;

	start("topology=numa:2 core:1,memory_limit=64");
	filler = DATA(rt, .bytes = bytes, .home = lkdf_place_node(rt, 1));
	writes(0, filler, 1);
	d = DATA(rt, .bytes = bytes,
		 .flags = LKDF_DATA_REPLICATE | LKDF_DATA_MIGRATE);
	home = writes(0, d, 4).at;
	l = reads(1, d);
	ok(l.at == home, "no memory for a copy: the original is read");
	is(l.value, 4, "and no task fails");
	ok(writes(1, d, 5).at == home, "nor for new bytes: they stay");
	is(replicated() + migrated(), 0, "nothing is counted");
	lkdf_data_put(filler);
	lkdf_data_put(d);
	stop();
}

static void prefetch_copies(void)
{
	struct lkdf_data *d = copied(BYTES);
	uint64_t before = replicated();
	struct look l;

	writes(0, d, 7);
	prefetch(d, 0);
	is(replicated() - before, 0, "where the bytes are none is made");
	prefetch(d, 1);
	is(replicated() - before, BYTES, "a prefetch makes a copy");
	l = reads(1, d);
	is(l.value, 7, "which the reader finds");
	is(replicated() - before, BYTES, "without making one");
	lkdf_data_put(d);
}

int main(void)
{
	tap_start(60);
	start("topology=numa:4 core:1");
	readers_get_a_copy_each();
	every_writer_drops_them();
	a_write_of_a_part_drops_them();
	children_see_what_their_parent_does();
	children_in_a_graph_see_its_writes();
	small_ones_are_not_copied();
	prefetch_copies();
	nothing_is_left();
	stop();
	without_memory_they_read_the_original();
	return tap_end();
}
