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

static const struct batch batch = { choices, LENGTH(choices), run_trees,
				    tree_body };

int main(int argc, char **argv)
{
	static const char *const options[] = {
		"workers=1", "workers=2",  "workers=4",
		"workers=8", "serial=yes",
	};
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000;
	int nr = argc > 2 ? atoi(argv[2]) : HAS_SANITIZER ? 100 : 400;
	struct lkdf *rt;
	size_t i;

	tap_start(argc > 2 ? 3600 : 240);
	say_seed_in_time();
	for (i = 0; i < LENGTH(options); i++) {
		rt = api_open(options[i]);
		run_batch(rt, &batch, options[i], seed, nr);
		is(lkdf_close(rt), 0, "the runtime closes");
		seed += (uint64_t)nr;
	}
	return tap_end();
}
