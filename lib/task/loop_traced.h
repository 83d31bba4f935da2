/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks of loops in a recording: a body is one block of the loop's name, or
 * some in a row on one thread, where they are short. A thread of the program
 * that runs blocks has a lane of its own.
 */
#ifndef TASK_LOOP_TRACED_H
#define TASK_LOOP_TRACED_H

#include "task/parallel_for.h"

/* The loop begins, and somebody records. */
void loop_traced_open(struct loop *l);

/* This thread's place in the loop; NULL: it has none. Around a block. */
struct loop_place *loop_traced_begin(void);
void loop_traced_end(struct loop_place *p);

/* The thread goes on with something else. */
void loop_traced_leave(struct loop_place *p);

#endif
