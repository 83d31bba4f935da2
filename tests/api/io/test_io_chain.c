/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Chains of operations in a graph: a ring's kernel gets them together, and what
 * comes of them is what comes where each is started by itself, whatever fails,
 * comes in parts or is cancelled between them.
 */
#include "tests/api/io_fault.h"

#define MAX_STEPS 6
#define NR_RACES 50

/* A chain; the last one's result goes to result. */
struct chain {
	struct lkdf *rt;
	struct lkdf_kind *plain, *noted;
	struct lkdf_graph *g;
	int64_t result;
};

/* Its tasks of so many runs go side by side. */
static struct lkdf_kind *make_kind(struct lkdf *rt, lkdf_fn fn,
				   uint32_t arg_size, uint32_t width)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_io(rt,
				 ATTR(lkdf_kind_attr, .name = "io", .fn = fn,
				      .arg_size = arg_size,
				      .width = width > 1 ? width : 0,
				      .flags = width > 1 ? LKDF_SHARED : 0),
				 &k));
	return k;
}

static void open_chain(struct chain *c, const char *options, uint32_t inflight)
{
	c->rt = io_open(options);
	c->plain = make_kind(c->rt, NULL, 0, inflight);
	c->noted = make_kind(c->rt, io_note, sizeof(struct io_call), inflight);
	c->g = api_graph(c->rt, inflight);
	c->result = INT64_MIN;
}

static void add(struct chain *c, const struct lkdf_io *step, int nr)
{
	struct io_call last = { .io = step[nr - 1], .result = &c->result };
	int i, task, before = -1;

	for (i = 0; i < nr; i++) {
		task = i < nr - 1
			       ? lkdf_graph_add(c->g, c->plain, &step[i], NULL,
						0)
			       : lkdf_graph_add(c->g, c->noted, &last, NULL, 0);
		must(task);
		if (before >= 0)
			must(lkdf_graph_order(c->g, before, task));
		before = task;
	}
}

static void close_chain(struct chain *c, const char *options)
{
	lkdf_graph_put(c->g);
	lkdf_kind_put(c->plain);
	lkdf_kind_put(c->noted);
	is(io_close(c->rt), 0, "%s: it closes", options);
}

static uint64_t nr_linked(const struct chain *c)
{
	uint64_t nr = 0;

	must(lkdf_stat(c->rt, "lkdf.io.linked", &nr));
	return nr;
}

static void check_linked(const struct chain *c, const char *options,
			 uint64_t want)
{
	if (!(lkdf_caps(c->rt) & LKDF_CAP_URING))
		want = 0;
	is(nr_linked(c), want, "%s: %llu were linked", options,
	   (unsigned long long)want);
}

static off_t size_of(int fd)
{
	struct stat st;

	must(fstat(fd, &st));
	return st.st_size;
}

static bool has_text(int fd, const char *text)
{
	char at[64] = "";

	return pread(fd, at, sizeof(at) - 1, 0) == (ssize_t)strlen(text) &&
	       !strcmp(at, text);
}

static struct lkdf_io write_to(int fd, char *text, off_t off)
{
	return *IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = text,
		   .len = (uint32_t)strlen(text), .off = off);
}

static struct lkdf_io read_pipe(int fd, char *to)
{
	return *IO(.op = LKDF_IO_READ, .fd = fd, .buf = to, .len = 4,
		   .off = -1);
}

/* ---- it goes well ------------------------------------------------------- */

static void all_are_done_in_order(const char *options)
{
	int fd = io_file("order", "", 0), i, nr_good = 0;
	struct iovec iov = { "cdef", 4 };
	struct lkdf_io step[] = {
		write_to(fd, "aaaaaaaa", 0),
		write_to(fd, "bbbbbb", 1),
		*IO(.op = LKDF_IO_WRITEV, .fd = fd, .buf = &iov, .len = 1,
		    .off = 2),
		*IO(.op = LKDF_IO_FSYNC, .fd = fd, .how = 1),
	};
	struct chain c;

	open_chain(&c, options, 1);
	add(&c, step, 4);
	must(lkdf_graph_seal(c.g, NULL));
	for (i = 0; i < 8; i++) {
		must(ftruncate(fd, 0));
		nr_good += !api_run(c.g, NULL, NULL) && !c.result &&
			   has_text(fd, "abcdefba");
		c.result = INT64_MIN;
	}
	is(nr_good, 8, "%s: all are done in order", options);
	check_linked(&c, options, 24);
	close_chain(&c, options);
	close(fd);
}

static atomic_int nr_ones;

static int count_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ones, lkdf_io_result(c) == 1);
	return 0;
}

/* Two chains in each, several runs in flight, again and again. */
static void many_runs_in_flight(const char *options)
{
	int fd = io_file("flight", "", 0), i, nr_good = 0;
	struct lkdf_event done[8];
	struct lkdf_io step[MAX_STEPS];
	struct chain c;

	open_chain(&c, options, 4);
	lkdf_kind_put(c.noted);
	c.noted = make_kind(c.rt, count_one, sizeof(struct io_call), 4);
	atomic_store(&nr_ones, 0);
	for (i = 0; i < MAX_STEPS; i++)
		step[i] = write_to(fd, "x", i);
	add(&c, step, MAX_STEPS);
	add(&c, step, MAX_STEPS);
	must(lkdf_graph_seal(c.g, NULL));
	for (i = 0; i < 8; i++)
		must(lkdf_graph_run(c.g, NULL, ATTR(lkdf_run, .times = 5),
				    &done[i]));
	for (i = 0; i < 8; i++)
		nr_good += !lkdf_event_wait(done[i], -1);
	is(nr_good, 8, "%s: many runs in flight", options);
	is(atomic_load(&nr_ones), 8 * 5 * 2, "%s: all went well", options);
	check_linked(&c, options, 8 * 5 * 2 * (MAX_STEPS - 1));
	close_chain(&c, options);
	close(fd);
}

static void a_fork_is_no_chain(const char *options)
{
	int fd = io_file("fork", "", 0), i, task[3];
	struct lkdf_io step = write_to(fd, "a", 0);
	struct chain c;

	open_chain(&c, options, 1);
	for (i = 0; i < 3; i++)
		task[i] = must(lkdf_graph_add(c.g, c.plain, &step, NULL, 0));
	must(lkdf_graph_order(c.g, task[0], task[1]));
	must(lkdf_graph_order(c.g, task[0], task[2]));
	must(lkdf_graph_seal(c.g, NULL));
	is(api_run(c.g, NULL, NULL), 0, "%s: a fork goes well", options);
	check_linked(&c, options, 0);
	close_chain(&c, options);
	close(fd);
}

static void a_file_is_closed_behind(const char *options)
{
	int fd = io_file("close", "", 0), other = dup(fd);
	struct stat file;
	struct lkdf_io step[] = {
		write_to(other, "abc", 0),
		*IO(.op = LKDF_IO_CLOSE, .fd = other),
		write_to(fd, "def", 3),
	};
	struct chain c;

	open_chain(&c, options, 1);
	add(&c, step, 3);
	must(lkdf_graph_seal(c.g, NULL));
	is(api_run(c.g, NULL, NULL), 0, "%s: write, close, write", options);
	ok(!fstat(fd, &file) && !io_is_still(other, &file), "%s: it is closed",
	   options);
	ok(has_text(fd, "abcdef"), "%s: both are written", options);
	close_chain(&c, options);
	close(fd);
}

/* ---- in parts ----------------------------------------------------------- */

struct writer {
	pthread_t thread;
	int fd[2];
};

static void *write_in_parts(void *arg)
{
	struct writer *w = arg;

	must(write(w->fd[1], "ab", 2) == 2 ? 0 : -EIO);
	io_until_empty(w->fd[0]);
	must(write(w->fd[1], "cd", 2) == 2 ? 0 : -EIO);
	return NULL;
}

/* A short read by who leads (or follows) ends the kernel's part. */
static void parts_are_joined(const char *options, bool leads)
{
	int fd = io_file("parts", "", 0);
	struct lkdf_io step[3];
	char bytes[5] = "";
	struct writer w;
	struct chain c;

	must(pipe2(w.fd, O_CLOEXEC));
	open_chain(&c, options, 1);
	step[0] = write_to(fd, "0123456789", 0);
	step[1] = read_pipe(w.fd[0], bytes);
	step[2] = write_to(fd, "----", leads ? 0 : 3);
	step[2].buf = bytes;
	add(&c, leads ? step + 1 : step, leads ? 2 : 3);
	must(lkdf_graph_seal(c.g, NULL));
	pthread_create(&w.thread, NULL, write_in_parts, &w);
	is(api_run(c.g, NULL, NULL), 0, "%s: parts are joined, %d", options,
	   leads);
	pthread_join(w.thread, NULL);
	is(c.result, 4, "%s: and written", options);
	ok(has_text(fd, leads ? "abcd" : "012abcd789"), "%s: where they belong",
	   options);
	ok(!strcmp(bytes, "abcd"), "%s: as they were", options);
	close_chain(&c, options);
	close(w.fd[0]);
	close(w.fd[1]);
	close(fd);
}

/* ---- failures ----------------------------------------------------------- */

/* The chain's error is want, of task id; nothing behind it was done. */
static void fails(const char *options, const struct lkdf_io *step, int nr,
		  int want, int id)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *scope = NULL;
	struct chain c;

	open_chain(&c, options, 1);
	add(&c, step, nr);
	must(lkdf_graph_seal(c.g, NULL));
	must(lkdf_scope_create(c.rt, NULL, &scope));
	is(api_run(c.g, scope, NULL), want, "%s: task %d fails", options, id);
	lkdf_scope_wait(c.rt, scope, -1);
	must(lkdf_scope_error(c.rt, scope, &e));
	is(e.id, id, "%s: and is named", options);
	is(e.nr_skipped, nr - 1 - id, "%s: others are skipped", options);
	is(c.result, INT64_MIN, "%s: no function was called", options);
	lkdf_scope_put(scope);
	close_chain(&c, options);
}

static void failures_stop_it(const char *options)
{
	int fd = io_file("fail", "", 0);
	int bad = open(io_path("fail"), O_RDONLY | O_CLOEXEC);
	struct lkdf_io step[4];
	char nowhere[PATH_MAX];

	step[0] = write_to(bad, "a", 0);
	step[1] = write_to(fd, "b", 0);
	fails(options, step, 2, -EBADF, 0);
	step[0] = write_to(fd, "c", 0);
	step[1] = write_to(bad, "d", 1);
	step[2] = write_to(fd, "e", 2);
	step[3] = write_to(fd, "f", 3);
	fails(options, step, 4, -EBADF, 1);
	/* The kernel goes on behind one that fails so. */
	snprintf(nowhere, sizeof(nowhere), "%s", io_path("nowhere/at/all"));
	step[1] =
		*IO(.op = LKDF_IO_UNLINKAT, .dirfd = AT_FDCWD, .path = nowhere);
	fails(options, step, 4, -ENOENT, 1);
	ok(has_text(fd, "c"), "%s: nothing was done behind", options);
	close(bad);
	close(fd);
}

static void the_last_sees_its_error(const char *options)
{
	int fd = io_file("last", "", 0), ends[2];
	struct lkdf_io step[] = {
		write_to(fd, "a", 0),
		*IO(.op = LKDF_IO_FSYNC),
	};
	struct chain c;

	must(pipe2(ends, O_CLOEXEC));
	step[1].fd = ends[0];
	open_chain(&c, options, 1);
	add(&c, step, 2);
	must(lkdf_graph_seal(c.g, NULL));
	is(api_run(c.g, NULL, NULL), 0, "%s: the function takes it", options);
	is(c.result, -EINVAL, "%s: and has seen it", options);
	close_chain(&c, options);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* ---- cancels ------------------------------------------------------------ */

/* The first waits for what never comes. */
static void it_is_given_up(const char *options, bool has_deadline)
{
	int fd = io_file("wait", "", 0), ends[2];
	struct lkdf_scope *scope = NULL;
	struct lkdf_event done;
	struct lkdf_io step[2];
	char bytes[4];
	struct chain c;

	must(pipe2(ends, O_CLOEXEC));
	step[0] = read_pipe(ends[0], bytes);
	step[1] = write_to(fd, "a", 0);
	open_chain(&c, options, 1);
	add(&c, step, 2);
	must(lkdf_graph_seal(c.g, NULL));
	must(lkdf_scope_create(c.rt, NULL, &scope));
	must(lkdf_graph_run(c.g, scope,
			    ATTR(lkdf_run,
				 .deadline_ns = has_deadline ? 5000000 : 0),
			    &done));
	if (!has_deadline) {
		api_nap_ns(2000000);
		lkdf_scope_cancel(c.rt, scope, -ECANCELED);
	}
	is(lkdf_event_wait(done, -1), has_deadline ? -ETIME : -ECANCELED,
	   "%s: it is given up", options);
	is(size_of(fd), 0, "%s: nothing is written", options);
	is(c.result, INT64_MIN, "%s: no function is called", options);
	lkdf_scope_wait(c.rt, scope, -1);
	lkdf_scope_put(scope);
	close_chain(&c, options);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* Who follows has read a part and waits for the rest. */
static void a_follower_is_cancelled(const char *options)
{
	int fd = io_file("wait", "", 0), ends[2];
	struct lkdf_scope *scope = NULL;
	struct lkdf_event done;
	struct lkdf_io step[2];
	char bytes[4] = "";
	struct chain c;

	must(pipe2(ends, O_CLOEXEC));
	must(write(ends[1], "a", 1) == 1 ? 0 : -EIO);
	step[0] = write_to(fd, "b", 0);
	step[1] = read_pipe(ends[0], bytes);
	open_chain(&c, options, 1);
	add(&c, step, 2);
	must(lkdf_graph_seal(c.g, NULL));
	must(lkdf_scope_create(c.rt, NULL, &scope));
	must(lkdf_graph_run(c.g, scope, NULL, &done));
	io_until_empty(ends[0]);
	lkdf_scope_cancel(c.rt, scope, -ECANCELED);
	lkdf_event_wait(done, -1);
	is(c.result, 1, "%s: a follower is cancelled after a byte", options);
	ok(has_text(fd, "b"), "%s: behind what was done", options);
	lkdf_scope_wait(c.rt, scope, -1);
	lkdf_scope_put(scope);
	close_chain(&c, options);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* What the kernel has done a function hears of. */
static void a_cancel_hides_nothing(const char *options)
{
	int fd = io_file("race", "", 0), i, nr_done = 0, nr_bad = 0;
	static char large[1 << 16];
	struct lkdf_scope *scope;
	struct lkdf_event done;
	struct lkdf_io step[3];
	struct chain c;

	open_chain(&c, options, 1);
	step[0] = *IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = large,
		      .len = sizeof(large) - 1);
	step[1] = write_to(fd, "b", sizeof(large) - 1);
	step[2] = write_to(fd, "c", sizeof(large));
	add(&c, step, 3);
	must(lkdf_graph_seal(c.g, NULL));
	for (i = 0; i < NR_RACES; i++) {
		must(ftruncate(fd, 0));
		c.result = INT64_MIN;
		must(lkdf_scope_create(c.rt, NULL, &scope));
		must(lkdf_graph_run(c.g, scope, NULL, &done));
		api_nap_ns(i * 5000);
		lkdf_scope_cancel(c.rt, scope, -ECANCELED);
		lkdf_event_wait(done, -1);
		lkdf_scope_wait(c.rt, scope, -1);
		lkdf_scope_put(scope);
		nr_done += c.result == 1;
		nr_bad +=
			(size_of(fd) > (off_t)sizeof(large)) != (c.result == 1);
	}
	is(nr_bad, 0, "%s: a cancel hides nothing, %d went through", options,
	   nr_done);
	close_chain(&c, options);
	close(fd);
}

int main(void)
{
	static const char *const name[] = { "order", "flight", "fork",
					    "close", "parts",  "fail",
					    "last",  "wait",   "race" };
	size_t i;

	tap_start(120);
	io_begin();
	IO_EACH(i)
	{
		all_are_done_in_order(io_backends[i]);
		many_runs_in_flight(io_backends[i]);
		a_fork_is_no_chain(io_backends[i]);
		a_file_is_closed_behind(io_backends[i]);
		parts_are_joined(io_backends[i], true);
		parts_are_joined(io_backends[i], false);
		failures_stop_it(io_backends[i]);
		the_last_sees_its_error(io_backends[i]);
		/* Serial mode waits where it starts an operation. */
		if (strcmp(io_backends[i], "serial=yes")) {
			it_is_given_up(io_backends[i], false);
			it_is_given_up(io_backends[i], true);
			a_follower_is_cancelled(io_backends[i]);
		}
		a_cancel_hides_nothing(io_backends[i]);
	}
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		unlink(io_path(name[i]));
	io_end();
	return tap_end();
}
