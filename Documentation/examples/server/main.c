/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Serves lines on a port of this machine: "echo TEXT", "file NAME", "nap MS",
 * "state". The answer is "ok BYTES SUM" and the bytes, or "error WHY".
 *
 * It shows how lkdf and epoll go side by side in one thread: the end of a run
 * is a descriptor like any other, so the thread sleeps in one place. At most
 * IN_FLIGHT requests run, each has a deadline, and a client that goes takes
 * its request with it.
 */
#include "server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Beside those of clients: three for each request that runs, and ours. */
#define NR_OTHER_FDS 128

static const char usage[] =
	"usage: server [options]\n"
	"\n"
	"Serves lines on 127.0.0.1: echo TEXT, file NAME, nap MS, state.\n"
	"\n"
	"  -p, --port N         port (default 0: one that is free, see the\n"
	"                       first line it prints)\n"
	"  -r, --root DIR       where the files are (default: here)\n"
	"  -d, --deadline MS    of each request (default 1000)\n"
	"  -m, --max-size N     bytes of a file (default 1048576)\n"
	"  -c, --clients N      at a time (default 64)\n"
	"  -h, --help           print this\n"
	"\n"
	"SIGTERM and SIGINT end it. Exit status: 0; 1 it failed; 2 wrong usage.\n";

/* A number from least to most. */
static int read_number(const char *s, long long least, long long most,
		       long long *out)
{
	char *end;

	errno = 0;
	*out = strtoll(s, &end, 10);
	return errno || end == s || *end || *out < least || *out > most
		       ? -EINVAL
		       : 0;
}

static int take(struct options *o, int opt, const char *arg)
{
	long long n = 0;
	int rc = 0;

	switch (opt) {
	case 'p':
		rc = read_number(arg, 0, 65535, &n);
		o->port = (int)n;
		break;
	case 'r':
		o->root = arg;
		break;
	case 'd':
		rc = read_number(arg, 1, 3600000, &n);
		o->deadline_ns = n * 1000000;
		break;
	case 'm':
		rc = read_number(arg, 0, 1 << 30, &n);
		o->max_size = (uint64_t)n;
		break;
	case 'c':
		rc = read_number(arg, 1, 10000, &n);
		o->max_clients = (unsigned)n;
		break;
	}
	return rc;
}

/* 0; 1: help was printed; -EINVAL: said why. */
static int options_read(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "root", required_argument, NULL, 'r' },
		{ "deadline", required_argument, NULL, 'd' },
		{ "max-size", required_argument, NULL, 'm' },
		{ "clients", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	*o = (struct options){ .root = ".",
			       .deadline_ns = 1000000000,
			       .max_size = 1 << 20,
			       .max_clients = 64 };
	while ((opt = getopt_long(argc, argv, "p:r:d:m:c:h", known, NULL)) >=
	       0) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return 1;
		}
		if (opt == '?' || take(o, opt, optarg))
			break;
	}
	if (opt < 0 && optind == argc)
		return 0;
	fputs("server: wrong usage. Try: server --help\n", stderr);
	return -EINVAL;
}

static int fail(const char *what)
{
	int rc = -errno;

	fprintf(stderr, "server: %s: %s\n", what, strerror(errno));
	return rc;
}

int server_watch(struct server *s, int fd, uint32_t events, struct watch *w)
{
	struct epoll_event e = { .events = events, .data.ptr = w };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static void come(struct watch *w, uint32_t events)
{
	struct server *s =
		(struct server *)(void *)((char *)w -
					  offsetof(struct server, listener));
	static const char busy[] = "error busy\n";
	int fd = accept4(s->listener_fd, NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	if (s->nr_clients < s->options.max_clients) {
		client_open(s, fd);
		return;
	}
	send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL);
	close(fd);
}

static void stop(struct watch *w, uint32_t events)
{
	struct server *s =
		(struct server *)(void *)((char *)w -
					  offsetof(struct server, signals));

	(void)events;
	s->is_stopping = true;
	close(s->signal_fd);
	close(s->listener_fd);
	s->signal_fd = s->listener_fd = -1;
	clients_leave(s);
}

static int open_listener(struct server *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((in_port_t)s->options.port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int one = 1;

	s->listener_fd =
		socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener_fd < 0)
		return fail("socket");
	setsockopt(s->listener_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s->listener_fd, (struct sockaddr *)&a, size) ||
	    listen(s->listener_fd, 64) ||
	    getsockname(s->listener_fd, (struct sockaddr *)&a, &size))
		return fail("bind");
	printf("listening on 127.0.0.1:%d\n", ntohs(a.sin_port));
	return fflush(stdout) ? fail("standard output") : 0;
}

/* All that may be open at a time is known, so accept() never lacks one. */
static int check_limit(const struct server *s)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return fail("getrlimit");
	if (limit.rlim_cur >= s->options.max_clients + NR_OTHER_FDS)
		return 0;
	fprintf(stderr, "server: %u clients, and only %llu descriptors\n",
		s->options.max_clients, (unsigned long long)limit.rlim_cur);
	return -EMFILE;
}

/* The signals are blocked before lkdf makes threads. */
static int open_signals(struct server *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? fail("signalfd") : 0;
}

static int server_open(struct server *s)
{
	int rc = open_signals(s);

	if (rc)
		return rc;
	s->root_fd = open(s->options.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->root_fd < 0)
		return fail(s->options.root);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return fail("epoll");
	rc = requests_init(&s->requests);
	if (rc) {
		fprintf(stderr, "server: %s\n", lkdf_errmsg());
		return rc;
	}
	rc = open_listener(s);
	s->listener.ready = come;
	s->signals.ready = stop;
	if (!rc)
		rc = server_watch(s, s->listener_fd, EPOLLIN, &s->listener);
	return rc ? rc : server_watch(s, s->signal_fd, EPOLLIN, &s->signals);
}

/* Calls one watch at a time: what it does may end what others would tell of. */
static void server_run(struct server *s)
{
	struct epoll_event e;
	struct watch *w;

	while (!s->is_stopping || s->nr_clients) {
		if (epoll_wait(s->epoll, &e, 1, -1) != 1)
			continue;
		w = e.data.ptr;
		w->ready(w, e.events);
	}
	printf("served %llu, failed %llu, late %llu, left %llu\n",
	       (unsigned long long)s->nr_served,
	       (unsigned long long)s->nr_failed, (unsigned long long)s->nr_late,
	       (unsigned long long)s->nr_left);
}

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct server s = {
		.epoll = -1, .listener_fd = -1, .signal_fd = -1, .root_fd = -1
	};
	int rc = options_read(&s.options, argc, argv);

	if (rc)
		return rc < 0 ? 2 : 0;
	rc = check_limit(&s);
	if (!rc)
		rc = server_open(&s);
	if (!rc)
		server_run(&s);
	requests_fini(&s.requests);
	close_if(s.listener_fd);
	close_if(s.signal_fd);
	close_if(s.epoll);
	close_if(s.root_fd);
	return rc ? 1 : 0;
}
