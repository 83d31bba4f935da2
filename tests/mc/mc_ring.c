/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rings: io_ring.c and uring.c as they are shipped. What comes is taken once
 * whoever else takes, while its submitter is in a long body, and when who slept
 * for the ring has gone to work; a cancel finds what is submitted meanwhile;
 * when nothing is under way any more and the workers have gone, nobody touches
 * the ring. What strands is a deadlock.
 */
#include "ring.h"

/* ---- one takes at a time ------------------------------------------------ */

static void init_two(void)
{
	init_under_way(2);
}

static void init_three(void)
{
	init_under_way(3);
}

/* Whoever saw its own come may go: it is taken, now or by who takes. */
static void come_and_take(int id)
{
	workers[1].io.ring = NULL;
	post(&ops[id], 1);
	if (!io_ring_poll(&workers[id]))
		mc_see("left to another");
}

/* ---- who sleeps for the ring -------------------------------------------- */

/* An idle worker: as it is shipped, or no more than its looks and sleeps. */
static void (*be_idle)(struct worker *w);

static void look_and_sleep(struct worker *w)
{
	uint64_t item;

	park_spin(&nodes[0].park);
	while (!is_stopping()) {
		if (io_ring_poll(w) && worker_pop(w, &item)) {
			park_found(&nodes[0].park);
			run(w, item);
			park_spin(&nodes[0].park);
			continue;
		}
		park_announce(&nodes[0].park);
		if (is_stopping())
			park_retract(&nodes[0].park);
		else
			park_sleep(&nodes[0].park, -1);
	}
	park_wake_all(&nodes[0].park);
	park_found(&nodes[0].park);
}

static void init_watched(uint32_t nr)
{
	be_idle = look_and_sleep;
	init_under_way(nr);
	rt.sched.ops.run = run;
	rt.sched.ops.poll = io_ring_poll;
}

static void init_watched_one(void)
{
	init_watched(1);
}

static void init_watched_two(void)
{
	init_watched(2);
}

static void init_shipped_one(void)
{
	init_watched(1);
	be_idle = worker_run;
}

static void init_shipped_two(void)
{
	init_watched(2);
	be_idle = worker_run;
}

/* The second comes when the first has made its taker busy. */
static void two_come(int id)
{
	if (id) {
		be_idle(&workers[id]);
		return;
	}
	complete(&ops[0]);
	while (nr_wanted > 1 && !a_load(&nr_ran, relaxed))
		a_pause();
	if (nr_wanted > 1)
		complete(&ops[1]);
}

static void when_submitted(struct op *op)
{
	while (a_load(&kernel.sq_tail, relaxed) == 0)
		a_pause();
	submit();
	complete(op);
}

/* Worker 1 submits and computes until what follows has run elsewhere. */
static void submit_and_compute(int id)
{
	if (id == 0) {
		when_submitted(&ops[0]);
	} else if (id == 2) {
		be_idle(&workers[2]);
	} else {
		mc_assert(io_ring_issue(&workers[1], &ops[0].req));
		io_ring_look(ring, false);
		while (!a_load(&nr_ran, relaxed)) {
			/* It came before we computed. */
			if (worker_has_private(&workers[1]))
				run(&workers[1], 0);
			a_pause();
		}
	}
}

static void init_submit(void)
{
	init_watched(0);
	nr_wanted = 1;
}

static void init_polled(void)
{
	init_submit();
	is_polled = true;
}

/* ---- cancels ------------------------------------------------------------ */

static void take_all(void)
{
	while (!ops[0].nr_came) {
		io_ring_poll(&workers[1]);
		a_pause();
	}
}

/* True: it is to be tried again. */
static bool cancel_once(void)
{
	bool again;

	a_store(&scope.cancel_err, -EINTR, relaxed);
	again = io_ring_kick(&rt);
	if (again)
		mc_see("kick missed");
	return again;
}

/* Nothing but the cancel ends it. */
static void submit_and_cancel(int id)
{
	if (id == 0) {
		cancel_once();
		return;
	}
	mc_assert(io_ring_issue(&workers[1], &ops[0].req));
	io_ring_look(ring, false);
	take_all();
}

static void complete_and_cancel(int id)
{
	/* Whatever the kernel says, until it has come. */
	if (id == 0)
		mc_assert(cancel_once() || list_is_empty(&ring->list));
	else if (id == 1)
		take_all();
	else
		complete(&ops[0]);
}

/*
 * A scope is cancelled and waited for, then the runtime closes: workers are
 * joined, and then their rings go.
 */
static void close_under_way(int id)
{
	if (id == 2) {
		complete(&ops[0]);
		return;
	}
	if (id == 1) {
		be_idle(&workers[1]);
		a_store(&nr_gone, 1, release);
		return;
	}
	cancel_once();
	while (!a_load(&nr_ran, relaxed))
		a_pause();
	while (!a_load(&nr_gone, acquire))
		a_pause();
	mc_assert(list_is_empty(&ring->list));
	mc_free(ring_room);
}

static void closed_well(void)
{
	mc_assert(ops[0].nr_came == 1);
}

#define ROW(text, nr, b, before, f)                             \
	.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
	.timeouts = -1, .init = before, .thread = f

static const struct mc_scenario table[] = {
	{ ROW("two come, two take", 2, 3, init_two, come_and_take),
	  .final = all_came_once, .must_see = { "left to another" } },
	{ ROW("three come, three take", 3, 2, init_three, come_and_take),
	  .final = all_came_once, .limit = 60000,
	  .must_see = { "left to another" } },
	{ ROW("one comes, one sleeps for the ring", 2, 3, init_shipped_one,
	      two_come),
	  .final = all_came_once },
	{ ROW("one comes, two sleep", 3, 2, init_watched_one, two_come),
	  .final = all_came_once, .limit = 60000 },
	{ ROW("who slept for the ring computes, another must", 3, 2,
	      init_watched_two, two_come),
	  .final = all_came_once, .limit = 60000,
	  .must_see = { "another went on" } },
	{ ROW("who slept for it computes, as shipped", 3, 1, init_shipped_two,
	      two_come),
	  .final = all_came_once, .limit = 30000,
	  .must_see = { "another went on" } },
	{ ROW("its submitter computes", 3, 2, init_polled, submit_and_compute),
	  .final = all_came_once, .limit = 60000 },
	{ ROW("a cancel meets what is submitted", 2, 3, init_submit,
	      submit_and_cancel),
	  .final = all_came_once,
	  .must_see = { "cancelled", "kick missed", "ended by the cancel" } },
	{ ROW("a cancel meets a completion", 3, 2, init_watched_one,
	      complete_and_cancel),
	  .final = all_came_once, .limit = 60000,
	  .must_see = { "ended by the cancel", "ended by itself" } },
	{ ROW("it closes when what was under way is over", 3, 2,
	      init_watched_one, close_under_way),
	  .final = closed_well, .limit = 60000,
	  .must_see = { "ended by the cancel", "ended by itself" } },
};

MC_MAIN(table)
