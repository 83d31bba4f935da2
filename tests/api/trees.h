/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random trees of tasks that use data, weak parents among them. The steps of a
 * program are in the order of an interpreter that runs each parent and then
 * its children; each has the number of steps below it.
 */
#ifndef TESTS_API_TREES_H
#define TESTS_API_TREES_H

#include "tests/api/compare.h"

enum ending {
	END_PLAIN,
	END_JOIN,
	END_THEN,
	END_GIVES_ON,
	NR_ENDINGS
};

struct tree {
	uint32_t nr_below[MAX_STEPS];
	uint8_t ending[MAX_STEPS];
};

static struct tree tree;

/* A use that one of the parent's covers. */
static struct op covered_op(const struct program *p, const struct choice *c,
			    struct rng *r, const struct op *above, bool is_leaf)
{
	static const uint8_t modes[] = { LKDF_READ,  LKDF_RW,	   LKDF_RW,
					 LKDF_WRITE, LKDF_COMMUTE, LKDF_COMMUTE,
					 LKDF_REDUCE };
	struct op op = { .data = above->data, .part = above->part };
	uint32_t nr_parts = p->shape[op.data].nr_parts;

	if (!op.part && nr_parts > 1 && rng_one_in(r, 2))
		op.part = (uint8_t)rng_range(r, 1, nr_parts);
	/* Parents have modes that cover others. */
	op.mode = modes[rng_range(r, 0, is_leaf && !c->error ? 6 : 3)];
	if (!(above->mode & LKDF_WRITE))
		op.mode = LKDF_READ;
	if (!(above->mode & LKDF_READ))
		op.mode = LKDF_WRITE;
	return op;
}

static void choose_ops(struct program *p, const struct choice *c, struct rng *r,
		       struct step *s, const struct step *above, bool is_leaf)
{
	uint32_t nr = rng_range(r, above ? 1 : 0, 4), d;
	struct op any = { .mode = LKDF_RW };

	while (nr--) {
		any.data = (uint8_t)rng_range(r, 0, p->nr_data - 1);
		if (above && !above->nr)
			return;
		if (above)
			any = above->op[rng_range(r, 0, above->nr - 1)];
		d = any.data;
		if (!step_has(s, d))
			s->op[s->nr++] = covered_op(p, c, r, &any, is_leaf);
	}
}

static bool make_weak(struct rng *r, struct step *s)
{
	bool is_weak = false;
	uint32_t i;

	for (i = 0; i < s->nr; i++) {
		if (s->op[i].mode == LKDF_WRITE || rng_one_in(r, 2))
			continue;
		s->op[i].mode |= LKDF_WEAK;
		is_weak = true;
	}
	return is_weak;
}

/* With errors: of two levels, so that it is simple what they spoil. */
static void make_node(struct program *p, const struct choice *c, struct rng *r,
		      const struct step *above, int depth)
{
	uint32_t nr = p->nr_steps++, nr_children = 0;
	struct step *s = &p->step[nr];
	bool is_weak = false;

	if (depth < (c->error ? 1 : 4) && !rng_one_in(r, 3))
		nr_children = rng_range(r, 1, 4);
	choose_ops(p, c, r, s, above, !nr_children);
	if (c->error && rng_one_in(r, 8))
		s->error = c->error;
	if (nr_children)
		is_weak = make_weak(r, s);
	while (nr_children-- && p->nr_steps < MAX_STEPS - MAX_DATA)
		make_node(p, c, r, s, depth + 1);
	tree.nr_below[nr] = p->nr_steps - nr - 1;
	do {
		tree.ending[nr] = (uint8_t)rng_range(r, 0, NR_ENDINGS - 1);
	} while (is_weak && tree.ending[nr] == END_JOIN);
}

__attribute__((unused)) static void
make_trees(struct program *p, const struct choice *c, uint64_t seed)
{
	struct rng rng = { seed }, *r = &rng;
	uint32_t nr, i;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->nr_data = rng_range(r, 1, 5);
	for (i = 0; i < p->nr_data; i++) {
		make_shape(&p->shape[i], c, r);
		p->shape[i].has_init = true;
	}
	nr = rng_range(r, 1, 12);
	while (nr-- && p->nr_steps < MAX_STEPS - MAX_DATA - 32)
		make_node(p, c, r, NULL, 0);
}

__attribute__((unused)) static void trees_say(const struct program *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_steps; i++)
		printf("# step %u: %u below, ending %u\n", i, tree.nr_below[i],
		       tree.ending[i]);
}

static int spawn_steps(struct lkdf_ctx *c, const struct job *parent)
{
	uint32_t end = parent->step + 1 + tree.nr_below[parent->step];
	struct job j = { parent->w, parent->step + 1 };
	struct lkdf_use use[MAX_OPS];
	int rc = 0;

	for (; j.step < end && !rc; j.step += 1 + tree.nr_below[j.step]) {
		uses_of(j.w, &j.w->p->step[j.step], use);
		rc = lkdf_spawn_task(c,
				     ATTR(lkdf_task, .kind = j.w->kind,
					  .arg = &j, .use = use,
					  .nr_use = j.w->p->step[j.step].nr),
				     NULL);
		if (rc)
			wrong(j.w, "step %u: spawn: %d %s", j.step, rc,
			      lkdf_errmsg());
	}
	return rc;
}

/* All below it have run. */
static void look_below(const struct job *j)
{
	uint32_t i;

	if (j->w->may_fail)
		return;
	for (i = 1; i <= tree.nr_below[j->step]; i++)
		if (!j->w->mark[j->step + i].nr_ran)
			wrong(j->w, "step %u goes on before step %u", j->step,
			      j->step + i);
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;

	look_below(j);
	return lkdf_input_error(c, 0);
}

static void end_use(struct lkdf_ctx *c, const struct job *j, uint32_t use)
{
	int rc = lkdf_use_end(c, use, false);

	if (rc)
		wrong(j->w, "step %u: use_end: %d %s", j->step, rc,
		      lkdf_errmsg());
	if (lkdf_ptr(c, use))
		wrong(j->w, "step %u: bytes of a use given on", j->step);
}

__attribute__((unused)) static int tree_body(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;
	uint32_t i;
	int rc;

	step_run(c, j);
	rc = spawn_steps(c, j);
	if (!rc)
		rc = j->w->p->step[j->step].error;
	if (rc)
		return rc;
	switch (tree.ending[j->step]) {
	case END_JOIN:
		rc = lkdf_join(c);
		look_below(j);
		return rc;
	case END_THEN:
		return lkdf_then(c, go_on, (struct lkdf_event){ 0 });
	case END_GIVES_ON:
		for (i = 0; i < j->w->p->step[j->step].nr; i++)
			end_use(c, j, i);
	}
	return 0;
}

#endif
