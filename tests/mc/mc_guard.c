/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A run that goes by its static order while another may take it away: each
 * step's body is called exactly once, the thief sees what the bodies before
 * the step in doubt wrote, and the owner knows whether that one was called and
 * sees what the thief did on its behalf. Who goes on with a run that waits sees
 * what was done before.
 */
#include "mc.h"
#include "run/guard.h"

#define NR 3 /* steps */
#define CHUNK 2 /* steps, before a run of two chunks waits */

static struct guard guard;
static _Atomic(uint32_t) attn; /* others want something of the owner */
static _Atomic(uint32_t) run_link; /* 1: it lies where others may take it */
static uint32_t next; /* plain: the steps before it are done; of guard_stop() */
static uint32_t made_up; /* plain: steps that the thief has accounted for */
static int ran[NR]; /* plain: what a body writes */
static _Atomic(uint32_t) bytes[NR]; /* where a body finds its bytes */
static bool has_barrier;
static uint32_t leaves_in; /* the body of a step; NR: none does */

static void init(void)
{
	int i;

	a_store(&guard.step, 0, relaxed);
	a_store(&guard.state, GUARD_WAITS, relaxed);
	plain_store(&guard.left_at, NR + 1);
	a_store(&run_link, 0, relaxed);
	plain_store(&next, 0);
	plain_store(&made_up, 0);
	a_store(&attn, 0, relaxed);
	for (i = 0; i < NR; i++) {
		plain_store(&ran[i], 0);
		a_store(&bytes[i], 1, relaxed);
	}
	has_barrier = true;
	leaves_in = NR;
	mc_name(&guard.step, "step");
	mc_name(&guard.state, "state");
	mc_name(&guard.left_at, "left_at");
	mc_name(&run_link, "link");
	mc_name(&next, "next");
	mc_name(&made_up, "made_up");
	mc_name(&ran[0], "ran[0]");
	mc_name(&ran[1], "ran[1]");
	mc_name(&ran[2], "ran[2]");
	mc_name(&attn, "attn");
}

static void init_no_barrier(void)
{
	init();
	has_barrier = false;
}

static void init_in_body(void)
{
	init();
	leaves_in = 1;
}

/* ---- steps -------------------------------------------------------------- */

/* The one before it may be under way. */
static void call_alone(uint32_t step)
{
	mc_assert(plain_load(&ran[step]) == 0);
	plain_store(&ran[step], 1);
}

static void all_ran_before(uint32_t step)
{
	uint32_t i;

	for (i = 0; i < step; i++)
		mc_assert(plain_load(&ran[i]) == 1);
}

/* In order: it reads what the one before it wrote. */
static void call(uint32_t step)
{
	mc_assert(!step || plain_load(&ran[step - 1]) == 1);
	call_alone(step);
}

static void each_once(void)
{
	all_ran_before(NR);
}

/* ---- the owner ---------------------------------------------------------- */

/* The run is taken. It began at first; we were about to call that of at. */
static void wait_for_thief(uint32_t first, uint32_t at)
{
	uint32_t left_at;

	while (!guard_is_left(&guard))
		a_pause();
	left_at = plain_load(&guard.left_at);
	mc_assert(plain_load(&made_up) == left_at + 1);
	if (left_at == at) {
		mc_see("the owner calls the one in doubt");
		mc_assert(at < NR);
		call(at);
	} else {
		mc_see("it was called");
		mc_assert(at > first && left_at == at - 1);
		mc_assert(plain_load(&ran[left_at]) == 1);
	}
}

static void resolve(uint32_t first, uint32_t at)
{
	plain_store(&next, at);
	if (!guard_stop(&guard, GUARD_ENDED)) {
		wait_for_thief(first, at);
		return;
	}
	mc_see("the owner leaves itself");
	for (; at < NR; at++)
		call(at);
}

/* The body of the step wants more than to be called; it is under way. */
static void leave_in_body(uint32_t step)
{
	plain_store(&next, step);
	if (guard_stop(&guard, GUARD_ENDED)) {
		mc_see("a body leaves");
		while (++step < NR)
			call(step);
		return;
	}
	while (!guard_is_left(&guard))
		a_pause();
	mc_see("a body finds that it is left");
	mc_assert(plain_load(&guard.left_at) == step);
	mc_assert(plain_load(&made_up) == step + 1);
}

/* Who holds the link. False: the rest is not ours any more, or done. */
static bool go(uint32_t first, uint32_t end)
{
	enum guard_state to = end == NR ? GUARD_ENDED : GUARD_WAITS;
	uint32_t step, at;

	guard_begin(&guard, first);
	a_store(&run_link, 1, release);
	for (step = first; step < end; step++) {
		/* Before, for the thief may change it afterwards. */
		at = a_load(&bytes[step], relaxed);
		if (guard_at(&guard, step) || a_load(&attn, relaxed)) {
			resolve(first, step);
			return false;
		}
		mc_assert(at == 1);
		call(step);
		if (step == leaves_in) {
			leave_in_body(step);
			return false;
		}
	}
	plain_store(&next, end);
	if (guard_stop(&guard, to))
		return to == GUARD_WAITS;
	resolve(first, end);
	return false;
}

/* ---- the thief ---------------------------------------------------------- */

/*
 * membarrier_all(): what the owner did before it looked and found the run its
 * own is seen from here on. The owner's accesses are seq_cst for it.
 */
static void barrier(void)
{
	if (has_barrier)
		(void)a_load(&guard.step, seq_cst);
}

static bool steal(void)
{
	uint32_t step, i;

	if (!guard_take(&guard)) {
		mc_see("it stops before it is taken");
		return false;
	}
	barrier();
	step = guard_look(&guard);
	mc_assert(step < NR);
	all_ran_before(step);
	plain_store(&made_up, step + 1);
	a_store(&bytes[step], 0, relaxed);
	/* As guard_leave(), which the checker does not see. */
	plain_store(&guard.left_at, step);
	guard_leave(&guard, step);
	for (i = step + 1; i < NR; i++)
		call_alone(i);
	return true;
}

/* Whoever finds the link. */
static void come(int id)
{
	enum guard_state state;

	if (!a_xchg(&run_link, 0, acquire))
		return;
	state = guard_see(&guard);
	if (state == GUARD_RUNS) {
		if (steal()) {
			if (id == 0)
				mc_see("the first owner takes it back");
			return;
		}
		state = guard_see(&guard);
	}
	all_ran_before(plain_load(&next));
	if (state == GUARD_WAITS) {
		mc_see(id ? "another goes on" : "the first owner goes on");
		mc_assert(plain_load(&next) == CHUNK);
		go(CHUNK, NR);
	} else {
		mc_assert(state == GUARD_ENDED);
		mc_see("nothing is taken");
	}
}

/* ---- scenarios ---------------------------------------------------------- */

static void one_thief(int id)
{
	if (id)
		come(id);
	else
		go(0, NR);
}

/* The owner leaves for another reason while it is taken. */
static void others_ask(int id)
{
	if (id == 2)
		a_or(&attn, 1, seq_cst);
	else
		one_thief(id);
}

/* Taking the link tells the thief of nothing: guard_take() must. */
static void bare_link(int id)
{
	if (!id)
		go(0, NR);
	else if (a_xchg(&run_link, 0, relaxed))
		steal();
}

static void two_chunks(int id)
{
	if (id || go(0, CHUNK))
		come(id);
}

static const struct mc_scenario table[] = {
	{ .name = "an owner and a thief",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init,
	  .thread = one_thief,
	  .final = each_once,
	  .must_see = { "the owner calls the one in doubt", "it was called",
			"it stops before it is taken", "nothing is taken" } },
	{ .name = "a thief that passes no barrier",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init_no_barrier,
	  .thread = one_thief,
	  .final = each_once,
	  .fails = "ran[" },
	{ .name = "others want attention too",
	  .nr_threads = 3,
	  .bound = -1,
	  .init = init,
	  .thread = others_ask,
	  .final = each_once,
	  .must_see = { "the owner calls the one in doubt", "it was called",
			"the owner leaves itself", "nothing is taken" } },
	{ .name = "a body leaves the order",
	  .nr_threads = 3,
	  .bound = -1,
	  .init = init_in_body,
	  .thread = others_ask,
	  .final = each_once,
	  .must_see = { "the owner calls the one in doubt", "it was called",
			"the owner leaves itself", "a body leaves",
			"a body finds that it is left", "nothing is taken" } },
	{ .name = "a link that orders nothing",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init,
	  .thread = bare_link,
	  .final = each_once,
	  .must_see = { "the owner calls the one in doubt", "it was called",
			"it stops before it is taken" } },
	{ .name = "two chunks, two workers",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init,
	  .thread = two_chunks,
	  .final = each_once,
	  .must_see = { "the owner calls the one in doubt", "it was called",
			"nothing is taken", "another goes on",
			"the first owner goes on",
			"the first owner takes it back" } },
	{ .name = "two chunks, three workers",
	  .nr_threads = 3,
	  .bound = -1,
	  .init = init,
	  .thread = two_chunks,
	  .final = each_once,
	  .must_see = { "the owner calls the one in doubt", "it was called",
			"nothing is taken", "another goes on",
			"the first owner goes on",
			"the first owner takes it back" } },
};

MC_MAIN(table)
