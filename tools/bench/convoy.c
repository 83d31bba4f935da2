/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench policy, the table of locks: bodies that meet in a lock, by the
 * lock, by the way on which they run and by the number of workers, with option
 * narrow and without it in the same run, beside one worker. Behind it come the
 * cases in which narrowing has nothing to win.
 */
#include "bench/bench.h"
#include "bench/locks.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Only the first of several runtimes would have its workers bound. */
#define ON "narrow=auto,pin=no"
#define OFF "narrow=off,pin=no"

#define NR_TASKS 2047
#define QUICK_TASKS 511
#define ROUNDS 5
#define QUICK_ROUNDS 3
#define FIRST_RUNS 20

#define SEALED_BAR 1.15
#define WIDE_BAR 1.3
#define UNSEALED_BAR 1.6
#define PI_BAR 2
#define GAIN_BAR 0.5
#define PART_BAR 1.1
#define FREE_BAR 1.02
#define MIXED_BAR 1.05
#define CROWD_BAR 1.1
#define PHASE_BAR 300 /* ms */

/* How long an arm runs before it is measured, and in each round, in ns. */
struct pace {
	int64_t settle, settle_max, round;
};

static const struct pace paces[] = {
	{ 500000000, 4000000000, 30000000 },
	{ 100000000, 400000000, 10000000 }, /* --quick */
};

/* A line of the table, or a case in which there is nothing to win. */
struct part {
	enum lock_sort lock;
	enum lock_mode mode;
	bool is_mixed; /* half of the tasks compute */
	bool is_crowd; /* twice as many workers as CPUs */
};

static const struct part losing[] = {
	{ LOCK_RANDOM, MODE_FRESH, true, false },
	{ LOCK_NONE, MODE_SPAWNED, false, true },
	{ LOCK_RANDOM, MODE_SPAWNED, false, true },
};
#define NR_LOSING (sizeof(losing) / sizeof(losing[0]))

/* Those of --quick are of each sort: hidden, PI, spin, none, in part. */
static const enum lock_sort quick_locks[] = { LOCK_RANDOM, LOCK_PI, LOCK_SPIN,
					      LOCK_NONE, LOCK_PART };
#define NR_QUICK (sizeof(quick_locks) / sizeof(quick_locks[0]))

/* Forms of work that the table has no column for, with these locks. */
static const enum lock_sort form_locks[] = { LOCK_SPIN, LOCK_MUTEX };
#define NR_FORM_LOCKS (sizeof(form_locks) / sizeof(form_locks[0]))
#define NR_FORMS (NR_MODES - NR_TABLE_MODES)

struct arm {
	int workers;
	const char *options;
	struct lock_load load;
	struct samples run; /* ns, a mean of each round */
	struct samples first; /* the same of the first 20 runs */
};

/* The arm of one worker comes first, then pairs: with narrow and without. */
struct table {
	struct bench *b;
	struct part part;
	struct arm arm[1 + 2 * BENCH_MAX_COUNTS];
	unsigned nr_arms;
	char name[40];
	bool has_probe;
};

/* ---- arms ---------------------------------------------------------------- */

static void add_arm(struct table *t, int workers, const char *options)
{
	struct arm *a = &t->arm[t->nr_arms++];

	memset(a, 0, sizeof(*a));
	a->workers = workers;
	a->options = options;
	a->load.mode = t->part.mode;
	a->load.is_mixed = t->part.is_mixed;
	a->load.nr_tasks = t->b->is_quick ? QUICK_TASKS : NR_TASKS;
}

static void add_pair(struct table *t, int workers)
{
	if (workers == 1)
		return;
	add_arm(t, workers, ON);
	add_arm(t, workers, OFF);
}

/* As many as there are CPUs for, and half of them and so on: --workers else. */
static void add_arms(struct table *t)
{
	const struct bench *b = t->b;
	unsigned i;
	int nr;

	t->nr_arms = 0;
	add_arm(t, 1, ON);
	if (t->part.is_crowd) {
		add_pair(t, 2 * b->gate.nr_cpus);
		return;
	}
	for (i = 0; b->is_told && i < b->nr_counts; i++)
		add_pair(t, b->workers[i]);
	for (nr = 2; !b->is_told && nr <= 16; nr *= 2)
		if (nr <= b->gate.nr_cpus)
			add_pair(t, nr);
}

/* Runs an arm for so long, at least once; the mean, or -errno. */
static int64_t run_for(struct arm *a, int64_t ns)
{
	int64_t sum = 0, took, nr = 0;

	do {
		took = lock_load_run(&a->load);
		if (took < 0)
			return took;
		sum += took;
		nr++;
	} while (sum < ns);
	return sum / nr;
}

/* The first runs of sealed graphs count; of others they do not. */
static int settle_arm(struct arm *a, const struct pace *pace)
{
	bool counts = a->load.mode == MODE_SEALED && !strcmp(a->options, ON);
	int64_t end = bench_now_ns() + pace->settle;
	int64_t last = bench_now_ns() + pace->settle_max, took, sum = 0;
	int i;

	for (i = 0; bench_now_ns() < end || (counts && i < FIRST_RUNS); i++) {
		if (i && bench_now_ns() > last)
			break;
		took = lock_load_run(&a->load);
		if (took < 0)
			return (int)took;
		sum += i < FIRST_RUNS ? took : 0;
	}
	if (i >= FIRST_RUNS)
		samples_add(&a->first, (double)sum / FIRST_RUNS);
	return 0;
}

static int open_arms(struct table *t)
{
	const struct pace *pace = &paces[t->b->is_quick];
	struct arm *a;
	int rc = 0;

	locks_choose(t->part.lock);
	for (a = t->arm; a < t->arm + t->nr_arms && !rc; a++) {
		rc = lock_load_open(&a->load, a->workers, a->options);
		if (rc)
			break;
		t->has_probe = lkdf_caps(a->load.rt) & LKDF_CAP_PROBE;
		rc = settle_arm(a, pace);
		bench_step(t->b, 1.0 / t->nr_arms, t->name);
	}
	return rc;
}

static int measure_arms(struct table *t)
{
	unsigned i, k, rounds = t->b->is_quick ? QUICK_ROUNDS : ROUNDS;
	int64_t ns = paces[t->b->is_quick].round, took;
	struct arm *a;

	gate_reset(&t->b->gate);
	for (i = 0; i < rounds; i++) {
		bench_round(t->b, t->name);
		/* The kernel owes less to who runs first behind the gate. */
		for (k = 0; k < t->nr_arms; k++) {
			a = &t->arm[(i + k) % t->nr_arms];
			took = run_for(a, ns);
			if (took < 0)
				return (int)took;
			samples_add(&a->run, (double)took);
		}
	}
	return 0;
}

/* ---- rows ---------------------------------------------------------------- */

static double sealed_bar(const struct part *p, int workers)
{
	if (p->lock == LOCK_PI)
		return PI_BAR;
	return workers > 4 || p->lock == LOCK_FPUTC || p->lock == LOCK_SPIN
		       ? WIDE_BAR
		       : SEALED_BAR;
}

static bool is_fair(const struct table *t, const struct arm *on)
{
	return gate_was_fair(&t->b->gate) &&
	       (t->part.is_crowd || on->workers <= t->b->gate.nr_cpus);
}

static struct bench_row *add_row(const struct table *t, const struct arm *on,
				 const char *what)
{
	struct bench_row *row =
		report_add(&t->b->report, on->workers, "us", "%s/%d%s", t->name,
			   on->workers, what);

	row_value(row, &on->run, 1e3);
	return row;
}

/* With the option beside without it: what is there to lose, or to win? */
static void off_row(const struct table *t, const struct arm *on,
		    const char *what, double bar, bool counts)
{
	const struct arm *off = on + 1;
	struct bench_row *row = add_row(t, on, what);

	row_peer(row, "narrow=off", &off->run, NULL);
	row->peer_value /= 1e3;
	row_ratio(row, &on->run, &off->run);
	if (counts)
		row_judge(row, BAR_AT_MOST, bar, is_fair(t, on));
}

/* The best number of workers, up to that of the arm. */
static const struct arm *best_arm(const struct table *t, const struct arm *on)
{
	const struct arm *best = t->arm, *a;

	for (a = t->arm + 2; a <= on + 1; a += 2)
		if (samples_median(&a->run) < samples_median(&best->run))
			best = a;
	return best;
}

static void one_row(const struct table *t, const struct arm *on, double bar)
{
	const struct arm *one =
		t->part.lock == LOCK_PART ? best_arm(t, on) : t->arm;
	bool needs_probe = t->part.mode != MODE_SEALED;
	struct bench_row *row = add_row(t, on, "");
	char peer[24];

	snprintf(peer, sizeof(peer), "%d worker%s", one->workers,
		 one->workers > 1 ? "s" : "");
	row_peer(row, peer, &one->run, NULL);
	row->peer_value /= 1e3;
	row_ratio(row, &on->run, &one->run);
	row_judge(row, BAR_AT_MOST, bar,
		  is_fair(t, on) && (t->has_probe || !needs_probe));
	if (needs_probe && !t->has_probe)
		snprintf(row->note, sizeof(row->note),
			 "the probe does not run: lkdf probe start");
}

static void first_row(const struct table *t, const struct arm *on)
{
	struct bench_row *row = add_row(t, on, "/first-20");

	row_value(row, &on->first, 1e3);
	row_peer(row, "1 worker", &t->arm->run, NULL);
	row->peer_value /= 1e3;
	row->ratio = samples_median(&on->first) / samples_median(&t->arm->run);
	row_judge(row, BAR_AT_MOST, UNSEALED_BAR, is_fair(t, on));
	if (!on->first.nr)
		snprintf(row->note, sizeof(row->note),
			 "they took too long to be counted");
}

/* Where more workers are much slower without the option. */
static bool may_gain(const struct table *t, const struct arm *off)
{
	return samples_median(&off->run) >=
	       samples_median(&t->arm->run) * UNSEALED_BAR / GAIN_BAR;
}

static void cell_rows(const struct table *t, const struct arm *on)
{
	const struct part *p = &t->part;
	double bar = p->mode == MODE_SEALED ? sealed_bar(p, on->workers)
		     : p->lock == LOCK_PI   ? PI_BAR
					    : UNSEALED_BAR;

	if (p->is_mixed || p->is_crowd) {
		off_row(t, on, "/on-off", p->is_crowd ? CROWD_BAR : MIXED_BAR,
			true);
		return;
	}
	if (p->lock == LOCK_NONE) {
		off_row(t, on, "/on-off", FREE_BAR, true);
		return;
	}
	one_row(t, on, p->lock == LOCK_PART ? PART_BAR : bar);
	if (p->mode == MODE_SEALED)
		first_row(t, on);
	else
		off_row(t, on, "/on-off", GAIN_BAR, may_gain(t, on + 1));
}

static int do_part(struct bench *b, const struct part *p)
{
	struct table *t = calloc(1, sizeof(*t));
	unsigned i;
	int rc;

	if (!t)
		return bench_fail(-ENOMEM, "policy: no memory");
	t->b = b;
	t->part = *p;
	snprintf(t->name, sizeof(t->name), "%s%s%s/%s",
		 p->is_crowd ? "crowd/" : "", p->is_mixed ? "mixed/" : "",
		 lock_names[p->lock], mode_names[p->mode]);
	add_arms(t);
	rc = open_arms(t);
	if (!rc)
		rc = measure_arms(t);
	for (i = 1; i < t->nr_arms && !rc; i += 2)
		cell_rows(t, &t->arm[i]);
	for (i = 0; i < t->nr_arms; i++)
		lock_load_close(&t->arm[i].load);
	free(t);
	return rc;
}

/* ---- phases -------------------------------------------------------------- */

/* Are workers kept away from bodies of some kind? */
static bool is_narrow(struct lkdf *rt, int workers)
{
	struct lkdf_facts f = { .size = sizeof(f) };

	return !lkdf_signals(rt, -1, &f) && f.active_workers &&
	       f.active_workers < (uint32_t)workers;
}

/* Runs until it is so, for so long at most. The ns that took, or -errno. */
static int64_t run_until(struct lock_load *l, int workers, bool narrow,
			 int64_t most)
{
	int64_t from = bench_now_ns(), took = 0;

	while (took >= 0 && is_narrow(l->rt, workers) != narrow &&
	       bench_now_ns() < from + most)
		took = lock_load_run(l);
	return took < 0 ? took : bench_now_ns() - from;
}

/* A convoy that ends: how long are workers kept away? */
static int time_phase(struct bench *b, int workers, struct samples *ms)
{
	struct lock_load l = { .mode = MODE_FRESH, .nr_tasks = QUICK_TASKS };
	int64_t most = 4 * paces[b->is_quick].settle, took;
	int rc = lock_load_open(&l, workers, ON);

	locks_choose(LOCK_RANDOM);
	took = rc ? rc : run_until(&l, workers, true, most);
	locks_choose(LOCK_NONE);
	if (took >= 0 && is_narrow(l.rt, workers)) {
		took = run_until(&l, workers, false, most);
		samples_add(ms, (double)took / 1e6);
	}
	lock_load_close(&l);
	return took < 0 ? (int)took : 0;
}

static int phase_row(struct bench *b)
{
	int workers = b->gate.nr_cpus < 16 ? b->gate.nr_cpus : 16;
	unsigned i, rounds = b->is_quick ? 1 : 3;
	struct samples ms = { .nr = 0 };
	struct bench_row *row;
	int rc = 0;

	gate_reset(&b->gate);
	for (i = 0; i < rounds && !rc && workers > 1; i++) {
		bench_round(b, "phases");
		rc = time_phase(b, workers, &ms);
	}
	row = report_add(&b->report, workers, "ms", "phases/fresh/%d", workers);
	row_value(row, &ms, 1);
	row->ratio = row->value;
	row_judge(row, BAR_AT_MOST, PHASE_BAR, gate_was_fair(&b->gate));
	if (!ms.nr)
		snprintf(row->note, sizeof(row->note),
			 "no worker was kept away before");
	return rc;
}

/* ---- the table ----------------------------------------------------------- */

static unsigned nr_locks(const struct bench *b)
{
	return b->is_quick ? NR_QUICK : NR_LOCKS;
}

static unsigned nr_form_locks(const struct bench *b)
{
	return b->is_quick ? 1 : NR_FORM_LOCKS;
}

double bench_convoy_steps(const struct bench *b)
{
	unsigned rounds = b->is_quick ? QUICK_ROUNDS : ROUNDS;

	return (nr_locks(b) * NR_TABLE_MODES + nr_form_locks(b) * NR_FORMS +
		NR_LOSING) *
		       (1.0 + rounds) +
	       (b->is_quick ? 1 : 3);
}

static int do_forms(struct bench *b)
{
	struct part p = { .lock = LOCK_SPIN };
	unsigned i, k;
	int rc = 0;

	for (i = 0; i < nr_form_locks(b) && !rc; i++)
		for (k = NR_TABLE_MODES; k < NR_MODES && !rc; k++) {
			p.lock = form_locks[i];
			p.mode = (enum lock_mode)k;
			rc = do_part(b, &p);
		}
	return rc;
}

int bench_convoy(struct bench *b)
{
	struct part p = { .lock = LOCK_RANDOM };
	unsigned i, k;
	int rc = locks_open();

	for (i = 0; i < nr_locks(b) && !rc; i++)
		for (k = 0; k < NR_TABLE_MODES && !rc; k++) {
			p.lock = b->is_quick ? quick_locks[i]
					     : (enum lock_sort)i;
			p.mode = (enum lock_mode)k;
			rc = do_part(b, &p);
		}
	if (!rc)
		rc = do_forms(b);
	for (i = 0; i < NR_LOSING && !rc; i++)
		rc = do_part(b, &losing[i]);
	if (!rc)
		rc = phase_row(b);
	locks_close();
	return rc;
}
