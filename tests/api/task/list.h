/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A list for lkdf_submit_many(). */
#ifndef TESTS_API_TASK_LIST_H
#define TESTS_API_TASK_LIST_H

#include <lkdf/lkdf.h>

#define NR_LIST 40

struct list {
	struct lkdf_task task[NR_LIST];
	const struct lkdf_task *at[NR_LIST];
};

/* All alike, to begin with. */
static inline void list_init(struct list *l, struct lkdf_task t)
{
	int i;

	t.size = sizeof(t);
	for (i = 0; i < NR_LIST; i++) {
		l->task[i] = t;
		l->at[i] = &l->task[i];
	}
}

#endif
