/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* All threads of a scenario are of the program, and errors have no text. */
#ifndef THREAD_BELOW_H
#define THREAD_BELOW_H

#include "base/err.h"
#include "base/thread.h"

__thread struct thread *thread_record;

struct thread *thread_record_create(void)
{
	static struct thread self;

	return &self;
}

int err(int rc, const char *fmt, ...)
{
	(void)fmt;
	return rc;
}

#endif
