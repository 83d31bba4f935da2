/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random trees of tasks whose roots are tasks of a sealed graph: their
 * children use what the root uses, weakly or not. Runs follow each other or
 * overlap, and are compared with an interpreter.
 *
 * test_graph_trees [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/trees.h"

#define NR_RUNS 3

struct trial {
	struct world *w;
	struct state *st;
	struct lkdf_graph *g;
};

static struct lkdf_graph *graph_of(struct world *w, uint32_t inflight)
{
	struct lkdf_graph *g = api_graph(w->rt, inflight);
	const struct program *p = w->p;
	struct lkdf_use use[MAX_OPS];
	struct job job = { .w = w };
	int rc;

	for (; job.step < p->nr_steps;
	     job.step += 1 + tree.nr_below[job.step]) {
		uses_of(w, &p->step[job.step], use);
		rc = lkdf_graph_add(g, w->kind, &job, use,
				    p->step[job.step].nr);
		if (rc < 0)
			wrong(w, "step %u: add: %d %s", job.step, rc,
			      lkdf_errmsg());
	}
	rc = lkdf_graph_seal(g, NULL);
	if (rc)
		wrong(w, "seal: %d %s", rc, lkdf_errmsg());
	return g;
}

/* What a root should have written is bad with the root. */
static void spoil(struct state *st, const struct program *p, uint32_t root)
{
	const struct step *s = &p->step[root];
	uint32_t i, part;

	for (i = 0; i < s->nr; i++)
		if (s->op[i].mode & WRITES)
			for (part = op_first(&s->op[i]);
			     part < op_end(p, &s->op[i]); part++)
				st->error[s->op[i].data][part] =
					st->result[root];
}

/* A weak use waits here, and is skipped, as a strong one. */
static int weak_input_error(const struct state *st, const struct program *p,
			    const struct step *s)
{
	uint32_t i, part;

	for (i = 0; i < s->nr; i++)
		for (part = op_first(&s->op[i]);
		     s->op[i].mode & LKDF_READ && part < op_end(p, &s->op[i]);
		     part++)
			if (st->error[s->op[i].data][part])
				return st->error[s->op[i].data][part];
	return 0;
}

static void skip_tree(struct state *st, uint32_t root, int error)
{
	uint32_t i;

	for (i = root; i <= root + tree.nr_below[root]; i++) {
		st->is_skipped[i] = true;
		st->result[i] = error;
	}
}

static void interpret(struct trial *t)
{
	const struct program *p = t->w->p;
	struct state *st = t->st;
	uint32_t root, i;
	int error;

	for (root = 0; root < p->nr_steps; root += 1 + tree.nr_below[root]) {
		error = weak_input_error(st, p, &p->step[root]);
		if (error) {
			skip_tree(st, root, error);
			spoil(st, p, root);
			continue;
		}
		/* What is bad is overwritten: children see none of it. */
		state_step(st, p, root);
		error = st->result[root];
		st->result[root] = 0;
		spoil(st, p, root);
		for (i = root + 1; i <= root + tree.nr_below[root]; i++) {
			state_step(st, p, i);
			error = error ? error : st->result[i];
		}
		st->result[root] = error;
		if (error)
			spoil(st, p, root);
	}
}

/* The first error of the roots; 0: all go well. */
static int expected(const struct trial *t)
{
	uint32_t i;

	for (i = 0; i < t->w->p->nr_steps; i++)
		if (t->st->result[i])
			return t->st->result[i];
	return 0;
}

static void run_and_check(struct trial *t)
{
	int rc;

	memset(t->w->mark, 0, sizeof(t->w->mark));
	interpret(t);
	rc = api_run(t->g, NULL, NULL);
	if (rc != expected(t))
		wrong(t->w, "run: %d, expected %d", rc, expected(t));
	world_check_marks(t->w, t->st);
	world_check_order(t->w);
	world_check_data(t->w, t->st);
}

static void run_at_once(struct trial *t, bool repeats)
{
	struct world *w = t->w;
	uint32_t i;

	for (i = 0; i < NR_RUNS; i++) {
		interpret(t);
		if (!repeats)
			must(lkdf_graph_run(t->g, NULL, NULL, NULL));
		else if (!i)
			must(lkdf_graph_run(t->g, NULL,
					    ATTR(lkdf_run, .times = NR_RUNS),
					    NULL));
	}
	world_check_runs(w, t->st, NR_RUNS);
}

static int run_trees(struct lkdf *rt, struct lkdf_kind *k,
		     const struct choice *c, uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct trial t = { .st = &st };
	int nr, i;

	make_trees(&p, c, seed);
	state_init(&st, &p);
	t.w = world_create(rt, &p, k);
	t.w->reduces_apart = true;
	t.w->may_fail = c->error != 0;
	t.g = graph_of(t.w, 1 + seed / 3 % 4);
	if (c->error || seed % 3 == 0)
		for (i = 0; i < NR_RUNS; i++)
			run_and_check(&t);
	else
		run_at_once(&t, seed % 3 == 1);
	nr = atomic_load(&t.w->nr_wrong);
	if (nr) {
		program_say(&p);
		trees_say(&p);
	}
	lkdf_graph_put(t.g);
	lkdf_scope_wait(rt, NULL, -1);
	world_destroy(t.w);
	return nr;
}

static const struct choice choices[] = {
	{ .max_parts = 1 },
	{ .max_parts = 4 },
	{ .max_parts = 1, .error = -EILSEQ },
};

static const struct batch batch = { choices, LENGTH(choices), run_trees,
				    tree_body };

int main(int argc, char **argv)
{
	static const char *const options[] = {
		"workers=1", "workers=2",  "workers=4",
		"workers=8", "serial=yes",
	};
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 50000;
	int nr = argc > 2 ? atoi(argv[2]) : HAS_SANITIZER ? 40 : 200;
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
