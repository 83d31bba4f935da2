/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Protocol: question "word word ...\n"; answer "ok number ...\n" or
 * "error text\n". A peer that dies answers -EPIPE from then on.
 */
#include "bench/peer.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool peer_path(const char *name, char *to, size_t size)
{
	static const char *const dirs[] = { "../libexec/lkdf", "tests/bench" };
	char exe[2048], *slash;
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	unsigned i;

	if (len < 0)
		return false;
	exe[len] = '\0';
	slash = strrchr(exe, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(to, size, "%s/%s/%s", exe, dirs[i], name);
		if (!access(to, X_OK))
			return true;
	}
	return false;
}

static void child(const char *path, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(127);
	execl(path, path, (char *)NULL);
	_exit(127);
}

static bool connect_to(struct peer *p, int fd)
{
	int other = dup(fd);

	p->ask = fdopen(fd, "w");
	p->answer = other < 0 ? NULL : fdopen(other, "r");
	return p->ask && p->answer;
}

bool peer_open(struct peer *p, const char *name)
{
	char path[4096];
	double none[PEER_MAX_VALUES];
	int fds[2];

	memset(p, 0, sizeof(*p));
	if (!peer_path(name, path, sizeof(path))) {
		snprintf(p->why, sizeof(p->why), "absent");
		return false;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return false;
	signal(SIGPIPE, SIG_IGN);
	p->pid = fork();
	if (!p->pid)
		child(path, fds[1]);
	close(fds[1]);
	if (p->pid < 0)
		p->pid = 0;
	if (!connect_to(p, fds[0]) || peer_ask(p, none, "hello") < 0) {
		peer_close(p);
		snprintf(p->why, sizeof(p->why), "does not start");
		return false;
	}
	return true;
}

void peer_close(struct peer *p)
{
	if (p->ask)
		fclose(p->ask);
	if (p->answer)
		fclose(p->answer);
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	p->ask = NULL;
	p->answer = NULL;
	p->pid = 0;
}

static int parse(struct peer *p, char *line, double *out)
{
	char *word, *save;
	int nr = 0;

	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line, " ", &save);
	if (!word || strcmp(word, "ok")) {
		snprintf(p->why, sizeof(p->why), "%s", save ? save : "?");
		return -EPROTO;
	}
	while ((word = strtok_r(NULL, " ", &save)) && nr < PEER_MAX_VALUES)
		out[nr++] = strtod(word, NULL);
	return nr;
}

__attribute__((format(printf, 2, 0))) static int
send_list(struct peer *p, const char *fmt, va_list ap)
{
	if (!p->pid)
		return -ENOENT;
	kill(p->pid, SIGCONT);
	vfprintf(p->ask, fmt, ap);
	fputc('\n', p->ask);
	return fflush(p->ask) ? -EPIPE : 0;
}

int peer_send(struct peer *p, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = send_list(p, fmt, ap);
	va_end(ap);
	return rc;
}

__attribute__((format(printf, 3, 0))) static int
ask_list(struct peer *p, double *out, const char *fmt, va_list ap)
{
	char line[512];
	int rc = send_list(p, fmt, ap);

	/* It has said why it is absent. */
	if (rc == -ENOENT)
		return rc;
	if (!rc && !fgets(line, sizeof(line), p->answer))
		rc = -EPIPE;
	if (rc) {
		snprintf(p->why, sizeof(p->why), "died");
		return rc;
	}
	rc = parse(p, line, out);
	kill(p->pid, SIGSTOP);
	return rc;
}

int peer_ask(struct peer *p, double *out, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = ask_list(p, out, fmt, ap);
	va_end(ap);
	return rc;
}

int peer_ask_fresh(const char *name, double *out, const char *fmt, ...)
{
	struct peer p;
	va_list ap;
	int rc = -ENOENT;

	if (!peer_open(&p, name))
		return rc;
	va_start(ap, fmt);
	rc = ask_list(&p, out, fmt, ap);
	va_end(ap);
	peer_close(&p);
	return rc;
}
