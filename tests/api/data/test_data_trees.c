/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random trees of submitted tasks that use data, compared with an interpreter.
 *
 * test_data_trees [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/trees.h"

static int run_trees(struct lkdf *rt, struct lkdf_kind *k,
		     const struct choice *c, uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct world *w;
	uint32_t i;
	int nr;

	make_trees(&p, c, seed);
	state_run(&st, &p);
	w = world_create(rt, &p, k);
	for (i = 0; i < p.nr_steps; i += 1 + tree.nr_below[i])
		world_submit(w, i, NULL, NULL);
	if (seed % 2)
		world_check_data(w, &st);
	if (lkdf_scope_wait(rt, NULL, -1))
		wrong(w, "scope: %s", lkdf_errmsg());
	nr = world_check(w, &st, false);
	if (nr)
		trees_say(&p);
	world_destroy(w);
	return nr;
}

static const struct choice choices[] = { { .max_parts = 1 },
					 { .max_parts = 4 } };

static const struct suite suite = {
	.batch = { choices, LENGTH(choices), run_trees, tree_body },
	.seed = 20000,
	.nr = 400,
	.nr_sanitized = 100,
};

int main(int argc, char **argv)
{
	suite_run(&suite, argc, argv);
	return tap_end();
}
