/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/body.h"

#include "base/thrown.h"
#include "core/ops.h"
#include "task/ctx.h"
#include "task/task.h"

#include <stdio.h>

_Noreturn void body_thrown(const struct lkdf_ctx *c)
{
	const char *kind, *task;
	char name[64], line[512];

	if (c->frame) {
		kind = c->owner->name(c->frame, c->index, name, sizeof(name));
		task = name;
	} else {
		kind = task = c->task->kind->name;
	}
	snprintf(line, sizeof(line),
		 "lkdf: task %s of kind %s: an exception, or pthread_exit(), "
		 "has left its body; catch it there and return an error\n",
		 task, kind);
	thrown_end(line);
}
