/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For LD_PRELOAD: counts the calls by which a server answers, and prints them
 * on standard error when the program ends, as "name N" in one line.
 */
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

static atomic_ulong nr_send, nr_sendmsg, nr_recv, nr_wait, nr_ctl, nr_nodelay;

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
#define COUNT(n) atomic_fetch_add_explicit(&(n), 1, memory_order_relaxed)

ssize_t send(int fd, const void *at, size_t size, int flags)
{
	COUNT(nr_send);
	return NEXT(send)(fd, at, size, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	COUNT(nr_sendmsg);
	return NEXT(sendmsg)(fd, m, flags);
}

ssize_t recv(int fd, void *at, size_t size, int flags)
{
	COUNT(nr_recv);
	return NEXT(recv)(fd, at, size, flags);
}

int epoll_wait(int fd, struct epoll_event *e, int nr, int timeout)
{
	COUNT(nr_wait);
	return NEXT(epoll_wait)(fd, e, nr, timeout);
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *e)
{
	COUNT(nr_ctl);
	return NEXT(epoll_ctl)(epoll, op, fd, e);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	if (level == IPPROTO_TCP && name == TCP_NODELAY &&
	    *(const int *)value == 1)
		COUNT(nr_nodelay);
	return NEXT(setsockopt)(fd, level, name, value, size);
}

__attribute__((destructor)) static void print(void)
{
	fprintf(stderr,
		"send %lu sendmsg %lu recv %lu wait %lu ctl %lu nodelay %lu\n",
		nr_send, nr_sendmsg, nr_recv, nr_wait, nr_ctl, nr_nodelay);
}
