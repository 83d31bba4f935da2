/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The cost of the probe: a context switch of a thread that is not registered
 * and of one that is, a sample, by the kernel's own statistics less those of an
 * empty program; and two threads that wake each other, with it and without.
 */
#include "tests/bench/suites/policy.h"

#include "probe/probe.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWITCH_BAR_NS 400.0
#define SAMPLE_BAR_NS 2000.0
#define PINGPONG_BAR 1.35
#define COST_MS 400
#define SAMPLE_MS 1000 /* some 500 samples of two that compute */
#define NR_PINGS 4000
#define ROUNDS 9
#define QUICK_ROUNDS 3

#ifdef LKDF_HAVE_BPF
struct pair {
	sem_t ball[2];
	atomic_bool ends;
	atomic_int nr_players; /* bodies that have a side */
	char dir[64]; /* of the pins */
};

/* Each waits for the other: a switch a turn. */
static void play(struct pair *p, int me, int nr)
{
	while (nr-- && !atomic_load_explicit(&p->ends, memory_order_relaxed)) {
		sem_wait(&p->ball[me]);
		sem_post(&p->ball[!me]);
	}
	sem_post(&p->ball[!me]);
}

static void *play_other(void *u)
{
	play(u, 1, -1);
	return NULL;
}

static void *play_mine(void *u)
{
	play(u, 0, -1);
	return NULL;
}

static int play_body(struct lkdf_ctx *c, void *arg)
{
	struct pair *p = *(struct pair **)arg;

	(void)c;
	play(p, atomic_fetch_add(&p->nr_players, 1), -1);
	return 0;
}

/* The probe takes no samples of a thread that sleeps: this body computes. */
static int compute_body(struct lkdf_ctx *c, void *arg)
{
	struct pair *p = *(struct pair **)arg;

	(void)c;
	while (!atomic_load_explicit(&p->ends, memory_order_relaxed))
		continue;
	return 0;
}

static void deal(struct pair *p)
{
	sem_init(&p->ball[0], 0, 1);
	sem_init(&p->ball[1], 0, 0);
	atomic_store(&p->ends, false);
	atomic_store(&p->nr_players, 0);
}

static bool start(struct pair *p)
{
	struct probe_want w = { p->dir, NULL, 250, 64, false };
	struct probe_got got;

	return !probe_load(&w, &got);
}

static void stop(struct pair *p)
{
	char why[256];

	probe_unload(p->dir, why, sizeof(why));
}

/* ns a run of the program, without what the statistics cost; -1: unknown. */
static double ns_of(struct pair *p, const char *program, int64_t ms)
{
	struct probe_cost cost[8], empty;
	int nr, i;

	if (probe_empty_cost(ms, &empty) || !empty.nr_runs)
		return -1;
	nr = probe_costs(p->dir, ms, cost, 8);
	for (i = 0; i < nr; i++)
		if (!strcmp(cost[i].name, program) && cost[i].nr_runs > 100)
			return (double)cost[i].ns / (double)cost[i].nr_runs -
			       (double)empty.ns / (double)empty.nr_runs;
	return -1;
}

static void cost_row(struct bench *b, const char *name, double ns, double bar)
{
	struct bench_row *row = report_add(&b->report, 2, "ns", "%s", name);

	row->value = ns;
	row->peer_value = bar;
	row->ratio = ns / bar;
	snprintf(row->peer, sizeof(row->peer), "bar");
	snprintf(row->note, sizeof(row->note),
		 "kernel's statistics, less those of an empty program");
	row_judge(row, BAR_AT_MOST, 1, true);
}

static void absent_row(struct bench *b, const char *name, const char *why)
{
	struct bench_row *row = report_add(&b->report, 2, "ns", "%s", name);

	snprintf(row->note, sizeof(row->note), "%s", why);
	row_judge(row, BAR_AT_MOST, 1, false);
}

static void judge(struct bench *b, const char *name, double ns, double bar)
{
	if (ns < 0)
		absent_row(b, name, "too few runs, or no statistics");
	else
		cost_row(b, name, ns, bar);
}

static int unseen_switch(struct bench *b, struct pair *p)
{
	pthread_t other[2];

	deal(p);
	if (pthread_create(&other[0], NULL, play_mine, p))
		return bench_fail(-EAGAIN, "policy: no thread");
	if (pthread_create(&other[1], NULL, play_other, p))
		abort();
	judge(b, "probe/switch-unseen", ns_of(p, "lkdf_switch", COST_MS),
	      SWITCH_BAR_NS);
	atomic_store(&p->ends, true);
	pthread_join(other[0], NULL);
	pthread_join(other[1], NULL);
	return 0;
}

/* Two workers are in body while the program's cost is read. */
static int cost_of_two(struct pair *p, struct lkdf *rt, lkdf_fn body,
		       const char *program, int64_t ms, double *ns)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "pair" };
	struct lkdf_task t = { .size = sizeof(t), .arg = &p };
	int rc;

	deal(p);
	a.fn = body;
	a.arg_size = sizeof(p);
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		*ns = ns_of(p, program, ms);
	atomic_store(&p->ends, true);
	sem_post(&p->ball[0]);
	sem_post(&p->ball[1]);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(t.kind);
	return rc;
}

/* The pair are workers. */
static int seen_switch(struct bench *b, struct pair *p)
{
	double ns = -1;
	char options[128];
	struct lkdf *rt;
	int rc;

	snprintf(options, sizeof(options), "probe=%s", p->dir);
	rc = bench_open(2, options, &rt);
	if (rc)
		return rc;
	rc = cost_of_two(p, rt, play_body, "lkdf_switch", COST_MS, &ns);
	if (!rc)
		judge(b, "probe/switch-seen", ns, SWITCH_BAR_NS);
	if (!rc)
		rc = cost_of_two(p, rt, compute_body, "lkdf_sample", SAMPLE_MS,
				 &ns);
	if (!rc)
		judge(b, "probe/sample", ns, SAMPLE_BAR_NS);
	lkdf_close(rt);
	return rc ? bench_fail(rc, "policy: %s", lkdf_errmsg()) : 0;
}

static int ping(struct pair *p, struct samples *to)
{
	int64_t begin = bench_now_ns();
	pthread_t other;

	deal(p);
	if (pthread_create(&other, NULL, play_other, p))
		return bench_fail(-EAGAIN, "policy: no thread");
	play(p, 0, NR_PINGS);
	atomic_store(&p->ends, true);
	sem_post(&p->ball[1]);
	pthread_join(other, NULL);
	samples_add(to, (double)(bench_now_ns() - begin) / NR_PINGS);
	return 0;
}

/* Without the probe and with it. */
static int both_pings(struct bench *b, struct pair *p, struct samples *off,
		      struct samples *on)
{
	unsigned i, nr = b->is_quick ? QUICK_ROUNDS : ROUNDS;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++) {
		bench_round(b, "ping-pong");
		rc = ping(p, off);
		if (!rc && !start(p))
			rc = bench_fail(-EPERM, "policy: no probe");
		if (!rc)
			rc = ping(p, on);
		stop(p);
	}
	return rc;
}

/*
 * Both threads share a CPU, so each wake-up is a switch. Where the kernel may
 * choose, they are on one CPU in some rounds and on two in others, which takes
 * ten times as long, with the probe and without.
 */
static int pingpong(struct bench *b, struct pair *p)
{
	static struct samples on, off;
	struct bench_row *row;
	cpu_set_t all, one;
	int rc;

	on.nr = off.nr = 0;
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(all), &all) ||
	    sched_setaffinity(0, sizeof(one), &one))
		return bench_fail(-errno, "policy: cannot choose a CPU");
	gate_reset(&b->gate);
	rc = both_pings(b, p, &off, &on);
	sched_setaffinity(0, sizeof(all), &all);
	if (rc)
		return rc;
	row = report_add(&b->report, 2, "ns", "probe/ping-pong");
	row_value(row, &on, 1);
	row_ratio(row, &on, &off);
	row->peer_value = samples_median(&off);
	snprintf(row->peer, sizeof(row->peer), "no probe");
	row_judge(row, BAR_AT_MOST, PINGPONG_BAR, gate_was_fair(&b->gate));
	return 0;
}

static int all_rows(struct bench *b, struct pair *p)
{
	int rc;

	if (!start(p)) {
		absent_row(b, "probe/switch", "needs root, see lkdf probe");
		return 0;
	}
	rc = unseen_switch(b, p);
	if (!rc)
		rc = seen_switch(b, p);
	stop(p);
	return rc ? rc : pingpong(b, p);
}

int bench_policy_probe(struct bench *b)
{
	struct pair p = { .dir = "/tmp/lkdf-bench-XXXXXX" };
	int rc;

	if (!mkdtemp(p.dir))
		return bench_fail(-errno, "policy: no directory in /tmp");
	rc = all_rows(b, &p);
	rmdir(p.dir);
	return rc;
}
#else
int bench_policy_probe(struct bench *b)
{
	struct bench_row *row = report_add(&b->report, 2, "ns", "probe/switch");

	snprintf(row->note, sizeof(row->note), "built without BPF programs");
	row_judge(row, BAR_AT_MOST, 1, false);
	return 0;
}
#endif
