/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The uses of a task: from what the user says to a claim, and what goes before
 * and after the body.
 */
#ifndef TASK_USES_H
#define TASK_USES_H

#include "data/data.h"

struct blocking_item;
struct lkdf;
struct lkdf_ctx;
struct task;

/* enum use_flag of a checked mode. */
uint8_t uses_flags(uint32_t mode);

/*
 * The claim of a task; parent NULL: it has none. -ENOMEM; -EACCES: the parent
 * does not cover a use; -EINVAL: REDUCE mixed with another mode.
 */
int uses_create(struct task *t, struct task *parent, const struct lkdf_use *use,
		unsigned nr);

/* Frees the uses of a task that never entered the queues of its data. */
void uses_destroy(struct task *t);

/*
 * Will each task have what it reads, as they are about to enter in this order?
 * 0; -ENODATA; -ENOMEM.
 */
int uses_expect(struct task **t, unsigned nr);

/* Says that nobody has written what it reads; -ENODATA. */
int uses_read_nothing(const struct task *t, const struct use *u);

/* Is it the claim of a task? Then that is its holder. */
bool uses_has(const struct claim *c);

/* The task that waits for bytes with that item; NULL: none does. */
const struct task *uses_of_bytes(const struct blocking_item *item);

/* 1: it may start; 0: it will be started; -ENODATA. */
int uses_enter(struct executor *ex, struct task *t);

/*
 * Before the body: 0; > 0: an input is not there, *failure tells why and the
 * error is its negative; -ENOMEM no bytes to write to.
 */
int uses_begin(struct executor *ex, struct task *t, struct failure **failure);

/* A body gives a use on before it ends. */
void uses_leave(struct executor *ex, struct use *u);

/* The body has ended and will spawn no more: weak uses are given on. */
void uses_end_body(struct executor *ex, struct task *t);

/* Frees what its children saw. */
void uses_free_below(struct lkdf *rt, struct use *u);

/* The index'th use of the task; NULL: there is none. */
struct use *uses_of(struct task *t, unsigned index);

/* Why the value of a use is not what it should be; 0: it is. */
int uses_error(const struct use *u, struct failure **failure);

/* The bytes where the executor runs; NULL: none, or not to be touched. */
void *uses_ptr(struct executor *ex, struct task *t, unsigned index);

#endif
