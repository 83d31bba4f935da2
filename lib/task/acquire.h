/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of the user as users of a data: they take their place in the queue
 * as a task does, and sleep until it is their turn.
 */
#ifndef TASK_ACQUIRE_H
#define TASK_ACQUIRE_H

#include <stdint.h>

struct lkdf_data;

/* See lkdf_data_acquire() and lkdf_data_release(). */
int data_acquire(struct lkdf_data *d, uint32_t mode, int64_t timeout_ns,
		 void **out);
int data_release(struct lkdf_data *d);

#endif
