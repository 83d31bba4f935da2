/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Checks and blocks of calls that are loops inside. */
#ifndef API_LOOP_H
#define API_LOOP_H

#include "task/parallel_for.h"

/* A range in blocks with an accumulator each. */
struct cut {
	uint64_t block, nr_blocks; /* iterations of one; how many */
	uint64_t stride; /* bytes from an accumulator to the next */
};

/* -EINVAL: it ends before it begins. what: the call. */
int loop_check_range(const char *what, const struct lkdf_range *r);

/* -EINVAL: it is of another runtime. s may be NULL. */
int loop_check_scope(const char *what, const struct lkdf *rt,
		     const struct lkdf_scope *s);

/* -EINVAL: none, or too many. */
int loop_check_acc(const char *what, uint64_t acc_bytes);

/* Nothing that differs from machine to machine counts. r is not empty. */
void loop_cut(struct cut *cut, const struct lkdf_range *r, uint64_t acc_bytes);

/*
 * From any place: waits for nothing but the loop's blocks. s NULL: it runs in
 * the scope of this thread's body.
 */
int loop_here(struct loop *l, struct lkdf_scope *s);

#endif
