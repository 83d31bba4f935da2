/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * io=owner: a worker's completions are its own, asleep it hears of them, and it
 * alone cancels.
 */
#include "tests/api/io.h"

#define OPTIONS "topology=\"numa:1 core:2\",io=owner"

struct story {
	struct gate gate;
	atomic_int is_computing, is_over, is_done;
	int64_t result;
};

/* Until the test has seen enough. */
static int compute(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;

	(void)c;
	atomic_store(&s->is_computing, 1);
	api_until(&s->is_done);
	return atomic_load(&s->is_over) ? -EPROTO : 0;
}

struct read_one {
	struct lkdf_io io;
	struct story *story;
};

static int note_end(struct lkdf_ctx *c, void *arg)
{
	struct story *s = ((struct read_one *)arg)->story;

	s->result = lkdf_io_result(c);
	atomic_store(&s->is_over, 1);
	return 0;
}

/* The worker that is free has done what was submitted before. */
static void let_it_begin(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	int i;

	for (i = 0; i < 3; i++)
		must(api_call(rt, k, NULL));
	lkdf_kind_put(k);
}

/*
 * Of two workers one computes behind a read that it has begun; then the other
 * has nothing to do, and what comes is let lie.
 */
static void the_owner_alone_takes_it(bool is_cancelled)
{
	struct lkdf *rt = api_open("workers=2," OPTIONS);
	struct story s = { .result = 1000 }, *at = &s;
	struct lkdf_kind *hold = api_kind(rt, "hold", pass_gate, 0, 0);
	struct lkdf_kind *busy =
		api_kind(rt, "compute", compute, sizeof(at), 0);
	struct lkdf_kind *k = io_kind(rt, note_end, sizeof(struct read_one));
	struct lkdf_scope *scope = NULL;
	struct lkdf_event done[3];
	struct read_one r;
	char byte = 0;
	int fd[2];

	must(lkdf_scope_create(rt, NULL, &scope));
	must(pipe(fd));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = hold, .arg = &s.gate),
			 &done[0]));
	api_until(&s.gate.entered);
	r.io = *IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = &byte, .len = 1,
		   .off = -1);
	r.story = &s;
	must(lkdf_submit(rt, scope, ATTR(lkdf_task, .kind = k, .arg = &r),
			 &done[1]));
	let_it_begin(rt);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = busy, .arg = &at),
			 &done[2]));
	api_until(&s.is_computing);
	atomic_store(&s.gate.open, 1);
	is(lkdf_event_wait(done[0], -1), 0, "a worker gets idle");
	if (is_cancelled)
		lkdf_scope_cancel(rt, scope, -ECANCELED);
	else
		must(write(fd[1], "x", 1));
	/* Somebody else would take it by now. */
	api_nap_ns(20000000);
	atomic_store(&s.is_done, 1);
	is(lkdf_event_wait(done[2], -1), 0, "nobody else takes what comes");
	lkdf_event_wait(done[1], -1);
	is(s.result, is_cancelled ? -ECANCELED : 1, "its owner does, after");
	close(fd[0]);
	close(fd[1]);
	lkdf_scope_wait(rt, scope, -1);
	lkdf_scope_put(scope);
	lkdf_kind_put(k);
	lkdf_kind_put(busy);
	lkdf_kind_put(hold);
	is(lkdf_close(rt), 0, "it closes");
}

/* Operations of all workers, which sleep: each end wakes the right one. */
static void each_hears_of_its_own(const char *options)
{
	enum {
		NR = 8
	};
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	int fd[NR][2], i, j, nr_good = 0;
	struct lkdf_event done[NR];
	static char byte[NR];

	for (i = 0; i < NR; i++)
		must(pipe(fd[i]));
	for (j = 0; j < 50; j++) {
		for (i = 0; i < NR; i++)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = k,
					      .arg = IO(.op = LKDF_IO_READ,
							.fd = fd[i][0],
							.buf = &byte[i],
							.len = 1, .off = -1)),
					 &done[i]));
		api_nap_ns(j % 3 * 100000);
		for (i = 0; i < NR; i++)
			nr_good += write(fd[(i + j) % NR][1], "x", 1) == 1 &&
				   !lkdf_event_wait(done[(i + j) % NR], -1);
	}
	is(nr_good, 50 * NR, "%s: each hears of its own", options);
	for (i = 0; i < NR; i++) {
		close(fd[i][0]);
		close(fd[i][1]);
	}
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "%s: it closes", options);
}

/* Cancelled again and again, with ends that come at the same time. */
static void sleeping_owners_cancel(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	struct lkdf_scope *scope = NULL;
	int i, j, nr_good = 0, fd[2];
	int64_t result[4];
	char byte[4];

	must(pipe(fd));
	for (i = 0; i < 50; i++) {
		must(lkdf_scope_create(rt, NULL, &scope));
		for (j = 0; j < 4; j++) {
			struct io_call call = {
				*IO(.op = LKDF_IO_READ, .fd = fd[0],
				    .buf = &byte[j], .len = 1, .off = -1),
				&result[j]
			};

			result[j] = -ECANCELED;
			must(lkdf_submit(rt, scope,
					 ATTR(lkdf_task, .kind = k,
					      .arg = &call),
					 NULL));
		}
		api_nap_ns(i % 4 * 50000);
		must(write(fd[1], "z", 1));
		lkdf_scope_cancel(rt, scope, -ECANCELED);
		lkdf_scope_wait(rt, scope, -1);
		for (j = 0; j < 4; j++)
			nr_good += result[j] == 1 || result[j] == -ECANCELED;
		lkdf_scope_put(scope);
		fcntl(fd[0], F_SETFL, O_NONBLOCK);
		while (read(fd[0], byte, 1) == 1)
			;
		fcntl(fd[0], F_SETFL, 0);
	}
	is(nr_good, 200, "%s: cancelled or read", options);
	close(fd[0]);
	close(fd[1]);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "%s: it closes", options);
}

int main(void)
{
	struct lkdf *rt = api_open("workers=2," OPTIONS);
	bool has_rings = lkdf_caps(rt) & LKDF_CAP_URING;

	lkdf_close(rt);
	tap_start(60);
	if (has_rings) {
		the_owner_alone_takes_it(false);
		the_owner_alone_takes_it(true);
	} else {
		skip("the owner alone takes it", "no io_uring here");
	}
	each_hears_of_its_own("workers=1,io=owner");
	each_hears_of_its_own("workers=2,io=owner");
	each_hears_of_its_own("workers=4,io=owner,spin_us=0");
	sleeping_owners_cancel("workers=1,io=owner");
	sleeping_owners_cancel("workers=3,io=owner,spin_us=0");
	return tap_end();
}
