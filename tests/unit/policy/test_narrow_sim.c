/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * narrow_step() chooses the caps of programs that lock_model.h runs in virtual
 * time, on 2 to 16 workers.
 */
#include "policy/narrow.h"

#include "lock_model.h"
#include "tests/tap.h"

#define NR_FIXED 20
#define NR_NARROWED 600

/* Progress per ns of so many windows under one cap. */
static double fixed(const struct program *p, uint32_t nr, uint32_t with)
{
	double sum = 0;
	uint32_t i;

	start(p, nr);
	cap = with;
	for (i = 0; i < NR_FIXED; i++) {
		set_lock(p, i);
		next_window(i);
		sum += (double)progress;
	}
	return sum / NR_FIXED / (double)prog.window;
}

static struct narrow n;
static uint32_t late_trials; /* in it */
static uint32_t longest_behind; /* windows without a lock, until the cap is W */

/* The same where narrow_step() chooses. */
static double narrowed(const struct program *p, uint32_t nr)
{
	double sum = 0;
	struct narrow_in in;
	uint32_t i, behind = 0;

	start(p, nr);
	longest_behind = 0;
	narrow_init(&n, nr);
	for (i = 0; i < NR_NARROWED; i++) {
		set_lock(p, i);
		in = next_window(i);
		sum += (double)progress;
		if (i < NR_NARROWED / 2)
			late_trials = (uint32_t)n.nr_trials;
		cap = narrow_step(&n, &in);
		call_idle(nr);
		behind = is_free && n.phase != NARROW_WATCHES ? behind + 1 : 0;
		longest_behind = (uint32_t)max_u64(longest_behind, behind);
	}
	late_trials = (uint32_t)n.nr_trials - late_trials;
	return sum / NR_NARROWED / (double)prog.window;
}

/* ---- what has to come out ----------------------------------------------- */

/* A body whose calls are little but the lock, and one of the pages' 100:400. */
#define CONVOY(lock) \
	.type = lock, .nr_calls = 8, .held = 22, .outside = 2, .other = 1000
#define PART(lock) \
	.type = lock, .nr_calls = 4, .held = 100, .outside = 400, .other = 1000

static double best_of(const struct program *p, uint32_t nr, double *all)
{
	double best = 0;
	uint32_t with;

	for (with = 1; with <= nr; with *= 2) {
		*all = fixed(p, nr, with);
		if (*all > best)
			best = *all;
	}
	return best;
}

struct row {
	struct program p;
	/* Of the best cap's progress, and of that of all workers, at least. */
	double best, all;
	uint32_t late_trials;
};

static void check_row(const struct row *r, uint32_t nr)
{
	double all, best = best_of(&r->p, nr, &all), sum = narrowed(&r->p, nr);

	ok(sum >= r->best * best && sum >= r->all * all,
	   "%s, %u workers: %.2f of the best cap's progress, %.2f of all "
	   "workers'",
	   r->p.name, nr, sum / best, sum / all);
	ok(late_trials <= r->late_trials, "%u trials in the second half",
	   late_trials);
}

static void narrowing_pays(void)
{
	static const struct row rows[] = {
		{ { "a convoy", CONVOY(LOCK_FUTEX), .percent = 100 },
		  0.9,
		  1.4,
		  3 },
		{ { "a convoy, noise", CONVOY(LOCK_FUTEX), .percent = 100,
		    .noise = 30 },
		  0.9,
		  1.4,
		  3 },
		{ { "a spin lock", CONVOY(LOCK_SPIN), .percent = 100,
		    .permille = -1 },
		  0.9,
		  5,
		  2 },
		{ { "a PI mutex", .type = LOCK_HANDED, .nr_calls = 2,
		    .held = 150, .percent = 100, .window = MS },
		  0.9,
		  100,
		  2 },
		{ { "a half convoys", CONVOY(LOCK_FUTEX), .percent = 50 },
		  0.95,
		  1.4,
		  2 },
		{ { "a neighbour hogs", CONVOY(LOCK_FUTEX), .percent = 100,
		    .is_hogged = true },
		  0.6,
		  0.9,
		  3 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		check_row(&rows[i], 2);
		check_row(&rows[i], 4);
		check_row(&rows[i], 16);
	}
}

/* Here a lock may convoy or not for long with the same number of workers. */
static void a_part_under_the_lock(void)
{
	static const struct row rows[] = {
		{ { "lock 100, outside 400", PART(LOCK_FUTEX), .percent = 100,
		    .window = MS / 2 },
		  0.9,
		  1,
		  30 },
		{ { "half of the bodies", PART(LOCK_FUTEX), .percent = 50,
		    .window = MS / 2 },
		  0.9,
		  0.97,
		  30 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		check_row(&rows[i], 4);
		check_row(&rows[i], 16);
	}
}

static void nothing_is_lost(void)
{
	static const struct row rows[] = {
		{ { "no lock", PART(LOCK_NONE), .percent = 100 }, 0.999, 1, 0 },
		{ { "no lock, many system calls", PART(LOCK_NONE),
		    .percent = 100, .permille = 400 },
		  0.98,
		  0.98,
		  0 },
		{ { "half of the bodies call, noise", PART(LOCK_NONE),
		    .percent = 50, .permille = 400, .noise = 30 },
		  0.98,
		  0.98,
		  0 },
		{ { "a tenth convoys", CONVOY(LOCK_FUTEX), .percent = 10 },
		  0.95,
		  0.98,
		  2 },
		{ { "each tenth window convoys", CONVOY(LOCK_FUTEX),
		    .percent = 100, .with = 1, .without = 9 },
		  0.98,
		  0.98,
		  1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		check_row(&rows[i], 4);
		check_row(&rows[i], 16);
	}
}

/* A window takes 10 ms: 0.3 s of a convoy, and as much or 2 s without. */
static void phases_are_followed(void)
{
	static const struct program p[] = {
		{ "0.3 s", CONVOY(LOCK_FUTEX), .percent = 100, .with = 30,
		  .without = 30 },
		{ "2 s", CONVOY(LOCK_FUTEX), .percent = 100, .with = 30,
		  .without = 200 },
	};
	uint32_t nr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		for (nr = 4; nr <= 16; nr *= 4) {
			narrowed(&p[i], nr);
			ok(longest_behind <= 30,
			   "%u workers, %s without convoy: all run after %u "
			   "windows",
			   nr, p[i].name, longest_behind);
		}
	}
}

int main(void)
{
	tap_start(240);
	narrowing_pays();
	a_part_under_the_lock();
	nothing_is_lost();
	phases_are_followed();
	return tap_end();
}
