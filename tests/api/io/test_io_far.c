/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Nodes of one worker each: while one is in a long body what comes to its ring
 * is taken by an idle worker of another node, and when that one has a long body
 * of what it took, by the next one.
 */
#include "tests/api/io.h"

#define MAX_WORKERS 4
#define NR_BATCH 16 /* is given to the kernel at once */

struct held {
	atomic_int entered, open;
	int worker;
};

struct story {
	atomic_int is_computing, nr_taken, nr_wrong, submitter;
	int nr_wanted;
};

struct read_one {
	struct lkdf_io io;
	struct story *story;
};

static int hold(struct lkdf_ctx *c, void *arg)
{
	struct held *h = *(struct held **)arg;

	h->worker = lkdf_worker(c);
	atomic_store(&h->entered, 1);
	api_until(&h->open);
	return 0;
}

/* Twenty seconds, if nobody else takes what comes. */
static int until_taken(struct story *s, int nr)
{
	int i;

	for (i = 0; i < 400000; i++) {
		if (atomic_load(&s->nr_taken) >= nr)
			return 0;
		api_nap_ns(50000);
	}
	return -ETIME;
}

static int until_all_are_taken(struct story *s)
{
	return until_taken(s, s->nr_wanted);
}

static int compute(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;

	atomic_store(&s->submitter, lkdf_worker(c));
	atomic_store(&s->is_computing, 1);
	return until_all_are_taken(s);
}

/* The first ones wait for the last one, each on a worker of its own. */
static int taken(struct lkdf_ctx *c, void *arg)
{
	struct story *s = ((struct read_one *)arg)->story;

	if (lkdf_io_result(c) != 1 ||
	    (atomic_fetch_add(&s->nr_taken, 1) < s->nr_wanted &&
	     lkdf_worker(c) == atomic_load(&s->submitter)))
		atomic_fetch_add(&s->nr_wrong, 1);
	return until_all_are_taken(s);
}

static void hold_all(struct lkdf *rt, struct held *h, int nr)
{
	struct lkdf_kind *k = api_kind(rt, "hold", hold, sizeof(h), 0);
	struct held *at;
	int i;

	for (i = 0; i < nr; i++) {
		at = &h[i];
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &at), NULL));
		api_until(&h[i].entered);
	}
	lkdf_kind_put(k);
}

/* Worker 0: what a thread of the user submits comes to its node first. */
static void let_go(struct held *h, int nr, bool is_first)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!h[i].worker == is_first)
			atomic_store(&h[i].open, 1);
}

static void submit_reads(struct lkdf *rt, int fd, struct story *s, int nr,
			 char *to)
{
	struct lkdf_kind *k = io_kind(rt, taken, sizeof(struct read_one));
	struct read_one r;
	int i;

	for (i = 0; i < nr; i++) {
		r.io = *IO(.op = LKDF_IO_READ, .fd = fd, .buf = &to[i],
			   .len = 1, .off = -1);
		r.story = s;
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &r), NULL));
	}
	lkdf_kind_put(k);
}

/*
 * All workers are held; then worker 0 gives the reads and computes, and the
 * others get idle. nr_wanted of the reads come while it does.
 */
static void others_take_it(const char *options, int nr_reads, int nr_wanted)
{
	struct lkdf *rt = api_open(options);
	struct story s = { .submitter = -1, .nr_wanted = nr_wanted }, *at = &s;
	struct lkdf_kind *busy =
		api_kind(rt, "compute", compute, sizeof(at), 0);
	struct held held[MAX_WORKERS] = { 0 };
	char bytes[NR_BATCH] = "";
	struct lkdf_event done;
	uint64_t nr = 0;
	int fd[2], i;

	must(pipe(fd));
	must(lkdf_stat(rt, "lkdf.workers", &nr));
	hold_all(rt, held, (int)nr);
	submit_reads(rt, fd[0], &s, nr_reads, bytes);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = busy, .arg = &at),
			 &done));
	let_go(held, (int)nr, true);
	api_until(&s.is_computing);
	let_go(held, (int)nr, false);
	/* They sleep by now. */
	api_nap_ns(20000000);
	for (i = 0; i < nr_wanted; i++) {
		ok(write(fd[1], bytes, 1) == 1, "%s: %d of %d reads", options,
		   i + 1, nr_reads);
		until_taken(&s, i + 1);
	}
	is(lkdf_event_wait(done, -1), 0, "%s: and go on while one computes",
	   options);
	ok(write(fd[1], bytes, (size_t)nr_reads) == nr_reads, "the rest");
	lkdf_scope_wait(rt, NULL, -1);
	is(atomic_load(&s.nr_taken), nr_reads, "%s: each once", options);
	is(atomic_load(&s.nr_wrong), 0, "%s: and elsewhere", options);
	close(fd[0]);
	close(fd[1]);
	lkdf_kind_put(busy);
	is(lkdf_close(rt), 0, "%s: closed", options);
}

/* They sleep before it computes, so somebody must be woken. */
static void sleepers_are_told(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct story s = { .submitter = -1, .nr_wanted = 1 }, *at = &s;
	struct lkdf_kind *busy =
		api_kind(rt, "compute", compute, sizeof(at), 0);
	struct lkdf_event done;
	char byte = 0;
	int fd[2];

	must(pipe(fd));
	submit_reads(rt, fd[0], &s, 1, &byte);
	api_nap_ns(20000000);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = busy, .arg = &at),
			 &done));
	api_until(&s.is_computing);
	api_nap_ns(20000000);
	ok(write(fd[1], "x", 1) == 1, "%s: it comes", options);
	is(lkdf_event_wait(done, -1), 0, "%s: a sleeper takes it", options);
	lkdf_scope_wait(rt, NULL, -1);
	is(atomic_load(&s.nr_wrong), 0, "%s: elsewhere", options);
	close(fd[0]);
	close(fd[1]);
	lkdf_kind_put(busy);
	is(lkdf_close(rt), 0, "%s: closed", options);
}

int main(void)
{
	int i;

	tap_start(200);
	io_begin();
	others_take_it("topology=numa:2 core:1", 1, 1);
	others_take_it("topology=numa:2 core:1", NR_BATCH, 1);
	others_take_it("topology=numa:3 core:1", 2, 2);
	others_take_it("topology=numa:4 core:1", 3, 3);
	others_take_it("topology=numa:3 core:1,io=threads", 2, 2);
	for (i = 0; i < 10; i++)
		sleepers_are_told("topology=numa:3 core:1");
	io_end();
	return tap_end();
}
