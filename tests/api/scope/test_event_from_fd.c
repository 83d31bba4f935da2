/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events that fire when a descriptor is ready: with rings, with threads and in
 * serial mode; those that nobody waits for any more, and a process without
 * free descriptors.
 */
#include "tests/api/io.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define NR 300

static struct lkdf_event from(struct lkdf *rt, int fd, short events)
{
	struct lkdf_event e;

	must(lkdf_event_from_fd(rt, fd, events, &e));
	return e;
}

static void put_byte(int fd)
{
	must(write(fd, "x", 1) == 1 ? 0 : -errno);
}

static void make_pair(int *fd)
{
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
}

static void close_pair(const int *fd)
{
	close(fd[0]);
	close(fd[1]);
}

static void it_fires_when_readable(struct lkdf *rt)
{
	struct lkdf_event e, again;
	int fd[2];

	make_pair(fd);
	e = from(rt, fd[0], 0);
	is(lkdf_event_wait(e, 5000000), 1, "nothing is there");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "no scope waits for it");
	is(lkdf_event_signal(e, 0), -EPERM, "nobody else may fire it");
	again = from(rt, fd[0], POLLIN);
	put_byte(fd[1]);
	is(lkdf_event_wait(e, -1), 0, "it fires");
	is(lkdf_event_wait(again, -1), 0, "so does another one");
	e = from(rt, fd[0], POLLIN | POLLPRI);
	is(lkdf_event_wait(e, -1), 0, "one that comes late too");
	e = from(rt, fd[1], POLLOUT);
	is(lkdf_event_wait(e, -1), 0, "there is room to write");
	close(fd[0]);
	e = from(rt, fd[1], POLLIN);
	is(lkdf_event_wait(e, -1), 0, "the other side has gone");
	close(fd[1]);
}

static void what_cannot_be_is_refused(struct lkdf *rt)
{
	struct lkdf_event e = { 0 };
	int fd[2];

	make_pair(fd);
	close_pair(fd);
	is(lkdf_event_from_fd(rt, fd[0], 0, &e), -EBADF, "a closed one");
	is(lkdf_event_from_fd(rt, -1, 0, &e), -EBADF, "-1");
	is(lkdf_event_from_fd(rt, 0, 0, NULL), -EINVAL, "nowhere to put it");
	is(lkdf_event_from_fd(NULL, 0, 0, &e), -EINVAL, "no runtime");
	is(lkdf_event_from_fd(rt, 0, POLLNVAL, &e), -EINVAL, "strange events");
	ok(!e.slot, "out was not touched");
}

/* The other side sees the end once nobody polls and it is closed. */
static void letting_go_ends_the_polling(struct lkdf *rt)
{
	struct lkdf_event e, first, any;
	struct pollfd p = { .events = POLLIN };
	int fd[2];

	make_pair(fd);
	e = from(rt, fd[0], 0);
	lkdf_event_put(e);
	is(lkdf_event_wait(e, 0), -ESTALE, "it is gone at once");
	close(fd[0]);
	p.fd = fd[1];
	is(poll(&p, 1, 20000), 1, "and nobody holds the descriptor");
	close(fd[1]);
	make_pair(fd);
	must(lkdf_event_create(rt, 1, 0, &first));
	e = from(rt, fd[0], 0);
	must(lkdf_event_any(rt, (struct lkdf_event[]){ first, e }, 2, &any));
	lkdf_event_put(e);
	is(lkdf_event_wait(any, 0), 1, "an any keeps it");
	must(lkdf_event_signal(first, 0));
	lkdf_event_put(first);
	is(lkdf_event_wait(any, -1), 0, "until another one fires");
	close(fd[0]);
	p.fd = fd[1];
	is(poll(&p, 1, 20000), 1, "then it is let go as well");
	close(fd[1]);
}

struct step {
	int fd[2];
	atomic_int nr;
};

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct step *s = arg;

	(void)c;
	atomic_fetch_add(&s->nr, 1);
	return 0;
}

static int wait_for_it(struct lkdf_ctx *c, void *arg)
{
	struct step *s = arg;
	struct lkdf_event on;
	int rc = lkdf_event_from_fd(lkdf_runtime(c), s->fd[0], 0, &on);

	return rc ? rc : lkdf_then(c, go_on, on);
}

static void tasks_go_on_with_it(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "wait", wait_for_it, 0, 0);
	struct lkdf_kind *go = api_kind(rt, "go", go_on, 0, 0);
	struct lkdf_event done, on;
	struct step s = { 0 };

	make_pair(s.fd);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &s),
			 &done));
	on = from(rt, s.fd[0], 0);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = go, .arg = &s, .after = &on,
			      .nr_after = 1),
			 NULL));
	lkdf_event_put(on);
	is(lkdf_event_wait(done, 5000000), 1, "a task waits for it");
	put_byte(s.fd[1]);
	is(lkdf_event_wait(done, -1), 0, "and goes on");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "so does one that comes after");
	is(s.nr, 2, "both");
	close_pair(s.fd);
	lkdf_kind_put(go);
	lkdf_kind_put(k);
}

static void add_one(void *u, int err)
{
	atomic_fetch_add((atomic_int *)u, err == 0);
}

struct many {
	int fd[NR][2];
	pthread_t thread;
};

static void *write_all(void *arg)
{
	struct many *m = arg;
	int i;

	for (i = 0; i < NR; i++)
		put_byte(m->fd[i][1]);
	return NULL;
}

static void many_at_once(struct lkdf *rt)
{
	static struct many m;
	struct lkdf_event e[NR];
	atomic_int nr = 0;
	int i, bad = 0;

	for (i = 0; i < NR; i++) {
		make_pair(m.fd[i]);
		e[i] = from(rt, m.fd[i][0], 0);
		if (i % 2)
			must(lkdf_event_call(e[i], add_one, &nr));
	}
	pthread_create(&m.thread, NULL, write_all, &m);
	for (i = 0; i < NR; i++) {
		bad += lkdf_event_wait(e[i], -1) != 0;
		/* Some are let go while others fire. */
		e[i] = from(rt, m.fd[i][0], POLLPRI);
		lkdf_event_put(e[i]);
	}
	pthread_join(m.thread, NULL);
	is(bad, 0, "%d descriptors", NR);
	while (nr < NR / 2)
		api_nap_ns(100000);
	is(nr, NR / 2, "half of them with a call");
	for (i = 0; i < NR; i++)
		close_pair(m.fd[i]);
}

static void note(void *u, int err)
{
	atomic_store((atomic_int *)u, err);
}

static void close_ends_the_polling(const char *how)
{
	struct lkdf *rt = api_open(how);
	struct lkdf_event e = { 0 }, put;
	atomic_int err = 0;
	int fd[2], i;

	make_pair(fd);
	for (i = 0; i < 10; i++)
		e = from(rt, fd[0], 0);
	must(lkdf_event_call(e, note, &err));
	put = from(rt, fd[0], 0);
	lkdf_event_put(put);
	is(lkdf_close(rt), 0, "close with ten that wait");
	is(err, -ECANCELED, "a call is told");
	close_pair(fd);
}

/* A ring needs some, a thread that polls does not. */
static void it_needs_no_descriptors(const char *how)
{
	struct lkdf *rt = api_open(how);
	struct rlimit old, now;
	struct lkdf_event e;
	int fd[2], lowest;

	make_pair(fd);
	lowest = must(open("/dev/null", O_RDONLY | O_CLOEXEC));
	close(lowest);
	must(getrlimit(RLIMIT_NOFILE, &old));
	now = old;
	now.rlim_cur = (rlim_t)lowest;
	must(setrlimit(RLIMIT_NOFILE, &now));
	e = from(rt, fd[0], 0);
	put_byte(fd[1]);
	is(lkdf_event_wait(e, -1), 0, "no descriptor is to be had, it fires");
	must(setrlimit(RLIMIT_NOFILE, &old));
	e = from(rt, fd[0], 0);
	is(lkdf_event_wait(e, -1), 0, "so it does later");
	is(lkdf_close(rt), 0, "the runtime closes");
	close_pair(fd);
}

static void a_forked_child_is_refused(const char *how)
{
	struct lkdf *rt = api_open(how);
	struct lkdf_event e, none;
	int fd[2], status, rc;
	pid_t pid;

	make_pair(fd);
	e = from(rt, fd[0], 0);
	pid = fork();
	if (!pid) {
		rc = lkdf_event_from_fd(rt, fd[0], 0, &none) != -EOWNERDEAD;
		lkdf_event_put(e);
		_exit(rc | (lkdf_close(rt) != 0));
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "a child is refused");
	put_byte(fd[1]);
	is(lkdf_event_wait(e, -1), 0, "the parent's fires");
	must(lkdf_close(rt));
	close_pair(fd);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	IO_EACH(i)
	{
		printf("# %s\n", io_backends[i]);
		rt = api_open(io_backends[i]);
		it_fires_when_readable(rt);
		what_cannot_be_is_refused(rt);
		letting_go_ends_the_polling(rt);
		tasks_go_on_with_it(rt);
		many_at_once(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
		close_ends_the_polling(io_backends[i]);
		it_needs_no_descriptors(io_backends[i]);
		a_forked_child_is_refused(io_backends[i]);
	}
	return tap_end();
}
