/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/gate/gate.h"

#include "base/clock.h"
#include "mechanism/gate/gate_ring.h"
#include "mechanism/quota/quota.h"
#include "sched/nap.h"
#include "sched/notify.h"
#include "sched/sched.h"
#include "trace/counters.h"

#include <stdlib.h>

/* ---- state, under lock --------------------------------------------------- */

static uint64_t state_of(const struct gate *g)
{
	lock_assert_held(&g->lock);
	return a_load(&g->state, relaxed);
}

/* Nobody may have more than before. */
static void set_state(struct gate *g, uint64_t state)
{
	lock_assert_held(&g->lock);
	a_store(&g->state, state, relaxed);
}

/*
 * There is a token more. True: the gate is open, and who has the lock tells
 * others when it has given it back.
 */
static bool open_gate(struct gate *g, uint64_t state)
{
	lock_assert_held(&g->lock);
	if (!gate_is_open(state)) {
		set_state(g, state);
		return false;
	}
	/* [gate.open] before we look who sleeps; pairs with [gate.look]. */
	a_store(&g->state, state, seq_cst);
	return true;
}

static void give_token(struct gate *g, struct worker *w)
{
	uint64_t state = state_of(g);
	uint32_t running = gate_running(state) + 1;

	check(running <= gate_cap(state) &&
	      !a_load(&gate_of(w)->gate, relaxed));
	set_state(g, gate_make(gate_cap(state), running, gate_aside(state)));
	gate_of(w)->since = a_load(&gate_of(w)->nr_gated, relaxed);
	gate_of(w)->since_ticks = clock_ticks();
	if (a_load(&g->kept_for, relaxed) == ring_node(w))
		a_store(&g->kept_for, -1, relaxed);
	a_store(&gate_of(w)->gate, g, relaxed);
	if (running > g->most_running)
		g->most_running = running;
}

/* True: the gate is open. */
static bool take_token(struct gate *g, struct worker *w)
{
	uint64_t state = state_of(g);

	check(gate_running(state) && a_load(&gate_of(w)->gate, relaxed) == g);
	g->nr_held += gate_bodies_of(g, w);
	a_store(&gate_of(w)->gate, NULL, relaxed);
	return open_gate(g, gate_make(gate_cap(state), gate_running(state) - 1,
				      gate_aside(state)));
}

/* False: there is no room. *is_open: see open_gate(). */
static bool put_aside(struct gate *g, const struct worker *w,
		      struct gate_item i, bool *is_open)
{
	if (!ring_put(g, w, i))
		return false;
	*is_open = open_gate(g, state_of(g) + 1);
	g->nr_aside++;
	return true;
}

static bool take_item(struct gate *g, const struct worker *w, bool is_idle,
		      uint64_t *item)
{
	uint64_t state = state_of(g);

	if (!gate_aside(state) || !ring_take(g, w, is_idle, item))
		return false;
	set_state(g, state - 1);
	return true;
}

/* ---- life ---------------------------------------------------------------- */

bool gate_init(struct gate *g, struct sched *s)
{
	g->sched = s;
	g->room_most = GATE_ROOM_MOST;
	g->look_ticks = sched_ticks(s, GATE_LOOK_NS);
	g->patience_ticks = sched_ticks(s, GATE_PATIENCE_NS);
	g->turn_ticks = sched_ticks(s, GATE_TURN_NS);
	g->turn = GATE_TURN;
	g->home = -1;
	a_store(&g->kept_for, -1, relaxed);
	a_store(&g->state, gate_make((uint32_t)s->nr_workers, 0, 0), relaxed);
	return ring_init_all(g);
}

void gate_enlist(struct gate *g)
{
	struct sched *s = g->sched;
	struct gate *first = a_load(&gate_in(s)->gates, relaxed);

	do {
		g->next = first;
		/* [gate.list] what it is; pairs with itself. */
	} while (!a_cas(&gate_in(s)->gates, &first, g, release, relaxed));
}

void gate_free_all(struct sched *s)
{
	struct gate *g = a_load(&gate_in(s)->gates, relaxed), *next;

	a_store(&gate_in(s)->gates, NULL, relaxed);
	for (; g; g = next) {
		next = g->next;
		ring_free_all(g);
		free(g);
	}
}

/* ---- tokens -------------------------------------------------------------- */

static bool has_unbound(const struct gate_node *n)
{
	int i;

	for (i = 0; i < GATE_BOUND; i++)
		if (ring_nr(&n->ring[i]))
			return true;
	return false;
}

/*
 * A token was given up: as after a push, from any thread. It is for one worker,
 * but a worker that comes may not take what is bound to other nodes. The node
 * that the token is kept for is told first.
 */
static void tell_others(struct gate *g, struct worker *w)
{
	struct sched *s = g->sched;
	int first = a_load(&g->kept_for, relaxed), i, k;
	bool is_told = false, has_woken;

	for (k = 0; k < s->nr_nodes; k++) {
		i = (k + (first > 0 ? first : 0)) % s->nr_nodes;
		has_woken = ring_nr(&g->node[i].ring[GATE_BOUND]) &&
			    notify_bound(&s->nodes[i]);
		if (!has_woken && !is_told && has_unbound(&g->node[i]))
			has_woken = is_told = notify_any(s, &s->nodes[i]);
		if (has_woken && w)
			worker_has_woken(w);
	}
}

void gate_give_up(struct worker *w)
{
	struct gate *g = a_load(&gate_of(w)->gate, relaxed);
	bool is_open = false;

	a_store(&gate_of(w)->over, NULL, relaxed);
	if (!g)
		return;
	lock_take(&g->lock);
	if (a_load(&gate_of(w)->gate, relaxed) == g)
		is_open = take_token(g, w);
	lock_give(&g->lock);
	if (is_open)
		tell_others(g, w);
}

/* The body begins without a token, whatever the cap. */
static void pass_by(struct gate *g, struct worker *w, enum gate_pass why)
{
	lock_assert_held(&g->lock);
	g->nr_over[why]++;
	a_store(&gate_of(w)->over, g, relaxed);
	counter_add(w->executor->counters, COUNTER_PASSED, 1);
}

bool gate_enter_slowly(struct gate *g, struct worker *w, struct gate_item i)
{
	bool may_run = true, is_open = false;
	uint64_t state;

	gate_release(w);
	lock_take(&g->lock);
	state = state_of(g);
	if (gate_running(state) < gate_cap(state) && !turn_is_others(g, w))
		give_token(g, w);
	else if (i.item && put_aside(g, w, i, &is_open))
		may_run = false;
	else
		pass_by(g, w, i.item ? GATE_PASS_FULL : i.why);
	lock_give(&g->lock);
	if (may_run)
		gate_begin_body(w);
	else
		counter_add(w->executor->counters, COUNTER_ASIDE, 1);
	if (unlikely(is_open))
		tell_others(g, w);
	return may_run;
}

bool gate_take_next(struct worker *w, uint64_t *item)
{
	struct gate *g = a_load(&gate_of(w)->gate, relaxed);
	bool found = false, is_open = false;

	if (unlikely(quota_must_leave(w))) {
		gate_release(w);
		return false;
	}
	if (!g)
		return false;
	lock_take(&g->lock);
	if (a_load(&gate_of(w)->gate, relaxed) == g) {
		found = !turn_ends(g, w) && take_item(g, w, false, item);
		if (!found)
			is_open = take_token(g, w);
	}
	lock_give(&g->lock);
	if (is_open)
		tell_others(g, w);
	w->looks.nr_picks += found;
	return found;
}

/* ---- tokens that are taken back ------------------------------------------ */

/*
 * Items lie behind a shut gate. True: a token was taken back. The caller takes
 * an item, or tells others.
 */
static bool take_back(struct gate *g, struct worker *w)
{
	uint64_t now = clock_ticks();
	struct worker *v;

	if (now - a_load(&g->looked_at, relaxed) < g->look_ticks)
		return false;
	a_store(&g->looked_at, now, relaxed);
	lock_take(&g->lock);
	v = stuck_holder(g, now);
	if (v) {
		take_token(g, v);
		g->nr_revoked++;
		g->seen_at = now;
	}
	lock_give(&g->lock);
	if (v)
		counter_add(w->executor->counters, COUNTER_REVOKED, 1);
	return v != NULL;
}

/* ---- a place where work lies --------------------------------------------- */

static bool take_from(struct gate *g, struct worker *w, uint64_t *item)
{
	bool found = false;

	lock_take(&g->lock);
	if (gate_is_open(state_of(g)) && !turn_is_others(g, w) &&
	    take_item(g, w, true, item)) {
		give_token(g, w);
		found = true;
	}
	lock_give(&g->lock);
	return found;
}

bool gate_take_any(struct worker *w, bool is_far, uint64_t *item)
{
	struct gate *g = gate_first(w->sched);
	uint64_t state;
	bool is_back;

	(void)is_far;
	if (likely(!g))
		return false;
	if (gate_next(w, item))
		return true;
	for (; g; g = g->next) {
		state = a_load(&g->state, relaxed);
		if (!gate_aside(state))
			continue;
		is_back = !gate_is_open(state) && take_back(g, w);
		if ((is_back || gate_is_open(state)) && take_from(g, w, item))
			return true;
		if (is_back)
			tell_others(g, w);
	}
	return false;
}

/* It goes on with work of its own, and its node's turn may be over. */
static void look_at_turn(struct worker *w)
{
	struct gate *g = a_load(&gate_of(w)->gate, relaxed);
	bool is_open = false;

	if (w->sched->nr_worker_nodes == 1 || !g ||
	    !gate_aside(a_load(&g->state, relaxed)))
		return;
	lock_take(&g->lock);
	if (a_load(&gate_of(w)->gate, relaxed) == g && turn_ends(g, w))
		is_open = take_token(g, w);
	lock_give(&g->lock);
	if (is_open)
		tell_others(g, w);
}

bool gate_look_around(struct worker *w, uint64_t *item)
{
	uint32_t nr = a_load(&gate_of(w)->nr_gated, relaxed);
	bool is_used = nr != gate_of(w)->seen;

	gate_of(w)->seen = nr;
	look_at_turn(w);
	if (is_used && a_load(&gate_of(w)->gate, relaxed))
		return false;
	gate_release(w);
	return gate_take_any(w, true, item);
}

/* An open gate may have nothing for this worker. */
static unsigned has_for(struct gate *g, const struct worker *w)
{
	unsigned found;

	lock_take(&g->lock);
	found = gate_is_open(state_of(g)) && !turn_is_others(g, w)
			? ring_has(g, w)
			: 0;
	lock_give(&g->lock);
	return found;
}

unsigned gate_has_any(struct worker *w)
{
	unsigned found;
	struct gate *g;

	for (g = gate_first(w->sched); g; g = g->next) {
		/* [gate.look] after we said that we sleep; pairs with
		 * [gate.open]. */
		if (!gate_is_open(a_load(&g->state, seq_cst)))
			continue;
		found = has_for(g, w);
		if (found)
			return found;
	}
	return 0;
}

int64_t gate_nap(struct worker *w)
{
	struct gate *g = gate_first(w->sched);

	while (g && !gate_aside(a_load(&g->state, relaxed)))
		g = g->next;
	if (!g) {
		gate_of(w)->nap_ns = 0;
		return -1;
	}
	return nap_grow(&gate_of(w)->nap_ns, 2, GATE_NAP_MIN_NS,
			GATE_NAP_MAX_NS);
}

/* ---- others -------------------------------------------------------------- */

/* Takes surplus tokens from any workers: nobody knows who had them last. */
static void cut_tokens(struct gate *g)
{
	struct sched *s = g->sched;
	uint64_t state = state_of(g);
	struct worker *v;

	for (v = s->workers; gate_running(state) > gate_cap(state); v++) {
		check(v < s->workers + s->nr_workers);
		if (a_load(&gate_of(v)->gate, relaxed) == g)
			take_token(g, v);
		state = state_of(g);
	}
}

void gate_limit(struct gate *g, uint32_t cap)
{
	uint64_t state;
	bool is_open;

	check(cap);
	lock_take(&g->lock);
	state = state_of(g);
	is_open = open_gate(g, gate_make(cap, gate_running(state),
					 gate_aside(state)));
	cut_tokens(g);
	lock_give(&g->lock);
	if (is_open)
		tell_others(g, NULL);
}

/* An idle worker runs no body. */
static void enter_idle(struct worker *w)
{
	a_store(&gate_of(w)->over, NULL, relaxed);
}

/* Looks for an item of the gate that the worker may run with a token. */
static bool dig_locked(struct gate *g, struct worker *w,
		       const struct gate_wanted *d, uint64_t *item)
{
	bool has_token = a_load(&gate_of(w)->gate, relaxed) == g;
	uint64_t state = state_of(g);

	if ((!has_token && (gate_running(state) >= gate_cap(state) ||
			    turn_is_others(g, w))) ||
	    !ring_dig(g, w, d, item))
		return false;
	set_state(g, state - 1);
	if (!has_token)
		give_token(g, w);
	return true;
}

static bool dig_gate(struct gate *g, struct worker *w,
		     const struct gate_wanted *d, uint64_t *item)
{
	bool has_token = a_load(&gate_of(w)->gate, relaxed) == g;
	uint64_t state = a_load(&g->state, relaxed);
	bool found, is_back = false;

	if (!gate_aside(state))
		return false;
	if (!has_token && !gate_is_open(state)) {
		is_back = take_back(g, w);
		if (!is_back)
			return false;
	}
	if (!has_token)
		gate_release(w);
	lock_take(&g->lock);
	found = dig_locked(g, w, d, item);
	lock_give(&g->lock);
	if (is_back && !found)
		tell_others(g, w);
	return found;
}

bool gate_dig(struct worker *w, const struct gate_wanted *d, uint64_t *item)
{
	struct gate *own = a_load(&gate_of(w)->gate, relaxed), *g;

	if (own && dig_gate(own, w, d, item))
		return true;
	for (g = gate_first(w->sched); g; g = g->next)
		if (g != own && dig_gate(g, w, d, item))
			return true;
	return false;
}

const struct mechanism gate_mechanism = {
	.name = "gate",
	.of_worker = MECHANISM_DATA(struct gate_holder),
	.of_sched = MECHANISM_DATA(struct gate_sched),
	.uses = "quota far",
	.close = gate_free_all,
	.enter = enter_idle,
	.take = gate_take_any,
	.has = gate_has_any,
	.nap = gate_nap,
	.release = gate_release,
};
