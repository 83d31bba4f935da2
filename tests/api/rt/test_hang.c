/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A test that hangs says where: in a child a body never ends, and what the
 * watchdog prints must name that body, the state of the runtime and the
 * threads, with a debugger and without one. The signal ends the child.
 */
#include "tests/api/api.h"

#include <sys/wait.h>

__attribute__((noinline)) int stuck_body(struct lkdf_ctx *c, void *arg);

int stuck_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	api_until(arg);
	return 0;
}

static void hang(void)
{
	static atomic_int never;
	struct lkdf *rt;
	struct lkdf_kind *k;

	setenv("LKDF_TIME_SCALE", "1", 1);
	tap_start(1);
	rt = api_open_workers(2);
	k = api_kind(rt, "stuck", stuck_body, 0, 0);
	api_call(rt, k, &never);
	_exit(0);
}

/* What a child said, all of it that fits; its status. */
static int hear_child(char *text, size_t size)
{
	size_t used = 0;
	int fd[2], status = 0;
	ssize_t n;
	pid_t child;

	must(pipe(fd));
	fflush(stdout);
	child = must(fork());
	if (!child) {
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		hang();
	}
	close(fd[1]);
	while ((n = read(fd[0], text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = 0;
	close(fd[0]);
	waitpid(child, &status, 0);
	return status;
}

static void hang_is_told(const char *debugger)
{
	static char text[1 << 20];
	int status;

	setenv("HANG_DEBUGGER", debugger, 1);
	status = hear_child(text, sizeof(text));
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM,
	   "%s: SIGALRM ends the program", debugger);
	has(text, "# hangs: SIGALRM", "%s: it says that it hangs", debugger);
	has(text, "# thread ", "%s: threads are listed", debugger);
	has(text, "lkdf.tasks", "%s: the runtime says its state", debugger);
	if (strcmp(debugger, "gdb")) {
		has(text, "liblkdf.so.0(+", "%s: stacks have addresses",
		    debugger);
	} else if (!strstr(text, "stuck_body")) {
		skip("gdb: stacks have names", "no gdb, or no ptrace");
	} else {
		/* The compiler may end lkdf_event_wait() with a jump to it. */
		has(text, "event_wait", "%s: the main thread is told",
		    debugger);
		has(text, "api_until", "%s: the body is told", debugger);
	}
}

int main(void)
{
	tap_start(300);
	hang_is_told("gdb");
	hang_is_told("none");
	return tap_end();
}
