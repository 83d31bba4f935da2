/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations that wait for somebody else: pipes, sockets, polls and timeouts,
 * many at once, cancelled ones, and those that come while all workers are
 * busy.
 */
#include "tests/api/io.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MANY 1000

static int64_t begin(struct lkdf *rt, struct lkdf_scope *s,
		     const struct lkdf_io *io, int64_t *result,
		     struct lkdf_event *done)
{
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	struct io_call call = { .io = *io, .result = result };
	int rc;

	rc = lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &call), done);
	lkdf_kind_put(k);
	return rc;
}

struct writer {
	int fd;
	const char *text;
	pthread_t thread;
};

static void *write_later(void *arg)
{
	struct writer *w = arg;
	size_t i;

	for (i = 0; i < strlen(w->text); i++) {
		api_nap_ns(2000000);
		if (write(w->fd, w->text + i, 1) != 1)
			break;
	}
	close(w->fd);
	return NULL;
}

static void start_writer(struct writer *w, int fd, const char *text)
{
	w->fd = fd;
	w->text = text;
	pthread_create(&w->thread, NULL, write_later, w);
}

static void a_pipe_is_read_to_its_end(struct lkdf *rt, const char *how)
{
	struct writer w;
	char to[64] = "";
	int fd[2];

	must(pipe(fd));
	start_writer(&w, fd[1], "hello");
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = to,
			  .len = sizeof(to), .off = -1)),
	   5, "%s: a pipe is read until it ends", how);
	ok(!strcmp(to, "hello"), "%s: in order", how);
	pthread_join(w.thread, NULL);
	close(fd[0]);
	must(pipe(fd));
	start_writer(&w, fd[1], "xy");
	pthread_join(w.thread, NULL);
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = to,
			  .len = sizeof(to), .off = -1, .flags = LKDF_IO_SOME)),
	   2, "%s: or for some of it", how);
	close(fd[0]);
}

/* More than a pipe holds: both sides go on again and again. */
static void two_ends_are_operations(struct lkdf *rt, const char *how)
{
	static char from[300000], to[300000];
	int64_t in = -1, out = -1;
	struct lkdf_event read, write;
	int fd[2];

	io_fill(from, sizeof(from), 5);
	memset(to, 0, sizeof(to));
	must(pipe(fd));
	if (!strstr(how, "serial")) {
		begin(rt, NULL,
		      IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = to,
			 .len = sizeof(to), .off = -1),
		      &in, &read);
		begin(rt, NULL,
		      IO(.op = LKDF_IO_WRITE, .fd = fd[1], .buf = from,
			 .len = sizeof(from), .off = -1),
		      &out, &write);
		is(lkdf_event_wait(write, -1), 0, "%s: a writer ends", how);
		is(lkdf_event_wait(read, -1), 0, "%s: a reader ends", how);
		ok(in == sizeof(to) && out == sizeof(from),
		   "%s: all went through", how);
		ok(!memcmp(from, to, sizeof(to)), "%s: unchanged", how);
	}
	close(fd[0]);
	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd[1], .buf = from,
			  .len = 1, .off = -1)),
	   -EPIPE, "%s: nobody reads", how);
	close(fd[1]);
}

static int both(struct lkdf_ctx *c, void *arg)
{
	struct io_call *call = arg;
	struct lkdf_kind *k =
		io_kind(lkdf_runtime(c), io_note, sizeof(struct io_call));
	int i;

	for (i = 0; i < 2; i++)
		must(lkdf_spawn(c, k, &call[i]));
	lkdf_kind_put(k);
	return lkdf_join(c);
}

/* As children of one task they also meet in serial mode. */
static void a_join_waits_for_both_ends(struct lkdf *rt, const char *how)
{
	static char from[200000], to[200000];
	struct lkdf_kind *k = api_kind(rt, "both", both, 0, 0);
	int64_t in = -1, out = -1;
	struct io_call call[2];
	int fd[2];

	must(pipe(fd));
	call[0] =
		(struct io_call){ *IO(.op = LKDF_IO_READ, .fd = fd[0],
				      .buf = to, .len = sizeof(to), .off = -1),
				  &in };
	call[1] = (struct io_call){ *IO(.op = LKDF_IO_WRITE, .fd = fd[1],
					.buf = from, .len = sizeof(from),
					.off = -1),
				    &out };
	is(api_call(rt, k, call), 0, "%s: a join waits for both ends", how);
	ok(in == sizeof(to) && out == sizeof(from), "%s: of a pipe", how);
	lkdf_kind_put(k);
	close(fd[0]);
	close(fd[1]);
}

static void sockets_talk(struct lkdf *rt, const char *how)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char to[32] = "";
	int64_t fd;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%.64s/sock", io_dir);
	must(bind(listener, (struct sockaddr *)&addr, sizeof(addr)));
	must(listen(listener, 4));
	is(io_call(rt, IO(.op = LKDF_IO_CONNECT, .fd = client, .buf = &addr,
			  .len = sizeof(addr))),
	   0, "%s: connect", how);
	fd = io_call(rt, IO(.op = LKDF_IO_ACCEPT, .fd = listener,
			    .how = SOCK_CLOEXEC));
	ok(fd > 2, "%s: accept gives a descriptor", how);
	is(io_call(rt, IO(.op = LKDF_IO_POLL, .fd = (int)fd, .how = POLLOUT)),
	   POLLOUT, "%s: poll says what there is", how);
	is(io_call(rt, IO(.op = LKDF_IO_SEND, .fd = client, .buf = "hello",
			  .len = 5)),
	   5, "%s: send", how);
	is(io_call(rt, IO(.op = LKDF_IO_RECV, .fd = (int)fd, .buf = to,
			  .len = sizeof(to))),
	   5, "%s: recv ends with what came", how);
	ok(!strcmp(to, "hello"), "%s: it is the same", how);
	is(io_call(rt, IO(.op = LKDF_IO_RECV, .fd = (int)fd, .buf = to,
			  .len = 1, .how = MSG_DONTWAIT)),
	   -EAGAIN, "%s: who does not want to wait does not", how);
	close(client);
	is(io_call(rt, IO(.op = LKDF_IO_RECV, .fd = (int)fd, .buf = to,
			  .len = sizeof(to))),
	   0, "%s: recv at the end", how);
	close((int)fd);
	close(listener);
	unlink(addr.sun_path);
}

static void splice_moves_bytes(struct lkdf *rt, const char *how)
{
	int file = io_file("splice", "0123456789", 10), fd[2];
	char to[16] = "";

	must(pipe(fd));
	is(io_call(rt, IO(.op = LKDF_IO_SPLICE, .fd = file, .off = 2,
			  .dirfd = fd[1], .len = 6)),
	   6, "%s: splice", how);
	ok(read(fd[0], to, sizeof(to)) == 6 && !strcmp(to, "234567"),
	   "%s: from there on", how);
	close(fd[0]);
	close(fd[1]);
	close(file);
	unlink(io_path("splice"));
}

static void a_flag_of_the_descriptor_changes_nothing(struct lkdf *rt,
						     const char *how)
{
	struct writer w;
	char to[8] = "";
	int fd[2];

	must(pipe2(fd, O_NONBLOCK));
	start_writer(&w, fd[1], "abc");
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = to, .len = 3,
			  .off = -1)),
	   3, "%s: O_NONBLOCK is waited for like any other", how);
	pthread_join(w.thread, NULL);
	close(fd[0]);
}

static void times_pass(struct lkdf *rt, const char *how)
{
	struct timespec a, b;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &a);
	is(io_call(rt, IO(.op = LKDF_IO_TIMEOUT, .off = 20000000)), 0,
	   "%s: a timeout ends well", how);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ns = (b.tv_sec - a.tv_sec) * SECOND + b.tv_nsec - a.tv_nsec;
	ok(ns >= 20000000, "%s: not early", how);
}

/* All under way at once: then each gets a byte of its own. */
static void many_are_under_way(struct lkdf *rt, const char *how)
{
	static char to[MANY];
	static int64_t result[MANY];
	static struct lkdf_event done[MANY];
	int pair[2], i, nr_good = 0;

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (i = 0; i < MANY; i++)
		begin(rt, NULL,
		      IO(.op = LKDF_IO_RECV, .fd = pair[0], .buf = &to[i],
			 .len = 1),
		      &result[i], &done[i]);
	for (i = 0; i < MANY; i++)
		if (write(pair[1], "x", 1) != 1)
			break;
	for (i = 0; i < MANY; i++)
		nr_good += !lkdf_event_wait(done[i], -1) && result[i] == 1 &&
			   to[i] == 'x';
	is(nr_good, MANY, "%s: each of %d got its byte", how, MANY);
	close(pair[0]);
	close(pair[1]);
}

/* An operation that reads two bytes has the first: it is under way. */
static void until_it_is_empty(int fd)
{
	int nr = 1;

	while (!ioctl(fd, FIONREAD, &nr) && nr)
		api_nap_ns(100000);
}

static void open_pipe_with_a_byte(int *fd)
{
	must(pipe(fd));
	if (write(fd[1], "x", 1) != 1)
		exit(1);
}

static void what_never_ends_is_cancelled(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	struct lkdf_event done[3], plain;
	struct lkdf_scope *s = NULL;
	struct lkdf_error e = { .size = sizeof(e) };
	int64_t result = 0;
	int fd[2], other[2];
	char bytes[4];

	open_pipe_with_a_byte(fd);
	open_pipe_with_a_byte(other);
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "cancelled"),
			       &s));
	begin(rt, s,
	      IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = bytes, .len = 2,
		 .off = -1),
	      &result, &done[0]);
	until_it_is_empty(fd[0]);
	begin(rt, s, IO(.op = LKDF_IO_POLL, .fd = fd[0], .how = POLLIN),
	      &(int64_t){ 0 }, &done[1]);
	begin(rt, s, IO(.op = LKDF_IO_TIMEOUT, .off = 3600 * SECOND),
	      &(int64_t){ 0 }, &done[2]);
	must(lkdf_submit(rt, s,
			 ATTR(lkdf_task, .kind = k,
			      .arg = IO(.op = LKDF_IO_READ, .fd = other[0],
					.buf = bytes + 2, .len = 2, .off = -1)),
			 &plain));
	until_it_is_empty(other[0]);
	is(lkdf_close(rt), -EBUSY, "%s: close with IO under way is refused",
	   how);
	lkdf_scope_cancel(rt, s, -ETIMEDOUT);
	is(lkdf_event_wait(done[0], -1), 0, "%s: its function runs", how);
	is(result, 1, "%s: and sees the byte that had come", how);
	lkdf_event_wait(done[1], -1);
	lkdf_event_wait(done[2], -1);
	is(lkdf_event_wait(plain, -1), -ETIMEDOUT,
	   "%s: without one it has the scope's error", how);
	lkdf_scope_wait(rt, s, -1);
	must(lkdf_scope_error(rt, s, &e));
	ok(e.nr_cancelled > 0, "%s: it counts as cancelled", how);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	close(fd[0]);
	close(fd[1]);
	close(other[0]);
	close(other[1]);
}

/* Cancelled at any moment of its life. */
static void cancels_and_operations_race(struct lkdf *rt, const char *how)
{
	struct lkdf_scope *s;
	int64_t result[8];
	int i, j, nr_bad = 0, pair[2];
	char byte[8];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (i = 0; i < 200; i++) {
		must(lkdf_scope_create(
			rt, ATTR(lkdf_scope_attr, .name = "race"), &s));
		for (j = 0; j < 8; j++)
			begin(rt, s,
			      IO(.op = LKDF_IO_RECV, .fd = pair[0],
				 .buf = &byte[j], .len = 1),
			      &result[j], NULL);
		for (j = 0; j < i % 8; j++)
			nr_bad += write(pair[1], "x", 1) != 1;
		lkdf_scope_cancel(rt, s, -EINTR);
		lkdf_scope_wait(rt, s, -1);
		lkdf_scope_put(s);
		while (recv(pair[0], byte, sizeof(byte), MSG_DONTWAIT) > 0)
			;
	}
	is(nr_bad, 0, "%s: cancels and operations race", how);
	close(pair[0]);
	close(pair[1]);
}

static void one_backend(const char *options)
{
	bool is_serial = strstr(options, "serial") != NULL;
	struct lkdf *rt = io_open(options);

	a_pipe_is_read_to_its_end(rt, options);
	two_ends_are_operations(rt, options);
	a_join_waits_for_both_ends(rt, options);
	sockets_talk(rt, options);
	splice_moves_bytes(rt, options);
	a_flag_of_the_descriptor_changes_nothing(rt, options);
	times_pass(rt, options);
	/* There the call that starts an operation waits for it. */
	if (!is_serial) {
		many_are_under_way(rt, options);
		what_never_ends_is_cancelled(rt, options);
		cancels_and_operations_race(rt, options);
	}
	is(io_close(rt), 0, "%s: it closes", options);
}

int main(void)
{
	size_t i;

	tap_start(60);
	signal(SIGPIPE, SIG_IGN);
	io_begin();
	IO_EACH(i)
	one_backend(io_backends[i]);
	io_end();
	return tap_end();
}
