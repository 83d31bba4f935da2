/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Caps after recorded windows: a table says how much progress a program makes
 * under each cap, and what a window shows. Rates are those of 2, 4, 8 and 16
 * CPUs where a lock convoys, in bodies alone per tick.
 */
#include "policy/narrow.h"

#include "tests/tap.h"

#include <string.h>

#define TICKS 1000000
#define NR_CAPS 5 /* 1, 2, 4, 8, 16 */

/* What the set shows under a cap. */
struct view {
	double rate; /* of progress, of the whole program */
	int32_t permille;
	bool is_stretched;
};

struct world {
	const char *name;
	struct view view[NR_CAPS];
};

static const struct world convoy = {
	"a convoy",
	{ { 1, 0, false },
	  { 0.25, 600, true },
	  { 0.15, 700, true },
	  { 0.10, 800, true },
	  { 0.10, 900, true } },
};

static const struct world stream = {
	/* one FILE: two are worse than four */
	"fputc",
	{ { 1, 0, false },
	  { 0.08, 600, true },
	  { 0.16, 700, true },
	  { 0.16, 800, true },
	  { 0.16, 900, true } },
};

static const struct world inherit = {
	"a PI mutex",
	{ { 1, 0, false },
	  { 0.5, 400, true },
	  { 1 / 149., 990, true },
	  { 1 / 149., 990, true },
	  { 1 / 149., 990, true } },
};

static const struct world spin = {
	/* no word, and the share is not known */
	"a spin lock",
	{ { 1, -1, false },
	  { 0.21, -1, true },
	  { 0.11, -1, true },
	  { 0.10, -1, true },
	  { 0.10, -1, true } },
};

static const struct world part = {
	"lock 100, outside 400",
	{ { 1, 0, false },
	  { 1.69, 160, false },
	  { 0.81, 500, true },
	  { 0.99, 500, true },
	  { 0.92, 500, true } },
};

static const struct world lock_free = {
	"no lock",
	{ { 1, 5, false },
	  { 2, 5, false },
	  { 4, 5, false },
	  { 8, 5, false },
	  { 16, 5, false } },
};

static const struct world accused = {
	/* bandwidth, for example */
	"no lock, bodies stretched",
	{ { 1, 0, false },
	  { 2, 0, false },
	  { 3.5, 0, true },
	  { 5.5, 0, true },
	  { 8, 0, true } },
};

static const struct world mixed = {
	/* others run while the set is held off */
	"mixed kinds, narrowing costs",
	{ { 0.80, 0, false },
	  { 0.85, 200, false },
	  { 0.90, 300, true },
	  { 0.95, 400, true },
	  { 1.00, 400, true } },
};

static struct narrow n;
static uint64_t seed;
static double done, nr_windows;
static uint32_t noise; /* +- per cent */

static void start(uint32_t nr_workers, uint32_t percent)
{
	narrow_init(&n, nr_workers);
	seed = 34 + nr_workers;
	noise = percent;
	done = nr_windows = 0;
}

static int log_of(uint32_t cap)
{
	return 31 - __builtin_clz(cap);
}

static struct narrow_in window_of(const struct world *w, uint32_t cap)
{
	const struct view *v = &w->view[log_of(cap)];
	double by = 1, span = noise / 100.;

	if (noise)
		by += span * (random_next(&seed) % 2001 / 1000. - 1);
	return (struct narrow_in){
		.ticks = TICKS,
		.progress = (uint64_t)(v->rate * by * TICKS),
		.permille = v->permille,
		.is_stretched = v->is_stretched,
		.nr_bodies = 1000,
		.most_running = cap,
		.is_whole = true,
	};
}

static void play(const struct world *w, int nr)
{
	struct narrow_in in;

	while (nr--) {
		done += w->view[log_of(n.cap)].rate;
		nr_windows++;
		in = window_of(w, n.cap);
		narrow_step(&n, &in);
	}
}

/* Until no trial is under way. */
static void settle(const struct world *w)
{
	do {
		play(w, 1);
	} while (n.phase == NARROW_TRIES && nr_windows < 10000);
}

static uint32_t cap_held(void)
{
	return n.phase == NARROW_TRIES ? n.home : n.cap;
}

/* Progress since start() over that under one cap. */
static double part_of(const struct world *w, uint32_t cap)
{
	return done / nr_windows / w->view[log_of(cap)].rate;
}

/* ---- what helps --------------------------------------------------------- */

static void caps_are_found(void)
{
	static const struct {
		const struct world *world;
		uint32_t cap;
	} rows[] = {
		{ &convoy, 1 }, { &stream, 1 }, { &inherit, 1 },
		{ &spin, 1 },	{ &part, 2 },
	};
	uint32_t nr_workers, percent;
	uint64_t nr_trials;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (nr_workers = 4; nr_workers <= 16; nr_workers *= 2) {
			start(nr_workers, 0);
			settle(rows[i].world);
			is(n.cap, rows[i].cap, "%s, %u workers: cap",
			   rows[i].world->name, nr_workers);
		}
		for (percent = 0; percent <= 30; percent += 30) {
			start(16, percent);
			play(rows[i].world, 600);
			nr_trials = n.nr_trials;
			play(rows[i].world, 2600);
			ok(n.nr_trials - nr_trials <= 11,
			   "settled, noise of %u %%: %u trials in 2600 windows",
			   percent, (uint32_t)(n.nr_trials - nr_trials));
			ok(part_of(rows[i].world, rows[i].cap) > 0.95,
			   "%.3f of the best cap's progress in all",
			   part_of(rows[i].world, rows[i].cap));
		}
	}
	start(2, 0);
	play(&convoy, 5);
	is(n.cap, 1, "two workers: after a sign and two windows of each cap");
	start(6, 0);
	settle(&part);
	is(n.cap, 2, "six workers: 6, 4 and 2, of which 2 is best");
}

/* ---- what must not lose ------------------------------------------------- */

static void harmless_programs_lose_nothing(void)
{
	static const struct {
		const struct world *world;
		double at_least;
		uint32_t most_trials;
	} rows[] = {
		{ &lock_free, 1, 0 },
		{ &accused, 0.99, NARROW_LOSSES },
		{ &mixed, 0.99, NARROW_LOSSES },
	};
	double share;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		start(16, 0);
		play(rows[i].world, 1000);
		share = part_of(rows[i].world, 16);
		ok(share >= rows[i].at_least, "%s: %.4f of its progress",
		   rows[i].world->name, share);
		is(n.nr_trials, rows[i].most_trials, "trials");
		is(narrow_is_off(&n), rows[i].most_trials > 0,
		   "off after as many losses as that is");
		start(16, 30);
		play(rows[i].world, 3000);
		share = part_of(rows[i].world, 16);
		ok(share >= 0.98, "with noise: %.4f", share);
	}
	play(&convoy, NARROW_OFF + 10);
	is(n.cap, 1, "what is off is tried again in the end");
}

/* A window in which so many of a hundred are of the convoy. */
static struct narrow_in blend(uint32_t percent, uint32_t cap)
{
	struct narrow_in in = window_of(&lock_free, cap);
	struct narrow_in bad = window_of(&convoy, cap);

	in.progress =
		(in.progress * (100 - percent) + bad.progress * percent) / 100;
	in.permille = (in.permille * (int32_t)(100 - percent) +
		       bad.permille * (int32_t)percent) /
		      100;
	in.is_stretched = percent > 50 && bad.is_stretched;
	return in;
}

/* Windows of which each tenth convoys, and where in each a tenth does. */
static void a_tenth_is_left_alone(void)
{
	struct narrow_in in;
	double got = 0, best = 0;
	int i;

	start(8, 0);
	for (i = 0; i < 2000; i++) {
		in = blend(i % 10 ? 0 : 100, n.cap);
		got += (double)in.progress;
		best += (double)blend(i % 10 ? 0 : 100, 8).progress;
		narrow_step(&n, &in);
	}
	ok(got >= best * 0.98, "each tenth window convoys: %.4f", got / best);
	start(8, 0);
	for (i = 0, got = best = 0; i < 2000; i++) {
		in = blend(22, n.cap);
		got += (double)in.progress;
		best += (double)blend(22, 8).progress;
		narrow_step(&n, &in);
	}
	ok(got >= best * 0.98, "a part of each: %.4f", got / best);
}

static void phases_are_followed(void)
{
	uint32_t nr_trials, i, slow = 0;

	/* A window takes 10 ms. */
	start(16, 0);
	play(&convoy, 30);
	is(n.cap, 1, "0.3 s of a convoy: narrowed");
	for (i = 0; n.cap < 16 && i < 100; i++)
		play(&lock_free, 1);
	ok(i <= 30, "after its end all workers run again in %u windows", i);
	play(&lock_free, 100);
	is(n.cap, 16, "for good");
	nr_trials = (uint32_t)n.nr_trials;
	play(&convoy, 1);
	is(n.cap, 1, "the next convoy is held back after one window");
	is(n.nr_trials, nr_trials, "without a trial");
	start(16, 0);
	for (i = 0; i < 20; i++) {
		play(&convoy, 30);
		slow += cap_held() != 1;
		play(&lock_free, 30);
		slow += cap_held() != 16;
	}
	is(slow, 0, "twenty times 0.3 s of each: right at the end of each");
	start(16, 0);
	play(&convoy, 12);
	play(&lock_free, 40);
	is(n.best, 0, "a cap that no second trial confirmed is not remembered");
	is(n.nr_losses, 1, "and was a loss");
}

/* ---- windows that say nothing ------------------------------------------- */

static void windows_that_are_not_whole(void)
{
	struct narrow_in in;
	int i;

	start(4, 0);
	in = window_of(&convoy, 4);
	in.is_whole = false;
	ok(!narrow_is_due(&n, &in),
	   "a window that is not whole begins nothing");
	play(&convoy, 2);
	is(n.cap, 2, "a trial is under way");
	in.progress = 100 * TICKS;
	narrow_step(&n, &in);
	is(n.cell[1].nr, 0, "such a window counts for nothing");
	for (i = 1; i < NARROW_VOID; i++)
		narrow_step(&n, &in);
	is(n.phase, NARROW_WATCHES, "%d in a row end the trial", NARROW_VOID);
	is(n.nr_losses, 0, "which is no loss");
	start(4, 0);
	settle(&convoy);
	is(n.phase, NARROW_HOLDS, "narrowed");
	for (i = 0; i < NARROW_VOID_MAX; i++)
		narrow_step(&n, &in);
	is(n.cap, 4, "%d of them: as if nothing were known", NARROW_VOID_MAX);
	play(&convoy, 1);
	is(n.cap, 1, "but it is remembered");
}

/* A neighbour spoils seven windows of ten, and most of what he leaves.
 */
static void a_neighbour_hogs(void)
{
	struct narrow_in in;
	uint32_t i, held = 0;

	start(4, 30);
	for (i = 0; i < 2000; i++) {
		in = window_of(&convoy, n.cap);
		in.is_whole = i % 10 < 3;
		if (i % 10 == 2)
			in.progress /= 2;
		narrow_step(&n, &in);
		held += n.cap == 1;
	}
	ok(held > 1800, "beside a hog a convoy is narrowed: %u of 2000", held);
	start(4, 30);
	for (i = held = 0; i < 2000; i++) {
		in = window_of(&accused, n.cap);
		in.is_whole = i % 10 < 3;
		if (i % 10 == 2)
			in.progress /= 2;
		narrow_step(&n, &in);
		held += n.cap < 4;
	}
	ok(held < 60, "and what has no lock is not: %u of 2000", held);
}

static void few_bodies(void)
{
	struct narrow_in in = window_of(&convoy, 4);
	int i;

	start(4, 0);
	in.nr_bodies = NARROW_BODIES - 1;
	ok(!narrow_is_due(&n, &in), "few bodies begin nothing");
	in.nr_bodies = NARROW_BODIES;
	ok(narrow_is_due(&n, &in), "some do");
	in.most_running = 1;
	ok(!narrow_is_due(&n, &in), "unless they ran one by one");
	in.most_running = 4;
	narrow_step(&n, &in);
	narrow_step(&n, &in);
	in.nr_bodies = NARROW_BODIES / 2;
	narrow_step(&n, &in);
	is(n.cap, 2, "half of what is wanted: the measurement goes on");
	narrow_step(&n, &in);
	is(n.cap, 1, "until there are enough");
	in.nr_bodies = 1;
	for (i = 0; i < NARROW_WINDOWS; i++)
		narrow_step(&n, &in);
	is(n.cap, 4, "a cap with one body a window is none");
	start(1, 0);
	in.nr_bodies = 1000;
	ok(!narrow_is_due(&n, &in), "one worker has nobody to hold back");
}

static void nobody_is_held_back(void)
{
	struct narrow_in in;

	start(16, 0);
	play(&part, 40);
	is(n.cap, 2, "two at once");
	in = window_of(&part, 2);
	in.most_running = 1;
	narrow_step(&n, &in);
	is(n.cap, 16, "where one runs the cap ends");
	play(&part, 1);
	is(n.cap, 2, "and is there again with the trouble");
	n.left = 200;
	play(&part, 1);
	in = window_of(&lock_free, 2);
	while (n.phase == NARROW_HOLDS && n.left > 100)
		narrow_step(&n, &in);
	is(200 - n.left, 1 + NARROW_CALM, "quiet after loud: a trial at once");
	settle(&lock_free);
	is(n.cap, 16, "which releases");
}

int main(void)
{
	tap_start(60);
	caps_are_found();
	harmless_programs_lose_nothing();
	a_tenth_is_left_alone();
	phases_are_followed();
	windows_that_are_not_whole();
	a_neighbour_hogs();
	few_bodies();
	nobody_is_held_back();
	return tap_end();
}
