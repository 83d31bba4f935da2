/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of the user as users of a data: they take their place in the queue
 * as a task does, and sleep until it is their turn.
 */
#ifndef TASK_ACQUIRE_H
#define TASK_ACQUIRE_H

#include <stdbool.h>
#include <stdint.h>

struct blocking_item;
struct claim;
struct lkdf_data;

/* Is it the claim of a thread? */
bool acquire_has(const struct claim *c);

/* Does a thread wait for bytes with that item? */
bool acquire_wants_bytes(const struct blocking_item *item);

/* Under the runtime's data_lock: has some thread's turn come? */
bool acquire_is_held(const struct lkdf_data *d);

/* See lkdf_data_acquire() and lkdf_data_release(). */
int data_acquire(struct lkdf_data *d, uint32_t mode, int64_t timeout_ns,
		 void **out);
int data_release(struct lkdf_data *d);

#endif
