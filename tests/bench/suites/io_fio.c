/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The figure of fio (Axboe, flexible I/O tester) for the same file, if it is
 * installed: a second of random reads on a ring, as a figure to compare with.
 * It runs once for each load and not interleaved, so no bar hangs on it.
 */
#include "tests/bench/suites/io.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fields of the terse output, version 3, from 0. */
#define FIELD_ERROR 4
#define FIELD_READ_IOPS 7

extern char **environ;

/* Field number n of a line with semicolons; NAN: it has less. */
static double field(const char *line, unsigned n)
{
	while (n-- && line) {
		line = strchr(line, ';');
		line = line ? line + 1 : NULL;
	}
	return line ? strtod(line, NULL) : NAN;
}

static double parse(FILE *out)
{
	char line[4096];
	double iops = NAN;

	while (fgets(line, sizeof(line), out))
		if (!strncmp(line, "3;", 2) && field(line, FIELD_ERROR) == 0)
			iops = field(line, FIELD_READ_IOPS);
	return iops / 1e3;
}

/* Its standard output; NULL: there is no fio. */
static FILE *start(char **argv, pid_t *pid)
{
	posix_spawn_file_actions_t act;
	int fd[2], rc;

	if (pipe(fd))
		return NULL;
	posix_spawn_file_actions_init(&act);
	posix_spawn_file_actions_adddup2(&act, fd[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&act, fd[0]);
	posix_spawn_file_actions_addclose(&act, fd[1]);
	posix_spawn_file_actions_addopen(&act, STDERR_FILENO, "/dev/null", 1,
					 0);
	rc = posix_spawnp(pid, "fio", &act, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&act);
	close(fd[1]);
	if (!rc)
		return fdopen(fd[0], "r");
	close(fd[0]);
	return NULL;
}

double io_fio_run(const struct io_load *l)
{
	char name[64], size[48], depth[32], direct[16];
	char *argv[] = { "fio",
			 "--name=lkdf",
			 "--minimal",
			 "--terse-version=3",
			 name,
			 size,
			 depth,
			 direct,
			 "--rw=randread",
			 "--bs=4k",
			 "--ioengine=io_uring",
			 "--readonly",
			 "--time_based",
			 "--runtime=1",
			 "--invalidate=0",
			 NULL };
	double iops;
	pid_t pid;
	FILE *out;

	snprintf(name, sizeof(name), "--filename=/proc/%d/fd/%d", getpid(),
		 l->file->fd);
	snprintf(size, sizeof(size), "--size=%llu",
		 (unsigned long long)l->file->nr_pages * IO_PAGE);
	snprintf(depth, sizeof(depth), "--iodepth=%u", l->qd);
	snprintf(direct, sizeof(direct), "--direct=%d", l->file->is_direct);
	out = start(argv, &pid);
	if (!out)
		return NAN;
	iops = parse(out);
	fclose(out);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return iops;
}
