/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tasks that are about to be made. */
#ifndef GOMP_TASK_H
#define GOMP_TASK_H

#include "gomp/gomp.h"

/* Flags of GOMP_task(). */
#define TASK_FINAL 2u
#define TASK_DEPEND 8u
#define TASK_UP 0x100u
#define TASK_GRAINSIZE 0x200u
#define TASK_IF 0x400u
#define TASK_NOGROUP 0x800u
#define TASK_REDUCTION 0x1000u
#define TASK_DETACH 0x2000u
#define TASK_STRICT 0x4000u

struct order;

/* A task, as a call says it. */
struct task_args {
	void (*fn)(void *);
	void *data;
	void (*copy)(void *to, void *from);
	size_t size, align;
	unsigned flags;
	struct detach *detach; /* its end waits for that; or NULL */
	struct order *order; /* of a task with depend, or NULL */
	bool is_bounded;
	uint64_t bounds[2]; /* with which the argument begins then */
};

/* Makes the task, or runs it at once. */
void task_make(const struct task_args *a, bool is_deferred);

#endif
