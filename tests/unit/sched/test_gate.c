/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A gate takes a token back from a holder that the probe has seen without a
 * CPU, or asleep. The probe's memory is this test's, and nobody waits for a
 * holder that does not come by: gate.patience_ticks is for ever.
 */
#include "mechanism/gate/gate.h"

#include "core/runtime.h"
#include "core/signals.h"
#include "signal/bpf_pins.h"
#include "tests/tap.h"
#include "tests/unit/sched/lay.h"
#include "trace/counters.h"

#include <lkdf/lkdf.h>

#define NR_WORKERS 3
#define HOUR_NS 3600000000000
#define GEN 7

static struct lkdf rt;
static struct sched *const s = &rt.sched;
static struct sched_node node;
static struct worker workers[NR_WORKERS];
static struct executor executors[NR_WORKERS];
static struct counters counters[NR_WORKERS];
static int near[1], near_of[NR_WORKERS][NR_WORKERS];
static struct sched_node far_nodes[NR_WORKERS];
static struct gate *gate;
static uint64_t away[NR_WORKERS]; /* ns, as told_away() has it */

static uint64_t told_away(const struct worker *w)
{
	return away[w->id];
}

static void start_worker(int id)
{
	struct worker *w = &workers[id];

	executors[id] = (struct executor){
		.rt = &rt,
		.id = id,
		.worker = w,
		.counters = &counters[id],
	};
	w->executor = &executors[id];
	w->sched = s;
	w->node = &node;
	w->id = id;
}

static void start_gate(uint32_t cap)
{
	gate = aligned_alloc(CACHE_LINE, sizeof(*gate));
	memset((void *)gate, 0, sizeof(*gate));
	gate_init(gate, s);
	gate->look_ticks = 0;
	gate->patience_ticks = UINT64_MAX;
	gate_enlist(gate);
	gate_limit(gate, cap);
}

static void start(uint32_t cap, uint64_t (*away_ns)(const struct worker *w))
{
	int i;

	memset(workers, 0, sizeof(workers));
	memset(counters, 0, sizeof(counters));
	memset(away, 0, sizeof(away));
	park_init(&node.park);
	node.near = near;
	s->ops.away_ns = away_ns;
	s->workers = workers;
	s->nodes = &node;
	s->nr_workers = s->nr_regular = NR_WORKERS;
	s->nr_nodes = s->nr_worker_nodes = 1;
	mechanism_sort(&s->calls, mechanism_rows, 1024);
	lay_data(s);
	s->ticks_per_1024ns = 1024;
	for (i = 0; i < NR_WORKERS; i++)
		start_worker(i);
	start_gate(cap);
}

/* Each worker on a node of its own; a turn is two bodies, or for ever. */
static void start_nodes(void)
{
	int i, k;

	start(1, NULL);
	gate_free_all(s);
	for (i = 0; i < NR_WORKERS; i++) {
		park_init(&far_nodes[i].park);
		for (k = 0; k < NR_WORKERS; k++)
			near_of[i][k] = (i + k) % NR_WORKERS;
		far_nodes[i].near = near_of[i];
		far_nodes[i].nr_workers = 1;
		workers[i].node = &far_nodes[i];
	}
	s->nodes = far_nodes;
	s->nr_nodes = s->nr_worker_nodes = NR_WORKERS;
	start_gate(1);
	gate->turn = 2;
	gate->turn_ticks = UINT64_MAX / 2;
}

static void end(void)
{
	gate_free_all(s);
}

static bool has_token(int id)
{
	return a_load(&gate_of(&workers[id])->gate, relaxed) == gate;
}

/* Worker id meets an item; 0: one that may not wait. */
static bool meets(int id, uint64_t item)
{
	return gate_enter(gate, &workers[id],
			  (struct gate_item){ .item = item,
					      .why = GATE_PASS_URGENT,
					      .node = GATE_HERE,
					      .ring = GATE_NORMAL });
}

/* An idle worker looks. 0: there is nothing that it may run. */
static uint64_t look(int id)
{
	uint64_t item = 0;

	return gate_take_any(&workers[id], true, &item) ? item : 0;
}

static uint64_t nr_revoked(void)
{
	struct gate_count count;

	gate_read(gate, &count);
	return count.nr_revoked;
}

static uint32_t nr_running(void)
{
	return gate_running(a_load(&gate->state, relaxed));
}

/* Worker 0 has the only token, and items 3 and 5 lie aside. */
static void start_shut(uint64_t (*away_ns)(const struct worker *w))
{
	start(1, away_ns);
	ok(meets(0, 0) && has_token(0), "the first one has the token");
	ok(!meets(1, 3) && !meets(1, 5), "what others meet lies aside");
}

static void a_token_is_taken_back(void)
{
	start_shut(told_away);
	ok(!look(1), "a holder that runs keeps its token");
	away[0] = GATE_AWAY_NS - 1;
	ok(!look(1) && has_token(0) && !nr_revoked(),
	   "so does one that has just lost its CPU");
	away[0] = GATE_AWAY_NS;
	gate->look_ticks = UINT64_MAX;
	ok(!look(1) && has_token(0), "nobody looks all the time");
	gate->look_ticks = 0;
	is(look(1), 3, "who looks then runs the oldest item");
	ok(has_token(1) && !has_token(0), "and has the token instead");
	is(nr_revoked(), 1, "it was taken back");
	is(a_load(&counters[1].v[COUNTER_REVOKED], relaxed), 1,
	   "as a counter says");
	ok(!look(2) && nr_running() == 1 && nr_revoked() == 1,
	   "no third one runs: a holder without a token has none to lose");
	end();
}

static void a_late_holder_gives_nothing(void)
{
	uint64_t item;

	start_shut(told_away);
	away[0] = GATE_AWAY_NS;
	is(look(1), 3, "the token is another worker's");
	away[0] = 0;
	ok(!gate_next(&workers[0], &item), "the late holder gets no item");
	gate_release(&workers[0]);
	gate_give_up(&workers[0]);
	ok(nr_running() == 1 && has_token(1), "and gives no token");
	ok(!meets(0, 7), "what it meets lies aside");
	ok(!look(2), "the gate is shut");
	ok(gate_next(&workers[1], &item) && item == 5 &&
		   gate_next(&workers[1], &item) && item == 7,
	   "who has the token takes all of it");
	ok(!gate_next(&workers[1], &item) && !nr_running(),
	   "and gives the token once");
	ok(meets(0, 9) && has_token(0) && nr_running() == 1,
	   "then the late one may have it");
	end();
}

/* Of two holders the second one is away. */
static void the_right_holder_loses_it(void)
{
	start(2, told_away);
	meets(0, 0);
	meets(1, 0);
	ok(!meets(2, 3), "both tokens are given");
	away[1] = GATE_AWAY_NS;
	away[2] = 2 * GATE_AWAY_NS;
	is(look(2), 3, "one is taken back");
	ok(has_token(0) && !has_token(1) && has_token(2),
	   "from the one that is away");
	is(nr_running(), 2, "two are given");
	end();
}

/* Worker 0 has the token; two items lie on node 1, one on node 2. */
static void start_turn(void)
{
	uint64_t item;

	start_nodes();
	ok(meets(0, 0) && !meets(1, 3) && !meets(1, 5) && !meets(2, 7),
	   "three items lie aside on two nodes");
	ok(gate_next(&workers[0], &item) && item == 3 && meets(0, item),
	   "a turn goes on after one body");
}

static void a_turn_ends(void)
{
	uint64_t item;

	start_turn();
	ok(!meets(1, 9), "more comes to the node with most items");
	ok(!gate_next(&workers[0], &item) && !has_token(0) && !nr_running(),
	   "after two bodies the worker gives the token up");
	ok(!look(0) && !look(2) && !meets(0, 11),
	   "which is kept for the node with most items");
	is(look(1), 5, "whose worker takes it");
	gate_release(&workers[1]);
	ok(look(2) == 7 && has_token(2), "and then it is for all");
	end();
}

static void the_page_of_the_word_comes_first(void)
{
	uint64_t item;

	start_turn();
	ok(!meets(1, 9), "node 1 has most items");
	gate_set_home(gate, 2);
	ok(!gate_next(&workers[0], &item), "the turn is over");
	ok(!look(0) && !look(1), "the token is kept for the word's node");
	is(look(2), 7, "whose worker takes it");
	end();
}

static void without_others_a_turn_goes_on(void)
{
	uint64_t item;
	int i;

	start_nodes();
	meets(0, 0);
	for (i = 0; i < 5; i++)
		meets(0, 0);
	ok(has_token(0), "a token stays while no other node has items");
	ok(!gate_next(&workers[0], &item) && !nr_running(),
	   "and is given up once nothing is left");
	ok(meets(1, 3) && has_token(1), "then it is for any node");
	end();
}

static void without_a_probe_nobody_is_away(void)
{
	start_shut(NULL);
	ok(!look(1) && has_token(0), "nobody tells");
	end();
}

/* ---- the probe ----------------------------------------------------------- */

static struct lkdf_probe_head head;
static struct lkdf_probe_slot slots[NR_WORKERS];
static struct worker_facts facts[NR_WORKERS];
static struct bpf_pins pins;

/* All run; the beat is one that no load of this machine makes old. */
static void start_probe(void)
{
	uint64_t now = (uint64_t)clock_now_ns();
	int i;

	head = (struct lkdf_probe_head){ .hooks = LKDF_PROBE_SWITCH,
					 .beat_ns = now + HOUR_NS };
	for (i = 0; i < NR_WORKERS; i++) {
		slots[i] = (struct lkdf_probe_slot){
			.tgid = 1,
			.gen = GEN,
			.state = LKDF_PROBE_RUNS,
			.since_ns = now - GATE_AWAY_NS,
		};
		a_store(&facts[i].slot, (uint64_t)GEN << 32 | (uint64_t)(i + 1),
			relaxed);
	}
	pins = (struct bpf_pins){ .head.at = &head, .slots.at = slots };
	rt.signals.nr = NR_WORKERS;
	rt.signals.of = facts;
	rt.signals.bpf = &pins;
}

static bool is_away(int id)
{
	return signals_away_ns(&workers[id]) >= GATE_AWAY_NS;
}

static void the_probe_tells(void)
{
	static const struct {
		const char *name;
		uint32_t state;
		bool is_away;
	} row[] = {
		{ "is free", LKDF_PROBE_FREE, false },
		{ "runs", LKDF_PROBE_RUNS, false },
		{ "is preempted", LKDF_PROBE_PREEMPTED, true },
		{ "is blocked", LKDF_PROBE_BLOCKED, true },
		{ "sleeps in a futex", LKDF_PROBE_FUTEX, true },
		{ "does what is not known here", LKDF_PROBE_FUTEX + 1, false },
	};
	size_t i;

	start_shut(signals_away_ns);
	start_probe();
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		slots[0].state = row[i].state;
		is(is_away(0), row[i].is_away, "a holder that %s", row[i].name);
	}
	slots[0].state = LKDF_PROBE_PREEMPTED;
	ok(!is_away(1), "the others run");
	slots[0].since_ns += HOUR_NS;
	ok(!is_away(0) && !look(1), "it has just been preempted");
	slots[0].since_ns -= HOUR_NS;
	is(look(1), 3, "after a while its token is taken back");
	end();
}

/* Each row is undone before the next one. */
static void a_probe_that_does_not_know(void)
{
	start_shut(signals_away_ns);
	start_probe();
	slots[0].state = LKDF_PROBE_PREEMPTED;
	head.hooks = LKDF_PROBE_SAMPLE;
	ok(!look(1), "it sees no switches");
	head.hooks = LKDF_PROBE_SWITCH;
	head.stopped_ns = 1;
	ok(!look(1), "it was stopped");
	head.stopped_ns = 0;
	slots[0].gen++;
	ok(!look(1), "the slot is another thread's");
	slots[0].gen--;
	rt.signals.bpf = NULL;
	ok(!look(1), "there is none");
	rt.signals.bpf = &pins;
	is(look(1), 3, "and one that does");
	end();
}

static void a_runtime_asks_it(void)
{
	struct lkdf *real;

	is(lkdf_open("workers=1,pin=no", &real), 0, "a runtime");
	ok(real->sched.ops.away_ns == signals_away_ns, "asks the probe");
	lkdf_close(real);
}

int main(void)
{
	tap_start(60);
	a_token_is_taken_back();
	a_late_holder_gives_nothing();
	the_right_holder_loses_it();
	without_a_probe_nobody_is_away();
	a_turn_ends();
	the_page_of_the_word_comes_first();
	without_others_a_turn_goes_on();
	the_probe_tells();
	a_probe_that_does_not_know();
	a_runtime_asks_it();
	return tap_end();
}
