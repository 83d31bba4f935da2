/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From uses to edges, task by task in the order of adding. We know for each var
 * the last writer, who has read since, and the reducers of an open group.
 *
 *	READ     after the writer
 *	WRITE    after the readers, or without any after the writer: order only
 *	RW       after the writer; after the readers, order only
 *	REDUCE   after the writer; when somebody else comes a task of our own
 *	         combines the copies, and counts as the writer
 *	COMMUTE  as REDUCE, with a token when it runs; our task does nothing,
 *	         and there is none for one use alone
 */
#include "seal/edges.h"

#include "base/err.h"
#include "data/data.h"
#include "graph/control.h"
#include "mem/region.h"
#include "run/values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void edge_no_memory(struct edge_maker *r)
{
	r->rc = err(-ENOMEM, "graph %s: no memory for edges", r->g->name);
}

/* Edges of LKDF_DATA_ONCE pass nothing on that was not chosen. */
static void note_control(struct edge_maker *r, uint32_t from, bool is_known)
{
	if (!is_known)
		r->rc = control_note_data(r->g, from, r->makes_once);
	else if (r->makes_once)
		control_harden(r->g, from);
}

void edge_add(struct edge_maker *r, uint32_t from, uint32_t to, uint32_t why)
{
	uint32_t *stamp;
	bool is_known;

	check(from != to);
	if (from == NO_TASK || from == to || r->rc)
		return;
	stamp = &r->stamp[from];
	is_known = (*stamp & ~STAMP_HARD) == to + 1;
	if (is_known && *stamp & STAMP_HARD)
		return;
	if (!is_known)
		r->rc = graph_order(r->g, from, to);
	if (unlikely(r->g->control) && !r->rc)
		note_control(r, from, is_known);
	*stamp = to + 1;
	if (r->rc)
		return;
	if (why == WHY_HARD) {
		*stamp |= STAMP_HARD;
		if (is_known)
			order_only_forget(r, from, to);
	} else if (!is_known || why != WHY_ORDER_ONLY) {
		order_only_note(r, from, to, why);
	}
}

/* It may leave what it was given as bad as it was. */
static bool carries_error(const struct lkdf_graph *g,
			  const struct access_use *u)
{
	return u->mode & (LKDF_MAYBE | LKDF_WEAK) && u->flags & ACCESS_READS &&
	       graph_is_always(g, u->task);
}

void edge_note_input(struct edge_maker *r, const struct access_use *u,
		     uint32_t var)
{
	const struct access_var *v = access_var(r->w, var);
	struct access_pair *p;

	check(var < r->w->vars.nr);
	if (v->writer == NO_TASK || v->writer == u->task || r->rc ||
	    !(v->carries || graph_is_always(r->g, u->task)))
		return;
	p = array_add(&r->w->inputs);
	if (p)
		*p = (struct access_pair){ v->writer, u->task, u->var, var };
	else
		edge_no_memory(r);
}

/* After who has written it: what he leaves untouched does not fail. */
static void edge_from_writer(struct edge_maker *r, uint32_t var,
			     const struct access_use *to)
{
	const struct access_var *v = access_var(r->w, var);

	check(var < r->w->vars.nr);
	edge_add(r, v->writer, to->task, v->is_maybe ? var : WHY_HARD);
	edge_note_input(r, to, var);
}

static void edges_from_list(struct edge_maker *r, uint32_t use, uint32_t to,
			    uint32_t why)
{
	for (; use != NO_TASK; use = r->next[use])
		edge_add(r, use_at(r, use)->task, to, why);
}

static void note_writer(struct edge_maker *r, const struct access_use *u)
{
	struct access_var *v = access_var(r->w, u->var), *part;
	uint32_t i;

	if (v->part && v->writer == NO_TASK) {
		part = access_var(r->w, access_whole(r->w, u->var));
		/* With all its parts written anew nothing of it is left. */
		if (++part->nr_rewritten == part->nr_parts)
			part->writer = NO_TASK;
	}
	v->writer = u->task;
	v->is_maybe = u->mode & LKDF_MAYBE;
	v->carries = carries_error(r->g, u);
	v->reader = NO_TASK;
	v->nr_writers++;
	v->nr_rewritten = 0;
	for (i = 1; !v->part && i <= v->nr_parts; i++) {
		part = access_var(r->w, u->var + i);
		part->writer = part->reader = NO_TASK;
	}
}

/* After those who wrote what it reads. */
static void after_writers(struct edge_maker *r, struct access_use *u)
{
	struct access_var *v = access_var(r->w, u->var), *whole;
	bool is_first = v->writer == NO_TASK, misses_part = !v->nr_parts;
	uint32_t i, writer;

	edge_from_writer(r, u->var, u);
	if (v->part && is_first) {
		edge_from_writer(r, access_whole(r->w, u->var), u);
		whole = access_var(r->w, access_whole(r->w, u->var));
		is_first = whole->writer == NO_TASK;
	}
	for (i = 1; !v->part && i <= v->nr_parts; i++) {
		writer = access_var(r->w, u->var + i)->writer;
		misses_part |= writer == NO_TASK;
		edge_from_writer(r, u->var + i, u);
	}
	if (is_first && (v->part || misses_part))
		u->flags |= ACCESS_FIRST;
}

/* ---- combining ---------------------------------------------------------- */

static int combine_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return reduction_combine(arg);
}

static int meet_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* The kind of a task of our own. */
static struct lkdf_kind *group_kind(struct edge_maker *r, bool is_reduce)
{
	struct lkdf_kind **k = is_reduce ? &r->combine : &r->meet;
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = is_reduce ? "combine" : "commuted",
		.fn = is_reduce ? combine_body : meet_body,
		.flags = LKDF_SHARED,
	};

	if (!*k)
		r->rc = kind_create(r->g->rt, &a, k);
	if (*k)
		(*k)->is_ours = true;
	return *k;
}

/* Room for one more task and its use. */
static bool make_room(struct edge_maker *r)
{
	size_t nr = r->nr_stamps;
	uint32_t *stamp;

	if (r->g->nr_tasks < nr)
		return true;
	stamp = region_resize(r->stamp, nr * sizeof(*stamp),
			      2 * nr * sizeof(*stamp));
	if (!stamp)
		return false;
	r->stamp = stamp;
	r->nr_stamps = 2 * nr;
	return true;
}

/* A task of our own that comes after all of the group. NULL: see rc. */
static struct access_use *add_task(struct edge_maker *r, uint32_t var,
				   bool is_reduce)
{
	struct access_var *v = access_var(r->w, var);
	struct var *of = domain_var(&v->data->domain, v->part);
	struct access_use *u = NULL;
	int task;

	check(var < r->w->vars.nr);
	if (make_room(r) && group_kind(r, is_reduce)) {
		task = graph_add(r->g, group_kind(r, is_reduce),
				 is_reduce ? of->reduction : NULL, 0);
		u = task < 0 ? NULL : array_add(&r->w->uses);
	}
	if (!u) {
		edge_no_memory(r);
		return NULL;
	}
	*u = (struct access_use){
		.task = (uint32_t)task,
		.var = var,
		.mode = LKDF_RW,
		.flags = ACCESS_READS | ACCESS_WRITES | ACCESS_COMBINES,
	};
	return u;
}

static bool has_always(struct edge_maker *r, uint32_t use)
{
	for (; use != NO_TASK; use = r->next[use])
		if (graph_is_always(r->g, use_at(r, use)->task))
			return true;
	return false;
}

/* The group is complete. */
static void close_group(struct edge_maker *r, uint32_t var)
{
	struct access_var *v = access_var(r->w, var);
	uint32_t use = v->group;
	bool is_reduce = v->group_mode == LKDF_REDUCE;
	struct access_use *u;

	check(var < r->w->vars.nr);
	if (use == NO_TASK || r->rc)
		return;
	v->group = NO_TASK;
	if (!is_reduce && r->next[use] == NO_TASK) {
		note_writer(r, use_at(r, use));
		return;
	}
	u = add_task(r, var, is_reduce);
	if (!u)
		return;
	edges_from_list(r, use, u->task, WHY_HARD);
	/* Those may go where there is nothing to combine their copies with. */
	if (is_reduce && has_always(r, use))
		after_writers(r, u);
	note_writer(r, u);
	if (is_reduce)
		return;
	/* Each of them writes, and ours does not. */
	for (v->nr_writers--; use != NO_TASK; use = r->next[use]) {
		use_at(r, use)->flags |= ACCESS_TOKEN;
		v->nr_writers++;
	}
}

/* ---- one use ------------------------------------------------------------ */

/* The mode of those it goes together with; 0: nobody. */
static uint8_t group_mode(const struct access_use *u)
{
	if (u->mode & LKDF_REDUCE)
		return LKDF_REDUCE;
	return u->mode & LKDF_RW ? 0 : u->mode & LKDF_COMMUTE;
}

static void close_groups(struct edge_maker *r, uint32_t use)
{
	uint8_t mode = group_mode(use_at(r, use));
	uint32_t var = use_at(r, use)->var, i;
	struct access_var *v = access_var(r->w, var);
	uint32_t nr = v->nr_parts;

	if (mode != v->group_mode)
		close_group(r, var);
	if (v->part)
		close_group(r, access_whole(r->w, var));
	for (i = 1; !v->part && i <= nr; i++)
		close_group(r, var + i);
}

/* Readers that a writer of var comes after, by order only. */
static void after_readers_of(struct edge_maker *r, uint32_t var, uint32_t to)
{
	struct access_var *v = access_var(r->w, var);

	check(var < r->w->vars.nr);
	if (v->reader == NO_TASK)
		edge_add(r, v->writer, to, WHY_ORDER_ONLY);
	edges_from_list(r, v->reader, to, WHY_ORDER_ONLY);
}

static void after_readers(struct edge_maker *r, const struct access_use *u)
{
	struct access_var *v = access_var(r->w, u->var);
	uint32_t i;

	after_readers_of(r, u->var, u->task);
	if (v->part)
		after_readers_of(r, access_whole(r->w, u->var), u->task);
	for (i = 1; !v->part && i <= v->nr_parts; i++)
		after_readers_of(r, u->var + i, u->task);
}

static void add_to_list(struct edge_maker *r, uint32_t *list, uint32_t use)
{
	r->next[use] = *list;
	*list = use;
}

static void note_use(struct edge_maker *r, uint32_t use)
{
	struct access_use *u = use_at(r, use);
	struct access_var *v = access_var(r->w, u->var);

	v->reads |= (u->flags & ACCESS_READS) != 0;
	v->writes |= (u->flags & ACCESS_WRITES) != 0;
	v->reads_first |= (u->flags & ACCESS_FIRST) != 0;
	if (group_mode(u)) {
		v->group_mode = group_mode(u);
		add_to_list(r, &v->group, use);
	} else if (u->flags & ACCESS_WRITES) {
		note_writer(r, u);
	} else {
		add_to_list(r, &v->reader, use);
	}
}

/* ---- one task ----------------------------------------------------------- */

/* Uses of the same thing: the first of them, or that of the whole, stands. */
static void merge_use(struct edge_maker *r, struct access_use *into,
		      struct access_use *u)
{
	unsigned weak;

	check(into->task == u->task);
	if ((into->mode ^ u->mode) & LKDF_REDUCE)
		r->rc = err(-EINVAL,
			    "graph %s: task %u: REDUCE and another mode of "
			    "one data",
			    r->g->name, u->task);
	into->flags |= u->flags & (ACCESS_READS | ACCESS_WRITES);
	weak = into->mode & u->mode & LKDF_WEAK;
	into->mode = (uint8_t)(((into->mode | u->mode) & ~LKDF_WEAK) | weak);
	u->flags |= ACCESS_MERGED;
}

static void merge_uses(struct edge_maker *r, uint32_t first, uint32_t end)
{
	struct access_use *a, *b;
	uint32_t i, j;

	check(first <= end && end <= r->w->uses.nr);
	for (i = first; i < end; i++) {
		for (j = i + 1; j < end; j++) {
			a = use_at(r, i);
			b = use_at(r, j);
			if ((a->flags | b->flags) & ACCESS_MERGED)
				continue;
			if (access_is_same(r->w, a, b))
				merge_use(r, a, b);
			else if (access_is_same(r->w, b, a))
				merge_use(r, b, a);
		}
	}
}

static bool has_edges(struct edge_maker *r, const struct access_use *u)
{
	return !(u->flags & ACCESS_MERGED) &&
	       !access_var(r->w, u->var)->is_once;
}

static void task_edges(struct edge_maker *r, uint32_t first, uint32_t end)
{
	struct access_use *u;
	uint32_t i;

	check(first < end && end <= r->w->uses.nr);
	for (i = first; i < end; i++)
		if (has_edges(r, use_at(r, i)))
			close_groups(r, i);
	for (i = first; i < end; i++) {
		u = use_at(r, i);
		if (has_edges(r, u) && u->flags & ACCESS_READS)
			after_writers(r, u);
	}
	for (i = first; i < end; i++) {
		u = use_at(r, i);
		if (has_edges(r, u) && u->flags & ACCESS_WRITES)
			after_readers(r, u);
	}
	for (i = first; i < end; i++)
		if (has_edges(r, use_at(r, i)))
			note_use(r, i);
}

/* For all tasks, one after the other: what is done to the uses of one. */
static void for_tasks(struct edge_maker *r, uint32_t nr_uses,
		      void (*fn)(struct edge_maker *r, uint32_t first,
				 uint32_t end))
{
	uint32_t first, end;

	for (first = 0; first < nr_uses && !r->rc; first = end) {
		for (end = first + 1; end < nr_uses; end++)
			if (use_at(r, end)->task != use_at(r, first)->task)
				break;
		fn(r, first, end);
	}
}

static void close_all_groups(struct edge_maker *r)
{
	uint32_t var;

	for (var = 0; var < r->w->vars.nr; var++)
		close_group(r, var);
}

/* ---- the run's claim, and what each task does --------------------------- */

/* Whose end is the end of the writing. */
static void mark_last(struct edge_maker *r)
{
	struct access_use *u;
	uint32_t i;

	for (i = 0; i < r->w->uses.nr; i++) {
		u = use_at(r, i);
		if (u->flags & ACCESS_WRITES && !(u->mode & LKDF_REDUCE) &&
		    access_var(r->w, u->var)->writer == u->task)
			u->flags |= ACCESS_LAST;
	}
}

int edges_make(struct lkdf_graph *g, struct lkdf_diag *why)
{
	uint32_t nr_uses = (uint32_t)g->accesses->uses.nr;
	struct edge_maker r = { .g = g, .w = g->accesses };

	check(!g->is_sealed);
	r.nr_stamps = g->nr_tasks + 16;
	r.next = region_alloc(nr_uses * sizeof(*r.next));
	r.stamp = region_alloc(r.nr_stamps * sizeof(*r.stamp));
	if (!r.next || !r.stamp)
		edge_no_memory(&r);
	for_tasks(&r, nr_uses, merge_uses);
	once_find_producers(&r, why);
	if (r.w->has_ordered && !r.rc)
		order_only_collect(&r);
	if (r.w->has_ordered)
		for_tasks(&r, nr_uses, task_edges);
	close_all_groups(&r);
	once_edges(&r, why);
	if (!r.rc) {
		access_number_claims(r.w);
		mark_last(&r);
	}
	array_fini(&r.hard);
	region_free(r.next, nr_uses * sizeof(*r.next));
	region_free(r.stamp, r.nr_stamps * sizeof(*r.stamp));
	kind_put(r.combine);
	kind_put(r.meet);
	return r.rc;
}
