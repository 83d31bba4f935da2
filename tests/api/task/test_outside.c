/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks from outside beside bodies that go on for ever, each submitting the
 * next: they start after a body or two if bodies are long, and after some
 * dozens if they are short.
 */
#include "tests/api/api.h"

#include <limits.h>

#define LONG_NS 1000000
#define NR_SHORT 1000 /* far above what is taken in a row */

static struct lkdf *rt;
static struct lkdf_kind *next, *asks;
static atomic_long nr_bodies;
static atomic_int is_over;
static int64_t body_ns;

static int go_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&nr_bodies, 1);
	if (body_ns)
		api_nap_ns(body_ns);
	return atomic_load(&is_over)
		       ? 0
		       : lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = next),
				     NULL);
}

static int ask(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	**(long **)arg = atomic_load(&nr_bodies);
	return 0;
}

/* Bodies that began between a submission and its start. */
static long bodies_before(void)
{
	long before = atomic_load(&nr_bodies), after = 0, *at = &after;
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = asks, .arg = &at),
			 &done));
	must(lkdf_event_wait(done, -1));
	return after - before;
}

/* The best of a few: this thread may be stopped before it submits. */
static long fewest_before(int64_t ns, int nr_chains)
{
	long best = LONG_MAX, nr;
	int i;

	body_ns = ns;
	atomic_store(&is_over, 0);
	for (i = 0; i < nr_chains; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = next),
				 NULL));
	while (atomic_load(&nr_bodies) < 3)
		api_nap_ns(50000);
	for (i = 0; i < 20 && best > 2; i++) {
		nr = bodies_before();
		best = nr < best ? nr : best;
	}
	atomic_store(&is_over, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	atomic_store(&nr_bodies, 0);
	return best;
}

static void who_goes_on_lets_others_in(const char *options)
{
	long nr;

	rt = api_open(options);
	next = api_kind(rt, "next", go_on, 0, 0);
	asks = api_kind(rt, "asks", ask, sizeof(long *), 0);
	nr = fewest_before(LONG_NS, 4);
	printf("# %s: %ld long bodies\n", options, nr);
	ok(nr <= 4, "%s: a body or two of each worker before", options);
	nr = fewest_before(0, 4);
	printf("# %s: %ld short bodies\n", options, nr);
	ok(nr <= NR_SHORT, "%s: not many short ones before", options);
	lkdf_kind_put(next);
	lkdf_kind_put(asks);
	is(lkdf_close(rt), 0, "%s: it closes", options);
}

int main(void)
{
	tap_start(60);
	who_goes_on_lets_others_in("workers=1");
	who_goes_on_lets_others_in("workers=2");
	return tap_end();
}
