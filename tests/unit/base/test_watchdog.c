/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The watchdog of the tests ends a program that sleeps and one that computes
 * without end, and lets one go on that waits for its CPUs.
 */
#include "tests/tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define LOOPS 4 /* of each CPU */

static void the_load_is_read(void)
{
	is(watchdog_threads("0.84 2.39 1.00 3/132 18043\n"), 300,
	   "threads that run now count");
	is(watchdog_threads("12.50 2.39 1.00 3/132 18043\n"), 1250,
	   "so does the last minute, if there were more");
	is(watchdog_threads(""), 0, "nothing is known of no text");
	ok(watchdog_load() >= 100, "we run ourselves");
}

static void time_is_shared(void)
{
	int64_t cpus = watchdog.cpus;

	watchdog.cpus = 4;
	is(watchdog_counts(1000, 0, 0, 0), 1000, "the load is not known");
	is(watchdog_counts(1000, 0, 0, 400), 1000, "a CPU for each thread");
	is(watchdog_counts(1000, 0, 0, 1600), 250, "four threads for each CPU");
	is(watchdog_counts(1000, 800, 0, 1600), 250, "of which one is ours");
	is(watchdog_counts(1000, 4000, 750, 1600), 1000,
	   "all of them are ours");
	is(watchdog_counts(1000, 40, 960, 800), 40, "we had a small share");
	is(watchdog_counts(1000, 40, 100, 1600), 250, "and seldom wanted one");
	watchdog.cpus = cpus;
}

/* Its status: it is watched for a second. */
static int run_child(void (*fn)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		watchdog_watch(1);
		fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void sleep_on(void)
{
	for (;;)
		pause();
}

static void *spin_on(void *arg)
{
	static atomic_int never;

	while (!atomic_load_explicit(&never, memory_order_relaxed))
		;
	return arg;
}

static void spin_alone(void)
{
	spin_on(NULL);
}

/* Threads that spin, so many for each CPU; exit status 77: it cannot have them.
 */
static void spin_together(void)
{
	int64_t nr = LOOPS * watchdog.cpus;
	pthread_t thread;

	while (--nr > 0)
		if (pthread_create(&thread, NULL, spin_on, NULL))
			_exit(77);
	spin_on(NULL);
}

/* Longer than we are watched. */
static void sleep_long(void)
{
	int64_t end_ns =
		watchdog_clock(CLOCK_MONOTONIC) + 3 * WATCHDOG_SECOND / 2;

	while (watchdog_clock(CLOCK_MONOTONIC) < end_ns)
		usleep(100000);
}

static void ends(void (*fn)(void), const char *what)
{
	int status = run_child(fn);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(what, "so many threads are refused");
	else
		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM,
		   "%s is ended (%#x)", what, status);
}

/* They take nothing from other programs, and want CPUs like any other. */
static pid_t load_begin(void)
{
	pid_t us = getpid(), pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != us || setpriority(PRIO_PROCESS, 0, 19))
			_exit(77);
		watchdog_watch(60);
		spin_together();
	}
	return pid;
}

static bool load_is_there(pid_t pid)
{
	while (watchdog_load() < 100 * LOOPS * watchdog.cpus)
		if (waitpid(pid, NULL, WNOHANG))
			return false;
		else
			usleep(1000);
	return true;
}

static void who_waits_for_cpus_is_not_ended(void)
{
	pid_t pid = load_begin();

	if (!load_is_there(pid)) {
		skip("beside load", "so many threads are refused");
		return;
	}
	is(run_child(sleep_long), 0, "beside load a test has more time");
	ends(sleep_on, "beside load one that sleeps for ever");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	tap_start(60);
	the_load_is_read();
	time_is_shared();
	ends(sleep_on, "one that sleeps for ever");
	ends(spin_alone, "one that computes for ever");
	ends(spin_together, "one of many threads that compute for ever");
	who_waits_for_cpus_is_not_ended();
	return tap_end();
}
