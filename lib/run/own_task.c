/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/own_task.h"

#include "core/failure.h"
#include "core/home.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "mechanism/holdoff/holdoff.h"
#include "run/checked_run.h"
#include "run/control.h"
#include "run/resolve.h"
#include "run/static_run.h"
#include "run/stream.h"
#include "run/task_claim.h"
#include "task/checked.h"
#include "task/complete.h"
#include "task/traced.h"

struct task *own_task_create(struct executor *ex, struct frame *f,
			     uint32_t index)
{
	const struct rec *r = &f->recs[index];
	struct task *t = task_create_group(ex->rt, ex, r->kind);

	check(frame_has(f, index));
	if (!t)
		return NULL;
	/* The graph keeps the argument and drops it. */
	t->link.flags = (r->kind->task_flags & ~(TASK_HAS_DROP | TASK_URGENT)) |
			TASK_OWNED;
	t->link.class = r->flags & REC_CLASS;
	t->owner = &own_task_ops;
	t->scope = f->scope;
	if (unlikely(f->parent != NULL))
		/* A join above knows it by that; nobody counts it. */
		task_set_parent(t, f->parent);
	t->arg = r->arg;
	t->frame = f;
	t->index = index;
	if (unlikely(f->graph->rt->check != NULL))
		checked_made(t);
	t->is_dead = false;
	t->branch = 0;
	t->io_home = HOME_NONE;
	if (r->flags & REC_PLACED) {
		t->link.flags |= TASK_PLACED;
		t->home = r->kind->home != HOME_NONE
				  ? r->kind->home
				  : renumber_home(f->graph, index);
	}
	return t;
}

/* A body needs one. */
static struct task *create_for_body(struct lkdf_ctx *c)
{
	if (unlikely(c->in_order))
		static_run_leave_ctx(c);
	/* The run was measured without such tasks. */
	if (c->ex->worker)
		holdoff_end(c->ex->worker);
	return own_task_create(c->ex, c->frame, c->index);
}

static struct lkdf_scope *scope_of_body(const struct lkdf_ctx *c)
{
	return c->frame->scope;
}

/* It chooses, where it has branches. */
static int own_task_returned(struct lkdf_ctx *c, int rc)
{
	struct task *t = c->task;
	int error = t->frame->graph->control &&
				    !(rc == LKDF_END && t->frame->stream)
			    ? control_check(t->frame, t->index, rc)
			    : 0;

	t->branch = rc;
	if (!error)
		return rc;
	c->has_why = true;
	return error;
}

static void own_task_failed(struct task *t, int error, const char *why,
			    int worker)
{
	frame_fail(t->frame, t->index, error, why, worker);
}

void own_task_resolve(struct worker *w, struct task *t)
{
	struct frame *f = t->frame;
	uint32_t index = t->index;
	int error = complete_error(t), branch = t->branch;
	enum ending ending = complete_ending(t);
	struct failure *failure = complete_failure(t);

	/* A body that has failed was counted at once. */
	if (ending < ENDED_WELL && ending != ENDED_FAILED)
		a_add(&f->tally.nr[ending], 1, relaxed);
	else if (error && ending == ENDED_WELL)
		frame_fail(f, index, error, failure ? failure->error.why : NULL,
			   w->id);
	failure_observe(failure);
	if (!error && f->graph->accesses) {
		transient_used(f, index);
		values_count_untouched(f, index);
		values_forget_untouched(f, index);
	}
	complete_put_failures(t->kind->rt, t);
	runtime_free(t->kind->rt, w->executor, POOL_TASK, t);
	if (!error && branch == LKDF_END && f->stream) {
		stream_end(f);
		branch = VERDICT_UNCHOSEN;
	}
	resolve_and_tell(w, f, index, error ? VERDICT_FAILED : branch);
}

/* Its record is resolved on a worker. */
static void own_task_ended(struct executor *ex, struct task *t)
{
	if (unlikely(t->kind->is_away) && t->kind->ops->goes_home(ex, t))
		return;
	t->link.type = LINK_TASK_DONE;
	if (ex && ex->worker)
		own_task_resolve(ex->worker, t);
	else
		runtime_push(t->kind->rt, ex, &t->link);
}

static void describe_slice(const struct frame *f, uint32_t index,
			   struct lkdf_stats_slice *s)
{
	check(frame_has(f, index));
	s->task = graph_number(f->graph, index);
	s->run = (uint32_t)f->seq;
	s->frame = f->slot + 1;
}

/* Bytes of the data that a task of the graph names. */
static uint64_t bytes_of(struct executor *ex, const struct frame *f,
			 uint32_t index)
{
	const struct access_table *w = f->graph->accesses;
	struct traced_bytes b = { .local = 0 };
	const struct access_use *u, *end;
	const struct access_var *v;

	if (!w)
		return 0;
	for (u = access_uses(w, index, &end); u < end; u++) {
		v = access_var(w, u->var);
		/* Nobody knows where bytes lie that a run makes for itself. */
		if (!(u->flags & ACCESS_TRANSIENT))
			traced_count(&b, ex, v->data, v->part);
	}
	return traced_value(&b);
}

static void task_took(const struct frame *f, uint32_t index, uint64_t ticks)
{
	struct task_time *t = &f->graph->times[graph_number(f->graph, index)];
	uint64_t longest = a_load(&t->longest, relaxed);

	a_add(&t->runs, 1, relaxed);
	a_add(&t->total, ticks, relaxed);
	while (ticks > longest &&
	       !a_cas(&t->longest, &longest, ticks, relaxed, relaxed))
		continue;
}

static const char *name_task(const struct frame *f, uint32_t index, char *name,
			     size_t size)
{
	graph_task_name(f->graph, graph_number(f->graph, index), name, size);
	return f->recs[index].kind->name;
}

static const char *name_graph(const struct frame *f)
{
	return f->graph->name;
}

const struct owner_ops own_task_ops = {
	.create = create_for_body,
	.scope = scope_of_body,
	.open = task_claim_open,
	.begin = task_claim_begin,
	.returned = own_task_returned,
	.failed = own_task_failed,
	.ending = task_claim_end,
	.ended = own_task_ended,
	.hear = checked_run_hear,
	.tell = checked_run_tell,
	.after = checked_run_after,
	.graph = name_graph,
	.took = task_took,
	.describe = describe_slice,
	.bytes = bytes_of,
	.name = name_task,
};
