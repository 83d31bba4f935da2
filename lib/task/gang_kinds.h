/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds of a gang's tasks: one of the seats, and one of members for each name
 * that runs have had, so that tools show each by its own.
 */
#ifndef TASK_GANG_KINDS_H
#define TASK_GANG_KINDS_H

#include "task/gang.h"

/* Members of runs to which nobody has given a name. */
#define GANG_FIRST_NAME "gang"

/* Argument of all kinds. */
struct member {
	struct lkdf_gang *gang;
	unsigned num;
};

/* The kind of the seats, with that body; g->seat. 0 or -errno. */
int gang_make_seat(struct lkdf_gang *g, lkdf_fn body);

/*
 * The kind of members of that name, found or made, with that body; with too
 * many already, the first one of all; g->member. 0 or -errno.
 */
int gang_find_member(struct lkdf_gang *g, const char *name, lkdf_fn body);

void gang_free_kinds(struct lkdf_gang *g);

#endif
