/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of operations that come again and again share: a socket to
 * connect to, an operation with its result, and bodies of waves.
 */
#ifndef TESTS_API_IO_IO_FEED_H
#define TESTS_API_IO_IO_FEED_H

#include "tests/api/io.h"

#include <sys/socket.h>
#include <sys/un.h>

#define MULTI(...) IO(.flags = LKDF_IO_MULTI, __VA_ARGS__)
#define FEED(...) ATTR(lkdf_io_feed, __VA_ARGS__)

/* What a wave's body finds in u. */
struct tally {
	atomic_int nr, nr_wrong, nr_bytes;
	atomic_int nr_now, nr_beside; /* just_count: at a time, beside others */
	atomic_llong seqs;
	char *to; /* bytes go there, one wave after another */
	long nap_ns;
	int fd[64], nr_fds;
	struct lkdf_scope *scope; /* cancelled with the last of nr_all */
	int nr_all;
};

__attribute__((unused)) static int open_listener(struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	strcpy(a->sun_path, io_dir);
	strcat(a->sun_path, "/socket");
	unlink(a->sun_path);
	must(bind(fd, (struct sockaddr *)a, sizeof(*a)));
	must(listen(fd, 64));
	return fd;
}

__attribute__((unused)) static void close_listener(const struct sockaddr_un *a,
						   int fd)
{
	close(fd);
	unlink(a->sun_path);
}

__attribute__((unused)) static int open_client(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)a, sizeof(*a))) {
		printf("Bail out! connect: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

/* An operation in the scope, whose result goes there. */
__attribute__((unused)) static void begin(struct lkdf *rt, struct lkdf_scope *s,
					  const struct lkdf_io *io,
					  int64_t *result,
					  struct lkdf_event *done)
{
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	struct io_call call = { .io = *io, .result = result };
	int rc;

	/* Where somebody else cancels that may be before. */
	rc = lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &call), done);
	if (rc == -ECANCELED)
		*result = rc;
	else
		must(rc);
	lkdf_kind_put(k);
}

__attribute__((unused)) static struct lkdf_graph *
graph_of(struct lkdf *rt, lkdf_fn fn, uint32_t inflight, uint32_t flags)
{
	struct lkdf_kind *k = api_kind(rt, "wave", fn, 0, flags);
	struct lkdf_graph *g = api_graph(rt, inflight);

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(k);
	return g;
}

__attribute__((unused)) static struct lkdf_scope *open_scope(struct lkdf *rt,
							     uint64_t max_tasks)
{
	struct lkdf_scope *s = NULL;

	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .max_tasks = max_tasks), &s));
	return s;
}

/* A thread of the test, and what it is about. */
struct peer {
	pthread_t thread;
	struct lkdf *rt;
	struct lkdf_scope *scope;
	const struct sockaddr_un *a;
	atomic_int *nr_left; /* peers: the last one cancels */
	int fd, nr_good;
	const char *bytes;
	size_t size;
};

__attribute__((unused)) static int just_count(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io_wave *w = arg ? arg : lkdf_run_arg(c);
	struct tally *t = w->u;

	if (atomic_fetch_add(&t->nr_now, 1))
		atomic_fetch_add(&t->nr_beside, 1);
	if (t->nap_ns)
		api_nap_ns(t->nap_ns);
	atomic_fetch_sub(&t->nr_now, 1);
	atomic_fetch_add(&t->nr, 1);
	return 0;
}

/* In a graph that takes its runs in order. */
__attribute__((unused)) static int append(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io_wave *w = lkdf_run_arg(c);
	struct tally *t = w->u;
	int at = atomic_load(&t->nr_bytes);

	(void)arg;
	if (t->nap_ns)
		api_nap_ns(t->nap_ns);
	if ((int)w->seq != atomic_load(&t->nr))
		atomic_fetch_add(&t->nr_wrong, 1);
	memcpy(t->to + at, w->buf, (size_t)w->result);
	atomic_store(&t->nr_bytes, at + (int)w->result);
	atomic_fetch_add(&t->nr, 1);
	return 0;
}

#endif
