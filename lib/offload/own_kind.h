/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds of tasks that the library makes for a call of the program: a runtime
 * has at most one of each sort, from the first such call until it closes.
 */
#ifndef OFFLOAD_OWN_KIND_H
#define OFFLOAD_OWN_KIND_H

struct lkdf;
struct lkdf_kind;

enum own_kind {
	OWN_COPY, /* lkdf_copy() */
	OWN_PREFETCH, /* lkdf_data_prefetch() to a device */
	NR_OWN_KINDS,
};

typedef int (*own_kind_fn)(struct lkdf *rt, struct lkdf_kind **out);

/* make: of whoever needs it first. NULL: make has failed. Any thread. */
struct lkdf_kind *own_kind_get(struct lkdf *rt, enum own_kind which,
			       own_kind_fn make);

/* At close, when no task lives: the library's own kinds are freed. */
void own_kinds_close(struct lkdf *rt);

/* In a forked child, before the dead kinds go. */
void own_kinds_abandon(struct lkdf *rt);

#endif
