/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that follow the tasks of sealed graphs, and copies that those read: how
 * often, and that nobody sees anything but the values. The nodes are made up:
 * where pages really are is asked in tests/vm/test_moves.c.
 */
#include "tests/api/data/moving.h"

#define NODES 4

/* ---- one graph, some tasks on nodes ------------------------------------- */

struct step {
	struct lkdf_kind *k;
	int node; /* -1: anywhere */
	uint32_t mode;
	uint64_t value; /* to write, or expected of who reads */
	struct look look;
};

/* Its body leaves it to a child. */
struct leaver {
	struct lkdf_data *d;
	struct look child;
};

static bool reads_first(const struct step *s)
{
	return s->k != fills;
}

static void add_step(struct lkdf_graph *g, struct lkdf_data *d, struct step *s)
{
	struct lkdf_use use = ON(d, s->mode);
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = s->k,
		.arg = &s->look,
		.use = &use,
		.nr_use = 1,
	};

	s->look.value = s->value;
	if (s->node >= 0) {
		t.place = lkdf_place_node(rt, s->node);
		t.flags = LKDF_PINNED;
	}
	must(lkdf_graph_add_task(g, &t));
}

static struct lkdf_graph *graph_of(struct lkdf_data *d, struct step *s, int nr)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	for (i = 0; i < nr; i++)
		add_step(g, d, &s[i]);
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* All have found what they should. */
static int nr_wrong(const struct step *s, int nr)
{
	int i, sum = 0;

	for (i = 0; i < nr; i++)
		sum += reads_first(&s[i]) &&
		       (s[i].look.is_mixed || s[i].look.value != s[i].value);
	return sum;
}

static void run_steps(struct lkdf_data *d, struct step *s, int nr,
		      const char *what)
{
	struct lkdf_graph *g = graph_of(d, s, nr);

	is(api_run(g, NULL, NULL), 0, "%s: a graph runs", what);
	is(nr_wrong(s, nr), 0, "%s: all find what they should", what);
	lkdf_graph_put(g);
}

/* On node 0. */
static struct lkdf_data *data_of(uint32_t flags)
{
	struct lkdf_data *d = DATA(rt, .bytes = BYTES, .reduce = add_words,
				   .neutral = no_words, .flags = flags);

	writes(0, d, 1);
	return d;
}

/* ---- MIGRATE ------------------------------------------------------------ */

static void a_writer_brings_the_bytes(void)
{
	struct lkdf_data *d = data_of(LKDF_DATA_MIGRATE);
	struct step s[] = {
		{ checks, 0, LKDF_READ, 1, { 0 } },
		{ bumps, 1, LKDF_RW, 1, { 0 } },
		{ checks, 0, LKDF_READ, 2, { 0 } },
		{ fills, 2, LKDF_WRITE, 5, { 0 } },
		{ checks, 2, LKDF_READ, 5, { 0 } },
		{ bumps, 2, LKDF_RW, 5, { 0 } },
		{ bumps, 3, LKDF_RW, 6, { 0 } },
		{ bumps, 3, LKDF_RW, 7, { 0 } },
		{ checks, 0, LKDF_READ, 8, { 0 } },
	};
	uint64_t before = migrated();

	run_steps(d, s, LENGTH(s), "MIGRATE");
	is(migrated() - before, 2 * BYTES, "they have moved twice");
	ok(s[1].look.at == s[0].look.at, "one change elsewhere: they stay");
	ok(s[3].look.at != s[1].look.at, "a write has new ones");
	ok(s[5].look.at == s[3].look.at, "which stay where they are used");
	ok(s[6].look.at == s[5].look.at, "one change elsewhere again");
	ok(s[7].look.at != s[6].look.at, "the second in a row moves them");
	ok(s[8].look.at == s[7].look.at, "and all behind it find them");
	is(reads(0, d).value, 8, "so do those that are submitted");
	lkdf_data_put(d);
}

static void a_row_goes_over_runs(void)
{
	struct lkdf_data *d = data_of(LKDF_DATA_MIGRATE);
	struct step s[] = { { bumps, 1, LKDF_RW, 0, { 0 } } };
	struct lkdf_graph *g = graph_of(d, s, 1);
	uint64_t before = migrated();
	char *home;

	must(api_run(g, NULL, NULL));
	home = s[0].look.at;
	is(migrated() - before, 0, "one run: they stay");
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 5), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(s[0].look.at != home, "the second one moves them");
	is(migrated() - before, BYTES, "once");
	is(reads(1, d).value, 7, "six runs have changed them");
	lkdf_graph_put(g);
	lkdf_data_put(d);
}

static void readers_have_them_moved_behind_the_run(void)
{
	struct lkdf_data *d = data_of(LKDF_DATA_MIGRATE);
	struct step s[] = {
		{ checks, 1, LKDF_READ, 1, { 0 } },
		{ checks, 1, LKDF_READ, 1, { 0 } },
		{ checks, 1, LKDF_READ, 1, { 0 } },
	};
	uint64_t before = migrated();
	char *home = reads(0, d).at;

	run_steps(d, s, LENGTH(s), "readers");
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(s[0].look.at == home && s[2].look.at == home,
	   "they read the bytes where they are");
	is(migrated() - before, BYTES, "and have them moved");
	ok(reads(1, d).at != home, "which is so for the next");
	lkdf_data_put(d);
}

/* ---- REPLICATE ---------------------------------------------------------- */

static void readers_get_a_copy_each(void)
{
	struct lkdf_data *d = data_of(LKDF_DATA_REPLICATE);
	struct step s[3 * (NODES + 1)] = { { .k = NULL } };
	static const uint64_t value[3] = { 20, 30, 31 };
	struct lkdf_graph *g;
	uint64_t before = replicated();
	int i, j, nr = 0, nr_same = 0;

	for (i = 0; i < 3; i++) {
		s[nr++] = i == 2 ? (struct step){ bumps, 1, LKDF_RW, 30, { 0 } }
				 : (struct step){
					   fills, i, LKDF_WRITE, value[i], { 0 }
				   };
		for (j = 0; j < NODES; j++)
			s[nr++] = (struct step){
				checks, j, LKDF_READ, value[i], { 0 }
			};
	}
	g = graph_of(d, s, nr);
	for (i = 1; i <= 3; i++) {
		/* Who checks has left what it found. */
		must(api_run(g, NULL, NULL));
		is(nr_wrong(s, nr), 0, "REPLICATE: all find their version");
		is(replicated() - before, 9ull * BYTES * (unsigned)i,
		   "three nodes have a copy of each of three");
	}
	for (i = 1; i <= NODES; i++)
		for (j = 1; j < i; j++)
			nr_same += s[i].look.at == s[j].look.at;
	is(nr_same, 0, "each has bytes of its own");
	is(reads(3, d).value, 31, "a task that is submitted reads the last");
	is(replicated() - before, 27 * BYTES, "by the copy that is there");
	lkdf_graph_put(g);
	lkdf_data_put(d);
}

static void every_writer_drops_them(uint32_t mode, uint64_t value)
{
	struct lkdf_data *d = data_of(LKDF_DATA_REPLICATE);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct look first = { .c = NULL }, w[2] = { { .value = 1 } };
	struct step s[] = {
		{ checks, 1, LKDF_READ, 1, { 0 } },
		{ checks, 1, LKDF_READ, value, { 0 } },
	};

	w[1] = w[0];
	must(add_on(g, checks, &first, ON(d, LKDF_READ)));
	add_step(g, d, &s[0]);
	must(add_on(g, bumps, &w[0], ON(d, mode)));
	must(add_on(g, bumps, &w[1], ON(d, mode)));
	add_step(g, d, &s[1]);
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	is(nr_wrong(s, 2), 0, "mode %#x: new copies behind it", mode);
	is((int)value_of(d), (int)value, "mode %#x: what it is", mode);
	lkdf_graph_put(g);
	lkdf_data_put(d);
}

static int leave_it_to_a_child(struct lkdf_ctx *c, void *arg)
{
	struct leaver *l = arg;
	struct lkdf_use use = ON(l->d, LKDF_RW);

	return lkdf_spawn_task(c,
			       ATTR(lkdf_task, .kind = bumps, .arg = &l->child,
				    .use = &use, .nr_use = 1),
			       NULL);
}

static void so_does_the_child_of_a_writer(void)
{
	struct lkdf_data *d = data_of(LKDF_DATA_REPLICATE);
	struct lkdf_kind *k = api_kind(rt, "leave", leave_it_to_a_child, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct leaver writer = { .d = d };
	struct step s[] = {
		{ checks, 1, LKDF_READ, 1, { 0 } },
		{ checks, 1, LKDF_READ, 2, { 0 } },
	};

	add_step(g, d, &s[0]);
	must(add_on(g, k, &writer, ON(d, LKDF_RW | LKDF_WEAK)));
	add_step(g, d, &s[1]);
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	is(nr_wrong(s, 2), 0, "a child: new copies behind it");
	is((int)value_of(d), 2, "a child: what it is");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* A part and the whole; bytes of a producer beside it; children; then. */
struct several {
	struct lkdf_data *d;
	uint64_t *whole, *part, *later, *made;
	struct look child;
};

static int look_later(struct lkdf_ctx *c, void *arg)
{
	struct several *s = arg;

	s->later = lkdf_ptr(c, 0);
	return 0;
}

static int look_at_several(struct lkdf_ctx *c, void *arg)
{
	struct several *s = arg;
	struct lkdf_use use = ON(s->d, LKDF_READ);

	s->whole = lkdf_ptr(c, 0);
	s->part = lkdf_ptr(c, 1);
	s->made = lkdf_ptr(c, 2);
	*s->made = s->whole[0];
	must(lkdf_spawn_task(c,
			     ATTR(lkdf_task, .kind = checks, .arg = &s->child,
				  .use = &use, .nr_use = 1),
			     NULL));
	return lkdf_then(c, look_later, (struct lkdf_event){ 0 });
}

static void other_uses_beside_it(void)
{
	struct lkdf_data *d = data_of(LKDF_DATA_REPLICATE);
	struct lkdf_data *once = DATA(rt, .bytes = 64, .flags = LKDF_DATA_ONCE);
	struct lkdf_kind *k = api_kind(rt, "several", look_at_several, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct several s = { .d = d };
	uint64_t before = replicated();
	struct lkdf_use use[] = { ON(d, LKDF_READ), ON_PART(d, LKDF_READ, 3),
				  ON(once, LKDF_WRITE) };

	must(lkdf_data_split(d, 4, BYTES / 4));
	must(lkdf_graph_add_task(g, ATTR(lkdf_task, .kind = k, .arg = &s,
					 .use = use, .nr_use = 3,
					 .flags = LKDF_PINNED,
					 .place = lkdf_place_node(rt, 2))));
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	is(replicated() - before, BYTES, "one copy for a task with more uses");
	ok(s.part == s.whole + WORDS / 2, "its part lies in it");
	ok(s.later == s.whole, "a body that goes on sees the same");
	ok(s.child.at != (char *)s.whole, "its child the original");
	is(s.child.value, 1, "of the same value");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(once);
	lkdf_kind_put(k);
}

static uint64_t used(void)
{
	char name[64];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "lkdf.node.%d.memory.used", i);
		sum += stat_of(name);
	}
	return sum;
}

static int note_used(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	*(uint64_t *)arg = used();
	return 0;
}

/* What readers have had is freed before the writer's body. */
static void a_writer_frees_them(void)
{
	const uint64_t bytes = 8 << 20;
	struct lkdf_data *d =
		DATA(rt, .bytes = bytes, .home = lkdf_place_node(rt, 0),
		     .flags = LKDF_DATA_REPLICATE);
	struct lkdf_kind *k = api_kind(rt, "notes", note_used, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	uint64_t during = 0, after = 0, start_use;
	struct step s[NODES] = { { .k = NULL } };
	int i;

	writes(0, d, 1);
	start_use = used();
	for (i = 0; i < NODES; i++) {
		s[i] = (struct step){ checks, i, LKDF_READ, 1, { 0 } };
		add_step(g, d, &s[i]);
	}
	must(add_on(g, k, &after, ON(d, LKDF_RW)));
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	ok(after - start_use < bytes, "a writer finds them freed");
	is(nr_wrong(s, NODES), 0, "which were there");
	for (i = 0; i < NODES; i++)
		reads(i, d);
	note_used(NULL, &during);
	ok(during - start_use >= 3 * bytes, "as many as there are nodes");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* ---- all together ------------------------------------------------------- */

#define LONG 120
#define VARS 4

/* Each writes a number that grows, or reads the last one. */
static void many_tasks(uint32_t flags, const char *what, bool is_placed)
{
	struct lkdf_data *d[VARS];
	struct step(*s)[LONG] = calloc(VARS, sizeof(*s));
	struct lkdf_graph *g = api_graph(rt, 2);
	uint64_t value[VARS];
	uint32_t rng = 1;
	int i, j, wrong = 0;

	for (j = 0; j < VARS; j++) {
		d[j] = data_of(flags);
		value[j] = 1;
	}
	for (i = 0; i < LONG; i++) {
		for (j = 0; j < VARS; j++) {
			rng = rng * 1664525u + 1013904223u;
			s[j][i] = (struct step){
				checks, -1, LKDF_READ, value[j], { 0 }
			};
			if (is_placed)
				s[j][i].node = (int)(rng >> 20) % NODES;
			if (!i || rng >> 29 == 0) {
				s[j][i].k = fills;
				s[j][i].mode = LKDF_WRITE;
				s[j][i].value = ++value[j];
			} else if (rng >> 29 == 1) {
				s[j][i].k = bumps;
				s[j][i].mode = LKDF_RW;
				value[j]++;
			}
			add_step(g, d[j], &s[j][i]);
		}
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 5; i++)
		must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 3), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: many tasks, 15 runs", what);
	for (j = 0; j < VARS; j++) {
		wrong += nr_wrong(s[j], LONG);
		wrong += reads(1, d[j]).value != value[j];
		lkdf_data_put(d[j]);
	}
	is(wrong, 0, "%s: all find what they should", what);
	lkdf_graph_put(g);
	free(s);
}

static void without_memory_they_read_the_original(void)
{
	const uint64_t bytes = 48 << 20;
	struct step s[] = {
		{ checks, 1, LKDF_READ, 4, { 0 } },
		{ fills, 1, LKDF_WRITE, 5, { 0 } },
		{ checks, 1, LKDF_READ, 5, { 0 } },
	};
	struct lkdf_data *d, *filler;
	char *home;

	start("topology=numa:2 core:1,memory_limit=64");
	s[0].k = s[2].k = checks;
	s[1].k = fills;
	filler = DATA(rt, .bytes = bytes, .home = lkdf_place_node(rt, 1));
	writes(0, filler, 1);
	d = DATA(rt, .bytes = bytes,
		 .flags = LKDF_DATA_REPLICATE | LKDF_DATA_MIGRATE);
	home = writes(0, d, 4).at;
	run_steps(d, s, LENGTH(s), "no memory");
	ok(s[0].look.at == home, "the original is read");
	ok(s[1].look.at == home, "and written");
	is(replicated() + migrated(), 0, "nothing is counted");
	lkdf_data_put(filler);
	lkdf_data_put(d);
	stop();
}

int main(void)
{
	tap_start(60);
	start("topology=numa:4 core:1");
	a_writer_brings_the_bytes();
	a_row_goes_over_runs();
	readers_have_them_moved_behind_the_run();
	readers_get_a_copy_each();
	every_writer_drops_them(LKDF_RW, 3);
	every_writer_drops_them(LKDF_COMMUTE, 3);
	every_writer_drops_them(LKDF_REDUCE, 3);
	so_does_the_child_of_a_writer();
	other_uses_beside_it();
	a_writer_frees_them();
	many_tasks(LKDF_DATA_REPLICATE, "REPLICATE", true);
	many_tasks(LKDF_DATA_MIGRATE, "MIGRATE", true);
	many_tasks(LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE, "both", true);
	many_tasks(LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE, "planned", false);
	stop();
	start("topology=numa:4 core:1,far_steals=yes,rehome=yes");
	many_tasks(LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE, "rehome", false);
	stop();
	without_memory_they_read_the_original();
	return tap_end();
}
