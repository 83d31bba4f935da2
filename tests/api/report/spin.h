/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Bodies that want a CPU all of their time, more of them than there are. */
#ifndef TESTS_API_REPORT_SPIN_H
#define TESTS_API_REPORT_SPIN_H

#include "tests/api/api.h"

#define SPIN_NS 2000000
#define SPIN_TASKS 200

/* So long on a CPU, however long that takes. */
static int spin_body(struct lkdf_ctx *c, void *arg)
{
	struct timespec t;
	int64_t now, end = 0;

	(void)c;
	(void)arg;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * SECOND + t.tv_nsec;
		end = end ? end : now + SPIN_NS;
	} while (now < end);
	return 0;
}

static void spin_all(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "spin", spin_body, 0, 0);
	int i;

	for (i = 0; i < SPIN_TASKS; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
}

#endif
