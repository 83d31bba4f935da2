/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Asks a server of lines (Documentation/examples/server, or plain.c) from many
 * connections, each with one request under way, and prints how many answers
 * came a second and how long they took:
 *
 *	load PORT CONNECTIONS MILLISECONDS LINE
 *
 * One thread with epoll. Exit status 1 where an answer is not "ok ...".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 1024
#define MAX_ANSWER (1 << 20)
#define MAX_TIMES (1 << 22)

struct connection {
	int fd;
	uint64_t sent_ns;
	size_t nr_got, size; /* of the answer; 0: its head is not whole */
	char head[160];
};

struct load {
	struct connection connection[MAX_CONNECTIONS];
	unsigned nr;
	const char *line;
	size_t line_size;
	int epoll;
	uint32_t *us10; /* tenths of a microsecond */
	size_t nr_times;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int fail(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	return -1;
}

static int ask(struct load *l, struct connection *c)
{
	c->nr_got = c->size = 0;
	c->sent_ns = now_ns();
	if (send(c->fd, l->line, l->line_size, 0) != (ssize_t)l->line_size)
		return fail("send");
	return 0;
}

static int connect_all(struct load *l, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((in_port_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct epoll_event e = { .events = EPOLLIN };
	struct connection *c;

	for (c = l->connection; c < l->connection + l->nr; c++) {
		c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (c->fd < 0 || connect(c->fd, (void *)&a, sizeof(a)))
			return fail("connect");
		e.data.ptr = c;
		if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &e))
			return fail("epoll");
	}
	return 0;
}

/* The size of head and bytes, once the head is whole; -1: no "ok SIZE SUM". */
static int read_head(struct connection *c, const char *got, size_t size)
{
	size_t room = sizeof(c->head) - 1 - c->nr_got;
	char *end;

	if (c->nr_got >= sizeof(c->head) - 1)
		return -1;
	memcpy(c->head + c->nr_got, got, size < room ? size : room);
	c->head[c->nr_got + (size < room ? size : room)] = 0;
	end = strchr(c->head, '\n');
	if (!end)
		return 0;
	if (strncmp(c->head, "ok ", 3)) {
		fprintf(stderr, "load: %s", c->head);
		return -1;
	}
	c->size = (size_t)(end + 1 - c->head) + strtoull(c->head + 3, NULL, 10);
	return 0;
}

/* Takes what has come; the answer is whole: notes its time and asks again. */
static int take(struct load *l, struct connection *c)
{
	static char got[MAX_ANSWER];
	ssize_t n = recv(c->fd, got, sizeof(got), 0);

	if (n <= 0)
		return fail("recv");
	if (!c->size && read_head(c, got, (size_t)n))
		return -1;
	c->nr_got += (size_t)n;
	if (!c->size || c->nr_got < c->size)
		return 0;
	if (l->nr_times < MAX_TIMES)
		l->us10[l->nr_times++] =
			(uint32_t)((now_ns() - c->sent_ns) / 100);
	return ask(l, c);
}

static int run(struct load *l, uint64_t end_ns)
{
	struct epoll_event e[64];
	unsigned i;
	int n;

	for (i = 0; i < l->nr; i++)
		if (ask(l, &l->connection[i]))
			return -1;
	while (now_ns() < end_ns) {
		n = epoll_wait(l->epoll, e, 64, 100);
		while (n > 0)
			if (take(l, e[--n].data.ptr))
				return -1;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double quantile(const struct load *l, double share)
{
	size_t at = (size_t)(share * (double)l->nr_times);

	return l->nr_times ? l->us10[at] / 1e4 : 0;
}

int main(int argc, char **argv)
{
	static struct load l;
	uint64_t start;
	char line[1024];
	int ms;

	if (argc != 5)
		return 2;
	l.nr = (unsigned)atoi(argv[2]);
	ms = atoi(argv[3]);
	if (!l.nr || l.nr > MAX_CONNECTIONS || ms < 1)
		return 2;
	l.line = line;
	l.line_size = (size_t)snprintf(line, sizeof(line), "%s\n", argv[4]);
	l.us10 = malloc(MAX_TIMES * sizeof(*l.us10));
	l.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!l.us10 || l.epoll < 0 || connect_all(&l, atoi(argv[1])))
		return 1;
	start = now_ns();
	if (run(&l, start + (uint64_t)ms * 1000000u))
		return 1;
	qsort(l.us10, l.nr_times, sizeof(*l.us10), compare);
	printf("%u connections: %.0f a second, p50 %.3f ms, p99 %.3f ms\n",
	       l.nr, (double)l.nr_times / ((double)(now_ns() - start) / 1e9),
	       quantile(&l, 0.5), quantile(&l, 0.99));
	free(l.us10);
	return 0;
}
