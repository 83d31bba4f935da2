/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A server of lines. A thread sleeps in epoll, for its sockets and for the ends
 * of runs; each request is a run of one sealed graph.
 */
#ifndef SERVER_H
#define SERVER_H

#include "request.h"

#define MAX_LINE 1024

struct options {
	const char *root; /* directory of the files */
	int port; /* 0: any that is free */
	int64_t deadline_ns;
	uint64_t max_size; /* of a file */
	unsigned max_clients;
};

/* A descriptor in epoll: the function that is called, with EPOLL*. */
struct watch {
	void (*ready)(struct watch *w, uint32_t events);
};

struct server {
	struct options options;
	struct requests requests;
	struct watch listener, signals;
	int epoll, listener_fd, signal_fd, root_fd;
	bool is_stopping;
	struct client *clients; /* all of them */
	struct client *first, *last; /* those whose request waits */
	unsigned nr_clients, nr_waiting, nr_running;
	uint64_t nr_served, nr_failed, nr_late, nr_left;
};

/* -errno. */
int server_watch(struct server *s, int fd, uint32_t events, struct watch *w);

/* Takes over the socket. */
void client_open(struct server *s, int fd);

/* It has gone: its request is cancelled, and then it ends. */
void client_leave(struct client *c);

/* All of them. */
void clients_leave(struct server *s);

#endif
