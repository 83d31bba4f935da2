/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Jobs for the scenarios of claims: a job has a claim, a body and perhaps a
 * parent, as a task has. A thread runs what it is told is ready once it holds
 * no lock, as a worker does. What is freed is filled with junk, so that late
 * plain accesses are noticed as well.
 *
 * The functions of the layer above that var.c and claim.c call are here, too;
 * but those for reductions where the program says JOBS_REDUCE.
 */
#ifndef MC_JOBS_H
#define MC_JOBS_H

#include "data/claim.h"
#include "mc.h"

#include <lkdf/task.h>
#include <string.h>

#define NR_JOBS 8
#define NR_DATA 2
#define MAX_USES 2
#define NR_PARTS 2
#define X 0
#define Y 1

struct job {
	struct claim *claim;
	struct job *parent;
	void (*body)(struct job *j);
	_Atomic(uint32_t) live; /* its body and its children */
	int nr_runs, nr_frees, submitter, error;
	/* Of a use: which data. */
	int of[2 * MAX_USES];
};

static const size_t domain_size =
	sizeof(struct domain) + NR_PARTS * sizeof(struct var);
static struct job jobs[NR_JOBS];
static struct domain *domains[NR_DATA];
static int value[NR_DATA]; /* plain: claims must order it */
static struct claim *todo[MC_THREADS + 1]; /* by thread; the last: init() */
static int nr_order, order[NR_JOBS]; /* bodies as they began */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static void run(struct job *j);

static struct claim **my_todo(void)
{
	return &todo[mc_self() < 0 ? MC_THREADS : mc_self()];
}

static void junk(void *p, size_t size)
{
	mc_free(p);
	memset(p, 0xa5, size);
}

/* calloc() of var.c, by a flag in mc.mk. */
void *mc_calloc(size_t nr, size_t size);
void *mc_calloc(size_t nr, size_t size)
{
	return memset(mc_alloc(nr * size), 0, nr * size);
}

struct failure *var_failure_get(struct failure *f)
{
	return f;
}

void var_failure_put(struct lkdf *rt, struct failure *f)
{
	(void)rt;
	(void)f;
}

#ifndef JOBS_REDUCE
/* No copies here. */
void var_combine(struct executor *ex, struct var *v)
{
	(void)ex;
	(void)v;
	mc_fail("nothing to combine");
}

void var_combine_now(struct var *v)
{
	(void)v;
	mc_fail("nothing to combine");
}

bool reduction_is_touched(const struct reduction *r)
{
	(void)r;
	return false;
}

void reduction_forget(struct reduction *r)
{
	(void)r;
}
#endif

/* ---- the claim of a job -------------------------------------------------- */

static size_t claim_size(unsigned nr)
{
	return sizeof(struct claim) + 2 * nr * sizeof(struct use);
}

static void ready(struct executor *ex, struct claim *c)
{
	struct job *j = c->holder;

	(void)ex;
	if (mc_self() != j->submitter)
		mc_see("let in by another");
	c->next = *my_todo();
	*my_todo() = c;
}

static void free_claim(struct claim *c)
{
	struct job *j = c->holder;
	unsigned i;

	mc_assert(j->nr_frees++ == 0);
	for (i = 0; i < c->nr; i++)
		if (c->use[i].below)
			junk(c->use[i].below, sizeof(struct domain));
	junk(c, claim_size(c->nr));
}

static const struct claim_ops job_ops = { ready, free_claim };

static struct job *job(int id, void (*body)(struct job *), struct job *parent)
{
	struct job *j = &jobs[id];
	struct claim *c = mc_calloc(1, claim_size(MAX_USES));

	c->holder = j;
	c->ops = &job_ops;
	j->claim = c;
	j->body = body;
	j->parent = parent;
	a_store(&j->live, 1, relaxed);
	return j;
}

static void add_use(struct job *j, struct domain *d, int of, uint8_t mode)
{
	struct claim *c = j->claim;
	struct use *u = &c->use[c->nr];

	j->of[c->nr++] = of;
	u->domain = d;
	u->mode = mode;
	if (mode & LKDF_WEAK)
		u->flags |= USE_WEAK;
	if (mode & (LKDF_READ | LKDF_COMMUTE | LKDF_REDUCE))
		u->flags |= USE_READS;
	if (mode & (LKDF_WRITE | LKDF_COMMUTE | LKDF_REDUCE))
		u->flags |= USE_WRITES;
}

/* A job with one use, of X. */
static struct job *job_of_x(int id, void (*body)(struct job *), uint8_t mode)
{
	struct job *j = job(id, body, NULL);

	add_use(j, domains[X], X, mode);
	return j;
}

static struct job *job_of_part(int id, void (*body)(struct job *), uint8_t mode,
			       uint32_t part)
{
	struct job *j = job_of_x(id, body, mode);

	j->claim->use[0].part = part;
	return j;
}

/* A job with two uses, of X and Y, listed in the order told. */
static struct job *job_of_both(int id, void (*body)(struct job *), uint8_t mode,
			       int first)
{
	struct job *j = job(id, body, NULL);

	add_use(j, domains[first], first, mode);
	add_use(j, domains[!first], !first, mode);
	return j;
}

/* True: it may go at once. Nobody may look at j's claim after false. */
static bool enter(struct job *j)
{
	struct use *why;
	int rc;

	j->submitter = mc_self();
	mc_assert(claim_prepare(j->claim) == 0);
	rc = claim_enter(NULL, j->claim, &why);
	mc_assert(rc == 0 || rc == 1);
	mc_see(rc ? "at once" : "later");
	return rc == 1;
}

static void submit(struct job *j)
{
	if (enter(j))
		ready(NULL, j->claim);
}

static struct use *use_of(struct job *j, int i)
{
	return &j->claim->use[j->claim->use[i].stands_for];
}

/* Where children of j use what its use i covers. */
static struct domain *below(struct job *j, int i)
{
	struct domain *d = use_below(use_of(j, i), 0);

	mc_assert(d);
	return d;
}

/* ---- the last writer of X ----------------------------------------------- */

/* As data.c: whoever lets it in frees the data, and the claim with it. */
static void destroy(struct executor *ex, struct claim *c)
{
	struct job *j = c->holder;

	(void)ex;
	mc_assert(j->nr_runs++ == 0);
	if (mc_self() != j->submitter)
		mc_see("freed by another");
	plain_store(&value[X], -1);
	junk(domains[X], domain_size);
	free_claim(c);
}

static const struct claim_ops data_ops = { destroy, free_claim };

static void put_data(struct job *j)
{
	j->claim->ops = &data_ops;
	if (enter(j))
		destroy(NULL, j->claim);
}

/* ---- running ------------------------------------------------------------ */

/* As complete.c: the claim goes when the body and the children have ended. */
static void end(struct job *j)
{
	struct job *parent;

	for (; j; j = parent) {
		if (a_sub(&j->live, 1, acq_rel) != 1)
			return;
		parent = j->parent;
		claim_leave(NULL, j->claim, j->error, NULL);
	}
}

static void run(struct job *j)
{
	struct use *u, *after;

	mc_assert(j->nr_runs++ == 0);
	order[nr_order++] = (int)(j - jobs);
	j->body(j);
	for (u = j->claim->first; u; u = after) {
		after = u->after;
		if (!j->error && u->flags & USE_WEAK && !u->is_given)
			use_leave(NULL, u, 0, NULL);
	}
	end(j);
}

static void run_ready(void)
{
	struct claim *c;

	while ((c = *my_todo())) {
		*my_todo() = c->next;
		run(c->holder);
	}
}

static void run_job(int id)
{
	run(&jobs[id]);
	run_ready();
}

/* Of one use, which the parent's first use covers. */
static struct job *child_of(struct job *parent, int id,
			    void (*body)(struct job *), uint8_t mode)
{
	struct job *j = job(id, body, parent);

	a_add(&parent->live, 1, relaxed);
	add_use(j, below(parent, 0), parent->of[0], mode);
	return j;
}

/* Which job was the nth to begin; < 0: it did not run. */
static int place_of(int id)
{
	int i;

	for (i = 0; i < nr_order; i++)
		if (order[i] == id)
			return i;
	return -1;
}

static void body_nothing(struct job *j)
{
	(void)j;
}

static void body_write(struct job *j)
{
	unsigned i;
	int *v;

	for (i = 0; i < j->claim->nr; i++) {
		v = &value[j->of[i]];
		plain_store(v, plain_load(v) + 1);
	}
}

static void body_read(struct job *j)
{
	unsigned i;

	for (i = 0; i < j->claim->nr; i++)
		(void)plain_load(&value[j->of[i]]);
}

/* ---- before and after --------------------------------------------------- */

static void init_data(void)
{
	int i;

	memset(jobs, 0, sizeof(jobs));
	memset(todo, 0, sizeof(todo));
	nr_order = 0;
	for (i = 0; i < NR_DATA; i++) {
		domains[i] = mc_alloc(domain_size);
		domain_init(domains[i], NULL, NULL, NULL);
		domains[i]->whole.is_written = true;
		plain_store(&value[i], 0);
	}
	mc_name(&domains[X]->whole.active, "X.active");
	mc_name(&domains[X]->lock.word, "X.lock");
	mc_name(&domains[X]->version, "X.version");
	mc_name(&domains[Y]->whole.active, "Y.active");
	mc_name(&domains[Y]->lock.word, "Y.lock");
}

/* Of X. */
static void split_x(void)
{
	struct domain *d = domains[X];
	int i;

	d->parts = (struct var *)(d + 1);
	d->nr_parts = NR_PARTS;
	for (i = 0; i < NR_PARTS; i++)
		var_init(&d->parts[i], d);
	mc_name(&d->parts[0].active, "X1.active");
	mc_name(&d->parts[1].active, "X2.active");
}

/* After final: every job has run and been freed, once. */
static void all_ran(void)
{
	int i;

	for (i = 0; i < NR_JOBS; i++) {
		if (!jobs[i].claim)
			continue;
		mc_assert(jobs[i].nr_runs == 1);
		mc_assert(jobs[i].nr_frees == 1);
	}
}

static void nobody_uses(const struct domain *d)
{
	mc_assert(a_load(&d->lock.word, relaxed) == 0);
	mc_assert(a_load(&d->whole.active, relaxed) == VAR_OPEN);
	mc_assert(!d->whole.first);
	mc_assert(!d->whole.has_token && !d->whole.commuters);
}

static void all_gone(void)
{
	all_ran();
	nobody_uses(domains[X]);
	nobody_uses(domains[Y]);
}

static void is_deleted(void)
{
	all_ran();
	mc_assert(value[X] == -1);
}

#pragma GCC diagnostic pop

#endif
