/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The descriptor of an event in poll and epoll, what happens when either side
 * goes first, and a process without free descriptors.
 */
#include "tests/api/api.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR 200

static struct lkdf_event make(struct lkdf *rt)
{
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	return e;
}

static int readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLIN;
}

/* Of /proc and /sys: workers look there at their times and the CPU quota. */
static bool is_of_kernel(DIR *dir, const struct dirent *e)
{
	char to[256] = "";

	return readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1) > 0 &&
	       (!strncmp(to, "/proc/", 6) || !strncmp(to, "/sys/", 5));
}

static int nr_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	int nr = 0;

	while (dir && (e = readdir(dir)))
		nr += !is_of_kernel(dir, e);
	if (dir)
		closedir(dir);
	return nr;
}

/* Workers open and close files of their own now and then: the least of some. */
static int nr_open_now(void)
{
	int i, nr, least = nr_open();

	for (i = 0; i < 10; i++) {
		api_nap_ns(1000000);
		nr = nr_open();
		least = nr < least ? nr : least;
	}
	return least;
}

/* Who fires an event tells us first and closes then. Return: their number. */
static int open_come_to(int want)
{
	int i, nr = nr_open();

	for (i = 0; i < 2000 && nr != want; i++) {
		api_nap_ns(1000000);
		nr = nr_open();
	}
	return nr;
}

static void it_is_readable_once_fired(struct lkdf *rt)
{
	struct lkdf_event e = make(rt);
	int fd = lkdf_event_fd(e), late, before = nr_open_now();
	char byte;

	ok(fd >= 0, "an event has a descriptor");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "which exec closes");
	ok(!readable(fd, 0), "it is not readable");
	is(read(fd, &byte, 1), -1, "a read does not wait");
	must(lkdf_event_signal(e, -EIO));
	ok(readable(fd, 0), "it is when the event has fired");
	is(read(fd, &byte, 1), 0, "a read gives nothing");
	ok(readable(fd, 0), "and it stays so");
	is(open_come_to(before - 1), before - 1, "ours is closed");
	late = lkdf_event_fd(e);
	ok(late >= 0 && readable(late, 0), "another one later is at once");
	close(fd);
	close(late);
	is(lkdf_event_wait(e, 0), -EIO, "the event is as it was");
}

static void either_may_go_first(struct lkdf *rt)
{
	int before = nr_open_now(), fd, ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = { .events = EPOLLIN };
	struct lkdf_event e = make(rt);

	fd = lkdf_event_fd(e);
	must(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	close(fd);
	/* What has the same number now is none of the library's. */
	is(dup2(ep, fd), fd, "the number is given on");
	must(lkdf_event_signal(e, 0));
	is(epoll_wait(ep, &ev, 1, 0), 0, "epoll hears nothing of it");
	is(fcntl(fd, F_GETFD) < 0, 0, "and what came there is open");
	close(fd);
	close(ep);
	lkdf_event_put(e);
	is(open_come_to(before), before, "nothing is left open");
	e = make(rt);
	fd = lkdf_event_fd(e);
	/* It keeps the event. */
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	ok(readable(fd, 0), "it outlives the event");
	close(fd);
	is(lkdf_event_fd(e), -ESTALE, "an event that is gone has none");
	is(lkdf_event_fd((struct lkdf_event){ 0 }), -EINVAL, "nor has { 0 }");
}

/* One thread with epoll and tasks side by side. */
static void a_loop_sees_tasks_end(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	int i, nr, fd[NR], seen = 0, bad = 0, before = nr_open_now();
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev;
	struct lkdf_event e[NR];

	for (i = 0; i < NR; i++) {
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &e[i]));
		fd[i] = must(lkdf_event_fd(e[i]));
		ev.events = EPOLLIN;
		ev.data.u32 = (uint32_t)i;
		must(epoll_ctl(ep, EPOLL_CTL_ADD, fd[i], &ev));
	}
	while (seen < NR) {
		nr = epoll_wait(ep, &ev, 1, 10000);
		if (nr != 1)
			break;
		i = (int)ev.data.u32;
		bad += !(ev.events & EPOLLIN) || lkdf_event_wait(e[i], 0) != 0;
		close(fd[i]);
		seen++;
	}
	is(seen, NR, "epoll tells of the end of %d tasks", NR);
	is(bad, 0, "each has ended");
	close(ep);
	is(open_come_to(before), before, "nothing is left open");
	lkdf_kind_put(k);
	must(lkdf_scope_wait(rt, NULL, -1));
}

static void without_descriptors_it_says_so(struct lkdf *rt)
{
	struct lkdf_event e = make(rt);
	struct rlimit old, now;
	int fd = must(open("/dev/null", O_RDONLY | O_CLOEXEC)), before, nr;

	must(getrlimit(RLIMIT_NOFILE, &old));
	/* It was the lowest that is free. */
	close(fd);
	before = nr_open_now();
	for (nr = 0; nr < 2; nr++) {
		now = old;
		now.rlim_cur = (rlim_t)(fd + nr);
		must(setrlimit(RLIMIT_NOFILE, &now));
		is(lkdf_event_fd(e), -EMFILE, "%d descriptors to be had", nr);
		has(lkdf_errmsg(), "descriptor", "it says what is missing");
		must(setrlimit(RLIMIT_NOFILE, &old));
	}
	is(open_come_to(before), before, "nothing is left open");
	fd = lkdf_event_fd(e);
	ok(fd >= 0, "then it works");
	must(lkdf_event_signal(e, 0));
	ok(readable(fd, 0), "as ever");
	close(fd);
	lkdf_event_put(e);
}

/* The child's copies do not keep it from being told, nor tell it. */
static void a_forked_child_is_no_harm(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_event e = make(rt);
	int fd = must(lkdf_event_fd(e)), status, to_child[2];
	pid_t pid;
	char byte;

	must(pipe(to_child));
	pid = fork();
	if (!pid) {
		close(to_child[1]);
		status = lkdf_event_fd(e) != -EOWNERDEAD;
		lkdf_event_put(e);
		status |= lkdf_close(rt) != 0;
		/* Ours is there until the parent has seen its own. */
		status |= read(to_child[0], &byte, 1) != 0;
		_exit(status | !readable(fd, 0));
	}
	close(to_child[0]);
	ok(!readable(fd, 0), "a child that closes does not fire it");
	must(lkdf_event_signal(e, 0));
	ok(readable(fd, 0), "the parent is told, whatever the child holds");
	close(to_child[1]);
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "the child saw it too");
	close(fd);
	lkdf_event_put(e);
	must(lkdf_close(rt));
}

static void close_ends_what_is_pending(const char *options)
{
	int i, fd[10], before = nr_open_now(), bad = 0;
	struct lkdf *rt = api_open(options);
	struct lkdf_event e = make(rt);

	for (i = 0; i < 10; i++)
		fd[i] = must(lkdf_event_fd(e));
	is(lkdf_close(rt), 0, "close with ten descriptors that wait");
	for (i = 0; i < 10; i++) {
		bad += !readable(fd[i], 0);
		close(fd[i]);
	}
	is(bad, 0, "they are readable");
	is(open_come_to(before), before, "nothing is left open");
}

struct race {
	struct lkdf *rt;
	int bad;
	pthread_t thread;
};

static void *make_many(void *arg)
{
	struct race *r = arg;
	struct lkdf_event e;
	int i, fd;

	for (i = 0; i < NR; i++) {
		e = make(r->rt);
		fd = lkdf_event_fd(e);
		r->bad += fd < 0 || readable(fd, 0);
		if (i % 2)
			close(fd);
		r->bad += lkdf_event_signal(e, 0) != 0;
		lkdf_event_put(e);
		if (i % 2 == 0) {
			r->bad += !readable(fd, 0);
			close(fd);
		}
	}
	return NULL;
}

static void many_threads(struct lkdf *rt)
{
	struct race r[4] = { 0 };
	int i, bad = 0, before = nr_open_now();

	for (i = 0; i < 4; i++) {
		r[i].rt = rt;
		pthread_create(&r[i].thread, NULL, make_many, &r[i]);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(r[i].thread, NULL);
		bad += r[i].bad;
	}
	is(bad, 0, "four threads with %d each", NR);
	is(open_come_to(before), before, "nothing is left open");
}

static void run(const char *options)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	it_is_readable_once_fired(rt);
	either_may_go_first(rt);
	a_loop_sees_tasks_end(rt);
	without_descriptors_it_says_so(rt);
	many_threads(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	a_forked_child_is_no_harm(options);
	close_ends_what_is_pending(options);
}

int main(void)
{
	tap_start(60);
	run("workers=2");
	run("serial=yes");
	return tap_end();
}
