/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The policy's pure functions: whom to steal from, which class to look at,
 * when a wake-up pays.
 */
#include "policy/policy.h"
#include "tests/tap.h"

/* The order as text, "2 3 1". */
static const char *order_of(const struct policy_peer *peer, int nr, int self,
			    int *nr_near)
{
	static char text[128];
	int order[16], i, n = 0;

	*nr_near = policy_steal_order(peer, nr, self, order);
	text[0] = 0;
	for (i = 0; i < nr - 1; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%d",
			      i ? " " : "", order[i]);
	return text;
}

static void same(const char *got, const char *want, const char *fact)
{
	if (!ok(!strcmp(got, want), "%s", fact))
		printf("# got \"%s\", expected \"%s\"\n", got, want);
}

static void equals_start_at_the_next(void)
{
	struct policy_peer peer[4];
	int i, near;

	for (i = 0; i < 4; i++)
		peer[i] = (struct policy_peer){ 10, true };
	same(order_of(peer, 4, 0, &near), "1 2 3", "worker 0 starts at 1");
	is(near, 3, "all three are near");
	same(order_of(peer, 4, 2, &near), "3 0 1", "worker 2 starts at 3");
	same(order_of(peer, 4, 3, &near), "0 1 2", "worker 3 goes round");
}

static void near_comes_before_far(void)
{
	/* Two nodes of two, seen from worker 1; 3 is farther than 2. */
	struct policy_peer peer[4] = {
		{ 10, true },
		{ 10, true },
		{ 21, false },
		{ 31, false },
	};
	int near;

	same(order_of(peer, 4, 1, &near), "0 2 3", "by distance");
	is(near, 1, "one of them is near");
	peer[2].distance = 31;
	peer[3].distance = 21;
	same(order_of(peer, 4, 1, &near), "0 3 2", "whatever the numbers");
}

static void cache_decides_among_equals(void)
{
	/* One node, two caches: {0, 1} and {2, 3}, seen from worker 2. */
	struct policy_peer peer[4] = {
		{ 10, false },
		{ 10, false },
		{ 10, true },
		{ 10, true },
	};
	int near;

	same(order_of(peer, 4, 2, &near), "3 0 1", "own cache first");
	is(near, 3, "near is the node, not the cache");
	peer[0] = (struct policy_peer){ 20, true };
	same(order_of(peer, 4, 2, &near), "3 1 0",
	     "distance counts more than cache");
}

static void single_worker_has_no_victim(void)
{
	struct policy_peer peer = { 10, true };
	int order = 42;

	is(policy_steal_order(&peer, 1, 0, &order), 0, "nobody is near");
	is(order, 42, "and nothing is written");
}

static void highest_class_goes_first(void)
{
	unsigned all = 1u << CLASS_IDLE | 1u << CLASS_NORMAL |
		       1u << CLASS_HIGH | 1u << CLASS_URGENT;

	is(policy_class(all, 1), CLASS_URGENT, "URGENT before all");
	is(policy_class(1u << CLASS_IDLE | 1u << CLASS_HIGH, 5), CLASS_HIGH,
	   "HIGH before IDLE");
	is(policy_class(1u << CLASS_NORMAL, 7), CLASS_NORMAL,
	   "NORMAL where it is alone");
}

static void lowest_class_does_not_starve(void)
{
	unsigned mask = 1u << CLASS_IDLE | 1u << CLASS_URGENT;
	int nr_idle = 0;
	uint32_t i;

	is(policy_class(mask, POLICY_AGE), CLASS_IDLE,
	   "the 64th pick is the lowest class");
	for (i = 0; i < 10 * POLICY_AGE; i++)
		nr_idle += policy_class(mask, i) == CLASS_IDLE;
	is(nr_idle, 10, "one pick in 64, and no more");
}

static void long_stages_stay(void)
{
	ok(!policy_keep_stage(99, 200), "a body below half the grain goes on");
	ok(policy_keep_stage(100, 200), "from there on the stage stays");
}

static void many_idle_workers_look_less(void)
{
	int id, nr = 0;

	is(policy_pauses(2), 1, "one pause between looks of few workers");
	is(policy_pauses(32), 4, "more with more of them");
	is(policy_pauses(1024), 8, "up to eight");
	ok(policy_spins_on(16, 0, 1), "16 of a node spin, all of them");
	for (id = 0; id < 64; id++)
		nr += policy_spins_on(64, 0, id);
	is(nr, 32, "of 64 half do");
	ok(policy_spins_on(32, 32, 1), "and with half asleep the rest goes on");
}

static void wake_pays_when_it_is_cheaper(void)
{
	ok(policy_wake_now(0, 8000, false), "long bodies wake at once");
	ok(!policy_wake_now(7999, 8000, true), "short ones save up");
	ok(policy_wake_now(8000, 8000, true),
	   "until as much time has gone by as a wake-up costs");
}

static void far_comes_after_half_the_window(void)
{
	ok(!policy_steal_far(0, 100), "not at once");
	ok(!policy_steal_far(49, 100), "not before the half");
	ok(policy_steal_far(50, 100), "from the half on");
	ok(policy_steal_far(0, 0), "without a window at once");
}

int main(void)
{
	tap_start(60);
	equals_start_at_the_next();
	near_comes_before_far();
	cache_decides_among_equals();
	single_worker_has_no_victim();
	highest_class_goes_first();
	lowest_class_does_not_starve();
	long_stages_stay();
	many_idle_workers_look_less();
	wake_pays_when_it_is_cheaper();
	far_comes_after_half_the_window();
	return tap_end();
}
