/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sets of kinds come together and go: kinds of one spin lock become one set
 * after trials that each lost alone, and a set without a sign gives its gate
 * back.
 */
#include "tests/unit/task/narrow_play.h"

static void kinds_in_one_spin_lock_are_one_set(void)
{
	int i;

	begin();
	play.has_probe = false;
	play_windows(2);
	make_convoy();
	play.share = 0;
	play.is_joint = true;
	for (i = 0; i < 1000 && stat_of("lkdf.narrow.wins") == 0; i++)
		play_window();
	ok(stat_of("lkdf.narrow.losses") >= 2,
	   "two kinds in one spin lock lose one by one");
	ok(are_together(), "then they are one set, at one gate");
	is(first_set().nr_kinds, 2, "of two kinds");
	is(first_set().cap, 1, "which one worker runs");
	ok(!a_load(&kind[2]->gate, relaxed), "the third one has no gate");
	end();
}

static void a_gate_is_given_back(void)
{
	struct gate *g;

	begin();
	play.share = 300;
	play.word[0] = WORD;
	play_windows(200);
	g = a_load(&kind[0]->gate, relaxed);
	ok(g && stat_of("lkdf.narrow.losses"), "a set has a gate, and loses");
	play.share = play.word[0] = 0;
	play_windows((int)NARROW_OFF);
	play_windows(200);
	ok(!a_load(&kind[0]->gate, relaxed),
	   "without a sign for long its kind has none");
	is(first_set().nr_kinds, 0, "and the set is forgotten");
	make_convoy();
	play.stretch = 0;
	play.word[1] = OTHER_WORD;
	ok(windows_until(1, 128), "another kind meets");
	ok(a_load(&kind[1]->gate, relaxed) == g, "and has that gate");
	is(first_set().word, OTHER_WORD, "for its word");
	end();
}

/* ---- many kinds ---------------------------------------------------------- */

#define MANY 40

/* One worker is as fast as the convoy of make_convoy() says. */
static void count_kinds(struct lkdf_kind *const *k)
{
	struct kind_row *rows = a_load(&rt->executors[0].kinds, relaxed);
	uint32_t nr = play.rate[first_set().cap] / 100, j;
	int i;

	for (i = 0; rows && i < MANY; i++)
		for (j = 0; j < nr; j++)
			kind_row_count(&rows[k[i]->trace_name]);
}

/* As many of them as a window names have met in the word. */
static void play_kinds(struct lkdf_kind *const *k, uint32_t first, uint32_t nr)
{
	struct window w = make_window();
	uint32_t i;

	for (i = 0; i < nr; i++)
		w.kind[w.nr_kinds++] = (struct window_kind){
			.name = k[first + i]->trace_name,
			.permille = play.share,
			.samples = 20,
			.word = WORD,
			.word_samples = 20,
		};
	take_tokens(first_set().cap);
	run_bodies(first_set().cap);
	count_kinds(k);
	narrowing_turn(&rt->sched.workers[0], &w);
}

static void make_kinds(struct lkdf_kind **k)
{
	char name[24];
	int i, j;

	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "kind %d", i);
		k[i] = make_kind(name);
		for (j = 0; j < 10; j++)
			kind_sample(k[i], play.alone);
	}
}

static void a_set_has_any_number_of_kinds(void)
{
	struct lkdf_kind *k[MANY];
	uint32_t at;
	int i, nr = 0;

	begin();
	make_convoy();
	play.stretch = 0;
	make_kinds(k);
	/* Too loud to be nothing, and no trial begins while CPUs are taken. */
	play.delay_ns = WINDOWS_NS;
	for (at = 0; at < MANY; at += WINDOWS_KINDS)
		play_kinds(k, at,
			   MANY - at < WINDOWS_KINDS ? MANY - at
						     : WINDOWS_KINDS);
	play.delay_ns = 0;
	for (i = 0; i < 200 && !stat_of("lkdf.narrow.wins"); i++)
		play_kinds(k, 0, WINDOWS_KINDS);
	is(stat_of("lkdf.narrow.wins"), 1, "forty kinds in one word: a trial");
	is(first_set().nr_kinds, MANY, "of one set");
	for (i = 0; i < MANY; i++)
		nr += a_load(&k[i]->gate, relaxed) == first_set().gate &&
		      a_load(&k[i]->slow, relaxed) & SLOW_GATED;
	is(nr, MANY, "all of which are at its gate");
	for (i = 0; i < MANY; i++)
		lkdf_kind_put(k[i]);
	end();
}

int main(void)
{
	tap_start(60);
	a_set_has_any_number_of_kinds();
	kinds_in_one_spin_lock_are_one_set();
	a_gate_is_given_back();
	return tap_end();
}
