/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench submit, second part: one thread submits while another one submits
 * to other data of the same runtime, or not. The one worker is held, so that
 * two threads are all that run. The cost that two threads are to each other on
 * this machine anyway is seen from a second submitter in a runtime of its own.
 * And a burst: tasks that waited in a long queue cost no more to run than those
 * of a short one.
 */
#include "bench/submit.h"
#include "tests/bench/suites/sweeps.h"

#include "tests/bench/lkdf_plan.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define NR_TASKS 16384
#define CHUNK 64
#define MOST_CHUNKS (8 * NR_TASKS / CHUNK)
#define BAR 1.10
#define BURST 65536
#define BURST_ROUNDS 5
#define BURST_BAR 3

enum {
	ALONE,
	APART, /* the other one has its own runtime */
	TOGETHER,
	NR_WAYS
};

struct side {
	struct plan plan;
	struct lkdf_plan tasks;
};

struct second {
	struct lkdf *rt, *rt_apart;
	struct plug plug, plug_apart;
	struct side first, apart, together;
};

/* The thread of the other submitter. */
struct other {
	pthread_t thread;
	struct side *side; /* NULL: none */
	bool is_running, is_told, is_done; /* atomic accesses only */
	int rc;
	uint64_t nr_tasks;
};

static void *other_main(void *arg)
{
	struct other *o = arg;
	uint32_t i, first;

	for (i = 0; i < MOST_CHUNKS && !o->rc; i++) {
		if (__atomic_load_n(&o->is_told, __ATOMIC_ACQUIRE))
			break;
		first = i * CHUNK % NR_TASKS;
		o->rc = lkdf_plan_submit(&o->side->tasks, first, CHUNK);
		o->nr_tasks += CHUNK;
		__atomic_store_n(&o->is_running, true, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&o->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

static int other_start(struct other *o, struct side *side)
{
	*o = (struct other){ .side = side };
	if (!side)
		return 0;
	if (pthread_create(&o->thread, NULL, other_main, o)) {
		o->side = NULL;
		return bench_fail(-EAGAIN, "no thread");
	}
	while (!__atomic_load_n(&o->is_running, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&o->is_done, __ATOMIC_ACQUIRE))
		;
	return 0;
}

/* True: it was submitting all the time. */
static bool other_stop(struct other *o)
{
	bool is_whole;

	if (!o->side)
		return true;
	is_whole = !__atomic_load_n(&o->is_done, __ATOMIC_ACQUIRE);
	__atomic_store_n(&o->is_told, true, __ATOMIC_RELEASE);
	pthread_join(o->thread, NULL);
	return is_whole;
}

static int side_open(struct side *s, struct lkdf *rt, const char *name,
		     uint32_t nr)
{
	int rc = plan_init(&s->plan, name, nr);

	if (!rc)
		rc = lkdf_plan_open(&s->tasks, rt, &s->plan);
	return rc ? bench_fail(rc, "second: %s", lkdf_errmsg()) : 0;
}

static void side_close(struct side *s)
{
	if (s->tasks.rt)
		lkdf_plan_close(&s->tasks);
	plan_fini(&s->plan);
}

static int second_open(struct second *s)
{
	int rc;

	memset(s, 0, sizeof(*s));
	rc = bench_open(1, NULL, &s->rt);
	if (!rc)
		rc = bench_open(1, NULL, &s->rt_apart);
	if (!rc)
		rc = plug_open(&s->plug, s->rt, 1);
	if (!rc)
		rc = plug_open(&s->plug_apart, s->rt_apart, 1);
	if (!rc)
		rc = side_open(&s->first, s->rt, "uses2", NR_TASKS);
	if (!rc)
		rc = side_open(&s->together, s->rt, "uses2", NR_TASKS);
	return rc ? rc : side_open(&s->apart, s->rt_apart, "uses2", NR_TASKS);
}

static void second_close(struct second *s)
{
	side_close(&s->first);
	side_close(&s->together);
	side_close(&s->apart);
	plug_close(&s->plug);
	plug_close(&s->plug_apart);
	lkdf_close(s->rt);
	lkdf_close(s->rt_apart);
}

/* Lets everything run, and looks whether it did. */
static int drain(struct second *s, const struct other *o)
{
	uint64_t sum = 0;
	uint32_t i;
	int rc, rc_apart;

	plug_release(&s->plug);
	plug_release(&s->plug_apart);
	rc = lkdf_scope_wait(s->rt, NULL, -1);
	rc_apart = lkdf_scope_wait(s->rt_apart, NULL, -1);
	if (rc || rc_apart)
		return bench_fail(rc ? rc : rc_apart, "second: %s",
				  lkdf_errmsg());
	if (!plan_is_right(&s->first.plan))
		return bench_fail(-EBADMSG, "second: wrong result");
	for (i = 0; o->side && i < NR_TASKS; i++) {
		sum += o->side->plan.word[i];
		o->side->plan.word[i] = 0;
	}
	if (sum != o->nr_tasks || (o->side && o->side->plan.is_wrong))
		return bench_fail(-EBADMSG, "second: the other one's result");
	return 0;
}

static int hold_both(struct second *s)
{
	int rc = plug_hold(&s->plug);

	if (rc)
		return rc;
	rc = plug_hold(&s->plug_apart);
	if (rc)
		plug_release(&s->plug);
	return rc;
}

static int one_way(struct second *s, int way, struct samples *to)
{
	struct side *const sides[NR_WAYS] = { NULL, &s->apart, &s->together };
	struct other o;
	bool is_whole;
	int64_t start;
	int rc;

	rc = hold_both(s);
	if (rc)
		return rc;
	rc = other_start(&o, sides[way]);
	if (rc) {
		drain(s, &o);
		return rc;
	}
	start = bench_now_ns();
	rc = lkdf_plan_submit(&s->first.tasks, 0, NR_TASKS);
	start = bench_now_ns() - start;
	s->first.plan.nr_runs++;
	is_whole = other_stop(&o);
	if (rc || o.rc) {
		bench_fail(rc ? rc : o.rc, "second: submit: %s", lkdf_errmsg());
		drain(s, &o);
		return rc ? rc : o.rc;
	}
	if (is_whole)
		samples_add(to, (double)start / NR_TASKS);
	return drain(s, &o);
}

static void second_row(struct bench *b, const struct samples *by_way)
{
	struct bench_row *row =
		report_add(&b->report, 1, "ns/task", "uses2/second-submitter");
	double machine;

	row_value(row, &by_way[TOGETHER], 1);
	row->floor = samples_median(&by_way[APART]);
	snprintf(row->peer, sizeof(row->peer), "alone");
	row->peer_value = samples_median(&by_way[ALONE]);
	if (by_way[TOGETHER].nr)
		row_ratio(row, &by_way[TOGETHER], &by_way[ALONE]);
	row_judge(row, BAR_AT_MOST, BAR, gate_was_fair(&b->gate));
	machine = row->floor / row->peer_value;
	if (row->ok == ROW_FALSE && machine > BAR) {
		row->ok = ROW_NULL;
		snprintf(row->note, sizeof(row->note),
			 "two runtimes cost as much: %.2f", machine);
	}
}

/* A side's tasks all wait, then run; nanoseconds per task of the rest. */
static int drain_once(struct second *s, struct side *side, struct samples *to)
{
	uint32_t nr = side->plan.nr_tasks;
	int64_t start;
	int rc = plug_hold(&s->plug), done;

	if (rc)
		return rc;
	rc = lkdf_plan_submit(&side->tasks, 0, nr);
	start = bench_now_ns();
	plug_release(&s->plug);
	done = lkdf_scope_wait(s->rt, NULL, -1);
	start = bench_now_ns() - start;
	if (rc || done)
		return bench_fail(rc ? rc : done, "burst: %s", lkdf_errmsg());
	side->plan.nr_runs++;
	if (!plan_is_right(&side->plan))
		return bench_fail(-EBADMSG, "burst: wrong result");
	samples_add(to, (double)start / nr);
	return 0;
}

static int measure_burst(struct bench *b, struct second *s)
{
	struct side small = { .tasks = { .rt = NULL } }, large = small;
	struct samples by_small = { .nr = 0 }, by_large = { .nr = 0 };
	struct bench_row *row;
	unsigned i;
	int rc = side_open(&small, s->rt, "uses0", BURST / 16);

	if (!rc)
		rc = side_open(&large, s->rt, "uses0", BURST);
	gate_reset(&b->gate);
	for (i = 0; i < BURST_ROUNDS && !rc; i++) {
		bench_round(b, "burst");
		rc = drain_once(s, &small, &by_small);
		if (!rc)
			rc = drain_once(s, &large, &by_large);
	}
	side_close(&small);
	side_close(&large);
	if (rc)
		return rc;
	row = report_add(&b->report, 1, "ns/task", "uses0/burst-drain");
	row_value(row, &by_large, 1);
	snprintf(row->peer, sizeof(row->peer), "burst/16");
	row->peer_value = samples_median(&by_small);
	row_ratio(row, &by_large, &by_small);
	row_judge(row, BAR_AT_MOST, BURST_BAR, gate_was_fair(&b->gate));
	return 0;
}

double bench_second_steps(const struct bench *b)
{
	return b->rounds + BURST_ROUNDS;
}

int bench_second(struct bench *b)
{
	struct samples by_way[NR_WAYS], warm_up;
	struct second s;
	unsigned i;
	int way, rc = second_open(&s);

	memset(by_way, 0, sizeof(by_way));
	memset(&warm_up, 0, sizeof(warm_up));
	for (way = 0; way < NR_WAYS && !rc; way++)
		rc = one_way(&s, way, &warm_up);
	gate_reset(&b->gate);
	for (i = 0; i < b->rounds && !rc; i++) {
		bench_round(b, "second submitter");
		for (way = 0; way < NR_WAYS && !rc; way++)
			rc = one_way(&s, way, &by_way[way]);
	}
	if (!rc) {
		second_row(b, by_way);
		rc = measure_burst(b, &s);
	}
	second_close(&s);
	return rc;
}
