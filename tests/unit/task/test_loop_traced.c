/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a recording says of loops: a body is a block, or some in a row, and has
 * the loop's name; the thread that calls has a lane of its own.
 */
#include "tests/unit/task/recording.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define NR_BLOCKS 64

static pthread_t caller;
static _Atomic int nr_callers, nr_others;

static void pass_ns(int64_t ns)
{
	struct timespec now, begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000ll + now.tv_nsec -
			 begin.tv_nsec <
		 ns);
}

static int block(uint64_t begin, uint64_t end, void *u)
{
	bool is_caller = pthread_equal(pthread_self(), caller);

	(void)begin;
	(void)end;
	(void)u;
	atomic_fetch_add(is_caller ? &nr_callers : &nr_others, 1);
	pass_ns(30000);
	return 0;
}

static void loop_named(struct lkdf *rt, const char *name)
{
	if (lkdf_for_with(rt, ATTR(lkdf_for_attr, .range = { 0, NR_BLOCKS, 1 },
				   .fn = block, .name = name)))
		exit(1);
}

static int loop_in_body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_for_in(c, ATTR(lkdf_for_attr, .range = { 0, NR_BLOCKS, 1 },
				   .fn = block, .name = "inner"));
}

static int nothing_at_all(uint64_t begin, uint64_t end, void *u)
{
	(void)begin;
	(void)end;
	(void)u;
	return 0;
}

/* A span of blocks on a lane that is no executor's. */
static bool is_of_caller(const struct recorded *r, const struct trace_span *s)
{
	return s->sort == LKDF_SPAN_BLOCKS &&
	       s->lane > r->info.header.nr_executors;
}

/* Loops until one has had blocks on both threads; sums, and how many loops. */
static int loop_together(struct lkdf *rt, int *callers, int *others)
{
	int nr = 0;

	caller = pthread_self();
	do {
		atomic_store(&nr_callers, 0);
		atomic_store(&nr_others, 0);
		loop_named(rt, "smooth");
		*callers += atomic_load(&nr_callers);
		*others += atomic_load(&nr_others);
		nr++;
	} while (!atomic_load(&nr_callers) || !atomic_load(&nr_others));
	return nr;
}

static void both_threads_have_blocks_of_the_name(void)
{
	struct lkdf *rt = open_recording("workers=2");
	const struct trace_span *last = NULL;
	const struct trace_slice *s;
	int nr, nr_caller = 0, nr_same = 0, nr_late = 0, nr_loops;
	int callers = 0, others = 0;
	struct recorded r;
	size_t i;

	nr_loops = loop_together(rt, &callers, &others);
	is(lkdf_close(rt), 0, "the runtime closes");
	is(recorded_read(&r, path), 0, "the file is whole");
	for (i = 0; i < r.nr_spans; i++) {
		if (!is_of_caller(&r, &r.span[i]))
			continue;
		last = &r.span[i];
		nr_caller += !strcmp(r.info.name[last->name], "smooth");
		nr_late += last->links.ready > last->begin ||
			   last->links.by_executor >= 0;
	}
	is(nr_caller, callers,
	   "each block of 30 us of the caller is a body in a lane of its own");
	is(nr_late, 0, "ready since before it began, by nobody");
	for (nr = 0; (s = recorded_slice(&r, "smooth", nr)); nr++)
		nr_same += last && s->links.ready == last->links.ready;
	is(nr, others, "workers have theirs");
	ok(nr_same > 0, "some ready when the caller's were: the loop began");
	is(nr + nr_caller, NR_BLOCKS * nr_loops, "no block is missing");
	ok(!recorded_slice(&r, "for", 0),
	   "no body is of what the library calls loops");
	recorded_free(&r);
	unlink(path);
}

static void pieces_on_nodes_are_told_block_by_block(void)
{
	struct lkdf *rt = open_recording("workers=2,topology=numa:2 core:1");
	struct recorded r;
	int nr;

	loop_named(rt, "spread");
	is(lkdf_close(rt), 0, "the runtime closes");
	is(recorded_read(&r, path), 0, "the file is whole");
	for (nr = 0; recorded_slice(&r, "spread", nr);)
		nr++;
	is(nr, NR_BLOCKS, "on two nodes each block is a body of a worker");
	ok(!recorded_slice(&r, "for", 0), "and the pieces of it are none");
	recorded_free(&r);
	unlink(path);
}

static void blocks_within_a_body_are_by_it(void)
{
	struct lkdf *rt = open_recording("workers=1");
	const struct trace_slice *s, *outer;
	int nr, nr_by = 0, nr_within = 0;
	struct lkdf_kind *k;
	struct recorded r;

	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "outer", .fn = loop_in_body),
		&k);
	lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "a body with a loop ends");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
	is(recorded_read(&r, path), 0, "the file is whole");
	outer = recorded_slice(&r, "outer", 0);
	for (nr = 0; (s = recorded_slice(&r, "inner", nr)); nr++) {
		nr_by += outer && is_by(&s->links, outer);
		nr_within += outer && s->begin >= outer->begin &&
			     s->end <= outer->end;
	}
	is(nr, NR_BLOCKS, "its blocks are told");
	is(nr_by, nr, "each was made ready by the body");
	is(nr_within, nr, "and lies within it");
	recorded_free(&r);
	unlink(path);
}

static void short_blocks_are_one_body(void)
{
	struct lkdf *rt = open_recording("workers=1");
	struct recorded r;
	size_t i, nr = 0;
	int rc;

	rc = lkdf_for_with(rt, ATTR(lkdf_for_attr, .range = { 0, 100000, 1 },
				    .fn = nothing_at_all, .name = "short"));
	is(rc, 0, "a loop of 100,000 empty blocks runs");
	is(lkdf_close(rt), 0, "the runtime closes");
	is(recorded_read(&r, path), 0, "the file is whole");
	for (i = 0; i < r.nr_spans; i++)
		nr += is_of_caller(&r, &r.span[i]);
	nr += r.nr_slices;
	ok(nr > 0 && nr < 50000, "it has %zu bodies", nr);
	is(r.info.slices_lost, 0, "and none is lost");
	recorded_free(&r);
}

int main(void)
{
	tap_start(60);
	begin_recordings();
	both_threads_have_blocks_of_the_name();
	pieces_on_nodes_are_told_block_by_block();
	blocks_within_a_body_are_by_it();
	short_blocks_are_one_body();
	unlink(path);
	return tap_end();
}
