/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A client: a line comes in, its request runs, an answer goes out, and then the
 * next line. The socket's side and the run's side meet in this one thread, so
 * there is no lock.
 *
 *	READING --> WAITING --> RUNNING --> WRITING --> READING
 *
 * A client that goes while its request runs is cancelled. Memory that the run
 * uses stays until it has ended.
 */
#include "server.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define NS_PER_MS 1000000ll
#define MAX_NAP_MS 3600000ll

enum state {
	READING,
	WAITING,
	RUNNING,
	WRITING,
};

struct client {
	struct watch socket, done;
	struct server *server;
	struct client *next, **prev; /* all of them */
	struct client *next_waiting;
	int fd, done_fd;
	enum state state;
	uint32_t events; /* that epoll reports of the socket */
	bool is_gone, is_last; /* no line after this answer */

	struct lkdf_scope *scope;
	struct lkdf_event end;
	struct request request;

	char in[MAX_LINE + 1];
	size_t nr_in, line_size;
	char head[160];
	size_t head_size, nr_out;
};

#define container_of(p, type, member) \
	((type *)(void *)((char *)(p)-offsetof(type, member)))

/* Most answers leave this as it is and cost no call. */
static void listen_for(struct client *c, uint32_t events)
{
	struct epoll_event e = { .events = events | EPOLLRDHUP,
				 .data.ptr = &c->socket };

	if (e.events == c->events)
		return;
	c->events = e.events;
	epoll_ctl(c->server->epoll, EPOLL_CTL_MOD, c->fd, &e);
}

static void destroy(struct client *c)
{
	struct server *s = c->server;

	*c->prev = c->next;
	if (c->next)
		c->next->prev = c->prev;
	s->nr_clients--;
	request_fini(&c->request);
	lkdf_scope_put(c->scope);
	close(c->fd);
	free(c);
}

/* ---- the answer --------------------------------------------------------- */

/* The parts of head and bytes that have not gone yet; 0: all have gone. */
static size_t rest(const struct client *c, struct iovec *io)
{
	const struct request *r = &c->request;
	const char *bytes = r->bytes ? r->bytes : r->text;
	size_t of_head = c->nr_out < c->head_size ? c->nr_out : c->head_size;
	size_t of_bytes = c->nr_out - of_head;

	io[0].iov_base = (char *)(uintptr_t)c->head + of_head;
	io[0].iov_len = c->head_size - of_head;
	io[1].iov_base = (char *)(uintptr_t)bytes + of_bytes;
	io[1].iov_len = (size_t)r->size - of_bytes;
	return io[0].iov_len + io[1].iov_len;
}

/*
 * 0; -EAGAIN: not all of it; -errno. Head and bytes go in one call: after a
 * small first piece TCP would hold the second one until the client acknowledges
 * the first, which a client delays by 40 ms.
 */
static int write_some(struct client *c)
{
	struct iovec io[2];
	struct msghdr message = { .msg_iov = io, .msg_iovlen = 2 };
	ssize_t n;

	while (rest(c, io)) {
		n = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return -errno;
		c->nr_out += (size_t)n;
	}
	return 0;
}

/* The line is done with. */
static void answered(struct client *c)
{
	request_fini(&c->request);
	c->nr_in -= c->line_size;
	memmove(c->in, c->in + c->line_size, c->nr_in);
	c->state = READING;
}

/* Makes it ready to go out. */
static void answer(struct client *c, int error)
{
	struct request *r = &c->request;
	int n;

	if (error)
		r->size = 0;
	n = error ? snprintf(c->head, sizeof(c->head), "error %s\n",
			     strerror(-error))
		  : snprintf(c->head, sizeof(c->head), "ok %lld %08x\n",
			     (long long)r->size, r->sum);
	c->head_size = (size_t)n;
	c->nr_out = 0;
	c->state = WRITING;
}

/* ---- the run ------------------------------------------------------------ */

/* -EAGAIN: later. */
static int run(struct client *c)
{
	struct server *s = c->server;
	int rc;

	rc = request_run(&s->requests, &c->request, c->scope,
			 s->options.deadline_ns, &c->end);
	if (rc)
		return rc;
	c->state = RUNNING;
	s->nr_running++;
	c->done_fd = lkdf_event_fd(c->end);
	rc = c->done_fd < 0 ? c->done_fd
			    : server_watch(s, c->done_fd, EPOLLIN, &c->done);
	if (!rc)
		return 0;
	/* Nobody would tell us of its end. */
	lkdf_scope_cancel(s->requests.rt, c->scope, -ECANCELED);
	lkdf_scope_wait(s->requests.rt, c->scope, -1);
	lkdf_event_put(c->end);
	request_close(&c->request);
	if (c->done_fd >= 0)
		close(c->done_fd);
	s->nr_running--;
	return rc;
}

static void go_on(struct client *c);

/* There is room for further runs. */
static void run_waiting(struct server *s)
{
	struct client *c;
	int rc;

	while ((c = s->first)) {
		rc = run(c);
		if (rc == -EAGAIN)
			return;
		s->first = c->next_waiting;
		s->nr_waiting--;
		if (rc) {
			answer(c, rc);
			go_on(c);
		}
	}
}

static void unqueue(struct client *c)
{
	struct server *s = c->server;
	struct client *before = NULL, *at;

	for (at = s->first; at != c; at = at->next_waiting)
		before = at;
	if (before)
		before->next_waiting = c->next_waiting;
	else
		s->first = c->next_waiting;
	if (s->last == c)
		s->last = before;
	s->nr_waiting--;
}

static void count_end(struct server *s, const struct client *c, int rc)
{
	s->nr_running--;
	if (c->is_gone)
		s->nr_left++;
	else if (rc == -ETIME)
		s->nr_late++;
	else if (rc)
		s->nr_failed++;
	else
		s->nr_served++;
}

/* Its descriptor is readable: the run has ended, a wait does not wait. */
static void run_ended(struct watch *w, uint32_t events)
{
	struct client *c = container_of(w, struct client, done);
	struct server *s = c->server;
	int rc;

	(void)events;
	close(c->done_fd);
	rc = lkdf_event_wait(c->end, 0);
	request_close(&c->request);
	count_end(s, c, rc);
	if (c->is_gone) {
		destroy(c);
	} else {
		answer(c, rc);
		go_on(c);
	}
	run_waiting(s);
}

static void start(struct client *c)
{
	struct server *s = c->server;
	int rc = s->first ? -EAGAIN : run(c);

	if (rc == -EAGAIN) {
		c->state = WAITING;
		c->next_waiting = NULL;
		if (s->first)
			s->last->next_waiting = c;
		else
			s->first = c;
		s->last = c;
		s->nr_waiting++;
	} else if (rc) {
		answer(c, rc);
	}
}

/* ---- lines -------------------------------------------------------------- */

/* Tells the server's state, without a run. */
static void tell_state(struct client *c)
{
	const struct server *s = c->server;
	int n;

	n = snprintf(c->head, sizeof(c->head),
		     "clients %u waiting %u running %u served %llu failed %llu "
		     "late %llu left %llu\n",
		     s->nr_clients, s->nr_waiting, s->nr_running,
		     (unsigned long long)s->nr_served,
		     (unsigned long long)s->nr_failed,
		     (unsigned long long)s->nr_late,
		     (unsigned long long)s->nr_left);
	c->request.size = 0;
	c->head_size = (size_t)n;
	c->nr_out = 0;
	c->state = WRITING;
}

/* Only what lies in the directory itself. */
static bool is_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

static bool read_nap(const char *s, int64_t *ns)
{
	char *end;
	long long ms = strtoll(s, &end, 10);

	*ns = ms * NS_PER_MS;
	return end != s && !*end && ms >= 0 && ms <= MAX_NAP_MS;
}

/* 0, or why it is no request. */
static int parse(struct client *c, char *line)
{
	struct request *r = &c->request;
	char *space = strchr(line, ' ');

	r->root_fd = c->server->root_fd;
	r->max_size = c->server->options.max_size;
	r->text = space ? space + 1 : "";
	if (space)
		*space = 0;
	if (!strcmp(line, "echo"))
		r->what = ECHO;
	else if (!strcmp(line, "file") && is_name(r->text))
		r->what = FILE_;
	else if (!strcmp(line, "nap") && read_nap(r->text, &r->nap_ns))
		r->what = NAP;
	else
		return -EINVAL;
	return 0;
}

/* False: there is no whole one yet. */
static bool take_line(struct client *c)
{
	char *end = memchr(c->in, '\n', c->nr_in);
	int rc;

	if (!end && c->nr_in < MAX_LINE)
		return false;
	if (!end) {
		c->is_last = true;
		c->line_size = c->nr_in;
		answer(c, -EMSGSIZE);
		return true;
	}
	*end = 0;
	c->line_size = (size_t)(end - c->in) + 1;
	if (!strcmp(c->in, "state")) {
		tell_state(c);
		return true;
	}
	rc = parse(c, c->in);
	if (rc)
		answer(c, rc);
	else
		start(c);
	return true;
}

/* Writes and takes lines until it has to wait for something. */
static void go_on(struct client *c)
{
	int rc;

	do {
		if (c->state != WRITING)
			continue;
		rc = write_some(c);
		if (rc == -EAGAIN) {
			listen_for(c, EPOLLOUT);
			return;
		}
		if (rc || c->is_last) {
			destroy(c);
			return;
		}
		answered(c);
	} while (c->state == WRITING || (c->state == READING && take_line(c)));
	if (c->state == READING)
		listen_for(c, EPOLLIN);
}

static void read_some(struct client *c)
{
	ssize_t n = recv(c->fd, c->in + c->nr_in, MAX_LINE - c->nr_in,
			 MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		destroy(c);
		return;
	}
	c->nr_in += (size_t)n;
	go_on(c);
}

/* ---- coming and going --------------------------------------------------- */

static void socket_ready(struct watch *w, uint32_t events)
{
	struct client *c = container_of(w, struct client, socket);

	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		client_leave(c);
	else if (c->state == READING)
		read_some(c);
	else if (c->state == WRITING)
		go_on(c);
	else /* A line ahead of time stays in the socket until the answer. */
		listen_for(c, 0);
}

void client_leave(struct client *c)
{
	struct server *s = c->server;

	if (c->is_gone)
		return;
	if (c->state == WAITING)
		unqueue(c);
	if (c->state != RUNNING) {
		destroy(c);
		return;
	}
	/*
	 * Memory that the run uses stays until its end, which is told as ever.
	 */
	c->is_gone = true;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	lkdf_scope_cancel(s->requests.rt, c->scope, -ECANCELED);
}

void clients_leave(struct server *s)
{
	struct client *c, *next;

	for (c = s->clients; c; c = next) {
		next = c->next;
		client_leave(c);
	}
}

void client_open(struct server *s, int fd)
{
	struct client *c = calloc(1, sizeof(*c));
	int rc = c ? lkdf_scope_create(s->requests.rt, NULL, &c->scope)
		   : -ENOMEM;
	int one = 1;

	if (rc) {
		close(fd);
		free(c);
		return;
	}
	c->server = s;
	c->fd = fd;
	c->socket.ready = socket_ready;
	c->done.ready = run_ended;
	c->next = s->clients;
	c->prev = &s->clients;
	if (c->next)
		c->next->prev = &c->next;
	s->clients = c;
	s->nr_clients++;
	/* An answer does not wait for the acknowledgement of the one before. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->events = EPOLLIN | EPOLLRDHUP;
	if (server_watch(s, fd, c->events, &c->socket))
		destroy(c);
}
