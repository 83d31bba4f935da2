/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How operations end that come again and again: by errors, cancels and
 * deadlines, at any time, with what came and nobody took closed; and those that
 * make no sense.
 */
#include "tests/api/io/io_feed.h"

#include <sys/resource.h>

/* Descriptors of this process that are sockets. */
static int count_sockets(void)
{
	char path[300], to[64];
	struct dirent *d;
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;
	ssize_t n;

	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		n = readlink(path, to, sizeof(to));
		nr += n > 7 && !strncmp(to, "socket:", 7);
	}
	closedir(dir);
	return nr;
}

static int keep(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io_wave *w = arg;
	struct tally *t = w->u;
	int fd = lkdf_io_take(w);

	if (t->nr_fds < 64)
		t->fd[t->nr_fds++] = fd;
	if (atomic_fetch_add(&t->nr, 1) + 1 == t->nr_all)
		lkdf_scope_cancel(lkdf_runtime(c), t->scope, -ECANCELED);
	return 0;
}

/* So many more descriptors, and no others. */
static void limit_files(rlim_t nr, struct rlimit *old)
{
	struct rlimit now;
	int fd = dup(0);

	close(fd);
	must(getrlimit(RLIMIT_NOFILE, old));
	now = *old;
	now.rlim_cur = (rlim_t)fd + nr;
	must(setrlimit(RLIMIT_NOFILE, &now));
}

static void accept_all(struct lkdf *rt, int fd, struct tally *t,
		       int64_t *result)
{
	struct lkdf_kind *k = api_kind(rt, "wave", keep, 0, 0);

	t->scope = open_scope(rt, 0);
	begin(rt, t->scope,
	      MULTI(.op = LKDF_IO_ACCEPT, .fd = fd, .how = SOCK_CLOEXEC,
		    .buf = FEED(.kind = k, .u = t, .nr_runs = 1)),
	      result, NULL);
	lkdf_kind_put(k);
	lkdf_scope_wait(rt, t->scope, -1);
	lkdf_scope_put(t->scope);
}

/* It ends the operation; who was not accepted is there for the next one. */
static void there_may_be_no_descriptors(struct lkdf *rt, const char *how)
{
	struct tally t = { .nr_all = 8 };
	int64_t result = 0;
	struct sockaddr_un a;
	int client[8], fd = open_listener(&a), i, before;
	struct rlimit old;

	for (i = 0; i < 8; i++)
		client[i] = open_client(&a);
	limit_files(3, &old);
	accept_all(rt, fd, &t, &result);
	setrlimit(RLIMIT_NOFILE, &old);
	is(result, -EMFILE, "%s: without descriptors an accept ends", how);
	before = atomic_load(&t.nr);
	ok(before <= 3, "%s: after %d of them", how, before);
	accept_all(rt, fd, &t, &result);
	is(atomic_load(&t.nr), 8, "%s: the next one gets the others", how);
	for (i = 0; i < t.nr_fds; i++)
		close(t.fd[i]);
	for (i = 0; i < 8; i++)
		close(client[i]);
	close_listener(&a, fd);
}

static void *cancel_main(void *arg)
{
	struct peer *p = arg;

	api_nap_ns((long)p->size);
	lkdf_scope_cancel(p->rt, p->scope, -ECANCELED);
	return NULL;
}

/* Connections come, wait, and are taken while it is cancelled. */
static void cancel_at_any_time(struct lkdf *rt, struct lkdf_graph *g, int i,
			       int64_t *result)
{
	struct tally t = { .nap_ns = i % 3 ? 0 : 100000 };
	struct lkdf_scope *s = open_scope(rt, 0);
	struct peer p = { .rt = rt, .scope = s, .size = (size_t)i * 5000 };
	struct sockaddr_un a;
	int client[20], fd = open_listener(&a), j;

	for (j = 0; j < 10; j++)
		client[j] = open_client(&a);
	pthread_create(&p.thread, NULL, cancel_main, &p);
	begin(rt, s,
	      MULTI(.op = LKDF_IO_ACCEPT, .fd = fd, .how = SOCK_CLOEXEC,
		    .buf = FEED(.graph = g, .u = &t, .nr_waiting = 4)),
	      result, NULL);
	for (; j < 20; j++)
		client[j] = open_client(&a);
	lkdf_scope_wait(rt, s, -1);
	pthread_join(p.thread, NULL);
	for (j = 0; j < 20; j++)
		close(client[j]);
	close_listener(&a, fd);
	lkdf_scope_put(s);
}

static void a_cancel_leaves_no_descriptor(struct lkdf *rt, const char *how)
{
	struct lkdf_graph *g = graph_of(rt, just_count, 2, LKDF_SHARED);
	int nr_wrong = 0, nr_fds, i;
	int64_t result;

	nr_fds = count_sockets();
	for (i = 0; i < 60; i++) {
		result = 0;
		cancel_at_any_time(rt, g, i, &result);
		/* Cancelled before it began: nobody has told. */
		nr_wrong += result != -ECANCELED && result != 0;
	}
	is(nr_wrong, 0, "%s: cancelled at any time", how);
	is(count_sockets(), nr_fds, "%s: what nobody took is closed", how);
	lkdf_graph_put(g);
}

static void a_deadline_ends_it(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	struct lkdf_graph *g = graph_of(rt, append, 2, 0);
	char to[16] = "";
	struct tally t = { .to = to };
	struct lkdf_event done;
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	must((int)write(fd[1], "bytes", 5));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k,
			      .arg = MULTI(.op = LKDF_IO_RECV, .fd = fd[0],
					   .buf = FEED(.graph = g, .u = &t)),
			      .deadline_ns = 20000000),
			 &done));
	is(lkdf_event_wait(done, -1), -ETIME, "%s: a deadline ends it", how);
	lkdf_scope_wait(rt, NULL, -1);
	close(fd[0]);
	close(fd[1]);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void a_runtime_stays_open_for_it(struct lkdf *rt, const char *how)
{
	struct lkdf_graph *g = graph_of(rt, just_count, 2, 0);
	struct lkdf_scope *s = open_scope(rt, 0);
	struct tally t = { 0 };
	int64_t result = 0;
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	begin(rt, s,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0],
		    .buf = FEED(.graph = g, .u = &t)),
	      &result, NULL);
	is(lkdf_close(rt), -EBUSY, "%s: no close while it is under way", how);
	lkdf_scope_cancel(rt, s, -ECANCELED);
	lkdf_scope_wait(rt, s, -1);
	close(fd[0]);
	close(fd[1]);
	lkdf_scope_put(s);
	lkdf_graph_put(g);
}

/* Somebody else has all the frames: the wave waits until there is one. */
static void frames_may_be_others(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *wait =
		api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	struct lkdf_kind *k = api_kind(rt, "wave", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct gate gate = { 0 };
	struct lkdf_event run, done;
	int64_t result = 0;
	int fd[2];

	must(lkdf_graph_add(g, wait, &gate, NULL, 0));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &run));
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	must((int)write(fd[1], "x", 1));
	close(fd[1]);
	begin(rt, NULL,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0], .buf = FEED(.graph = g)),
	      &result, &done);
	is(lkdf_event_wait(done, 3000000), 1, "%s: no frame is free", how);
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(run, -1), 0, "%s: the other's run ends", how);
	is(lkdf_event_wait(done, -1), 0, "%s: and the wave has its turn", how);
	is(result, 1, "%s: once", how);
	close(fd[0]);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(wait);
}

static void what_makes_no_sense_is_refused(struct lkdf *rt, const char *how)
{
	struct lkdf_graph *g = graph_of(rt, just_count, 1, 0);
	struct lkdf_graph *open = api_graph(rt, 1);
	struct lkdf_kind *k = api_kind(rt, "wave", just_count, 0, 0);
	struct lkdf_kind *copies = api_kind(rt, "copies", just_count, 8, 0);
	struct lkdf_io_feed feed = { .size = sizeof(feed), .graph = g };
	const struct {
		const char *why;
		struct lkdf_io io;
	} row[] = {
		{ "no feed", *MULTI(.op = LKDF_IO_ACCEPT) },
		{ "a read", *MULTI(.op = LKDF_IO_READ, .buf = &feed) },
		{ "a size that is no power of two",
		  *MULTI(.op = LKDF_IO_RECV, .buf = &feed, .len = 1000) },
		{ "flags of recv",
		  *MULTI(.op = LKDF_IO_RECV, .buf = &feed, .how = MSG_PEEK) },
		{ "an empty feed", *MULTI(.op = LKDF_IO_RECV, .buf = FEED(0)) },
		{ "both", *MULTI(.op = LKDF_IO_RECV,
				 .buf = FEED(.graph = g, .kind = k)) },
		{ "a kind that copies",
		  *MULTI(.op = LKDF_IO_RECV, .buf = FEED(.kind = copies)) },
		{ "a graph that is not sealed",
		  *MULTI(.op = LKDF_IO_RECV, .buf = FEED(.graph = open)) },
		{ "flags of a feed",
		  *MULTI(.op = LKDF_IO_RECV,
			 .buf = FEED(.graph = g, .flags = 1)) },
	};
	struct lkdf_kind *io = io_kind(rt, NULL, 0);
	struct lkdf_event done;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		rc = lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = io, .arg = &row[i].io),
				 &done);
		rc = rc ? rc : lkdf_event_wait(done, -1);
		is(rc, -EINVAL, "%s: refused: %s", how, row[i].why);
	}
	lkdf_kind_put(io);
	lkdf_kind_put(copies);
	lkdf_kind_put(k);
	lkdf_graph_put(open);
	lkdf_graph_put(g);
}

static void with(const char *options)
{
	struct lkdf *rt = io_open(options);

	there_may_be_no_descriptors(rt, options);
	a_cancel_leaves_no_descriptor(rt, options);
	a_deadline_ends_it(rt, options);
	what_makes_no_sense_is_refused(rt, options);
	/* The thread that starts it would do all of it. */
	if (!strstr(options, "serial")) {
		a_runtime_stays_open_for_it(rt, options);
		frames_may_be_others(rt, options);
	}
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
