/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations that come again and again and feed a graph, or tasks: all that
 * comes is there, in order, once, however slow the consumers are.
 */
#include "tests/api/io/io_feed.h"

#define NR_CLIENTS 4
#define NR_BATCH 25
#define NR_BATCHES 10
#define NR_CONNECTIONS (NR_CLIENTS * NR_BATCH * NR_BATCHES)

static void last_cancels(struct peer *p)
{
	if (p->nr_left && atomic_fetch_sub(p->nr_left, 1) == 1)
		lkdf_scope_cancel(p->rt, p->scope, -ECANCELED);
}

/* ---- connections -------------------------------------------------------- */

/* Says hello to who has come. */
static int greet(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io_wave *w = lkdf_run_arg(c);
	struct tally *t = w->u;
	int fd = lkdf_io_take(w);

	(void)arg;
	if (fd != w->result || write(fd, "h", 1) != 1 ||
	    lkdf_io_take(w) != -EBADF)
		atomic_fetch_add(&t->nr_wrong, 1);
	close(fd);
	atomic_fetch_add(&t->nr, 1);
	atomic_fetch_add(&t->seqs, (long long)w->seq);
	return 0;
}

static void *connect_main(void *arg)
{
	int fd[NR_BATCH], i, j;
	struct peer *p = arg;
	char byte;

	for (i = 0; i < NR_BATCHES; i++) {
		for (j = 0; j < NR_BATCH; j++)
			fd[j] = open_client(p->a);
		for (j = 0; j < NR_BATCH; j++) {
			p->nr_good += read(fd[j], &byte, 1) == 1 &&
				      byte == 'h' && !read(fd[j], &byte, 1);
			close(fd[j]);
		}
	}
	last_cancels(p);
	return NULL;
}

static void a_graph_serves_all_who_connect(struct lkdf *rt, const char *how)
{
	struct lkdf_graph *g = graph_of(rt, greet, 4, LKDF_SHARED);
	struct lkdf_scope *s = open_scope(rt, 0);
	struct peer peer[NR_CLIENTS] = { 0 };
	atomic_int nr_left = NR_CLIENTS;
	struct tally t = { 0 };
	int64_t result = 0;
	struct sockaddr_un a;
	int fd = open_listener(&a), i, nr_good = 0;

	for (i = 0; i < NR_CLIENTS; i++) {
		peer[i] = (struct peer){
			.rt = rt, .scope = s, .a = &a, .nr_left = &nr_left
		};
		pthread_create(&peer[i].thread, NULL, connect_main, &peer[i]);
	}
	begin(rt, s,
	      MULTI(.op = LKDF_IO_ACCEPT, .fd = fd, .how = SOCK_CLOEXEC,
		    .buf = FEED(.graph = g, .u = &t)),
	      &result, NULL);
	lkdf_scope_wait(rt, s, -1);
	for (i = 0; i < NR_CLIENTS; i++) {
		pthread_join(peer[i].thread, NULL);
		nr_good += peer[i].nr_good;
	}
	is(nr_good, NR_CONNECTIONS, "%s: everybody is served", how);
	is(atomic_load(&t.nr), NR_CONNECTIONS, "%s: each once", how);
	is(atomic_load(&t.seqs),
	   (long long)NR_CONNECTIONS * (NR_CONNECTIONS - 1) / 2, "%s: numbered",
	   how);
	is(atomic_load(&t.nr_wrong), 0, "%s: with their descriptors", how);
	is(result, -ECANCELED, "%s: and the operation ends by cancel", how);
	lkdf_scope_put(s);
	lkdf_graph_put(g);
	close_listener(&a, fd);
}

static void *hang_up_main(void *arg)
{
	struct peer *p = arg;
	int i;

	for (i = 0; i < (int)p->size; i++)
		close(open_client(p->a));
	for (i = 0; i < (int)p->size; i++) {
		/* The library closes: nobody has taken it. */
		char byte;
		int fd = open_client(p->a);

		p->nr_good += read(fd, &byte, 1) == 0;
		close(fd);
	}
	last_cancels(p);
	return NULL;
}

/* Peers that are gone when they are taken, and descriptors nobody takes. */
static void nobody_takes_them(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = api_kind(rt, "wave", just_count, 0, 0);
	struct lkdf_scope *s = open_scope(rt, 0);
	atomic_int nr_left = 1;
	struct tally t = { .nap_ns = 50000 };
	int64_t result = 0;
	struct sockaddr_un a;
	int fd = open_listener(&a);
	struct peer p = {
		.rt = rt, .scope = s, .a = &a, .size = 100, .nr_left = &nr_left
	};

	pthread_create(&p.thread, NULL, hang_up_main, &p);
	begin(rt, s,
	      MULTI(.op = LKDF_IO_ACCEPT, .fd = fd, .how = SOCK_CLOEXEC,
		    .buf = FEED(.kind = k, .u = &t, .nr_runs = 1)),
	      &result, NULL);
	lkdf_scope_wait(rt, s, -1);
	pthread_join(p.thread, NULL);
	is(p.nr_good, 100, "%s: what no task takes is closed", how);
	is(atomic_load(&t.nr), 200, "%s: short-lived peers are waves", how);
	is(atomic_load(&t.nr_beside), 0, "%s: no two at a time", how);
	lkdf_kind_put(k);
	lkdf_scope_put(s);
	close_listener(&a, fd);
}

static void one_operation_gives_many(struct lkdf *rt, const char *how)
{
	struct lkdf_graph *g = graph_of(rt, greet, 4, LKDF_SHARED);
	struct lkdf_scope *s = open_scope(rt, 0);
	uint64_t armed = 0, after = 0, waves = 0, waves_after = 0;
	struct tally t = { 0 };
	int64_t result = 0;
	struct sockaddr_un a;
	int fd = open_listener(&a), i, client;
	char byte;

	must(lkdf_stat(rt, "lkdf.io.armed", &armed));
	must(lkdf_stat(rt, "lkdf.io.waves", &waves));
	begin(rt, s,
	      MULTI(.op = LKDF_IO_ACCEPT, .fd = fd, .how = SOCK_CLOEXEC,
		    .buf = FEED(.graph = g, .u = &t)),
	      &result, NULL);
	for (i = 0; i < 100; i++) {
		client = open_client(&a);
		if (read(client, &byte, 1) != 1)
			atomic_fetch_add(&t.nr_wrong, 1);
		close(client);
	}
	lkdf_scope_cancel(rt, s, -ECANCELED);
	lkdf_scope_wait(rt, s, -1);
	must(lkdf_stat(rt, "lkdf.io.armed", &after));
	must(lkdf_stat(rt, "lkdf.io.waves", &waves_after));
	is(atomic_load(&t.nr_wrong), 0, "%s: one after the other", how);
	is(waves_after - waves, 100, "%s: 100 waves", how);
	ok(after - armed < 50, "%s: of few operations: %d", how,
	   (int)(after - armed));
	lkdf_scope_put(s);
	lkdf_graph_put(g);
	close_listener(&a, fd);
}

/* ---- bytes -------------------------------------------------------------- */

static void *send_main(void *arg)
{
	struct peer *p = arg;
	size_t at = 0, part = 1;
	ssize_t nr;

	while (at < p->size) {
		part = part * 7 % 9973 + 1;
		if (part > p->size - at)
			part = p->size - at;
		nr = write(p->fd, p->bytes + at, part);
		if (nr < 0)
			break;
		at += (size_t)nr;
	}
	close(p->fd);
	return NULL;
}

static void a_stream_comes_in_order(struct lkdf *rt, const char *how)
{
	static char from[600000], to[600000];
	struct lkdf_graph *g = graph_of(rt, append, 8, 0);
	struct tally t = { .to = to };
	struct lkdf_event done;
	int64_t result = 0;
	struct peer p = { .bytes = from, .size = sizeof(from) };
	int fd[2];

	io_fill(from, sizeof(from), 7);
	memset(to, 0, sizeof(to));
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	p.fd = fd[1];
	pthread_create(&p.thread, NULL, send_main, &p);
	begin(rt, NULL,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0], .len = 1024,
		    .buf = FEED(.graph = g, .u = &t, .nr_waiting = 10)),
	      &result, &done);
	is(lkdf_event_wait(done, -1), 0, "%s: a stream ends well", how);
	pthread_join(p.thread, NULL);
	is(atomic_load(&t.nr_bytes), (int)sizeof(from), "%s: all of it", how);
	ok(!memcmp(from, to, sizeof(from)), "%s: in order", how);
	is(atomic_load(&t.nr_wrong), 0, "%s: run after run", how);
	is(result, atomic_load(&t.nr), "%s: its result counts the waves", how);
	close(fd[0]);
	lkdf_graph_put(g);
}

static void *number_main(void *arg)
{
	struct peer *p = arg;
	int i;

	for (i = 0; i < (int)p->size; i++)
		p->nr_good += write(p->fd, &i, sizeof(i)) == sizeof(i);
	close(p->fd);
	return NULL;
}

/*
 * Messages, of which hardly any may wait, for runs that take their time; all
 * come, each by itself.
 */
static void slow_runs_lose_nothing(struct lkdf *rt, const char *how,
				   uint64_t max_tasks)
{
	struct lkdf_graph *g = graph_of(rt, append, 2, 0);
	struct lkdf_scope *s = open_scope(rt, max_tasks);
	static int to[150];
	struct tally t = { .to = (char *)to, .nap_ns = 200000 };
	struct peer p = { .size = 150 };
	int64_t result = 0;
	int fd[2], i, nr_wrong = 0;

	memset(to, 0xff, sizeof(to));
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd));
	p.fd = fd[1];
	pthread_create(&p.thread, NULL, number_main, &p);
	begin(rt, s,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0],
		    .buf = FEED(.graph = g, .u = &t, .nr_waiting = 3)),
	      &result, NULL);
	is(lkdf_scope_wait(rt, s, -1), 0, "%s: messages end well", how);
	pthread_join(p.thread, NULL);
	for (i = 0; i < 150; i++)
		nr_wrong += to[i] != i;
	is(nr_wrong, 0, "%s: none is lost, with room for %d", how,
	   (int)max_tasks);
	is(result, 150, "%s: nor split", how);
	close(fd[0]);
	lkdf_scope_put(s);
	lkdf_graph_put(g);
}

/* The last one of three cancels. */
static int look_at_sizes(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io_wave *w = lkdf_run_arg(c);
	struct peer *p = w->u;

	(void)arg;
	p->nr_good += w->result == (w->seq == 1 ? 256 : (int)w->seq / 2);
	if (w->seq == 2)
		lkdf_scope_cancel(p->rt, p->scope, -ECANCELED);
	return 0;
}

static void datagrams_may_be_empty_or_cut(struct lkdf *rt, const char *how)
{
	struct lkdf_graph *g = graph_of(rt, look_at_sizes, 1, 0);
	struct lkdf_scope *s = open_scope(rt, 0);
	struct peer p = { .rt = rt, .scope = s };
	char bytes[300] = "";
	int64_t result = 0;
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fd));
	must((int)send(fd[1], bytes, 0, 0));
	must((int)send(fd[1], bytes, 300, 0));
	must((int)send(fd[1], bytes, 1, 0));
	begin(rt, s,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0], .len = 256,
		    .buf = FEED(.graph = g, .u = &p)),
	      &result, NULL);
	lkdf_scope_wait(rt, s, -1);
	is(p.nr_good, 3, "%s: a datagram is a wave, empty or cut", how);
	close(fd[0]);
	close(fd[1]);
	lkdf_scope_put(s);
	lkdf_graph_put(g);
}

static void with(const char *options)
{
	struct lkdf *rt = io_open(options);

	a_graph_serves_all_who_connect(rt, options);
	nobody_takes_them(rt, options);
	a_stream_comes_in_order(rt, options);
	slow_runs_lose_nothing(rt, options, 0);
	slow_runs_lose_nothing(rt, options, 2);
	datagrams_may_be_empty_or_cut(rt, options);
	/* The thread that starts it would do all of it. */
	if (!strstr(options, "serial"))
		one_operation_gives_many(rt, options);
	lkdf_scope_wait(rt, NULL, -1);
	is(io_close(rt), 0, "%s: closed", options);
}

int main(void)
{
	size_t i;

	tap_start(120);
	io_begin();
	IO_EACH(i)
	with(io_backends[i]);
	io_end();
	return tap_end();
}
