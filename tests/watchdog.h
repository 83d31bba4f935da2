/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The time of a watchdog. A test takes longer beside other load, and nobody
 * knows in advance how much longer. So the seconds of a watchdog are those of
 * an idle machine: where three threads share a CPU, three seconds count as one,
 * and none counts while a thread of the program waits for a CPU. Both are read
 * when the alarm comes, not before: a test that ends in time sees no signal.
 *
 * A test that sleeps for ever ends all the same, later by the first factor. One
 * that computes for ever ends, for its CPU time counts in full: threads of its
 * own that take the CPUs from each other do not make the time longer.
 *
 * The program is the one that includes this, or a child of it.
 */
#ifndef TESTS_WATCHDOG_H
#define TESTS_WATCHDOG_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WATCHDOG_SECOND INT64_C(1000000000)

/* Since when, and the nanoseconds of an idle machine that are left then. */
static struct {
	int64_t left_ns, at_ns, cpu_ns, delay_ns, cpus;
	clockid_t clock; /* CPU time of the program that is watched */
	char tasks[32]; /* the directory of its threads */
} watchdog;

static int64_t watchdog_clock(clockid_t id)
{
	struct timespec t = { 0, 0 };

	clock_gettime(id, &t);
	return t.tv_sec * WATCHDOG_SECOND + t.tv_nsec;
}

/*
 * How many threads want a CPU, in hundredths: the larger of the last minute's
 * average and of those of this moment. text: that of /proc/loadavg. 0: unknown.
 */
static int64_t watchdog_threads(const char *text)
{
	int64_t number[4] = { 0, 0, 0, 0 };
	int i;

	for (i = 0; *text && *text != '/' && i < 4; text++) {
		if (*text == ' ')
			i++;
		else if (*text >= '0' && *text <= '9')
			number[i] = number[i] * 10 + *text - '0';
	}
	number[3] *= 100;
	return number[0] > number[3] ? number[0] : number[3];
}

/* A file of one line, as a signal handler may read it; "": there is none. */
static void watchdog_read(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);

	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

static int64_t watchdog_load(void)
{
	char text[64];

	watchdog_read("/proc/loadavg", text, sizeof(text));
	return watchdog_threads(text);
}

/* Nanoseconds that this thread of the program has waited for a CPU. */
static int64_t watchdog_thread_delay(const char *tid)
{
	char path[80], text[80];
	const char *second;

	strcpy(path, watchdog.tasks);
	strcat(path, "/");
	strncat(path, tid, 20);
	strcat(path, "/schedstat");
	watchdog_read(path, text, sizeof(text));
	second = strchr(text, ' ');
	return second ? strtoll(second, NULL, 10) : 0;
}

/* Those of the program's thread that has waited most. */
static int64_t watchdog_delay(void)
{
	struct entry {
		uint64_t inode, next;
		uint16_t size;
		uint8_t type;
		char name[];
	};
	int fd = open(watchdog.tasks, O_RDONLY | O_CLOEXEC);
	_Alignas(uint64_t) char entries[1024];
	int64_t delay_ns, most_ns = 0;
	const struct entry *e;
	long at, end;

	while (fd >= 0 && (end = syscall(SYS_getdents64, fd, entries,
					 sizeof(entries))) > 0)
		for (at = 0; at < end; at += e->size) {
			e = (const struct entry *)(entries + at);
			delay_ns = watchdog_thread_delay(e->name);
			most_ns = delay_ns > most_ns ? delay_ns : most_ns;
		}
	if (fd >= 0)
		close(fd);
	return most_ns;
}

/*
 * What so many nanoseconds are on an idle machine, in which the program itself
 * has computed for cpu_ns, and a thread of it has waited delay_ns for a CPU.
 */
static int64_t watchdog_counts(int64_t ns, int64_t cpu_ns, int64_t delay_ns,
			       int64_t threads)
{
	int64_t most = watchdog.cpus * 100, own_ns = cpu_ns / watchdog.cpus;
	int64_t free_ns = ns - delay_ns;

	if (threads > most)
		ns = ns * most / threads;
	if (free_ns < ns)
		ns = free_ns;
	return own_ns > ns ? own_ns : ns;
}

static void watchdog_begin(unsigned seconds)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	watchdog.cpus = cpus > 0 ? cpus : 1;
	watchdog.left_ns = seconds * WATCHDOG_SECOND;
	watchdog.at_ns = watchdog_clock(CLOCK_MONOTONIC);
	watchdog.cpu_ns = watchdog_clock(watchdog.clock);
	watchdog.delay_ns = watchdog_delay();
	alarm(seconds);
}

/* The alarm comes after so many seconds of an idle machine; 0: it never comes.
 */
__attribute__((unused)) static void watchdog_set(unsigned seconds)
{
	watchdog.clock = CLOCK_PROCESS_CPUTIME_ID;
	strcpy(watchdog.tasks, "/proc/self/task");
	watchdog_begin(seconds);
}

/* The same for a child; its own children are not counted with it. */
__attribute__((unused)) static void watchdog_set_for(pid_t child,
						     unsigned seconds)
{
	if (clock_getcpuclockid(child, &watchdog.clock))
		watchdog.clock = CLOCK_PROCESS_CPUTIME_ID;
	snprintf(watchdog.tasks, sizeof(watchdog.tasks), "/proc/%d/task",
		 (int)child);
	watchdog_begin(seconds);
}

/* For the handler of SIGALRM. True: it is too early, another alarm will come.
 */
__attribute__((unused)) static bool watchdog_waits(void)
{
	int64_t at_ns = watchdog_clock(CLOCK_MONOTONIC);
	int64_t cpu_ns = watchdog_clock(watchdog.clock);
	int64_t delay_ns = watchdog_delay(), waited_ns;

	/* The thread that had waited most may have ended. */
	waited_ns = delay_ns - watchdog.delay_ns;
	watchdog.left_ns -=
		watchdog_counts(at_ns - watchdog.at_ns,
				cpu_ns - watchdog.cpu_ns,
				waited_ns > 0 ? waited_ns : 0, watchdog_load());
	watchdog.at_ns = at_ns;
	watchdog.cpu_ns = cpu_ns;
	watchdog.delay_ns = delay_ns;
	if (watchdog.left_ns <= 0)
		return false;
	alarm((unsigned)(watchdog.left_ns / WATCHDOG_SECOND) + 1);
	return true;
}

__attribute__((unused)) static void watchdog_end(int sig)
{
	int error = errno;

	if (!watchdog_waits()) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	errno = error;
}

/* The same for a program without hang.h, which ends without a word. */
__attribute__((unused)) static void watchdog_watch(unsigned seconds)
{
	signal(SIGALRM, watchdog_end);
	watchdog_set(seconds);
}

/* So many times as long as on an idle machine a thing takes now. */
__attribute__((unused)) static int64_t watchdog_times(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return 1 + watchdog_load() / (100 * (cpus > 0 ? cpus : 1));
}

#endif
