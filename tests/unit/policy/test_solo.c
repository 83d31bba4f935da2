/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How a graph's runs go, shared or solo, after the times that they took. */
#include "policy/solo.h"

#include "tests/tap.h"

#include <string.h>

#define SERIAL 1000
#define SOURCE 3

static struct solo s;
static uint64_t now, serial;

static void start(void)
{
	memset(&s, 0, sizeof(s));
	serial = SERIAL;
	solo_init(&s, true, SOLO_OR_ALL);
}

/* One run; answers what it is asked. True: it went solo. */
static bool run(uint64_t shared, uint64_t solo)
{
	struct solo_run r;

	if (solo_is_due(&s))
		solo_try(&s);
	solo_begin(&s, &r);
	r.began = now;
	now += r.is_solo ? solo : shared;
	if (r.is_measured)
		solo_end_at(&s, &r, now);
	if (solo_asks(&s))
		solo_answer(&s, serial);
	return r.is_solo;
}

/* So many runs; how many of them went solo. */
static int runs(int nr, uint64_t shared, uint64_t solo)
{
	int nr_solo = 0;

	while (nr--)
		nr_solo += run(shared, solo);
	return nr_solo;
}

static void faster_way_is_found(void)
{
	int nr;

	start();
	is(runs(SOLO_FIRST, 3000, 1500), 0, "the first runs are shared");
	is(runs(SOLO_ASKED + SOLO_RUNS, 3000, 1500), 0, "and measured");
	nr = runs(1000, 3000, 1500);
	ok(nr > 960 && nr < 1000,
	   "solo is faster: %d of 1000 go so, the rest "
	   "are trials",
	   nr);
	start();
	runs(SOLO_FIRST + SOLO_ASKED + SOLO_RUNS, 3000, 6000);
	ok(runs(SOLO_RUNS, 3000, 6001) < SOLO_RUNS,
	   "twice as slow: the trial ends early");
	is(runs(SOLO_HOLD, 3000, 6000), 0, "and holds");
	start();
	runs(SOLO_FIRST + SOLO_ASKED + SOLO_RUNS, 3000, 2990);
	is(runs(SOLO_RUNS, 3000, 2990), SOLO_RUNS, "a bit faster is tried");
	is(runs(SOLO_HOLD, 3000, 2990), 0, "but nothing changes for it");
}

static void trials_get_rare(void)
{
	int nr;

	start();
	nr = runs(100000, 3000, 3000);
	ok(nr >= 50 * SOLO_RUNS && nr < 100 * SOLO_RUNS + 200,
	   "%d of 100000 runs go the wrong way where it costs nothing", nr);
	start();
	nr = runs(100000, 3000, 60000);
	ok(nr > 0 && nr < 100, "%d where it costs 20 times as much", nr);
}

static void who_shares_well_is_left_alone(void)
{
	start();
	is(runs(5000, SERIAL - 10, SERIAL), 0, "faster than all bodies");
	ok(runs(5000, SERIAL + 500, SERIAL + 10) > 4000,
	   "not so any more: it is tried");
	start();
	now = 0;
	serial = SOLO_TOO_LONG_TICKS + 1;
	is(runs(500, SOLO_TOO_LONG_TICKS * 2, 10), 0, "far too long alone");
	serial = SERIAL;
	ok(runs(500, SOLO_TOO_LONG_TICKS * 2, 10) > 400,
	   "only beside others: it is tried");
}

static void not_short(void)
{
	struct solo_run r;

	start();
	runs(SOLO_FIRST, 3000, 1500);
	ok(solo_is_due(&s) && solo_try(&s), "a trial begins");
	ok(!solo_try(&s), "once");
	solo_answer(&s, 0);
	ok(solo_asks(&s), "an answer before its runs is none");
	for (int i = 0; i < SOLO_ASKED; i++) {
		solo_begin(&s, &r);
		solo_end_at(&s, &r, now += 3000);
	}
	solo_answer(&s, 0);
	ok(!solo_asks(&s) && !solo_is_due(&s), "bodies are long: it is over");
	is(runs(SOLO_HOLD, 3000, 1500), 0, "and runs are shared");
}

/* The first run, and what its time went to. */
static bool alarm_after(uint64_t ticks, uint32_t permille, uint64_t alone)
{
	struct solo_run r;

	start();
	solo_begin(&s, &r);
	r.began = now;
	now += ticks;
	return r.is_first &&
	       solo_alarm(&s, &r, now, solo_alarm_word(SOURCE, permille),
			  alone);
}

static void an_alarm_begins_the_trial_at_once(void)
{
	struct solo_run r;
	struct solo a;

	ok(!alarm_after(3000, SOLO_ALARM - 1, SERIAL), "too small a share");
	ok(!alarm_after(3000, 1000, 0),
	   "bodies that are not known to be short");
	ok(!alarm_after(SERIAL, 1000, SERIAL), "runs that are not slower");
	ok(!alarm_after(SOLO_TOO_LONG_TICKS * 2, 1000, SOLO_TOO_LONG_TICKS + 1),
	   "bodies that take far too long alone");
	ok(alarm_after(SOLO_TOO_LONG_TICKS * 2, 1000, SERIAL),
	   "far too long beside others only");
	alarm_after(SERIAL, 1000, SERIAL);
	is(runs(SOLO_FIRST - 1, 3000, 1500), 0, "no alarm: runs stay shared");
	ok(alarm_after(3000, SOLO_ALARM, SERIAL), "a share that is large");
	a = s;
	solo_begin(&a, &r);
	is(r.anew, solo_alarm_word(SOURCE, SOLO_ALARM),
	   "the run that acts on it knows");
	solo_begin(&a, &r);
	is(r.anew, 0, "the next one has nothing to tell");
	is(runs(SOLO_RUNS + SOLO_FIRST, 3000, 1500), SOLO_RUNS + SOLO_FIRST,
	   "all runs after it go solo, where that is faster");
	ok(runs(1000, 3000, 1500) > 950, "and a full trial confirms it");
	alarm_after(3000, 1000, SERIAL);
	ok(runs(SOLO_RUNS, 3000, 6000) < SOLO_RUNS, "slower: it ends early");
	is(runs(SOLO_HOLD, 3000, 6000), 0, "and runs are shared again");
	/* The one run was out of the common: the next trial finds it. */
	alarm_after(9000, 1000, SERIAL);
	ok(runs(200, SERIAL - 10, 1500) < 60,
	   "a first run that was slow for once: soon shared again");
	solo_begin(&s, &r);
	ok(!r.is_first && !solo_alarm(&s, &r, now + 9000, 1000, SERIAL),
	   "later there is none");
}

/* A run of that number in the first hold: what its bodies do not explain. */
static uint32_t excess_of(int nr, uint64_t ticks, uint64_t alone)
{
	struct solo_run r;

	start();
	while (nr--)
		solo_begin(&s, &r);
	r.began = now;
	now += ticks;
	return solo_excess(&s, &r, now, alone);
}

static void a_slow_run_is_a_sign(void)
{
	is(excess_of(1, 100 * SERIAL, SERIAL), 0, "none of the first run");
	is(excess_of(2, SOLO_SLOW * SERIAL - 1, SERIAL), 0,
	   "of the second one none that is not slow");
	is(excess_of(2, SOLO_SLOW * SERIAL, SERIAL), 1000 - 1000 / SOLO_SLOW,
	   "slow: the part of its time that its bodies do not explain");
	is(excess_of(2, 10 * SERIAL, SERIAL), 900, "which is larger then");
	is(excess_of(2, 100 * SERIAL, 0), 0, "bodies that are not known");
	ok(1000 - 1000 / SOLO_SLOW >= SOLO_ALARM, "each is an alarm");
}

static void a_convoy_ends_its_trial(void)
{
	int nr;

	start();
	runs(SOLO_FIRST + SOLO_ASKED + SOLO_RUNS, 300000, 1500);
	is(runs(SOLO_RUNS + SOLO_HOLD, 300000, 1500), SOLO_RUNS + SOLO_HOLD,
	   "a convoy goes solo");
	nr = runs(SOLO_ASKED + SOLO_RUNS, 300000, 1500);
	is(nr, SOLO_ASKED + SOLO_RUNS, "that is measured again");
	is(runs(1000, 300000, 1500), 1000 - SOLO_DEAR_RUNS,
	   "and two shared runs are enough");
}

static void disturbed(void)
{
	int i, nr = 0;

	start();
	runs(SOLO_FIRST + SOLO_ASKED, 3000, 1500);
	for (i = 0; i < SOLO_RUNS; i++)
		run(i == 4 || i == 7 ? 300000 : 1600, 1500);
	for (i = 0; i < SOLO_RUNS; i++)
		run(1600, i == 3 || i == 8 ? 500000 : 1500);
	is(runs(SOLO_HOLD, 1600, 1500), SOLO_HOLD,
	   "two runs of a half that others have kept count for nothing");
	for (i = 0; i < SOLO_ODD; i++)
		nr += runs(SOLO_LOOK_EVERY, 3000, 9000);
	ok(nr > 0, "runs take longer than they did");
	is(runs(SOLO_FIRST, 3000, 9000), 0, "and are shared again");
	ok(runs(3000, 3000, 9000) < 100, "which is better now");
}

static void overlapping(void)
{
	struct solo_run a, b;

	start();
	runs(SOLO_FIRST + SOLO_ASKED, 3000, 1500);
	solo_begin(&s, &a);
	a.began = now;
	runs(SOLO_RUNS, 3000, 1500);
	solo_begin(&s, &b);
	ok(b.is_solo && !a.is_solo, "the second half has begun");
	solo_end_at(&s, &a, now + 1);
	is(s.nr_told, 0, "a run of the first half does not count in it");
	now += 1000;
	b.began = now;
	solo_end_at(&s, &b, now + 1500);
	is(s.nr_told, 1, "one of its own does");
	ok(solo_patience(&s, 7) > 3 * 3000, "it may take longer than shared");
}

/* ---- some of the workers ------------------------------------------------ */

#define NR_CAPS 5

/* Ticks of a run that 1, 2, 4 .. workers keep; the last is that of all. */
static int held[NR_CAPS];

static void play_caps(const uint64_t *ticks, int nr)
{
	struct solo_run r;

	memset(held, 0, sizeof(held));
	while (nr--) {
		if (solo_is_due(&s))
			solo_try(&s);
		solo_begin(&s, &r);
		r.began = now;
		now += ticks[r.width];
		held[r.width]++;
		if (r.is_measured)
			solo_end_at(&s, &r, now);
		if (solo_asks(&s))
			solo_answer(&s, serial);
	}
}

static void start_caps(uint32_t nr_workers)
{
	start();
	solo_init(&s, true, nr_workers);
}

/* Of runs 101 to 2100, so many have gone under each cap. */
static void best_cap_is_found(void)
{
	static const struct {
		const char *name;
		uint64_t ticks[NR_CAPS]; /* 1, 2, 4, 8, 16 workers */
		int best;
	} rows[] = {
		{ "a convoy", { 1000, 4000, 7000, 10000, 10000 }, 0 },
		{ "one FILE", { 1000, 12000, 6200, 6200, 6200 }, 0 },
		{ "lock 100, outside 400", { 1000, 590, 1240, 1010, 1090 }, 1 },
		{ "best with 4", { 1000, 700, 500, 900, 1200 }, 2 },
		{ "best with 8", { 1000, 700, 500, 400, 1200 }, 3 },
		{ "no lock", { 1000, 500, 250, 125, 63 }, 4 },
		{ "steps of 3 %", { 1000, 990, 980, 970, 1100 }, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		start_caps(16);
		play_caps(rows[i].ticks, 100);
		play_caps(rows[i].ticks, 2000);
		ok(held[rows[i].best] > 1850,
		   "%s: %d of 2000 runs are kept by %d workers", rows[i].name,
		   held[rows[i].best], 1 << rows[i].best);
	}
}

static void what_changes_is_found_again(void)
{
	static const uint64_t part[] = { 1000, 590, 1240, 1010, 1090 };
	static const uint64_t convoy[] = { 1000, 4000, 7000, 10000, 10000 };
	static const uint64_t free_of_it[] = { 1000, 500, 250, 125, 63 };
	struct solo_run r;

	start_caps(16);
	play_caps(part, 200);
	is(a_load(&s.cap, relaxed), 2, "two workers");
	play_caps(convoy, 300);
	play_caps(convoy, 500);
	ok(held[0] > 450, "then a convoy: %d of 500 runs with one", held[0]);
	play_caps(free_of_it, 2000);
	play_caps(free_of_it, 500);
	ok(held[4] > 450, "then no lock: %d of 500 runs with all", held[4]);
	start_caps(16);
	play_caps(part, 60);
	solo_begin(&s, &r);
	ok(r.is_held && !r.is_solo && r.width == 1,
	   "two workers keep a run, which is no solo run");
}

int main(void)
{
	tap_start(60);
	best_cap_is_found();
	what_changes_is_found_again();
	faster_way_is_found();
	trials_get_rare();
	who_shares_well_is_left_alone();
	not_short();
	an_alarm_begins_the_trial_at_once();
	a_slow_run_is_a_sign();
	a_convoy_ends_its_trial();
	disturbed();
	overlapping();
	return tap_end();
}
