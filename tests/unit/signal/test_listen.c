/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The thread that tells when a descriptor is readable: at most once in a
 * while, and at no other time. The descriptors are eventfds and pipes.
 */
#include "signal/listen.h"

#include "base/clock.h"
#include "tests/tap.h"

#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS ((int64_t)1000000)

static _Atomic(unsigned) nr_told, nr_others;
static _Atomic(int) to_read; /* by the first to be told; -1: nothing */
static struct listener listener;

static void clear(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) != sizeof(n))
		printf("Bail out! cannot read\n");
}

static void tell(void *u)
{
	int fd = a_xchg(&to_read, -1, relaxed);

	if (fd >= 0)
		clear(fd);
	a_add((_Atomic(unsigned) *)u, 1, relaxed);
}

static unsigned told(void)
{
	return a_load(&nr_told, relaxed);
}

static void nap(int64_t ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * MS };

	nanosleep(&ts, NULL);
}

/* The watchdog ends it if that never comes. */
static void wait_for(unsigned nr)
{
	while (told() < nr)
		nap(1);
}

static void set(int fd)
{
	uint64_t n = 1;

	if (write(fd, &n, sizeof(n)) != sizeof(n))
		printf("Bail out! cannot write\n");
}

static int start(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	memset(&listener, 0, sizeof(listener));
	a_store(&nr_told, 0, relaxed);
	a_store(&to_read, -1, relaxed);
	listen_start(&listener, fd, tell, &nr_told);
	return fd;
}

static void stop(int fd)
{
	listen_stop(&listener, false);
	close(fd);
}

static void it_tells_when_there_is_something(void)
{
	int fd = start();
	unsigned nr;

	nap(3 * LISTEN_PAUSE_MS);
	is(told(), 0, "nothing to be read: nothing is told");
	a_store(&to_read, fd, relaxed);
	set(fd);
	wait_for(1);
	ok(true, "something to be read is told");
	wait_for(2);
	ok(true, "and once more, for who came too early");
	do {
		nr = told();
		nap(6 * LISTEN_PAUSE_MS);
	} while (told() != nr);
	ok(true, "what was read is not told for ever");
	set(fd);
	wait_for(nr + 2);
	ok(true, "the next one is");
	stop(fd);
}

static void it_does_not_tell_often(void)
{
	int64_t start_ns = clock_now_ns(), ms;
	unsigned nr;
	int fd = start();

	set(fd);
	wait_for(8);
	nr = told();
	ms = (clock_now_ns() - start_ns) / MS;
	printf("# told %u times in %d ms\n", nr, (int)ms);
	ok(nr <= ms / LISTEN_PAUSE_MS, "not more often than it may");
	stop(fd);
	nr = told();
	nap(3 * LISTEN_PAUSE_MS);
	is(told(), nr, "and not once it is stopped");
}

static void the_first_start_counts(void)
{
	int fd = start(), other = eventfd(1, EFD_CLOEXEC);

	a_store(&nr_others, 0, relaxed);
	listen_start(&listener, other, tell, &nr_others);
	set(fd);
	wait_for(2);
	is(a_load(&nr_others, relaxed), 0, "a second start does nothing");
	stop(fd);
	close(other);
}

static void the_other_side_may_hang_up(void)
{
	int fd[2];

	memset(&listener, 0, sizeof(listener));
	a_store(&nr_told, 0, relaxed);
	if (pipe(fd))
		printf("Bail out! no pipe\n");
	close(fd[1]);
	listen_start(&listener, fd[0], tell, &nr_told);
	nap(2 * LISTEN_PAUSE_MS);
	stop(fd[0]);
	is(told(), 0, "a descriptor that only hangs up tells nothing");
}

static void a_child_has_none(void)
{
	int fd = start(), status = -1;
	unsigned nr;
	pid_t child = fork();

	if (child == 0) {
		listen_stop(&listener, true);
		_exit(0);
	}
	waitpid(child, &status, 0);
	is(status, 0, "it stops in a forked child");
	nr = told();
	set(fd);
	wait_for(nr + 2);
	ok(true, "the parent's goes on");
	stop(fd);
}

static void nobody_listens(void)
{
	memset(&listener, 0, sizeof(listener));
	listen_stop(&listener, false);
	ok(true, "what was not started can be stopped");
}

int main(void)
{
	tap_start(60);
	it_tells_when_there_is_something();
	it_does_not_tell_often();
	the_first_start_counts();
	the_other_side_may_hang_up();
	a_child_has_none();
	nobody_listens();
	return tap_end();
}
