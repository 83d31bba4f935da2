/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/log.h"

#include "base/util.h"

#include <lkdf/runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const char *const level_name[] = {
	[LKDF_LOG_ERROR] = "error",
	[LKDF_LOG_INFO] = "info",
	[LKDF_LOG_DEBUG] = "debug",
};

/* A line is one write, so that lines of several threads do not mix. */
static void write_line(int level, const char *text)
{
	char line[600];
	size_t i, n;
	ssize_t ignored;

	snprintf(line, sizeof(line) - 1, "lkdf: %s: %s", level_name[level],
		 text);
	for (i = 0; line[i]; i++)
		if ((unsigned char)line[i] < ' ')
			line[i] = ' ';
	n = i;
	line[n++] = '\n';
	ignored = write(STDERR_FILENO, line, n);
	(void)ignored;
}

void log_text(const struct log *log, int level, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (level > log->level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (log->fn)
		log->fn(log->u, level, text);
	else
		write_line(level, text);
}
