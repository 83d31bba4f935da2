/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reductions: tasks of a group add to copies of their own threads, and before
 * another may look at the bytes the copies are combined, once. So with parts
 * and their whole, and with what children reduce below their parent's use.
 * var.c and claim.c are as they are shipped; a copy is a number.
 */
#define JOBS_REDUCE
#include "jobs.h"

/* By thread; the last: init(). */
#define NR_COPIES 4

/* Of X or of a part; its bytes are value[of]. */
struct reduction {
	int of;
	struct copy {
		bool is_touched;
		int sum;
	} copy[NR_COPIES];
};

static struct reduction reduction[NR_DATA];
static struct var *to_combine[MC_THREADS][NR_DATA];
static int nr_to_combine[MC_THREADS];
static int nr_combined, seen;
/* To another thread. */
static _Atomic(struct var *) sent[MC_THREADS];
static bool is_sent;

void var_combine(struct executor *ex, struct var *v)
{
	int self = mc_self();

	(void)ex;
	if (is_sent) {
		/* Its thread waits for it. */
		a_store(&sent[v->reduction->of], v, release);
		return;
	}
	mc_assert(nr_to_combine[self] < NR_DATA);
	to_combine[self][nr_to_combine[self]++] = v;
}

bool reduction_is_touched(const struct reduction *r)
{
	int i;

	for (i = 0; r && i < NR_COPIES; i++)
		if (plain_load(&r->copy[i].is_touched))
			return true;
	return false;
}

void reduction_forget(struct reduction *r)
{
	int i;

	for (i = 0; i < NR_COPIES; i++)
		plain_store(&r->copy[i].is_touched, false);
}

static void reduce(struct reduction *r)
{
	struct copy *c = &r->copy[mc_self() < 0 ? NR_COPIES - 1 : mc_self()];

	if (!plain_load(&c->is_touched))
		plain_store(&c->sum, 0);
	plain_store(&c->is_touched, true);
	plain_store(&c->sum, plain_load(&c->sum) + 1);
}

static int sum_of(struct reduction *r)
{
	int i, sum = plain_load(&value[r->of]);

	for (i = 0; i < NR_COPIES; i++)
		if (plain_load(&r->copy[i].is_touched))
			sum += plain_load(&r->copy[i].sum);
	return sum;
}

/* As in reduction.c. */
void var_combine_now(struct var *v)
{
	mc_see("combined");
	nr_combined++;
	plain_store(&value[v->reduction->of], sum_of(v->reduction));
}

static void combine(struct var *v)
{
	var_combine_now(v);
	var_combined(NULL, v);
}

/* As a worker, until there is nothing left to do. */
static void work(void)
{
	int *nr = &nr_to_combine[mc_self()];

	do {
		run_ready();
		if (*nr)
			combine(to_combine[mc_self()][--*nr]);
	} while (*nr || *my_todo());
}

static void body_reduce(struct job *j)
{
	reduce(&reduction[j->of[0]]);
}

static void body_look(struct job *j)
{
	seen = plain_load(&value[j->of[0]]);
}

static void init_copies(void)
{
	int i;

	init_data();
	memset(reduction, 0, sizeof(reduction));
	memset(nr_to_combine, 0, sizeof(nr_to_combine));
	for (i = 0; i < NR_DATA; i++) {
		reduction[i].of = i;
		a_store(&sent[i], NULL, relaxed);
	}
	is_sent = false;
	nr_combined = 0;
	seen = -1;
}

/* ---- one data ----------------------------------------------------------- */

static void init_reduce(void)
{
	init_copies();
	domains[X]->whole.reduction = &reduction[X];
	domains[X]->has_reductions = true;
	job_of_x(0, body_reduce, LKDF_REDUCE);
	job_of_x(1, body_reduce, LKDF_REDUCE);
	job_of_x(2, body_look, LKDF_READ);
}

static void init_reduce_held(void)
{
	init_reduce();
	mc_assert(enter(&jobs[0]));
	mc_assert(enter(&jobs[1]));
}

static void reduce_and_read(int id)
{
	submit(&jobs[id]);
	if (id == 0)
		submit(&jobs[2]);
	work();
}

static void reduce_then_read(int id)
{
	if (id < 2)
		run(&jobs[id]);
	else
		submit(&jobs[2]);
	work();
}

static void nothing_is_lost(void)
{
	all_gone();
	mc_assert(nr_combined <= 1);
	mc_assert(seen >= 0 && seen <= 2);
	mc_assert(sum_of(&reduction[X]) == 2);
}

static void reader_has_seen_all(void)
{
	nothing_is_lost();
	mc_assert(nr_combined == 1 && seen == 2);
}

/* The spawn of a child that reduces fails; its parent has not waited. */
static void body_fail_to_spawn(struct job *j)
{
	struct domain *d = below(j, 0);

	d->whole.reduction = &reduction[X];
	d->has_reductions = true;
}

static void init_failed_spawn(void)
{
	init_reduce();
	mc_assert(enter(&jobs[1]));
	jobs[0].claim = NULL;
	job_of_x(0, body_fail_to_spawn, LKDF_RW | LKDF_WEAK);
}

static void reader_has_seen_one(void)
{
	all_gone();
	mc_assert(nr_combined == 1 && seen == 1);
}

static void spawn_or_reduce(int id)
{
	if (id) {
		run(&jobs[1]);
	} else {
		submit(&jobs[0]);
		submit(&jobs[2]);
	}
	work();
}

/* ---- parts -------------------------------------------------------------- */

static void body_look_at_both(struct job *j)
{
	(void)j;
	seen = plain_load(&value[X]) + plain_load(&value[Y]);
}

/* Two reduce into a part each; 0 is to read the whole. */
static void init_parts_held(void)
{
	struct domain *d;
	struct job *j;
	int i;

	init_copies();
	split_x();
	d = domains[X];
	d->has_reductions = true;
	for (i = 0; i < NR_PARTS; i++) {
		d->parts[i].reduction = &reduction[i];
		j = job_of_part(1 + i, body_reduce, LKDF_REDUCE,
				(uint32_t)i + 1);
		j->of[0] = i;
		mc_assert(enter(j));
	}
	job_of_x(0, body_look_at_both, LKDF_READ);
}

static void init_parts(void)
{
	init_parts_held();
	run(&jobs[1]);
	run(&jobs[2]);
}

/* Each part is combined by a thread of its own. */
static void init_parts_sent(void)
{
	init_parts();
	is_sent = true;
}

static void combine_own(int id)
{
	struct var *v;

	if (id == 0)
		submit(&jobs[0]);
	while (!(v = a_load(&sent[id], acquire)))
		a_pause();
	combine(v);
	work();
}

static void parts_were_combined(void)
{
	all_gone();
	mc_assert(nr_combined == NR_PARTS && seen == NR_PARTS);
}

static void body_look_at_part(struct job *j)
{
	mc_assert(plain_load(&value[j->of[0]]) == 1);
}

/* Another reads a part while the whole is waited for. */
static void init_part_reader(void)
{
	init_parts();
	job_of_part(3, body_look_at_part, LKDF_READ, 1);
}

static void read_whole_or_part(int id)
{
	submit(&jobs[id ? 3 : 0]);
	work();
}

/* The whole is waited for, and behind it a part. */
static void init_both_wait(void)
{
	init_parts_held();
	run(&jobs[2]);
	mc_assert(!enter(&jobs[0]));
	mc_assert(!enter(job_of_part(3, body_look_at_part, LKDF_READ, 1)));
	job_of_part(4, body_look_at_part, LKDF_READ, 2)->of[0] = 1;
}

static void leave_or_come(int id)
{
	if (id == 0)
		run(&jobs[1]);
	else
		submit(&jobs[4]);
	work();
}

static void body_overwrite(struct job *j)
{
	plain_store(&value[j->of[0]], 10);
}

/* The whole is waited for; behind it a part is overwritten. */
static void init_overwritten(void)
{
	init_parts_held();
	run(&jobs[1]);
	mc_assert(!enter(&jobs[0]));
	job_of_part(3, body_overwrite, LKDF_WRITE, 1);
}

static void leave_or_overwrite(int id)
{
	if (id == 0)
		run(&jobs[2]);
	else
		submit(&jobs[3]);
	work();
}

static void reader_was_first(void)
{
	parts_were_combined();
	mc_assert(value[X] == 10 && value[Y] == 1);
}

#define ROW(text, nr, b, before, f, after)                      \
	.name = text, .nr_threads = nr, .bound = b, .stale = 2, \
	.timeouts = -1, .init = before, .thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("two reduce, one reads", 2, 3, init_reduce, reduce_and_read,
	      nothing_is_lost),
	  .must_see = { "combined", "at once", "later" } },
	{ ROW("a reader comes as two that reduce leave", 3, 3, init_reduce_held,
	      reduce_then_read, reader_has_seen_all),
	  .must_see = { "combined", "let in by another" } },
	{ ROW("one reduces as a spawn fails", 2, 3, init_failed_spawn,
	      spawn_or_reduce, reader_has_seen_one),
	  .must_see = { "combined", "let in by another" } },
	{ ROW("two parts are combined for the whole", 2, 3, init_parts_sent,
	      combine_own, parts_were_combined),
	  .must_see = { "combined", "let in by another" } },
	{ ROW("a part is read as its whole is combined", 2, 3, init_part_reader,
	      read_whole_or_part, parts_were_combined),
	  .must_see = { "combined" } },
	{ ROW("a part is overwritten behind a reader of the whole", 2, 3,
	      init_overwritten, leave_or_overwrite, reader_was_first),
	  .must_see = { "combined", "let in by another" } },
	{ ROW("a part and its whole wait for its copies", 2, 2, init_both_wait,
	      leave_or_come, parts_were_combined),
	  .must_see = { "combined", "let in by another" } },
};

MC_MAIN(table)
