/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Push, then a long body: a body makes work public and goes on until another
 * worker has started it. The other workers run idle.c as it is shipped. Work
 * that strands while all others sleep is a deadlock; so is a worker that does
 * not hear that the runtime stops.
 */
#include "mechanism/crew/crew.h"
#include "mechanism/publish/publish.h"
#include "strand.h"
#include "trace/counters.h"

#define NR_BURST 3

static _Alignas(LINK_ALIGN) struct link burst[NR_BURST];

/* The first body waits for another one; the last one ends it. */
static void run_one_of_burst(void)
{
	uint32_t nr = a_add(&nr_started, 1, relaxed) + 1;

	if (nr == NR_BURST) {
		stop();
		return;
	}
	if (nr > 1)
		return;
	while (a_load(&nr_started, relaxed) < 2)
		a_pause();
	mc_see("helped");
}

static void run(struct worker *w, uint64_t item)
{
	if (link_of_item(item) != &child) {
		mc_assert(plain_load(&payload) == 1);
		run_one_of_burst();
		return;
	}
	mc_assert(link_of_item(item) == &child);
	mc_assert(plain_load(&payload) == 1);
	mc_assert(!is_kept || w->node == &nodes[0]);
	/* As crew_steal() that finds nothing. */
	struct crew *c = a_load(&crew_at(w->node)->crew, relaxed);

	if (c)
		a_store(&c->state, CREW_DRY, relaxed);
	a_add(&nr_started, 1, relaxed);
}

static void init_two(void)
{
	init_with(2, false);
}

static void init_grain(void)
{
	init_with(2, false);
	sched.share_ticks = 1;
}

static void init_three(void)
{
	init_with(3, false);
}

static void init_two_nodes(void)
{
	init_with(2, true);
}

static void init_three_nodes(void)
{
	init_with(3, true);
}

/* Workers 0 and 1 have a node, worker 2 another one: not its work. */
static void init_planned(void)
{
	init_with(3, true);
	sched.nr_nodes = sched.nr_worker_nodes = 2;
	init_node(0, 2);
	init_node(1, 2);
	workers[0].node = workers[1].node = &nodes[0];
	workers[2].node = &nodes[1];
	workers[0].nr_near = workers[1].nr_near = 1;
	victims[1][0] = 0;
	victims[1][1] = 2;
	child.type = LINK_PLANNED;
	is_kept = true;
	a_store(&nodes[0].load.nr_tasks, 1, relaxed);
}

/* A loop whose only unit is worker 1's. */
static struct crew crew;
static struct crew_seat seats[3];
static struct crew_group group;

static void init_crew(void)
{
	init_with(2, false);
	crew.seat = seats;
	crew.group = &group;
	crew.nr_seats = 3;
	crew.nr_groups = 1;
	a_store(&crew.state, CREW_FREE, relaxed);
	a_store(&crew.leader, 0, relaxed);
	seats[1].item = link_item(&child);
	a_store(&crew_at(&nodes[0])->crew, &crew, relaxed);
	mc_name(&crew.state, "state");
}

/* Others look at what is private. */
static void init_publishing(void)
{
	init_two_nodes();
	nodes[0].nr_workers = nodes[1].nr_workers = 1;
	publish_in(&sched)->is_on = true;
	sched.wake_ticks = UINT64_MAX;
	mc_name(&workers[0].deque[CLASS_NORMAL].state, "way0");
}

/* Worker 1 watches, and does so no more unless somebody is busy. */
static void init_last_nap(void)
{
	init_publishing();
	publish_of(&workers[1])->nap_ns = INT64_MAX / 2;
	publish_of(&workers[1])->is_watching = true;
	a_store(&publish_in(&sched)->nr_watching, 1, relaxed);
}

/* More has come than fits into a deque, and nobody was awake. */
static void init_burst(void)
{
	int i;

	for (i = 0; i < sched.nr_workers; i++)
		deque_init(&workers[i].deque[CLASS_NORMAL],
			   slots[i][CLASS_NORMAL], 0);
	plain_store(&payload, 1);
	for (i = 0; i < NR_BURST; i++) {
		burst[i].class = CLASS_NORMAL;
		inbox_push(&nodes[0].inbox, &burst[i]);
	}
	mc_name(&nodes[0].backlog[CLASS_NORMAL].first, "backlog");
}

static void init_burst_near(void)
{
	init_with(2, false);
	init_burst();
}

static void init_burst_far(void)
{
	init_with(2, true);
	init_burst();
}

/* As push_child() in task/task.c. */
static void push_child(struct worker *w)
{
	struct deque *d = &w->deque[CLASS_NORMAL];

	deque_push(d, link_item(&child));
	if (!deque_has_public(d)) {
		deque_share(d);
		if (notify_any(&sched, w->node))
			mc_see("woken");
	}
}

static void deque_and_body(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	push_child(&workers[0]);
	spin_until_started();
	stop();
}

static void inbox_and_body(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	/* As sched_push(). */
	inbox_push(&nodes[0].inbox, &child);
	if (notify_any(&sched, &nodes[0]))
		mc_see("woken");
	spin_until_started();
	stop();
}

/* As crew_runs_loop() in task/loop_crew.c. */
static void crew_and_wait(int id)
{
	struct park *p = &nodes[0].park;

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	mc_assert(crew_claim(&crew));
	crew_open(&crew, 0, NULL);
	if (park_wake_some(p, 1 + park_spinners(a_load(&p->word, seq_cst)), 1))
		mc_see("woken");
	spin_until_started();
	stop();
}

/* As sched_push_bound(): nobody but worker 1 may take it. */
static void bound_and_body(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	inbox_push(&nodes[1].bound, &child);
	if (notify_bound(&nodes[1]))
		mc_see("woken");
	spin_until_started();
	stop();
}

/* Work that is bound to the node, public behind a body of a worker there. */
static void bound_deque_and_body(int id)
{
	struct deque *d = &workers[0].deque[DEQUE_BOUND];

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	worker_push(&workers[0], DEQUE_BOUND, link_item(&child));
	deque_share(d);
	if (notify_bound(workers[0].node))
		mc_see("woken");
	spin_until_started();
	stop();
}

/* Private work; between its short bodies the owner hears who asks for it. */
static void offer_when_asked(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	worker_push(&workers[0], CLASS_NORMAL, (uint64_t)(uintptr_t)&child);
	while (!a_load(&nr_started, relaxed)) {
		if (worker_has_request(&workers[0]))
			worker_offer(&workers[0], false, 0);
		a_pause();
	}
	stop();
}

/* Two ready tasks before a short body that is as long as handing over is. */
static void offer_both(int id)
{
	struct worker *w = &workers[0];

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	worker_push(w, CLASS_NORMAL, link_item(&child));
	worker_push(w, CLASS_NORMAL, link_item(&child));
	while (a_load(&nr_started, relaxed) < 2) {
		if (worker_has_request(w)) {
			worker_offer(w, true, 1);
			if (worker_has_request(w))
				mc_see("asked for more");
		}
		a_pause();
	}
	stop();
}

/*
 * The same, asked by one that is still awake: what is shared then is taken back
 * before that one sleeps, and new work comes.
 */
static void taken_back(int id)
{
	struct worker *w = &workers[0];
	uint64_t item;

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	worker_push(w, CLASS_NORMAL, (uint64_t)(uintptr_t)&child);
	while (!worker_has_request(w))
		a_pause();
	worker_offer(w, true, 0);
	if (worker_pop(w, &item)) {
		mc_see("back");
		worker_push(w, CLASS_NORMAL, item);
	}
	while (!a_load(&nr_started, relaxed)) {
		if (worker_has_request(w))
			worker_offer(w, false, 0);
		a_pause();
	}
	stop();
}

/* All of its work is private when its short body waits for some. */
static void hidden(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	plain_store(&payload, 1);
	deque_push(&workers[0].deque[CLASS_NORMAL], link_item(&child));
	spin_until_started();
	stop();
}

/* It was idle itself, and its first short body has work that it keeps. */
static void unwatched(int id)
{
	struct worker *w = &workers[0];

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	park_spin(&nodes[0].park);
	park_found(&nodes[0].park);
	plain_store(&payload, 1);
	publish_ask(w);
	deque_push(&w->deque[CLASS_NORMAL], link_item(&child));
	if (a_load(&counters[0].v[COUNTER_WAKES], relaxed))
		mc_see("woken");
	spin_until_started();
	stop();
}

static void only_stop(int id)
{
	if (id)
		worker_run(&workers[id]);
	else
		stop();
}

static void only_run(int id)
{
	worker_run(&workers[id]);
}

static void ran_both(void)
{
	mc_assert(a_load(&nr_started, relaxed) == 2);
}

static void ran_all(void)
{
	mc_assert(a_load(&nr_started, relaxed) == NR_BURST);
}

static void ran_published(void)
{
	ran_once();
	mc_assert(a_load(&counters[1].v[COUNTER_EXPOSED], relaxed) == 1);
}

#define OLD_ROW(text, nr, b, old, before, f)                      \
	.name = text, .nr_threads = nr, .bound = b, .stale = old, \
	.timeouts = -1, .init = before, .thread = f
#define ROW(text, nr, b, before, f) OLD_ROW(text, nr, b, 1, before, f)

static const struct mc_scenario table[] = {
	{ ROW("a child in the deque, one idle", 2, 3, init_two, deque_and_body),
	  .final = ran_once, .must_see = { "woken" } },
	{ ROW("a child in the deque, two idle", 3, 1, init_three,
	      deque_and_body),
	  .final = ran_once, .limit = 60000, .must_see = { "woken" } },
	{ ROW("a child in the inbox, one idle", 2, 3, init_two, inbox_and_body),
	  .final = ran_once, .must_see = { "woken" } },
	{ ROW("a child in the inbox, two idle", 3, 1, init_three,
	      inbox_and_body),
	  .final = ran_once, .limit = 60000, .must_see = { "woken" } },
	{ ROW("a crew that waits for a member", 2, 3, init_crew, crew_and_wait),
	  .final = ran_once, .must_see = { "woken" } },
	{ ROW("bound work in a busy worker's deque, one idle", 2, 3, init_two,
	      bound_deque_and_body),
	  .final = ran_once, .must_see = { "woken" } },
	{ ROW("private work is offered, one idle", 2, 2, init_two,
	      offer_when_asked),
	  .final = ran_once },
	{ ROW("two ready tasks before a body of some length", 2, 2, init_grain,
	      offer_both),
	  .final = ran_both, .must_see = { "asked for more" } },
	/* A sleeper looks at what is asked of the owner twice. */
	{ OLD_ROW("what was shared is taken back, one idle", 2, 2, 2, init_two,
		  taken_back),
	  .final = ran_once, .must_see = { "back" } },
	{ ROW("what was shared is taken back, one idle elsewhere", 2, 2,
	      init_two_nodes, taken_back),
	  .final = ran_once, .must_see = { "back" } },
	{ ROW("a child in the deque, one idle elsewhere", 2, 3, init_two_nodes,
	      deque_and_body),
	  .final = ran_once, .must_see = { "woken" } },
	{ ROW("a child in the inbox, two idle elsewhere", 3, 1,
	      init_three_nodes, inbox_and_body),
	  .final = ran_once, .limit = 60000, .must_see = { "woken" } },
	{ ROW("a child bound to an idle node", 2, 3, init_two_nodes,
	      bound_and_body),
	  .final = ran_once, .must_see = { "woken" } },
	{ ROW("a child bound to one of two idle nodes", 3, 1, init_three_nodes,
	      bound_and_body),
	  .final = ran_once, .limit = 60000, .must_see = { "woken" } },
	{ ROW("private work is offered, one idle elsewhere", 2, 2,
	      init_two_nodes, offer_when_asked),
	  .final = ran_once },
	{ ROW("a burst does not fit into a deque", 2, 2, init_burst_near,
	      only_run),
	  .final = ran_all, .limit = 60000, .must_see = { "helped" } },
	{ ROW("a burst does not fit, one idle elsewhere", 2, 2, init_burst_far,
	      only_run),
	  .final = ran_all, .limit = 60000, .must_see = { "helped" } },
	{ ROW("planned work in the deque, one elsewhere looks on", 3, 1,
	      init_planned, deque_and_body),
	  .final = ran_once, .limit = 60000, .must_see = { "woken" } },
	{ ROW("planned work in the inbox, one elsewhere looks on", 3, 1,
	      init_planned, inbox_and_body),
	  .final = ran_once, .limit = 60000, .must_see = { "woken" } },
	{ .name = "private work behind a body that waits for it",
	  .nr_threads = 2,
	  .bound = 2,
	  .stale = 1,
	  .init = init_publishing,
	  .thread = hidden,
	  .final = ran_published },
	{ .name = "a body that waits while nobody watches",
	  .nr_threads = 2,
	  .bound = 3,
	  .stale = 1,
	  .init = init_last_nap,
	  .thread = unwatched,
	  .final = ran_once,
	  .must_see = { "woken" } },
	{ ROW("both hear of the stop", 3, 1, init_three, only_stop) },
};

MC_MAIN(table)
