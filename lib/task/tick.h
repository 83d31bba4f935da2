/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The actions of a timer that is due.
 */
#ifndef TASK_TICK_H
#define TASK_TICK_H

/* Cancels, wakes, kicks. runtime: struct lkdf. */
void task_tick(void *runtime);

#endif
