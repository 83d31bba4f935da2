/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option narrow=auto in made time: windows, samples, counts and tokens are made
 * up, runtime, kinds and gates are the library's. Which kinds come into a set,
 * when a gate is narrowed and when it is not, that bodies are counted during a
 * trial only, and what is told of it.
 */
#include "tests/unit/task/narrow_play.h"

/* ---- tests --------------------------------------------------------------- */

static void one_word_is_one_set(void)
{
	struct lkdf_facts f = { .size = sizeof(f) };
	struct narrowed n;

	begin();
	make_convoy();
	play.word[0] = play.word[1] = WORD;
	ok(windows_until(1, 64), "two kinds in one word: one worker runs them");
	n = first_set();
	is(n.nr_kinds, 2, "both at one gate");
	is(n.word, WORD, "whose word is known");
	is(n.source, LKDF_SIGNAL_BPF, "from the probe");
	is(n.why, NARROW_WON, "and why");
	ok(a_load(&kind[0]->slow, relaxed) & SLOW_GATED &&
		   a_load(&kind[1]->slow, relaxed) & SLOW_GATED,
	   "both want a token");
	ok(!a_load(&kind[2]->gate, relaxed), "the third one does not");
	ok(!counts(), "bodies are not counted any more");
	is(stat_of("lkdf.narrow.trials"), 1, "one trial");
	is(stat_of("lkdf.narrow.wins"), 1, "won");
	is(lkdf_signals(rt, -1, &f), 0, "facts");
	is(f.active_workers, 1, "say so");
	is(f.nr_narrow, 1, "of one set");
	ok(!narrowing_read(rt, 1, &n), "there is no other");
	end();
}

static void others_are_left_alone(void)
{
	begin();
	play_windows(200);
	ok(!first_set().nr_kinds, "no sign: no gate in 200 windows");
	ok(!counts(), "and nobody counts");
	is(stat_of("lkdf.narrow.trials"), 0, "nor tries");
	end();
}

static void a_spin_lock_has_no_word(void)
{
	begin();
	play.has_probe = false;
	play_windows(2);
	make_convoy();
	play.share = 0;
	ok(windows_until(1, 128), "bodies that take longer: one worker");
	is(first_set().nr_kinds, 1, "runs the kind");
	is(first_set().kind[0], kind[0]->trace_name, "that takes longer");
	is(first_set().word, 0, "no word is known");
	is(first_set().source, LKDF_SIGNAL_SELF, "nor who could name it");
	ok(!a_load(&kind[1]->gate, relaxed), "other kinds have no gate");
	end();
}

static void two_words_are_two_sets(void)
{
	struct narrowed n;

	begin();
	make_convoy();
	play.word[0] = WORD;
	play.word[1] = OTHER_WORD;
	play_windows(128);
	ok(narrowing_read(rt, 1, &n), "two words: two gates");
	ok(a_load(&kind[0]->gate, relaxed) != a_load(&kind[1]->gate, relaxed),
	   "of a kind each");
	end();
}

static void nothing_to_win(void)
{
	begin();
	play.share = 300;
	play.word[0] = WORD;
	play_windows(2000);
	is(first_set().cap, W, "as fast with all workers: all run it");
	is(stat_of("lkdf.narrow.losses"), NARROW_LOSSES,
	   "after three losses nobody tries any more");
	ok(!(a_load(&kind[0]->slow, relaxed) & SLOW_GATED),
	   "and nobody wants a token");
	ok(!counts(), "nor counts");
	end();
}

static void bodies_that_pass_by_are_no_trial(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.passes = true;
	play_windows(200);
	ok(stat_of("lkdf.narrow.trials") > 0, "a trial begins");
	is(stat_of("lkdf.narrow.wins"), 0,
	   "most bodies run without a token: no cap wins");
	is(stat_of("lkdf.narrow.losses"), 0, "nor loses");
	is(first_set().cap, W, "so all workers run them");
	play.passes = false;
	ok(windows_until(1, 128), "once they have tokens one worker does");
	end();
}

static void no_cpus_no_trial(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.delay_ns = WINDOWS_NS;
	play_windows(100);
	is(stat_of("lkdf.narrow.trials"), 0,
	   "workers that wait for a CPU tell nothing");
	play.delay_ns = 0;
	ok(windows_until(1, 64), "with their CPUs they do");
	end();
}

static void short_bodies_get_none(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.stretch = 0;
	play.alone = rt->sched.ticks_per_1024ns / 8;
	play_windows(100);
	ok(!a_load(&kind[0]->gate, relaxed), "bodies of 0.13 us: no gate");
	end();
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.stretch = 0;
	play.alone = rt->sched.ticks_per_1024ns / 2;
	ok(windows_until(1, 64), "bodies of half a microsecond have one");
	end();
}

static void an_end_is_seen(void)
{
	int i;

	begin();
	make_convoy();
	play.word[0] = WORD;
	ok(windows_until(1, 64), "a convoy");
	play_windows(40);
	memset(play.word, 0, sizeof(play.word));
	play.share = play.stretch = 0;
	for (i = 1; i <= W; i++)
		play.rate[i] = (uint32_t)(1000 * i);
	i = windows_until(W, 100);
	ok(i && i <= 30, "that ends: all workers after %d windows", i);
	ok(!counts(), "and nobody counts");
	end();
}

static void a_name_is_a_kind(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	ok(windows_until(1, 64), "a convoy");
	lkdf_kind_put(kind[0]);
	kind[0] = make_kind("parse");
	ok(!a_load(&kind[0]->gate, relaxed), "a new kind has no gate");
	play_window();
	ok(a_load(&kind[0]->gate, relaxed), "until one comes by: the name's");
	ok(a_load(&kind[0]->slow, relaxed) & SLOW_GATED, "which is narrow");
	end();
}

/* The mean alone: one that has lost its CPU stands for many, but not for more
 * than the window. */
static void alone_is_bounded(void)
{
	uint64_t most;

	begin();
	make_convoy();
	play.word[0] = WORD;
	play.row_ticks = (uint64_t)1 << 40;
	ok(windows_until(1, 64), "a convoy");
	play_window();
	most = (uint64_t)WINDOWS_NS / 1024 * rt->sched.ticks_per_1024ns;
	ok(a_load(&kind[0]->alone_ticks, relaxed) &&
		   a_load(&kind[0]->alone_ticks, relaxed) <=
			   most / play.rate[1],
	   "a body that lost its CPU is no mean");
	end();
}

/* Sets move when one of them is forgotten. */
static void one_is_forgotten_meanwhile(void)
{
	begin();
	play.share = 300;
	play.word[0] = WORD;
	play.delay_ns = WINDOWS_NS;
	play_windows(2);
	play.word[0] = play.delay_ns = 0;
	play_windows(60);
	make_convoy();
	play.stretch = 0;
	play.word[1] = OTHER_WORD;
	play_windows(64);
	is(first_set().cap, 1, "a set tries while an older one is forgotten");
	is(first_set().kind[0], kind[1]->trace_name,
	   "it is the one that is left");
	is(stat_of("lkdf.narrow.wins"), 1, "it has won");
	ok(!counts() || first_set().why == NARROW_TRIAL,
	   "and bodies are counted in trials only");
	end();
}

int main(void)
{
	tap_start(120);
	one_is_forgotten_meanwhile();
	one_word_is_one_set();
	others_are_left_alone();
	a_spin_lock_has_no_word();
	two_words_are_two_sets();
	nothing_to_win();
	bodies_that_pass_by_are_no_trial();
	no_cpus_no_trial();
	short_bodies_get_none();
	an_end_is_seen();
	a_name_is_a_kind();
	alone_is_bounded();
	return tap_end();
}
