/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Claims of several threads on two data: var.c and claim.c as they are
 * shipped. Every claim goes once it may, nobody is forgotten, writers are
 * alone, and what one has written is there for the next. Bodies touch plain
 * fields: two that nothing orders are a data race.
 */
#include "jobs.h"

static _Atomic(uint32_t) nr_reading;

/* ---- writers of two data ------------------------------------------------ */

static void init_writers(void)
{
	init_data();
	job_of_both(0, body_write, LKDF_RW, X);
	job_of_both(1, body_write, LKDF_RW, Y);
	mc_name(&jobs[0].claim->pending, "pending0");
	mc_name(&jobs[1].claim->pending, "pending1");
}

static void submit_own(int id)
{
	submit(&jobs[id]);
	run_ready();
}

static void both_written_twice(void)
{
	all_gone();
	mc_assert(value[X] == 2 && value[Y] == 2);
}

/* A third has both; its thread lets the others in. */
static void init_third_writer(void)
{
	init_writers();
	mc_assert(enter(job_of_both(2, body_write, LKDF_RW, X)));
}

static void third_completes(int id)
{
	if (id == 2)
		run_job(2);
	else
		submit_own(id);
}

static struct job *job_of_y(int id, uint8_t mode)
{
	struct job *j = job(id, body_write, NULL);

	add_use(j, domains[Y], Y, mode);
	return j;
}

/* X and Y are held by two, who leave at any time. */
static void init_two_hold(void)
{
	init_data();
	job_of_both(0, body_write, LKDF_RW, X);
	mc_assert(enter(job_of_x(1, body_write, LKDF_RW)));
	mc_assert(enter(job_of_y(2, LKDF_RW)));
}

static void both_written_thrice(void)
{
	all_gone();
	mc_assert(value[X] == 3 && value[Y] == 3);
}

/* What one thread has submitted goes in that order. */
static void init_in_order(void)
{
	int i;

	init_data();
	for (i = 0; i < 2; i++) {
		job_of_both(i, body_write, LKDF_RW, i);
		job_of_x(2 + i, body_write, LKDF_RW);
	}
}

static void submit_two(int id)
{
	submit(&jobs[id]);
	submit(&jobs[2 + id]);
	run_ready();
}

static void in_order(void)
{
	all_gone();
	mc_assert(value[X] == 4 && value[Y] == 2);
	mc_assert(place_of(0) < place_of(2));
	mc_assert(place_of(1) < place_of(3));
}

/* ---- readers ------------------------------------------------------------ */

static void body_read_slowly(struct job *j)
{
	if (a_add(&nr_reading, 1, relaxed) == 1)
		mc_see("two readers");
	body_read(j);
	a_sub(&nr_reading, 1, relaxed);
}

static void body_write_alone(struct job *j)
{
	mc_assert(a_load(&nr_reading, relaxed) == 0);
	body_write(j);
}

static void init_readers(void)
{
	init_data();
	a_store(&nr_reading, 0, relaxed);
	job_of_x(0, body_read_slowly, LKDF_READ);
	job_of_x(1, body_write_alone, LKDF_RW);
	job_of_x(2, body_read_slowly, LKDF_READ);
	job_of_x(3, body_read_slowly, LKDF_READ);
	mc_name(&nr_reading, "nr_reading");
}

/* R W, and R R. */
static void readers_and_writer(int id)
{
	submit(&jobs[2 * id]);
	submit(&jobs[2 * id + 1]);
	run_ready();
}

static void submit_after_two(int id)
{
	if (id)
		run_job(id);
	else
		submit_own(0);
}

/* One leaves as the other comes: one of them lets it in. */
static void init_last_leaves(void)
{
	init_data();
	job_of_x(0, body_write, LKDF_RW);
	mc_assert(enter(job_of_x(1, body_write, LKDF_RW)));
}

static void init_readers_leave(void)
{
	init_data();
	job_of_x(0, body_write, LKDF_RW);
	mc_assert(enter(job_of_x(1, body_read, LKDF_READ)));
	mc_assert(enter(job_of_x(2, body_read, LKDF_READ)));
}

/* A writer goes; two readers wait for it, in another thread. */
static void init_readers_come(void)
{
	init_data();
	job_of_x(0, body_read, LKDF_READ);
	job_of_x(2, body_read, LKDF_READ);
	mc_assert(enter(job_of_x(1, body_write, LKDF_RW)));
}

static void readers_come(int id)
{
	if (id) {
		run_job(1);
		return;
	}
	submit(&jobs[0]);
	submit(&jobs[2]);
	run_ready();
}

/* ---- those that commute ------------------------------------------------- */

static void init_commute(void)
{
	init_data();
	job_of_both(0, body_write, LKDF_COMMUTE, X);
	job_of_both(1, body_write, LKDF_COMMUTE, Y);
}

/* One has both tokens; one wants both, one wants X's. */
static void init_commute_three(void)
{
	init_commute();
	mc_assert(enter(&jobs[1]));
	job_of_x(2, body_write, LKDF_COMMUTE);
}

/* Two have a token each, and one waits for both. */
static void init_commute_waits(void)
{
	init_data();
	mc_assert(enter(job_of_x(1, body_write, LKDF_COMMUTE)));
	mc_assert(enter(job_of_y(2, LKDF_COMMUTE)));
	mc_assert(!enter(job_of_both(3, body_write, LKDF_COMMUTE, Y)));
	job_of_both(0, body_write, LKDF_COMMUTE, X);
}

static void come_or_leave_one(int id)
{
	if (id == 1)
		run_job(1);
	else
		submit_own(id);
}

static void both_commuted_twice(void)
{
	all_gone();
	mc_assert(value[X] == 2 && value[Y] == 2);
}

static void x_commuted_thrice(void)
{
	all_gone();
	mc_assert(value[X] == 3 && value[Y] == 2);
}

static void both_commuted_thrice(void)
{
	all_gone();
	mc_assert(value[X] == 3 && value[Y] == 3);
}

/* ---- the last writer ---------------------------------------------------- */

/* Two parts are used by two. */
static void init_delete_parts(void)
{
	init_data();
	split_x();
	job_of_x(0, body_write, LKDF_RW);
	mc_assert(enter(job_of_part(1, body_nothing, LKDF_RW, 1)));
	mc_assert(enter(job_of_part(2, body_nothing, LKDF_RW, 2)));
}

static void delete_or_leave(int id)
{
	if (id)
		run_job(id);
	else
		put_data(&jobs[0]);
}

#define ROW(text, nr, b, before, f, after)                                  \
	.name = text, .nr_threads = nr, .bound = b, .stale = b < 0 ? 0 : 2, \
	.timeouts = -1, .init = before, .thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("two write both, listed the other way round", 2, 3, init_writers,
	      submit_own, both_written_twice),
	  .must_see = { "at once", "later", "let in by another" } },
	{ ROW("a third writer lets them in", 3, 1, init_third_writer,
	      third_completes, both_written_thrice),
	  .must_see = { "at once", "later", "let in by another" } },
	{ ROW("two writers let a third in", 3, 2, init_two_hold,
	      submit_after_two, all_gone),
	  .must_see = { "at once", "later", "let in by another" } },
	{ ROW("each submits two", 2, 2, init_in_order, submit_two, in_order),
	  .must_see = { "let in by another" } },
	{ ROW("a writer comes as the last leaves", 2, -1, init_last_leaves,
	      submit_after_two, all_gone),
	  .must_see = { "at once", "later", "let in by another" } },
	{ ROW("a writer comes as two readers leave", 3, 3, init_readers_leave,
	      submit_after_two, all_gone),
	  .must_see = { "at once", "later", "let in by another" } },
	{ ROW("two readers come as a writer leaves", 2, -1, init_readers_come,
	      readers_come, all_gone),
	  .must_see = { "at once", "later", "let in by another" } },
	{ ROW("readers, a writer, a reader", 2, 2, init_readers,
	      readers_and_writer, all_gone),
	  .must_see = { "two readers", "later", "let in by another" } },
	{ ROW("two commute on both", 2, 2, init_commute, submit_own,
	      both_commuted_twice),
	  .must_see = { "let in by another" } },
	{ ROW("one has the tokens, two want them", 3, 1, init_commute_three,
	      come_or_leave_one, x_commuted_thrice),
	  .must_see = { "let in by another" } },
	{ ROW("two have tokens, two want both", 3, 1, init_commute_waits,
	      submit_after_two, both_commuted_thrice),
	  .must_see = { "let in by another" } },
	{ ROW("deleted as its writer leaves", 2, -1, init_last_leaves,
	      delete_or_leave, is_deleted),
	  .must_see = { "freed by another", "at once" } },
	{ ROW("deleted as two readers leave", 3, 3, init_readers_leave,
	      delete_or_leave, is_deleted),
	  .must_see = { "freed by another", "at once" } },
	{ ROW("deleted as users of parts leave", 3, 3, init_delete_parts,
	      delete_or_leave, is_deleted),
	  .must_see = { "freed by another", "at once" } },
};

MC_MAIN(table)
