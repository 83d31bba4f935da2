/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench policy: what decisions taken from facts about contention win, and
 * what they cost where there is nothing to win. Each claim is measured both
 * ways in one run, in runtimes of their own: facts on and off, more workers and
 * one.
 *
 * Trees are sealed graphs, seed 003's: 8191 tasks, 64 calls each.
 */
#include "tests/bench/suites/policy.h"
#include "tests/bench/suites/suites.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_TASKS 8191
#define NR_CALLS 64
#define FIRST_RUNS 20
#define LATER_RUNS 300
#define ROUNDS 9
#define QUICK_ROUNDS 3
#define ON NULL
#define OFF "signal=off"
#define NO_PROBE "probe=\"\""

#define CONVOY_BAR 1.15
#define FIRST_BAR 1.5
#define SIGNAL_BAR 0.8
#define COST_BAR 1.05
#define LOSS_BAR 1.15
#define CROWD 48 /* workers, on however few CPUs */
#define CROWD_BAR 1.3

/* ---- bodies -------------------------------------------------------------- */

/* Takes a lock of libc in each call, for some ns. */
static int call_random(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < NR_CALLS; i++)
		random();
	return 0;
}

/* As long, and meets nobody. */
static int compute(struct lkdf_ctx *c, void *arg)
{
	volatile uint32_t x = 1;
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < NR_CALLS; i++)
		x = x * 5 + 1;
	return 0;
}

/* Time in the system, and meets nobody: the share misleads. */
static int call_system(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	return 0;
}

/* Touches a page that is new in the first run only. */
static int touch(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	++*(volatile char *)arg;
	return 0;
}

static int do_nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

enum {
	RANDOM,
	COMPUTE,
	SYSTEM,
	TOUCH,
	SUBMIT, /* as many tasks, submitted one by one */
	NR_SORTS
};

static const struct {
	const char *name;
	lkdf_fn fn;
} sorts[NR_SORTS] = {
	[RANDOM] = { "random", call_random },
	[COMPUTE] = { "compute", compute },
	[SYSTEM] = { "system", call_system },
	[TOUCH] = { "touch", touch },
	[SUBMIT] = { "submit", do_nothing },
};

/* ---- trees --------------------------------------------------------------- */

struct tree {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *g;
	char *pages; /* of touch; or NULL */
	int sort;
};

static size_t page_bytes(void)
{
	return (size_t)NR_TASKS * 4096;
}

static void tree_close(struct tree *t)
{
	lkdf_graph_put(t->g);
	lkdf_kind_put(t->kind);
	lkdf_close(t->rt);
	if (t->pages)
		munmap(t->pages, page_bytes());
}

static int tree_build(struct tree *t, int sort)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = sorts[sort].name,
				    .fn = sorts[sort].fn };
	uint32_t i;
	int rc;

	rc = lkdf_kind_create(t->rt, &a, &t->kind);
	if (!rc)
		rc = lkdf_graph_create(t->rt, NULL, &t->g);
	if (rc)
		return rc;
	/* The seal tells what an add or an order refuses. */
	for (i = 0; i < NR_TASKS; i++)
		lkdf_graph_add(t->g, t->kind,
			       t->pages ? t->pages + (size_t)i * 4096 : NULL,
			       NULL, 0);
	for (i = 1; i < NR_TASKS; i++)
		lkdf_graph_order(t->g, (i - 1) / 2, i);
	return lkdf_graph_seal(t->g, NULL);
}

static int tree_open(struct tree *t, int workers, const char *options, int sort)
{
	int rc;

	memset(t, 0, sizeof(*t));
	t->sort = sort;
	if (sort == TOUCH) {
		t->pages = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (t->pages == MAP_FAILED) {
			t->pages = NULL;
			return bench_fail(-ENOMEM, "policy: no memory");
		}
		madvise(t->pages, page_bytes(), MADV_NOHUGEPAGE);
	}
	rc = bench_open(workers, options, &t->rt);
	if (rc)
		return rc;
	rc = tree_build(t, sort);
	return rc ? bench_fail(rc, "policy: %s", lkdf_errmsg()) : 0;
}

static int submit_all(struct tree *t)
{
	struct lkdf_task a = { .size = sizeof(a), .kind = t->kind };
	int i, rc = 0;

	for (i = 0; i < NR_TASKS && !rc; i++)
		rc = lkdf_submit(t->rt, NULL, &a, NULL);
	return rc ? rc : lkdf_scope_wait(t->rt, NULL, -1);
}

static int run_once(struct tree *t)
{
	struct lkdf_event done;
	int rc;

	if (t->sort == SUBMIT)
		return submit_all(t);
	rc = lkdf_graph_run(t->g, NULL, NULL, &done);
	return rc ? rc : lkdf_event_wait(done, -1);
}

/* All of them, one after the other; ns. */
static int tree_run(struct tree *t, int nr, double *ns)
{
	int64_t start = bench_now_ns();
	int i, rc = 0;

	for (i = 0; i < nr && !rc; i++)
		rc = run_once(t);
	*ns = (double)(bench_now_ns() - start);
	return rc ? bench_fail(rc, "policy: %s", lkdf_errmsg()) : 0;
}

/* A runtime of its own: its first runs, and some later ones; ns a run. */
struct arm {
	const char *options;
	int workers, sort;
	struct samples first, later;
};

static bool has_later(const struct arm *a)
{
	return a->sort == RANDOM || a->sort == COMPUTE;
}

static int arm_round(struct arm *a)
{
	double first = 0, later = 0;
	struct tree t;
	int rc = tree_open(&t, a->workers, a->options, a->sort);

	if (!rc)
		rc = tree_run(&t, FIRST_RUNS, &first);
	if (!rc && has_later(a))
		rc = tree_run(&t, LATER_RUNS, &later);
	tree_close(&t);
	if (rc)
		return rc;
	samples_add(&a->first, first / FIRST_RUNS);
	if (has_later(a))
		samples_add(&a->later, later / LATER_RUNS);
	return 0;
}

static unsigned nr_rounds(const struct bench *b)
{
	return b->is_quick ? QUICK_ROUNDS : ROUNDS;
}

static int measure(struct bench *b, struct arm *arm, unsigned nr_arms,
		   const char *what)
{
	unsigned i, j;
	int rc = 0;

	gate_reset(&b->gate);
	for (i = 0; i < nr_rounds(b) && !rc; i++) {
		bench_round(b, what);
		for (j = 0; j < nr_arms && !rc; j++)
			rc = arm_round(&arm[j]);
	}
	return rc;
}

static struct bench_row *add(struct bench *b, const struct arm *a,
			     const struct arm *to, bool is_first,
			     const char *name)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "us", "%s", name);
	const struct samples *num = is_first ? &a->first : &a->later;
	const struct samples *den = is_first ? &to->first : &to->later;

	row_value(row, num, 1e3);
	row_ratio(row, num, den);
	row->peer_value = samples_median(den) / 1e3;
	return row;
}

/* ---- rows ---------------------------------------------------------------- */

/* Seed 003: more workers over one. */
static int convoy(struct bench *b, int workers)
{
	struct arm arm[2] = { { .workers = workers, .sort = RANDOM },
			      { .workers = 1, .sort = RANDOM } };
	struct bench_row *row;
	bool is_fair;
	int rc = measure(b, arm, 2, "convoy");

	if (rc)
		return rc;
	is_fair = gate_was_fair(&b->gate);
	row = add(b, &arm[0], &arm[1], false, "convoy/again");
	snprintf(row->peer, sizeof(row->peer), "1 worker");
	row_judge(row, BAR_AT_MOST, workers == CROWD ? CROWD_BAR : CONVOY_BAR,
		  is_fair);
	row = add(b, &arm[0], &arm[1], true, "convoy/first-20");
	snprintf(row->peer, sizeof(row->peer), "1 worker");
	row_judge(row, BAR_AT_MOST, FIRST_BAR, is_fair);
	return 0;
}

static void judge(struct bench *b, const struct arm *arm, bool is_first,
		  const char *name, double bar)
{
	struct bench_row *row = add(b, &arm[0], &arm[1], is_first, name);

	snprintf(row->peer, sizeof(row->peer), "%s", arm[1].options);
	row_judge(row, BAR_AT_MOST, bar, gate_was_fair(&b->gate));
}

static int on_and_off(struct bench *b, int sort, const char *on,
		      const char *off, const char *name, double bar)
{
	struct arm arm[2] = {
		{ .options = on, .workers = 2, .sort = sort },
		{ .options = off, .workers = 2, .sort = sort },
	};
	int rc = measure(b, arm, 2, name);

	if (rc)
		return rc;
	judge(b, arm, true, name, bar);
	/* The cost to all programs, where runs go on as they do. */
	if (sort == COMPUTE && !strcmp(off, OFF))
		judge(b, arm, false, "core/run", COST_BAR);
	return 0;
}

static bool has_probe(void)
{
	bool has = false;
	struct lkdf *rt;

	if (lkdf_open("workers=1", &rt))
		return false;
	has = lkdf_caps(rt) & LKDF_CAP_PROBE;
	lkdf_close(rt);
	return has;
}

/* The cost of bodies while their kinds are noted, and CPUs sampled. */
static int probe_cost(struct bench *b)
{
	struct bench_row *row;

	if (has_probe())
		return on_and_off(b, COMPUTE, ON, NO_PROBE, "cost/probe",
				  COST_BAR);
	row = report_add(&b->report, 2, "us", "cost/probe");
	snprintf(row->note, sizeof(row->note),
		 "the probe does not run: lkdf probe start");
	row_judge(row, BAR_AT_MOST, COST_BAR, false);
	return 0;
}

double bench_policy_steps(const struct bench *b)
{
	return (double)(11 * nr_rounds(b));
}

int bench_policy(struct bench *b)
{
	static const int workers[] = { 2, 4, 8, CROWD };
	unsigned i;
	int rc = bench_policy_probe(b);

	for (i = 0; i < 4 && !rc; i++)
		rc = convoy(b, workers[i]);
	if (!rc)
		rc = on_and_off(b, RANDOM, ON, OFF, "win/random", SIGNAL_BAR);
	/* Where there is nothing to win. */
	if (!rc)
		rc = on_and_off(b, COMPUTE, ON, OFF, "loss/compute", COST_BAR);
	if (!rc)
		rc = on_and_off(b, TOUCH, ON, OFF, "loss/first-touch",
				LOSS_BAR);
	if (!rc)
		rc = on_and_off(b, SYSTEM, ON, OFF, "loss/system", LOSS_BAR);
	if (!rc)
		rc = on_and_off(b, SUBMIT, ON, OFF, "core/submit", COST_BAR);
	return rc ? rc : probe_cost(b);
}
