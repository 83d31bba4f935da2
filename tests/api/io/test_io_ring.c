/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rings: completions are taken while their submitter computes, wherever
 * workers sleep; and what happens where a ring cannot be had.
 */
#include "tests/api/io.h"
#include "tests/forbid.h"

#include <sys/resource.h>
#include <sys/wait.h>

struct story {
	struct gate gate;
	atomic_int is_computing, is_over;
	int submitter, taker;
};

static int compute(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;
	int i;

	s->submitter = lkdf_worker(c);
	atomic_store(&s->is_computing, 1);
	/* Ten seconds, if nobody else runs what follows. */
	for (i = 0; i < 200000 && !atomic_load(&s->is_over); i++)
		api_nap_ns(50000);
	return atomic_load(&s->is_over) ? 0 : -ETIME;
}

struct read_one {
	struct lkdf_io io;
	struct story *story;
};

static int note_taker(struct lkdf_ctx *c, void *arg)
{
	struct story *s = ((struct read_one *)arg)->story;

	s->taker = lkdf_worker(c);
	atomic_store(&s->is_over, 1);
	return lkdf_io_result(c) == 1 ? 0 : -EPROTO;
}

static bool has_rings(struct lkdf *rt)
{
	return lkdf_caps(rt) & LKDF_CAP_URING;
}

/*
 * A read by the only worker that is free, which then computes. Both are of one
 * node: workers of others do not look.
 */
static void an_idle_peer_takes_it(void)
{
	struct lkdf *rt = api_open("workers=2,topology=\"numa:1 core:2\"");
	struct story s = { .taker = -1 }, *at = &s;
	struct lkdf_kind *hold = api_kind(rt, "hold", pass_gate, 0, 0);
	struct lkdf_kind *busy =
		api_kind(rt, "compute", compute, sizeof(at), 0);
	struct lkdf_kind *k = io_kind(rt, note_taker, sizeof(struct read_one));
	struct lkdf_event done[3];
	struct read_one r;
	char bytes[2] = "";
	int fd[2];

	must(pipe(fd));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = hold, .arg = &s.gate),
			 &done[0]));
	api_until(&s.gate.entered);
	r.io = *IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = bytes, .len = 1,
		   .off = -1);
	r.story = &s;
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &r),
			 &done[1]));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = busy, .arg = &at),
			 &done[2]));
	api_until(&s.is_computing);
	atomic_store(&s.gate.open, 1);
	is(lkdf_event_wait(done[0], -1), 0, "a worker gets idle");
	api_nap_ns(2000000);
	ok(write(fd[1], "x", 1) == 1, "what is waited for comes");
	is(lkdf_event_wait(done[1], -1), 0, "it is read");
	is(lkdf_event_wait(done[2], -1), 0,
	   "while the worker that submitted it computes");
	ok(s.taker != s.submitter, "another worker goes on");
	close(fd[0]);
	close(fd[1]);
	lkdf_kind_put(k);
	lkdf_kind_put(busy);
	lkdf_kind_put(hold);
	is(lkdf_close(rt), 0, "it closes");
}

static int long_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	api_nap_ns(10000000);
	return 0;
}

/* Long bodies, operations and what depends on them, all mixed. */
static void busy_workers_lose_nothing(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *body = api_kind(rt, "long", long_body, 0, 0);
	struct lkdf_event done[40], plain;
	static int64_t result[40];
	static char to[40];
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	int i, nr_good = 0, fd[2];

	must(pipe(fd));
	for (i = 0; i < 40; i++) {
		struct io_call call = { *IO(.op = LKDF_IO_READ, .fd = fd[0],
					    .buf = &to[i], .len = 1, .off = -1),
					&result[i] };

		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &call),
				 &done[i]));
		if (i % 2)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = body), NULL));
		if (write(fd[1], "y", 1) != 1)
			break;
	}
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = body), &plain));
	for (i = 0; i < 40; i++)
		nr_good += !lkdf_event_wait(done[i], -1) && result[i] == 1;
	lkdf_event_wait(plain, -1);
	is(nr_good, 40, "%s: operations among long bodies", options);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	lkdf_kind_put(body);
	close(fd[0]);
	close(fd[1]);
	is(lkdf_close(rt), 0, "%s: it closes", options);
}

/* All sleep in between, so that each time somebody else is woken. */
static void sleepers_take_turns(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	struct lkdf_kind *count;
	atomic_int ran = 0;
	struct lkdf_event done, other;
	int i, nr_good = 0, fd[2];
	char byte;

	count = api_kind(rt, "count", api_count, 0, 0);
	must(pipe(fd));
	for (i = 0; i < 100; i++) {
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k,
				      .arg = IO(.op = LKDF_IO_READ, .fd = fd[0],
						.buf = &byte, .len = 1,
						.off = -1)),
				 &done));
		api_nap_ns(i % 3 * 100000);
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = count, .arg = &ran),
				 &other));
		nr_good += write(fd[1], "x", 1) == 1 &&
			   !lkdf_event_wait(done, -1) &&
			   !lkdf_event_wait(other, -1);
	}
	is(nr_good, 100, "%s: sleepers are woken by both", options);
	is(ran, 100, "%s: tasks and operations", options);
	close(fd[0]);
	close(fd[1]);
	lkdf_kind_put(count);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "%s: it closes", options);
}

static int read_file(struct lkdf *rt)
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	char to[16];
	int rc = (int)io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to,
				     .len = sizeof(to)));

	close(fd);
	return rc;
}

static void caps_text(struct lkdf *rt, char *text, size_t size)
{
	int fd[2];
	ssize_t n;

	must(pipe(fd));
	must(lkdf_describe(rt, "caps", "text", fd[1]));
	n = read(fd[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	close(fd[1]);
}

static int without_rings(void)
{
	char text[4096];
	struct lkdf *rt;

	if (forbid_call(SYS_io_uring_setup, EPERM))
		return 2;
	rt = api_open("workers=2");
	caps_text(rt, text, sizeof(text));
	return !(!has_rings(rt) && strstr(text, "EPERM") && read_file(rt) > 0 &&
		 !lkdf_close(rt));
}

static void threads_stand_in(void)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(without_rings());
	waitpid(pid, &status, 0);
	is(status, 0, "EPERM: threads do it, and caps say why");
}

static void limit_files(rlim_t nr)
{
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &l);
	l.rlim_cur = nr < l.rlim_max ? nr : l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* The ring of a worker cannot be made though the kernel has rings. */
static void a_worker_without_a_ring(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	int64_t result = 0;
	char to[16];
	struct io_call call = { *IO(.op = LKDF_IO_READ, .fd = fd, .buf = to,
				    .len = sizeof(to)),
				&result };
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &l);
	limit_files((rlim_t)fd + 1);
	is(api_call(rt, k, &call), 0, "no file is left for a ring");
	limit_files(l.rlim_cur);
	ok(result > 0, "and the file is read all the same");
	lkdf_kind_put(k);
	close(fd);
	is(lkdf_close(rt), 0, "it closes");
}

int main(void)
{
	struct lkdf *rt;
	bool has;

	tap_start(60);
	threads_stand_in();
	rt = api_open("workers=1");
	has = has_rings(rt);
	lkdf_close(rt);
	if (has)
		an_idle_peer_takes_it();
	else
		skip("an idle peer takes it", "no io_uring here");
	busy_workers_lose_nothing("workers=2");
	busy_workers_lose_nothing("workers=2,io=threads");
	busy_workers_lose_nothing("workers=4");
	sleepers_take_turns("workers=1");
	sleepers_take_turns("workers=2");
	sleepers_take_turns("workers=4");
	sleepers_take_turns("workers=4,spin_us=0");
	a_worker_without_a_ring();
	return tap_end();
}
