/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker that keeps its work for a group of two calls the other one, which
 * goes to sleep meanwhile: holdoff.c as it is shipped, and idle.c. A sleeper
 * beside such a worker naps in the product; here no nap ends, so a sleeper that
 * is missed while there is work of its group is a deadlock.
 */
#include "mechanism/holdoff/holdoff.h"
#include "strand.h"

/* The logarithm of the group's width. */
#define GROUP 1
#define FOR_EVER (UINT64_MAX / 2)

static void run(struct worker *w, uint64_t item)
{
	mc_assert(link_of_item(item) == &child);
	mc_assert(plain_load(&payload) == 1);
	mc_assert(w->id == 1);
	a_add(&nr_started, 1, relaxed);
}

static void init_group(void)
{
	init_with(2, false);
	mc_name(&workers[0].attn, "attn0");
	mc_name(&workers[1].is_parking, "is_parking1");
	mc_name(&holdoff_of(&workers[0])->until, "until0");
	mc_name(&holdoff_of(&workers[1])->until, "until1");
}

static void begin_group(struct worker *w)
{
	plain_store(&payload, 1);
	holdoff_begin(w, FOR_EVER, GROUP);
	/* The first push asks on behalf of who may have asked before. */
	worker_push(w, CLASS_NORMAL, link_item(&child));
	mc_assert(worker_has_request(w));
}

/* Between two short bodies. */
static void offer_to_group(struct worker *w)
{
	worker_offer(w, true, 0);
	mc_assert(holdoff_is_on(w));
}

/* The work is public, and the body after it is long. */
static void public_and_body(int id)
{
	struct worker *w = &workers[0];

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	begin_group(w);
	offer_to_group(w);
	spin_until_started();
	stop();
}

/*
 * What was public is taken back before the sleeper has come, so that the next
 * work lies there in private until somebody asks.
 */
static void back_and_asked(int id)
{
	struct worker *w = &workers[0];
	uint64_t item;

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	begin_group(w);
	offer_to_group(w);
	if (worker_pop(w, &item)) {
		mc_see("back");
		worker_push(w, CLASS_NORMAL, item);
	}
	while (!a_load(&nr_started, relaxed)) {
		if (worker_has_request(w)) {
			mc_see("asked again");
			offer_to_group(w);
		}
		a_pause();
	}
	stop();
}

static void ran_for_group(void)
{
	uint64_t word = a_load(&nodes[0].park.word, relaxed);

	ran_once();
	/* The word of the futex is calls and tokens, and no token is left. */
	if ((uint32_t)word)
		mc_see("called");
}

/* A sleeper looks at what is asked of the holder twice before it sleeps. */
#define ROW(text, b, old, f)                                     \
	.name = text, .nr_threads = 2, .bound = b, .stale = old, \
	.timeouts = -1, .init = init_group, .thread = f,         \
	.final = ran_for_group

static const struct mc_scenario table[] = {
	{ ROW("public work, and a long body", 3, 1, public_and_body),
	  .must_see = { "called" } },
	{ ROW("what was public is taken back", 2, 2, back_and_asked),
	  .must_see = { "called", "back", "asked again" } },
};

MC_MAIN(table)
