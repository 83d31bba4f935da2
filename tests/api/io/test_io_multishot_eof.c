/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A feed of a stream ends with the stream, each time: with several workers,
 * too, where the kernel now and then does not tell a ring; and without rings
 * none is made. A stream of which the kernel never tells a ring ends as well.
 */
#include "tests/api/io/io_feed.h"

#define NR_PIECES 8
#define NR_AT_ONCE 16

static int nr_rings(void)
{
	char path[300], to[64];
	struct dirent *d;
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;
	ssize_t n;

	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		nr += strstr(to, "io_uring") != NULL;
	}
	closedir(dir);
	return nr;
}

struct stream {
	struct lkdf_io_feed feed;
	struct tally t;
	struct lkdf_event done;
	int64_t result;
	int fd[2];
};

static void start(struct lkdf *rt, struct lkdf_graph *g, struct stream *s)
{
	memset(s, 0, sizeof(*s));
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->fd));
	s->feed = (struct lkdf_io_feed){ .size = sizeof(s->feed),
					 .graph = g,
					 .u = &s->t,
					 .nr_runs = 1,
					 .nr_waiting = 2 };
	begin(rt, NULL,
	      MULTI(.op = LKDF_IO_RECV, .fd = s->fd[0], .buf = &s->feed),
	      &s->result, &s->done);
}

/* 1: it has ended, 0: it has not within a while. */
static int ends(struct stream *s)
{
	int rc = lkdf_event_wait(s->done, PATIENCE_NS);

	/* Nothing that it needs may go away. */
	if (rc == 1)
		return 0;
	close(s->fd[0]);
	return rc == 0 && s->result >= 0;
}

/* Several streams at a time, written bit by bit and closed. */
static int run(struct lkdf *rt, struct lkdf_graph *g)
{
	struct stream s[NR_AT_ONCE];
	static int nr_calls;
	int i, j, nr = 0;

	nr_calls++;
	for (i = 0; i < NR_AT_ONCE; i++)
		start(rt, g, &s[i]);
	for (j = 0; j < NR_PIECES; j++) {
		for (i = 0; i < NR_AT_ONCE; i++)
			if (write(s[i].fd[1], "piece", 5) != 5)
				exit(1);
		/* Now and then they are all asleep. */
		if (j % 4 == nr_calls % 4)
			api_nap_ns(1000 * (nr_calls % 100));
	}
	for (i = 0; i < NR_AT_ONCE; i++)
		close(s[i].fd[1]);
	for (i = 0; i < NR_AT_ONCE; i++) {
		if (!ends(&s[i])) {
			printf("# a stream does not end\n");
			exit(1);
		}
		nr++;
	}
	return nr;
}

static void each_stream_ends(const char *options, int nr_runs)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_graph *g = graph_of(rt, just_count, 8, LKDF_SHARED);
	int i, nr = 0;

	for (i = 0; i < nr_runs; i++)
		nr += run(rt, g);
	is(nr, nr_runs * NR_AT_ONCE, "%s: all streams have ended", options);
	if (strstr(options, "threads"))
		is(nr_rings(), 0, "%s: there is no ring", options);
	lkdf_graph_put(g);
	is(io_close(rt), 0, "%s: closed", options);
}

/* Until the operation has given so many waves: it goes on then. */
static void await_waves(const struct stream *s, int nr)
{
	while (atomic_load(&s->t.nr) < nr)
		api_nap_ns(100000);
}

/* Another stream takes the descriptor, with bytes and an end. */
static int replace_stream(const struct stream *s)
{
	int fd[2], first;

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	must(first = fcntl(s->fd[0], F_DUPFD_CLOEXEC, 0));
	must(dup2(fd[0], s->fd[0]));
	close(fd[0]);
	if (write(fd[1], "untold", 6) != 6)
		exit(1);
	close(fd[1]);
	return first;
}

/*
 * The kernel looks at a descriptor when the operation is given. Once the
 * descriptor is another stream, the operation stays with the first one, which
 * says nothing any more, and no completion tells of bytes, and then of the end.
 */
static void an_untold_end_is_found(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_graph *g = graph_of(rt, just_count, 8, LKDF_SHARED);
	int first = -1, has_ended;
	struct stream s;

	start(rt, g, &s);
	if (write(s.fd[1], "piece", 5) != 5)
		exit(1);
	await_waves(&s, 1);
	if (nr_rings())
		first = replace_stream(&s);
	else
		skip("a stream of which no completion tells", "no rings here");
	if (first < 0)
		close(s.fd[1]);
	has_ended = ends(&s);
	if (first >= 0) {
		ok(has_ended, "%s: a stream ends that is not told of", options);
		is(atomic_load(&s.t.nr), 2, "%s: nor are bytes lost", options);
		close(first);
		close(s.fd[1]);
	}
	/* Nothing that it needs may go away. */
	if (!has_ended)
		exit(1);
	lkdf_graph_put(g);
	is(io_close(rt), 0, "%s: closed", options);
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 25;

	tap_start(300);
	io_begin();
	an_untold_end_is_found("workers=1");
	an_untold_end_is_found("workers=2");
	each_stream_ends("workers=2,io=threads", nr);
	each_stream_ends("workers=4", nr);
	each_stream_ends("workers=2", nr);
	each_stream_ends("workers=8", nr);
	io_end();
	return tap_end();
}
