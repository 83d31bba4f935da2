/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that take longer beside others, in made time: what the samples of a
 * kind tell of that, which kinds are asked for more, and what tells nothing.
 */
#include "task/kind.h"

#include "tests/tap.h"

#include <string.h>

#define US 2000u /* ticks */
#define ALONE (4 * US)

static struct lkdf_kind kind, copy;

static void start(void)
{
	memset((void *)&kind, 0, sizeof(kind));
	memset((void *)&copy, 0, sizeof(copy));
	kind.spin_ticks = copy.spin_ticks = 40 * US;
	a_store(&kind.slow, SLOW_UNSAMPLED, relaxed);
	a_store(&copy.slow, SLOW_UNSAMPLED, relaxed);
}

/* Bodies run; those of a kind that is known to be short are not timed. */
static void run_bodies(struct lkdf_kind *k, uint32_t nr, uint64_t ticks)
{
	while (nr--)
		if (a_load(&k->slow, relaxed))
			kind_sample(k, ticks);
}

static bool asks;

static bool look(void)
{
	struct kind_count c;

	kind_count(&kind, &c);
	return kind_is_stretched(&kind, &c, asks);
}

/* Looks with so many bodies in between, until one says yes; how many. */
static int looks_until(bool wanted, uint32_t nr_bodies, uint64_t ticks)
{
	int i;

	for (i = 1; i <= 100; i++) {
		run_bodies(&kind, nr_bodies, ticks);
		if (look() == wanted)
			return i;
	}
	return 0;
}

static void a_spin_lock_is_seen(void)
{
	start();
	run_bodies(&kind, 100, ALONE);
	ok(!look(), "bodies as alone: no sign");
	is(a_load(&kind.slow, relaxed), 0, "and they are not timed any more");
	is(looks_until(true, 100, 3 * ALONE), STRETCH_EVERY + 1,
	   "asked for samples some looks later, they tell of the lock");
	is(a_load(&kind.slow, relaxed), 0, "by eight of them");
	is(looks_until(false, 100, ALONE), STRETCH_EVERY + 1,
	   "and that it is over");
}

static void little_more_is_none(void)
{
	start();
	run_bodies(&kind, 100, ALONE);
	look();
	is(looks_until(true, 100, ALONE + ALONE / 2 - 2), 0,
	   "bodies that take less than 1.5 times as long");
	is(looks_until(true, 100, ALONE + ALONE / 2), STRETCH_EVERY,
	   "and those that take as much");
}

static void long_ones_tell_at_once(void)
{
	start();
	kind_sample(&kind, ALONE);
	run_bodies(&kind, 20, 60 * US);
	ok(a_load(&kind.slow, relaxed) & SLOW_LONG, "a convoy makes it long");
	ok(look(), "and is seen at the first look");
	is(looks_until(false, 0, 0), 4 * STRETCH_EVERY,
	   "without bodies it is a sign for some looks");
}

static void few_are_no_sign(void)
{
	int i;

	start();
	run_bodies(&kind, SAMPLES, ALONE);
	look();
	for (i = 0; i < 40; i++) {
		kind_sample(&kind, i % 3 ? ALONE : 100 * ALONE);
		if (look())
			break;
	}
	is(i, 40, "one of three has lost its CPU");
}

static void samples_are_asked_for(void)
{
	start();
	run_bodies(&kind, 100, ALONE);
	look();
	asks = true;
	is(looks_until(true, 100, 3 * ALONE), 2,
	   "who asks for samples has them at the next look");
	asks = false;
}

static void spawners_tell_no_time(void)
{
	int i;

	start();
	run_bodies(&kind, 1, ALONE);
	for (i = 0; i < 100; i++)
		kind_sample_spawner(&kind);
	is(a_load(&kind.slow, relaxed), 0,
	   "a body that spawns counts as short");
	is(a_load(&kind.least_ticks, relaxed), ALONE, "and as no time");
	is(a_load(&kind.nr_votes, relaxed), 1, "nor as a sample");
}

static void copies_count(void)
{
	start();
	kind.around[AROUND_BYTES] = &copy;
	run_bodies(&kind, SAMPLES, ALONE);
	run_bodies(&copy, SAMPLES, ALONE);
	look();
	run_bodies(&copy, 1, ALONE);
	is(looks_until(true, 0, 0), 0, "nobody runs");
	run_bodies(&copy, 100, 5 * ALONE);
	ok(look(), "bodies of the kind's copy are its own");
}

static void the_mean_counts_once_it_is_known(void)
{
	start();
	run_bodies(&kind, 1, ALONE);
	a_store(&kind.alone_ticks, 10 * ALONE, relaxed);
	is(looks_until(true, 100, 12 * ALONE), 0,
	   "bodies of several lengths: beside their mean alone");
	is(looks_until(true, 100, 15 * ALONE), 1, "they are stretched later");
}

int main(void)
{
	tap_start(60);
	a_spin_lock_is_seen();
	little_more_is_none();
	long_ones_tell_at_once();
	few_are_no_sign();
	samples_are_asked_for();
	spawners_tell_no_time();
	copies_count();
	the_mean_counts_once_it_is_known();
	return tap_end();
}
