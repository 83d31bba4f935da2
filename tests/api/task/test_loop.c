/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parallel loops: each iteration once whatever range, grain, workers and
 * machine, in blocks of grains; errors, cancels, what is refused.
 */
#include "tests/api/loop.h"

#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t lengths[] = { 0,	1,   2,	  3,	7,    64,
				    65, 255, 256, 1000, 4097, MAX_ITERATIONS };
static const uint64_t grains[] = { 0, 1, 2, 3, 64, 1000, 1 << 20, UINT64_MAX };

static void each_iteration_runs_once(const char *options)
{
	struct lkdf *rt = api_open(options);
	unsigned i, j;
	int bad = 0;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (j = 0; j < sizeof(grains) / sizeof(grains[0]); j++)
			bad += mistakes_of(rt, i * 1000, lengths[i], grains[j]);
	is(bad, 0, "%s: each iteration once, in blocks of grains", options);
	bad = mistakes_of(rt, UINT64_MAX - 5000, 5000, 0);
	bad += mistakes_of(rt, UINT64_MAX - 5000, 5000, 7);
	bad += mistakes_of(rt, UINT64_MAX - 5000, 5000, UINT64_MAX);
	is(bad, 0, "%s: up to the largest number there is", options);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static void random_loops_are_whole(uint64_t seed)
{
	uint64_t state = seed, begin, nr, grain;
	char options[64];
	struct lkdf *rt;
	int i, bad = 0;

	snprintf(options, sizeof(options), "workers=%d,spin_us=%d",
		 (int)(random_next(&state) % 8) + 1,
		 (int)(random_next(&state) % 30));
	rt = api_open(options);
	for (i = 0; i < 100; i++) {
		begin = random_next(&state) << random_next(&state) % 33;
		nr = random_next(&state) % MAX_ITERATIONS;
		grain = random_next(&state) % (nr + 10);
		grain >>= random_next(&state) % 16;
		bad += mistakes_of(rt, begin, nr, grain);
	}
	is(bad, 0, "seed %llu: %s: 100 random loops", (unsigned long long)seed,
	   options);
	must(lkdf_close(rt));
}

static void the_whole_of_all_numbers_is_a_range(void)
{
	struct lkdf *rt = api_open("topology=numa:2 core:2,workers=4");
	struct lkdf_range r = { 0, UINT64_MAX, UINT64_MAX / 1000 };
	atomic_ullong nr = 0;

	is(lkdf_for(rt, r, count_block, &nr), 0, "2^64 - 1 iterations");
	ok(atomic_load(&nr) == UINT64_MAX, "all of them");
	must(lkdf_close(rt));
}

static void mistakes_are_told(void)
{
	struct lkdf *rt = api_open_workers(1), *other = api_open_workers(1);
	struct lkdf_range back = { 5, 4, 0 }, r = { 0, 10, 0 };
	struct lkdf_data *d, *foreign;
	struct lkdf_scope *s;
	atomic_ullong nr = 0;

	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 64), &d));
	must(lkdf_data_create(other, ATTR(lkdf_data_attr, .bytes = 64),
			      &foreign));
	must(lkdf_scope_create(other, NULL, &s));
	is(lkdf_for(NULL, r, count_block, &nr), -EINVAL, "no runtime");
	is(lkdf_for(rt, back, count_block, &nr), -EINVAL, "begin after end");
	has(lkdf_errmsg(), "begins at 5 and ends at 4", "says both");
	is(lkdf_for(rt, r, NULL, &nr), -EINVAL, "no function");
	is(lkdf_for_with(rt, NULL), -EINVAL, "no attributes");
	is(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = count_block, .u = &nr,
				  .range = r, .schedule = 2)),
	   -EINVAL, "no such schedule");
	is(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = count_block, .u = &nr,
				  .range = r, .data = d,
				  .schedule = LKDF_SCHEDULE_STATIC)),
	   -EINVAL, "data and static");
	is(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = count_block, .u = &nr,
				  .range = r, .data = foreign)),
	   -EINVAL, "data of another runtime");
	is(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = count_block, .u = &nr,
				  .range = r, .scope = s)),
	   -EINVAL, "scope of another runtime");
	is(atomic_load(&nr), 0, "none of them has run");
	lkdf_scope_put(s);
	lkdf_data_put(d);
	lkdf_data_put(foreign);
	must(lkdf_close(other));
	must(lkdf_close(rt));
}

/* ---- errors ------------------------------------------------------------- */

struct failing {
	uint64_t at;
	struct lkdf *rt;
	struct lkdf_scope *scope;
	atomic_ullong nr;
	atomic_int has_failed, late;
};

static int fail_at(uint64_t begin, uint64_t end, void *u)
{
	struct failing *f = u;

	atomic_fetch_add(&f->nr, end - begin);
	if (f->at < begin || f->at >= end)
		return 0;
	return -EIO;
}

static void an_error_stops_the_loop(const char *options, uint32_t schedule)
{
	struct failing f = { .at = 0 };
	struct lkdf *rt = api_open(options);
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.schedule = schedule,
		.range = { 0, 100000000, 10 },
		.fn = fail_at,
		.u = &f,
	};
	uint64_t failed = 0;

	is(lkdf_for_with(rt, &a), -EIO, "%s, schedule %u: the error", options,
	   schedule);
	has(lkdf_errmsg(), "iterations 0 to 9", "and where it was");
	ok(atomic_load(&f.nr) < a.range.end, "most is left out");
	f.at = UINT64_MAX;
	a.range.end = 1000;
	atomic_store(&f.nr, 0);
	is(lkdf_for_with(rt, &a), 0, "the next loop is as good as new");
	is(atomic_load(&f.nr), 1000, "all of it runs");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the root knows of no error");
	must(lkdf_stat(rt, "lkdf.failed", &failed));
	is(failed, 0, "no task has failed");
	must(lkdf_close(rt));
}

static int cancel_itself(uint64_t begin, uint64_t end, void *u)
{
	struct failing *f = u;

	(void)begin;
	(void)end;
	if (!atomic_fetch_add(&f->nr, 1))
		lkdf_scope_cancel(f->rt, f->scope, -ETIME);
	return 0;
}

static void a_cancel_stops_the_loop(const char *options, uint64_t grain)
{
	struct failing f = { .rt = api_open(options) };
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = { 0, 1ull << 60, grain },
		.fn = cancel_itself,
		.u = &f,
	};

	must(lkdf_scope_create(f.rt, NULL, &f.scope));
	a.scope = f.scope;
	is(lkdf_for_with(f.rt, &a), -ETIME, "%s: the cancel's error", options);
	is(lkdf_for_with(f.rt, &a), -ECANCELED, "and none begins after it");
	is(lkdf_scope_wait(f.rt, f.scope, -1), -ETIME, "the scope tells it");
	lkdf_scope_put(f.scope);
	must(lkdf_close(f.rt));
}

static int wait_inside(uint64_t begin, uint64_t end, void *u)
{
	struct failing *f = u;

	(void)begin;
	(void)end;
	if (lkdf_scope_wait(f->rt, NULL, 0) != -EDEADLK)
		atomic_fetch_add(&f->late, 1);
	return 0;
}

static void a_loop_function_cannot_wait(const char *options)
{
	struct failing f = { .rt = api_open(options) };
	struct lkdf_range r = { 0, 3000, 0 };

	is(lkdf_for(f.rt, r, wait_inside, &f), 0, "%s: a loop", options);
	is(atomic_load(&f.late), 0, "its function is refused to wait");
	is(lkdf_scope_wait(f.rt, NULL, 0), 0, "this thread may wait again");
	must(lkdf_close(f.rt));
}

struct long_block {
	atomic_ullong nr;
	sem_t others; /* have all run */
};

/* Nobody makes blocks wait for one long block: the others run meanwhile. */
static int long_first(uint64_t begin, uint64_t end, void *u)
{
	struct long_block *b = u;

	if (!begin)
		sem_wait(&b->others);
	else if (atomic_fetch_add(&b->nr, end - begin) + end - begin == 999)
		sem_post(&b->others);
	return 0;
}

static void a_long_block_keeps_no_other(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_range r = { 0, 1000, 1 };
	struct long_block b = { .nr = 0 };

	sem_init(&b.others, 0, 0);
	is(lkdf_for(rt, r, long_first, &b), 0,
	   "%s: all others run beside one long block", options);
	sem_destroy(&b.others);
	must(lkdf_close(rt));
}

/* The kind of loops is the runtime's: a child frees it, too. */
static void a_forked_child_closes(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_range r = { 0, 10000, 10 };
	atomic_ullong nr = 0;
	int status = -1;
	pid_t pid;

	must(lkdf_for(rt, r, count_block, &nr));
	pid = fork();
	if (!pid)
		_exit(lkdf_for(rt, r, count_block, &nr) != -EOWNERDEAD ||
		      lkdf_close(rt) || atomic_load(&nr) != 10000);
	waitpid(pid, &status, 0);
	is(status, 0, "a forked child is refused a loop, and closes");
	is(lkdf_for(rt, r, count_block, &nr), 0, "the parent goes on");
	must(lkdf_close(rt));
}

int main(void)
{
	uint64_t seed;
	unsigned i;

	tap_start(120);
	for (i = 0; i < NR_MACHINES; i++) {
		each_iteration_runs_once(machines[i]);
		an_error_stops_the_loop(machines[i], LKDF_SCHEDULE_NODES);
		an_error_stops_the_loop(machines[i], LKDF_SCHEDULE_STATIC);
		a_loop_function_cannot_wait(machines[i]);
	}
	for (seed = 1; seed <= 8; seed++)
		random_loops_are_whole(seed);
	the_whole_of_all_numbers_is_a_range();
	mistakes_are_told();
	a_cancel_stops_the_loop("workers=2", 0);
	a_cancel_stops_the_loop("workers=2", 1 << 20);
	a_cancel_stops_the_loop("serial=yes", 1 << 20);
	a_cancel_stops_the_loop("topology=numa:2 core:2,workers=4", 0);
	a_forked_child_closes();
	a_long_block_keeps_no_other("workers=2");
	a_long_block_keeps_no_other("workers=4");
	a_long_block_keeps_no_other("topology=numa:2 core:1,workers=2");
	return tap_end();
}
