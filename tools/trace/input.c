/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

FILE *trace_input(const char *verb, const char *path, int *code)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, NULL };
	/* A FIFO is not waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;

	if (in && !fstat(fileno(in), &st) && S_ISREG(st.st_mode))
		return in;
	if (in) {
		fclose(in);
		*code = cli_fail(&e, "%s: no regular file", path);
		return NULL;
	}
	e.code = cli_code_of(-errno);
	*code = cli_fail(&e, "%s: %s", path, strerror(errno));
	return NULL;
}

int trace_refuse(const char *verb, const char *path, int rc,
		 const struct trace_fault *fault)
{
	struct cli_error e = { verb, cli_code_of(rc), NULL, NULL };

	if (rc != -EBADMSG)
		return cli_fail(&e, "%s: %s", path, strerror(-rc));
	e.try = "lkdf trace convert --best-effort";
	return cli_fail(&e, "%s: offset %llu: %s", path,
			(unsigned long long)fault->offset, fault->why);
}
