/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* ptrace(2) stops each thread at both ends of a call; entries are counted. */
#include "tests/bench/suites/trace.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct tracing {
	unsigned nr_marks;
	long nr_calls;
};

static int seize_all(pid_t pid)
{
	char path[64];
	struct dirent *e;
	pid_t thread;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!rc && (e = readdir(dir)) != NULL) {
		thread = (pid_t)strtol(e->d_name, NULL, 10);
		if (thread <= 0)
			continue;
		if (ptrace(PTRACE_SEIZE, thread, NULL,
			   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE) ||
		    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL))
			rc = -errno;
	}
	closedir(dir);
	return rc;
}

/* A call has begun: a mark, or one to count. */
static void count_call(struct tracing *t, pid_t thread)
{
	struct __ptrace_syscall_info info;

	memset(&info, 0, sizeof(info));
	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) < 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	if (info.entry.nr == SYS_getppid)
		t->nr_marks++;
	else if (t->nr_marks == 1)
		t->nr_calls++;
}

/* Lets the thread go on to its next stop, with the signal that stopped it. */
static void go_on(struct tracing *t, pid_t thread, int status)
{
	long signal = 0;

	if (WSTOPSIG(status) == (SIGTRAP | 0x80))
		count_call(t, thread);
	else if (!(status >> 16))
		signal = WSTOPSIG(status);
	ptrace(PTRACE_SYSCALL, thread, NULL, signal);
}

/* Reaps all threads: the first one's end comes after all others'. */
static void end(pid_t pid)
{
	pid_t thread;
	int status;

	kill(pid, SIGKILL);
	do
		thread = waitpid(-1, &status, __WALL);
	while (thread > 0 && (thread != pid || WIFSTOPPED(status)));
}

long trace_count_calls(struct peer *p, const char *question)
{
	struct tracing t = { .nr_marks = 0 };
	pid_t thread;
	int status, rc;

	if (!p->pid)
		return -ENOENT;
	rc = seize_all(p->pid);
	if (!rc)
		rc = peer_send(p, "%s", question);
	while (!rc && t.nr_marks < 2) {
		thread = waitpid(-1, &status, __WALL);
		if (thread < 0)
			rc = -errno;
		else if (!WIFSTOPPED(status))
			rc = thread == p->pid ? -EPIPE : 0;
		else
			go_on(&t, thread, status);
	}
	end(p->pid);
	p->pid = 0;
	return rc ? rc : t.nr_calls;
}
