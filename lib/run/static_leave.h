/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Changes that the steps of a run so far would have made to counters and
 * values, done at once for all of them.
 */
#ifndef RUN_STATIC_LEAVE_H
#define RUN_STATIC_LEAVE_H

#include "run/frame.h"

/*
 * nr steps are done, the body of the next one is under way or not, and nobody
 * else looks at the frame: the rest is up to its counters. Ready tasks go to
 * the worker's deque.
 */
void static_leave(struct worker *w, struct frame *f, uint32_t nr,
		  bool is_in_body);

#endif
