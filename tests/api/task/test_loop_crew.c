/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who runs a loop: the caller and whoever is idle, asleep or not; short loops
 * the caller alone, however many workers there are; parts of a static loop
 * their workers.
 */
#include "tests/api/loop.h"

#include <pthread.h>

static pthread_t caller;

static int note_others(uint64_t begin, uint64_t end, void *u)
{
	(void)begin;
	(void)end;
	if (!pthread_equal(pthread_self(), caller))
		atomic_store((atomic_int *)u, 1);
	return 0;
}

/* A caller that loses its CPU takes its loop for a long one: not each time. */
static void short_loops_stay_where_they_are(void)
{
	struct lkdf *rt = api_open_workers(16);
	struct lkdf_range r = { 0, 1000, 0 };
	atomic_int is_away;
	int i, nr_away = 0;

	for (i = 0; i < 300; i++) {
		atomic_store(&is_away, 0);
		must(lkdf_for(rt, r, note_others, &is_away));
		nr_away += atomic_load(&is_away);
	}
	ok(nr_away < 150, "16 workers: %d of 300 short loops have left",
	   nr_away);
	must(lkdf_close(rt));
}

/*
 * Blocks that are to run at once wait for each other for a while only: where
 * CPUs are lent to others a worker is not worth its wake-up, and the caller
 * runs one block after the other.
 */
struct point {
	int all;
	atomic_int nr_in, nr_met;
};

static void point_begin(struct point *p)
{
	atomic_store(&p->nr_in, 0);
}

static void point_meet(struct point *p)
{
	int i;

	if (atomic_fetch_add(&p->nr_in, 1) + 1 == p->all)
		atomic_fetch_add(&p->nr_met, 1);
	for (i = 0; i < 200 && atomic_load(&p->nr_in) < p->all; i++)
		api_nap_ns(100000);
}

struct pair {
	struct point both;
	atomic_int has_caller;
};

static int meet_in_pairs(uint64_t begin, uint64_t end, void *u)
{
	struct pair *p = u;

	(void)begin;
	(void)end;
	if (pthread_equal(pthread_self(), caller))
		atomic_store(&p->has_caller, 1);
	point_meet(&p->both);
	return 0;
}

static void the_caller_takes_part(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_range r = { 0, 2, 1 };
	struct pair p = { .both.all = 2 };
	int i;

	for (i = 0; i < 500 && !atomic_load(&p.has_caller); i++) {
		point_begin(&p.both);
		must(lkdf_for(rt, r, meet_in_pairs, &p));
	}
	ok(atomic_load(&p.has_caller), "a block runs in the caller, loop %d",
	   i);
	must(lkdf_close(rt));
}

static int meet(uint64_t begin, uint64_t end, void *u)
{
	(void)begin;
	(void)end;
	point_meet(u);
	return 0;
}

/* As many blocks as workers, each of which waits for all others. */
static void sleepers_come(const char *options, int nr)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_range r = { 0, (uint64_t)nr, 1 };
	struct point all = { .all = nr };
	int i;

	for (i = 0; i < 30; i++) {
		point_begin(&all);
		must(lkdf_for(rt, r, meet, &all));
	}
	i = atomic_load(&all.nr_met);
	ok(i > 0, "%s: %d blocks run at once, %d of 30", options, nr, i);
	must(lkdf_close(rt));
}

static int meet_in_body(struct lkdf_ctx *c, void *arg)
{
	return lkdf_for_in(c, ATTR(lkdf_for_attr, .fn = meet, .u = arg,
				   .range = { 0, 4, 1 }));
}

static void bodies_have_a_crew_too(uint32_t flags)
{
	struct lkdf *rt = api_open("workers=4,spin_us=0");
	struct lkdf_kind *k = api_kind(rt, "meet", meet_in_body, 0, flags);
	struct point all = { .all = 4 };
	int i, bad = 0;

	for (i = 0; i < 30; i++) {
		point_begin(&all);
		bad += api_call(rt, k, &all) != 0;
	}
	is(bad, 0, "flags %u: no loop fails", flags);
	i = atomic_load(&all.nr_met);
	ok(i > 0, "flags %u: 4 blocks run at once in a body, %d of 30", flags,
	   i);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* ---- static ------------------------------------------------------------- */

struct meeting {
	struct point all;
	int worker[4000];
};

static int note_worker(uint64_t begin, uint64_t end, void *u)
{
	struct meeting *m = u;
	int node = -1, worker = -1;
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	if (sscanf(name, "lkdf/%d.%d", &node, &worker) != 2)
		worker = -1;
	for (; begin < end; begin++)
		m->worker[begin] = worker;
	point_meet(&m->all);
	return 0;
}

/* One that has been kept from its CPU on its way to the loop is busy. */
static void each_worker_has_its_part(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct meeting *m = calloc(1, sizeof(*m));
	int round, i, bad, nr_bad = 0;

	m->all.all = 4;
	for (round = 0; round < 30; round++) {
		point_begin(&m->all);
		must(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = note_worker,
					    .u = m, .range = { 0, 4000, 0 },
					    .schedule = LKDF_SCHEDULE_STATIC)));
		for (i = 0, bad = 0; i < 4000; i++)
			bad |= m->worker[i] != i / 1000;
		nr_bad += bad;
	}
	ok(nr_bad < 15, "%s: its own part, as one block, but %d of 30", options,
	   nr_bad);
	free(m);
	must(lkdf_close(rt));
}

/* Workers that have just been woken for other work are no longer idle. */
static void busy_workers_hold_no_loop_up(void)
{
	struct lkdf *rt = api_open("workers=3,spin_us=0");
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, 0);
	struct notes *n = notes_create(0, 3000, 0);
	struct gate gate;
	int i, j;

	for (i = 0; i < 30; i++) {
		memset(&gate, 0, sizeof(gate));
		for (j = 0; j < 2; j++)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = k,
					      .arg = &gate),
					 NULL));
		must(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = note, .u = n,
					    .range = { 0, 3000, 0 },
					    .schedule = LKDF_SCHEDULE_STATIC)));
		atomic_store(&gate.open, 1);
		must(lkdf_scope_wait(rt, NULL, -1));
	}
	for (i = 0, j = 0; i < 3000; i++)
		j += atomic_load(&n->seen[i]) != 30;
	is(j, 0, "a static loop ends beside workers that are held");
	free(n);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	caller = pthread_self();
	short_loops_stay_where_they_are();
	the_caller_takes_part();
	sleepers_come("workers=2,spin_us=0", 2);
	sleepers_come("workers=4,spin_us=0", 4);
	sleepers_come("workers=13,spin_us=0", 13);
	sleepers_come("workers=4", 4);
	bodies_have_a_crew_too(0);
	bodies_have_a_crew_too(LKDF_BLOCKING);
	each_worker_has_its_part("workers=4");
	each_worker_has_its_part("workers=4,spin_us=0");
	busy_workers_hold_no_loop_up();
	return tap_end();
}
