/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs the checks in processes, some at a time, and prints their lines in
 * order. The parent has no driver.
 *
 *   conformance [-j PROCESSES] [-s STUB] [-k START] [DRIVER]
 *
 * START: only checks whose names begin so. A card is shared by all processes:
 * one at a time there, which is the default.
 */
#include "tests/cuda/conformance/run.h"

#include "tests/cuda/conformance/check.h"
#include "tests/watchdog.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MAX_CHECKS 400
#define MAX_PROCESSES 16
#define LINE 512
#define BRIEF_MS 300 /* a kernel that the call under test waits for */

const char *stub = "";

/* A check that is to die of a signal dies of it, not of a sanitizer's report.
 */
#define SIGNALS "handle_segv=0:handle_abort=0:handle_sigbus=0"

const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return SIGNALS ":detect_leaks=0:intercept_tls_get_addr=0";
}

const char *__tsan_default_options(void)
{
	return SIGNALS ":atexit_sleep_ms=0";
}

/* Children write their lines, and at which check they are. */
struct shared {
	char line[MAX_CHECKS][LINE];
	int at[MAX_PROCESSES];
};

static const struct check *const lists[] = {
	load_checks,   context_checks, stream_checks, host_checks,
	memory_checks, pinned_checks,  module_checks, launch_checks,
	fault_checks,  capture_checks, graph_checks,  busy_checks,
	beside_checks,
};

static struct check checks[MAX_CHECKS];
static int nr_checks, now;
static struct shared *shared;
static const char *library;

void run_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(shared->line[now], LINE, fmt, ap);
	va_end(ap);
}

static void collect(const char *start)
{
	const struct check *c;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (c = lists[i]; c->name && nr_checks < MAX_CHECKS; c++)
			if (!strncmp(c->name, start, strlen(start)))
				checks[nr_checks++] = *c;
}

/* The check behind those that one process does, if it does not die. */
static int end_of(int i)
{
	if (checks[i++].how & OWN)
		return i;
	while (i < nr_checks && !(checks[i].how & OWN))
		i++;
	return i;
}

/* In a child. */
static void run_checks(int begin, int end, int *at)
{
	char why[300];

	now = begin;
	if (cu_load(library, &cu, why, sizeof(why))) {
		run_line("%s", why);
		_exit(4);
	}
	if (!(checks[begin].how & NO_INIT))
		prepare();
	for (now = begin; now < end; now++) {
		*at = now;
		watchdog_watch(30);
		limit_gate(checks[now].how & BRIEF ? BRIEF_MS : 8000);
		checks[now].fn();
	}
	*at = end;
	_exit(0);
}

/* A process: its checks, and the one that it is at when it dies. */
struct process {
	pid_t pid;
	int end;
};

static struct process start_process(int slot, int begin, int end)
{
	struct process p = { .end = end };

	shared->at[slot] = begin;
	p.pid = fork();
	if (!p.pid)
		run_checks(begin, end, &shared->at[slot]);
	return p;
}

/* Who dies at a check says it; those behind it are for another process. */
static int end_process(int slot, int status)
{
	int at = shared->at[slot];

	if (WIFSIGNALED(status))
		snprintf(shared->line[at], LINE, "%s",
			 WTERMSIG(status) == SIGALRM
				 ? "HANGS"
				 : strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) && !shared->line[at][0])
		snprintf(shared->line[at], LINE, "exit %d",
			 WEXITSTATUS(status));
	return status ? at + 1 : at;
}

static void run_all(int nr_processes)
{
	struct process v[MAX_PROCESSES] = { 0 };
	int next = 0, nr_busy = 0, status, i, at, from, to;
	pid_t pid;

	while (next < nr_checks || nr_busy) {
		for (i = 0; i < nr_processes && next < nr_checks; i++)
			if (!v[i].pid) {
				to = end_of(next);
				v[i] = start_process(i, next, to);
				next = to;
				nr_busy++;
			}
		pid = wait(&status);
		for (i = 0; i < nr_processes && v[i].pid != pid; i++)
			;
		if (i == nr_processes)
			continue;
		from = end_process(i, status);
		at = v[i].end;
		v[i].pid = 0;
		nr_busy--;
		if (from < at) {
			v[i] = start_process(i, from, at);
			nr_busy++;
		}
	}
}

int main(int argc, char **argv)
{
	int nr_processes = 1, option, i;
	const char *start = "";

	while ((option = getopt(argc, argv, "j:s:k:")) != -1) {
		if (option == 'j')
			nr_processes = atoi(optarg);
		else if (option == 's')
			stub = optarg;
		else if (option == 'k')
			start = optarg;
		else
			return 2;
	}
	library = optind < argc ? argv[optind] : cuda_driver();
	if (nr_processes < 1 || nr_processes > MAX_PROCESSES)
		return 2;
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	collect(start);
	run_all(nr_processes);
	for (i = 0; i < nr_checks; i++)
		printf("%s: %s\n", checks[i].name, shared->line[i]);
	return 0;
}
