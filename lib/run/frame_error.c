/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The error of a run: its first one, and whom it is told to.
 */
#include "run/frame.h"

#include "base/err.h"
#include "core/failure.h"
#include "core/note_error.h"
#include "core/runtime.h"
#include "run/frame_count.h"
#include "scope/deadline.h"

#include <errno.h>
#include <stdio.h>

static struct failure *create_failure(const struct frame *f,
				      const struct lkdf_error *e,
				      const char *kind)
{
	struct failure *failure = failure_create(e, kind);

	if (failure)
		failure->is_child_runs = f->parent;
	return failure;
}

void frame_fail(struct frame *f, uint32_t task, int returned, const char *why,
		int worker)
{
	struct lkdf_error e = {
		.seq = f->seq,
		.worker = worker,
		.nr_failed = 1,
	};
	const struct lkdf_kind *kind = f->recs[task].kind;
	bool is_always = kind->flags & LKDF_ALWAYS;
	struct failure *failure, *none = NULL;
	int32_t zero = 0;
	int error;

	check(returned < 0);
	check(frame_sane(f));
	/*
	 * The body returned -ECANCELED; the scope knows the error that it was
	 * cancelled with.
	 */
	if (scope_explains(f->scope, returned)) {
		frame_count(f, f->graph->rt->executors[worker].counters,
			    ENDED_CANCELLED);
		return;
	}
	task = graph_number(f->graph, task);
	e.id = (int32_t)task;
	error = failure_errno(returned);
	a_add(&f->tally.nr[ENDED_FAILED], 1, relaxed);
	runtime_note_error(f->graph->rt, worker, error, task);
	if (!a_cas(&f->first_err, &zero, error, relaxed, relaxed))
		return;
	if (is_always && frame_cancelled(f))
		a_store(&f->is_late, 1, relaxed);
	snprintf(e.graph, sizeof(e.graph), "%s", f->graph->name);
	graph_task_name(f->graph, task, e.task, sizeof(e.task));
	failure_tell(&e, returned, why);
	failure = create_failure(f, &e, kind->name);
	/* [frame.fail] pairs with [frame.resolved]. */
	if (!a_cas(&f->failure, &none, failure, release, relaxed))
		failure_put(failure, &f->graph->rt->log);
}

/*
 * The cancel came first: what a task that runs always has made of it is told to
 * the log, and counts.
 */
static void forget_late(struct frame *f)
{
	failure_put(a_load(&f->failure, relaxed), &f->graph->rt->log);
	a_store(&f->failure, NULL, relaxed);
	a_store(&f->first_err, 0, relaxed);
}

int frame_report(struct frame *f)
{
	uint64_t nr_skipped = a_load(&f->tally.nr[ENDED_SKIPPED], relaxed);
	uint64_t nr_cancelled = a_load(&f->tally.nr[ENDED_CANCELLED], relaxed);
	struct failure *failure;
	int rc;

	if (unlikely(a_load(&f->is_late, relaxed)) && nr_cancelled)
		forget_late(f);
	failure = a_load(&f->failure, relaxed);
	rc = a_load(&f->first_err, relaxed);
	if (failure)
		failure_count(failure, &f->tally);
	/* The parent of a child run is told when the run ends. */
	if (rc && !f->parent)
		scope_fail(f->scope, rc, failure);
	if (rc || nr_skipped || nr_cancelled)
		scope_count(f->scope, &f->tally);
	if (!rc && nr_cancelled)
		rc = frame_cancelled(f);
	return rc;
}

struct failure *frame_tell_counts(const struct lkdf_graph *g, uint64_t seq,
				  const struct tally *t)
{
	struct lkdf_error e = { .seq = seq, .id = -1, .worker = -1 };
	struct failure *f;

	tally_tell(t, &e);
	if (!(e.nr_failed | e.nr_skipped | e.nr_cancelled | e.nr_unchosen))
		return NULL;
	snprintf(e.graph, sizeof(e.graph), "%s", g->name);
	f = failure_create(&e, "");
	failure_observe(f);
	return f;
}

struct failure *frame_tell_late(struct frame *f)
{
	struct lkdf_error e = {
		.seq = f->seq,
		.err = -ETIME,
		.id = -1,
		.worker = -1,
	};
	struct failure *failure;

	tally_tell(&f->tally, &e);
	snprintf(e.graph, sizeof(e.graph), "%s", f->graph->name);
	snprintf(e.why, sizeof(e.why), "graph %s: the run's deadline is over",
		 e.graph);
	failure = create_failure(f, &e, "");
	if (!f->parent)
		scope_fail(f->scope, -ETIME, failure);
	return failure;
}
