/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench wake: from a submit outside to the start of the body, on another
 * CPU, with the worker asleep and within its spin window, against a thread on
 * that CPU that sleeps on a raw futex, or polls a word. Liveness: a body that
 * spawns a task and spins until it has started elsewhere.
 */
#include "bench/bench.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASLEEP_NS 2000000
#define WITHIN_NS 5000
#define PER_ROUND 20
#define GIVE_UP_NS 5000000000ll

/* The raw sleeper, and what the bodies write. */
static struct {
	_Atomic uint32_t word;
	atomic_bool is_over, is_polling;
	_Atomic int64_t started_ns;
	pthread_t thread;
	int cpu;
} raw;

struct waker {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct samples by_lkdf[2], by_raw[2]; /* asleep, within the window */
};

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void pin_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *raw_main(void *arg)
{
	uint32_t seen = 0;

	(void)arg;
	pin_to(raw.cpu);
	while (!atomic_load(&raw.is_over)) {
		while (atomic_load(&raw.word) == seen) {
			if (atomic_load(&raw.is_polling))
				relax();
			else
				syscall(SYS_futex, &raw.word,
					FUTEX_WAIT_PRIVATE, seen, NULL, NULL,
					0);
		}
		seen++;
		atomic_store(&raw.started_ns, bench_now_ns());
	}
	return NULL;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&raw.started_ns, bench_now_ns());
	return 0;
}

/* Spins until whoever was woken has written the time. */
static double latency_us(int64_t start)
{
	int64_t then;

	while (!(then = atomic_load(&raw.started_ns)))
		relax();
	atomic_store(&raw.started_ns, 0);
	return (double)(then - start) / 1e3;
}

static double raw_wake(void)
{
	int64_t start = bench_now_ns();

	atomic_fetch_add(&raw.word, 1);
	if (!atomic_load(&raw.is_polling))
		syscall(SYS_futex, &raw.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
			0);
	return latency_us(start);
}

static double lkdf_wake(struct waker *w)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = w->kind };
	int64_t start = bench_now_ns();

	if (lkdf_submit(w->rt, NULL, &t, NULL))
		return NAN;
	return latency_us(start);
}

static void spin_for(int64_t ns)
{
	int64_t end = bench_now_ns() + ns;

	while (bench_now_ns() < end)
		relax();
}

static void asleep_samples(struct waker *w)
{
	unsigned i;

	atomic_store(&raw.is_polling, false);
	for (i = 0; i < PER_ROUND; i++) {
		spin_for(ASLEEP_NS);
		samples_add(&w->by_raw[0], raw_wake());
		spin_for(ASLEEP_NS);
		samples_add(&w->by_lkdf[0], lkdf_wake(w));
	}
}

/*
 * The first one of each wakes a sleeper and is dropped. The raw thread polls
 * only while it is its turn: both sit on one CPU.
 */
static void within_samples(struct waker *w)
{
	unsigned i;

	atomic_store(&raw.is_polling, true);
	atomic_fetch_add(&raw.word, 1);
	syscall(SYS_futex, &raw.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	latency_us(0);
	for (i = 0; i < PER_ROUND; i++) {
		spin_for(WITHIN_NS);
		samples_add(&w->by_raw[1], raw_wake());
	}
	atomic_store(&raw.is_polling, false);
	spin_for(ASLEEP_NS);
	lkdf_wake(w);
	for (i = 0; i < PER_ROUND; i++) {
		spin_for(WITHIN_NS);
		samples_add(&w->by_lkdf[1], lkdf_wake(w));
	}
}

/* First and last CPU of this process; false if there is only one. */
static bool two_cpus(int *first, int *last)
{
	cpu_set_t set;
	int cpu;

	*first = -1;
	*last = -1;
	if (sched_getaffinity(0, sizeof(set), &set))
		return false;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (*first < 0)
			*first = cpu;
		*last = cpu;
	}
	return *first != *last;
}

static int waker_open(struct waker *w, int cpu)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "stamp",
				    .fn = body };
	char text[32];
	int rc;

	memset(w, 0, sizeof(*w));
	snprintf(text, sizeof(text), "cpus=%d", cpu);
	rc = bench_open(1, text, &w->rt);
	if (rc)
		return rc;
	rc = lkdf_kind_create(w->rt, &a, &w->kind);
	if (rc)
		return bench_fail(rc, "kind: %s", lkdf_errmsg());
	raw.cpu = cpu;
	atomic_store(&raw.is_over, false);
	atomic_store(&raw.word, 0);
	return -pthread_create(&raw.thread, NULL, raw_main, NULL);
}

static void waker_close(struct waker *w)
{
	atomic_store(&raw.is_over, true);
	atomic_fetch_add(&raw.word, 1);
	syscall(SYS_futex, &raw.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(raw.thread, NULL);
	lkdf_scope_wait(w->rt, NULL, -1);
	lkdf_kind_put(w->kind);
	lkdf_close(w->rt);
}

static void wake_rows(struct bench *b, const struct waker *w)
{
	bool is_fair = gate_was_fair(&b->gate);
	struct bench_row *row;

	row = report_add(&b->report, 1, "us", "wake/asleep");
	row_value(row, &w->by_lkdf[0], 1);
	row->floor = samples_median(&w->by_raw[0]);
	snprintf(row->peer, sizeof(row->peer), "futex");
	row->peer_value = row->floor;
	row_ratio(row, &w->by_lkdf[0], &w->by_raw[0]);
	/* Single wake-ups scatter; the median of hundreds does not. */
	row->spread /= sqrt(w->by_lkdf[0].nr);
	row_judge(row, BAR_AT_MOST, 1.15, is_fair);
	row = report_add(&b->report, 1, "us", "wake/within-window");
	row_value(row, &w->by_lkdf[1], 1);
	row->floor = samples_median(&w->by_raw[1]);
	snprintf(row->peer, sizeof(row->peer), "poll");
	row->peer_value = row->floor;
	row->ratio = row->value;
	row->spread = (samples_quantile(&w->by_lkdf[1], 0.75) -
		       samples_quantile(&w->by_lkdf[1], 0.25)) /
		      2;
	row_judge(row, BAR_AT_MOST, 0.5, is_fair);
	snprintf(row->note, sizeof(row->note),
		 "bar in us; %.2f times a polling thread",
		 row->value / row->floor);
}

static int measure_wakes(struct bench *b, unsigned rounds)
{
	cpu_set_t before;
	struct waker w;
	int first, last, rc;
	unsigned i;

	if (!two_cpus(&first, &last)) {
		snprintf(report_add(&b->report, 1, "us", "wake/asleep")->note,
			 96, "needs two CPUs");
		return 0;
	}
	rc = waker_open(&w, last);
	if (rc)
		return rc;
	gate_reset(&b->gate);
	for (i = 0; i < rounds; i++) {
		bench_round(b, "wake");
		sched_getaffinity(0, sizeof(before), &before);
		pin_to(first);
		asleep_samples(&w);
		within_samples(&w);
		sched_setaffinity(0, sizeof(before), &before);
	}
	wake_rows(b, &w);
	waker_close(&w);
	return 0;
}

/* State that parent and child of the liveness test share. */
struct meeting {
	struct lkdf_kind *child;
	atomic_bool has_started;
	int parent_worker, child_worker;
	int64_t took_ns;
};

static int child_body(struct lkdf_ctx *c, void *arg)
{
	struct meeting *m = arg;

	m->child_worker = lkdf_worker(c);
	atomic_store(&m->has_started, true);
	return 0;
}

static int parent_body(struct lkdf_ctx *c, void *arg)
{
	struct meeting *m = arg;
	int64_t start = bench_now_ns();
	int rc = lkdf_spawn(c, m->child, m);

	if (rc)
		return rc;
	m->parent_worker = lkdf_worker(c);
	while (!atomic_load(&m->has_started)) {
		if (bench_now_ns() - start > GIVE_UP_NS)
			return lkdf_fail(c, -ETIMEDOUT, "nobody came");
		relax();
	}
	m->took_ns = bench_now_ns() - start;
	return 0;
}

static int meet(struct lkdf *rt, struct meeting *m)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "child",
				    .fn = child_body };
	struct lkdf_task t = { .size = sizeof(t), .arg = m };
	struct lkdf_event done;
	int rc = lkdf_kind_create(rt, &a, &m->child);

	if (rc)
		return bench_fail(rc, "kind: %s", lkdf_errmsg());
	a.name = "parent";
	a.fn = parent_body;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_kind_put(t.kind);
	lkdf_kind_put(m->child);
	return rc;
}

static int measure_liveness(struct bench *b, int workers)
{
	struct meeting m = { .child = NULL };
	struct bench_row *row;
	struct lkdf *rt;
	int rc;

	bench_step(b, 1, "liveness");
	rc = bench_open(workers, NULL, &rt);
	if (rc)
		return rc;
	bench_sleep_ns(1000000000);
	rc = meet(rt, &m);
	row = report_add(&b->report, workers, "us", "liveness/%d", workers);
	if (!rc)
		row->value = (double)m.took_ns / 1e3;
	if (rc && rc != -ETIMEDOUT)
		snprintf(row->note, sizeof(row->note), "%s", lkdf_errmsg());
	row_verdict(row, !rc && m.parent_worker != m.child_worker);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_close(rt);
	return 0;
}

static unsigned wake_rounds(const struct bench *b)
{
	return b->is_quick ? 6 : 12;
}

double bench_wake_steps(const struct bench *b)
{
	return wake_rounds(b) + 2;
}

int bench_wake(struct bench *b)
{
	int rc = measure_wakes(b, wake_rounds(b));

	if (!rc)
		rc = measure_liveness(b, 2);
	return rc ? rc : measure_liveness(b, 8);
}
