/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/ask.h"

#include "cli/cli.h"
#include "foreign.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_S 10

/* ---- the connection ----------------------------------------------------- */

/* 0: we are in the network namespace of the process. */
static int go_there(int pid)
{
	struct stat ours, theirs;
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	if (stat("/proc/self/ns/net", &ours) || stat(path, &theirs) ||
	    (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	rc = fd < 0 || setns(fd, CLONE_NEWNET) ? -ENONET : 0;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int connect_to(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_S };
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	memcpy(to.sun_path + 1, name, strlen(name));
	size += (socklen_t)strlen(name);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&to, size))
		return fd;
	rc = -errno;
	close(fd);
	return rc == -ECONNREFUSED ? -ESRCH : rc == -EAGAIN ? -ETIMEDOUT : rc;
}

/* Another process may have a socket of the same name elsewhere. */
static bool is_of(int fd, int pid)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) &&
	       who.pid == pid;
}

int ask_connect(const struct stats *s, int pid)
{
	char name[sizeof(s->h.ask)];
	int fd;

	stats_ask_name(s, name);
	if (!name[0])
		return -EOPNOTSUPP;
	fd = go_there(pid);
	if (!fd)
		fd = connect_to(name);
	if (fd >= 0 && !is_of(fd, pid)) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

/* ---- questions and answers ---------------------------------------------- */

int ask_send(const struct stats *s, int fd, enum lkdf_ask_word word, int give)
{
	struct lkdf_ask ask = {
		.magic = LKDF_STATS_MAGIC,
		.version = LKDF_STATS_VERSION,
		.word = word,
		.key = stats_ask_key(s),
	};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { &ask, sizeof(ask) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (give >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &give, sizeof(give));
	}
	if (sendmsg(fd, &m, MSG_NOSIGNAL) == sizeof(ask))
		return 0;
	return errno == EPIPE ? -ECONNRESET : -errno;
}

static int receive(int fd, struct msghdr *m)
{
	ssize_t n;

	do {
		n = recvmsg(fd, m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return n ? (int)n : -ECONNRESET;
}

int ask_receive(int fd, struct lkdf_answer *a, int *given)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { a, sizeof(*a) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *h;
	int rc = receive(fd, &m);

	*given = -1;
	if (rc < 0)
		return rc;
	h = CMSG_FIRSTHDR(&m);
	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
		memcpy(given, CMSG_DATA(h), sizeof(*given));
	if (rc != sizeof(*a) || a->magic != LKDF_STATS_MAGIC ||
	    a->version != LKDF_STATS_VERSION || a->error > 0)
		return -EBADMSG;
	a->text[sizeof(a->text) - 1] = '\0';
	utf8_tame_bytes(a->text, strlen(a->text), "\n");
	return a->error;
}

/* ---- what went wrong ---------------------------------------------------- */

static const struct reason {
	int rc;
	enum cli_exit code;
	const char *why, *needs, *try;
} reasons[] = {
	{ EOPNOTSUPP, CLI_ABSENT, "its runtime answers nobody",
	  "a runtime without ask=no and serial=yes", NULL },
	{ ENONET, CLI_DENIED, "it has a network namespace of its own",
	  "CAP_SYS_ADMIN, to go there",
	  "as root, or nsenter -t PID -U -n lkdf ..." },
	{ ESRCH, CLI_GONE, "its runtime has closed", NULL, NULL },
	{ ECONNRESET, CLI_GONE, "its runtime has hung up: it closes", NULL,
	  NULL },
	{ ETIMEDOUT, CLI_ABSENT, "its runtime does not answer",
	  "a process that is not stopped", "kill -CONT PID" },
	{ EBADMSG, CLI_DAMAGED, "what it answers is damaged", NULL, NULL },
	{ 0, CLI_OK, NULL, NULL, NULL },
};

int ask_fail(const char *verb, int pid, int rc, const struct lkdf_answer *a)
{
	struct cli_error e = { verb, cli_code_of(rc), NULL, NULL };
	const struct reason *r;

	if (a && a->error && rc == a->error)
		return cli_fail(&e, "process %d: %s", pid, a->text);
	for (r = reasons; r->why && r->rc != -rc; r++)
		continue;
	if (!r->why)
		return cli_fail(&e, "process %d: %s", pid, strerror(-rc));
	e.code = r->code;
	e.needs = r->needs;
	e.try = r->try;
	return cli_fail(&e, "process %d: %s", pid, r->why);
}

/* ---- texts --------------------------------------------------------------- */

int ask_text(const struct stats *s, int pid, enum lkdf_ask_word word,
	     char **text, struct lkdf_answer *a)
{
	int fd = ask_connect(s, pid), given = -1, rc;

	a->error = 0;
	if (fd < 0)
		return fd;
	rc = ask_send(s, fd, word, -1);
	if (!rc)
		rc = ask_receive(fd, a, &given);
	if (!rc)
		rc = foreign_text(given, ASK_MAX_TEXT, text);
	if (!rc)
		utf8_tame_bytes(*text, strlen(*text), "\n");
	if (given >= 0)
		close(given);
	close(fd);
	return rc;
}
