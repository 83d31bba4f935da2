/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random programs of which steps fail: who is skipped, what is poisoned and
 * healed, and the counts, compared with an interpreter.
 *
 * test_data_failing [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/compare.h"

static int fail_io(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "on purpose");
}

/* Others of the group look at the error while it is set. */
static void reducers_fail_beside_others(struct lkdf *rt)
{
	struct lkdf_kind *fails = api_kind(rt, "fails", fail_io, 0, 0);
	struct lkdf_kind *adds = api_kind(rt, "adds", add_one, 0, 0);
	struct lkdf_data *d;
	int i, j, nr_good = 0;

	for (i = 0; i < 500; i++) {
		d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 0 },
			 .reduce = add_words);
		for (j = 0; j < 6; j++)
			must(submit_on(rt, j == 2 ? fails : adds, NULL,
				       ON(d, LKDF_REDUCE), NULL));
		nr_good += lkdf_data_acquire(d, LKDF_READ, -1, NULL) != -EIO;
		lkdf_data_put(d);
	}
	is(nr_good, 0, "one of six reducers fails: nobody reads the sum");
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the failure is told");
	lkdf_kind_put(fails);
	lkdf_kind_put(adds);
}

static const struct choice choices[] = {
	{ .modes = LKDF_RW,
	  .max_data = 6,
	  .max_parts = 1,
	  .max_steps = 60,
	  .error = -EILSEQ },
	{ .modes = LKDF_RW | LKDF_MAYBE,
	  .max_data = 6,
	  .max_parts = MAX_PARTS,
	  .max_steps = 90,
	  .error = -EILSEQ },
};

/* has_acquired: acquisitions may have told the errors. */
static void check_counts(struct world *w, const struct state *st,
			 struct lkdf_scope *s, bool has_acquired)
{
	struct lkdf_error e = { .size = sizeof(e) };
	uint32_t nr_failed = 0, nr_skipped = 0, i;
	int rc = lkdf_scope_wait(w->rt, s, -1);

	for (i = 0; i < w->p->nr_steps; i++) {
		nr_failed += st->result[i] && !st->is_skipped[i];
		nr_skipped += st->is_skipped[i];
	}
	must(lkdf_scope_error(w->rt, s, &e));
	if (rc != (nr_failed ? -EILSEQ : 0) && (rc || !has_acquired))
		wrong(w, "scope: %d with %u failures", rc, nr_failed);
	if (e.nr_failed != nr_failed || e.nr_skipped != nr_skipped ||
	    e.nr_cancelled)
		wrong(w,
		      "%llu failed, %llu skipped, %llu cancelled, expected "
		      "%u, %u, 0",
		      (unsigned long long)e.nr_failed,
		      (unsigned long long)e.nr_skipped,
		      (unsigned long long)e.nr_cancelled, nr_failed,
		      nr_skipped);
}

static int run_failing(struct lkdf *rt, struct lkdf_kind *k,
		       const struct choice *c, uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct lkdf_scope *s;
	struct world *w;
	uint32_t i;
	int nr;

	program_make(&p, c, seed);
	state_run(&st, &p);
	must(lkdf_scope_create(rt, NULL, &s));
	w = world_create(rt, &p, k);
	for (i = 0; i < p.nr_steps; i++)
		world_submit(w, i, s, NULL);
	if (seed % 2)
		world_check_data(w, &st);
	check_counts(w, &st, s, seed % 2);
	nr = world_check(w, &st, c->max_parts == 1);
	world_destroy(w);
	lkdf_scope_put(s);
	lkdf_scope_wait(rt, NULL, -1);
	return nr;
}

static void tests(struct lkdf *rt, bool is_serial)
{
	(void)is_serial;
	reducers_fail_beside_others(rt);
}

static const struct suite suite = {
	.batch = { choices, LENGTH(choices), run_failing, step_body },
	.seed = 90000,
	.nr = 250,
	.nr_sanitized = 60,
	.tests = tests,
};

int main(int argc, char **argv)
{
	suite_run(&suite, argc, argv);
	return tap_end();
}
