/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the library writes to standard error, kept for a look. */
#ifndef TESTS_API_RT_STDERR_H
#define TESTS_API_RT_STDERR_H

#include "tests/api/api.h"

#include <sys/mman.h>

static struct {
	int kept, to; /* the real one; a memfd */
	char text[16384];
} heard_stderr = { .kept = -1 };

/* From here on what goes to standard error is kept. */
__attribute__((unused)) static void stderr_keep(void)
{
	heard_stderr.kept = dup(2);
	heard_stderr.to = memfd_create("stderr", 0);
	must(heard_stderr.kept);
	must(heard_stderr.to);
	dup2(heard_stderr.to, 2);
}

/* What was written since then; standard error is itself again. */
__attribute__((unused)) static const char *stderr_text(void)
{
	ssize_t n;

	dup2(heard_stderr.kept, 2);
	close(heard_stderr.kept);
	n = pread(heard_stderr.to, heard_stderr.text,
		  sizeof(heard_stderr.text) - 1, 0);
	close(heard_stderr.to);
	heard_stderr.text[n > 0 ? n : 0] = 0;
	return heard_stderr.text;
}

__attribute__((unused)) static int nr_lines(const char *text)
{
	int nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

#endif
