/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Weak uses, and uses of children below a parent's, in several threads: var.c
 * and claim.c as they are shipped. Whatever the children do is
 * there for whoever follows their parent, and each claim is freed once, when
 * nobody looks at it any more.
 */
#include "jobs.h"

#include <errno.h>

#define PARENT 0
#define CHILD 1
#define GRANDCHILD 2
#define BEFORE 3
#define AFTER 4
#define PARENT2 5 /* and its child, 6 */

static int seen;
static _Atomic(uint32_t) has_looked;

/* ---- weak uses, and children -------------------------------------------- */

static void body_spawn(struct job *j)
{
	int id = (int)(j - jobs);

	submit(child_of(j, id + 1, body_write, LKDF_RW));
}

static void body_spawn_weak(struct job *j)
{
	submit(child_of(j, CHILD, body_spawn, LKDF_RW | LKDF_WEAK));
}

static void body_only_below(struct job *j)
{
	below(j, 0);
}

static void body_fail(struct job *j)
{
	below(j, 0);
	j->error = -EIO;
}

/* BEFORE has X; the parent waits behind it, and does not look. */
static void init_weak_with(void (*body)(struct job *))
{
	init_data();
	job_of_x(PARENT, body, LKDF_RW | LKDF_WEAK);
	job_of_x(AFTER, body_write, LKDF_RW);
	mc_assert(enter(job_of_x(BEFORE, body_write, LKDF_RW)));
}

static void init_weak(void)
{
	init_weak_with(body_spawn);
}

static void init_weak_alone(void)
{
	init_weak_with(body_nothing);
}

static void init_weak_below(void)
{
	init_weak_with(body_only_below);
}

static void init_weak_in_weak(void)
{
	init_weak_with(body_spawn_weak);
}

static void body_see_error(struct job *j)
{
	struct failure *failure;

	(void)j;
	seen = var_error(domains[X], &domains[X]->whole, &failure);
}

static void init_weak_fails(void)
{
	init_weak_with(body_fail);
	jobs[AFTER].body = body_see_error;
	seen = 0;
}

static void parent_and_after(int id)
{
	if (id == 0) {
		submit(&jobs[PARENT]);
		submit(&jobs[AFTER]);
	} else {
		run(&jobs[BEFORE]);
	}
	run_ready();
}

static void in_this_order(int a, int b)
{
	mc_assert(place_of(a) >= 0 && place_of(a) < place_of(b));
}

static void before_after(void)
{
	all_gone();
	in_this_order(BEFORE, AFTER);
	mc_assert(value[X] == 2);
}

static void before_child_after(void)
{
	all_gone();
	in_this_order(BEFORE, CHILD);
	in_this_order(CHILD, AFTER);
	mc_assert(value[X] == 3);
}

static void before_grandchild_after(void)
{
	all_gone();
	in_this_order(BEFORE, GRANDCHILD);
	in_this_order(GRANDCHILD, AFTER);
	mc_assert(value[X] == 3);
}

static void error_is_seen(void)
{
	all_gone();
	in_this_order(BEFORE, AFTER);
	mc_assert(seen == -EIO);
}

/* The parent gives its use on while it has two children. */
static void body_give_on(struct job *j)
{
	if (jobs[1].body == body_read)
		body_read(j);
	use_leave(NULL, use_of(j, 0), 0, NULL);
}

static void init_give_on(void)
{
	struct job *p;

	init_data();
	p = job_of_x(PARENT, body_give_on, LKDF_RW);
	mc_assert(enter(p));
	mc_assert(enter(child_of(p, 1, body_read, LKDF_READ)));
	mc_assert(enter(child_of(p, 2, body_read, LKDF_READ)));
	mc_name(&use_of(p, 0)->below->nr_uses, "below.nr_uses");
	mc_assert(!enter(job_of_x(AFTER, body_write, LKDF_RW)));
}

static void init_give_on_written(void)
{
	struct job *p;

	init_data();
	p = job_of_x(PARENT, body_give_on, LKDF_RW);
	mc_assert(enter(p));
	mc_assert(enter(child_of(p, 1, body_write, LKDF_RW)));
	mc_assert(!enter(child_of(p, 2, body_write, LKDF_RW)));
	mc_name(&use_of(p, 0)->below->nr_uses, "below.nr_uses");
	job_of_x(AFTER, body_write, LKDF_RW);
}

/* The same with a use of each part, and a child below each. */
static void body_give_parts_on(struct job *j)
{
	use_leave(NULL, use_of(j, 0), 0, NULL);
	use_leave(NULL, use_of(j, 1), 0, NULL);
}

static void body_look_at_both(struct job *j)
{
	(void)j;
	seen = plain_load(&value[X]) + plain_load(&value[Y]);
	a_store(&has_looked, 1, relaxed);
}

static void init_give_parts_on(void)
{
	struct job *p, *j;
	int i;

	init_data();
	split_x();
	a_store(&has_looked, 0, relaxed);
	p = job_of_part(PARENT, body_give_parts_on, LKDF_RW, 1);
	add_use(p, domains[X], X, LKDF_RW);
	p->claim->use[1].part = 2;
	mc_assert(enter(p));
	for (i = 0; i < NR_PARTS; i++) {
		j = job(1 + i, body_write, p);
		a_add(&p->live, 1, relaxed);
		add_use(j, below(p, i), i, LKDF_RW);
		mc_assert(enter(j));
	}
	mc_assert(!enter(job_of_x(AFTER, body_look_at_both, LKDF_READ)));
	mc_name(&use_whole(use_of(p, 0))->nr_parts, "nr_parts");
}

/* The parent's body goes on: the whole does not wait for its end. */
static void run_until_after(int id)
{
	if (id == 0)
		a_add(&jobs[PARENT].live, 1, relaxed);
	run_job(id);
	if (id == 0) {
		while (!a_load(&has_looked, relaxed))
			a_pause();
		end(&jobs[PARENT]);
	}
}

static void after_children(void)
{
	all_gone();
	in_this_order(1, AFTER);
	in_this_order(2, AFTER);
}

static void after_has_seen_both(void)
{
	after_children();
	mc_assert(seen == 2);
}

static void run_own_or_come(int id)
{
	if (id == 2)
		submit(&jobs[AFTER]);
	else
		run(&jobs[id]);
	run_ready();
}

/* AFTER is the last writer: nobody may look when it has come. */
static void init_delete_weak(void)
{
	init_weak_with(body_only_below);
}

static void init_delete_weak_part(void)
{
	init_data();
	split_x();
	mc_assert(enter(job_of_part(BEFORE, body_write, LKDF_RW, 1)));
	mc_assert(enter(
		job_of_part(PARENT, body_nothing, LKDF_RW | LKDF_WEAK, 1)));
	job_of_x(AFTER, body_nothing, LKDF_WRITE);
}

static void weak_and_delete(int id)
{
	if (id == 0) {
		submit(&jobs[PARENT]);
		run_ready();
		put_data(&jobs[AFTER]);
	} else {
		run_job(BEFORE);
	}
}

static void part_and_delete(int id)
{
	static const int job_of[] = { PARENT, BEFORE };

	if (id == 2)
		put_data(&jobs[AFTER]);
	else
		run_job(job_of[id]);
}

/* Two that commute, and only their children look. */
static void init_weak_commute(void)
{
	init_data();
	job_of_x(PARENT, body_spawn, LKDF_COMMUTE | LKDF_WEAK);
	job_of_x(PARENT2, body_spawn, LKDF_COMMUTE | LKDF_WEAK);
}

static void submit_parent(int id)
{
	submit(&jobs[id ? PARENT2 : PARENT]);
	run_ready();
}

static void children_wrote(void)
{
	all_gone();
	mc_assert(value[X] == 2);
}

#define ROW(text, nr, b, before, f, after)                                  \
	.name = text, .nr_threads = nr, .bound = b, .stale = b < 0 ? 0 : 2, \
	.timeouts = -1, .init = before, .thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("a weak use leaves as it is granted", 2, 3, init_weak_alone,
	      parent_and_after, before_after),
	  .must_see = { "let in by another" } },
	{ ROW("a weak use fails as it is granted", 2, 3, init_weak_fails,
	      parent_and_after, error_is_seen),
	  .must_see = { "let in by another" } },
	{ ROW("a weak use without children leaves as it is opened", 2, 3,
	      init_weak_below, parent_and_after, before_after),
	  .must_see = { "let in by another" } },
	{ ROW("a child waits as its parent is granted", 2, 3, init_weak,
	      parent_and_after, before_child_after),
	  .must_see = { "let in by another" } },
	{ ROW("a weak child, whose child writes", 2, 2, init_weak_in_weak,
	      parent_and_after, before_grandchild_after),
	  .must_see = { "let in by another" } },
	{ ROW("given on while two children read", 3, 3, init_give_on, run_job,
	      after_children),
	  .must_see = { "let in by another" } },
	{ ROW("given on while two children write", 3, 2, init_give_on_written,
	      run_own_or_come, after_children),
	  .must_see = { "let in by another" } },
	{ ROW("parts given on while two children write", 3, 2,
	      init_give_parts_on, run_until_after, after_has_seen_both),
	  .must_see = { "let in by another" } },
	{ ROW("deleted behind a weak use", 2, 3, init_delete_weak,
	      weak_and_delete, is_deleted),
	  .must_see = { "freed by another", "at once" } },
	{ ROW("deleted behind a weak use of a part", 3, 2,
	      init_delete_weak_part, part_and_delete, is_deleted),
	  .must_see = { "freed by another", "at once" } },
	{ ROW("two commute, their children write", 2, 2, init_weak_commute,
	      submit_parent, children_wrote),
	  .must_see = { "let in by another" } },
};

MC_MAIN(table)
