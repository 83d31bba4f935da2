/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's membarrier(2) under the deque and the guard. The model checker
 * replaces it by accesses that are seq_cst; here two threads race on the CPU:
 * the owner with no fence between its store and its load, the other with the
 * system call. Without the barrier an item comes out twice, and a step's body
 * is called twice, within milliseconds on two CPUs.
 */
#include "run/guard.h"
#include "sched/deque.h"
#include "tests/tap.h"

#include <pthread.h>
#include <sched.h>

#define NR_SLOTS 64
#define BATCH 24 /* items at a time */
#define NR_ITEMS 1048576 /* names of items; they are used again */
#define NR_PUBLISHED 200000 /* enough; or so many items and runs: */
#define MAX_ITEMS 40000000
#define NR_STEPS 32
#define NR_THEFTS 5000
#define MAX_RUNS 20000

static uint64_t random_state = 88172645463325252ull; /* the main thread's */

static void pause_for(uint32_t rounds)
{
	while (rounds--)
		a_pause();
}

/* ---- the deque ---------------------------------------------------------- */

static struct deque deque;
static _Atomic(uint64_t) slots[NR_SLOTS];
static _Atomic(uint32_t) nr_taken[NR_ITEMS];
static _Atomic(bool) is_over; /* the owner has popped its last */
static _Atomic(uint32_t) nr_published;

static void take_item(uint64_t item)
{
	a_add(&nr_taken[item % NR_ITEMS], 1, relaxed);
}

static void steal_all(void)
{
	uint64_t item;
	enum deque_result rc;

	do {
		rc = deque_steal(&deque, &item);
		if (rc == DEQUE_TAKEN)
			take_item(item);
	} while (rc != DEQUE_EMPTY);
}

static void *publish_and_steal(void *unused)
{
	while (!a_load(&is_over, acquire)) {
		a_add(&nr_published, deque_publish_for(&deque), relaxed);
		steal_all();
	}
	steal_all();
	return unused;
}

/* Pushes and pops until enough was made public under its hands. Items made. */
static uint64_t push_and_pop(void)
{
	uint64_t nr = 0, item;

	while (nr + BATCH <= MAX_ITEMS &&
	       a_load(&nr_published, relaxed) < NR_PUBLISHED) {
		for (item = nr; item < nr + BATCH; item++)
			if (!deque_push(&deque, item))
				take_item(item);
		nr += BATCH;
		pause_for(random_next(&random_state) % 32);
		while (deque_pop(&deque, &item))
			take_item(item);
		if (nr % (512 * BATCH) == 0)
			sched_yield(); /* with one CPU the other moves too */
	}
	return nr;
}

static void items_come_out_once(void)
{
	uint64_t nr, i, nr_lost = 0, nr_twice = 0;
	pthread_t other;
	uint32_t want;

	deque_init(&deque, slots, NR_SLOTS - 1);
	if (pthread_create(&other, NULL, publish_and_steal, NULL))
		exit(1);
	nr = push_and_pop();
	a_store(&is_over, true, release);
	pthread_join(other, NULL);
	for (i = 0; i < NR_ITEMS; i++) {
		want = (uint32_t)(nr / NR_ITEMS + (i < nr % NR_ITEMS));
		nr_lost += a_load(&nr_taken[i], relaxed) < want;
		nr_twice += a_load(&nr_taken[i], relaxed) > want;
	}
	printf("# %llu items, %u made public by the other thread\n",
	       (unsigned long long)nr, a_load(&nr_published, relaxed));
	if (!a_load(&nr_published, relaxed))
		skip("private items are made public", "one CPU");
	is(nr_lost, 0, "no item of a deque that others publish for is lost");
	is(nr_twice, 0,
	   "no item of a deque that others publish for comes out twice");
}

/* ---- the guard ---------------------------------------------------------- */

static struct guard guard;
/* Calls of each step's body in this run. */
static _Atomic(uint32_t) nr_calls[NR_STEPS];
/* Numbers of runs: the thief waits for it; it goes on; the thief is done. */
static _Atomic(uint32_t) awaited, run, seen;
/* The thief's; the owner's. */
static uint32_t nr_thefts, nr_unseen;
static uint32_t nr_in_doubt;

static void call_body(uint32_t step)
{
	a_add(&nr_calls[step], 1, relaxed);
	pause_for(step % 4);
}

/* The run is taken, about to call the body of at. */
static void go_on_after_thief(uint32_t at)
{
	while (!guard_is_left(&guard))
		a_pause();
	if (guard.left_at == at)
		call_body(at);
	else if (guard.left_at + 1 != at)
		nr_in_doubt++;
}

static void run_in_order(void)
{
	uint32_t at;

	for (at = 0; at < NR_STEPS; at++) {
		if (guard_at(&guard, at)) {
			go_on_after_thief(at);
			return;
		}
		call_body(at);
	}
	if (!guard_stop(&guard, GUARD_ENDED))
		go_on_after_thief(NR_STEPS);
}

/* Takes the run away, and calls what comes after the step in doubt. */
static void steal_run(void)
{
	uint32_t step, i;

	if (!guard_take(&guard))
		return;
	membarrier_all();
	step = guard_look(&guard);
	for (i = 0; i < step; i++)
		nr_unseen += a_load(&nr_calls[i], relaxed) != 1;
	for (i = step + 1; i < NR_STEPS; i++)
		call_body(i);
	nr_thefts++;
	guard_leave(&guard, step);
}

/* Spins: a sleeper would come too late. */
static void await(_Atomic(uint32_t) *number, uint32_t r)
{
	uint32_t spins;

	for (spins = 1; a_load(number, acquire) != r; spins++) {
		a_pause();
		if (spins % 512 == 0)
			sched_yield();
	}
}

static void *steal_runs(void *unused)
{
	uint64_t random = 1181783497276652981ull;
	uint32_t r;

	for (r = 1; r <= MAX_RUNS; r++) {
		a_store(&awaited, r, release);
		await(&run, r);
		if (a_load(&is_over, acquire))
			break;
		pause_for(random_next(&random) % 32);
		steal_run();
		a_store(&seen, r, release);
	}
	return unused;
}

static uint32_t nr_not_once(void)
{
	uint32_t i, nr = 0;

	for (i = 0; i < NR_STEPS; i++) {
		nr += a_load(&nr_calls[i], relaxed) != 1;
		a_store(&nr_calls[i], 0, relaxed);
	}
	return nr;
}

static void bodies_are_called_once(void)
{
	uint32_t r, nr_wrong = 0;
	pthread_t thief;

	a_store(&is_over, false, relaxed);
	if (pthread_create(&thief, NULL, steal_runs, NULL))
		exit(1);
	for (r = 1; r <= MAX_RUNS && nr_thefts < NR_THEFTS; r++) {
		await(&awaited, r);
		guard_begin(&guard, 0);
		a_store(&run, r, release);
		run_in_order();
		await(&seen, r);
		nr_wrong += nr_not_once();
	}
	a_store(&is_over, true, relaxed);
	a_store(&run, r, release);
	pthread_join(thief, NULL);
	printf("# %u of %u runs were taken away\n", nr_thefts, r - 1);
	if (!nr_thefts)
		skip("runs are taken away under way", "one CPU");
	is(nr_wrong, 0, "each body of a run that is taken is called once");
	is(nr_in_doubt, 0, "one step at most is in doubt");
	is(nr_unseen, 0, "the thief sees what the bodies before it did");
}

int main(void)
{
	tap_start(100);
	if (!membarrier_register()) {
		printf("1..0 # SKIP the kernel has no membarrier\n");
		return 0;
	}
	items_come_out_once();
	bodies_are_called_once();
	return tap_end();
}
