/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/graph.h"

#include "core/home.h"
#include "core/ops.h"
#include "graph/access.h"
#include "graph/graph.h"
#include "graph/include.h"
#include "graph/recording.h"
#include "io/io.h"
#include "offload/kernel.h"
#include "run/child_run.h"
#include "run/frame.h"
#include "run/stream.h"
#include "seal/seal.h"
#include "task/ctx.h"
#include "task/give_way.h"
#include "task/homes.h"
#include "task/uses_check.h"

int lkdf_graph_create(struct lkdf *rt, const struct lkdf_graph_attr *attr,
		      struct lkdf_graph **out)
{
	struct lkdf_graph_attr a = { 0 };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "graph: out is NULL");
	if (attr) {
		rc = border_copy(attr, &a, sizeof(a), "lkdf_graph_attr");
		if (rc)
			return rc;
	}
	rc = border_flags("graph", a.flags, 0);
	if (rc)
		return rc;
	if (a.inflight > MAX_INFLIGHT)
		return err(-EINVAL, "graph: inflight %u, at most %d",
			   a.inflight, MAX_INFLIGHT);
	if (a.hint_tasks > MAX_TASKS / 2)
		return err(-EINVAL, "graph: hint_tasks %u, at most %u",
			   a.hint_tasks, MAX_TASKS / 2);
	rc = graph_create(rt, &a, out);
	if (!rc)
		handle_add(rt, &(*out)->handle, HANDLE_GRAPH);
	return rc;
}

static int check_add(struct lkdf_graph *g, const struct lkdf_kind *k,
		     const void *arg)
{
	if (unlikely(!k))
		return err(-EINVAL, "graph %s: kind is NULL", g->name);
	if (unlikely(k->rt != g->rt))
		return err(-EINVAL, "graph %s: kind %s %s", g->name, k->name,
			   border_whose(k->rt));
	if (unlikely(k->arg_size && !arg))
		return err(-EINVAL,
			   "graph %s: kind %s copies %u bytes, arg is NULL",
			   g->name, k->name, k->arg_size);
	if (unlikely(a_load(&k->is_dead, relaxed)))
		return err(-EINVAL, "graph %s: kind %s was put", g->name,
			   k->name);
	return unlikely(k->is_away) ? k->ops->check_arg(arg) : 0;
}

static int add_to_graph(struct lkdf_graph *g, struct lkdf_kind *k,
			const void *arg, int prio)
{
	int rc = check_add(g, k, arg);

	if (likely(!rc))
		rc = graph_add(g, k, arg, prio);
	return likely(rc >= 0) ? rc : graph_broken(g, rc);
}

/* For the task just added; returns its number again. */
static __attribute__((noinline)) int add_uses(struct lkdf_graph *g, int task,
					      const struct lkdf_use *use,
					      unsigned nr)
{
	uint32_t flags;
	const struct kernel *k = g->recs[task].kind->kernel;
	int rc = uses_check(g->rt, use, nr, &flags);

	if (!rc && unlikely(k != NULL))
		rc = kernel_check_uses(k, use, nr);
	if (!rc)
		rc = access_add(g, (uint32_t)task, use, nr);
	return rc ? graph_broken(g, rc) : task;
}

int lkdf_graph_add(struct lkdf_graph *g, struct lkdf_kind *k, const void *arg,
		   const struct lkdf_use *use, unsigned nr)
{
	int rc = graph_check_open(g, "add");

	if (unlikely(rc))
		return rc;
	rc = add_to_graph(g, k, arg, LKDF_PRIO_DEFAULT);
	return likely(!nr) || rc < 0 ? rc : add_uses(g, rc, use, nr);
}

/* A task that border_task() has checked. */
static int add_task(struct lkdf_graph *g, const struct lkdf_task *t)
{
	int rc = border_place(g->rt, t), nr;
	uint16_t home;

	if (t->nr_after)
		rc = err(-EINVAL,
			 "graph %s: a task after events, which fire "
			 "once; use uses or lkdf_graph_order()",
			 g->name);
	if (t->deadline_ns)
		rc = err(-EINVAL,
			 "graph %s: a task with a deadline; runs have "
			 "one, see lkdf_run",
			 g->name);
	if (rc)
		return graph_broken(g, rc);
	home = home_of(t);
	nr = add_to_graph(g, t->kind, t->arg, t->prio);
	if (nr >= 0 && t->nr_use)
		nr = add_uses(g, nr, t->use, t->nr_use);
	if (nr >= 0 && t->label) {
		rc = graph_label(g, (uint32_t)nr, t->label);
		if (rc)
			return graph_broken(g, rc);
	}
	if (nr >= 0 && t->flags & LKDF_PROFILE) {
		rc = graph_profile(g, (uint32_t)nr);
		if (rc)
			return graph_broken(g, rc);
	}
	if (nr < 0 || home == HOME_NONE)
		return nr;
	if (home_is_part(home) || t->kind->kernel)
		rc = graph_place_at(g, (uint32_t)nr, home, t->place->node);
	else
		rc = graph_place(g, (uint32_t)nr, home);
	return rc ? graph_broken(g, rc) : nr;
}

int lkdf_graph_add_task(struct lkdf_graph *g, const struct lkdf_task *task)
{
	struct lkdf_task room;
	int rc = graph_check_open(g, "add_task");

	if (rc)
		return rc;
	rc = border_task(&task, &room);
	return rc ? graph_broken(g, rc) : add_task(g, task);
}

int lkdf_graph_record(struct lkdf_graph *g, struct lkdf_scope *s)
{
	int rc = graph_check_open(g, "record");

	if (rc)
		return rc;
	if (!s)
		return err(-EINVAL, "record: scope is NULL; the root scope "
				    "cannot be recorded");
	if (s->rt != g->rt)
		return err(-EINVAL, "record: scope %s %s", s->name,
			   border_whose(s->rt));
	return recording_begin(g, s);
}

static int record_scope(struct lkdf_graph *g, const struct lkdf_task *task,
			bool has_done)
{
	struct lkdf_task room;
	int rc;

	if (has_done)
		return graph_broken(
			g, err(-EINVAL,
			       "submit: scope \"%s\" is recorded by graph %s, "
			       "where done is not known",
			       g->recorded->name, g->name));
	rc = border_task(&task, &room);
	return rc ? graph_broken(g, rc) : add_task(g, task);
}

int border_record(struct lkdf_scope *s, const struct lkdf_task *task,
		  bool has_done, int *nr)
{
	struct lkdf_graph *g = recording_lock(s);

	if (!g)
		return 0;
	*nr = record_scope(g, task, has_done);
	recording_unlock(s);
	return 1;
}

int graph_no_such_task(const struct lkdf_graph *g, int32_t task,
		       const char *what)
{
	return err(-EINVAL, "%s: graph %s has no task %d, it has %u", what,
		   g->name, task, g->nr_tasks);
}

int lkdf_graph_label(struct lkdf_graph *g, int32_t task, const char *label)
{
	int rc = graph_check_open(g, "label");

	if (rc)
		return rc;
	if ((uint32_t)task >= g->nr_tasks)
		return graph_no_such_task(g, task, "label");
	if (!label)
		return err(-EINVAL, "label: graph %s: label is NULL", g->name);
	return graph_label(g, (uint32_t)task, label);
}

int lkdf_graph_order(struct lkdf_graph *g, int32_t before, int32_t after)
{
	int rc = graph_check_open(g, "order");

	if (unlikely(rc))
		return rc;
	if (unlikely((uint32_t)before >= g->nr_tasks))
		return graph_broken(g, graph_no_such_task(g, before, "order"));
	if (unlikely((uint32_t)after >= g->nr_tasks))
		return graph_broken(g, graph_no_such_task(g, after, "order"));
	if (unlikely(before == after))
		return graph_broken(
			g, err(-EINVAL, "order: graph %s: task %d after itself",
			       g->name, after));
	rc = graph_order(g, include_from(g, (uint32_t)before), (uint32_t)after);
	return likely(!rc) ? 0 : graph_broken(g, rc);
}

static int check_include(const struct lkdf_graph *g,
			 const struct lkdf_graph *part)
{
	if (!part)
		return err(-EINVAL, "include: graph %s: part is NULL", g->name);
	if (part == g)
		return err(-EINVAL,
			   "include: graph %s into itself; a body runs it "
			   "again, see lkdf_spawn_graph()",
			   g->name);
	if (part->rt != g->rt)
		return err(-EINVAL, "include: graph %s %s", part->name,
			   border_whose(part->rt));
	if (part->is_sealed)
		return err(-EROFS,
			   "include: graph %s is sealed; it is included while "
			   "tasks may be added to it",
			   part->name);
	if (part->broken)
		return err(part->broken, "include: graph %s: %s", part->name,
			   part->why);
	return 0;
}

int lkdf_graph_include(struct lkdf_graph *g, struct lkdf_graph *part)
{
	int rc = graph_check_open(g, "include");

	if (rc)
		return rc;
	rc = check_include(g, part);
	if (!rc)
		rc = graph_include(g, part);
	return rc >= 0 ? rc : graph_broken(g, rc);
}

int lkdf_graph_seal(struct lkdf_graph *g, struct lkdf_diag *why)
{
	int rc;

	if (!g)
		return err(-EINVAL, "seal: the graph is NULL");
	rc = border_owner(g->rt, "seal", "graph", g->name);
	if (rc)
		return rc;
	if (why && why->size < offsetof(struct lkdf_diag, text))
		return err(-EINVAL, "seal: size %u of lkdf_diag is not set",
			   why->size);
	recording_end(g);
	return graph_seal(g, why);
}

/* It serves runs of any sort; a stream looks at max_waves itself. */
static int check_waves(const struct lkdf_graph *g, const struct lkdf_run *r)
{
	if (r->pad)
		return err(-EINVAL, "run: pad is %u, not 0", r->pad);
	if (r->flags & LKDF_RUN_STREAM)
		return 0;
	if (r->flags & LKDF_RUN_GO_ON)
		return err(-EINVAL, "run: GO_ON without STREAM");
	if (r->max_waves)
		return err(-EINVAL,
			   "run: graph %s: max_waves %u without STREAM, and "
			   "only a stream has waves; set LKDF_RUN_STREAM, or "
			   "bound runs by the graph's inflight",
			   g->name, r->max_waves);
	return 0;
}

/* The graph and the attributes of a run of it, copied; r is zeroed. */
static int check_run(const struct lkdf_graph *g, const struct lkdf_run *run,
		     struct lkdf_run *r)
{
	int rc;

	if (!g)
		return err(-EINVAL, "run: the graph is NULL");
	rc = border_owner(g->rt, "run", "graph", g->name);
	if (rc)
		return rc;
	if (!g->is_sealed)
		return err(-EBADFD, "run: graph %s is not sealed", g->name);
	if (run) {
		rc = border_copy(run, r, sizeof(*r), "lkdf_run");
		if (rc)
			return rc;
	}
	rc = border_flags("run", r->flags,
			  LKDF_RUN_NOWAIT | LKDF_RUN_STREAM | LKDF_RUN_GO_ON);
	if (!rc)
		rc = check_waves(g, r);
	return rc ? rc : border_deadline("run", r->deadline_ns);
}

int lkdf_graph_run(struct lkdf_graph *g, struct lkdf_scope *s,
		   const struct lkdf_run *run, struct lkdf_event *done)
{
	struct lkdf_run r = { 0 };
	int rc = check_run(g, run, &r);

	if (rc)
		return rc;
	if (s && s->rt != g->rt)
		return err(-EINVAL, "run: scope %s %s", s->name,
			   border_whose(s->rt));
	if (r.flags & LKDF_RUN_STREAM)
		return stream_start(g, s ? s : g->rt->root, &r, done);
	rc = frame_start(g, s ? s : g->rt->root, &r, NULL, done);
	return give_way_if(g->rt, rc, -EAGAIN);
}

int lkdf_spawn_graph(struct lkdf_ctx *c, struct lkdf_graph *g,
		     const struct lkdf_run *run)
{
	struct lkdf_run r = { 0 };
	int rc = border_ctx(c, "spawn_graph");

	if (!rc)
		rc = check_run(g, run, &r);
	if (rc)
		return rc;
	if (g->rt != c->ex->rt)
		return err(-EINVAL, "spawn_graph: graph %s %s", g->name,
			   border_whose(g->rt));
	if (r.flags & LKDF_RUN_STREAM)
		return err(-EINVAL,
			   "spawn_graph: graph %s: a child run is no STREAM",
			   g->name);
	return give_way_if(g->rt, child_run_start(c, g, &r), -EAGAIN);
}

int lkdf_graph_set(struct lkdf_graph *g, int32_t task, const void *arg)
{
	const struct lkdf_kind *k;
	int rc;

	if (!g)
		return err(-EINVAL, "set: the graph is NULL");
	rc = border_owner(g->rt, "set", "graph", g->name);
	if (rc)
		return rc;
	if (!g->is_sealed)
		return err(-EBADFD, "set: graph %s is not sealed", g->name);
	if ((uint32_t)task >= g->nr_tasks)
		return graph_no_such_task(g, task, "set");
	k = g->recs[graph_index(g, (uint32_t)task)].kind;
	if (k->drop && include_around(g, (uint32_t)task))
		return err(-EOPNOTSUPP,
			   "set: graph %s: task %d is of an included graph, "
			   "which keeps the arguments of kind %s",
			   g->name, task, k->name);
	rc = check_add(g, k, arg);
	return rc ? rc : frame_set_arg(g, (uint32_t)task, arg);
}

int lkdf_graph_dump(const struct lkdf_graph *g, int fd, const char *format)
{
	if (!g || !format)
		return err(-EINVAL, "dump: graph or format is NULL");
	if (!g->rt)
		return border_owner(g->rt, "dump", "graph", g->name);
	return graph_dump(g, fd, format);
}

void lkdf_graph_put(struct lkdf_graph *g)
{
	if (!g || !handle_drop(g->rt, &g->handle, "graph_put", g->name))
		return;
	recording_end(g);
	graph_put(g);
}
