/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tests of kernel interfaces: TEST(a_fact_in_the_present) { ... } and a main()
 * that is here already. Each test runs in a child of its own, which an alarm
 * ends, and says where its threads were; output is TAP 13. Inside: EXPECT notes
 * a failure and goes on, ASSERT ends the test, SKIP ends it as skipped. Exit
 * status: 0 passed, 1 failed, 4 all skipped. Arguments: only tests whose name
 * contains one of them.
 */
#ifndef LKDF_TESTS_KMOD_HARNESS_H
#define LKDF_TESTS_KMOD_HARNESS_H

#include "../watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define HARNESS_SKIP 4
#define HARNESS_TELLS_S 10 /* seconds to tell where it hangs */
#define HARNESS_MAX 64

struct harness_test {
	const char *name;
	void (*fn)(void);
	unsigned seconds;
};

static struct harness_test harness_tests[HARNESS_MAX];
static int harness_nr_tests;
static int harness_failed; /* in the child */
static char *harness_why; /* shared with the child */

static inline void harness_add(const char *name, void (*fn)(void),
			       unsigned seconds)
{
	struct harness_test test = { name, fn, seconds };

	if (harness_nr_tests == HARNESS_MAX)
		abort();
	harness_tests[harness_nr_tests++] = test;
}

#define TEST_LIMIT(fn, seconds)                                         \
	static void fn(void);                                           \
	__attribute__((constructor)) static void harness_add_##fn(void) \
	{                                                               \
		harness_add(#fn, fn, seconds);                          \
	}                                                               \
	static void fn(void)
#define TEST(fn) TEST_LIMIT(fn, 30)

/* The last text is what the line of the test says. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void
SKIP(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(harness_why, 200, format, args);
	va_end(args);
	fflush(stdout);
	_exit(HARNESS_SKIP);
}

static inline int harness_check(int good, int is_last, const char *file,
				int line, const char *what)
{
	if (good)
		return 1;
	printf("# %s:%d: %s (errno %d)\n", file, line, what, errno);
	harness_failed = 1;
	fflush(stdout);
	if (is_last)
		_exit(1);
	return 0;
}

static inline int harness_equal(long long a, long long b, int is_last,
				const char *file, int line, const char *what)
{
	if (a == b)
		return 1;
	printf("# %s:%d: %s: %lld, expected %lld (errno %d)\n", file, line,
	       what, a, b, errno);
	harness_failed = 1;
	fflush(stdout);
	if (is_last)
		_exit(1);
	return 0;
}

#define EXPECT(cond) harness_check(!!(cond), 0, __FILE__, __LINE__, #cond)
#define ASSERT(cond) harness_check(!!(cond), 1, __FILE__, __LINE__, #cond)
#define EXPECT_EQ(a, b) harness_equal(a, b, 0, __FILE__, __LINE__, #a)
#define ASSERT_EQ(a, b) harness_equal(a, b, 1, __FILE__, __LINE__, #a)
/* A system call that must fail. */
#define EXPECT_ERRNO(call, code)                                           \
	harness_equal((call) < 0 ? errno : 0, code, 0, __FILE__, __LINE__, \
		      #call)

/*
 * A file of /proc/self/task/TID: the name, the function and the system call in
 * which the kernel has it, and as root its stack there.
 */
static inline void harness_tell_file(const char *tid, const char *file)
{
	char path[64], text[1024];
	ssize_t size;
	char *line, *rest = NULL;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.12s/%s", tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = 0;
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		printf("# thread %s: %s: %s\n", tid, file, line);
}

/* More than a handler may do; a second alarm ends it then. */
static inline void harness_on_alarm(int sig)
{
	static const char *const file[] = { "comm", "wchan", "syscall",
					    "stack" };
	void *frame[20];
	struct dirent *d;
	int error = errno;
	size_t i;
	DIR *dir;

	if (watchdog_waits()) {
		errno = error;
		return;
	}
	/* The next one ends the program: it is not blocked. */
	signal(sig, SIG_DFL);
	alarm(HARNESS_TELLS_S);
	printf("# hangs: the time of the test is over, in\n");
	fflush(stdout);
	backtrace_symbols_fd(frame, backtrace(frame, 20), 1);
	dir = opendir("/proc/self/task");
	while (dir && (d = readdir(dir)))
		for (i = 0; d->d_name[0] != '.' && i < 4; i++)
			harness_tell_file(d->d_name, file[i]);
	fflush(stdout);
	raise(sig);
}

static inline void harness_watch(unsigned long seconds)
{
	struct sigaction sa = { .sa_handler = harness_on_alarm,
				.sa_flags = SA_RESTART | SA_NODEFER };

	sigaction(SIGALRM, &sa, NULL);
	watchdog_set((unsigned)seconds);
}

/* LKDF_TIME_SCALE: slow machines get so many times the time. */
static inline void harness_run(const struct harness_test *test)
{
	const char *scale = getenv("LKDF_TIME_SCALE");

	setpgid(0, 0);
	harness_watch(test->seconds * (scale ? strtoul(scale, NULL, 10) : 1));
	test->fn();
	fflush(stdout);
	_exit(harness_failed);
}

/* Prints the line of the test. Return: its exit status. */
static inline int harness_one(int nr, const struct harness_test *test)
{
	char text[100];
	int status = 0;
	pid_t child;
	char *c;

	snprintf(text, sizeof(text), "%s", test->name);
	for (c = text; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	harness_why[0] = 0;
	fflush(stdout);
	child = fork();
	if (child == 0)
		harness_run(test);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		status = 1 << 8;
	/* Whatever it left behind. */
	if (child > 0)
		kill(-child, SIGKILL);
	if (WIFSIGNALED(status))
		printf("# ended by signal %d\n", WTERMSIG(status));
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	if (status == HARNESS_SKIP)
		printf("ok %d %s # SKIP %s\n", nr, text, harness_why);
	else
		printf("%sok %d %s\n", status ? "not " : "", nr, text);
	fflush(stdout);
	return status;
}

static inline int harness_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strstr(name, argv[i]))
			return 1;
	}
	return argc == 1;
}

int main(int argc, char **argv)
{
	int nr = 0, nr_failed = 0, nr_skipped = 0, rc, i;

	harness_why = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (harness_why == MAP_FAILED)
		return 1;
	printf("TAP version 13\n");
	for (i = 0; i < harness_nr_tests; i++) {
		if (!harness_wanted(harness_tests[i].name, argc, argv))
			continue;
		rc = harness_one(++nr, &harness_tests[i]);
		nr_skipped += rc == HARNESS_SKIP;
		nr_failed += rc != 0 && rc != HARNESS_SKIP;
	}
	printf("1..%d\n", nr);
	if (nr_failed)
		return 1;
	return nr_skipped == nr ? HARNESS_SKIP : 0;
}

#endif
