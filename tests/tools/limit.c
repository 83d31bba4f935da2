/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * limit SECONDS COMMAND...: runs the command and ends it, and all that it has
 * started in its group, after so many seconds of an idle machine, see
 * tests/watchdog.h; after LKDF_TIME_SCALE times as many on a slow one. The exit
 * status is that of the command, 128 and the signal that has ended it, 124 if
 * the time was over, or 126 if it cannot be started.
 *
 * Test scripts use it instead of timeout(1), whose seconds go on while the
 * command waits for a CPU.
 */
#include "tests/watchdog.h"

#include <sys/wait.h>

#define KILL_AFTER_S 5
#define TIME_IS_OVER 124
#define NO_COMMAND 126

static volatile pid_t child;
static volatile sig_atomic_t is_over;

static void pass_on(int sig)
{
	if (child > 0)
		kill(child, sig);
}

/* First it is asked to end, then it is killed: us too, with the group. */
static void on_alarm(int sig)
{
	int error = errno;

	if (is_over) {
		kill(0, SIGKILL);
	} else if (!watchdog_waits()) {
		is_over = true;
		signal(SIGTERM, SIG_IGN);
		kill(0, SIGTERM);
		alarm(KILL_AFTER_S);
	}
	(void)sig;
	errno = error;
}

static void handle(int sig, void (*fn)(int sig))
{
	struct sigaction sa = { .sa_handler = fn, .sa_flags = SA_RESTART };

	sigaction(sig, &sa, NULL);
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (!pid) {
		execvp(*command, command);
		fprintf(stderr, "%s: %s\n", *command, strerror(errno));
		_exit(NO_COMMAND);
	}
	return pid;
}

/* It has a group of its own, as timeout(1) has, which can be ended whole. */
int main(int argc, char **argv)
{
	const char *scale = getenv("LKDF_TIME_SCALE");
	unsigned times = scale ? (unsigned)strtoul(scale, NULL, 10) : 0;
	unsigned seconds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	int status = 0;

	if (argc < 3 || !seconds) {
		fprintf(stderr, "usage: limit SECONDS COMMAND...\n");
		return NO_COMMAND;
	}
	/* Before the command starts: it ignores none of them then, not even as
	 * a command that a shell has put into the background. */
	handle(SIGTERM, pass_on);
	handle(SIGINT, pass_on);
	handle(SIGHUP, pass_on);
	handle(SIGQUIT, pass_on);
	handle(SIGALRM, on_alarm);
	setpgid(0, 0);
	child = start(argv + 2);
	if (child < 0)
		return NO_COMMAND;
	watchdog_set_for(child, seconds * (times ? times : 1));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (is_over)
		return TIME_IS_OVER;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}
