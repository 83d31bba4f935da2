/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A run of the command of lkdf try, and its recording. */
#include "cli/cli.h"
#include "report/try.h"
#include "stat/child.h"
#include "times.h"

#include <errno.h>
#include <unistd.h>

/* Samples are taken out of their rings so often. */
#define DRAIN_NS (50 * NS_PER_MS)

/* Its standard output is for people, ours may be for programs. */
int try_run_command(char **command, struct pmu *p, uint64_t *ns)
{
	int out = dup(STDOUT_FILENO), code;
	struct child c;

	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	code = child_start(&c, "try", command);
	if (!code) {
		while (child_wait(&c, p ? DRAIN_NS : -1))
			pmu_drain(p);
		if (p)
			pmu_drain(p);
		code = child_code(&c);
		if (ns)
			*ns = (uint64_t)(child_now_ns() - c.start_ns);
		child_fini(&c);
	}
	dup2(out, STDOUT_FILENO);
	close(out);
	return code;
}

int try_read_recording(struct report *r, const char *path)
{
	const struct report_window all = { .to = NO_TIME };
	struct trace_fault fault = { 0 };
	FILE *in = fopen(path, "re");
	int rc = in ? report_load(r, in, &all, &fault) : -errno;

	if (in)
		fclose(in);
	if (!rc)
		rc = report_sweep(r);
	return rc ? rc : report_kinds(r);
}
