/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A stream on one thread: what a wave takes from its worker's deque. The worker
 * that ends a wave begins the next one of the frame at once, so each wave lies
 * there as its source, once, and stages that follow come out of the worker's
 * hand. Waves that fail, and those that come after them, do the same.
 */
#include "core/runtime.h"

#include "tests/api/api.h"

#define NR_STAGES 4
#define NR_WAVES 2048
#define INFLIGHT 8

static int nr_calls, nr_seconds, fails_every;

static int stage(struct lkdf_ctx *c, void *arg)
{
	int *nr_second = arg;

	(void)c;
	nr_calls++;
	if (!arg)
		return 0;
	++*nr_second;
	return fails_every && *nr_second % fails_every == 0 ? -EIO : 0;
}

static struct lkdf_graph *graph_of(struct lkdf *rt, uint32_t flags)
{
	struct lkdf_kind *serial = api_kind(rt, "serial", stage, 0, 0);
	struct lkdf_kind *inner = api_kind(rt, "inner", stage, 0, flags);
	struct lkdf_graph *g = api_graph(rt, INFLIGHT);
	int i;

	for (i = 0; i < NR_STAGES; i++) {
		must(lkdf_graph_add(g, i && i < NR_STAGES - 1 ? inner : serial,
				    i == 1 ? &nr_seconds : NULL, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(serial);
	lkdf_kind_put(inner);
	return g;
}

/* Items that the worker has picked up for each wave, in thousandths. */
static unsigned picks_of_a_wave(struct lkdf *rt, struct lkdf_graph *g, int want)
{
	const struct worker *w = &rt->sched.workers[0];
	uint64_t before = w->looks.nr_picks;

	nr_calls = nr_seconds = 0;
	is(api_run(g, NULL,
		   ATTR(lkdf_run, .flags = LKDF_RUN_STREAM | LKDF_RUN_GO_ON,
			.times = NR_WAVES)),
	   want, "a stream of %d waves", NR_WAVES);
	return (unsigned)((w->looks.nr_picks - before) * 1000 / NR_WAVES);
}

static void a_wave_is_picked_up_once(const char *what, uint32_t flags)
{
	struct lkdf *rt = api_open("serial=yes,log=none");
	struct lkdf_graph *g = graph_of(rt, flags);
	unsigned picks;

	fails_every = 0;
	picks = picks_of_a_wave(rt, g, 0);
	is(nr_calls, NR_STAGES * NR_WAVES, "%s: all stages run", what);
	if (!ok(picks < 1100, "%s: a wave is picked up once", what))
		printf("# %u picks for 1000 waves\n", picks);
	fails_every = 40;
	picks = picks_of_a_wave(rt, g, -EIO);
	is(nr_calls, NR_STAGES * NR_WAVES - 2 * (NR_WAVES / fails_every),
	   "%s: two stages behind each failure are left out, no wave is", what);
	ok(picks < 1200, "%s: waves that fail are picked up as often", what);
	fails_every = 0;
	picks_of_a_wave(rt, g, 0);
	is(nr_calls, NR_STAGES * NR_WAVES, "%s: and then none is", what);
	lkdf_graph_put(g);
	is(lkdf_close(rt), 0, "close");
}

int main(void)
{
	tap_start(60);
	a_wave_is_picked_up_once("SSSS", 0);
	a_wave_is_picked_up_once("SPPS", LKDF_SHARED);
	return tap_end();
}
