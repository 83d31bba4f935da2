/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel gives operations of a ring up that nobody cancelled: it does so
 * when it gets no thread for them. Here somebody else cancels all that is in
 * the rings of this process. What the operations wait for comes afterwards.
 */
#include "tests/api/io_fault.h"

#include <linux/io_uring.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define NR_RINGS 16

static int find_rings(int *fd)
{
	char path[64], to[64];
	int nr = 0, i;
	ssize_t len;

	for (i = 0; i < 1024 && nr < NR_RINGS; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		len = readlink(path, to, sizeof(to) - 1);
		if (len < 0)
			continue;
		to[len] = '\0';
		if (!strcmp(to, "anon_inode:[io_uring]"))
			fd[nr++] = i;
	}
	return nr;
}

/* False: there was nothing in it. */
static bool empty_ring(int fd)
{
	struct io_uring_sync_cancel_reg reg = {
		.fd = -1,
		.flags = IORING_ASYNC_CANCEL_ANY,
		.timeout = { .tv_sec = -1, .tv_nsec = -1 },
	};

	return syscall(SYS_io_uring_register, fd, IORING_REGISTER_SYNC_CANCEL,
		       &reg, 1) >= 0;
}

/* Until an operation was in one of them. */
static void give_up(void)
{
	int fd[NR_RINGS], nr = find_rings(fd), nr_hit = 0, i;

	while (!nr_hit) {
		for (i = 0; i < nr; i++)
			nr_hit += empty_ring(fd[i]);
		if (!nr_hit)
			api_nap_ns(100000);
	}
}

static void a_read_goes_on(struct lkdf *rt)
{
	struct lkdf_event done;
	int64_t result;
	char to[2];
	int fd[2];

	io_half_read(rt, fd, to, &result, &done);
	give_up();
	is(write(fd[1], "b", 1), 1, "the rest comes later");
	is(lkdf_event_wait(done, -1), 0, "a read that was given up goes on");
	is(result, 2, "to its end");
	ok(!memcmp(to, "ab", 2), "with all bytes in their places");
	close(fd[0]);
	close(fd[1]);
}

static void a_poll_goes_on(struct lkdf *rt)
{
	struct lkdf_event done;
	int64_t events;
	int pair[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	io_start(rt, IO(.op = LKDF_IO_POLL, .fd = pair[1], .how = POLLIN),
		 &events, &done);
	give_up();
	is(write(pair[0], "c", 1), 1, "a byte comes later");
	is(lkdf_event_wait(done, -1), 0, "a poll goes on");
	is(events, POLLIN, "and tells what there is");
	close(pair[0]);
	close(pair[1]);
}

/* Cancelling is no giving up. */
static void a_scope_is_cancelled(struct lkdf *rt)
{
	struct lkdf_scope *s;
	struct lkdf_kind *k = io_kind(rt, NULL, sizeof(struct lkdf_io));
	struct lkdf_event done;
	char to[2];
	int fd[2];

	must(pipe2(fd, O_CLOEXEC));
	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s,
			 ATTR(lkdf_task, .kind = k,
			      .arg = IO(.op = LKDF_IO_READ, .fd = fd[0],
					.buf = to, .len = 2, .off = -1)),
			 &done));
	lkdf_scope_cancel(rt, s, -ECANCELED);
	is(lkdf_event_wait(done, -1), -ECANCELED, "a cancelled one ends");
	lkdf_scope_wait(rt, s, -1);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	int fd[NR_RINGS];
	struct lkdf *rt;

	tap_start(60);
	rt = api_open("workers=2");
	if (!(lkdf_caps(rt) & LKDF_CAP_URING)) {
		printf("1..0 # SKIP no rings here\n");
		return 0;
	}
	a_read_goes_on(rt);
	a_poll_goes_on(rt);
	a_scope_is_cancelled(rt);
	ok(find_rings(fd) > 0, "all that on rings");
	is(lkdf_close(rt), 0, "it closes");
	return tap_end();
}
