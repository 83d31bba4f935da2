/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The option fix: objects that the program creates by a name get another
 * number, as lkdf try --fix asks for it. Calls that create them ask here, once
 * for each object and each loop. A recording has a name for each change that an
 * object got.
 */
#ifndef API_FIXES_H
#define API_FIXES_H

#include <stdint.h>

struct lkdf;
struct fixes;

enum fix_sort {
	FIX_TOKENS, /* of a limit */
	FIX_WINDOW, /* max_tasks of a scope */
	FIX_DEPTH, /* of a channel */
	FIX_GRAIN, /* of loops */
	FIX_PRIORITY, /* of a kind: enum lkdf_prio */
	NR_FIX_SORTS
};

/*
 * "": *out is NULL, else it is one piece of memory to be freed. 0; -EINVAL says
 * what is wrong with the text; -ENOMEM.
 */
int fixes_read(const char *text, struct fixes **out);
/* Says which changes no object got. */
void fixes_tell(struct lkdf *rt);

/* The number of the object of that name: the program's value, or another. */
uint64_t fixes_value(struct lkdf *rt, enum fix_sort sort, const char *name,
		     uint64_t value);

#endif
