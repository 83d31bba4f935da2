/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A plan submitted through the public interface of lkdf: one data per word,
 * made once; tasks that use them are submitted again and again.
 */
#ifndef TESTS_BENCH_LKDF_PLAN_H
#define TESTS_BENCH_LKDF_PLAN_H

#include "tests/bench/plan.h"

#include <lkdf/lkdf.h>

struct lkdf_plan_task {
	struct lkdf_plan *of;
	uint32_t task;
};

struct lkdf_plan {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct plan *plan;
	struct lkdf_data **data; /* by word */
	struct lkdf_plan_task *arg; /* by task */
};

/* Borrows the runtime and the plan. 0 or -errno. */
int lkdf_plan_open(struct lkdf_plan *l, struct lkdf *rt, struct plan *p);
void lkdf_plan_close(struct lkdf_plan *l);

/* Submits tasks @first .. @first + @nr - 1 in order; does not wait. */
int lkdf_plan_submit(struct lkdf_plan *l, uint32_t first, uint32_t nr);

#endif
