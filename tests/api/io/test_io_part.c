/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations that end in the middle: bytes that a transfer has done before a
 * cancel, a deadline or an error are told, and so is the reason. A descriptor
 * that no function takes is closed.
 */
#include "tests/api/io.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Of a pipe, until nobody reads. */
#define LARGE (1 << 20)

/* Deadlines are tried from short to long. */
#define FIRST_NS (SECOND / 50)
#define LAST_NS (10 * SECOND)

struct told {
	int64_t result;
	int error;
	uint64_t nr;
	bool has_run;
};

struct told_call {
	struct lkdf_io io;
	struct told *told;
};

static char bytes[LARGE];

static int tell(struct lkdf_ctx *c, void *arg)
{
	struct told *t = ((struct told_call *)arg)->told;

	t->result = lkdf_io_result(c);
	t->error = lkdf_io_error(c, &t->nr);
	t->has_run = true;
	return t->error;
}

static struct lkdf_event begin(struct lkdf *rt, struct lkdf_scope *s,
			       const struct lkdf_io *io, int64_t deadline_ns,
			       struct told *told)
{
	struct lkdf_kind *k = io_kind(rt, tell, sizeof(struct told_call));
	struct told_call call = { .io = *io, .told = told };
	struct lkdf_event done;

	*told = (struct told){ .error = 1 };
	must(lkdf_submit(rt, s,
			 ATTR(lkdf_task, .kind = k, .arg = &call,
			      .deadline_ns = deadline_ns),
			 &done));
	lkdf_kind_put(k);
	return done;
}

static int nr_waiting(int fd)
{
	int nr = 0;

	must(ioctl(fd, FIONREAD, &nr));
	return nr;
}

static void until_taken(int fd)
{
	while (nr_waiting(fd))
		api_nap_ns(100000);
}

static void ok_told(const struct told *t, int error, uint64_t nr,
		    const char *what, const char *how)
{
	ok(t->result == (int64_t)nr && t->error == error && t->nr == nr,
	   "%s: %s: %llu bytes, and why (%lld, %d, %llu)", how, what,
	   (unsigned long long)nr, (long long)t->result, t->error,
	   (unsigned long long)t->nr);
}

/* Three of 64 bytes come; then it is cancelled. */
static void cancel_one(struct lkdf *rt, struct lkdf_io io, const char *what,
		       const char *how)
{
	struct lkdf_event done;
	struct lkdf_scope *s;
	struct told told;
	int pair[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	must(lkdf_scope_create(rt, NULL, &s));
	must(write(pair[1], "abc", 3) - 3);
	io.size = sizeof(io);
	io.fd = pair[0];
	memset(bytes, 0, 64);
	done = begin(rt, s, &io, 0, &told);
	until_taken(pair[0]);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_event_wait(done, -1), -EINTR, "%s: %s is cancelled", how, what);
	ok_told(&told, -ECANCELED, 3, what, how);
	is(memcmp(bytes, "abc", 4), 0, "%s: and they are there", how);
	lkdf_scope_put(s);
	close(pair[0]);
	close(pair[1]);
}

static void cancelled_reads_give_their_bytes(struct lkdf *rt, const char *how)
{
	struct iovec iov[2] = { { bytes, 2 }, { bytes + 2, 62 } };

	cancel_one(rt,
		   (struct lkdf_io){ .op = LKDF_IO_READ,
				     .buf = bytes,
				     .len = 64,
				     .off = -1 },
		   "a read", how);
	cancel_one(
		rt,
		(struct lkdf_io){
			.op = LKDF_IO_READV, .buf = iov, .len = 2, .off = -1 },
		"a readv", how);
	cancel_one(rt,
		   (struct lkdf_io){ .op = LKDF_IO_RECV,
				     .buf = bytes,
				     .len = 64,
				     .how = MSG_WAITALL },
		   "a recv of all", how);
}

/* One that comes too late to begin leaves the bytes where they are. */
static void a_late_read_gives_its_bytes(struct lkdf *rt, const char *how)
{
	int64_t ns = FIRST_NS;
	struct lkdf_event done;
	struct told told;
	int fd[2], rc = 0;

	must(pipe(fd));
	must(write(fd[1], "abc", 3) - 3);
	for (; nr_waiting(fd[0]) && ns < LAST_NS; ns *= 4) {
		done = begin(rt, NULL,
			     IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = bytes,
				.len = 64, .off = -1),
			     ns, &told);
		rc = lkdf_event_wait(done, -1);
	}
	is(rc, -ETIME, "%s: a read with a deadline ends", how);
	ok_told(&told, -ETIME, 3, "a deadline", how);
	done = begin(rt, NULL,
		     IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = bytes,
			.len = 64, .off = -1),
		     ns, &told);
	is(lkdf_event_wait(done, -1), -ETIME, "%s: another one", how);
	ok(!told.has_run || (told.result == -ETIME && !told.nr),
	   "%s: without a byte the result is the error", how);
	close(fd[0]);
	close(fd[1]);
}

/* The reader goes in the middle. */
static void a_write_that_fails_says_how_far(struct lkdf *rt, const char *how)
{
	struct lkdf_event done;
	struct told told;
	int fd[2], nr;

	must(pipe(fd));
	nr = fcntl(fd[1], F_GETPIPE_SZ);
	done = begin(rt, NULL,
		     IO(.op = LKDF_IO_WRITE, .fd = fd[1], .buf = bytes,
			.len = LARGE, .off = -1),
		     0, &told);
	while (nr_waiting(fd[0]) < nr)
		api_nap_ns(100000);
	close(fd[0]);
	is(lkdf_event_wait(done, -1), -EPIPE, "%s: nobody reads", how);
	is(told.result, -EPIPE, "%s: the result is the error", how);
	ok(told.error == -EPIPE && told.nr == (uint64_t)nr,
	   "%s: %d bytes were written before (%llu)", how, nr,
	   (unsigned long long)told.nr);
	close(fd[1]);
}

static void a_whole_read_has_no_error(struct lkdf *rt, const char *how)
{
	struct told told;
	int fd[2];

	must(pipe(fd));
	must(write(fd[1], "abc", 3) - 3);
	close(fd[1]);
	is(lkdf_event_wait(begin(rt, NULL,
				 IO(.op = LKDF_IO_READ, .fd = fd[0],
				    .buf = bytes, .len = 64, .off = -1),
				 0, &told),
			   -1),
	   0, "%s: a read to the end", how);
	ok_told(&told, 0, 3, "the end of the file", how);
	close(fd[0]);
}

/* ---- descriptors --------------------------------------------------------- */

/*
 * Descriptors of the file: the library has others of its own, which it may open
 * and close meanwhile.
 */
static int nr_open(const char *path)
{
	char link[64], to[PATH_MAX];
	int fd, nr = 0;
	ssize_t size;

	for (fd = 0; fd < 1024; fd++) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		size = readlink(link, to, sizeof(to) - 1);
		if (size < 0)
			continue;
		to[size] = 0;
		nr += !strcmp(to, path);
	}
	return nr;
}

/* how: one that is at hand, and one that a ring or a thread does. */
static void an_untaken_file_is_closed(struct lkdf *rt, const char *how)
{
	static const int flags[] = { O_RDONLY | O_NONBLOCK, O_RDWR | O_CREAT };
	size_t i;

	close(io_file("untaken", "x", 1));
	for (i = 0; i < 2; i++) {
		const struct lkdf_io io = {
			.size = sizeof(io),
			.op = LKDF_IO_OPENAT,
			.dirfd = AT_FDCWD,
			.path = io_path("untaken"),
			.how = (uint32_t)flags[i] | O_CLOEXEC,
			.len = 0600,
		};

		is(io_error(rt, &io), 0, "%s: a file is opened", how);
		is(nr_open(io.path), 0, "%s: and closed, for nobody takes it",
		   how);
	}
	unlink(io_path("untaken"));
}

static void an_untaken_connection_is_closed(struct lkdf *rt, const char *how)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	/* A name of the kernel's choice. */
	must(bind(server, (struct sockaddr *)&at, sizeof(at.sun_family)));
	must(listen(server, 1));
	must(getsockname(server, (struct sockaddr *)&at,
			 &(socklen_t){ sizeof(at) }));
	must(connect(client, (struct sockaddr *)&at,
		     sizeof(at.sun_family) + 6));
	is(io_error(rt, IO(.op = LKDF_IO_ACCEPT, .fd = server)), 0,
	   "%s: a connection is accepted", how);
	is(recv(client, &byte, 1, MSG_DONTWAIT), 0,
	   "%s: and closed, for nobody takes it", how);
	close(client);
	close(server);
}

static int ask(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_io_error(c, NULL);
}

static void no_operation_has_no_error(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "ask", ask, 0, 0);

	is(api_call(rt, k, NULL), -EINVAL, "a body that is no operation");
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	io_begin();
	signal(SIGPIPE, SIG_IGN);
	/* Serial mode would wait for what nobody sends. */
	for (i = 0; i < 2; i++) {
		rt = io_open(io_backends[i]);
		cancelled_reads_give_their_bytes(rt, io_backends[i]);
		a_late_read_gives_its_bytes(rt, io_backends[i]);
		a_write_that_fails_says_how_far(rt, io_backends[i]);
		a_whole_read_has_no_error(rt, io_backends[i]);
		an_untaken_file_is_closed(rt, io_backends[i]);
		an_untaken_connection_is_closed(rt, io_backends[i]);
		no_operation_has_no_error(rt);
		is(io_close(rt), 0, "the runtime closes");
	}
	rt = io_open(io_backends[2]);
	an_untaken_file_is_closed(rt, io_backends[2]);
	an_untaken_connection_is_closed(rt, io_backends[2]);
	is(io_close(rt), 0, "the runtime closes");
	io_end();
	return tap_end();
}
