/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench submit: tasks that name the data they use, submitted one at a
 * time by one thread. Clocks of their own for submitting and for the rest
 * until all have run. With disjoint data the submission is what counts; in
 * the shapes, where each task reads what its predecessors wrote, the whole
 * time, because OpenMP's submitter runs tasks itself.
 */
#include "bench/submit.h"
#include "bench/arms.h"
#include "bench/peer.h"

#include "tests/bench/lkdf_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define USES_TASKS 4096
#define USES_TIMES 9 /* in a row */
#define SHAPE_TASKS 65536
#define STARPU_BAR 5
#define PATIENCE_NS 10000000000ll

enum {
	STARPU,
	GOMP, /* as many threads as lkdf has workers */
	OMP,
	GOMP_MORE, /* and one more, as lkdf's submitter is one more */
	OMP_MORE,
	NR_PEERS
};

static const struct {
	const char *program, *name;
	int more;
} peers[NR_PEERS] = {
	{ "peer_starpu", "starpu", 0 },	     { "peer_omp_gcc", "libgomp", 0 },
	{ "peer_omp_clang", "libomp", 0 },   { "peer_omp_gcc", "libgomp+1", 1 },
	{ "peer_omp_clang", "libomp+1", 1 },
};

struct part {
	const char *name; /* of the plan */
	bool is_shape, is_held;
	double starpu_bar; /* 0: none */
};

static const struct part parts[] = {
	{ "uses0", false, false, 0 },
	{ "uses1", false, false, 0 },
	{ "uses2", false, false, STARPU_BAR },
	{ "uses4", false, false, 0 },
	{ "uses8", false, false, 0 },
	{ "uses2", false, true, STARPU_BAR },
	{ "chain", true, false, 0 },
	{ "tree", true, false, 0 },
	{ "wave", true, false, 0 },
	{ "random", true, false, 0 },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* Nanoseconds per task. */
struct phases {
	struct samples submit, drain, both;
};

struct arm {
	int workers;
	struct lkdf *rt;
	struct plug plug;
	struct peer peer[NR_PEERS];
	struct plan plan;
	struct lkdf_plan tasks;
	struct phases by_lkdf, by_peer[NR_PEERS];
};

static int plug_body(struct lkdf_ctx *c, void *arg)
{
	struct plug *p = arg;

	(void)c;
	__atomic_fetch_add(&p->nr_in, 1, __ATOMIC_RELEASE);
	while (sem_wait(&p->go))
		;
	return 0;
}

int plug_open(struct plug *p, struct lkdf *rt, int nr_workers)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "plug",
				    .fn = plug_body };

	p->rt = rt;
	p->nr_workers = nr_workers;
	if (sem_init(&p->go, 0, 0))
		return -errno;
	return lkdf_kind_create(rt, &a, &p->kind);
}

void plug_close(struct plug *p)
{
	if (!p->rt)
		return;
	lkdf_kind_put(p->kind);
	sem_destroy(&p->go);
}

int plug_hold(struct plug *p)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = p->kind, .arg = p };
	int64_t end = bench_now_ns() + PATIENCE_NS;
	int i, rc = 0;

	__atomic_store_n(&p->nr_in, 0, __ATOMIC_RELAXED);
	for (i = 0; i < p->nr_workers && !rc; i++)
		rc = lkdf_submit(p->rt, NULL, &t, NULL);
	if (rc) {
		plug_release(p);
		return bench_fail(rc, "plug: %s", lkdf_errmsg());
	}
	while (__atomic_load_n(&p->nr_in, __ATOMIC_ACQUIRE) <
	       (uint32_t)p->nr_workers) {
		bench_sleep_ns(100000);
		if (bench_now_ns() < end)
			continue;
		plug_release(p);
		return bench_fail(-ETIMEDOUT, "a worker does not start");
	}
	return 0;
}

void plug_release(struct plug *p)
{
	int i;

	for (i = 0; i < p->nr_workers; i++)
		sem_post(&p->go);
}

static void add_phases(struct phases *to, double submit, double drain,
		       uint32_t nr_tasks)
{
	samples_add(&to->submit, submit / nr_tasks);
	samples_add(&to->drain, drain / nr_tasks);
	samples_add(&to->both, (submit + drain) / nr_tasks);
}

static int lkdf_once(struct arm *a, bool is_held, bool is_counted)
{
	int64_t start, submitted, end;
	int rc = is_held ? plug_hold(&a->plug) : 0, done;

	if (rc)
		return rc;
	start = bench_now_ns();
	rc = lkdf_plan_submit(&a->tasks, 0, a->plan.nr_tasks);
	submitted = bench_now_ns();
	if (is_held)
		plug_release(&a->plug);
	done = lkdf_scope_wait(a->rt, NULL, -1);
	end = bench_now_ns();
	if (rc || done)
		return bench_fail(rc ? rc : done, "submit: %s", lkdf_errmsg());
	a->plan.nr_runs++;
	if (!plan_is_right(&a->plan))
		return bench_fail(-EBADMSG, "lkdf: a task was lost, ran twice "
					    "or too early");
	if (is_counted)
		add_phases(&a->by_lkdf, (double)(submitted - start),
			   (double)(end - submitted), a->plan.nr_tasks);
	return 0;
}

/* OpenMP cannot hold its tasks, and what it asks of the submitter shows in
 * the shapes only. */
static bool is_asked(const struct part *part, unsigned i)
{
	return part->is_shape || i == STARPU;
}

static int peer_once(struct arm *a, const struct part *part, unsigned i,
		     bool is_counted)
{
	double out[PEER_MAX_VALUES];
	struct peer *p = &a->peer[i];
	int rc;

	if (!is_asked(part, i) || !p->pid)
		return 0;
	rc = peer_ask(p, out, "submit %s %u %d %d", part->name,
		      a->plan.nr_tasks, a->workers + peers[i].more,
		      part->is_held);
	if (rc == -EPROTO && !strcmp(p->why, "wrong result"))
		return bench_fail(-EBADMSG, "%s: wrong result", peers[i].name);
	if (rc == 2 && is_counted)
		add_phases(&a->by_peer[i], out[0], out[1], a->plan.nr_tasks);
	return 0;
}

/* Short ones are done several times by each contestant in turn; the first
 * finds the caches full of the others' data and is not counted. */
static int one_round(const struct bench *b, void *arm, unsigned nr)
{
	const struct part *part = &parts[nr];
	struct arm *a = arm;
	unsigned i, k, times = part->is_shape ? 1 : USES_TIMES;
	int rc = 0;

	(void)b;
	for (i = 0; i < times && !rc; i++)
		rc = lkdf_once(a, part->is_held, i || times == 1);
	for (k = 0; k < NR_PEERS; k++)
		for (i = 0; i < times && !rc; i++)
			rc = peer_once(a, part, k, i || times == 1);
	return rc;
}

static int arm_open(void *arm, int workers)
{
	struct arm *a = arm;
	unsigned i;
	int rc;

	a->workers = workers;
	for (i = 0; i < NR_PEERS; i++)
		peer_open(&a->peer[i], peers[i].program);
	rc = bench_open(workers, NULL, &a->rt);
	return rc ? rc : plug_open(&a->plug, a->rt, workers);
}

static void arm_close(void *arm)
{
	struct arm *a = arm;
	unsigned i;

	for (i = 0; i < NR_PEERS; i++)
		peer_close(&a->peer[i]);
	plug_close(&a->plug);
	lkdf_close(a->rt);
}

static void forget(struct arm *a)
{
	memset(&a->by_lkdf, 0, sizeof(a->by_lkdf));
	memset(a->by_peer, 0, sizeof(a->by_peer));
}

/* Data for all words, and one round that does not count. */
static int part_open(const struct bench *b, void *arm, unsigned i)
{
	const struct part *part = &parts[i];
	struct arm *a = arm;
	uint32_t nr = !part->is_shape ? USES_TASKS
		      : b->is_quick   ? SHAPE_TASKS / 4
				      : SHAPE_TASKS;
	int rc = plan_init(&a->plan, part->name, nr);

	if (rc)
		return bench_fail(rc, "no plan");
	rc = lkdf_plan_open(&a->tasks, a->rt, &a->plan);
	if (rc)
		return bench_fail(rc, "data: %s", lkdf_errmsg());
	rc = one_round(b, a, i);
	forget(a);
	return rc;
}

static void part_close(void *arm)
{
	struct arm *a = arm;

	if (a->tasks.rt)
		lkdf_plan_close(&a->tasks);
	plan_fini(&a->plan);
}

static struct bench_row *peer_row(struct bench *b, const struct arm *a,
				  const struct part *part, unsigned i)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "ns/task", "%s%s/%d/%s",
			   part->name, part->is_held ? "-held" : "", a->workers,
			   peers[i].name);
	const struct samples *us, *them;

	us = part->is_shape ? &a->by_lkdf.both : &a->by_lkdf.submit;
	them = part->is_shape ? &a->by_peer[i].both : &a->by_peer[i].submit;
	row_value(row, us, 1);
	if (row_peer(row, peers[i].name, them, a->peer[i].why))
		row_ratio(row, them, us);
	return row;
}

/* Submitter and workers need a CPU each for the submission to be timed. */
static void uses_rows(struct bench *b, const struct arm *a,
		      const struct part *part)
{
	struct bench_row *row = peer_row(b, a, part, STARPU);

	if (part->starpu_bar > 0 &&
	    (part->is_held || a->workers < b->gate.nr_cpus))
		row_judge(row, BAR_AT_LEAST, part->starpu_bar,
			  gate_was_fair(&b->gate));
	else if (part->starpu_bar > 0)
		snprintf(row->note, sizeof(row->note),
			 "more threads than CPUs");
	row = report_add(&b->report, a->workers, "ns/task", "%s%s/%d/drain",
			 part->name, part->is_held ? "-held" : "", a->workers);
	row_value(row, &a->by_lkdf.drain, 1);
	row->peer_value = samples_median(&a->by_peer[STARPU].drain);
	snprintf(row->peer, sizeof(row->peer), "starpu");
}

static void shape_rows(struct bench *b, const struct arm *a,
		       const struct part *part, const struct arm *first)
{
	bool is_fair = gate_was_fair(&b->gate);
	struct bench_row *row;
	unsigned i;

	for (i = 0; i < NR_PEERS; i++) {
		row = peer_row(b, a, part, i);
		if (i == OMP && a->workers == 1)
			snprintf(row->note, sizeof(row->note),
				 "one thread: calls each task at once, "
				 "looks at no dependences");
		else if (i != STARPU)
			row_judge(row, BAR_AT_LEAST, 1, is_fair);
	}
	row = report_add(&b->report, a->workers, "ns/task", "%s/%d/submit",
			 part->name, a->workers);
	row_value(row, &a->by_lkdf.submit, 1);
	if (a == first)
		return;
	row = report_add(&b->report, a->workers, "ns/task", "%s/slower",
			 part->name);
	row_value(row, &a->by_lkdf.both, 1);
	row_ratio(row, &a->by_lkdf.both, &first->by_lkdf.both);
	row_judge(row, BAR_AT_MOST, 1.05, is_fair);
}

static void part_rows(struct bench *b, const void *arm, const void *first,
		      unsigned i)
{
	if (parts[i].is_shape)
		shape_rows(b, arm, &parts[i], first);
	else
		uses_rows(b, arm, &parts[i]);
}

static const char *name_of(unsigned i)
{
	return parts[i].name;
}

static unsigned rounds_of(const struct bench *b, unsigned i)
{
	return parts[i].is_shape && !b->is_quick ? 11 : b->rounds;
}

static const struct bench_arms plans = {
	.size = sizeof(struct arm),
	.open = arm_open,
	.close = arm_close,
	.name = name_of,
	.rounds = rounds_of,
	.build = part_open,
	.round = one_round,
	.rows = part_rows,
	.drop = part_close,
};

double bench_submit_steps(const struct bench *b)
{
	return bench_arms_steps(b, &plans, NR_PARTS);
}

int bench_submit(struct bench *b)
{
	return bench_arms(b, &plans, NR_PARTS);
}
