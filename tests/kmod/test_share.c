/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file in the hands of others: children, receivers over a socket, the same
 * process after exec, and what is left when the owner is gone.
 */
#include "device.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static unsigned node[2];
static struct device d;
static struct reader r;
static char *m;

static void prepare(void)
{
	two_nodes(node);
	d = make_device(4, 4096);
	m = small_memory(MIB);
	touch_on(m, MIB, node[0]);
	r = watch(&d, m, MIB, 16);
	ASSERT_EQ(refresh(&d, &r, 0), 16);
}

static void expect_child(pid_t child)
{
	int status = -1;

	ASSERT(child > 0);
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
}

/* What another address space may do and may not. */
static void act_as_stranger(void)
{
	struct lkdf_kmod_query q;
	char *mine = small_memory(MIB);
	char *map;

	EXPECT_ERRNO(call_add(d.fd, mine, MIB, 16), EPERM);
	EXPECT_ERRNO(call_del(d.fd, 0), EPERM);
	EXPECT_ERRNO(call_setup(d.fd, 1, 1, NULL), EBUSY);
	EXPECT_EQ(refresh_id(d.fd, 0, 0, 16), 16);
	map = mmap(NULL, d.map_bytes, PROT_READ, MAP_SHARED, d.fd, 0);
	ASSERT(map != MAP_FAILED);
	d.map = map;
	r = reader_of(&d, 0);
	EXPECT_EQ(r.desc->state, LKDF_MAP_LIVE);
	EXPECT_EQ(node_of(&r, m), node[0]);
	/* QUERY is about the caller, not about the owner. */
	ASSERT_EQ(call_query(d.fd, mine, MIB, &q, NULL), 0);
	EXPECT_EQ(q.present, 0);
	fflush(stdout);
}

TEST(a_child_reads_and_refreshes_but_cannot_add_or_delete)
{
	pid_t child;

	prepare();
	child = fork();
	if (child == 0) {
		act_as_stranger();
		_exit(harness_failed);
	}
	expect_child(child);
	EXPECT_EQ(call_del(d.fd, 0), 0);
}

TEST(the_childs_pages_are_not_the_parents)
{
	uint64_t gen;
	pid_t child;

	prepare();
	gen = reader_gen(&r);
	child = fork();
	if (child == 0) {
		/* Its writes give it new pages; the parent keeps its own. */
		touch_on(m, MIB, node[1]);
		_exit(0);
	}
	expect_child(child);
	EXPECT_EQ(reader_gen(&r), gen);
	EXPECT_EQ(reader_settled(&r, m), node[0]);
}

static void send_fd(int to, int fd)
{
	char data = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &data, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	ASSERT_EQ(sendmsg(to, &msg, 0), 1);
}

static int receive_fd(int from)
{
	char data, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &data, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd = -1;

	ASSERT_EQ(recvmsg(from, &msg, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* A child that owns a region and sends its file. Ends when told. */
static pid_t start_owner(int pair[2])
{
	pid_t child;
	char c;

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	child = fork();
	if (child)
		return child;
	prepare();
	send_fd(pair[1], d.fd);
	EXPECT_EQ(read(pair[1], &c, 1), 1);
	_exit(harness_failed);
}

static void receive_map(int from)
{
	d.fd = receive_fd(from);
	d.map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, d.fd, 0);
	ASSERT(d.map != MAP_FAILED);
	d.map_bytes = ((struct lkdf_map_header *)d.map)->bytes;
	munmap(d.map, PAGE);
	d.map = mmap(NULL, d.map_bytes, PROT_READ, MAP_SHARED, d.fd, 0);
	ASSERT(d.map != MAP_FAILED);
}

/* The owner's region as this process sees it. */
static void receive(int from)
{
	receive_map(from);
	r = reader_of(&d, 0);
}

TEST(a_monitor_sees_the_owners_placement_through_a_sent_file)
{
	int pair[2];
	pid_t child;

	two_nodes(node);
	child = start_owner(pair);
	receive(pair[0]);
	EXPECT_EQ(refresh(&d, &r, 0), 16);
	EXPECT_EQ(r.words[0], node[0]);
	ASSERT_EQ(write(pair[0], "", 1), 1);
	expect_child(child);
}

static int wait_for(short events, int ms)
{
	struct pollfd p = { .fd = d.fd, .events = events };

	return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

TEST(an_owner_that_exits_leaves_a_dead_map)
{
	int pair[2];
	pid_t child;

	two_nodes(node);
	child = start_owner(pair);
	receive(pair[0]);
	EXPECT_EQ(wait_for(POLLIN, 0), 0);
	ASSERT_EQ(write(pair[0], "", 1), 1);
	/* Woken by the end of the address space, or it had ended before. */
	EXPECT(wait_for(POLLIN, 10000) & (POLLIN | POLLHUP));
	expect_child(child);
	EXPECT(wait_for(POLLIN, 10000) & POLLHUP);
	EXPECT_EQ(r.desc->state, LKDF_MAP_DEAD);
	EXPECT_EQ(((struct lkdf_map_header *)d.map)->state, LKDF_MAP_MM_GONE);
	EXPECT_EQ(r.words[0], node[0] | LKDF_BLOCK_STALE);
	EXPECT_ERRNO(refresh(&d, &r, 0), ESRCH);
	EXPECT_ERRNO(call_del(d.fd, 0), EPERM);
}

/* Of a file with a map and no region, no event comes but this one. */
TEST(an_owner_without_regions_wakes_sleepers_when_it_ends)
{
	int pair[2];
	pid_t child;
	char c;

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	child = fork();
	if (child == 0) {
		d = make_device(4, 64);
		send_fd(pair[1], d.fd);
		/* The parent sleeps in poll() when this process ends. */
		EXPECT_EQ(read(pair[1], &c, 1), 1);
		usleep(300000);
		_exit(harness_failed);
	}
	receive_map(pair[0]);
	EXPECT_EQ(((struct lkdf_map_header *)d.map)->state, 0);
	ASSERT_EQ(write(pair[0], "", 1), 1);
	/* One that is never woken ends with the test's time. */
	EXPECT(wait_for(POLLIN, -1) & POLLHUP);
	EXPECT_EQ(((struct lkdf_map_header *)d.map)->state, LKDF_MAP_MM_GONE);
	expect_child(child);
}

TEST(an_owner_that_is_killed_leaves_a_dead_map)
{
	int pair[2], status;
	pid_t child;

	two_nodes(node);
	child = start_owner(pair);
	receive(pair[0]);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(r.desc->state, LKDF_MAP_DEAD);
	EXPECT_ERRNO(refresh(&d, &r, 0), ESRCH);
}

/* In the program that exec started: main() is not reached. */
__attribute__((constructor)) static void look_at_the_old_file(void)
{
	char *text = getenv("LKDF_TEST_FD");

	if (!text)
		return;
	d.fd = atoi(text);
	d.map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, d.fd, 0);
	ASSERT(d.map != MAP_FAILED);
	EXPECT_EQ(((struct lkdf_map_header *)d.map)->state, LKDF_MAP_MM_GONE);
	EXPECT_ERRNO(refresh_id(d.fd, 0, 0, 16), ESRCH);
	EXPECT_ERRNO(call_add(d.fd, small_memory(MIB), MIB, 16), EPERM);
	EXPECT(wait_for(POLLIN, 0) & POLLHUP);
	fflush(stdout);
	_exit(harness_failed);
}

TEST(after_exec_the_file_still_means_the_old_address_space)
{
	char number[12];
	pid_t child;

	two_nodes(node);
	close(open_device());
	child = fork();
	if (child == 0) {
		prepare();
		fcntl(d.fd, F_SETFD, 0);
		snprintf(number, sizeof(number), "%d", d.fd);
		setenv("LKDF_TEST_FD", number, 1);
		execl("/proc/self/exe", "test_share", NULL);
		_exit(1);
	}
	expect_child(child);
}

TEST(a_waiter_is_woken_when_a_fresh_region_becomes_stale)
{
	void *page;
	int to, status = -1;
	pid_t child;

	prepare();
	page = m;
	to = node[1];
	EXPECT_EQ(wait_for(POLLIN, 0), 0);
	child = fork();
	if (child == 0) {
		/* The parent sleeps in poll() when its page goes. */
		usleep(200000);
		syscall(SYS_move_pages, getppid(), 1L, &page, &to, &status, 4);
		_exit(status != to);
	}
	EXPECT(wait_for(POLLIN, 10000) & POLLIN);
	EXPECT(r.words[0] & LKDF_BLOCK_STALE);
	expect_child(child);
}

static int nr_events(int epoll)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, 0);
}

TEST(only_the_first_event_after_a_refresh_wakes)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	prepare();
	ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, d.fd, &event), 0);
	EXPECT_EQ(nr_events(epoll), 0);
	madvise(m, PAGE, MADV_DONTNEED);
	EXPECT_EQ(nr_events(epoll), 1);
	EXPECT_EQ(nr_events(epoll), 0);
	madvise(m + MIB / 2, PAGE, MADV_DONTNEED);
	EXPECT_EQ(nr_events(epoll), 0);
	ASSERT(refresh(&d, &r, LKDF_KMOD_STALE_ONLY) >= 0);
	EXPECT_EQ(nr_events(epoll), 0);
	madvise(m, PAGE, MADV_DONTNEED);
	EXPECT_EQ(nr_events(epoll), 1);
	close(epoll);
}
