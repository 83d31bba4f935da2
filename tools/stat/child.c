/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/child.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t child_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* An abstract name that nobody else has; it is in LKDF_SOCKET then. */
static int listen_somewhere(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, n;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "lkdf-%d-%llx",
		     (int)getpid(), (unsigned long long)child_now_ns());
	if (bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     (size_t)n)) ||
	    listen(fd, STATS_MAX) ||
	    setenv("LKDF_SOCKET", at.sun_path + 1, 1)) {
		n = -errno;
		close(fd);
		return n;
	}
	return fd;
}

static void run_command(char **argv, int report)
{
	int error;

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	execvp(argv[0], argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(CLI_FAILED);
	_exit(error == ENOENT ? CLI_NOT_FOUND : CLI_NO_EXEC);
}

/* The answer of exec(): 0, or its errno. */
static int read_report(int fd)
{
	int error = 0;
	ssize_t n;

	do {
		n = read(fd, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? error : 0;
}

static int start(struct child *c, char **argv)
{
	int report[2], rc;

	c->socket = listen_somewhere();
	if (c->socket < 0)
		return c->socket;
	if (pipe2(report, O_CLOEXEC))
		return -errno;
	c->start_ns = child_now_ns();
	c->pid = fork();
	if (!c->pid)
		run_command(argv, report[1]);
	rc = c->pid < 0 ? -errno : 0;
	close(report[1]);
	if (!rc)
		rc = read_report(report[0]);
	close(report[0]);
	if (rc > 0)
		waitpid(c->pid, &c->status, 0);
	return rc;
}

int child_start(struct child *c, const char *verb, char **argv)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, NULL };
	int rc;

	memset(c, 0, sizeof(*c));
	c->socket = c->pidfd = -1;
	fflush(NULL);
	rc = start(c, argv);
	if (rc) {
		e.code = rc == ENOENT ? CLI_NOT_FOUND
			 : rc > 0     ? CLI_NO_EXEC
				      : CLI_FAILED;
		return cli_fail(&e, "%s: %s", argv[0],
				strerror(rc < 0 ? -rc : rc));
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return 0;
}

/* Takes one message: a memfd. */
static void take_one(struct child *c)
{
	struct lkdf_stats_hello hello;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { &hello, sizeof(hello) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int fd = accept4(c->socket, NULL, NULL, SOCK_CLOEXEC), memfd;
	struct timeval patience = { .tv_sec = 1 };
	struct cmsghdr *h;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) == sizeof(hello) &&
	    (h = CMSG_FIRSTHDR(&m)) && h->cmsg_type == SCM_RIGHTS &&
	    h->cmsg_len == CMSG_LEN(sizeof(int))) {
		memcpy(&memfd, CMSG_DATA(h), sizeof(memfd));
		if (hello.magic == LKDF_STATS_MAGIC &&
		    c->nr_stats < STATS_MAX &&
		    !stats_map(&c->stats[c->nr_stats], memfd))
			c->nr_stats++;
		close(memfd);
	}
	close(fd);
}

/* Those that came while it ended, too. */
static void take_rest(struct child *c)
{
	struct pollfd p = { .fd = c->socket, .events = POLLIN };

	while (poll(&p, 1, 0) > 0)
		take_one(c);
}

/* How long until the end, or until somebody has to look again. */
static int nap_ms(const struct child *c, int64_t end_ns)
{
	int64_t left = (end_ns - child_now_ns()) / 1000000 + 1;

	if (end_ns < 0)
		left = 1000;
	/* Without a pidfd, nobody tells us of the end. */
	if (c->pidfd < 0 && left > 20)
		left = 20;
	return left < 0 ? 0 : left > 1000 ? 1000 : (int)left;
}

int child_wait(struct child *c, int64_t timeout_ns)
{
	int64_t end = timeout_ns < 0 ? -1 : child_now_ns() + timeout_ns;
	struct pollfd p[2] = {
		{ .fd = c->socket, .events = POLLIN },
		{ .fd = c->pidfd, .events = POLLIN },
	};

	for (;;) {
		poll(p, 2, nap_ms(c, end));
		if (p[0].revents & POLLIN)
			take_one(c);
		if (waitpid(c->pid, &c->status, WNOHANG) == c->pid)
			break;
		if (end >= 0 && child_now_ns() >= end)
			return 1;
	}
	c->end_ns = child_now_ns();
	take_rest(c);
	return 0;
}

int child_code(const struct child *c)
{
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status)
				    : (int)CLI_SIGNAL + WTERMSIG(c->status);
}

void child_fini(struct child *c)
{
	unsigned i;

	for (i = 0; i < c->nr_stats; i++)
		stats_unmap(&c->stats[i]);
	if (c->socket >= 0)
		close(c->socket);
	if (c->pidfd >= 0)
		close(c->pidfd);
}
