/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which tasks of one parent a task with depend starts after. The parent's
 * thread alone uses the table; zeroed memory is an empty one.
 */
#ifndef GOMP_DEPEND_H
#define GOMP_DEPEND_H

#include "gomp/gomp.h"

/* An address, and the tasks that use it. */
struct place;

struct depends {
	struct place *place; /* a hash of the address; two thirds at most */
	size_t nr, mask;
};

/*
 * after: room for LKDF_MAX_AFTER events, of which it fills nr. False: there
 * are more, or there is no memory: all children are to be waited for.
 */
bool depends_look(struct depends *d, void **depend, struct lkdf_event *after,
		  unsigned *nr);

/*
 * The task was made, and done, which the table has from now on, is its event.
 * False: no memory, and all children are to be waited for.
 */
bool depends_note(struct depends *d, void **depend, struct lkdf_event done);

/* All children have ended. */
void depends_forget(struct depends *d);
void depends_free(struct depends *d); /* NULL-safe */

#endif
