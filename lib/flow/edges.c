/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From uses to edges, task by task in the order of adding. Of each var we know
 * the last writer, who has read since, and the reducers of an open group.
 *
 *	READ     after the writer
 *	WRITE    softly after the readers, or without any after the writer
 *	RW       after the writer, softly after the readers
 *	COMMUTE  as RW: one of the orders it allows
 *	REDUCE   after the writer; when somebody else comes a task of our own
 *	         combines the copies, and counts as the writer
 */
#include "flow/wire.h"

#include "base/err.h"
#include "flow/data.h"
#include "flow/values.h"
#include "mem/region.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STAMP_SOFT (1u << 31)

struct wirer {
	struct lkdf_graph *g;
	struct wiring *w;
	uint32_t *next; /* lists of uses, by use */
	uint32_t *stamp; /* by task: the last it has an edge to, plus 1; SOFT */
	size_t nr_stamps;
	struct lkdf_kind *combine;
	uint32_t task; /* whose uses we look at */
	int rc;
};

static struct wire_use *use_at(struct wirer *r, uint32_t i)
{
	return (struct wire_use *)r->w->uses.items + i;
}

static void no_memory(struct wirer *r)
{
	r->rc = err(-ENOMEM, "graph %s: no memory for edges", r->g->name);
}

static void edge(struct wirer *r, uint32_t from, uint32_t to, bool is_soft)
{
	uint32_t soft = to + 1 + STAMP_SOFT;
	struct wire_pair *p;

	if (from == NO_TASK || from == to || r->rc ||
	    r->stamp[from] == to + 1 || (is_soft && r->stamp[from] == soft))
		return;
	/* A second one makes it hard: see wire_index(). */
	r->stamp[from] = is_soft ? soft : to + 1;
	r->rc = graph_order(r->g, from, to);
	if (r->rc || !is_soft)
		return;
	p = array_add(&r->w->soft);
	if (!p) {
		no_memory(r);
		return;
	}
	p->from = from;
	p->to = to;
}

static void edges_from_list(struct wirer *r, uint32_t use, uint32_t to,
			    bool is_soft)
{
	for (; use != NO_TASK; use = r->next[use])
		edge(r, use_at(r, use)->task, to, is_soft);
}

static uint32_t whole_of(const struct wiring *w, uint32_t var)
{
	return var - wire_var(w, var)->part;
}

static void note_writer(struct wirer *r, const struct wire_use *u)
{
	struct wire_var *v = wire_var(r->w, u->var), *part;
	uint32_t i;

	if (v->part && v->writer == NO_TASK) {
		part = wire_var(r->w, whole_of(r->w, u->var));
		/* With all its parts written anew nothing of it is left. */
		if (++part->nr_rewritten == part->nr_parts)
			part->writer = NO_TASK;
	}
	v->writer = u->task;
	v->reader = NO_TASK;
	v->nr_writers++;
	v->nr_rewritten = 0;
	for (i = 1; !v->part && i <= v->nr_parts; i++) {
		part = wire_var(r->w, u->var + i);
		part->writer = part->reader = NO_TASK;
	}
}

/* ---- combining ---------------------------------------------------------- */

static int combine_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return reduction_combine(arg);
}

static struct lkdf_kind *combine_kind(struct wirer *r)
{
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "combine",
		.fn = combine_body,
		.flags = LKDF_SHARED,
	};

	if (!r->combine)
		r->rc = kind_create(r->g->rt, &a, &r->combine);
	if (r->combine)
		r->combine->is_ours = true;
	return r->combine;
}

/* Room for one more task and its use. */
static bool make_room(struct wirer *r)
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

/* The group of reducers is complete. */
static void close_group(struct wirer *r, uint32_t var)
{
	struct wire_var *v = wire_var(r->w, var);
	struct lkdf_data *d = v->data;
	struct wire_use *u;
	int task;

	if (v->reducer == NO_TASK || r->rc)
		return;
	if (!make_room(r) || !combine_kind(r)) {
		if (!r->rc)
			no_memory(r);
		return;
	}
	task = graph_add(r->g, r->combine,
			 domain_var(&d->domain, v->part)->reduction, 0);
	u = task < 0 ? NULL : array_add(&r->w->uses);
	if (!u) {
		no_memory(r);
		return;
	}
	*u = (struct wire_use){
		.task = (uint32_t)task,
		.var = var,
		.mode = LKDF_RW,
		.flags = WIRE_READS | WIRE_WRITES | WIRE_COMBINES,
	};
	edges_from_list(r, v->reducer, u->task, false);
	v->reducer = NO_TASK;
	note_writer(r, u);
}

/* ---- one use --------------------------------------------------------------
 */

static void close_groups(struct wirer *r, uint32_t var, bool is_reduce)
{
	struct wire_var *v = wire_var(r->w, var);
	uint32_t i, nr = v->nr_parts;

	if (!is_reduce)
		close_group(r, var);
	if (v->part)
		close_group(r, whole_of(r->w, var));
	for (i = 1; !v->part && i <= nr; i++)
		close_group(r, var + i);
}

/* After those who wrote what it reads. */
static void after_writers(struct wirer *r, struct wire_use *u)
{
	struct wire_var *v = wire_var(r->w, u->var), *whole;
	bool is_first = v->writer == NO_TASK, misses_part = !v->nr_parts;
	uint32_t i, writer;

	edge(r, v->writer, u->task, false);
	if (v->part && is_first) {
		whole = wire_var(r->w, whole_of(r->w, u->var));
		edge(r, whole->writer, u->task, false);
		is_first = whole->writer == NO_TASK;
	}
	for (i = 1; !v->part && i <= v->nr_parts; i++) {
		writer = wire_var(r->w, u->var + i)->writer;
		misses_part |= writer == NO_TASK;
		edge(r, writer, u->task, false);
	}
	if (is_first && (v->part || misses_part))
		u->flags |= WIRE_FIRST;
}

/* What a writer of var comes after, softly. */
static void after_readers_of(struct wirer *r, uint32_t var, uint32_t to)
{
	struct wire_var *v = wire_var(r->w, var);

	if (v->reader == NO_TASK)
		edge(r, v->writer, to, true);
	edges_from_list(r, v->reader, to, true);
}

static void after_readers(struct wirer *r, const struct wire_use *u)
{
	struct wire_var *v = wire_var(r->w, u->var);
	uint32_t i;

	after_readers_of(r, u->var, u->task);
	if (v->part)
		after_readers_of(r, whole_of(r->w, u->var), u->task);
	for (i = 1; !v->part && i <= v->nr_parts; i++)
		after_readers_of(r, u->var + i, u->task);
}

static void add_to_list(struct wirer *r, uint32_t *list, uint32_t use)
{
	r->next[use] = *list;
	*list = use;
}

static void note(struct wirer *r, uint32_t use)
{
	struct wire_use *u = use_at(r, use);
	struct wire_var *v = wire_var(r->w, u->var);

	v->reads |= (u->flags & WIRE_READS) != 0;
	v->writes |= (u->flags & WIRE_WRITES) != 0;
	v->reads_first |= (u->flags & WIRE_FIRST) != 0;
	if (u->mode & LKDF_REDUCE)
		add_to_list(r, &v->reducer, use);
	else if (u->flags & WIRE_WRITES)
		note_writer(r, u);
	else
		add_to_list(r, &v->reader, use);
}

/* ---- one task --------------------------------------------------------------
 */

/* Uses of the same thing: the first of them, or that of the whole, stands. */
static bool is_same(const struct wiring *w, const struct wire_use *a,
		    const struct wire_use *b)
{
	return a->var == b->var ||
	       (!wire_var(w, a->var)->part && whole_of(w, b->var) == a->var);
}

static void merge(struct wirer *r, struct wire_use *into, struct wire_use *u)
{
	if ((into->mode ^ u->mode) & LKDF_REDUCE)
		r->rc = err(-EINVAL,
			    "graph %s: task %u: REDUCE and another mode of "
			    "one data",
			    r->g->name, u->task);
	into->flags |= u->flags & (WIRE_READS | WIRE_WRITES);
	into->mode |= u->mode;
	u->flags |= WIRE_MERGED;
}

static void merge_uses(struct wirer *r, uint32_t first, uint32_t end)
{
	struct wire_use *a, *b;
	uint32_t i, j;

	for (i = first; i < end; i++) {
		for (j = first; j < end; j++) {
			a = use_at(r, i);
			b = use_at(r, j);
			if (i != j && !((a->flags | b->flags) & WIRE_MERGED) &&
			    is_same(r->w, a, b))
				merge(r, a, b);
		}
	}
}

static bool is_wired(struct wirer *r, const struct wire_use *u)
{
	return !(u->flags & WIRE_MERGED) && !wire_var(r->w, u->var)->is_once;
}

static void wire_task(struct wirer *r, uint32_t first, uint32_t end)
{
	struct wire_use *u;
	uint32_t i;

	merge_uses(r, first, end);
	for (i = first; i < end; i++)
		if (is_wired(r, use_at(r, i)))
			close_groups(r, use_at(r, i)->var,
				     use_at(r, i)->mode & LKDF_REDUCE);
	for (i = first; i < end; i++) {
		u = use_at(r, i);
		if (is_wired(r, u) && u->flags & WIRE_READS)
			after_writers(r, u);
	}
	for (i = first; i < end; i++) {
		u = use_at(r, i);
		if (is_wired(r, u) && u->flags & WIRE_WRITES)
			after_readers(r, u);
	}
	for (i = first; i < end; i++)
		if (is_wired(r, use_at(r, i)))
			note(r, i);
}

static void wire_tasks(struct wirer *r, uint32_t nr_uses)
{
	uint32_t first, end, var;

	for (first = 0; first < nr_uses && !r->rc; first = end) {
		for (end = first + 1; end < nr_uses; end++)
			if (use_at(r, end)->task != use_at(r, first)->task)
				break;
		wire_task(r, first, end);
	}
	for (var = 0; var < r->w->vars.nr; var++)
		close_group(r, var);
}

/* ---- variables of one producer ----------------------------------------------
 */

static void two_producers(struct wirer *r, const struct wire_var *v,
			  uint32_t task, struct lkdf_diag *why)
{
	char one[NAME_SIZE], two[NAME_SIZE], text[DATA_TEXT];

	why->path[0] = (int32_t)v->writer;
	why->path[1] = (int32_t)task;
	why->nr = 2;
	r->rc = err(-EEXIST, "graph %s: %s has two producers: %s and %s",
		    r->g->name, data_text(v->data, v->part, text),
		    graph_task_name(r->g, v->writer, one, sizeof(one)),
		    graph_task_name(r->g, task, two, sizeof(two)));
}

static void find_producers(struct wirer *r, struct lkdf_diag *why)
{
	char name[NAME_SIZE], text[DATA_TEXT];
	struct wire_use *u;
	struct wire_var *v;
	uint32_t i;

	for (i = 0; i < r->w->uses.nr && !r->rc; i++) {
		u = use_at(r, i);
		v = wire_var(r->w, u->var);
		if (!v->is_once || !(u->flags & WIRE_WRITES))
			continue;
		if (v->writer != NO_TASK && v->writer != u->task)
			two_producers(r, v, u->task, why);
		else if (v->data->domain.whole.has_value &&
			 !(v->data->flags & LKDF_DATA_KEEP))
			r->rc = err(-EEXIST,
				    "graph %s: %s has an initial value and "
				    "the producer %s",
				    r->g->name, data_text(v->data, 0, text),
				    graph_task_name(r->g, u->task, name,
						    sizeof(name)));
		if (u->flags & WIRE_READS && !r->rc)
			r->rc = err(-EINVAL,
				    "graph %s: %s reads %s, which it produces",
				    r->g->name,
				    graph_task_name(r->g, u->task, name,
						    sizeof(name)),
				    data_text(v->data, 0, text));
		v->writer = u->task;
		v->writes = true;
		v->nr_writers = 1;
		u->flags |= WIRE_LAST;
	}
}

static void nobody_produces(struct wirer *r, const struct wire_use *u,
			    struct lkdf_diag *why)
{
	struct wire_var *v = wire_var(r->w, u->var);
	char name[NAME_SIZE], text[DATA_TEXT];

	why->path[0] = (int32_t)u->task;
	why->nr = 1;
	r->rc = err(-ENODATA,
		    "graph %s: nobody produces %s, which %s reads, and it has "
		    "no initial value",
		    r->g->name, data_text(v->data, v->part, text),
		    graph_task_name(r->g, u->task, name, sizeof(name)));
}

static void wire_once(struct wirer *r, struct lkdf_diag *why)
{
	struct wire_use *u;
	struct wire_var *v;
	uint32_t i;

	find_producers(r, why);
	for (i = 0; i < r->w->uses.nr && !r->rc; i++) {
		u = use_at(r, i);
		v = wire_var(r->w, u->var);
		if (!v->is_once || u->flags & (WIRE_WRITES | WIRE_MERGED))
			continue;
		v->nr_readers++;
		if (v->writer != NO_TASK) {
			edge(r, v->writer, u->task, false);
			continue;
		}
		v->reads = v->reads_first = true;
		u->flags |= WIRE_FIRST;
		if (!v->data->domain.whole.has_value)
			nobody_produces(r, u, why);
	}
}

/* ---- the run's claim, and what each task does
 * --------------------------------- */

/* Whose end is the end of the writing. */
static void mark_last(struct wirer *r)
{
	struct wire_use *u;
	uint32_t i;

	for (i = 0; i < r->w->uses.nr; i++) {
		u = use_at(r, i);
		if (u->flags & WIRE_WRITES && !(u->mode & LKDF_REDUCE) &&
		    wire_var(r->w, u->var)->writer == u->task)
			u->flags |= WIRE_LAST;
	}
}

/* Tasks that produce or read brief bytes get a kind that sees to them. */
static void wrap_kinds(struct wirer *r)
{
	struct wire_use *u;
	struct rec *rec;
	uint32_t i;

	for (i = 0; i < r->w->uses.nr && !r->rc; i++) {
		u = use_at(r, i);
		rec = &r->g->recs[u->task];
		if (!(u->flags & WIRE_BRIEF) || rec->kind->body)
			continue;
		rec->kind = kind_wrap(rec->kind, values_body);
		if (!rec->kind)
			no_memory(r);
	}
}

int wire_seal(struct lkdf_graph *g, struct lkdf_diag *why)
{
	uint32_t nr_uses = (uint32_t)g->wiring->uses.nr;
	struct wirer r = { .g = g, .w = g->wiring };

	r.nr_stamps = g->nr_tasks + 16;
	r.next = region_alloc(nr_uses * sizeof(*r.next));
	r.stamp = region_alloc(r.nr_stamps * sizeof(*r.stamp));
	if (!r.next || !r.stamp)
		no_memory(&r);
	if (!r.rc)
		wire_tasks(&r, nr_uses);
	if (!r.rc)
		wire_once(&r, why);
	if (!r.rc) {
		wire_number_claims(r.w);
		mark_last(&r);
		wrap_kinds(&r);
	}
	region_free(r.next, nr_uses * sizeof(*r.next));
	region_free(r.stamp, r.nr_stamps * sizeof(*r.stamp));
	if (r.combine)
		kind_put(r.combine);
	return r.rc;
}
