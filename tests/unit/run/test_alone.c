/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs of a graph whose bodies meet in a lock, on a machine of any number of
 * CPUs that is played: time is a number, and a body beside others takes what
 * the lock makes it wait. The policy and the kinds are the library's.
 */
#include "graph/graph.h"
#include "policy/solo.h"
#include "run/alone.h"
#include "task/kind.h"

#include "tests/tap.h"

#include <string.h>

#define US 2000 /* ticks */
#define SPIN (40 * US)
#define NR_TASKS 4095
#define SHARE 400 /* of a convoy's time that goes to its futex */

static struct lkdf_kind kind;
static struct rec rec[NR_TASKS];
static struct lkdf_graph graph;
static uint64_t now;

/* The machine, and what a body takes: each so many-th one is a long one. */
static struct {
	uint64_t nr_workers, body, wait, long_body;
	uint32_t long_each, nr_alarms, nr_solo, permille;
	uint64_t clock; /* what reading it adds to a sample */
	uint64_t ticks; /* of all runs */
} play;

static void start(uint64_t nr_workers, uint64_t body, uint64_t wait)
{
	uint32_t i;

	memset(&play, 0, sizeof(play));
	play.nr_workers = nr_workers;
	play.body = body;
	play.wait = wait;
	play.permille = wait ? SHARE : 0;
	memset(&kind, 0, sizeof(kind));
	kind.spin_ticks = SPIN;
	a_store(&kind.slow, SLOW_UNSAMPLED, relaxed);
	memset(&graph, 0, sizeof(graph));
	for (i = 0; i < NR_TASKS; i++)
		rec[i].kind = &kind;
	graph.recs = rec;
	graph.nr_recs = NR_TASKS;
	solo_init(&graph.solo, true, SOLO_OR_ALL);
}

static uint64_t body_ticks(uint32_t i)
{
	return play.long_each && i % play.long_each == 0 ? play.long_body
							 : play.body;
}

/* A body's time goes to the kind as the loops of a run give it. */
static void sample(uint64_t ticks, bool is_alone)
{
	if (!a_load(&kind.slow, relaxed))
		return;
	ticks += play.clock;
	if (is_alone)
		kind_sample_alone(&kind, ticks);
	else
		kind_sample(&kind, ticks);
}

/*
 * All bodies. A worker keeps its run until a kind is not short; then all
 * workers share it, and meet in the lock, but for the first body.
 */
static void play_bodies(bool is_solo)
{
	uint64_t ticks;
	uint32_t i;

	for (i = 0; i < NR_TASKS; i++) {
		if (a_load(&kind.slow, relaxed) & ~SLOW_BUT_SHORT)
			is_solo = false;
		ticks = body_ticks(i) + (is_solo || !i ? 0 : play.wait);
		sample(ticks, is_solo);
		now += is_solo ? ticks : ticks / play.nr_workers;
	}
}

static void look_for_alarm(struct solo *s, const struct solo_run *r)
{
	uint32_t permille = r->is_solo ? 0 : play.permille;
	uint64_t serial = alone_ticks(&graph);

	if (permille < SOLO_ALARM)
		permille = solo_excess(s, r, now, serial);
	solo_alarm(s, r, now, solo_alarm_word(1, permille), serial);
}

/* One run, with the steps of run/sources.c. */
static void play_run(void)
{
	struct solo *s = &graph.solo;
	uint64_t from = now;
	struct solo_run r;

	if (solo_is_due(s) && solo_try(s))
		alone_sample_again(&graph);
	solo_begin(s, &r);
	if (r.anew) {
		alone_doubt(&graph);
		play.nr_alarms += r.anew != SOLO_ANEW;
	}
	r.began = now;
	play_bodies(r.is_solo);
	if (r.is_first)
		look_for_alarm(s, &r);
	if (r.is_measured)
		solo_end_at(s, &r, now);
	if (solo_asks(s))
		solo_answer(s, alone_ticks(&graph));
	play.nr_solo += r.is_solo;
	play.ticks += now - from;
}

/* So many runs; their time in hundredths of that of one worker alone. */
static unsigned play_runs(int nr)
{
	uint64_t alone = 0;
	uint32_t i;
	int left;

	play.ticks = play.nr_solo = 0;
	for (left = nr; left; left--)
		play_run();
	for (i = 0; i < NR_TASKS; i++)
		alone += body_ticks(i);
	return (unsigned)(play.ticks * 100 / (alone * (uint64_t)nr));
}

static void a_convoy_goes_solo(uint64_t nr_workers)
{
	unsigned nr = (unsigned)nr_workers, percent;

	/* Ten times as slow as one worker, and the bodies are long in it. */
	start(nr_workers, 4 * US, nr_workers * 40 * US);
	play_run();
	is(play.nr_alarms, 0, "%u workers: an alarm has done nothing yet", nr);
	ok(a_load(&kind.slow, relaxed) & SLOW_LONG, "bodies are long");
	play_run();
	is(play.nr_alarms, 1, "the second run acts on it");
	is(play.nr_solo, 1, "and goes solo");
	ok(!(a_load(&kind.slow, relaxed) & SLOW_LONG), "bodies are short");
	percent = play_runs(18);
	is(play.nr_solo, 18, "so do all up to the twentieth");
	is(percent, 100, "as fast as one worker");
	percent = play_runs(1000);
	ok(play.nr_solo > 990, "%u of the next 1000", play.nr_solo);
	ok(percent < 106, "trials cost %u %%", percent - 100);
	is(play.nr_alarms, 1, "and no other alarm");
}

/* Nobody sees it in a futex or in the system. */
static void so_does_a_spin_lock(void)
{
	start(4, 4 * US, 4 * 40 * US);
	play.permille = 0;
	play_runs(2);
	is(play.nr_solo, 0, "spin lock: the first run may be slow for once");
	play_runs(1);
	is(play.nr_solo, 1, "the one after a second slow one goes solo");
	is(play.nr_alarms, 1, "by an alarm");
	play_runs(17);
	is(play.nr_solo, 17, "so do all up to the twentieth");
}

/* Run 1 of 40 ms of bodies lasts 400 ms. */
static void however_long_it_is(void)
{
	start(16, 10 * US, 1600 * US);
	play_runs(2);
	is(play.nr_solo, 1, "a first run that takes 160 times as long: solo");
	ok(play_runs(100) < 200, "and so at the next trial");
	start(16, 30 * US, 1600 * US);
	play_runs(100);
	is(play.nr_solo, 0, "bodies of 120 ms in a row are never tried");
}

static void what_is_long_alone_stays_shared(void)
{
	unsigned shared;

	start(4, US, US);
	play.long_body = 10000 * US;
	play.long_each = 5;
	shared = play_runs(1);
	play_runs(20);
	ok(play_runs(1000) <= shared + 1,
	   "bodies of 1 us and of 10 ms: shared");
	ok(a_load(&kind.slow, relaxed) & SLOW_LONG, "their kind is long");
	ok(!kind_is_short_alone(&kind), "and not taken for short");
	start(4, 100 * US, 100 * US);
	play_runs(1000);
	is(play.nr_solo, 0, "bodies of 100 us alone: shared");
}

static void who_waits_for_nobody_is_left_alone(void)
{
	start(4, 4 * US, 0);
	play_runs(1000);
	is(play.nr_solo + play.nr_alarms, 0, "no lock: all runs are shared");
	start(4, 4 * US, US);
	play_runs(1000);
	is(play.nr_alarms, 0,
	   "a lock that costs less than it brings: no alarm");
	is(play.nr_solo, 0, "and no trial");
}

/*
 * Four workers take 3 times as long as one for bodies of 4 ticks, and less time
 * than the bodies with a clock that takes 50 ticks.
 */
static void the_clock_is_no_body(void)
{
	start(4, 4, 44);
	play.permille = 0;
	play.clock = kind.clock_ticks = 50;
	play_runs(100);
	ok(play.nr_solo > 0, "the clock is known: solo runs are tried");
	ok(play_runs(1000) < 110, "and as fast as one worker");
	start(4, 4, 44);
	play.permille = 0;
	play.clock = 50;
	play_runs(1000);
	is(play.nr_solo, 0, "else shared runs seem to pay");
}

int main(void)
{
	tap_start(30);
	a_convoy_goes_solo(2);
	a_convoy_goes_solo(4);
	a_convoy_goes_solo(16);
	so_does_a_spin_lock();
	however_long_it_is();
	what_is_long_alone_stays_shared();
	who_waits_for_nobody_is_left_alone();
	the_clock_is_no_body();
	return tap_end();
}
