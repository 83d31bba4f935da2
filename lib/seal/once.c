/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Edges of LKDF_DATA_ONCE: from the one producer to its readers, whatever the
 * order of adding.
 */
#include "seal/edges.h"

#include "base/err.h"
#include "data/data.h"

#include <errno.h>

static void two_producers(struct edge_maker *r, const struct access_var *v,
			  uint32_t task, struct lkdf_diag *why)
{
	char one[NAME_SIZE], two[NAME_SIZE], text[DATA_TEXT];

	check(v->is_once);
	why->path[0] = (int32_t)v->writer;
	why->path[1] = (int32_t)task;
	why->nr = 2;
	r->rc = err(-EEXIST, "graph %s: %s has two producers: %s and %s",
		    r->g->name, data_text(v->data, v->part, text),
		    graph_task_name(r->g, v->writer, one, sizeof(one)),
		    graph_task_name(r->g, task, two, sizeof(two)));
}

void once_find_producers(struct edge_maker *r, struct lkdf_diag *why)
{
	char name[NAME_SIZE], text[DATA_TEXT];
	struct access_use *u;
	struct access_var *v;
	uint32_t i;

	for (i = 0; i < r->w->uses.nr && !r->rc; i++) {
		u = use_at(r, i);
		v = access_var(r->w, u->var);
		if (!v->is_once || !(u->flags & ACCESS_WRITES))
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
		if (u->flags & ACCESS_READS && !r->rc)
			r->rc = err(-EINVAL,
				    "graph %s: %s reads %s, which it produces",
				    r->g->name,
				    graph_task_name(r->g, u->task, name,
						    sizeof(name)),
				    data_text(v->data, 0, text));
		v->writer = u->task;
		v->writes = true;
		v->nr_writers = 1;
		u->flags |= ACCESS_LAST;
	}
}

static void nobody_produces(struct edge_maker *r, const struct access_use *u,
			    struct lkdf_diag *why)
{
	struct access_var *v = access_var(r->w, u->var);
	char name[NAME_SIZE], text[DATA_TEXT];

	why->path[0] = (int32_t)u->task;
	why->nr = 1;
	r->rc = err(-ENODATA,
		    "graph %s: nobody produces %s, which %s reads, and it has "
		    "no initial value",
		    r->g->name, data_text(v->data, v->part, text),
		    graph_task_name(r->g, u->task, name, sizeof(name)));
}

void once_edges(struct edge_maker *r, struct lkdf_diag *why)
{
	struct access_use *u;
	struct access_var *v;
	uint32_t i;

	r->makes_once = true;
	for (i = 0; i < r->w->uses.nr && !r->rc; i++) {
		u = use_at(r, i);
		v = access_var(r->w, u->var);
		if (!v->is_once || u->flags & (ACCESS_WRITES | ACCESS_MERGED))
			continue;
		v->nr_readers++;
		if (v->writer != NO_TASK) {
			edge_add(r, v->writer, u->task, WHY_HARD);
			edge_note_input(r, u, u->var);
			continue;
		}
		v->reads = v->reads_first = true;
		u->flags |= ACCESS_FIRST;
		if (!v->data->domain.whole.has_value)
			nobody_produces(r, u, why);
	}
}
