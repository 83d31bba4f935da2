/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Cache lines that bounce between CPUs, as perf c2c of linux-tools has them. */
#include "report/try.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 256

extern char **environ;

/*
 * Its output goes to the descriptor, else where ours of errors goes. The exit
 * status, -1: a signal; -errno - 1: it did not start.
 */
static int run_perf(char **argv, int out)
{
	posix_spawn_file_actions_t a;
	int status, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, out, STDOUT_FILENO);
	rc = posix_spawnp(&pid, argv[0], &a, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&a);
	if (rc)
		return -rc - 1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int record_loads(const char *data, char **command)
{
	char perf[] = "perf", c2c[] = "c2c", record[] = "record", o[] = "-o",
	     end[] = "--", path[512];
	char *argv[MAX_WORDS + 8] = { perf, c2c, record, o, path, end };
	unsigned i;

	snprintf(path, sizeof(path), "%s", data);
	for (i = 0; command[i] && i < MAX_WORDS; i++)
		argv[6 + i] = command[i];
	return command[i] ? -E2BIG - 1 : run_perf(argv, STDERR_FILENO);
}

/* A file without a name that has what perf tells of its data; -1. */
static int tell_loads(const char *dir, const char *data)
{
	char perf[] = "perf", c2c[] = "c2c", report[] = "report", i[] = "-i",
	     stdio[] = "--stdio", path[512];
	char *argv[] = { perf, c2c, report, i, path, stdio, NULL };
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	snprintf(path, sizeof(path), "%s", data);
	if (fd >= 0 && run_perf(argv, fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* "0 0x55d0c8d8e000 0 7 99.30% ...": a row of the table of lines. */
static bool read_row(const char *text, struct line *l)
{
	char share[16];
	unsigned row;
	int at = 0;

	if (sscanf(text, " %u %31s%n", &row, l->address, &at) != 2 ||
	    strncmp(l->address, "0x", 2))
		return false;
	for (text += at; sscanf(text, " %15s%n", share, &at) == 1; text += at)
		if (strchr(share, '%')) {
			snprintf(l->share, sizeof(l->share), "%s", share);
			return true;
		}
	return false;
}

static void read_table(struct tried *t, FILE *in)
{
	bool is_there = false;
	char text[1024];

	while (fgets(text, sizeof(text), in)) {
		if (strstr(text, "Shared Data Cache Line Table"))
			is_there = true;
		else if (strstr(text, "Pareto"))
			break;
		else if (is_there && t->nr_lines < MAX_LINES &&
			 read_row(text, &t->line[t->nr_lines]))
			t->nr_lines++;
	}
	t->has_lines = is_there;
}

void try_find_lines(struct tried *t, const char *dir, char **argv)
{
	char data[480];
	FILE *in;
	int rc, fd;

	snprintf(data, sizeof(data), "%.440s/c2c.data", dir);
	rc = record_loads(data, argv);
	fd = rc ? -1 : tell_loads(dir, data);
	in = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (in) {
		rewind(in);
		read_table(t, in);
		fclose(in);
	}
	unlink(data);
	if (rc < -1)
		snprintf(t->lines_why, sizeof(t->lines_why), "perf: %s",
			 strerror(-rc - 1));
	else if (!t->has_lines)
		snprintf(t->lines_why, sizeof(t->lines_why),
			 "perf c2c has not recorded the run, see above");
}
