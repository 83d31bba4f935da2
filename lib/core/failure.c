/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/failure.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct failure *failure_create(const struct lkdf_error *e, const char *kind)
{
	struct failure *f = malloc(sizeof(*f));

	if (!f)
		return NULL;
	a_store(&f->nr_refs, 1, relaxed);
	a_store(&f->is_observed, 0, relaxed);
	a_store(&f->nr_more, 0, relaxed);
	f->error = *e;
	f->error.size = sizeof(f->error);
	snprintf(f->kind, sizeof(f->kind), "%s", kind);
	return f;
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

struct failure *failure_get(struct failure *f)
{
	if (f)
		a_add(&f->nr_refs, 1, relaxed);
	return f;
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
