/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rings that a filter forbids after they were made, as a service's that locks
 * itself up when it has started; and threads that are not to be had. Threads
 * take over, and the reason is told.
 */
#include "tests/api/io/io_feed.h"
#include "tests/api/pages.h"

#include <sys/resource.h>

#define NR_TIMEOUTS 64

static const unsigned all_calls[] = {
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_io_uring_setup,
};

/* The line "uring ..." of the runtime's capabilities. */
static const char *uring_line(struct lkdf *rt)
{
	static char text[4096];
	ssize_t n;
	char *at;
	int fd[2];

	must(pipe2(fd, O_NONBLOCK | O_CLOEXEC));
	must(lkdf_describe(rt, "caps", "text", fd[1]));
	n = read(fd[0], text, sizeof(text) - 1);
	close(fd[0]);
	close(fd[1]);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nuring ");
	return at ? strtok(at + 1, "\n") : "";
}

/* Each worker makes its ring. */
static int timeouts(struct lkdf *rt)
{
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	struct lkdf_io io = { .size = sizeof(io),
			      .op = LKDF_IO_TIMEOUT,
			      .off = 100000 };
	struct lkdf_scope *s = open_scope(rt, 0);
	int i, rc;

	for (i = 0; i < NR_TIMEOUTS; i++)
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &io),
				 NULL));
	rc = lkdf_scope_wait(rt, s, -1);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	return rc;
}

static void files_go_on(struct lkdf *rt)
{
	char from[9000], to[9000];
	int fd;

	io_fill(from, sizeof(from), 5);
	fd = io_file("refused", "", 0);
	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from,
			  .len = sizeof(from))),
	   (int)sizeof(from), "a file is written");
	is(io_call(rt, IO(.op = LKDF_IO_FSYNC, .fd = fd)), 0, "is synced");
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to,
			  .len = sizeof(to))),
	   (int)sizeof(to), "and read");
	ok(!memcmp(from, to, sizeof(to)), "with the same bytes");
	close(fd);
}

/* A socket whose other end is written and closed: all of it comes. */
static void waves_go_on(struct lkdf *rt)
{
	char text[] = "waves of what comes";
	char to[64] = "";
	struct tally t = { .to = to };
	struct lkdf_graph *g = graph_of(rt, append, 1, 0);
	struct lkdf_event done;
	int64_t result;
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	begin(rt, NULL,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0],
		    .buf = FEED(.graph = g, .u = &t)),
	      &result, &done);
	if (write(fd[1], text, sizeof(text)) != sizeof(text))
		exit(1);
	close(fd[1]);
	is(lkdf_event_wait(done, -1), 0, "a feed ends");
	ok(!strcmp(to, text), "with all that came");
	close(fd[0]);
	lkdf_graph_put(g);
}

/* One that waits is begun and cancelled with its scope. */
static void cancels_go_on(struct lkdf *rt)
{
	struct lkdf_scope *s = open_scope(rt, 0);
	struct lkdf_event done;
	int64_t result = 0;
	int fd[2], rc;
	char byte;

	must(pipe2(fd, O_CLOEXEC));
	begin(rt, s,
	      IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = &byte, .len = 1,
		 .off = -1),
	      &result, &done);
	api_nap_ns(1000000);
	lkdf_scope_cancel(rt, s, -ECANCELED);
	rc = lkdf_event_wait(done, -1);
	lkdf_scope_wait(rt, s, -1);
	/* Its function hears of it, if it had begun. */
	is(rc ? rc : result, -ECANCELED, "what waits is cancelled");
	lkdf_scope_put(s);
	close(fd[0]);
	close(fd[1]);
}

static void all_goes_on(struct lkdf *rt)
{
	is(timeouts(rt), 0, "timeouts end");
	files_go_on(rt);
	waves_go_on(rt);
	cancels_go_on(rt);
	is(timeouts(rt), 0, "timeouts end once more");
}

static bool has_rings(struct lkdf *rt)
{
	return lkdf_caps(rt) & LKDF_CAP_URING;
}

static void a_filter_of_one_call_is_found_at_open(void)
{
	struct lkdf *rt;

	if (forbid_call(SYS_io_uring_enter, EPERM)) {
		skip("a filter", "none can be set here");
		return;
	}
	rt = api_open("workers=2");
	ok(!has_rings(rt), "there are no rings");
	has(uring_line(rt), "EPERM", "the capabilities say why");
	all_goes_on(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* Under way when the filter comes: a read that ends later. */
static void late(const char *options, unsigned nr_calls)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_event done;
	int64_t result = 0;
	unsigned i;
	char byte;
	int fd[2];

	if (!has_rings(rt)) {
		skip(options, "no io_uring here");
		must(lkdf_close(rt));
		return;
	}
	is(timeouts(rt), 0, "%s: rings are made", options);
	must(pipe2(fd, O_CLOEXEC));
	begin(rt, NULL,
	      IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = &byte, .len = 1,
		 .off = -1),
	      &result, &done);
	api_nap_ns(2000000);
	for (i = 0; i < nr_calls; i++)
		must(forbid_call_to_all(all_calls[i], EPERM));
	all_goes_on(rt);
	has(uring_line(rt), "uses threads: EPERM", "the capabilities say it");
	if (write(fd[1], "x", 1) != 1)
		exit(1);
	is(lkdf_event_wait(done, -1), 0, "what was under way ends");
	is(result, 1, "as it would have");
	close(fd[0]);
	close(fd[1]);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void a_late_filter_of_one_call(void)
{
	late("workers=2", 1);
}

static void a_late_filter_of_all_calls(void)
{
	late("workers=3", 3);
}

static void a_late_filter_of_one_worker(void)
{
	late("workers=1", 3);
}

/* A user who has no other processes, so that the limit counts ours. */
static void threads_that_are_not_to_be_had(int nr)
{
	struct lkdf *rt = api_open("workers=1,io=threads,trace=\"\"");
	int now = api_nr_entries("/proc/self/task"), rc;
	struct rlimit l = { (rlim_t)(now + nr), (rlim_t)(now + nr) };
	struct lkdf_kind *k = NULL;
	uid_t uid = 60000 + (uid_t)getpid() % 5000;

	if (setresuid(uid, uid, uid) || setrlimit(RLIMIT_NPROC, &l)) {
		skip("a limit of threads", "not root");
		must(lkdf_close(rt));
		return;
	}
	rc = lkdf_kind_create_io(rt, ATTR(lkdf_kind_attr, .name = "io"), &k);
	is(rc, nr < 2 ? -EAGAIN : 0, "%d more threads: the kind is %s", nr,
	   nr < 2 ? "refused" : "made");
	if (!rc) {
		is(timeouts(rt), 0, "and its tasks end well");
		cancels_go_on(rt);
		lkdf_kind_put(k);
	} else {
		has(lkdf_errmsg(), "cannot start", "by name");
	}
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void without_a_thread(void)
{
	threads_that_are_not_to_be_had(0);
}

static void with_one_thread(void)
{
	threads_that_are_not_to_be_had(1);
}

static void with_two_threads(void)
{
	threads_that_are_not_to_be_had(2);
}

int main(void)
{
	tap_start(200);
	io_begin();
	pages_in_child(a_filter_of_one_call_is_found_at_open);
	pages_in_child(a_late_filter_of_one_call);
	pages_in_child(a_late_filter_of_all_calls);
	pages_in_child(a_late_filter_of_one_worker);
	pages_in_child(without_a_thread);
	pages_in_child(with_one_thread);
	pages_in_child(with_two_threads);
	io_end();
	return tap_end();
}
