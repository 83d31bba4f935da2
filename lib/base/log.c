/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_text(const struct log *log, int level, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!log->fn || level > log->level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log->fn(log->u, level, text);
}
