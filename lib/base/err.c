/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/err.h"

#include "base/thread.h"

#include <stdarg.h>
#include <stdio.h>

int err(int rc, const char *fmt, ...)
{
	struct thread *t = thread_self();
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->errmsg, sizeof(t->errmsg), fmt, ap);
	va_end(ap);
	return rc;
}

void err_clear(void)
{
	thread_self()->errmsg[0] = 0;
}

const char *err_text(void)
{
	return thread_self()->errmsg;
}
