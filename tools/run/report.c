/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/report.h"

#include "cli/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_report_open(struct run_report *r)
{
	const char *temp = getenv("TMPDIR");
	int nr;

	nr = snprintf(r->dir, sizeof(r->dir), "%s/lkdf-run-XXXXXX",
		      temp && temp[0] == '/' ? temp : "/tmp");
	/* The runtime takes a "%" of a name for a pattern. */
	if ((size_t)nr >= sizeof(r->dir) || strchr(r->dir, '%'))
		strcpy(r->dir, "/tmp/lkdf-run-XXXXXX");
	if (!mkdtemp(r->dir)) {
		r->dir[0] = '\0';
		return -errno;
	}
	snprintf(r->file, sizeof(r->file), "%s/run.lkdf", r->dir);
	return 0;
}

void run_report_print(const char *trace)
{
	char *argv[] = { "report", "-q", (char *)trace, NULL };

	/* Standard output is the command's: the verb leaves it alone. */
	fflush(stdout);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		verb_report(3, argv);
}

void run_report_close(struct run_report *r)
{
	struct dirent *e;
	DIR *d = r->dir[0] ? opendir(r->dir) : NULL;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	}
	closedir(d);
	rmdir(r->dir);
	r->dir[0] = '\0';
}
