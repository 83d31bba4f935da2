/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_submit_many(): in order as if submitted one after another, all or
 * none, and one event for all. Random programs are compared with an
 * interpreter. Allocations that fail: test_many_faults.c.
 *
 * test_many [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/compare.h"

#include <pthread.h>

#define NR_LIST 10
#define MAX_LIST 5000

/*
 * Random programs
 */

struct list {
	struct lkdf_task task[MAX_STEPS];
	const struct lkdf_task *at[MAX_STEPS];
	struct lkdf_use use[MAX_STEPS][MAX_OPS];
	struct job job[MAX_STEPS];
};

/* Steps first .. first + nr - 1 in one call. */
static int submit_steps(struct world *w, uint32_t first, uint32_t nr,
			struct lkdf_scope *scope, struct lkdf_event *done)
{
	static struct list list;
	struct list *l = &list;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		l->job[i] = (struct job){ w, first + i };
		uses_of(w, &w->p->step[first + i], l->use[i]);
		l->task[i] = (struct lkdf_task){
			.size = sizeof(struct lkdf_task),
			.kind = w->kind,
			.arg = &l->job[i],
			.use = l->use[i],
			.nr_use = w->p->step[first + i].nr,
		};
		l->at[i] = &l->task[i];
	}
	return lkdf_submit_many(w->rt, scope, l->at, nr, done);
}

/* What done must say of the steps; they fail with one error only. */
static int error_of(const struct state *st, uint32_t first, uint32_t nr)
{
	uint32_t i;

	for (i = first; i < first + nr; i++)
		if (st->result[i])
			return st->result[i];
	return 0;
}

/* All in one call, in pieces, or pieces and single ones. */
static void submit_program(struct world *w, const struct state *st)
{
	struct rng rng = { w->p->seed + 77 }, *r = &rng;
	uint32_t way = rng_range(r, 0, 2), i, nr;
	struct lkdf_event done;
	int rc;

	for (i = 0; i < w->p->nr_steps; i += nr) {
		nr = w->p->nr_steps - i;
		if (way)
			nr = rng_range(r, 1, nr < 12 ? nr : 12);
		if (way == 2 && rng_one_in(r, 2)) {
			nr = 1;
			world_submit(w, i, NULL, NULL);
			continue;
		}
		rc = submit_steps(w, i, nr, NULL, &done);
		if (rc) {
			wrong(w, "steps %u, %u of them: submit: %d %s", i, nr,
			      rc, lkdf_errmsg());
			continue;
		}
		if (rng_one_in(r, 2)) {
			lkdf_event_put(done);
			continue;
		}
		rc = lkdf_event_wait(done, -1);
		if (rc != error_of(st, i, nr))
			wrong(w, "steps %u, %u of them: done: %d", i, nr, rc);
	}
}

static int run_many(struct lkdf *rt, struct lkdf_kind *k,
		    const struct choice *c, uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct world *w;
	int nr;

	program_make(&p, c, seed);
	state_run(&st, &p);
	w = world_create(rt, &p, k);
	submit_program(w, &st);
	if (seed % 2)
		world_check_data(w, &st);
	if (lkdf_scope_wait(rt, NULL, -1) && !c->error)
		wrong(w, "scope: %s", lkdf_errmsg());
	nr = world_check(w, &st,
			 !(c->modes & LKDF_REDUCE) && !c->error &&
				 (c->max_parts == 1 || !c->has_twice));
	world_destroy(w);
	return nr;
}

static const struct choice choices[] = {
	{ .modes = LKDF_RW | LKDF_MAYBE,
	  .max_data = 12,
	  .max_parts = 1,
	  .max_steps = 90,
	  .has_twice = true },
	{ .modes = LKDF_RW | LKDF_COMMUTE,
	  .max_data = 4,
	  .max_parts = MAX_PARTS,
	  .max_steps = 80 },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE | LKDF_MAYBE,
	  .max_data = 12,
	  .max_parts = 1,
	  .max_steps = 90,
	  .has_twice = true },
	{ .modes = LKDF_RW,
	  .max_data = 5,
	  .max_parts = 1,
	  .max_steps = 50,
	  .error = -EILSEQ },
};

/*
 * All or none
 */

/* A list that is good: each reads and writes good, counts, writes fresh. */
struct setup {
	struct lkdf *rt, *other;
	struct lkdf_kind *adds, *foreign;
	struct lkdf_data *good, *fresh, *never, *split, *alien;
	struct lkdf_use use[NR_LIST][2];
	struct lkdf_task task[NR_LIST];
	const struct lkdf_task *at[NR_LIST];
	atomic_int nr_ran;
};

static int add_and_count(struct lkdf_ctx *c, void *arg)
{
	atomic_fetch_add(*(atomic_int **)arg, 1);
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	*(uint64_t *)lkdf_ptr(c, 1) = 3;
	return 0;
}

static void setup_list(struct setup *s, atomic_int **arg)
{
	int i;

	for (i = 0; i < NR_LIST; i++) {
		s->use[i][0] = ON(s->good, LKDF_RW);
		s->use[i][1] = ON(s->fresh, LKDF_WRITE);
		s->task[i] = (struct lkdf_task){ .size = sizeof(s->task[i]),
						 .kind = s->adds,
						 .arg = arg,
						 .use = s->use[i],
						 .nr_use = 2 };
		s->at[i] = &s->task[i];
	}
}

static void no_use(struct setup *s, int i)
{
	s->use[i][1].mode = 0;
}

static void no_data(struct setup *s, int i)
{
	s->use[i][0].data = NULL;
}

static void no_value(struct setup *s, int i)
{
	s->use[i][1] = ON(s->never, LKDF_READ);
}

static void no_part(struct setup *s, int i)
{
	s->use[i][1] = ON_PART(s->split, LKDF_READ, 3);
}

static void no_kind(struct setup *s, int i)
{
	s->task[i].kind = NULL;
}

static void no_arg(struct setup *s, int i)
{
	s->task[i].arg = NULL;
}

static void no_task(struct setup *s, int i)
{
	s->at[i] = NULL;
}

static void no_size(struct setup *s, int i)
{
	s->task[i].size = 3;
}

static void foreign_kind(struct setup *s, int i)
{
	s->task[i].kind = s->foreign;
}

static void foreign_data(struct setup *s, int i)
{
	s->use[i][1].data = s->alien;
}

static void mixed_modes(struct setup *s, int i)
{
	s->use[i][0].mode = LKDF_RW;
	s->use[i][1] = ON(s->good, LKDF_COMMUTE | LKDF_REDUCE);
}

static void many_uses(struct setup *s, int i)
{
	s->task[i].nr_use = LKDF_MAX_USES + 1;
}

static const struct {
	const char *what, *text;
	void (*spoil)(struct setup *s, int i);
	int err;
} bad[] = {
	{ "a use without a mode", "mode", no_use, -EINVAL },
	{ "a use without a data", "", no_data, -EINVAL },
	{ "it reads what nobody writes", "never", no_value, -ENODATA },
	{ "a part there is not", "split", no_part, -ERANGE },
	{ "no kind", "kind", no_kind, -EINVAL },
	{ "no argument", "arg", no_arg, -EINVAL },
	{ "NULL in the list", "NULL", no_task, -EINVAL },
	{ "a wrong size", "size", no_size, -EINVAL },
	{ "a kind of another runtime", "foreign", foreign_kind, -EINVAL },
	{ "data of another runtime", "alien", foreign_data, -EINVAL },
	{ "two modes that do not mix", "REDUCE", mixed_modes, -EINVAL },
	{ "too many uses", "", many_uses, -E2BIG },
};

static void refuse(struct setup *s, size_t which, int i)
{
	static const struct lkdf_event none;
	struct lkdf_use read = ON(s->fresh, LKDF_READ);
	struct lkdf_event done = none;
	atomic_int *arg = &s->nr_ran;

	setup_list(s, &arg);
	bad[which].spoil(s, i);
	is(lkdf_submit_many(s->rt, NULL, s->at, NR_LIST, i % 2 ? &done : NULL),
	   bad[which].err, "task %d: %s", i, bad[which].what);
	has(lkdf_errmsg(), bad[which].text, "it is told");
	is(memcmp(&done, &none, sizeof(done)), 0, "done is as it was");
	is(lkdf_scope_wait(s->rt, NULL, -1), 0, "nothing is left");
	is(s->nr_ran, 0, "none was started");
	is(lkdf_data_version(s->good), 1, "no version has changed");
	is(value_of(s->good), 7, "no value");
	arg = NULL;
	is(submit_on(s->rt, s->adds, &arg, read, NULL), -ENODATA,
	   "what it would have written, nobody has");
}

static void setup_init(struct setup *s, struct lkdf *rt)
{
	memset(s, 0, sizeof(*s));
	s->rt = rt;
	s->other = api_open_workers(1);
	s->adds = api_kind(rt, "adds", add_and_count, sizeof(void *), 0);
	s->foreign = api_kind(s->other, "foreign", api_nothing, 0, 0);
	s->good = number(rt, "good", &(uint64_t){ 7 });
	s->fresh = number(rt, "fresh", NULL);
	s->never = number(rt, "never", NULL);
	s->split = zeros(rt, "split", 2);
	must(lkdf_data_split(s->split, 2, 8));
	s->alien = number(s->other, "alien", &(uint64_t){ 1 });
}

static void setup_fini(struct setup *s)
{
	lkdf_data_put(s->good);
	lkdf_data_put(s->fresh);
	lkdf_data_put(s->never);
	lkdf_data_put(s->split);
	lkdf_data_put(s->alien);
	lkdf_kind_put(s->adds);
	lkdf_kind_put(s->foreign);
	is(lkdf_close(s->other), 0, "the other runtime closes");
}

static void one_bad_task_refuses_all(struct lkdf *rt)
{
	static const int where[] = { 0, 5, NR_LIST - 1 };
	struct setup setup, *s = &setup;
	atomic_int *arg = &s->nr_ran;
	struct lkdf_scope *scope;
	size_t i, j;

	setup_init(s, rt);
	for (i = 0; i < LENGTH(bad); i++)
		for (j = 0; j < LENGTH(where); j++)
			refuse(s, i, where[j]);
	setup_list(s, &arg);
	is(lkdf_submit_many(rt, NULL, s->at, 0, NULL), -EINVAL, "no task");
	is(lkdf_submit_many(rt, NULL, s->at, LKDF_MAX_MANY + 1, NULL), -EINVAL,
	   "too many tasks");
	is(lkdf_submit_many(rt, NULL, NULL, 1, NULL), -EINVAL, "no list");
	is(lkdf_submit_many(NULL, NULL, s->at, 1, NULL), -EINVAL, "no runtime");
	must(lkdf_scope_create(s->other, NULL, &scope));
	is(lkdf_submit_many(rt, scope, s->at, NR_LIST, NULL), -EINVAL,
	   "a scope of another runtime");
	lkdf_scope_put(scope);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "nothing is left");
	is(s->nr_ran, 0, "none was started");
	must(lkdf_submit_many(rt, NULL, s->at, NR_LIST, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the good list runs");
	is(s->nr_ran, NR_LIST, "all of it");
	is(value_of(s->good), 7 + NR_LIST, "with its values");
	is(value_of(s->fresh), 3, "of all data");
	setup_fini(s);
}

/* A part written in the list is there for those behind it, not before. */
static void a_list_reads_what_it_writes(struct lkdf *rt)
{
	struct lkdf_data *d = number(rt, "new", NULL);
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_use write = ON(d, LKDF_WRITE), read = ON(d, LKDF_READ);
	struct lkdf_task w = { .size = sizeof(w), .kind = k, .nr_use = 1 };
	struct lkdf_task r = w;

	w.use = &write;
	r.use = &read;
	is(lkdf_submit_many(rt, NULL, (const struct lkdf_task *[]){ &r, &w }, 2,
			    NULL),
	   -ENODATA, "read, then write");
	is(lkdf_submit_many(rt, NULL, (const struct lkdf_task *[]){ &w, &r }, 2,
			    NULL),
	   0, "write, then read");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	is(lkdf_data_version(d), 1, "one write");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/*
 * Sizes
 */

struct link {
	uint64_t nr;
	atomic_int *nr_wrong;
};

static int follow(struct lkdf_ctx *c, void *arg)
{
	const struct link *l = arg;
	uint64_t *at = lkdf_ptr(c, 0);

	if ((*at)++ != l->nr)
		atomic_fetch_add(l->nr_wrong, 1);
	return 0;
}

static void a_list_of_any_size_keeps_its_order(struct lkdf *rt)
{
	static const unsigned size[] = { 1, 2, 3, 7, 64, 1000, MAX_LIST };
	static const struct lkdf_task *at[MAX_LIST];
	static struct lkdf_task task[MAX_LIST];
	static struct link link[MAX_LIST];
	struct lkdf_data *d = number(rt, NULL, &(uint64_t){ 0 });
	struct lkdf_use use = ON(d, LKDF_RW);
	struct lkdf_kind *k =
		api_kind(rt, "follow", follow, sizeof(struct link), 0);
	atomic_int nr_wrong = 0;
	struct lkdf_event done;
	uint64_t sum = 0;
	unsigned i, j;

	for (j = 0; j < LENGTH(size); j++) {
		for (i = 0; i < size[j]; i++) {
			link[i] = (struct link){ sum + i, &nr_wrong };
			task[i] = (struct lkdf_task){ .size = sizeof(task[i]),
						      .kind = k,
						      .arg = &link[i],
						      .use = &use,
						      .nr_use = 1 };
			at[i] = &task[i];
		}
		sum += size[j];
		must(lkdf_submit_many(rt, NULL, at, size[j], &done));
		memset(link, 0xff, sizeof(link));
		memset(task, 0xff, sizeof(task));
		is(lkdf_event_wait(done, -1), 0, "%u tasks", size[j]);
		is(lkdf_data_version(d), 1 + sum, "all have written by then");
	}
	is(nr_wrong, 0, "each after the one before it");
	is(value_of(d), sum, "nothing is lost");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_scope_wait(rt, NULL, -1);
}

static void tests(struct lkdf *rt, bool is_serial)
{
	(void)is_serial;
	one_bad_task_refuses_all(rt);
	a_list_reads_what_it_writes(rt);
	a_list_of_any_size_keeps_its_order(rt);
}

static const struct suite suite = {
	.batch = { choices, LENGTH(choices), run_many, step_body },
	.seed = 30000,
	.nr = 200,
	.nr_sanitized = 40,
	.is_short = true,
	.tests = tests,
};

int main(int argc, char **argv)
{
	suite_run(&suite, argc, argv);
	return tap_end();
}
