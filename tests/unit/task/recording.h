/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A runtime that records itself into a file of the test. */
#ifndef TESTS_UNIT_TASK_RECORDING_H
#define TESTS_UNIT_TASK_RECORDING_H

#include "tests/unit/trace_file.h"

static char path[] = "/tmp/lkdf-test-XXXXXX";

__attribute__((unused)) static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static struct lkdf *open_recording(const char *options)
{
	char text[160];
	struct lkdf *rt;

	snprintf(text, sizeof(text), "%s,trace=%s", options, path);
	if (!is(lkdf_open(text, &rt), 0, "a runtime records: %s", options))
		exit(1);
	return rt;
}

/* Same number on the same executor: the same body. */
__attribute__((unused)) static bool is_by(const struct trace_links *l,
					  const struct trace_slice *s)
{
	return l->by_executor == (int32_t)s->executor &&
	       l->by_number == s->links.number;
}

/* The name of a file that is not there yet. */
static void begin_recordings(void)
{
	int fd;

	unsetenv("LKDF_TRACE");
	fd = mkstemp(path);
	if (fd < 0)
		exit(1);
	close(fd);
	unlink(path);
}

#endif
