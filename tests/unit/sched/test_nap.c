/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How long sleepers sleep that nobody wakes. */
#include "sched/nap.h"
#include "tests/tap.h"

static void a_join_comes_back_soon(void)
{
	int64_t nap_ns = 0, all_ns = 0;
	int i;

	is(nap_join(&nap_ns), 20000, "a join's first nap is 20 us");
	is(nap_join(&nap_ns), 40000, "the next one is twice as long");
	for (i = 0; i < 1000; i++)
		all_ns += nap_join(&nap_ns);
	is(nap_ns, 100000, "work below it waits for 100 us at most");
	ok(all_ns / 1000 > 95000, "which is ten thousand looks a second");
}

static void the_shortest_one_counts(void)
{
	is(nap_min(-1, 5), 5, "for ever, or 5 ns: 5 ns");
	is(nap_min(7, 5), 5, "the shorter one of two");
	is(nap_min(-1, -1), -1, "for ever");
}

int main(void)
{
	tap_start(10);
	a_join_comes_back_soon();
	the_shortest_one_counts();
	return tap_end();
}
