/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/ask.h"

#include "base/clock.h"
#include "base/helper.h"
#include "base/options.h"
#include "base/random.h"
#include "base/rights.h"
#include "base/thread.h"
#include "core/runtime.h"
#include "rt/ask_peer.h"

#include <errno.h>
#include <inttypes.h>
#include <lkdf/runtime.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* That talk at a time; others wait. */
#define NR_PEERS 8
/* A peer that has connected asks so soon, or is hung up on. */
#define PATIENCE_NS 5000000000
/* Before the next one, when there was no descriptor for one or no memory. */
#define LACK_MS 1000
/* Before the next one, when one was a stranger. */
#define STRANGER_MS 1

struct ask {
	/* Set at open, constant afterwards. */
	struct lkdf *rt;
	struct own_fd socket, stop;
	uint64_t key;
	pthread_t thread;

	/* The thread only. */
	unsigned nr;
	struct peer {
		struct own_fd fd;
		int64_t end_ns; /* of our patience */
		bool records;
	} peer[NR_PEERS];
};

/* ---- the thread --------------------------------------------------------- */

/* False: it is to stop, or it may not even poll. */
static bool pause_for(const struct ask *a, int timeout_ms)
{
	struct pollfd fd = { .fd = a->stop.fd, .events = POLLIN };

	return !helper_poll(&fd, 1, timeout_ms * 1000000ll);
}

static void hang_up(struct ask *a, unsigned i)
{
	struct own_fd fd = a->peer[i].fd;
	bool is_ours = own_fd_is(&fd);

	check(i < a->nr);
	if (a->peer[i].records)
		peer_stop(a->rt, is_ours ? fd.fd : -1);
	a->peer[i] = a->peer[--a->nr];
	/* A forked child may have it, too. */
	if (is_ours)
		shutdown(fd.fd, SHUT_RDWR);
	own_fd_close(&fd);
}

/* False: nobody can be let in any more. */
static bool let_in(struct ask *a)
{
	int fd;

	/* Those who come to another socket are the program's. */
	if (!own_fd_is(&a->socket))
		return false;
	fd = accept4(a->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		if (errno == EAGAIN || errno == ECONNABORTED)
			return true;
		return (errno == EMFILE || errno == ENFILE ||
			errno == ENOBUFS || errno == ENOMEM) &&
		       pause_for(a, LACK_MS);
	}
	if (!rights_trust(fd)) {
		close(fd);
		return pause_for(a, STRANGER_MS);
	}
	check(a->nr < NR_PEERS);
	a->peer[a->nr++] = (struct peer){
		.fd = own_fd_of(fd),
		.end_ns = clock_now_ns() + PATIENCE_NS,
	};
	return true;
}

/* Until the first one is hung up on; -1: there is none. */
static int64_t patience_ns(const struct ask *a)
{
	int64_t end = INT64_MAX;
	unsigned i;

	for (i = 0; i < a->nr; i++)
		if (a->peer[i].end_ns < end)
			end = a->peer[i].end_ns;
	if (end == INT64_MAX)
		return -1;
	end -= clock_now_ns();
	return end > 0 ? end : 0;
}

/* A peer has one request; a peer that has more to ask connects again. */
static void hear_peer(struct ask *a, unsigned i)
{
	struct peer *p = &a->peer[i];

	check(p->records == (p->end_ns == INT64_MAX));
	if (!p->records && own_fd_is(&p->fd) &&
	    peer_answer(a->rt, p->fd.fd, a->key)) {
		p->records = true;
		p->end_ns = INT64_MAX;
	} else {
		hang_up(a, i);
	}
}

static void hear_peers(struct ask *a, const struct pollfd *fd)
{
	int64_t now = clock_now_ns();
	unsigned i;

	/* Backwards: whoever is hung up on is replaced by the last one. */
	for (i = a->nr; i--;) {
		if (fd[i].revents)
			hear_peer(a, i);
		else if (now >= a->peer[i].end_ns)
			hang_up(a, i);
	}
}

/* False: it is to stop, or can hear nobody any more. */
static bool hear_question(struct ask *a)
{
	struct pollfd fd[2 + NR_PEERS] = {
		{ .fd = a->stop.fd, .events = POLLIN },
		{ .fd = a->nr < NR_PEERS ? a->socket.fd : -1,
		  .events = POLLIN },
	};
	unsigned i;

	for (i = 0; i < a->nr; i++) {
		fd[2 + i].fd = a->peer[i].fd.fd;
		fd[2 + i].events = POLLIN;
	}
	/* All signals are blocked: it is memory that there was none of. */
	if (helper_poll(fd, 2 + a->nr, patience_ns(a)) < 0)
		return pause_for(a, LACK_MS);
	if (fd[0].revents)
		return false;
	hear_peers(a, fd + 2);
	return !fd[1].revents || let_in(a);
}

/*
 * Nobody waits for an answer that does not come. A forked child may have the
 * socket, too: who has connected and was not let in would wait there.
 */
static void turn_away(struct ask *a)
{
	unsigned nr;
	int fd;

	if (!own_fd_is(&a->socket))
		return;
	/* As many as the kernel keeps for us, and no more: others may come. */
	for (nr = 0; nr <= NR_PEERS; nr++) {
		fd = accept4(a->socket.fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			break;
		shutdown(fd, SHUT_RDWR);
		close(fd);
	}
	shutdown(a->socket.fd, SHUT_RDWR);
	own_fd_close(&a->socket);
}

static void hang_up_on_all(struct ask *a)
{
	while (a->nr)
		hang_up(a, 0);
	turn_away(a);
}

static void *ask_main(void *arg)
{
	struct ask *a = arg;

	pthread_setname_np(pthread_self(), "lkdf/ask");
	helper_begin();
	while (hear_question(a))
		continue;
	hang_up_on_all(a);
	thread_retire();
	return NULL;
}

/* ---- up and down -------------------------------------------------------- */

/* A name that nobody else has. 0 or -errno. */
static int listen_somewhere(struct ask *a, char *name, size_t size)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t used = offsetof(struct sockaddr_un, sun_path) + 1;
	uint64_t bits;
	int rc = random_bits(&bits), fd;

	if (rc)
		return rc;
	snprintf(name, size, "lkdf-%x-%016" PRIx64, (unsigned)getpid(), bits);
	memcpy(at.sun_path + 1, name, strlen(name));
	used += (socklen_t)strlen(name);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	a->socket = own_fd_of(fd);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, used) ||
	    listen(fd, NR_PEERS))
		return -errno;
	a->stop = own_fd_of(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	return a->stop.fd < 0 ? -errno : 0;
}

static void destroy_ask(struct ask *a)
{
	own_fd_close(&a->socket);
	own_fd_close(&a->stop);
	free(a);
}

static int create_ask(struct lkdf *rt, char *name, size_t size)
{
	struct ask *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return -ENOMEM;
	a->rt = rt;
	a->socket = a->stop = OWN_FD_NONE;
	rc = random_bits(&a->key);
	/* A tool that knows no key sends 0. */
	a->key += !a->key;
	if (!rc)
		rc = listen_somewhere(a, name, size);
	if (!rc)
		rc = -helper_start(&a->thread, NULL, ask_main, a);
	if (rc)
		destroy_ask(a);
	else
		rt->ask = a;
	return rc;
}

void ask_open(struct lkdf *rt)
{
	char name[sizeof(((struct lkdf_stats_header *)0)->ask)];
	int rc;

	if (!rt->options->ask || rt->sched.is_serial || rt->trace.fd < 0)
		return;
	rc = create_ask(rt, name, sizeof(name));
	if (!rc)
		trace_ask(&rt->trace, name, rt->ask->key);
	else
		log_text(&rt->log, LKDF_LOG_INFO,
			 "ask: nobody answers lkdf why -p: %s", strerror(-rc));
}

void ask_close(struct lkdf *rt)
{
	struct ask *a = rt->ask;

	if (!a)
		return;
	helper_stop(a->thread, &a->stop);
	/* It may have been cancelled before it did. */
	hang_up_on_all(a);
	destroy_ask(a);
	rt->ask = NULL;
}

void ask_abandon(struct lkdf *rt)
{
	struct ask *a = rt->ask;
	unsigned i;

	if (!a)
		return;
	for (i = 0; i < a->nr && i < NR_PEERS; i++)
		own_fd_close(&a->peer[i].fd);
	destroy_ask(a);
	rt->ask = NULL;
}
