/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/failure.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_counts(struct tally *t, const struct lkdf_error *e)
{
	a_store(&t->nr[ENDED_FAILED], e->nr_failed, relaxed);
	a_store(&t->nr[ENDED_SKIPPED], e->nr_skipped, relaxed);
	a_store(&t->nr[ENDED_CANCELLED], e->nr_cancelled, relaxed);
	a_store(&t->nr[ENDED_UNCHOSEN], e->nr_unchosen, relaxed);
}

struct failure *failure_create(const struct lkdf_error *e, const char *kind)
{
	struct failure *f = malloc(sizeof(*f));

	if (!f)
		return NULL;
	a_store(&f->nr_refs, 1, relaxed);
	a_store(&f->is_observed, 0, relaxed);
	a_store(&f->nr_more, 0, relaxed);
	a_store(&f->child_of, NULL, relaxed);
	f->later = f->beside = NULL;
	f->is_aside = f->is_child_runs = false;
	f->error = *e;
	f->error.size = sizeof(f->error);
	set_counts(&f->tally, e);
	snprintf(f->kind, sizeof(f->kind), "%s", kind);
	return f;
}

void failure_count(struct failure *f, const struct tally *t)
{
	int i;

	for (i = 0; i < NR_ENDINGS; i++)
		a_store(&f->tally.nr[i], a_load(&t->nr[i], relaxed), relaxed);
}

void failure_tell(struct lkdf_error *e, int error, const char *why)
{
	e->err = failure_errno(error);
	if (why && why[0])
		snprintf(e->why, sizeof(e->why), "%s: %s", e->task, why);
	else if (e->err != error)
		snprintf(e->why, sizeof(e->why),
			 "%s: its body returned %d, which is no errno", e->task,
			 error);
	else
		snprintf(e->why, sizeof(e->why), "%s: %s", e->task,
			 strerror(-error));
}

struct failure *failure_of_skipped(struct failure *cause, int error)
{
	struct lkdf_error e = { .err = error, .id = -1, .worker = -1 };
	struct failure *f;

	if (cause)
		e = failure_error(cause);
	else
		snprintf(e.why, sizeof(e.why),
			 "what it waits for has ended with: %s",
			 strerror(-error));
	f = failure_create(&e, cause ? cause->kind : "");
	return f ? f : failure_get(cause);
}

struct failure *failure_get(struct failure *f)
{
	if (f)
		a_add(&f->nr_refs, 1, relaxed);
	return f;
}

/* ---- what goes to the log ------------------------------------------------ */

static bool is_sort(const struct told_sort *s, const struct failure *f)
{
	return s->since_ns && s->error == f->error.err &&
	       !strcmp(s->kind, f->kind) && !strcmp(s->graph, f->error.graph);
}

/* Under lock: its row, or the oldest, which *rest has then. */
static struct told_sort *find_sort(struct told_errors *t,
				   const struct failure *f,
				   struct told_sort *rest)
{
	struct told_sort *s, *oldest = t->sort;

	lock_assert_held(&t->lock);
	for (s = t->sort; s < t->sort + TOLD_SORTS; s++) {
		if (is_sort(s, f))
			return s;
		if (s->since_ns < oldest->since_ns)
			oldest = s;
	}
	*rest = *oldest;
	memset(oldest, 0, sizeof(*oldest));
	oldest->error = f->error.err;
	snprintf(oldest->kind, sizeof(oldest->kind), "%s", f->kind);
	snprintf(oldest->graph, sizeof(oldest->graph), "%s", f->error.graph);
	return oldest;
}

/* True: it is told. *rest: what was left out before, and is over. */
static bool may_tell(struct told_errors *t, const struct failure *f,
		     struct told_sort *rest)
{
	int64_t now = clock_now_ns();
	struct told_sort *s;
	bool may;

	lock_take(&t->lock);
	s = find_sort(t, f, rest);
	if (now - s->since_ns >= TOLD_NS) {
		if (s->nr_left_out)
			*rest = *s;
		s->since_ns = now;
		s->nr_lines = s->nr_left_out = 0;
	}
	may = s->nr_lines < TOLD_LINES;
	if (may)
		s->nr_lines++;
	else
		s->nr_left_out += 1 + a_load(&f->nr_more, relaxed);
	lock_give(&t->lock);
	return may;
}

static void tell_left_out(const struct told_sort *s, const struct log *log)
{
	if (!s->nr_left_out)
		return;
	log_text(log, LKDF_LOG_ERROR,
		 "unobserved errors: %u more of tasks%s%s%s%s, which were left "
		 "out: %s",
		 s->nr_left_out, s->kind[0] ? " of kind " : "", s->kind,
		 s->graph[0] ? " in graph " : "", s->graph,
		 strerror(-s->error));
}

void failure_tell_rest(const struct log *log)
{
	const struct told_errors *t = log->errors;
	int i;

	for (i = 0; t && i < TOLD_SORTS; i++)
		tell_left_out(&t->sort[i], log);
}

/*
 * The text names the task, its kind and graph, and the reason; that begins with
 * the task.
 */
static void tell_unobserved(const struct failure *f, const struct log *log)
{
	const struct lkdf_error *e = &f->error;
	uint32_t nr_more = a_load(&f->nr_more, relaxed);
	size_t size = strlen(e->task);
	const char *why = e->why;
	char more[32] = "";
	struct told_sort rest = { .nr_left_out = 0 };
	bool is_told = !log->errors || may_tell(log->errors, f, &rest);

	tell_left_out(&rest, log);
	if (!is_told)
		return;
	if (size && !strncmp(why, e->task, size) && why[size] == ':')
		why += size + 2;
	if (nr_more)
		snprintf(more, sizeof(more), " (and %u more)", nr_more);
	log_text(log, LKDF_LOG_ERROR,
		 "unobserved error: task %s%s%s%s%s failed: %s%s",
		 size ? e->task : "?", f->kind[0] ? " of kind " : "", f->kind,
		 e->graph[0] ? " in graph " : "", e->graph, why, more);
}

void failure_put(struct failure *f, const struct log *log)
{
	/* [failure.put] all uses before the free; pairs with itself. */
	if (!f || a_sub(&f->nr_refs, 1, acq_rel) != 1)
		return;
	if (!a_load(&f->is_observed, relaxed))
		tell_unobserved(f, log);
	free(f);
}

void failure_observe(struct failure *f)
{
	if (f)
		a_store(&f->is_observed, 1, relaxed);
}

static bool are_alike(const struct failure *a, const struct failure *b)
{
	return a->error.err == b->error.err && !strcmp(a->kind, b->kind) &&
	       !strcmp(a->error.graph, b->error.graph) &&
	       !strcmp(a->error.why, b->error.why);
}

void failure_put_beside(struct failure *first, struct failure *f,
			const struct log *log)
{
	if (first && !failure_is_seen(f) && are_alike(first, f)) {
		failure_observe(f);
		a_add(&first->nr_more, 1 + a_load(&f->nr_more, relaxed),
		      relaxed);
	}
	failure_put(f, log);
}

int failure_copy(const struct lkdf_error *e, struct lkdf_error *out)
{
	uint32_t size = out->size;

	if (size < offsetof(struct lkdf_error, graph))
		return err(
			-EINVAL,
			"error: size %u of the struct is not set, expected %zu",
			size, sizeof(*e));
	memcpy(out, e, size < sizeof(*e) ? size : sizeof(*e));
	out->size = size;
	return 0;
}
