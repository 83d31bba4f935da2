/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tasks of a program with data do: read and write what they use, and
 * look whether somebody else does at the same time; spawn children, wait for
 * them, give uses on.
 */
#include "tests/oracle/data_world.h"

#include <sched.h>
#include <string.h>

struct d_me {
	struct d_world *w;
	const struct d_task *t;
	struct d_cell *cell;
	const struct d_result *expected;
	uint32_t op, rep, node;
	bool is_of_graph;
};

/* Tasks of graphs have their number as the argument, others their cell. */
static void find_me(struct d_me *me, struct lkdf_ctx *c, void *arg)
{
	const struct d_run *run = lkdf_run_arg(c);
	const struct d_cell *cell = arg;

	memset(me, 0, sizeof(*me));
	me->w = d_world_now();
	me->is_of_graph = run != NULL;
	if (run) {
		me->op = (uint32_t)(run - me->w->run);
		me->rep = run->rep;
		me->node =
			(uint32_t)((const struct d_task *)arg - me->w->p->node);
	} else {
		me->op = cell->op;
		me->node = cell->node;
	}
	me->t = &me->w->p->node[me->node];
	me->cell = d_cell_of(me->w, me->op, me->rep, me->node);
	me->expected = d_expected(me->w, me->op, me->rep, me->node);
}

static bool is_here(const struct d_me *me, uint32_t i, bool again)
{
	const struct d_use *u = &me->t->use[i];

	return !(u->mode & LKDF_WEAK) && !(again && u->ends);
}

static void find_bytes(struct d_me *me, struct lkdf_ctx *c, bool again,
		       struct d_bytes *b)
{
	uint32_t i;

	for (i = 0; i < me->t->nr_uses; i++) {
		b->word[i] = lkdf_ptr(c, i);
		if (me->expected->input_errors[i])
			b->word[i] = NULL;
		else if ((b->word[i] != NULL) != is_here(me, i, again))
			d_wrong(me->w, "op %u task %u use %u: bytes at %p",
				me->op, me->node, i, (void *)b->word[i]);
	}
	if (lkdf_ptr(c, me->t->nr_uses))
		d_wrong(me->w, "op %u task %u: bytes of no use", me->op,
			me->node);
}

static uint64_t hash_all(const struct d_me *me, const struct d_bytes *b)
{
	const struct d_use *u;
	uint64_t h = 0;
	uint32_t i, j;

	for (i = 0; i < me->t->nr_uses; i++) {
		u = &me->t->use[i];
		for (j = 0; b->word[i] &&
			    j < d_nr_words(&me->w->p->var[u->var], u->part);
		     j++)
			h = mix(h + b->word[i][j]);
	}
	return h;
}

/* Nobody else may change what it uses. */
static void look_again(struct d_me *me, const struct d_bytes *b)
{
	uint64_t before = hash_all(me, b);

	if (before % 8 == 0)
		sched_yield();
	if (hash_all(me, b) != before)
		d_wrong(me->w, "op %u rep %u task %u: its data is changed",
			me->op, me->rep, me->node);
}

static void touch(struct d_me *me, struct lkdf_ctx *c, uint64_t h, bool again,
		  bool is_blind)
{
	struct d_bytes b;

	find_bytes(me, c, again, &b);
	me->cell->seen = d_touch(me->w->p, me->t, &b, h, is_blind);
	look_again(me, &b);
}

static void begin(struct d_me *me, struct lkdf_ctx *c)
{
	bool always = me->t->kind & D_ALWAYS;
	uint32_t i;
	int rc;

	if (atomic_fetch_add(&me->cell->nr_started, 1))
		d_wrong(me->w, "op %u rep %u: task %u runs twice", me->op,
			me->rep, me->node);
	for (i = 0; i < me->t->nr_uses && always; i++) {
		rc = lkdf_input_error(c, i);
		if (!d_is_possible(rc, me->expected->input_errors[i]))
			d_wrong(me->w,
				"op %u task %u: input %u: %d, not of %#x",
				me->op, me->node, i, rc,
				me->expected->input_errors[i]);
	}
	touch(me, c, d_begin(me->w->p, me->op, me->rep, me->node), false,
	      false);
}

static void spawn_all(struct d_me *me, struct lkdf_ctx *c)
{
	uint32_t i, end = me->t->below + me->t->nr_below;
	struct d_cell *cell;
	struct lkdf_task t;
	int rc;

	for (i = me->t->below; i < end; i += 1 + me->w->p->node[i].nr_below) {
		cell = d_cell_of(me->w, me->op, 0, i);
		t = d_task_of(me->w, i, cell);
		rc = lkdf_spawn_task(c, &t, NULL);
		if (rc)
			d_wrong(me->w, "task %u: spawn: %d %s", i, rc,
				lkdf_errmsg());
	}
}

static void end_uses(struct d_me *me, struct lkdf_ctx *c)
{
	const struct d_use *u;
	uint32_t i;
	int rc;

	for (i = 0; i < me->t->nr_uses; i++) {
		u = &me->t->use[i];
		if (!u->ends)
			continue;
		rc = lkdf_use_end(c, i, u->is_untouched);
		if (rc)
			d_wrong(me->w, "task %u: end of use %u: %d %s",
				me->node, i, rc, lkdf_errmsg());
	}
}

static int leave(struct d_me *me, struct lkdf_ctx *c, int child_error)
{
	int error;

	if (atomic_fetch_add(&me->cell->nr_ended, 1))
		d_wrong(me->w, "op %u rep %u: task %u ends twice", me->op,
			me->rep, me->node);
	if (d_task_fails(me->t, me->op, me->rep, me->is_of_graph)) {
		error = model_errno(me->t->error);
		return me->node & 1 ? lkdf_fail(c, error, "task %u", me->node)
				    : error;
	}
	return child_error && !me->t->swallows ? child_error : 0;
}

/* After the children. */
static int go_on(struct d_me *me, struct lkdf_ctx *c, int error)
{
	if (!d_is_possible(error, me->expected->child_errors))
		d_wrong(me->w, "op %u task %u: children: %d, not of %#x",
			me->op, me->node, error, me->expected->child_errors);
	if (!error || me->t->swallows)
		touch(me, c, mix(me->cell->seen), true, error != 0);
	return leave(me, c, error);
}

static int body_then(struct lkdf_ctx *c, void *arg)
{
	struct d_me me;

	find_me(&me, c, arg);
	return go_on(&me, c, lkdf_input_error(c, 0));
}

int d_body(struct lkdf_ctx *c, void *arg)
{
	struct d_me me;
	int rc;

	find_me(&me, c, arg);
	begin(&me, c);
	spawn_all(&me, c);
	end_uses(&me, c);
	if (me.t->wait == D_JOIN)
		return go_on(&me, c, lkdf_join(c));
	if (me.t->wait == D_PLAIN)
		return leave(&me, c, 0);
	rc = lkdf_then(c, body_then, (struct lkdf_event){ 0 });
	if (rc)
		d_wrong(me.w, "then: %d %s", rc, lkdf_errmsg());
	return rc;
}
