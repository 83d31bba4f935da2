/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/gate/gate.h"

#include "base/clock.h"
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

/* ---- ring, under lock ---------------------------------------------------- */

static uint64_t *place_of(const struct gate *g, uint32_t i)
{
	return &g->ring[(g->first + i) & (g->room - 1)];
}

/* False: it is as large as it gets, or there is no memory. */
static bool grow_ring(struct gate *g, uint32_t nr)
{
	uint32_t room = g->room ? 2 * g->room : GATE_ROOM, i;
	uint64_t *ring;

	if (room > g->room_most)
		return false;
	ring = malloc(room * sizeof(*ring));
	if (!ring)
		return false;
	for (i = 0; i < nr; i++)
		ring[i] = *place_of(g, i);
	free(g->ring);
	g->ring = ring;
	g->first = 0;
	g->room = room;
	return true;
}

static bool put_aside(struct gate *g, uint64_t item)
{
	uint64_t state = state_of(g);
	uint32_t nr = gate_aside(state);

	if (nr == g->room && !grow_ring(g, nr))
		return false;
	*place_of(g, nr) = item;
	set_state(g, gate_make(gate_cap(state), gate_running(state), nr + 1));
	g->nr_aside++;
	return true;
}

/* The oldest one. */
static bool take_oldest(struct gate *g, uint64_t *item)
{
	uint64_t state = state_of(g);

	if (!gate_aside(state))
		return false;
	*item = *place_of(g, 0);
	g->first++;
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
	a_store(&g->state, gate_make((uint32_t)s->nr_workers, 0, 0), relaxed);
	return true;
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
		free(g->ring);
		free(g);
	}
}

static struct gate *first_gate(struct sched *s)
{
	/* [gate.list] as above. */
	return a_load(&gate_in(s)->gates, acquire);
}

/* ---- tokens -------------------------------------------------------------- */

/* A token was given up: as after a push, from any thread. */
static void tell_others(struct gate *g, struct worker *w)
{
	if (w)
		worker_notify(w, 1u << CLASS_NORMAL);
	else
		notify_any(g->sched, &g->sched->nodes[0]);
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

bool gate_enter_slowly(struct gate *g, struct worker *w, uint64_t item,
		       enum gate_pass why)
{
	bool may_run = true;
	uint64_t state;

	gate_release(w);
	lock_take(&g->lock);
	state = state_of(g);
	if (gate_running(state) < gate_cap(state))
		give_token(g, w);
	else if (item && put_aside(g, item))
		may_run = false;
	else
		pass_by(g, w, item ? GATE_PASS_FULL : why);
	lock_give(&g->lock);
	if (may_run)
		gate_begin_body(w);
	else
		counter_add(w->executor->counters, COUNTER_ASIDE, 1);
	return may_run;
}

bool gate_take_next(struct worker *w, uint64_t *item)
{
	struct gate *g = a_load(&gate_of(w)->gate, relaxed);
	bool found = false;

	if (unlikely(quota_must_leave(w))) {
		gate_release(w);
		return false;
	}
	if (!g)
		return false;
	lock_take(&g->lock);
	if (a_load(&gate_of(w)->gate, relaxed) == g) {
		found = take_oldest(g, item);
		if (!found)
			take_token(g, w);
	}
	lock_give(&g->lock);
	w->looks.nr_picks += found;
	return found;
}

/* ---- tokens that are taken back ------------------------------------------ */

static bool is_away(const struct worker *w)
{
	const struct sched_ops *ops = &w->sched->ops;

	return ops->away_ns && ops->away_ns(w) >= GATE_AWAY_NS;
}

/* Has any holder come by since somebody looked? */
static bool is_stuck(struct gate *g, uint64_t seen, uint64_t now)
{
	lock_assert_held(&g->lock);
	if (seen != g->seen) {
		g->seen = seen;
		g->seen_at = now;
	}
	return now - g->seen_at > g->patience_ticks;
}

/* A holder that cannot use its token; NULL: all can, as far as is known. */
static struct worker *find_holder(struct gate *g, uint64_t now)
{
	struct worker *v, *holder = NULL, *away = NULL;
	struct sched *s = g->sched;
	uint64_t seen = 0;

	for (v = s->workers; v < s->workers + s->nr_workers; v++) {
		if (a_load(&gate_of(v)->gate, relaxed) != g)
			continue;
		seen += a_load(&gate_of(v)->nr_gated, relaxed);
		holder = v;
		if (!away && is_away(v))
			away = v;
	}
	return is_stuck(g, seen, now) && !away ? holder : away;
}

/*
 * Items lie behind a shut gate. True: a token was taken back. The caller, which
 * has seen them, looks for work itself and need not be told.
 */
static bool take_back(struct gate *g, struct worker *w)
{
	uint64_t now = clock_ticks();
	struct worker *v;

	if (now - a_load(&g->looked_at, relaxed) < g->look_ticks)
		return false;
	a_store(&g->looked_at, now, relaxed);
	lock_take(&g->lock);
	v = find_holder(g, now);
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
	if (gate_is_open(state_of(g)) && take_oldest(g, item)) {
		give_token(g, w);
		found = true;
	}
	lock_give(&g->lock);
	return found;
}

bool gate_take_any(struct worker *w, bool is_far, uint64_t *item)
{
	struct gate *g = first_gate(w->sched);
	uint64_t state;

	(void)is_far;
	if (likely(!g))
		return false;
	if (gate_next(w, item))
		return true;
	for (; g; g = g->next) {
		state = a_load(&g->state, relaxed);
		if (!gate_aside(state))
			continue;
		if ((gate_is_open(state) || take_back(g, w)) &&
		    take_from(g, w, item))
			return true;
	}
	return false;
}

bool gate_look_around(struct worker *w, uint64_t *item)
{
	uint32_t nr = a_load(&gate_of(w)->nr_gated, relaxed);
	bool is_used = nr != gate_of(w)->seen;

	gate_of(w)->seen = nr;
	if (is_used && a_load(&gate_of(w)->gate, relaxed))
		return false;
	gate_release(w);
	return gate_take_any(w, true, item);
}

unsigned gate_has_any(struct worker *w)
{
	struct gate *g;

	for (g = first_gate(w->sched); g; g = g->next) {
		/* [gate.look] after we said that we sleep; pairs with
		 * [gate.open]. */
		if (gate_is_open(a_load(&g->state, seq_cst)))
			return 1u << CLASS_NORMAL;
	}
	return 0;
}

int64_t gate_nap(struct worker *w)
{
	struct gate *g = first_gate(w->sched);

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

/* Of tokens that are too many nobody knows who has them last: from anybody. */
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

static bool dig_ring(struct gate *g, uint32_t nr,
		     bool (*fits)(uint64_t item, const void *u), const void *u,
		     uint64_t *item)
{
	uint32_t aside = gate_aside(state_of(g));

	for (nr = nr < aside ? nr : aside; nr; nr--) {
		take_oldest(g, item);
		if (fits(*item, u))
			return true;
		put_aside(g, *item);
		g->nr_aside--;
	}
	return false;
}

bool gate_dig(struct sched *s, uint32_t nr,
	      bool (*fits)(uint64_t item, const void *u), const void *u,
	      uint64_t *item)
{
	bool found = false;
	struct gate *g;

	for (g = first_gate(s); g && !found; g = g->next) {
		if (!gate_aside(a_load(&g->state, relaxed)))
			continue;
		lock_take(&g->lock);
		found = dig_ring(g, nr, fits, u, item);
		lock_give(&g->lock);
	}
	return found;
}

const struct mechanism gate_mechanism = {
	.name = "gate",
	.of_worker = MECHANISM_DATA(struct gate_holder),
	.of_sched = MECHANISM_DATA(struct gate_sched),
	.uses = "quota",
	.close = gate_free_all,
	.enter = enter_idle,
	.take = gate_take_any,
	.has = gate_has_any,
	.nap = gate_nap,
	.release = gate_release,
};
