/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Checks that many calls share: is the runtime alive, is the struct one of
 * ours, is this thread inside a body.
 */
#ifndef API_BORDER_H
#define API_BORDER_H

#include "base/err.h"
#include "core/runtime.h"

#include <errno.h>
#include <lkdf/task.h>

/* 0; -EINVAL: NULL; -EOWNERDEAD: we are a forked child. */
int border_runtime(const struct lkdf *rt);

/*
 * border_runtime() for the runtime of an object, which has none once it was
 * put. what: the call; sort: "graph".
 */
int border_owner(const struct lkdf *rt, const char *what, const char *sort,
		 const char *name);

/* 0; -EINVAL: a call for bodies has no context. */
static inline int border_ctx(const struct lkdf_ctx *c, const char *what)
{
	return likely(c != NULL)
		       ? 0
		       : err(-EINVAL, "%s: the context is NULL", what);
}

/*
 * Copies a struct that starts with its own size into ours of known bytes:
 * shorter ones are filled with zero, a longer one may hold only zero beyond.
 */
int border_copy(const void *attr, void *ours, size_t known, const char *what);

/*
 * Refuses NULL, and what is not built or not known. A struct of another size
 * than ours is copied, and *task is room then.
 */
int border_task(const struct lkdf_task **task, struct lkdf_task *room);

/* -EINVAL: bits beyond the known ones, which are named by their value. */
int border_flags(const char *what, uint32_t flags, uint32_t known);

/* -EINVAL: it is neither -1 nor a time. */
int border_timeout(const char *what, int64_t ns);

/* -EINVAL: it is negative. */
int border_deadline(const char *what, int64_t ns);

/* Why an object is not of this runtime, as the end of a sentence. */
const char *border_whose(const struct lkdf *rt);

/* May a task of the runtime run where it asks to? After border_task(). */
int border_place(struct lkdf *rt, const struct lkdf_task *task);

/*
 * A submission while a graph records its scope: 1, and the task's number or
 * why not; 0: nobody records it.
 */
int border_record(struct lkdf_scope *s, const struct lkdf_task *task,
		  bool has_done, int *nr);

/* Uses of a task that is submitted or spawned. */
int border_uses(const struct lkdf *rt, const struct lkdf_task *task,
		bool is_child);

/* -EDEADLK on a worker or a thread of the blocking pool. */
int border_may_wait(const char *what);

/*
 * Around a call that may start what waits: that may be the last that lives, and
 * close waits for us.
 */
void border_caller(struct lkdf *rt);
void border_caller_leaves(struct lkdf *rt);

/* -EOPNOTSUPP naming what is not built. */
int border_unbuilt(const char *what);

#endif
