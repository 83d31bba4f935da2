/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds with LKDF_ALWAYS in sealed graphs, and data: which input has failed,
 * what they heal. Random programs are compared with an interpreter by
 * tests/oracle.
 */
#include "tests/api/graph/always.h"

struct vars {
	struct lkdf_data *x, *y, *z, *sum;
};

static void vars_init(struct vars *v, struct lkdf *rt)
{
	v->x = number(rt, NULL, &(uint64_t){ 1 });
	v->y = number(rt, NULL, &(uint64_t){ 1 });
	v->z = number(rt, NULL, NULL);
	v->sum = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 },
		      .reduce = add_words, .neutral = no_words);
}

static void vars_fini(struct vars *v)
{
	lkdf_data_put(v->x);
	lkdf_data_put(v->y);
	lkdf_data_put(v->z);
	lkdf_data_put(v->sum);
}

/* Its error; 0: it is good. */
static int error_of(struct lkdf_data *d)
{
	int rc = lkdf_data_acquire(d, LKDF_READ, -1, NULL);

	if (!rc)
		must(lkdf_data_release(d));
	return rc;
}

/* Reads x, which is good, mends y, writes z. */
static void it_sees_and_heals(struct kinds *k, struct lkdf_kind *looks)
{
	struct lkdf_graph *g = api_graph(k->rt, 2);
	struct seen seen = { .nr = 0 }, again = { .nr = 0 };
	struct vars v;
	int i;

	vars_init(&v, k->rt);
	must(add_on(g, k->fails, NULL, ON(v.y, LKDF_RW)));
	must(add_on(g, k->adds, NULL, ON(v.y, LKDF_RW)));
	must(lkdf_graph_add(g, looks, &seen,
			    (struct lkdf_use[]){ ON(v.x, LKDF_READ),
						 ON(v.y, LKDF_RW),
						 ON(v.z, LKDF_WRITE) },
			    3));
	must(add_on(g, k->adds, NULL, ON(v.y, LKDF_RW)));
	must(add_on(g, looks, &again, ON(v.y, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 1; i <= 3; i++) {
		is(api_run(g, NULL, NULL), -EIO, "%s: a writer fails", k->how);
		is(seen.nr, i, "%s: it runs", k->how);
		is(seen.error[0], 0, "%s: its first input is good", k->how);
		is(seen.error[1], -EIO, "%s: the second is not", k->how);
		is(seen.error[2], 0, "%s: what it writes has none", k->how);
		is(seen.error[3], -EIO, "%s: then what is before it", k->how);
		ok(seen.has_bytes[0] && seen.has_bytes[1] && seen.has_bytes[2],
		   "%s: all have bytes", k->how);
		is(again.error[0], 0, "%s: what it mends is good", k->how);
		is(error_of(v.y), 0, "%s: outside, too", k->how);
		is((int)value_of(v.y), 1 + i, "%s: so others add to it",
		   k->how);
		is(error_of(v.z), 0, "%s: what it writes is good", k->how);
	}
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	vars_fini(&v);
}

/* What was not there when the run began; reading heals nothing. */
static void it_sees_what_came_before_the_run(struct kinds *k)
{
	struct lkdf_graph *reads = api_graph(k->rt, 1);
	struct lkdf_graph *mends = api_graph(k->rt, 1);
	struct seen seen = { .nr = 0 };
	atomic_int ran = 0;
	struct vars v;

	vars_init(&v, k->rt);
	must(add_on(reads, k->looks, &seen, ON(v.x, LKDF_READ)));
	must(add_on(reads, k->count, &ran, ON(v.x, LKDF_READ)));
	must(lkdf_graph_seal(reads, NULL));
	must(add_on(mends, k->looks, &seen, ON(v.x, LKDF_RW)));
	must(add_on(mends, k->count, &ran, ON(v.x, LKDF_READ)));
	must(lkdf_graph_seal(mends, NULL));
	must(submit_on(k->rt, k->fails, NULL, ON(v.x, LKDF_RW), NULL));
	is(lkdf_scope_wait(k->rt, NULL, -1), -EIO, "%s: a task fails", k->how);
	is(api_run(reads, NULL, NULL), -EIO, "%s: so does who reads", k->how);
	is(seen.nr, 1, "%s: what runs always runs", k->how);
	is(seen.error[0], -EIO, "%s: and sees why", k->how);
	is(ran, 0, "%s: another is skipped", k->how);
	is(error_of(v.x), -EIO, "%s: reading has healed nothing", k->how);
	is(api_run(mends, NULL, NULL), -EIO, "%s: who mends is told", k->how);
	is(seen.nr, 2, "%s: and runs", k->how);
	is(ran, 1, "%s: then others, too", k->how);
	is(error_of(v.x), 0, "%s: it is good", k->how);
	is(api_run(reads, NULL, NULL), 0, "%s: for others, too", k->how);
	is(seen.error[0], 0, "%s: no error is left", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(reads);
	lkdf_graph_put(mends);
	vars_fini(&v);
}

/* Nobody has made the bytes, or who made them has failed. */
static void it_may_have_no_bytes(struct kinds *k)
{
	struct lkdf_data *a = DATA(k->rt, .flags = LKDF_DATA_ONCE, .bytes = 64);
	struct lkdf_data *b = DATA(k->rt, .flags = LKDF_DATA_ONCE, .bytes = 64);
	struct lkdf_graph *g = api_graph(k->rt, 2);
	struct lkdf_use ab[] = { ON(a, LKDF_READ), ON(b, LKDF_READ) };
	struct seen seen = { .nr = 0 };
	int i;

	must(lkdf_graph_add(g, k->looks, &seen, ab, 2));
	ab[1].mode = LKDF_WRITE;
	must(lkdf_graph_add(g, k->count, NULL, ab, 2));
	must(add_on(g, k->fails, NULL, ON(a, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 1; i <= 3; i++) {
		is(api_run(g, NULL, NULL), -EIO, "%s: a producer fails",
		   k->how);
		is(seen.nr, i, "%s: who reads always runs", k->how);
		is(seen.error[0], -EIO, "%s: it has failed", k->how);
		is(seen.error[1], -EIO, "%s: and one was skipped", k->how);
		ok(seen.has_bytes[0], "%s: bytes of one are there", k->how);
		ok(!seen.has_bytes[1], "%s: those of the other not", k->how);
	}
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(a);
	lkdf_data_put(b);
}

static int add_ten(struct lkdf_ctx *c, void *arg)
{
	int *error = arg;

	*error = lkdf_input_error(c, 0);
	*(uint64_t *)lkdf_ptr(c, 0) += 10;
	return 0;
}

/* COMMUTE mends as RW does; REDUCE has nothing to combine with. */
static void groups_with_it(struct kinds *k, uint32_t mode, int left)
{
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct lkdf_kind *ten, *plain;
	int error[2] = { 1, 1 }, unused;
	struct vars v;

	ten = api_kind(k->rt, "ten", add_ten, 0, LKDF_ALWAYS);
	plain = api_kind(k->rt, "plain", add_ten, 0, 0);
	vars_init(&v, k->rt);
	must(add_on(g, k->fails, NULL, ON(v.sum, LKDF_RW)));
	must(add_on(g, ten, &error[0], ON(v.sum, mode)));
	must(add_on(g, ten, &error[1], ON(v.sum, mode)));
	must(add_on(g, plain, &unused, ON(v.sum, LKDF_RW)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "%s: mode %u after a failure", k->how,
	   mode);
	is(error[0], -EIO, "%s: the one sees it", k->how);
	is(error[1], -EIO, "%s: and the other", k->how);
	is(error_of(v.sum), left, "%s: and what is left has %d", k->how, left);
	if (!left)
		is((int)value_of(v.sum), 31, "%s: all have added", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	vars_fini(&v);
	lkdf_kind_put(ten);
	lkdf_kind_put(plain);
}

/* Recorded from a scope, with places. */
static void recorded_on_a_node(struct kinds *k)
{
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct seen seen = { .nr = 0 };
	struct lkdf_place *place;
	struct lkdf_scope *s;
	struct vars v;
	struct lkdf_use use;

	vars_init(&v, k->rt);
	use = ON(v.x, LKDF_RW);
	must(lkdf_places(k->rt, LKDF_PLACE_NODE, &place, 1));
	must(lkdf_scope_create(k->rt, NULL, &s));
	must(lkdf_graph_record(g, s));
	must(lkdf_submit(k->rt, s,
			 ATTR(lkdf_task, .kind = k->fails, .use = &use,
			      .nr_use = 1, .place = place),
			 NULL));
	must(lkdf_submit(k->rt, s,
			 ATTR(lkdf_task, .kind = k->looks, .arg = &seen,
			      .use = &use, .nr_use = 1, .place = place,
			      .flags = LKDF_PINNED),
			 NULL));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "%s: a recorded graph", k->how);
	is(seen.nr, 1, "%s: on a node", k->how);
	is(seen.error[0], -EIO, "%s: its input is seen", k->how);
	is(error_of(v.x), 0, "%s: and mended", k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	vars_fini(&v);
}

static void test(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct kinds k;

	kinds_init(&k, rt, options);
	it_sees_and_heals(&k, k.looks);
	it_sees_and_heals(&k, k.blocks);
	it_sees_what_came_before_the_run(&k);
	it_may_have_no_bytes(&k);
	groups_with_it(&k, LKDF_COMMUTE, 0);
	groups_with_it(&k, LKDF_REDUCE, -EIO);
	recorded_on_a_node(&k);
	kinds_fini(&k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

int main(void)
{
	tap_start(200);
	test("workers=1");
	test("workers=2");
	test("workers=8");
	test("serial=yes");
	return tap_end();
}
