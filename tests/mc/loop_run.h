/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For mc_loop.c: threads that run a graph of loop_graph.h. Deques and bodies
 * are replaced: a ready task is a bit in a box, a body returns what the
 * scenario's table says.
 */
#ifndef LOOP_RUN_H
#define LOOP_RUN_H

#include "loop_below.h"
#include "loop_graph.h"
#include "mc.h"
#include "run/control.h"
#include "run/frame.h"
#include "run/resolve.h"
#include "sched/worker.h"
#include "trace/counters.h"

#define NR_ROUNDS 3 /* that a task's values differ in */
#define NR_THREADS 2
#define DONE (1u << 31)

#define FAIL VERDICT_FAILED
#define NONE ((int)LKDF_NO_BRANCH)
#define ANY 1 /* verdict */

static struct lkdf_scope scope;
static struct frame frame;
static struct worker workers[NR_THREADS];
static struct executor executors[NR_THREADS];
static struct counters counters[NR_THREADS];
static _Atomic(uint32_t) box[NR_THREADS];
static bool is_shared; /* box[0] is both threads' */

/* plain: the protocol must order them */
static int count[MAX_NR]; /* how often the task was resolved */
static int stamp[2]; /* by loop: its head writes, its members read */
static int values[MAX_NR][NR_ROUNDS];
/* As the scenario has it; 0: as it comes. */
static int nr_iterations[2]; /* of each loop */
static int expected; /* how the task behind the loop is resolved */

/* Of the loop of two latches, each of which reduces: plain, too. */
static struct lkdf_data reduced;
static struct reduction copies = { .data = &reduced };
static struct loop_fold fold = { .copies = &copies };
static bool is_touched[MAX_NR];
static int combine_rc;

/* ---- what run/control.c calls -------------------------------------------- */

/* Box and order of the deques: whoever takes a task sees who pushed it. */
void resolve_push(struct worker *w, struct frame *f, uint32_t index,
		  uint32_t skip)
{
	int i = is_shared ? 0 : (int)index % NR_THREADS;

	(void)w;
	(void)f;
	a_or(&box[i], (skip ? 256u : 1u) << index, release);
}

void frame_end(struct worker *w, struct frame *f)
{
	uint32_t i;

	(void)w;
	mc_assert(plain_load(&count[graph.nr_tasks - 1]) == 1);
	/* The frame is as the next run wants it. */
	for (i = 0; i < control.nr_loops; i++) {
		mc_assert(!nr_iterations[i] ||
			  plain_load(&count[loops[i].head]) ==
				  nr_iterations[i]);
		mc_assert(a_load(&f->control.loops[i].nr_backs, relaxed) ==
			  loops[i].nr_backs);
		mc_assert(!a_load(&f->control.loops[i].goes_back, relaxed));
		mc_assert(!a_load(&f->control.loops[i].leaves, relaxed));
		mc_assert(!a_load(&f->control.loops[i].has_failed, relaxed));
	}
	for (i = 0; i < control.nr_exits; i++)
		mc_assert(!a_load(&f->control.taken[i], relaxed));
	for (i = 0; i < graph.nr_tasks; i++)
		mc_assert(a_load(&recs[i].pending, relaxed) == recs[i].nr_in);
	/* Nobody touches the run any more. */
	mc_free(f->control.loops);
	mc_free(f->control.taken);
	for (i = 0; i < NR_THREADS; i++)
		a_or(&box[i], DONE, release);
}

/* Between two iterations; whoever does it is alone with what they left. */
int reduction_combine(struct reduction *r)
{
	uint32_t i;

	(void)r;
	for (i = 1; i < 3; i++) {
		mc_assert(plain_load(&is_touched[i]));
		plain_store(&is_touched[i], false);
	}
	mc_see("copies are combined");
	return combine_rc;
}

void frame_fail(struct frame *f, uint32_t task, int returned, const char *why,
		int worker)
{
	(void)f;
	(void)task;
	(void)why;
	(void)worker;
	mc_assert(returned == combine_rc);
}

/* ---- bodies -------------------------------------------------------------- */

/* Each of the loop's own tasks was resolved as often as its head. */
static void loop_is_even(uint32_t l)
{
	uint32_t i;

	for (i = 0; i < graph.nr_tasks; i++)
		if (loop_of[i] == l)
			mc_assert(plain_load(&count[i]) ==
				  plain_load(&count[loops[l].head]));
}

/* No iteration overlaps another: the head's write is no race. */
static void enter_loop(uint32_t l)
{
	uint32_t i;

	for (i = 0; i < control.nr_loops; i++)
		if (i == l || loops[i].parent == l)
			loop_is_even(i);
	plain_store(&stamp[l], plain_load(&stamp[l]) + 1);
}

static void be_member(uint32_t index, uint32_t l)
{
	mc_assert(plain_load(&count[loops[l].head]) ==
		  plain_load(&count[index]) + 1);
	for (; l != NO_LOOP; l = loops[l].parent)
		mc_assert(plain_load(&stamp[l]) ==
			  plain_load(&count[loops[l].head]));
}

/* The head finds that those of the iteration before are combined. */
static void reduce(uint32_t index, uint32_t l)
{
	if (loops[l].head != index)
		plain_store(&is_touched[index], true);
	else
		mc_assert(!plain_load(&is_touched[1]) &&
			  !plain_load(&is_touched[2]));
}

static void come_after(void)
{
	uint32_t i;

	for (i = 0; i < control.nr_loops; i++)
		loop_is_even(i);
}

static int body(uint32_t index, bool is_skipped)
{
	int n = plain_load(&count[index]), verdict;
	uint32_t l = loop_of[index];

	verdict = values[index][n < NR_ROUNDS ? n : NR_ROUNDS - 1];
	if (frame_cancelled(&frame))
		verdict = VERDICT_FAILED;
	if (is_skipped)
		verdict = control_is_unchosen(&frame, index) ? VERDICT_UNCHOSEN
							     : VERDICT_FAILED;
	if (l == NO_LOOP)
		come_after();
	else if (loops[l].head == index)
		enter_loop(l);
	else
		be_member(index, l);
	if (l != NO_LOOP && loops[l].nr_folds)
		reduce(index, l);
	plain_store(&count[index], n + 1);
	return verdict;
}

static void run(int id, uint32_t bit)
{
	uint32_t index = bit % 8, nr;
	int verdict = body(index, bit >= 8);

	if (loop_of[index] == NO_LOOP && expected != ANY)
		mc_assert(verdict == expected);
	else if (loop_of[index] == NO_LOOP)
		mc_see(verdict == VERDICT_LIVE ? "the loop is left"
					       : "the loop is cancelled");
	nr = control_resolve(&workers[id], &frame, index, verdict);
	if (nr)
		frame_resolved(&workers[id], &frame, nr);
}

/* One thread begins with the first tasks, the other with the last. */
static void work(int id)
{
	_Atomic(uint32_t) *b = &box[is_shared ? 0 : id];
	uint32_t ready, bit;

	for (;;) {
		ready = a_load(b, relaxed);
		if (ready == DONE)
			return;
		if (!ready) {
			a_pause();
			continue;
		}
		bit = id ? 31u - (uint32_t)__builtin_clz(ready)
			 : (uint32_t)__builtin_ctz(ready);
		if (a_and(b, ~(1u << bit), acquire) & 1u << bit)
			run(id, bit);
	}
}

/* ---- a run --------------------------------------------------------------- */

/* shared: any thread takes any task; otherwise each its own. */
static void begin_run(bool shared)
{
	uint32_t i;

	order_edges();
	memset(&frame, 0, sizeof(frame));
	frame.graph = &graph;
	frame.recs = recs;
	frame.scope = &scope;
	frame.control.loops =
		mc_alloc(control.nr_loops * sizeof(*frame.control.loops));
	frame.control.taken =
		mc_alloc(control.nr_exits * sizeof(*frame.control.taken));
	for (i = 0; i < control.nr_loops; i++) {
		plain_store(&stamp[i], 0);
		a_store(&frame.control.loops[i].goes_back, 0, relaxed);
		a_store(&frame.control.loops[i].leaves, 0, relaxed);
		a_store(&frame.control.loops[i].has_failed, 0, relaxed);
		plain_store(&frame.control.loops[i].entry, VERDICT_LIVE);
		a_store(&frame.control.loops[i].nr_backs, loops[i].nr_backs,
			relaxed);
	}
	for (i = 0; i < control.nr_exits; i++)
		a_store(&frame.control.taken[i], 0, relaxed);
	for (i = 0; i < MAX_NR; i++)
		plain_store(&count[i], 0);
	for (i = 0; i < NR_THREADS; i++) {
		executors[i].counters = &counters[i];
		workers[i].executor = &executors[i];
		a_store(&box[i], 0, relaxed);
		mc_name(&box[i], "box");
	}
	a_store(&frame.remaining, graph.nr_tasks, relaxed);
	tally_clear(&frame.tally);
	a_store(&scope.cancel_err, 0, relaxed);
	mc_name(&frame.remaining, "remaining");
	mc_name(&frame.control.loops[0].nr_backs, "nr_backs0");
	mc_name(&frame.control.loops[0].goes_back, "goes_back0");
	mc_name(&frame.control.loops[0].leaves, "leaves0");
	mc_name(&frame.control.loops[0].has_failed, "has_failed0");
	for (i = 0; i < control.nr_exits; i++)
		mc_name(&frame.control.taken[i], "taken");
	if (control.nr_loops > 1)
		mc_name(&frame.control.loops[1].nr_backs, "nr_backs1");
	is_shared = shared;
	resolve_push(&workers[0], &frame, 0, 0);
}

static void expect(int outer, int inner)
{
	nr_iterations[0] = outer;
	nr_iterations[1] = inner;
	expected = VERDICT_LIVE;
	memset(values, 0, sizeof(values));
}

static void give(uint32_t index, int first, int second, int third)
{
	values[index][0] = first;
	values[index][1] = second;
	values[index][2] = third;
}

#endif
