/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Regions with a limit: each is told once, places come back, ends do not mix.
 */
#include "tests/tap.h"

#include "trace/limits.h"

#include <pthread.h>

#define NR_THREADS 4
#define NR_ROUNDS 20000

static struct limits limits;

static void one_is_told_once(void)
{
	limits_begin(&limits, 100, 200);
	ok(!limits_look(&limits, 200), "a region within its limit");
	ok(limits_look(&limits, 201), "one behind it");
	ok(!limits_look(&limits, 999), "which is told once");
	ok(limits_end(&limits, 100), "its end says that it was told");
	limits_begin(&limits, 100, 200);
	ok(!limits_end(&limits, 100), "that of the next one does not");
	ok(!limits_look(&limits, 999), "nor is what has ended told");
	ok(!limits_end(&limits, 100), "and what has ended is not there");
}

static void those_beyond_have_no_place(void)
{
	uint64_t i;

	for (i = 1; i <= LIMIT_PLACES + 8; i++)
		limits_begin(&limits, i, UINT64_MAX);
	is(limits.nr, LIMIT_PLACES, "all places are taken");
	for (i = 1; i <= LIMIT_PLACES + 8; i++)
		limits_end(&limits, i);
	is(limits.nr, 0, "and given back");
}

static _Atomic(int) is_over;
static _Atomic(uint64_t) nr_told, nr_said;

/* Every other region is late at once. */
static void *begin_and_end(void *arg)
{
	uint64_t begin = (uint64_t)(uintptr_t)arg, i;

	for (i = 0; i < NR_ROUNDS; i++) {
		begin += NR_THREADS;
		limits_begin(&limits, begin, i % 2 ? UINT64_MAX : 1);
		if (limits_end(&limits, begin)) {
			a_add(&nr_said, 1, relaxed);
			if (i % 2)
				return "a region without a limit was told";
		}
	}
	return NULL;
}

static void *look(void *arg)
{
	(void)arg;
	while (!a_load(&is_over, relaxed))
		a_add(&nr_told, limits_look(&limits, 1000), relaxed);
	return NULL;
}

static void threads_do_not_mix(void)
{
	pthread_t thread[NR_THREADS], looks;
	void *why;
	uintptr_t i;

	pthread_create(&looks, NULL, look, NULL);
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&thread[i], NULL, begin_and_end,
			       (void *)(i + 1));
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(thread[i], &why);
		ok(!why, "thread %d: %s", (int)i,
		   why ? (const char *)why : "only late ones were told");
	}
	a_store(&is_over, 1, relaxed);
	pthread_join(looks, NULL);
	is(limits.nr, 0, "no place is in use");
	ok(nr_told <= nr_said, "what was told, its end has said");
}

int main(void)
{
	tap_start(60);
	one_is_told_once();
	those_beyond_have_no_place();
	threads_do_not_mix();
	return tap_end();
}
