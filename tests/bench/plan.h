/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the contestants of lkdf bench submit submit: tasks in order, each with
 * the words it uses. Task i increments word i; the other words it uses are
 * those of its predecessors, which must be one run ahead by then, or words
 * that nobody writes and that stay 0.
 */
#ifndef TESTS_BENCH_PLAN_H
#define TESTS_BENCH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLAN_MAX_USES 8

struct plan {
	uint32_t nr_tasks, nr_words; /* word i is task i's own, i < nr_tasks */
	/* Task i uses word[use_at[i]] .. word[use_at[i + 1] - 1], its own
	 * first; none at all in "uses0". */
	uint32_t *use_at, *use;
	uint32_t *word;
	uint32_t nr_runs; /* how often everything was submitted */
	bool is_wrong; /* set by bodies, never cleared */
};

/* A shape of shapes.h by name, or uses0 .. uses8: disjoint words. */
int plan_init(struct plan *p, const char *name, uint32_t nr);
void plan_fini(struct plan *p);

/* Each task has run once per run, and none too early. */
bool plan_is_right(const struct plan *p);

/* For bodies: is @value right for the word @at, in a task whose own word is
 * still @own? */
static inline bool plan_fits(const struct plan *p, uint32_t at, uint32_t value,
			     uint32_t own)
{
	return value == (at < p->nr_tasks ? own + 1 : 0);
}

#ifdef __cplusplus
}
#endif
#endif
