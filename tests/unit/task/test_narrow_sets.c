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

int main(void)
{
	tap_start(60);
	kinds_in_one_spin_lock_are_one_set();
	a_gate_is_given_back();
	return tap_end();
}
