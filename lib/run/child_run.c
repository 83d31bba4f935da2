/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/child_run.h"

#include "base/err.h"
#include "data/data.h"
#include "graph/access.h"
#include "mechanism/publish/publish.h"
#include "run/frame.h"
#include "sched/worker.h"
#include "task/ctx.h"
#include "task/task.h"

#include <errno.h>

static int refuse_tokens(const struct lkdf_graph *g)
{
	char name[NAME_SIZE];
	uint32_t i = 0;

	while (!(g->recs[i].flags & REC_TOKEN))
		i++;
	return err(-EINVAL,
		   "spawn_graph: graph %s has inflight %u, and task %s is not "
		   "LKDF_SHARED: its calls would wait for those of other runs",
		   g->name, g->nr_frames,
		   graph_task_name(g, graph_number(g, i), name, sizeof(name)));
}

static int refuse_data(const struct lkdf_graph *g)
{
	const struct access_table *w = g->accesses;
	const struct access_var *v;
	char text[DATA_TEXT];

	if (!w->nr_claims)
		return err(-EOPNOTSUPP,
			   "spawn_graph: tasks of graph %s use data with "
			   "LKDF_COMMUTE, for which runs wait for each other",
			   g->name);
	v = access_var(w, w->claimed[0]);
	return err(-EOPNOTSUPP,
		   "spawn_graph: tasks of graph %s use %s, which is not "
		   "LKDF_DATA_ONCE: the run would wait for others, and they "
		   "for this body",
		   g->name, data_text(v->data, v->part, text));
}

/* Limits of its kinds, of which its parents may hold too much. */
static int check_limits(const struct task *parent, const struct lkdf_graph *g)
{
	struct lkdf_kind *const *kinds = g->kinds.items;
	int rc = 0;
	size_t i;

	for (i = 0; i < g->kinds.cap && !rc; i++)
		if (kinds[i] && kinds[i]->nr_limits)
			rc = task_may_have_child(parent, kinds[i]);
	return rc;
}

int child_run_start(struct lkdf_ctx *c, struct lkdf_graph *g,
		    const struct lkdf_run *r)
{
	const struct access_table *w = g->accesses;
	bool is_first = !c->task;
	struct task *parent;
	int rc;

	if (g->has_tokens)
		return refuse_tokens(g);
	if (w && (w->nr_claims || w->nr_tokens))
		return refuse_data(g);
	parent = task_of_ctx(c);
	if (!parent)
		return -ENOMEM;
	rc = check_limits(parent, g);
	if (rc)
		return rc;
	/* It may end before this call does. */
	parent->nr_spawned++;
	rc = frame_start(g, parent->scope, r, parent, NULL);
	parent->nr_spawned -= rc != 0;
	/* The graph's body was taken for a short one, but it may wait now. */
	if (!rc && is_first && c->ex->worker)
		worker_share_all(c->ex->worker);
	return rc;
}
