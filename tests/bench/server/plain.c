/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What one writes without a runtime, to compare the example server with: one
 * thread, epoll, and a request that is served by calls that wait. It knows
 * "echo TEXT" and "file NAME" of the directory that it runs in. No deadline, no
 * cancel, no limit; a file that is slow holds up all clients.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_LINE 1024

struct client {
	int fd;
	size_t nr_in;
	char in[MAX_LINE + 1];
};

/* FNV-1a, as the example has it. */
static uint32_t sum_of(const char *at, size_t size)
{
	uint32_t x = 2166136261u;
	size_t i;

	for (i = 0; i < size; i++)
		x = (x ^ (unsigned char)at[i]) * 16777619u;
	return x;
}

/* The bytes of a file, or NULL. */
static char *read_file(const char *name, size_t *size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	char *bytes = NULL;

	*size = 0;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		bytes = malloc((size_t)st.st_size + 1);
	if (bytes)
		*size = (size_t)read(fd, bytes, (size_t)st.st_size);
	close(fd);
	return bytes;
}

static void answer(struct client *c)
{
	char head[80], *bytes = NULL, *text = c->in + 5;
	struct iovec io[2] = { { .iov_base = head }, { .iov_base = text } };
	struct msghdr m = { .msg_iov = io, .msg_iovlen = 2 };

	if (!strncmp(c->in, "file ", 5)) {
		bytes = read_file(text, &io[1].iov_len);
		io[1].iov_base = bytes;
	} else {
		io[1].iov_len = strlen(text);
	}
	io[0].iov_len = (size_t)snprintf(head, sizeof(head), "ok %zu %08x\n",
					 io[1].iov_len,
					 sum_of(io[1].iov_base, io[1].iov_len));
	sendmsg(c->fd, &m, MSG_NOSIGNAL);
	free(bytes);
}

static void serve(struct client *c)
{
	ssize_t n = recv(c->fd, c->in + c->nr_in, MAX_LINE - c->nr_in, 0);
	char *end;

	if (n <= 0) {
		close(c->fd);
		free(c);
		return;
	}
	c->nr_in += (size_t)n;
	while ((end = memchr(c->in, '\n', c->nr_in))) {
		*end = 0;
		answer(c);
		c->nr_in -= (size_t)(end + 1 - c->in);
		memmove(c->in, end + 1, c->nr_in);
	}
}

static void come(int epoll, int listener)
{
	int one = 1;
	struct client *c = calloc(1, sizeof(*c));
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

	c->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e);
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (void *)&a, size) || listen(listener, 64) ||
	    getsockname(listener, (void *)&a, &size) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e))
		return 1;
	printf("listening on 127.0.0.1:%d\n", ntohs(a.sin_port));
	fflush(stdout);
	for (;;) {
		if (epoll_wait(epoll, &e, 1, -1) != 1)
			continue;
		if (e.data.ptr)
			serve(e.data.ptr);
		else
			come(epoll, listener);
	}
}
