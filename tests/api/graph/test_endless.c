/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops in graphs that never end: what else there is goes on beside them, with
 * one worker too, and a cancel ends them. How long that takes is counted in
 * rounds of the loop.
 */
#include "tests/api/api.h"

#include <lkdf/io.h>
#include <poll.h>
#include <sched.h>

/* Each waits for some 30,000 rounds behind those before it, see below. */
#define NR_BESIDE 10

static const int worker_counts[] = { 1, 2, 4 };

static int for_ever(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_long *)arg, 1);
	return 0;
}

/* Beside a loop without an end all else goes on, with one worker too. */
static void an_endless_loop_starves_nobody(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "round", for_ever, 0, 0);
	struct lkdf_kind *other = api_kind(rt, "other", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done, one, late;
	struct lkdf_scope *scope;
	atomic_int nr = 0;
	atomic_long rounds = 0;
	int fd[2], i, error;

	must(lkdf_graph_add(g, k, &rounds, NULL, 0));
	must(lkdf_graph_add(g, k, &rounds, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_back(g, 1, 0, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_scope_create(rt, NULL, &scope));
	must(lkdf_graph_run(g, scope, NULL, &done));
	for (i = 0; i < NR_BESIDE; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = other, .arg = &nr),
				 i < NR_BESIDE - 1 ? NULL : &one));
	is(lkdf_event_wait(one, -1), 0, "tasks are served beside it");
	must(pipe(fd) ? -errno : 0);
	must(lkdf_event_from_fd(rt, fd[0], POLLIN, &one));
	must(write(fd[1], "x", 1) == 1 ? 0 : -EIO);
	is(lkdf_event_wait(one, -1), 0, "a descriptor is");
	must(lkdf_event_create(rt, 1, 0, &one));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = other, .arg = &nr,
			      .after = &one, .nr_after = 1,
			      .deadline_ns = SECOND / 100),
			 &late));
	error = lkdf_event_wait(late, -1);
	is(error, -ETIME, "a deadline is");
	lkdf_event_signal(one, 0);
	lkdf_event_put(one);
	must(lkdf_scope_cancel(rt, scope, -ECANCELED));
	is(lkdf_event_wait(done, -1), -ECANCELED,
	   "a cancel ends it, after %ld rounds", atomic_load(&rounds) / 2);
	lkdf_scope_wait(rt, scope, -1);
	lkdf_scope_wait(rt, NULL, -1);
	close(fd[0]);
	close(fd[1]);
	lkdf_scope_put(scope);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(other);
}

/* ---- in rounds ---------------------------------------------------------- */

/*
 * Tasks of a loop that a worker follows without a look at what else there is;
 * how often it takes its own work before it looks at what others have given it;
 * and in how many looks it takes the oldest of all instead of the newest:
 * CONTROL_TURNS, INBOX_EVERY and OLD_EVERY of the library.
 */
#define TURNS 64
#define LOOKS 64
#define OLD 16
#define LOOP_TASKS 2

struct endless {
	struct lkdf *rt;
	struct lkdf_kind *round, *other;
	struct lkdf_graph *g;
	struct lkdf_scope *scope;
	struct lkdf_event done;
	atomic_long rounds;
	long cancels_at; /* the round in which the body cancels; 0: never */
	atomic_long seen; /* rounds when the other task ran; 0: not yet */
};

static int endless_round(struct lkdf_ctx *c, void *arg)
{
	struct endless *e = arg;

	if (atomic_fetch_add(&e->rounds, 1) + 1 == e->cancels_at)
		return lkdf_scope_cancel(lkdf_runtime(c), e->scope, -EINTR);
	return 0;
}

static int see_rounds(struct lkdf_ctx *c, void *arg)
{
	struct endless *e = arg;

	(void)c;
	atomic_store(&e->seen, atomic_load(&e->rounds));
	return 0;
}

static void await_rounds(struct endless *e, long nr)
{
	nr += atomic_load(&e->rounds);
	while (atomic_load(&e->rounds) < nr)
		sched_yield();
}

/* One worker follows a loop of two tasks, and has no other. */
static void endless_open(struct endless *e, const char *options,
			 long cancels_at)
{
	struct lkdf_kind *k;

	*e = (struct endless){ .rt = api_open(options),
			       .cancels_at = cancels_at };
	e->round = api_kind(e->rt, "round", endless_round, 0, 0);
	e->other = api_kind(e->rt, "other", see_rounds, 0, 0);
	k = api_kind(e->rt, "second", api_nothing, 0, 0);
	e->g = api_graph(e->rt, 1);
	must(lkdf_graph_add(e->g, e->round, e, NULL, 0));
	must(lkdf_graph_add(e->g, k, NULL, NULL, 0));
	must(lkdf_graph_order(e->g, 0, 1));
	must(lkdf_graph_back(e->g, 1, 0, 0));
	must(lkdf_graph_seal(e->g, NULL));
	lkdf_kind_put(k);
	must(lkdf_scope_create(e->rt, NULL, &e->scope));
	must(lkdf_graph_run(e->g, e->scope, NULL, &e->done));
}

static void endless_close(struct endless *e)
{
	lkdf_scope_wait(e->rt, e->scope, -1);
	lkdf_scope_wait(e->rt, NULL, -1);
	lkdf_scope_put(e->scope);
	lkdf_graph_put(e->g);
	lkdf_kind_put(e->round);
	lkdf_kind_put(e->other);
	must(lkdf_close(e->rt));
}

static void a_cancel_is_seen_within_a_turn(void)
{
	struct endless e;
	long after;

	endless_open(&e, "workers=1", 0);
	await_rounds(&e, 10000);
	must(lkdf_scope_cancel(e.rt, e.scope, -ECANCELED));
	after = atomic_load(&e.rounds);
	is(lkdf_event_wait(e.done, -1), -ECANCELED,
	   "a cancel ends a loop of 10000 rounds and more");
	after = atomic_load(&e.rounds) - after;
	ok(after <= TURNS, "within %d rounds: %ld", TURNS, after);
	endless_close(&e);
	/* On the worker's own thread: no round may be under way meanwhile. */
	endless_open(&e, "workers=1", 10000);
	is(lkdf_event_wait(e.done, -1), -EINTR,
	   "and one that the body of round 10000 gives");
	after = atomic_load(&e.rounds) - 10000;
	ok(after <= TURNS, "within %d rounds: %ld", TURNS, after);
	endless_close(&e);
}

static void a_task_has_its_turn_beside_it(void)
{
	const long most = (OLD + 2l) * TURNS * LOOKS / LOOP_TASKS;
	long before, longest = 0;
	struct endless e;
	int i;

	endless_open(&e, "workers=1", 0);
	for (i = 0; i < 30; i++) {
		await_rounds(&e, 100);
		atomic_store(&e.seen, 0);
		must(lkdf_submit(e.rt, NULL,
				 ATTR(lkdf_task, .kind = e.other, .arg = &e),
				 NULL));
		before = atomic_load(&e.rounds);
		while (!atomic_load(&e.seen))
			sched_yield();
		if (atomic_load(&e.seen) - before > longest)
			longest = atomic_load(&e.seen) - before;
	}
	ok(longest <= most,
	   "a task beside it waits for %ld rounds at most: %ld", most, longest);
	must(lkdf_scope_cancel(e.rt, e.scope, -ECANCELED));
	lkdf_event_wait(e.done, -1);
	endless_close(&e);
}

/* Write, then read what was written: by the ring, and by a thread. */
static void an_operation_ends_beside_it(const char *options)
{
	struct lkdf_io io = { .size = sizeof(io),
			      .op = LKDF_IO_WRITE,
			      .len = 5,
			      .off = -1,
			      .buf = (char[]){ "hello" } };
	char bytes[8] = "";
	struct lkdf_kind *k;
	struct endless e;
	int fd[2];

	must(pipe(fd) ? -errno : 0);
	endless_open(&e, options, 0);
	must(lkdf_kind_create_io(e.rt, ATTR(lkdf_kind_attr, .name = "io"), &k));
	await_rounds(&e, 1000);
	io.fd = fd[1];
	is(api_call(e.rt, k, &io), 0, "%s: a write ends beside it", options);
	io.op = LKDF_IO_READ;
	io.fd = fd[0];
	io.buf = bytes;
	is(api_call(e.rt, k, &io), 0, "so does a read");
	ok(!strcmp(bytes, "hello"), "of those bytes");
	ok(lkdf_event_wait(e.done, 0) == 1, "the loop goes on");
	must(lkdf_scope_cancel(e.rt, e.scope, -ECANCELED));
	lkdf_event_wait(e.done, -1);
	lkdf_kind_put(k);
	close(fd[0]);
	close(fd[1]);
	endless_close(&e);
}

static void all(int nr)
{
	struct lkdf *rt = api_open_workers(nr);

	an_endless_loop_starves_nobody(rt);
	is(lkdf_close(rt), 0, "%d workers are closed", nr);
}

int main(void)
{
	unsigned i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++)
		all(worker_counts[i]);
	a_cancel_is_seen_within_a_turn();
	a_task_has_its_turn_beside_it();
	an_operation_ends_beside_it("workers=1");
	an_operation_ends_beside_it("workers=1,io=threads");
	return tap_end();
}
