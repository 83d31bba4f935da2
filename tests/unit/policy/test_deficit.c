/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The steal rule's pure functions: what a node still needs, what a remote task
 * costs, who may take it, when a block moves along, where a task is placed.
 */
#include "policy/deficit.h"

#include "base/util.h"
#include "tests/tap.h"

static bool same(double a, double b)
{
	return a > b - 1e-9 && a < b + 1e-9;
}

static void median_is_the_lower_of_what_is_known(void)
{
	static const double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 };
	static const double equal[] = { 2, 7, 2, 2 };
	static const double some[] = { 0, 8, 0, 6, -1 }, none[] = { 0, 0 };

	ok(same(deficit_median(odd, 3), 3), "the middle of three");
	ok(same(deficit_median(even, 4), 2), "the lower middle of four");
	ok(same(deficit_median(equal, 4), 2), "with equal ones");
	ok(same(deficit_median(some, 5), 6), "of those that are known");
	ok(same(deficit_median(none, 2), 1), "of none it is 1");
}

static void a_rate_is_the_median_unless_clearly_another(void)
{
	ok(same(deficit_rate(1.9, 1), 1), "1.9 times is noise");
	ok(same(deficit_rate(0.6, 1), 1), "so is 0.6");
	ok(same(deficit_rate(2.5, 1), 2.5), "2.5 times is slower");
	ok(same(deficit_rate(0.4, 1), 0.4), "0.4 times is faster");
	ok(same(deficit_rate(0, 3), 3), "unknown is the median");
}

static void a_node_learns_its_rate(void)
{
	double rate = deficit_learn(0, 30, 10);
	int i;

	ok(same(rate, 3), "the first task sets it");
	ok(same(deficit_learn(rate, 35 * 10, 10), 4), "one more counts 1/32");
	ok(same(deficit_learn(rate, 5, 0), 3), "one without bytes not at all");
	for (i = 0; i < 500; i++)
		rate = deficit_learn(rate, 70, 10);
	ok(rate > 6.99 && rate < 7.01, "many bring it to theirs");
}

static void remote_bytes_take_longer(void)
{
	static const double extra[] = { 0, 0.3, 0.72 };
	static const struct deficit_use use[] = {
		{ 100, 0, false },
		{ 100, 1, true },
		{ 50, 2, false },
		{ 1000, -1, false },
	};
	struct deficit_task t = deficit_task(10, 3, 4, 1);

	ok(same(deficit_extra_at(10), 0), "no longer at home");
	ok(same(deficit_extra_at(16), 0.3), "0.6 of a half at 16");
	ok(same(deficit_extra_at(22), 0.72), "0.6 of 1.2 at 22");
	ok(same(deficit_extra(use, 4, extra), 66), "each at its distance");
	ok(same(t.time, 30), "a task's time is its bytes at the rate");
	ok(same(t.loss, 9), "the loss is what the thief needs more");
	t = deficit_task(10, 3, 1, 4);
	ok(same(t.loss, 0), "nearer to its data there is none");
}

static void a_node_in_deficit_takes_at_once(void)
{
	struct deficit_node thief = { 0, 2, 10, 0, 2 };
	struct deficit_node victim = { 1000, 2, 10, 1, 2 };
	/* Gap 350 and two tasks of 20 and 5. */
	struct deficit_task t = { 20, 5 };

	ok(same(deficit_time(&victim), 1000), "two workers, two a byte");
	ok(deficit_allows(&thief, &victim, 0, 0, &t), "far ahead: at once");
	thief.remaining = 1000 - 350 - 50 - 1;
	ok(deficit_allows(&thief, &victim, 0, 0, &t), "just enough ahead");
	thief.remaining = 1000 - 350 - 50 + 1;
	ok(!deficit_allows(&thief, &victim, 0, 0, &t), "just not enough");
	thief.remaining = 0;
	t.time = 400;
	ok(!deficit_allows(&thief, &victim, 0, 0, &t),
	   "a task too long for it");
	t.time = 20;
	t.loss = 400;
	ok(!deficit_allows(&thief, &victim, 0, 0, &t), "a loss too great");
	victim.remaining = 0;
	t.loss = 0;
	ok(!deficit_allows(&thief, &victim, 0, 0, &t), "nothing to gain");
}

static void patience_is_for_queues(void)
{
	struct deficit_node thief = { 1000, 2, 10, 0, 2 };
	struct deficit_node victim = { 1000, 2, 10, 2, 2 };
	/* A wait of 20 holds 5 and half of 20; patience is 4 * (5 + 10). */
	struct deficit_task t = { 20, 5 };

	ok(same(deficit_wait(&victim), 20), "two tasks, two workers");
	ok(!deficit_allows(&thief, &victim, 0, 59, &t), "not yet");
	ok(deficit_allows(&thief, &victim, 0, 60, &t), "after its patience");
	victim.nr_ready = 1;
	ok(!deficit_allows(&thief, &victim, 0, 1599, &t), "no short queue");
	ok(deficit_allows(&thief, &victim, 0, 1600, &t),
	   "until 16 times 4 * (20 + 5) are over");
	victim.nr_ready = 2;
	t.loss = 20;
	ok(!deficit_allows(&thief, &victim, 0, 2559, &t),
	   "nor at a great loss");
}

static void the_least_loss_is_taken(void)
{
	struct deficit_task cheap = { 10, 1 }, dear = { 10, 2 };
	struct deficit_task longer = { 40, 2 }, none = { 0, 0 };

	ok(deficit_is_better(&cheap, 0, &dear, 100), "whoever is behind");
	ok(!deficit_is_better(&dear, 100, &cheap, 0), "not the other");
	ok(deficit_is_better(&longer, 0, &cheap, 0), "for its length");
	ok(deficit_is_better(&dear, 5, &dear, 4), "else further behind");
	ok(!deficit_is_better(&dear, 4, &dear, 4), "else the one before");
	ok(!deficit_is_better(&none, 4, &none, 4), "of no length too");
}

static void a_block_moves_only_from_a_late_node(void)
{
	struct deficit_node thief = { 0, 1, 10, 0, 2 };
	struct deficit_node victim = { 2000, 1, 10, 1, 2 };
	/* 1000 left, 300 of it the block's; half of all is the mean. */
	struct deficit_block b = { 600, 0, 100, 0.72 };

	ok(deficit_moves(&thief, &victim, 500, &b), "its work fits in it");
	ok(deficit_moves(&thief, &victim, 700, &b), "down to the mean");
	ok(!deficit_moves(&thief, &victim, 701, &b), "not below it");
	thief.remaining = 2 * 701;
	ok(!deficit_moves(&thief, &victim, 500, &b), "nor to be late there");
	thief.remaining = 0;
	b.remaining = 0;
	ok(!deficit_moves(&thief, &victim, 990, &b), "nor from who is in time");
	b.remaining = 600;
	b.bytes = 217;
	ok(!deficit_moves(&thief, &victim, 500, &b), "nor what costs too much");
	b.ahead = 10;
	ok(deficit_moves(&thief, &victim, 500, &b), "but for runs to come");
	b.ahead = 0;
	b.bytes = 215;
	ok(deficit_moves(&thief, &victim, 500, &b), "just worth it");
	b.extra = 0.1;
	ok(!deficit_moves(&thief, &victim, 500, &b), "not for a short way");
}

static void a_task_goes_where_its_bytes_are(void)
{
	struct deficit_node node[] = {
		{ 0, 1, 10, 0, 1 },
		{ 0, 1, 10, 0, 1 },
		{ 0, 1, 10, 0, 1 },
		{ 0, 1, 10, 0, 0 },
	};
	struct deficit_use use[] = { { 100, 1, true },
				     { 100, 2, false },
				     { 100, -1, false } };
	double weight[4];

	is(deficit_place(use, 0, node, 4, 2, weight), 2, "none: here");
	is(deficit_place(use, 2, node, 4, 0, weight), 1, "equal: its own");
	is(deficit_place(use, 3, node, 4, 0, weight), 1, "new ones: no matter");
	use[0].is_own = false;
	is(deficit_place(use, 2, node, 4, 2, weight), 2, "equal: here first");
	use[0].bytes = 200;
	is(deficit_place(use, 2, node, 4, 2, weight), 1, "else most");
	use[0].node = 3;
	is(deficit_place(use, 2, node, 4, 0, weight), 2, "with workers");
	is(deficit_place(use, 1, node, 4, 1, weight), 1, "if there are any");
	is(deficit_place(use, 1, node, 4, 3, weight), 0, "even from there");
	use[0] = (struct deficit_use){ 105, 1, true };
	node[1].remaining = 400;
	is(deficit_place(use, 2, node, 4, 0, weight), 2,
	   "split: to the less loaded");
	node[1].remaining = 300;
	is(deficit_place(use, 2, node, 4, 0, weight), 1,
	   "not for a small difference");
	node[1].remaining = 4000;
	use[0].bytes = 120;
	is(deficit_place(use, 2, node, 4, 0, weight), 1,
	   "nor away from most of its bytes");
}

static double any(uint64_t *seed, double most)
{
	return most * random_next(seed) / 4294967296.0;
}

/* Time in other units, and bytes in others, change no decision. */
static void decisions_have_no_unit(uint64_t seed)
{
	uint32_t i, nr_allowed = 0, nr_other = 0, nr_lost = 0;
	struct deficit_node thief, victim;
	struct deficit_task t;
	double idle, unit = 1 << 20;
	bool allows;

	printf("# seed %llu\n", (unsigned long long)seed);
	for (i = 0; i < 10000; i++) {
		thief = (struct deficit_node){ any(&seed, 100), 1, 1, 0, 2 };
		victim = (struct deficit_node){ any(&seed, 100), 1, 1,
						random_next(&seed) % 64, 2 };
		t = (struct deficit_task){ any(&seed, 20), any(&seed, 10) };
		idle = any(&seed, 100);
		allows = deficit_allows(&thief, &victim, 0, idle, &t);
		nr_allowed += allows;
		nr_lost += allows &&
			   !deficit_allows(&thief, &victim, 0, 2 * idle, &t);
		thief.rate = victim.rate = unit;
		t.time *= unit;
		t.loss *= unit;
		nr_other += allows !=
			    deficit_allows(&thief, &victim, 0, idle * unit, &t);
		thief.rate = victim.rate = 1;
		thief.remaining *= unit;
		victim.remaining *= unit;
		victim.mean_task *= unit;
		nr_other += allows !=
			    deficit_allows(&thief, &victim, 0, idle * unit, &t);
	}
	is(nr_other, 0, "the same in any unit of time and of work");
	is(nr_lost, 0, "who waits longer is not refused");
	ok(nr_allowed > 1000 && nr_allowed < 9000, "some are, some are not");
}

int main(int argc, char **argv)
{
	tap_start(20);
	median_is_the_lower_of_what_is_known();
	a_rate_is_the_median_unless_clearly_another();
	a_node_learns_its_rate();
	remote_bytes_take_longer();
	a_node_in_deficit_takes_at_once();
	patience_is_for_queues();
	the_least_loss_is_taken();
	a_block_moves_only_from_a_late_node();
	a_task_goes_where_its_bytes_are();
	decisions_have_no_unit(argc > 1 ? strtoull(argv[1], NULL, 0) : 7);
	return tap_end();
}
