/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Uses that the user names for a task, checked when the task is submitted,
 * spawned or added. Whether the task may have these uses together, and a child
 * below its parent, is the claim's business.
 */
#ifndef TASK_USES_CHECK_H
#define TASK_USES_CHECK_H

#include <lkdf/task.h>

/*
 * 0 with the flags that any of the data has (enum lkdf_data_flag), or the
 * refusal, by the number of the use.
 */
int uses_check(const struct lkdf *rt, const struct lkdf_use *use, unsigned nr,
	       uint32_t *flags);

#endif
