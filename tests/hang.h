/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a test hangs: when the time of its watchdog is over it prints the state
 * and the stack of each thread and what the runtimes say of themselves, and
 * then SIGALRM ends it. Stacks come from gdb; without gdb each thread is sent
 * SIGPROF, which also the library's workers take, and prints its own addresses.
 * HANG_DEBUGGER=none in the environment takes that way.
 *
 * What it does is more than a signal handler may. If that hangs too, a second
 * SIGALRM ends the program.
 */
#ifndef TESTS_HANG_H
#define TESTS_HANG_H

#include "tests/watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HANG_TELLS_S 90 /* seconds to tell it */
#define HANG_FRAMES 40

/* Says more, for instance of runtimes: to a descriptor. NULL: nothing. */
static void (*hang_also)(int fd);

/* Says what the program had come to when it began to hang. NULL: nothing. */
static void (*hang_at)(void);

/* Written by the thread whose turn it is. */
static volatile int hang_fd, hang_said;

/* Each line of fd from its start goes to stdout, as a remark in TAP. */
__attribute__((unused)) static bool hang_copy(int fd, const char *needed)
{
	FILE *f = lseek(fd, 0, SEEK_SET) ? NULL : fdopen(fd, "r");
	char line[512];
	bool found = false;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		found |= strstr(line, needed) != NULL;
		printf("#   %s\n", line);
	}
	if (f)
		fclose(f);
	fflush(stdout);
	return found;
}

/* The debugger stops us until it has written all: a pipe would fill. */
static bool hang_debugger(void)
{
	const char *name = getenv("HANG_DEBUGGER");
	int fd = memfd_create("stacks", 0), status;
	char us[16];
	pid_t child;

	if (fd < 0 || (name && !strcmp(name, "none")))
		return false;
	snprintf(us, sizeof(us), "%d", (int)getpid());
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#ifdef SYS_fork
	child = (pid_t)syscall(SYS_fork);
#else
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
	if (!child) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		unsetenv("LD_PRELOAD");
		dup2(fd, 1);
		dup2(fd, 2);
		execlp("timeout", "timeout", "-k", "5", "60", "gdb", "-nx",
		       "-batch", "-iex", "set debuginfod enabled off", "-p", us,
		       "-ex", "thread apply all -q backtrace 40", (char *)NULL);
		_exit(127);
	}
	if (child < 0)
		return false;
	waitpid(child, &status, 0);
	return hang_copy(fd, "#0 ");
}

static void hang_own_stack(int sig)
{
	void *frame[HANG_FRAMES];
	int nr = backtrace(frame, HANG_FRAMES);

	(void)sig;
	backtrace_symbols_fd(frame, nr, hang_fd);
	hang_said++;
}

/* The name, the state and the function of the kernel in which it sleeps. */
static void hang_tell_thread(const char *tid)
{
	static const char *const file[] = { "comm", "wchan", "syscall" };
	char path[64], text[128];
	unsigned i;
	int fd;

	printf("# thread %s:", tid);
	for (i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%.12s/%s", tid,
			 file[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		memset(text, 0, sizeof(text));
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
			printf(" %.*s", (int)strcspn(text, "\n"), text);
		if (fd >= 0)
			close(fd);
	}
	printf("\n");
	fflush(stdout);
}

/* One thread after the other: it says its stack within a second, or nothing. */
static void hang_signal_thread(const char *tid)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int said = hang_said, i;

	hang_fd = memfd_create("stack", 0);
	if (hang_fd < 0)
		return;
	syscall(SYS_tgkill, getpid(), atoi(tid), SIGPROF);
	for (i = 0; i < 1000 && hang_said == said; i++)
		nanosleep(&nap, NULL);
	printf("# stack of thread %s:\n", tid);
	hang_copy(hang_fd, "");
}

static void hang_threads(void (*tell)(const char *tid))
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			tell(d->d_name);
	if (dir)
		closedir(dir);
}

__attribute__((unused)) static void hang_tell(void)
{
	int fd = hang_also ? memfd_create("state", 0) : -1;

	hang_threads(hang_tell_thread);
	if (!hang_debugger()) {
		signal(SIGPROF, hang_own_stack);
		hang_threads(hang_signal_thread);
	}
	if (fd < 0)
		return;
	hang_also(fd);
	hang_copy(fd, "");
}

__attribute__((unused)) static void hang_on_alarm(int sig)
{
	int error = errno;

	if (watchdog_waits()) {
		errno = error;
		return;
	}
	/* The next one ends the program: it is not blocked. */
	signal(sig, SIG_DFL);
	alarm(HANG_TELLS_S);
	printf("# hangs: SIGALRM, the time of the watchdog is over\n");
	if (hang_at)
		hang_at();
	fflush(stdout);
	hang_tell();
	raise(sig);
}

#ifndef __has_feature
#define __has_feature(name) 0
#endif
/*
 * The thread sanitizer keeps a signal until the thread calls libc, which one
 * that sleeps in a futex of the library never does: the kernel is given the
 * handler itself.
 */
static void hang_past_sanitizer(void)
{
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
	struct {
		void (*handler)(int sig);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} action;

	if (syscall(SYS_rt_sigaction, SIGALRM, NULL, &action,
		    sizeof(action.mask)))
		return;
	action.handler = hang_on_alarm;
	action.flags &= ~(unsigned long)SA_SIGINFO;
	syscall(SYS_rt_sigaction, SIGALRM, &action, NULL, sizeof(action.mask));
#endif
}

/* The program ends after so many seconds of an idle machine. */
__attribute__((unused)) static void hang_watch(unsigned seconds)
{
	struct sigaction sa = { .sa_handler = hang_on_alarm,
				.sa_flags = SA_RESTART | SA_NODEFER };

	sigaction(SIGALRM, &sa, NULL);
	hang_past_sanitizer();
	watchdog_set(seconds);
}

#endif
