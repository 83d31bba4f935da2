/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that run other work until a word changes, help.c and idle.c as they
 * are shipped. A deadlock shows who was not called, or whose wake-up a helper
 * took along.
 */
#include "sched/help.h"
#include "strand.h"

static _Atomic(uint32_t) word, has_left;
static int result;

static void run(struct worker *w, uint64_t item)
{
	(void)w;
	mc_assert(link_of_item(item) == &child);
	mc_assert(plain_load(&payload) == 1);
	a_add(&nr_started, 1, relaxed);
}

static void init_help(int nr)
{
	int i;

	init_with(nr, false);
	sched.ops.run_one = run;
	for (i = 0; i < nr; i++) {
		a_store(&workers[i].is_parking, 0, relaxed);
		workers[i].help.word = NULL;
	}
	a_store(&word, 0, relaxed);
	a_store(&has_left, 0, relaxed);
	plain_store(&result, 0);
	mc_name(&word, "word");
	mc_name(&workers[1].is_parking, "is_parking1");
}

static void init_two(void)
{
	init_help(2);
}

static void init_three(void)
{
	init_help(3);
}

/* As a barrier's last member. */
static void change_word(void)
{
	plain_store(&result, 7);
	a_store(&word, 1, seq_cst);
	help_call(&sched, 1, 1);
}

static void wait_for_word(struct worker *w)
{
	help_until(w, &word, 0);
	mc_assert(plain_load(&result) == 7);
	mc_assert(!w->help.word);
}

static void helper_is_called(int id)
{
	if (id)
		wait_for_word(&workers[1]);
	else
		change_word();
}

static void submit_child(void)
{
	plain_store(&payload, 1);
	inbox_push(&nodes[0].inbox, &child);
	notify_any(&sched, &nodes[0]);
}

/* The word changes once the work has run. */
static void helper_runs(int id)
{
	if (id) {
		wait_for_word(&workers[1]);
		return;
	}
	submit_child();
	spin_until_started();
	change_word();
}

/* Work comes as the helper leaves, and another worker sleeps. */
static void helper_leaves(int id)
{
	if (id == 1) {
		wait_for_word(&workers[1]);
		if (a_load(&nr_started, relaxed))
			mc_see("ran before");
		a_store(&has_left, 1, relaxed);
	} else if (id == 2) {
		worker_run(&workers[2]);
	} else {
		change_word();
		submit_child();
		spin_until_started();
		/* No runtime closes while a body runs. */
		while (!a_load(&has_left, relaxed))
			a_pause();
		stop();
	}
}

#define ROW(text, nr, b, before, f, after)                      \
	.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
	.timeouts = -1, .init = before, .thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("a helper is called", 2, 3, init_two, helper_is_called, NULL) },
	{ ROW("it runs what comes", 2, 2, init_two, helper_runs, ran_once) },
	{ ROW("it leaves as work comes", 3, 1, init_three, helper_leaves,
	      ran_once),
	  .limit = 60000 },
};

MC_MAIN(table)
